"""Functions of one number or two that a formula may use, written once for every processor and for a GPU: see `codegen.plain`.

A GPU has no C library. These are fdlibm's methods (Sun Microsystems, 1993), within 2 units in the last place of the exact value.
"""

from __future__ import annotations

from typing import Any

bits: Any
from_bits: Any
sqrt: Any
fma: Any
floor: Any

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
INVERSE_LN2 = 1.44269504088896338700e00
ROUNDER = 6755399441055744.0  # 1.5 2^52: adding it rounds to a whole number
LARGEST_EXP, SMALLEST_EXP = 709.782712893383973096, -745.13321910194110842
NAN, INF = float("nan"), float("inf")


def scaled(x: float, k: int) -> float:
    """x 2^k for |x| around 1, also where that is denormal or too large."""
    half = k >> 1
    return x * from_bits((half + 1023) << 52) * from_bits((k - half + 1023) << 52)


def own_exp(x: float) -> float:
    if not (x < LARGEST_EXP + 1.0):
        return x * INF if x == x else x
    if x < SMALLEST_EXP - 1.0:
        return 0.0
    k = floor(x * INVERSE_LN2 + 0.5)
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * (6.61375632143793436117e-05
        + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))))  # fmt: skip
    y = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    return scaled(y, int(k))


def own_log(x: float) -> float:
    if not (x > 0.0):
        return -INF if x == 0.0 else NAN
    if x == INF:
        return x
    shift, scale = 0, 1.0
    if x < 2.2250738585072014e-308:
        shift, scale = -54, 18014398509481984.0
    y = bits(x * scale)
    k = ((y >> 52) & 2047) - 1023 + shift
    mantissa = y & 4503599627370495
    # a mantissa above sqrt 2 belongs to the next power of two
    above = (mantissa + 2638157891764224) & 4503599627370496
    f = from_bits(mantissa | (above ^ 4607182418800017408)) - 1.0
    k = k + (above >> 52)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    a = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    b = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)))
    r, half = a + b, 0.5 * f * f
    n = float(k)
    return n * LN2_HIGH - ((half - (s * (half + r) + n * LN2_LOW)) - f)


OWN = (scaled, own_exp, own_log)
CONSTANTS = {name: value for name, value in globals().items() if name.isupper() and isinstance(value, (int, float))}
