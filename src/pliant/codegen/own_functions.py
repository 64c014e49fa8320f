"""Functions of one or two numbers that formulas may use, written once for every processor and for a GPU: see `codegen.plain`.

A GPU has no C library. These are fdlibm's methods (Sun Microsystems, 1993), within 2 units in the last place of the exact value.
"""

from __future__ import annotations

from math import copysign, floor, sqrt
from typing import Any

bits: Any = None  # the bits of a double as an integer; `from_bits` is the inverse
from_bits: Any = None
fma: Any = None  # a b + c, rounded once

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LN2 = 6.93147180559945286227e-01
INVERSE_LN2 = 1.44269504088896338700e00
LARGEST_EXP, SMALLEST_EXP = 709.782712893383973096, -745.13321910194110842
NAN, INF = float("nan"), float("inf")
SPLITTER = 134217729.0  # 2^27 + 1: splits a double into two halves (Veltkamp)
TINY, HUGE = 2.0**-600, 2.0**600  # scale factors that keep squares from underflow and overflow


def own_fma(a: float, b: float, c: float) -> float:
    """a b + c for processors that round products and sums apart: the exact product (Dekker), then the exact sum (Knuth)."""
    p = a * b
    a_far, b_far = SPLITTER * a, SPLITTER * b
    a_high, b_high = a_far - (a_far - a), b_far - (b_far - b)
    a_low, b_low = a - a_high, b - b_high
    product_rest = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = p + c
    back = total - p
    rest = (p - (total - back)) + (c - back) + product_rest
    return total + rest if rest == rest else total  # nan: something is infinite, or nearly so


def scaled(x: float, k: int) -> float:
    """x 2^k for |x| around 1, also if the result is denormal or overflows."""
    half = k >> 1
    return float(x * from_bits((half + 1023) << 52) * from_bits((k - half + 1023) << 52))


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
    # a mantissa above sqrt 2 is counted with the next power of two
    above = (mantissa + 2638157891764224) & 4503599627370496
    f = from_bits(mantissa | (above ^ 4607182418800017408)) - 1.0
    k = k + (above >> 52)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    a = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    b = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01
        + w * 1.479819860511658591e-01)))  # fmt: skip
    r, half = a + b, 0.5 * f * f
    n = float(k)
    return float(n * LN2_HIGH - ((half - (s * (half + r) + n * LN2_LOW)) - f))


def own_expm1(x: float) -> float:
    """e^x - 1, accurate also for small x."""
    if not (x < LARGEST_EXP + 1.0):
        return x * INF if x == x else x
    if x < -40.0:
        return -1.0
    k = float(floor(x * INVERSE_LN2 + 0.5))
    if abs(x) < 0.34657359027997264:
        k = 0.0
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    lost = (high - r) - low
    half = 0.5 * r
    z = r * half
    p = 1.0 + z * (-3.33333333333331316428e-02 + z * (1.58730158725481460165e-03 + z * (-7.93650757867487942473e-05
        + z * (4.00821782732936239552e-06 + z * -2.01099218183624371326e-07))))  # fmt: skip
    t = 3.0 - p * half
    e = z * ((p - t) / (6.0 - r * t))
    if k == 0.0:
        return float(r - (r * e - z))
    e = (r * (e - lost) - lost) - z
    n = int(k)
    if k == -1.0:
        return float(0.5 * (r - e) - 0.5)
    if k == 1.0:
        return float(-2.0 * (e - (r + 0.5)) if r < -0.25 else 1.0 + 2.0 * (r - e))
    if n <= -2 or n > 56:
        return float(scaled(1.0 - (e - r), n) - 1.0)
    if n < 20:
        return scaled((1.0 - from_bits((1023 - n) << 52)) - (e - r), n)
    return scaled((r - (e + from_bits((1023 - n) << 52))) + 1.0, n)


def log_past_one(x: float, low: float) -> float:
    """log(1 + x + low), accurate also for small x; low is the rounding error of x."""
    u = 1.0 + x
    if u == 1.0:
        return x + low if low != 0.0 else x
    # the rounding error of 1 + x, to first order
    lost = (1.0 - (u - x)) if x > 1.0 else x - (u - 1.0)
    return own_log(u) + (lost + low) / u


def own_log1p(x: float) -> float:
    """log(1 + x), accurate also for small x."""
    if not (x > -1.0) or x == INF:
        return x if x == INF else own_log(1.0 + x)
    return log_past_one(x, 0.0)


