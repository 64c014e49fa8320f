"""Runge-Kutta methods as data: a new explicit method is one Tableau here and one dataclass in `methods`.

Stages are numbered 0 ... s-1; number s is the derivative at the step's end (the next step's stage 0) and
s+1 ... are stages that only the dense output needs. A row maps stage number to coefficient; zeros are omitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

Row = Mapping[int, float | Fraction]


@dataclass(frozen=True)
class Tableau:
    """y1 = y0 + h sum b_j k_j with k_i = f(t0 + c_i h, y0 + h sum a_ij k_j).

    The dense output is Hairer's nested form y(x) = y0 + x (F0 + (1-x) (F1 + x (F2 + (1-x) (F3 + ...)))) with
    F0 = y1 - y0, F1 = h k_0 - F0, F2 = 2 F0 - h (k_0 + k_s): the cubic Hermite polynomial;
    the rows of `dense` give F3, F4, ... as h sum d_j k_j.
    """

    name: str
    order: int  # of the propagated solution
    a: tuple[Row, ...]
    b: Row
    c: tuple[float | Fraction, ...]
    error: tuple[Row, ...] = ()  # none: fixed step; one: e = h sum e_j k_j; two: DOP853's 5th and 3rd order pair
    error_order: int = 0  # the estimate is O(h^(error_order + 1))
    extra_a: tuple[Row, ...] = ()
    extra_c: tuple[float | Fraction, ...] = ()
    dense: tuple[Row, ...] = ()
    dense_order: int = 3  # the interpolant's error is O(h^(dense_order + 1)), uniformly over the step

    @property
    def stages(self) -> int:
        return len(self.a)


def _row(*numerators_over: str) -> dict[int, Fraction]:
    """`_row("1/5", "0", "3/40")` -> {0: 1/5, 2: 3/40}."""
    return {j: Fraction(text) for j, text in enumerate(numerators_over) if Fraction(text) != 0}


def _nodes(*numbers: str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def _minus(left: Row, right: Row) -> dict[int, float | Fraction]:
    return {j: left.get(j, 0) - right.get(j, 0) for j in sorted({*left, *right})}


def hermite_rows(b: Row, last: int) -> tuple[Row, Row, Row]:
    """F0, F1, F2 of the nested form, as rows over the stages; `last` is the number s of the end derivative."""
    slope_start, slope_end = {0: Fraction(1)}, {last: Fraction(-1)}
    f1 = _minus(slope_start, b)
    f2 = _minus(slope_end, _minus(f1, b))
    return b, f1, f2


def _hermite_value(b: Row, last: int, x: Fraction) -> dict[int, float | Fraction]:
    """(y(x) - y0)/h of the cubic Hermite polynomial, over the stages."""
    weights = (x, x * (1 - x), x * x * (1 - x))
    return _blend(hermite_rows(b, last), weights)


def _hermite_slope(b: Row, last: int, x: Fraction) -> dict[int, float | Fraction]:
    """y'(x)/h of the cubic Hermite polynomial, over the stages."""
    weights = (Fraction(1), 1 - 2 * x, 2 * x - 3 * x * x)
    return _blend(hermite_rows(b, last), weights)


def _blend(rows: tuple[Row, ...], weights: tuple[Fraction, ...]) -> dict[int, float | Fraction]:
    blend: dict[int, float | Fraction] = {}
    for row, weight in zip(rows, weights, strict=True):
        blend = _minus(blend, {j: -weight * value for j, value in row.items()})
    return {j: value for j, value in blend.items() if value != 0}


RK4 = Tableau(
    name="RK4",
    order=4,
    a=({}, _row("1/2"), _row("0", "1/2"), _row("0", "0", "1")),
    b=_row("1/6", "1/3", "1/3", "1/6"),
    c=_nodes("0", "1/2", "1/2", "1"),
)

