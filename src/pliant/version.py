"""Which pliant this is; results tell it."""

VERSION = "0.2.0"
