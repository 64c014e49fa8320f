"""Which pliant this is; results tell it."""

VERSION = "0.1.0"
