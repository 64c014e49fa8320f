"""Files of other tools: robots as URDF and MJCF."""
