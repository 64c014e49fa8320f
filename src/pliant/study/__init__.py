"""Studies of many runs: sweeps over numbers, derivatives of a run, fits and optimisation."""
