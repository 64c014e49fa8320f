"""python -m pliant."""

from pliant.cli import app

app()
