"""The time loop of all methods: functions that are compiled; see `march`."""
