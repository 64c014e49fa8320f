"""Seconds among the statistics of a run, by what they were spent on."""

STAGES = ("import", "trace", "prepare", "compile", "loops", "jacobian", "setup", "collect")  # beside the time loop
TIMINGS = ("wall_s", *(f"{stage}_s" for stage in STAGES))
