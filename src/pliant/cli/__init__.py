"""The command line: one file a command."""

from pliant.cli.app import app

__all__ = ["app"]
