"""States of a contact whose friction law can stick: numbers in p, read by both the law's equations and the time loop."""

from __future__ import annotations

# The order matters: from STICKS on, the slip is inside the law's speed band.
RETURNS, SLIDES, STICKS, YIELDS, CREEPS = -1.0, 0.0, 1.0, 2.0, 3.0
REST_SHARE = 1e-3  # fraction of the band: a smaller slip counts as rest, without a direction that friction could oppose