# Two classical steps of h/2 and one of h: their difference divided by 15 is Richardson's estimate of the error of the two.
_HALF = {0: Fraction(1, 12), 1: Fraction(1, 6), 2: Fraction(1, 6), 3: Fraction(1, 12)}
_TWO_HALVES = {**_HALF, **{j + 4: weight for j, weight in _HALF.items()}}
_WHOLE = {0: Fraction(1, 6), 8: Fraction(1, 3), 9: Fraction(1, 3), 10: Fraction(1, 6)}

RK4_DOUBLED = Tableau(
    name="RK4 with step doubling",
    order=4,
    a=(
        {},
        {0: Fraction(1, 4)},
        {1: Fraction(1, 4)},
        {2: Fraction(1, 2)},
        _HALF,
        {**_HALF, 4: Fraction(1, 4)},
        {**_HALF, 5: Fraction(1, 4)},
        {**_HALF, 6: Fraction(1, 2)},
        {0: Fraction(1, 2)},
        {8: Fraction(1, 2)},
        {9: Fraction(1)},
    ),
    b=_TWO_HALVES,
    c=_nodes("0", "1/4", "1/4", "1/2", "1/2", "3/4", "3/4", "1", "1/2", "1/2", "1"),
    error=({j: weight / 15 for j, weight in _minus(_TWO_HALVES, _WHOLE).items()},),
    error_order=4,
)

# Fehlberg 1969: the fifth-order solution is propagated; the fourth-order one only serves to estimate the error.
_RKF45_B = _row("16/135", "0", "6656/12825", "28561/56430", "-9/50", "2/55")
# Fehlberg's formula has no continuous extension of its own. Here the right-hand side is evaluated once more, at the cubic Hermite
# value at x; the quartic H + F3 x^2 (1-x)^2 that also has this slope has an error of O(h^5). The slope's error is divided by
# 2 x (1-x) (1-2x), which is largest at (1 - 1/sqrt 3)/2, near x = 1/5.
_RKF45_X = Fraction(1, 5)
_RKF45_F3 = 1 / (2 * _RKF45_X * (1 - _RKF45_X) * (1 - 2 * _RKF45_X))

RKF45 = Tableau(
    name="RKF45",
    order=5,
    a=(
        {},
        _row("1/4"),
        _row("3/32", "9/32"),
        _row("1932/2197", "-7200/2197", "7296/2197"),
        _row("439/216", "-8", "3680/513", "-845/4104"),
        _row("-8/27", "2", "-3544/2565", "1859/4104", "-11/40"),
    ),
    b=_RKF45_B,
    c=_nodes("0", "1/4", "3/8", "12/13", "1", "1/2"),
    error=(_minus(_RKF45_B, _row("25/216", "0", "1408/2565", "2197/4104", "-1/5")),),
    error_order=4,
    extra_a=(_hermite_value(_RKF45_B, 6, _RKF45_X),),
    extra_c=(_RKF45_X,),
    dense=(_blend(({7: Fraction(1)}, _hermite_slope(_RKF45_B, 6, _RKF45_X)), (_RKF45_F3, -_RKF45_F3)),),
    dense_order=4,
)

# Dormand and Prince 1980; continuous extension as in Hairer, Norsett, Wanner, dopri5.
_DORMAND_PRINCE_B = _row("35/384", "0", "500/1113", "125/192", "-2187/6784", "11/84")

DORMAND_PRINCE = Tableau(
    name="DormandPrince",
    order=5,
    a=(
        {},
        _row("1/5"),
        _row("3/40", "9/40"),
        _row("44/45", "-56/15", "32/9"),
        _row("19372/6561", "-25360/2187", "64448/6561", "-212/729"),
        _row("9017/3168", "-355/33", "46732/5247", "49/176", "-5103/18656"),
    ),
    b=_DORMAND_PRINCE_B,
    c=_nodes("0", "1/5", "3/10", "4/5", "8/9", "1"),
    error=(_row("71/57600", "0", "-71/16695", "71/1920", "-17253/339200", "22/525", "-1/40"),),
    error_order=4,
    dense=(
        _row(
            "-12715105075/11282082432",
            "0",
            "87487479700/32700410799",
            "-10690763975/1880347072",
            "701980252875/199316789632",
            "-1453857185/822651844",
            "69997945/29380423",
        ),
    ),
    dense_order=4,
)

