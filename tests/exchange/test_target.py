"""C for a target: built by the compiler of this machine, and for a microcontroller that QEMU emulates."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import pliant as pl
from exchange.systems import elastic_arm
from pliant.errors import ModelError
from pliant.exchange.compiler import has_zig
from pliant.exchange.target import write_c
from pliant.gallery.falling_chain.system import falling_chain

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
CC = ["cc", "-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unused"]


def built(folder, name, *sources, flags=()):
    out = folder / "program"
    subprocess.run([*CC, *flags, "-o", str(out), *(str(folder / s) for s in (*sources, f"{name}.c")), "-lm"], check=True)
    return out


def operations(header):
    """Of the equations of motion, all quantities and inverse dynamics, as the header says."""
    return [int(x) for x in re.findall(r"(\d+) for ", header.read_text())]


def rows_of(text):
    return np.array([[float(x) for x in line.split(",")] for line in text.splitlines()[1:]])


def test_the_program_prints_the_run_with_its_contacts(tmp_path):
    step = 1e-4
    write_c(falling_chain(), tmp_path, step=step, outputs=["q", "tip_position c"], t_end=0.6)
    name = next(path.stem for path in tmp_path.glob("*.h") if path.stem != "mechanism")
    done = subprocess.run([built(tmp_path, name, "main.c")], capture_output=True, text=True, check=True)
    rows = rows_of(done.stdout)
    run = pl.simulate(falling_chain(), 0.6, method=pl.RK4(step=step), save=step)
    assert len(run.contacts) > 0
    expected = np.column_stack([run.time, run["q"], run["tip_position", "c"]])
    assert rows.shape == expected.shape
    assert np.max(np.abs(rows - expected)) < 1e-9
    assert len((tmp_path / "main.c").read_text().splitlines()) <= 30


def test_it_needs_no_more_than_its_sources_and_counts_its_operations(tmp_path):
    write_c(elastic_arm(), tmp_path, outputs=["arm.angle"])
    counts = operations(tmp_path / "elastic_arm.h")
    assert len(counts) == 3 and min(counts) > 50
    assert pl.count_operations(elastic_arm())["Gibbs-Appell"] == pytest.approx(counts[2], rel=0.2)
    calls = set(re.findall(r"\b(malloc|calloc|printf|free|exit)\(", "".join(path.read_text() for path in tmp_path.glob("*.[ch]")
                                                                         if path.name != "main.c")))  # fmt: skip
    assert calls == set()


def test_inputs_and_inverse_dynamics(tmp_path):
    write_c(elastic_arm(), tmp_path, step=1e-4, outputs=["arm.angle", "a"], inputs=["torque"], parameters=["damping", "arm.angle"])
    (tmp_path / "own.c").write_text("""#include <stdio.h>
