"""Files of other tools: robots read as URDF and MJCF; mechanisms written as functional mock-up units and as C for a target."""
