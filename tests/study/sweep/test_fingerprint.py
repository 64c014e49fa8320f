"""What a sweep knows a thing by: its content, wherever and whenever it is looked at."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.study.sweep.fingerprint import fingerprint
from sweeps import pendulum

FACTOR = 2.0


def of(x):
    return fingerprint("test", "thing", x)


def helper(x):
    return FACTOR * x


def calling(result):
    return helper(result) if result in {"one", "two", "three"} else calling(result)


def made(factor):
    return lambda result: factor * result


def test_equal_content_has_one_name_and_other_content_another():
    assert of(made(2.0)) == of(made(2.0)) != of(made(3.0))
    assert of([1, 2.0]) != of([1, 2]) != of((1, 2))
    assert of(0.0) != of(-0.0)
    assert of(np.arange(3.0)) == of(np.arange(3.0)) != of(np.arange(3))
    assert of(pl.every(0.1)) == of(pl.every(0.1)) != of(pl.every(0.2))
    assert of(functools.partial(made, 1.0)) != of(functools.partial(made, 2.0))
    assert of(lambda result: result + 1) != of(lambda result: result + 2)


def test_a_function_is_known_by_what_it_calls_and_reads(monkeypatch):
    before = of(calling)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert of(calling) != before


def test_a_store_of_an_earlier_version_is_found_again():
    system = pl.System("arm", gravity=(0, -9.81))
    system.add(
        "upper", pl.RigidBody.rod(mass=pl.Parameter("mass", 2.0, "kg"), length=0.5), joint=pl.Revolute(damper=pl.Damper(0.25))
    )
    system.add("lower", pl.RigidBody.rod(mass=1.5, length=0.75), joint=pl.Revolute(angle=0.5))
    system.drive("motor", "upper.angle", pl.PiecewiseLinear((0.0, 1.0, 2.0), (0.0, 4.0, 0.0)))
    assert of(system) == "a8e91c4942217eee1a1055e09fd7bd76"
    system.hold("upper.angle")
    assert of(system) != "a8e91c4942217eee1a1055e09fd7bd76"
    assert of([1, 2.5, "three", None, True, 1j, range(4), {"a": (5,)}, frozenset({6})]) == "e30a786582fc32c1912ab7e7fe6c647c"


def test_a_system_is_known_by_its_parts_and_not_by_the_values_of_its_parameters():
    other = pl.System("pendulum", gravity=(0, -9.81))
    mass, length = pl.Parameter("mass", 3.0, "kg", low=0.1, high=10.0), pl.Parameter("length", 0.5, "m")
    joint = pl.Revolute(angle=np.radians(-60), damper=pl.Damper(0.05))
    other.add("bob", pl.RigidBody.rod(mass=mass, length=length), joint=joint)
    assert of(pendulum()) == of(other)
    other.event("low", lambda t, q, v: q["bob.angle"])
    assert of(pendulum()) != of(other)


def test_other_processes_find_the_same_name():
    """Whatever the order that they hash texts in."""
    code = "import test_fingerprint as t, sweeps; print(t.of(t.calling), t.of(sweeps.pendulum()), t.of(t.made(2.0)))"
    tests = Path(__file__).parents[2]
    path = os.pathsep.join([str(Path(pl.__file__).parents[1]), str(tests), str(Path(__file__).parent)])
    names = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
        names.add(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(names) == 1
    assert names.pop().split() == [of(calling), of(pendulum()), of(made(2.0))]


def test_a_package_is_known_by_its_name_in_whatever_folder_it_was_installed(tmp_path):
    """`pip install --target folder`: the packages there are not the user's own modules, whose content would count."""
    package, record = tmp_path / "compiled_math", tmp_path / "compiled_math-1.0.dist-info" / "RECORD"
    code = "import sys, compiled_math; from pliant.study.sweep.fingerprint import fingerprint;"
    code += "print(fingerprint('a', 'b', lambda result: compiled_math.scale(result.T)))"
    path = os.pathsep.join([str(Path(pl.__file__).parents[1]), str(tmp_path)])

    def name(factor):
        (package / "__init__.py").write_text(f"def scale(x): return {factor} * x\n")
        command = [sys.executable, "-B", "-c", code]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True).stdout

    package.mkdir()
    assert name(2.0) != name(3.0)
    record.parent.mkdir()
    record.write_text("compiled_math/__init__.py,sha256=x,30\n")
    assert name(2.0) == name(3.0)


def test_attributes_of_compiled_and_slotted_classes_are_known():
    class Slotted:
        __slots__ = ("a",)

    assert of(np.ndarray.T) != of(np.ndarray.shape)
    assert of(lambda result: Slotted) != of(lambda result: np.ndarray)


def test_what_cannot_be_known_is_refused(tmp_path):
    with (
        open(tmp_path / "file", "w") as file,
        pytest.raises(pl.ModelError, match="test: thing must consist of numbers, strings, parts"),
    ):
        of(lambda result: file.write("x"))
