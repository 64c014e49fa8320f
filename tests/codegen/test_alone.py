"""codegen knows no mechanics: it runs with nothing of the package but itself and what touches the operating system."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

import pliant

PROGRAM = """
import importlib.abc, sys, types

ALLOWED = {"codegen", "host", "arrays", "errors", "scalar"}

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        head, _, rest = name.partition(".")
        if head == "pliant" and rest and rest.partition(".")[0] not in ALLOWED:
            raise ImportError(f"codegen asked for {name}")
        return None

sys.meta_path.insert(0, Refuse())
package = types.ModuleType("pliant")  # without what its own __init__ brings in
package.__path__ = [PACKAGE]
sys.modules["pliant"] = package

import pkgutil
import pliant.codegen
for module in pkgutil.iter_modules(pliant.codegen.__path__):
    __import__(f"pliant.codegen.{module.name}")

from pliant.codegen.function import TracedFunction
from pliant.codegen.graph import Graph
from pliant.codegen.jacobian import jacobian_kernel
from pliant.codegen.llvm import compile_function
from pliant.codegen.numbers import Numbers
from pliant.codegen.tracer import Tracer

tracer, numbers = Tracer(), Numbers(Graph())
t, _ = tracer.symbols("t", 1)
y, (angle, rate) = tracer.symbols("y", 2)
p, _ = tracer.symbols("p", 0)
swing = [rate, -numbers.leaf(9.81) / numbers.leaf(0.5) * angle.sin()]
function = TracedFunction("pendulum", tracer, [t, y, p], swing, tracer.numbers)
print(*compile_function(function, cache=None)(0.0, [0.5, 0.1], [-19.62]))
print(jacobian_kernel(function.casadi, 2, False, None).by_columns)
"""


def test_codegen_runs_without_the_rest_of_the_package():
    program = PROGRAM.replace("PACKAGE", repr(str(Path(pliant.__file__).parent)))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rates, by_columns = done.stdout.splitlines()
    assert [float(x) for x in rates.split()] == pytest.approx([0.1, -19.62 * math.sin(0.5)], rel=1e-15)
    assert by_columns == "False"