#include "elastic_arm.h"
static double memory[ELASTIC_ARM_BYTES / 8];
int main(void) {
    struct elastic_arm *it = elastic_arm_begin(memory);
    if (elastic_arm_set(it, elastic_arm_input_damping, 9.0) != 1) return 2;  /* its bound is 5 */
    if (elastic_arm_set(it, elastic_arm_input_torque, 0.0 / 0.0) != 1 || elastic_arm_set(it, 77, 0.0) != 1) return 3;
    if (elastic_arm_get(it, -1) == elastic_arm_get(it, -1) || elastic_arm_touches(it, 0) != -1) return 4;
    for (int k = 0; k < 50; k++) {
        elastic_arm_set(it, elastic_arm_input_torque, k % 3 - 1.0);
        if (elastic_arm_step(it, (k + 1) * 0.002)) return 1;
    }
    if (elastic_arm_set(it, elastic_arm_input_start_of_arm_angle, 0.1) != 2) return 5;
    double a[8], out[8];
    for (int j = 1; j < elastic_arm_outputs; j++) a[j - 1] = elastic_arm_get(it, j);
    elastic_arm_efforts(it, a, out);
    printf("%.17g %.17g\\n", elastic_arm_get(it, elastic_arm_output_arm_angle), out[0]);
    return 0;
}
""")
    done = subprocess.run([built(tmp_path, "elastic_arm", "own.c")], capture_output=True, text=True, check=True)
    angle, effort = (float(x) for x in done.stdout.split())
    stepped = pl.start(elastic_arm(), method=pl.RK4(step=1e-4), inputs=["torque"])
    for k in range(50):
        stepped.step(0.002, {"torque": k % 3 - 1.0})
    assert angle == pytest.approx(stepped.observe()["arm.angle"], abs=1e-11)
    rate = stepped.observe()["v", "arm.angle"]
    assert effort == pytest.approx(49 % 3 - 1.0 - 0.2 * rate, rel=1e-8)  # the motor's torque less the damper's


@pytest.mark.parametrize("name", ["int", "run", "state", "pl", "2 arms", '**//a "%s\\ ??/'])
def test_a_mechanism_may_have_any_name(name, tmp_path):
    """Also one that is a word of C, a file of the sources, or would end a comment."""
    system = pl.System(name, gravity=(0, 0, -9.81))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute())
    (own,) = [path for path in write_c(system, tmp_path) if path.suffix == ".h" and path.stem != "mechanism"]
    sources = [str(tmp_path / "main.c"), str(own.with_suffix(".c"))]
    subprocess.run([*CC, "-fsyntax-only", *sources], check=True)


def test_the_last_step_may_miss_the_end_by_rounding(tmp_path):
    """0.1 + 0.1 + 0.1 > 0.3"""
    system = pl.System("drop", gravity=(0, 0, -9.81))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute(rate=1.0))
    write_c(system, tmp_path, step=0.1, t_end=0.3)
    done = subprocess.run([built(tmp_path, "drop", "main.c")], capture_output=True, text=True, check=True)
    assert rows_of(done.stdout)[:, 0] == pytest.approx([0.0, 0.1, 0.2, 0.3], abs=1e-15)
    write_c(system, tmp_path, step=1.0, t_end=5000.0)
    assert "end = 5000.0;" in (tmp_path / "main.c").read_text()


def test_what_is_no_target_is_refused(tmp_path):
    for options, words in (
        ({"target": "z80"}, "must be"),
        ({"step": 0.0}, "must be > 0"),
        ({"inputs": ["x"]}, "must name parameters"),
    ):
        with pytest.raises(ModelError, match=words):
            write_c(elastic_arm(), tmp_path / "no", **options)
    assert not list(tmp_path.iterdir())


STARTUP = """
typedef void (*Entry)(void);
extern char stack_top[];
void start(void);
__attribute__((section(".vectors"), used)) const Entry vectors[2] = {(Entry)stack_top, start};
static void call_host(int code, const void *what) {
    register int r0 __asm__("r0") = code; register const void *r1 __asm__("r1") = what;
    __asm__ volatile("bkpt 0xab" : : "r"(r0), "r"(r1) : "memory");
}
void *memcpy(void *to, const void *from, unsigned n) { char *a = to; const char *b = from; while (n--) *a++ = *b++; return to; }
void *memset(void *to, int x, unsigned n) { char *a = to; while (n--) *a++ = (char)x; return to; }
double sqrt(double x) { return __builtin_elementwise_sqrt(x); }
double fabs(double x) { return x < 0 ? -x : x; }
double copysign(double x, double s) { union { double d; unsigned long long u; } a = {x}, b = {s};
    a.u = (a.u & ~(1ull << 63)) | (b.u & (1ull << 63)); return a.d; }
