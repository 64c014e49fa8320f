"""The command line: one file per command."""

from pliant.cli.app import app

__all__ = ["app"]
