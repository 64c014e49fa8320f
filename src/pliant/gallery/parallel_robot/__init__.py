"""The planar 3RRR robot: Raoofian, Taghvaeipour, Kamali 2017."""