def own_sinh(x: float) -> float:
    size = abs(x)
    half = copysign(0.5, x)
    if size < 22.0:
        t = own_expm1(size)
        if size < 1.0:
            return half * (2.0 * t - t * t / (t + 1.0))
        return half * (t + t / (t + 1.0))
    if size < 709.7:
        return half * own_exp(size)
    root = own_exp(0.5 * size)
    return (half * root) * root


def own_cosh(x: float) -> float:
    size = abs(x)
    if size < 0.34657359027997264:
        t = own_expm1(size)
        return 1.0 + t * t / (2.0 * (1.0 + t))
    if size < 22.0:
        t = own_exp(size)
        return 0.5 * t + 0.5 / t
    if size < 709.7:
        return 0.5 * own_exp(size)
    root = own_exp(0.5 * size)
    return (0.5 * root) * root


def own_tanh(x: float) -> float:
    size = abs(x)
    if not (size < 22.0):
        return copysign(1.0, x) if x == x else x
    if size >= 1.0:
        t = own_expm1(2.0 * size)
        return copysign(1.0 - 2.0 / (t + 2.0), x)
    t = own_expm1(-2.0 * size)
    return copysign(-t / (t + 2.0), x)


def own_atan(x: float) -> float:
    size = abs(x)
    high, low, r = 0.0, 0.0, size
    if size >= 2.4375:
        high, low, r = 1.57079632679489655800e00, 6.12323399573676603587e-17, -1.0 / size
    elif size >= 1.1875:
        high, low, r = 9.82793723247329054082e-01, 1.39033110312309984516e-17, (size - 1.5) / (1.0 + 1.5 * size)
    elif size >= 0.6875:
        high, low, r = 7.85398163397448278999e-01, 3.06161699786838301793e-17, (size - 1.0) / (size + 1.0)
    elif size >= 0.4375:
        high, low, r = 4.63647609000806093515e-01, 2.26987774529616870924e-17, (2.0 * size - 1.0) / (2.0 + size)
    z = r * r
    w = z * z
    a = z * (3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02
        + w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))))  # fmt: skip
    b = w * (-1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02
        + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))))  # fmt: skip
    if high == 0.0:
        return copysign(r - r * (a + b), x)
    return copysign(high - ((r * (a + b) - low) - r), x)


def own_atan2(y: float, x: float) -> float:
    if x != x or y != y:
        return x + y
    angle = own_atan(abs(y / x))
    if y == 0.0:
        angle = 0.0
    elif x == 0.0 or (abs(y) == INF and abs(x) != INF):
        angle = 1.57079632679489655800e00
    elif abs(y) == INF:
        angle = 7.85398163397448278999e-01
    if copysign(1.0, x) < 0.0:
        angle = 3.14159265358979311600e00 - (angle - 1.22464679914735317720e-16)
    return copysign(angle, y)


def own_asin_rest(z: float) -> float:
    """(asin(x) - x)/x as a function of z = x^2, for z up to 1/4."""
    p = z * (1.66666666666666657415e-01 + z * (-3.25565818622400915405e-01 + z * (2.01212532134862925881e-01
        + z * (-4.00555345006794114027e-02 + z * (7.91534994289814532176e-04 + z * 3.47933107596021167570e-05)))))  # fmt: skip
    q = 1.0 + z * (-2.40339491173441421878e00 + z * (2.02094576023350569471e00 + z * (-6.88283971605453293030e-01
        + z * 7.70381505559019352791e-02)))  # fmt: skip
    return p / q


def own_asin(x: float) -> float:
    size = abs(x)
    if not (size <= 1.0):
        return NAN
    if size < 0.5:
        return x + x * own_asin_rest(x * x)
    z = 0.5 * (1.0 - size)
    root = sqrt(z)
    high = from_bits(bits(root) & -4294967296)
    low = (z - high * high) / max(root + high, 1e-300)
    r = own_asin_rest(z)
    p = 2.0 * root * r - (6.12323399573676603587e-17 - 2.0 * low)
    q = 7.85398163397448278999e-01 - 2.0 * high
    return copysign(7.85398163397448278999e-01 - (p - q), x)


def own_acos(x: float) -> float:
    size = abs(x)
    if not (size <= 1.0):
        return NAN
    if size < 0.5:
        r = own_asin_rest(x * x)
        return 1.57079632679489655800e00 - (x - (6.12323399573676603587e-17 - x * r))
    z = 0.5 * (1.0 - size)
    root, r = sqrt(z), own_asin_rest(z)
    if x < 0.0:
        return 3.14159265358979311600e00 - 2.0 * (root + (root * r - 6.12323399573676603587e-17))
    high = from_bits(bits(root) & -4294967296)
    low = (z - high * high) / max(root + high, 1e-300)
    return float(2.0 * (high + (r * root + low)))


