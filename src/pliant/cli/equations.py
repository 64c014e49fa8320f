"""pliant equations: writes the equations of a model for reading, compiling or optimisation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli.exits import WRONG, say_written, stop, write_json, writing
from pliant.cli.options import AsJson, IncludesOutside, ModelArgument, Quiet, Set, check_target, load_model
from pliant.host import progress
from pliant.host.atomic_files import write_text

if TYPE_CHECKING:
    from pliant.equations.derive import Equations

Text = Callable[["Equations", bool], str]
TEXTS: dict[str, Text] = {
    "latex": lambda equations, simplify: equations.latex(simplify),
    "sympy": lambda equations, simplify: equations.sympy(simplify).source(),
}
SUFFIXES = {"latex": ".tex", "sympy": ".py", "c": ".c", "casadi": ".casadi"}  # forms, and the suffixes of their files
BESIDE = {"c": ".h", "casadi": ".json"}  # suffixes of accompanying files


def equations(
    file: ModelArgument,
    form: Annotated[str, typer.Option("--form", help="latex, sympy (a Python module), c (with a header) or casadi.")] = "latex",
    out: Annotated[Path | None, typer.Option("--out", help="Output file; by default LaTeX and SymPy are printed.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Do not simplify; faster for larger systems.")] = False,
    settings: Set = None,
    includes_outside: IncludesOutside = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write the equations of motion of a small system: mass matrix, bias and constraint Jacobian, with the names of the model."""
    if form not in SUFFIXES:
        stop(WRONG, f"--form: must be one of {', '.join(SUFFIXES)}, got {form!r}")
    target = out if out is not None or form in TEXTS else Path(f"{file.stem}{SUFFIXES[form]}")
    if target is not None:
        check_target("--out", target)
    model = load_model(file, includes_outside, settings)
    from pliant.equations import equations as derive_equations

    with progress.waiting(f"deriving {form}", quiet or as_json):
        derived = derive_equations(model.system)
        text = TEXTS[form](derived, not raw) if form in TEXTS else None
    if text is not None and target is None:
        write_json({"form": form, "text": text}) if as_json else typer.echo(text, nl=False)
        return
    assert target is not None
    written = _write(derived, form, text, target)
    say_written(" and ".join(written), {"form": form, "written": written}, quiet, as_json)


def _write(derived: Equations, form: str, text: str | None, target: Path) -> list[str]:
    """The names of the written files."""
    with writing(target):
        if text is not None:
            write_text(target, text)
            return [str(target)]
        (derived.write_c if form == "c" else derived.write_casadi)(target)
    main = target.with_suffix(".c") if form == "c" else target
    return [str(main), str(target.with_suffix(BESIDE[form]))]
