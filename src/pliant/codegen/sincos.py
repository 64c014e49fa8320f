"""sin and cos of the same argument as LLVM text, many arguments at a time: faster than two calls of the C library.

The method is that of fdlibm (Sun, 1993): subtract the nearest multiple of pi/2 (Cody and Waite), kept as a sum hi + lo,
then a polynomial for each of sin and cos on [-pi/4, pi/4]. The error is below 1 ulp. Arguments beyond LARGEST go to the
C library. Members of an ensemble that run in lock-step do without lo, and with fewer corrections: below 1.6 ulp, in 21 operations
instead of 35.
"""

from __future__ import annotations

import math
import re
import struct

WIDTH = 4  # arguments per pass of the batch; two NEON registers or one AVX register, enough to hide the latencies
LARGEST = 1.0e5  # rad; up to this size the quotient has few enough bits that the first product below is exact

_TWO_OVER_PI = 2.0 / math.pi
# pi/2 as a sum of three doubles.
_HALF_PI = (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54"), -1.4973849048591833e-33)
# The same with parts of 33 bits (fdlibm's e_rem_pio2.c): a product with a whole number below 2^20 is exact.
_SHORT_HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
# Adding it rounds to an integer, whose two low bits are then the low bits of the sum: the quadrant.
_ROUNDER = 1.5 * 2.0**52
# fdlibm's k_sin.c and k_cos.c, highest power first.
_SIN = (1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
        -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01)  # fmt: skip
_COS = (-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
        2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02)  # fmt: skip

_REAL, _INTEGER, _BIT = f"<{WIDTH} x double>", f"<{WIDTH} x i64>", f"<{WIDTH} x i1>"
_SUFFIX = f"v{WIDTH}f64"


def real(x: float) -> str:
    """A double as LLVM text, exact to the last bit."""
    return f"0x{int.from_bytes(struct.pack('>d', x)):016X}"


def _all(x: float) -> str:
    """A vector whose entries all equal one constant."""
    return f"splat (double {real(x)})"


class _Lines:
    """Writes arithmetic on vectors as LLVM text; each method returns the name of its result."""

    def __init__(self, fused: bool = True) -> None:
        self.fused, self.text = fused, list[str]()

    def let(self, expression: str) -> str:
        name = f"%s{len(self.text)}"
        self.text.append(f"  {name} = {expression}")
        return name

    def add(self, a: str, b: str) -> str:
        return self.let(f"fadd {_REAL} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.let(f"fsub {_REAL} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.let(f"fmul {_REAL} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once if the processor can."""
        if not self.fused:
            return self.add(self.mul(a, b), c)
        return self.let(f"call {_REAL} @llvm.fma.{_SUFFIX}({_REAL} {a}, {_REAL} {b}, {_REAL} {c})")

    def neg(self, a: str) -> str:
        return self.let(f"fneg {_REAL} {a}")

    def polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        """Horner's rule, highest power first."""
        result = _all(coefficients[0])
        for c in coefficients[1:]:
            result = self.fma(z, result, _all(c))
        return result

    def choose(self, bit: str, a: str, b: str) -> str:
        return self.let(f"select {_BIT} {bit}, {_REAL} {a}, {_REAL} {b}")

    def flip(self, x: str, quadrant: str) -> str:
        """-x where bit 1 of the quadrant is set."""
        two = self.let(f"and {_INTEGER} {quadrant}, splat (i64 2)")
        sign = self.let(f"shl {_INTEGER} {two}, splat (i64 62)")
        bits = self.let(f"bitcast {_REAL} {x} to {_INTEGER}")
        flipped = self.let(f"xor {_INTEGER} {bits}, {sign}")
        return self.let(f"bitcast {_INTEGER} {flipped} to {_REAL}")


def _sincos(lines: _Lines, x: str) -> tuple[str, str]:
    """The names of sin(x) and cos(x), for |x| <= LARGEST or nan."""
    quadrant, turns = _quadrant(lines, x)
    hi, lo = (_reduced if lines.fused else _reduced_unfused)(lines, x, turns)
    return _turned(lines, quadrant, _sine(lines, hi, lo), _cosine(lines, hi, lo))


def _reduced(lines: _Lines, x: str, turns: str) -> tuple[str, str]:
    """x - turns pi/2 as a sum of two."""
    back = lines.neg(turns)
    first, second, third = (_all(part) for part in _HALF_PI)
    near = lines.fma(back, first, x)  # exact
    step = lines.mul(turns, second)
    hi = lines.sub(near, step)
    # The rounding error of the last two lines, so that all digits are correct even next to a multiple of pi/2.
    lost = lines.add(lines.sub(lines.sub(near, hi), step), lines.fma(back, second, step))
    return hi, lines.fma(back, third, lost)


def _reduced_unfused(lines: _Lines, x: str, turns: str) -> tuple[str, str]:
    """The same for processors without fused products: parts of pi/2 so short that their products with the turns are exact."""
    first, second, third = (_all(part) for part in _SHORT_HALF_PI)
    near = lines.sub(x, lines.mul(turns, first))  # exact
    step = lines.mul(turns, second)
    hi = lines.sub(near, step)
    back = lines.sub(hi, near)
    lost = lines.sub(lines.sub(near, lines.sub(hi, back)), lines.add(step, back))
    return hi, lines.sub(lost, lines.mul(turns, third))


def _short_sincos(lines: _Lines, x: str) -> tuple[str, str]:
    """The same with an error of up to 1.6 ulp."""
    quadrant, turns = _quadrant(lines, x)
    back, rest = lines.neg(turns), x
    for part in _HALF_PI:
        rest = lines.fma(back, _all(part), rest)
    z = lines.mul(rest, rest)
    sine = lines.fma(lines.mul(z, rest), lines.polynomial(z, _SIN), rest)
    cosine = lines.fma(lines.mul(z, z), lines.polynomial(z, _COS), lines.fma(z, _all(-0.5), _all(1.0)))
    return _turned(lines, quadrant, sine, cosine)


def _quadrant(lines: _Lines, x: str) -> tuple[str, str]:
    """The nearest multiple of pi/2: bits that end with its quadrant, and its number."""
    rounded = lines.fma(x, _all(_TWO_OVER_PI), _all(_ROUNDER))
    return lines.let(f"bitcast {_REAL} {rounded} to {_INTEGER}"), lines.sub(rounded, _all(_ROUNDER))


def _turned(lines: _Lines, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
    """sin and cos in their quadrant."""
    odd = lines.let(f"trunc {_INTEGER} {quadrant} to {_BIT}")
    next_quadrant = lines.let(f"add {_INTEGER} {quadrant}, splat (i64 1)")
    return (
        lines.flip(lines.choose(odd, cosine, sine), quadrant),
        lines.flip(lines.choose(odd, sine, cosine), next_quadrant),
    )


def _sine(lines: _Lines, x: str, tail: str) -> str:
    """sin(x + tail) = x - ((z (tail/2 - x z S) - tail) - x z S1), where z = x^2."""
    z = lines.mul(x, x)
    cube = lines.mul(z, x)
    rest = lines.polynomial(z, _SIN[:-1])
    inner = lines.fma(lines.neg(cube), rest, lines.mul(_all(0.5), tail))
    outer = lines.fma(z, inner, lines.neg(tail))
    return lines.sub(x, lines.fma(cube, _all(-_SIN[-1]), outer))


def _cosine(lines: _Lines, x: str, tail: str) -> str:
    """cos(x + tail) = w + (((1 - w) - z/2) + (z^2 C - x tail)), where w = 1 - z/2."""
    z = lines.mul(x, x)
    half = lines.mul(_all(0.5), z)
    w = lines.sub(_all(1.0), half)
    lost = lines.sub(lines.sub(_all(1.0), w), half)
    rest = lines.mul(z, lines.polynomial(z, _COS))
    correction = lines.fma(z, rest, lines.neg(lines.mul(x, tail)))
    return lines.add(w, lines.add(lost, correction))


BATCH = "pliant_sincos_batch"  # shared by all kernels: its code would dominate the compile time of a small kernel


def batch_text(fused: bool) -> str:
    """`BATCH(x, s, c, n)`: s[i], c[i] = sin(x[i]), cos(x[i]) for n > 0 arguments, a multiple of WIDTH.

    fused: whether the processor has a fused multiply-add.
    """
    near = _near_lines(fused)
    return "\n".join(
        [
            f"declare {_REAL} @llvm.fma.{_SUFFIX}({_REAL}, {_REAL}, {_REAL})",
            f"declare {_REAL} @llvm.fabs.{_SUFFIX}({_REAL})",
            f"declare double @llvm.vector.reduce.fmax.{_SUFFIX}({_REAL})",
            "declare double @sin(double)",
            "declare double @cos(double)",
            f"define void @{BATCH}(ptr noalias %xs, ptr noalias %ss, ptr noalias %cs, i64 %n) nounwind {{",
            "entry:",
            "  br label %pass",
            "pass:",
            "  %i = phi i64 [0, %entry], [%next, %done]",
            "  %xi = getelementptr double, ptr %xs, i64 %i",
            "  %si = getelementptr double, ptr %ss, i64 %i",
            "  %ci = getelementptr double, ptr %cs, i64 %i",
            f"  %x = load {_REAL}, ptr %xi, align 8",
            *near,
            "library:",
            *_library_lanes(),
            "  br label %done",
            "done:",
            f"  %next = add i64 %i, {WIDTH}",
            "  %more = icmp slt i64 %next, %n",
            "  br i1 %more, label %pass, label %end",
            "end:",
            "  ret void",
            "}",
            "",
        ]
    )


def _near_lines(fused: bool) -> list[str]:
    """The method above, unless one of the arguments is too large for it."""
    lines = _Lines(fused)
    sine, cosine = _sincos(lines, "%x")
    return [
        f"  %size = call {_REAL} @llvm.fabs.{_SUFFIX}({_REAL} %x)",
        f"  %largest = call double @llvm.vector.reduce.fmax.{_SUFFIX}({_REAL} %size)",
        f"  %far = fcmp ogt double %largest, {real(LARGEST)}",
        "  br i1 %far, label %library, label %near",
        "near:",
        *lines.text,
        f"  store {_REAL} {sine}, ptr %si, align 8",
        f"  store {_REAL} {cosine}, ptr %ci, align 8",
        "  br label %done",
    ]


def _library_lanes() -> list[str]:
    lines = []
    for lane in range(WIDTH):
        lines += [
            f"  %x{lane} = extractelement {_REAL} %x, i64 {lane}",
            f"  %sp{lane} = getelementptr double, ptr %si, i64 {lane}",
            f"  %cp{lane} = getelementptr double, ptr %ci, i64 {lane}",
            f"  %sv{lane} = call double @sin(double %x{lane})",
            f"  %cv{lane} = call double @cos(double %x{lane})",
            f"  store double %sv{lane}, ptr %sp{lane}",
            f"  store double %cv{lane}, ptr %cp{lane}",
        ]
    return lines


def near_text(name: str, width: int, attributes: str) -> str:
    """`void name(ptr x, ptr s, ptr c)` for one vector of this width, or one number, without the C library: nan beyond LARGEST."""
    lines = _Lines()
    size = lines.let(f"call {_REAL} @llvm.fabs.{_SUFFIX}({_REAL} %given)")
    near = lines.let(f"fcmp ole {_REAL} {size}, {_all(LARGEST)}")
    x = lines.choose(near, "%given", _all(math.nan))
    sine, cosine = _short_sincos(lines, x)
    text = "\n".join([
        f"define internal void @{name}(ptr %xi, ptr %si, ptr %ci) {attributes} nounwind {{",
        f"  %given = load {_REAL}, ptr %xi, align 8", *lines.text,
        f"  store {_REAL} {sine}, ptr %si, align 8", f"  store {_REAL} {cosine}, ptr %ci, align 8", "  ret void", "}", "",
    ])  # fmt: skip
    if width > 1:
        return text.replace(f"<{WIDTH} x", f"<{width} x").replace(f".v{WIDTH}f64", f".v{width}f64")
    text = text.replace(f"<{WIDTH} x double>", "double").replace(f"<{WIDTH} x i64>", "i64").replace(f"<{WIDTH} x i1>", "i1")
    text = re.sub(r"splat \(\w+ ([^)]*)\)", r"\1", text)
    return text.replace(f".v{WIDTH}f64", ".f64")
