"""Prints the requirements of the extras given, as pyproject.toml lists them, one a line; those of pliant itself are left out.

`--lowest` prints pliant's own, each at the lowest version allowed.
"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
if sys.argv[1:] == ["--lowest"]:
    print(*(line.replace(">=", "==") for line in project["dependencies"]), sep="\n")
else:
    extras = project["optional-dependencies"]
    print(*(line for name in sys.argv[1:] for line in extras[name] if not line.startswith("pliant[")), sep="\n")