# The interpolant of ode45 (Shampine 1986) is another quartic through both ends and slopes.
ODE45 = replace(
    DORMAND_PRINCE,
    name="ODE45",
    dense=(_row("-145/128", "0", "1000/371", "-375/64", "25515/6784", "-55/28", "5/2"),),
)

# Bogacki and Shampine 1989, as in ode23; its interpolant is the cubic Hermite polynomial.
BOGACKI_SHAMPINE = Tableau(
    name="ODE23",
    order=3,
    a=({}, _row("1/2"), _row("0", "3/4")),
    b=_row("2/9", "1/3", "4/9"),
    c=_nodes("0", "1/2", "3/4"),
    error=(_row("-5/72", "1/12", "1/9", "-1/8"),),
    error_order=2,
)

# Tsitouras 2011, Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption. The published 16 digits
# violate the order conditions by 1e-14; these are the nearest numbers that satisfy them (to 1e-19) with the published nodes, b_1,
# error weight 1/66 and coefficients 0.1017 and 5/2 of the interpolant.
_TSIT5_B = _row("0.09646076681806522934825", "0.01", "0.4798896504144995756684", "1.379008574103741747763",
                "-3.290069515436082323909", "2.324710524099775771129")  # fmt: skip

TSIT5 = Tableau(
    name="Tsit5",
    order=5,
    a=(
        {},
        _row("0.161"),
        _row("-0.008480655492356988557457", "0.3354806554923569885575"),
        _row("2.897153057105493387939", "-6.359448489975074756259", "4.36229543286958136832"),
        _row("5.32586482843925701426", "-11.7488835640628288083", "7.495539342889836763184", "-0.09249506636175526914143"),
        _row("5.861455442946420072443", "-12.92096931784710942502", "8.159367898576158749615", "-0.0715849732814010419541",
             "-0.02826905039406835508748"),
    ),
    b=_TSIT5_B,
    c=_nodes("0", "0.161", "0.327", "0.9", "0.9800255409045097", "1"),
    error=(
        _row("-0.001780011052225771571953", "-0.0008164344596567468555429", "0.007880878010261996323008",
             "-0.1447110071732628922766", "0.5823571654525555585667", "-0.4580821059291872957008", "1/66"),
    ),
    error_order=4,
    dense=(
        _row("-1.053088497729021559776", "0.1017", "2.490627285651252797719", "-16.54810288924490097316",
             "47.37952196281930630215", "-34.87065786149663656694", "5/2"),
    ),
    dense_order=4,
)  # fmt: skip

# Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (2nd ed.), program dop853.
_DOP853_B: Row = {
    0: 0.054293734116568765,
    5: 4.450312892752409,
    6: 1.8915178993145003,
    7: -5.801203960010585,
    8: 0.3111643669578199,
    9: -0.1521609496625161,
    10: 0.20136540080403034,
    11: 0.04471061572777259,
}