def own_hypot(x: float, y: float) -> float:
    a, b = max(abs(x), abs(y)), min(abs(x), abs(y))
    if a == INF or b == INF:
        return INF
    if not (a > 0.0):
        return a + b
    scale = 1.0
    if a > 1e150:
        scale = TINY
    if a < 1e-150:
        scale = HUGE
    a, b = a * scale, b * scale
    return sqrt(float(fma(a, a, b * b))) / scale


def own_pow(x: float, y: float) -> float:
    """e^(y log x), with the logarithm in two parts; nan for x < 0 unless y is an integer."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return x + y
    whole = floor(y) == y
    odd = whole and floor(0.5 * y) != 0.5 * y
    sign = -1.0 if copysign(1.0, x) < 0.0 and odd else 1.0
    size = abs(x)
    if x < 0.0 and not whole and size != INF:
        return NAN
    if size == 0.0 or size == INF:
        grows = (size == INF) == (y > 0.0)
        return sign * INF if grows else sign * 0.0
    if abs(y) == INF:
        return 1.0 if size == 1.0 else (INF if (size > 1.0) == (y > 0.0) else 0.0)
    shift, scale = 0, 1.0
    if size < 2.2250738585072014e-308:
        shift, scale = -54, 18014398509481984.0
    word = bits(size * scale)
    mantissa = word & 4503599627370495
    above = (mantissa + 2638157891764224) & 4503599627370496
    f = from_bits(mantissa | (above ^ 4607182418800017408)) - 1.0
    n = float(((word >> 52) & 2047) - 1023 + shift + (above >> 52))
    # log(1 + f) = 2 s + 2/3 s^3 + ..., s = f/(2 + f) = s + s_low
    t = 2.0 + f
    t_low = f - (t - 2.0)
    s = f / t
    s_low = (fma(-s, t, f) - s * t_low) / t
    z = s * s
    z_low = fma(s, s, -z) + 2.0 * s * s_low
    cube = s * z
    cube_low = fma(s, z, -cube) + s * z_low + s_low * z
    third = cube * 0.6666666666666666
    third_low = fma(cube, 0.6666666666666666, -third) + cube * 3.700743415417188e-17 + cube_low * 0.6666666666666666
    rest = z * cube * (0.4 + z * (0.2857142857142857 + z * (0.2222222222222222 + z * (0.18181818181818182
        + z * (0.15384615384615385 + z * (0.13333333333333333 + z * (0.11764705882352941 + z * (0.10526315789473684
        + z * (0.09523809523809523 + z * 0.08695652173913043)))))))))  # fmt: skip
    a = n * LN2_HIGH
    b = a + 2.0 * s
    b_low = ((2.0 * s - (b - a)) if abs(a) > abs(2.0 * s) else (a - (b - 2.0 * s))) + 2.0 * s_low
    c = b + third
    c_low = ((third - (c - b)) if abs(b) > abs(third) else (b - (c - third))) + third_low + b_low + rest + n * LN2_LOW
    high = c + c_low
    low = c_low - (high - c)
    product = y * high
    if product > 710.0:
        return sign * INF
    if product < -746.0:
        return sign * 0.0
    tail = fma(y, high, -product) + y * low
    value = own_exp(product)
    return float(sign * (value + value * tail))


def past_quarter(x: float, turns: float) -> float:
    """x - turns pi/2, for |x| up to 1e5."""
    return float(fma(-turns, 1.5707963267948966, x) - turns * 6.123233995736766e-17)


def past_quarter_rest(x: float, turns: float) -> float:
    """The rounding error of `past_quarter`."""
    near = fma(-turns, 1.5707963267948966, x)
    step = turns * 6.123233995736766e-17
    high = near - step
    return float(((near - high) - step) + fma(-turns, 6.123233995736766e-17, step) + turns * 1.4973849048591833e-33)


def own_sine_pair(x: float, quarter: int) -> float:
    """sin(x + quarter pi/2), for |x| up to 1e5; nan beyond."""
    if not (abs(x) <= 1e5):
        return NAN
    turns = floor(x * 0.6366197723675814 + 0.5)
    high, low = past_quarter(x, turns), past_quarter_rest(x, turns)
    z = high * high
    cube = z * high
    rest = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06
        + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))  # fmt: skip
    sine = high - ((z * (0.5 * low - cube * rest) - low) - cube * -1.66666666666666324348e-01)
    half = 0.5 * z
    w = 1.0 - half
    more = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
        + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))))  # fmt: skip
    cosine = w + (((1.0 - w) - half) + (z * more - high * low))
    which = (int(turns) + quarter) & 3
    value = cosine if (which & 1) == 1 else sine
    return float(-value if which >= 2 else value)


def own_sin(x: float) -> float:
    return own_sine_pair(x, 0)


def own_cos(x: float) -> float:
    return own_sine_pair(x, 1)


def own_tan(x: float) -> float:
    """tan(x) for |x| up to 1e5; nan beyond."""
    if not (abs(x) <= 1e5) or x == 0.0:
        return x if x == 0.0 else NAN
    turns = floor(x * 0.6366197723675814 + 0.5)
    high, low = past_quarter(x, turns), past_quarter_rest(x, turns)
    sign = copysign(1.0, high)
    far = abs(high) >= 0.67434
    if far:  # tan(r) = (1 - tan(pi/4 - r))/(1 + tan(pi/4 - r)), and the polynomial is evaluated at pi/4 - r
        high, low = (7.85398163397448278999e-01 - sign * high) + (3.06161699786838301793e-17 - sign * low), 0.0
    z = high * high
    w = z * z
    odd = 1.33333333333201242699e-01 + w * (2.18694882948595424599e-02 + w * (3.59207910759131235356e-03
        + w * (5.88041240820264096874e-04 + w * (7.81794442939557092300e-05 + w * -1.85586374855275456654e-05))))  # fmt: skip
    even = z * (5.39682539762260521377e-02 + w * (8.86323982359930005737e-03 + w * (1.45620945432529025516e-03
        + w * (2.46463134818469906812e-04 + w * (7.14072491382608190305e-05 + w * 2.59073051863633712884e-05)))))  # fmt: skip
    cube = z * high
    rest = low + z * (cube * (odd + even) + low) + 3.33333333333334091986e-01 * cube
    value = high + rest
    flipped = (int(turns) & 1) == 1  # after an odd number of quarter turns: -1/tan
    if far:
        unit = -1.0 if flipped else 1.0
        return float(sign * (unit - 2.0 * (high - (value * value / (value + unit) - rest))))
    if not flipped:
        return float(value)
    lost = rest - (value - high)
    inverse = -1.0 / value
    return float(inverse + inverse * (fma(inverse, value, 1.0) + inverse * lost))


def own_asinh(x: float) -> float:
    size = abs(x)
    if not (size < 268435456.0):
        return copysign(own_log(size) + LN2, x) if x == x else x
    square = size * size
    if size > 2.0:
        return copysign(own_log(2.0 * size + 1.0 / (sqrt(square + 1.0) + size)), x)
    more = square / (1.0 + sqrt(1.0 + square))
    a = size + more
    return copysign(log_past_one(a, more - (a - size)), x)


def own_acosh(x: float) -> float:
    if not (x >= 1.0):
        return NAN
    if x > 268435456.0:
        return own_log(x) + LN2
    if x > 2.0:
        return own_log(2.0 * x - 1.0 / (x + sqrt(x * x - 1.0)))
    if x == 1.0:
        return 0.0
    t = x - 1.0
    square = fma(t, t, 2.0 * t)
    root = sqrt(square)
    root_low = (fma(-root, root, square) + fma(t, t, 2.0 * t - square)) / (2.0 * root)
    a = root + t
    return log_past_one(a, (t - (a - root)) + root_low)


def own_atanh(x: float) -> float:
    size = abs(x)
    if not (size <= 1.0):
        return NAN
    t = 2.0 * size
    if size < 0.5:
        more = t * size / (1.0 - size)
        a = t + more
        return copysign(0.5 * log_past_one(a, more - (a - t)), x)
    return copysign(0.5 * own_log1p(t / (1.0 - size)), x)


def exponent(x: float) -> int:
    """For x > 0, k with 2^k <= x < 2^(k + 1), up to an offset common to all numbers."""
    if x < 2.2250738585072014e-308:
        return int((bits(x * 18014398509481984.0) >> 52) & 2047) - 54
    return int((bits(x) >> 52) & 2047)


def own_fmod(x: float, y: float) -> float:
    """fmod(x, y) of C, exact: every iteration subtracts an integer below 2^52 times y 2^k by one fused, exact operation."""
    rest, size = abs(x), abs(y)
    if not (rest < INF) or not (size > 0.0):
        return NAN
    while rest >= size:
        apart = exponent(rest) - exponent(size)
        step = scaled(size, apart - 51) if apart > 51 else size
        rest = fma(-floor(rest / step), step, rest)
        if rest < 0.0:  # the quotient was rounded up to an integer
            rest = rest + step
    return copysign(rest, x)


def own_remainder(x: float, y: float) -> float:
    """x - n y, exactly, with n the integer nearest to x/y, the even one in a tie."""
    size = abs(y)
    if not (abs(x) < INF) or not (size > 0.0):
        return NAN
    rest = abs(x)
    if size < 8.98846567431158e307:
        rest = own_fmod(rest, 2.0 * size)
    # below 2 |y|, n is 0, 1 or 2; halving numbers near the smallest would round them, doubling does not
    small = size < 4.450147717014403e-308
    if (rest + rest > size) if small else (rest > 0.5 * size):
        rest = rest - size
        if (rest + rest >= size) if small else (rest >= 0.5 * size):
            rest = rest - size
    return rest if copysign(1.0, x) > 0.0 else -rest


def own_erf(x: float) -> float:
    size = abs(x)
    if not (size < 6.0):
        return copysign(1.0, x) if x == x else x
    if size < 0.84375:
        z = x * x
        p = 1.28379167095512558561e-01 + z * (-3.25042107247001499370e-01 + z * (-2.84817495755985104766e-02
            + z * (-5.77027029648944159157e-03 + z * -2.37630166566501626084e-05)))  # fmt: skip
        q = 1.0 + z * (3.97917223959155352819e-01 + z * (6.50222499887672944485e-02 + z * (5.08130628187576562776e-03
            + z * (1.32494738004321644526e-04 + z * -3.96022827877536812320e-06))))  # fmt: skip
        return x + x * (p / q)
    if size < 1.25:
        s = size - 1.0
        p = -2.36211856075265944077e-03 + s * (4.14856118683748331666e-01 + s * (-3.72207876035701323847e-01
            + s * (3.18346619901161753674e-01 + s * (-1.10894694282396677476e-01 + s * (3.54783043256182359371e-02
            + s * -2.16637559486879084300e-03)))))  # fmt: skip
        q = 1.0 + s * (1.06420880400844228286e-01 + s * (5.40397917702171048937e-01 + s * (7.18286544141962662868e-02
            + s * (1.26171219808761642112e-01 + s * (1.36370839120290507362e-02 + s * 1.19844998467991074170e-02)))))  # fmt: skip
        return copysign(8.45062911510467529297e-01 + p / q, x)
    s = 1.0 / (size * size)
    if size < 2.857142857142857:
        p = -9.86494403484714822705e-03 + s * (-6.93858572707181764372e-01 + s * (-1.05586262253232909814e01
            + s * (-6.23753324503260060396e01 + s * (-1.62396669462573470355e02 + s * (-1.84605092906711035994e02
            + s * (-8.12874355063065934246e01 + s * -9.81432934416914548592e00))))))  # fmt: skip
        q = 1.0 + s * (1.96512716674392571292e01 + s * (1.37657754143519042600e02 + s * (4.34565877475229228821e02
            + s * (6.45387271733267880336e02 + s * (4.29008140027567833386e02 + s * (1.08635005541779435134e02
            + s * (6.57024977031928170135e00 + s * -6.04244152148580987438e-02)))))))  # fmt: skip
    else:
        p = -9.86494292470009928597e-03 + s * (-7.99283237680523006574e-01 + s * (-1.77579549177547519889e01
            + s * (-1.60636384855821916062e02 + s * (-6.37566443368389627722e02 + s * (-1.02509513161107724954e03
            + s * -4.83519191608651397019e02)))))  # fmt: skip
        q = 1.0 + s * (3.03380607434824582924e01 + s * (3.25792512996573918826e02 + s * (1.53672958608443695994e03
            + s * (3.19985821950859553908e03 + s * (2.55305040643316442583e03 + s * (4.74528541206955367215e02
            + s * -2.24409524465858183362e01))))))  # fmt: skip
    # size^2 in two parts, of which the first is exact
    near = from_bits(bits(size) & -4294967296)
    beyond = own_exp(-near * near - 0.5625) * own_exp((near - size) * (near + size) + p / q)
    return copysign(1.0 - beyond / size, x)


OWN = (scaled, own_exp, own_log, own_expm1, log_past_one, own_log1p, own_sinh, own_cosh, own_tanh, own_atan, own_atan2,
       own_asin_rest, own_asin, own_acos, own_hypot, own_pow, past_quarter, past_quarter_rest, own_sine_pair, own_sin, own_cos,
       own_tan, own_asinh, own_acosh, own_atanh, exponent, own_fmod, own_remainder, own_erf)  # fmt: skip
