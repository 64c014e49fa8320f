"""A mechanism as C for a program of one's own: a header, its sources, a small main; as an object for a microcontroller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pliant.equations.c_source import comment, enumeration, identifier
from pliant.exchange.compiler import NoCompiler, compile_with, has_zig, zig
from pliant.exchange.exported import Exported, exported, quoted
from pliant.host.atomic_files import write_text
from pliant.integrate.methods.method import RK4, Method
from pliant.model import check
from pliant.run.mechanism import AnySystem
from pliant.trace.layout import FOREVER

# Targets by name: the compiler's options for one object; none for the C source alone.
TARGETS: dict[str, tuple[str, ...]] = {
    "c": (),
    "cortex-m4": ("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m4+vfp4d16sp"),
    "cortex-m7": ("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m7+fp_armv8d16"),
    "cortex-a53": ("-target", "aarch64-freestanding-none", "-mcpu=cortex_a53"),
    "riscv64": ("-target", "riscv64-freestanding-none", "-mcpu=baseline_rv64+m+a+f+d"),
    "x86_64": ("-target", "x86_64-freestanding-none"),
}
STEP = 1e-3  # s
# C's own words, and names of the sources and of functions in them.
TAKEN = re.compile(
    "main|run|target|mechanism|pl|auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|"
    "long|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while"
)
_OBJECT = (
    "-std=c99",
    "-Os",
    "-ffp-contract=off",
    "-ffreestanding",
    "-fno-stack-protector",
    "-g0",
    "-fno-sanitize=undefined",
    "-w",
    "-c",
)
_OWN = 256  # bytes of a run besides its numbers, at most


def write_c(
    system: AnySystem,
    folder: str | Path,
    *,
    target: str = "c",
    step: float = STEP,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    method: Method | None = None,
    t_start: float = 0.0,
    t_end: float | None = None,
    values: Mapping[str, float] | None = None,
    formulation: str = "articulated",
) -> list[Path]:
    """Write the mechanism, its contacts included, as C sources with a header and an example of a program; returns the files.

    target: "c" for sources alone, or a processor ("cortex-m7", "riscv64", ...), for which they are compiled to one object, too,
    with the package ziglang. step: s, of RK4, which needs neither memory nor time that depends on the motion between contacts.
    method: another method; one with error control takes as many steps as the motion asks for. Other arguments are those of
    `write_fmu`.
    """
    place = check.path("write_c", "folder", folder)
    check.choice("write_c", "target", target, tuple(TARGETS))
    if TARGETS[target] and not has_zig():
        raise NoCompiler(f"there must be zig to compile for {target} (pip install ziglang); target='c' writes the sources")
    step = check.positive("write_c", "step", step, "s")
    made = exported("write_c", system, inputs=inputs, outputs=outputs, parameters=parameters, values=values,
                    method=method or RK4(step=step), t_start=t_start, t_end=t_end, formulation=formulation, hosted=False,
                    efforts=True)  # fmt: skip
    name = program_name(made.name)
    sources = made.sources(("run.c", "target.c"), [(0, one.place, 0) for one in made.outputs])
    sources[f"{name}.h"] = "\n".join(_header(made, name))
    sources[f"{name}.c"] = (f'#include "{name}.h"\n\n#define API(word) {name}_##word\n#define MECHANISM struct {name}\n'
                            f'#define BYTES {name.upper()}_BYTES\n#include "target.c"\n')  # fmt: skip
    sources["main.c"] = _main(made, name, step)
    place.mkdir(parents=True, exist_ok=True)
    for file, text in sources.items():
        write_text(place / file, text)
    written = [place / file for file in sources]
    if TARGETS[target]:
        written.append(place / f"{name}.o")
        compile_with([*zig(), "cc", *TARGETS[target], *_OBJECT, "-o", str(written[-1]), str(place / f"{name}.c")])
    return written


def program_name(name: str) -> str:
    """The name of a program's files, functions and type: that of the mechanism, as far as C leaves it to others."""
    own = identifier(name)
    return f"{own}_" if TAKEN.fullmatch(own) else own


def _header(made: Exported, name: str) -> Iterator[str]:
    """The functions, with the numbers that can be set and read by name, line by line."""
    upper, kernels = name.upper(), made.program.kernels
    size = made.image.end + 8 * (len(made.given) + made.compiled.observe.n_out + 2 * len(made.pairs)) + _OWN
    counts = {"the equations of motion": "rhs", "all quantities of results": "observe", "inverse dynamics": "efforts"}
    counted = [f"{kernels[name].operations} for {words}" for words, name in counts.items() if name in kernels]
    yield f"/* {comment(made.name)}: {made.method!r}. SI units."
    yield f"   Operations: {', '.join(counted)}; a sine counts as one."
    yield f"   Memory: {upper}_BYTES, and no more whatever happens. */"
    yield from (f"#ifndef {upper}_H", f"#define {upper}_H", "", f"#define {upper}_BYTES {-(-size // 16) * 16}")
    yield from enumeration(f"{name}_input", [one.name for one in made.given])
    yield from enumeration(f"{name}_output", [one.name for one in made.outputs])
    yield from enumeration(f"{name}_pair", made.pairs)
    own = f"struct {name}"
    yield f"{own};"
    yield f"{own} *{name}_begin(void *memory);                   /* {upper}_BYTES, aligned as doubles are */"
    yield f"int {name}_set({own} *it, int input, double value);  /* from now on; 0, or 1: out of bounds, 2: too late for a start */"
    yield f"int {name}_step({own} *it, double t);                /* to time t, s; 0, or the code of what ended the run */"
    yield f"double {name}_get({own} *it, int output);"
    yield f"double {name}_time(const {own} *it);                 /* s */"
    yield f"long {name}_touches({own} *it, int pair);            /* contacts of a pair so far */"
    if "efforts" in kernels:
        rates = comment(", ".join(made.compiled.traced.tree.rates))
        yield f"/* Inverse dynamics: the efforts that accelerations take here against inertia and gravity, of {rates}. */"
        yield f"void {name}_efforts({own} *it, const double *a, double *out);"
    yield from ("", "#endif", "")


def _main(made: Exported, name: str, step: float) -> str:
    heads = quoted(", ".join(["t [s]", *(f"{one.name} [{one.unit}]" for one in made.outputs)]))
    end = made.t_end if made.t_end < FOREVER else made.t_start + 1.0
    return f"""/* Runs the mechanism and prints what it gives: cc -O2 -ffp-contract=off main.c {name}.c -lm */
#include <stdio.h>
#include "{name}.h"

static double memory[{name.upper()}_BYTES / 8];

int main(void) {{
    const double step = {step!r}, end = {end!r}; /* s */
    struct {name} *it = {name}_begin(memory);
    puts({heads});
    for (long k = 0;; k++) {{
        printf("%.17g", {name}_time(it));
        for (int j = 0; j < {name}_outputs; j++) printf(", %.17g", {name}_get(it, j));
        printf("\\n");
        const double t = {made.t_start!r} + (k + 1) * step;
        if (t > end + 1e-6 * step) return 0;
        const int code = {name}_step(it, t);
        if (code != 0) {{
            fprintf(stderr, "the run ended at t = %.10g s with code %d\\n", {name}_time(it), code);
            return code == 3 ? 0 : 1; /* 3: an event */
        }}
    }}
}}
"""