DOP853 = Tableau(
    name="DOP853",
    order=8,
    a=(
        {},
        {0: 0.05260015195876773},
        {0: 0.0197250569845379, 1: 0.0591751709536137},
        {0: 0.02958758547680685, 2: 0.08876275643042054},
        {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
        {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
        {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
        {0: 0.03709200011850479, 3: 0.17038392571223998, 4: 0.10726203044637328, 5: -0.015319437748624402, 6: 0.008273789163814023},
        {
            0: 0.6241109587160757,
            3: -3.3608926294469414,
            4: -0.868219346841726,
            5: 27.59209969944671,
            6: 20.154067550477894,
            7: -43.48988418106996,
        },
        {
            0: 0.47766253643826434,
            3: -2.4881146199716677,
            4: -0.590290826836843,
            5: 21.230051448181193,
            6: 15.279233632882423,
            7: -33.28821096898486,
            8: -0.020331201708508627,
        },
        {
            0: -0.9371424300859873,
            3: 5.186372428844064,
            4: 1.0914373489967295,
            5: -8.149787010746927,
            6: -18.52006565999696,
            7: 22.739487099350505,
            8: 2.4936055526796523,
            9: -3.0467644718982196,
        },
        {
            0: 2.273310147516538,
            3: -10.53449546673725,
            4: -2.0008720582248625,
            5: -17.9589318631188,
            6: 27.94888452941996,
            7: -2.8589982771350235,
            8: -8.87285693353063,
            9: 12.360567175794303,
            10: 0.6433927460157636,
        },
    ),
    b=_DOP853_B,
    c=(
        0.0,
        0.05260015195876773,
        0.0789002279381516,
        0.1183503419072274,
        0.2816496580927726,
        1 / 3,
        0.25,
        0.3076923076923077,
        0.6512820512820513,
        0.6,
        0.8571428571428571,
        1.0,
    ),
    error=(
        {
            0: 0.01312004499419488,
            5: -1.2251564463762044,
            6: -0.4957589496572502,
            7: 1.6643771824549864,
            8: -0.35032884874997366,
            9: 0.3341791187130175,
            10: 0.08192320648511571,
            11: -0.022355307863886294,
        },
        _minus(_DOP853_B, {0: 0.2440944881889764, 8: 0.7338466882816118, 11: 0.022058823529411766}),
    ),
    error_order=7,
    extra_a=(
        {
            0: 0.056167502283047954,
            6: 0.25350021021662483,
            7: -0.2462390374708025,
            8: -0.12419142326381637,
            9: 0.15329179827876568,
            10: 0.00820105229563469,
            11: 0.007567897660545699,
            12: -0.008298,
        },
        {
            0: 0.03183464816350214,
            5: 0.028300909672366776,
            6: 0.053541988307438566,
            7: -0.05492374857139099,
            10: -0.00010834732869724932,
            11: 0.0003825710908356584,
            12: -0.00034046500868740456,
            13: 0.1413124436746325,
        },
        {
            0: -0.42889630158379194,
            5: -4.697621415361164,
            6: 7.683421196062599,
            7: 4.06898981839711,
            8: 0.3567271874552811,
            12: -0.0013990241651590145,
            13: 2.9475147891527724,
            14: -9.15095847217987,
        },
    ),
    extra_c=(0.1, 0.2, 7 / 9),
    dense=(
        {
            0: -8.428938276109013,
            5: 0.5667149535193777,
            6: -3.0689499459498917,
            7: 2.38466765651207,
            8: 2.117034582445028,
            9: -0.871391583777973,
            10: 2.2404374302607883,
            11: 0.6315787787694688,
            12: -0.08899033645133331,
            13: 18.148505520854727,
            14: -9.194632392478356,
            15: -4.436036387594894,
        },
        {
            0: 10.427508642579134,
            5: 242.28349177525817,
            6: 165.20045171727028,
            7: -374.5467547226902,
            8: -22.113666853125306,
            9: 7.733432668472264,
            10: -30.674084731089398,
            11: -9.332130526430229,
            12: 15.697238121770845,
            13: -31.139403219565178,
            14: -9.35292435884448,
            15: 35.81684148639408,
        },
        {
            0: 19.985053242002433,
            5: -387.0373087493518,
            6: -189.17813819516758,
            7: 527.8081592054236,
            8: -11.57390253995963,
            9: 6.8812326946963,
            10: -1.0006050966910838,
            11: 0.7777137798053443,
            12: -2.778205752353508,
            13: -60.19669523126412,
            14: 84.32040550667716,
            15: 11.99229113618279,
        },
        {
            0: -25.69393346270375,
            5: -154.18974869023643,
            6: -231.5293791760455,
            7: 357.6391179106141,
            8: 93.40532418362432,
            9: -37.45832313645163,
            10: 104.0996495089623,
            11: 29.8402934266605,
            12: -43.53345659001114,
            13: 96.32455395918828,
            14: -39.17726167561544,
            15: -149.72683625798564,
        },
    ),
    dense_order=7,
)
