"""Public names are imported when they are first used, and are what the stub says."""

import subprocess
import sys
import types

import pliant as pl
from pliant.lazy_names import public_names


def printed(code: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


def test_neither_import_nor_version_waits_for_what_they_do_not_need():
    heavy = "import sys; kept = {'numpy', 'typer', 'pliant.model', 'pliant.cli'} & set(sys.modules)"
    assert printed(f"import pliant; {heavy}; print(kept)") == "set()\n"
    asked = "import sys; sys.argv = ['pliant', '--version']; from pliant.__main__ import main; main()"
    assert printed(f"{asked}; {heavy}; print(kept)") == f"pliant {pl.__version__}\nset()\n"
    helped = "import pliant.cli.app; import sys; print({'numpy', 'pliant.model', 'pliant.show'} & set(sys.modules))"
    assert printed(helped) == "set()\n"


def test_a_function_is_found_although_a_package_of_its_name_was_imported_first():
    code = "import pliant.ensemble.keep, pliant.equations.derive, pliant as pl; print(pl.ensemble.__name__, pl.equations.__name__)"
    assert printed(code) == "ensemble equations\n"


def test_every_public_name_is_there_and_listed():
    assert set(pl.__all__) == set(public_names()) <= set(dir(pl))
    assert all(hasattr(pl, name) for name in pl.__all__)
    assert {name for name in pl.__all__ if isinstance(getattr(pl, name), types.ModuleType)} == {"animation", "player", "plot"}
    assert pl.Beam is pl.Beam and pl.model.beam.Beam is pl.Beam


def test_what_is_no_name_is_no_attribute():
    assert not hasattr(pl, "show.nothing") and not hasattr(pl, "nothing.at.all") and getattr(pl, "", None) is None
