"""What a contact whose friction law holds may be doing: numbers in p, which the law's equations and the time loop both read."""

from __future__ import annotations

# The order counts: from STICKS on the slip is inside the law's band.
RETURNS, SLIDES, STICKS, YIELDS, CREEPS = -1.0, 0.0, 1.0, 2.0, 3.0
REST_SHARE = 1e-3  # of the band: a slip below it is rest, without a direction that friction could oppose