double floor(double x) { double y = (double)(long long)x; return y > x ? y - 1 : y; }
double ceil(double x) { return -floor(-x); }
double sin(double x) { return x - x; }
double cos(double x) { return x - x; }
#include "elastic_arm.h"
static double memory[ELASTIC_ARM_BYTES / 8];
static char text[35];
static unsigned before;
#define TICKS (*(volatile unsigned *)0xE000E018) /* of SysTick, down from 2^24 */
static void write_hex(char *to, int digits, unsigned long long x) {
    for (int k = 0; k < digits; k++) to[k] = "0123456789abcdef"[(x >> (4 * (digits - 1 - k))) & 15];
}
static void run(void);
void start(void) {
    *(volatile unsigned *)0xE000ED88 |= 0xFu << 20; /* the unit for doubles, before any function uses it */
    __asm__ volatile("dsb; isb");
    run();
}
__attribute__((noinline)) static void run(void) {
    struct elastic_arm *it = elastic_arm_begin(memory);
    *(volatile unsigned *)0xE000E014 = 0xFFFFFF, TICKS = 0, *(volatile unsigned *)0xE000E010 = 5;
    before = TICKS;
    for (int k = 0; k < 200; k++) elastic_arm_step(it, (k + 1) * 1e-4);
    write_hex(text + 17, 8, (before - TICKS) & 0xFFFFFF), text[25] = ' ';
    double a[8] = {1.0}, effort[8];
    before = TICKS;
    for (int k = 0; k < 200; k++) elastic_arm_efforts(it, a, effort);
    write_hex(text + 26, 8, (before - TICKS) & 0xFFFFFF);
    union { double d; unsigned long long u; } x = {elastic_arm_get(it, elastic_arm_output_arm_angle)};
    write_hex(text, 16, x.u), text[16] = ' ';
    call_host(4, text);
    call_host(0x18, (void *)0x20026);
    for (;;) {}
}
"""
PER_TICK = 40  # instructions: QEMU counts 1 ns for each, and the board has a clock of 25 MHz
MOST_INSTRUCTIONS = 20  # of an operation: loads and stores, and sines, which are computed four at a time by 55 operations each
LAYOUT = """SECTIONS { . = 0x0; .vectors : { KEEP(*(.vectors)) } .text : { *(.text*) *(.rodata*) } .ARM.exidx : { *(.ARM.exidx*) }
. = 0x20000000; .data : { *(.data*) } .bss : { *(.bss*) *(COMMON) } stack_top = 0x20000000 + 0x80000; }"""


@pytest.mark.skipif(shutil.which("qemu-system-arm") is None or not has_zig(), reason="no qemu-system-arm, or no zig")
def test_a_cortex_m7_computes_the_bits_of_this_machine(tmp_path):
    write_c(elastic_arm(), tmp_path, target="cortex-m7", step=1e-4, outputs=["arm.angle"], t_end=0.02)
    (tmp_path / "start.c").write_text(STARTUP)
    (tmp_path / "layout.ld").write_text(LAYOUT)
    own = [
        "-target",
        "thumb-freestanding-eabihf",
        "-mcpu=cortex_m7+fp_armv8d16",
        "-Os",
        "-ffp-contract=off",
        "-nostartfiles",
        "-w",
        "-fno-builtin",
    ]
    zig = [sys.executable, "-m", "ziglang", "cc"]
    subprocess.run([*zig, *own, "-T", "layout.ld", "-o", "m7.elf", "start.c", "elastic_arm.o"], cwd=tmp_path, check=True)
    done = subprocess.run(["qemu-system-arm", "-M", "mps2-an500", "-semihosting", "-nographic", "-icount", "shift=0",
                           "-kernel", tmp_path / "m7.elf"], capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    bits = re.fullmatch(r"([0-9a-f]{16}) ([0-9a-f]{8}) ([0-9a-f]{8})", (done.stdout + done.stderr).strip())
    assert bits is not None, done
    rhs, _, efforts = operations(tmp_path / "elastic_arm.h")
    step, inverse = (int(bits[k], 16) * PER_TICK / 200 for k in (2, 3))  # instructions
    assert 4 * rhs < step < 4 * rhs * MOST_INSTRUCTIONS  # RK4 has four stages
    assert efforts < inverse < efforts * MOST_INSTRUCTIONS
    rows = rows_of(subprocess.run([built(tmp_path, "elastic_arm", "main.c")], capture_output=True, text=True, check=True).stdout)
    assert np.frombuffer(bytes.fromhex(bits[1])[::-1])[0] == rows[-1, 1]
