"""A mechanism as C for a program of one's own: a header, its sources, a small main; as an object for a microcontroller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pliant.exchange.compiler import NoCompiler, compile_with, has_zig, zig
from pliant.exchange.exported import Exported, exported, identifier
from pliant.host.atomic_files import atomic_write
from pliant.integrate.methods.method import RK4, Method
from pliant.model import check
from pliant.run.mechanism import AnySystem

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
    name = identifier(made.name)
    sources = made.sources(("run.c", "target.c"), [(0, one.place, 0) for one in made.outputs])
    sources[f"{name}.h"] = header(made, name)
    sources[f"{name}.c"] = (f'#include "{name}.h"\n\n#define API(word) {name}_##word\n#define MECHANISM {name}\n'
                            f'#define BYTES {name.upper()}_BYTES\n#include "target.c"\n')  # fmt: skip
    sources["main.c"] = _main(made, name, step)
    place.mkdir(parents=True, exist_ok=True)
    for file, text in sources.items():
        with atomic_write(place / file) as draft:
            draft.write_text(text, encoding="utf-8")
    written = [place / file for file in sources]
    if TARGETS[target]:
        written.append(place / f"{name}.o")
        compile_with([*zig(), "cc", *TARGETS[target], *_OBJECT, "-o", str(written[-1]), str(place / f"{name}.c")])
    return written


def header(made: Exported, name: str) -> str:
    """The functions, with the numbers that can be set and read by name."""
    return "\n".join(_header(made, name))


def _header(made: Exported, name: str) -> Iterator[str]:
    upper, kernels = name.upper(), made.program.kernels
    size = made.image.end + 8 * (len(made.given) + made.compiled.observe.n_out + 2 * len(made.pairs)) + _OWN
    counts = {"the equations of motion": "rhs", "all quantities of results": "observe", "inverse dynamics": "efforts"}
    counted = [f"{kernels[name].operations} for {words}" for words, name in counts.items() if name in kernels]
    yield f"/* {made.name.replace('*/', '')}: {made.method!r}. SI units."
    yield f"   Operations: {', '.join(counted)}; a sine counts as one."
    yield f"   Memory: {upper}_BYTES, and no more whatever happens. */"
    yield from (f"#ifndef {upper}_H", f"#define {upper}_H", "", f"#define {upper}_BYTES {-(-size // 16) * 16}")
    yield from _names(f"{name}_input", [one.name for one in made.given])
    yield from _names(f"{name}_output", [one.name for one in made.outputs])
    yield from _names(f"{name}_pair", list(made.pairs))
    yield f"typedef struct {name} {name};"
    yield f"{name} *{name}_begin(void *memory);                    /* {upper}_BYTES, aligned as doubles are */"
    yield f"void {name}_set({name} *it, int input, double value);  /* from now on */"
    yield f"int {name}_step({name} *it, double t);                 /* to time t, s; 0, or the code of what ended the run */"
    yield f"double {name}_get({name} *it, int output);"
    yield f"double {name}_time(const {name} *it);                  /* s */"
    yield f"long {name}_touches({name} *it, int pair);             /* contacts of a pair so far */"
    if "efforts" in kernels:
        rates = ", ".join(made.compiled.traced.tree.rates).replace("*/", "")
        yield f"/* Inverse dynamics: the efforts that accelerations take here against inertia and gravity, of {rates}. */"
        yield f"void {name}_efforts({name} *it, const double *a, double *out);"
    yield from ("", "#endif", "")


def _names(kind: str, names: Sequence[str]) -> Iterator[str]:
    own: list[str] = []  # a.b and a_b must remain distinct in C
    for name in names:
        plain = identifier(name).removeprefix("m_")
        while plain in own:
            plain += "_"
        own.append(plain)
    entries = [
        f"    {kind}_{plain} = {k}, /* {name.replace('*/', '')} */" for k, (plain, name) in enumerate(zip(own, names, strict=True))
    ]
    yield from (f"enum {kind} {{", *entries, f"    {kind}s = {len(names)}", "};", "")


def _main(made: Exported, name: str, step: float) -> str:
    listed = ", ".join(f"{one.name} [{one.unit}]".replace("%", "%%").replace('"', "'").replace("\\", "/") for one in made.outputs)
    end = made.t_end if made.t_end < 1e3 else made.t_start + 1.0
    return f"""/* Runs the mechanism and prints what it gives: cc -O2 -ffp-contract=off main.c {name}.c -lm */
#include <stdio.h>
#include "{name}.h"

static double memory[{name.upper()}_BYTES / 8];

int main(void) {{
    const double step = {step!r}, end = {end!r}; /* s */
    {name} *it = {name}_begin(memory);
    printf("t [s], {listed}\\n");
    for (long k = 0;; k++) {{
        printf("%.17g", {name}_time(it));
        for (int j = 0; j < {name}_outputs; j++) printf(", %.17g", {name}_get(it, j));
        printf("\\n");
        const double t = {made.t_start!r} + (k + 1) * step;
        if (t > end * (1 + 1e-12)) return 0;
        const int code = {name}_step(it, t);
        if (code != 0) {{
            fprintf(stderr, "the run ended at t = %.10g s with code %d\\n", {name}_time(it), code);
            return code == 3 ? 0 : 1; /* 3: an event */
        }}
    }}
}}
"""
