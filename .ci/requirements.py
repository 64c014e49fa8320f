"""Prints the requirements of the extras given, as pyproject.toml lists them, one a line; those of pliant itself are left out."""

import sys
import tomllib
from pathlib import Path

extras = tomllib.loads(Path("pyproject.toml").read_text())["project"]["optional-dependencies"]
print(*(line for name in sys.argv[1:] for line in extras[name] if not line.startswith("pliant[")), sep="\n")
