"""Intervals, profiles, bands, designs and samples against what a linear model gives in closed form, by numpy alone.

The displacement of a slider on a spring is linear in where it starts and in where the spring rests: x = rest (1 - h) + begin h.
"""

from functools import cache

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.optimize import least_squares
from scipy.stats import binom, t

import pliant as pl

TIME = np.linspace(0.03, 2.4, 80)
TRUTH = {"rest": 0.03, "begin": 0.1}
MANY = 24


@cache
def slider():
    system = pl.System("slider", gravity=(0, 0))
    rest, begin = (pl.Parameter(name, value, "m", low=-1.0, high=1.0) for name, value in (("rest", 0.02), ("begin", 0.08)))
    spring = pl.Spring(pl.Parameter("rate", 30.0, "N/m", low=1.0, high=1e3), rest=rest)
    system.add(
        "s", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Prismatic(displacement=begin, spring=spring, damper=pl.Damper(0.4))
    )
    return system


def slopes(time=TIME, rate=30.0):
    decay = 0.2
    w = np.sqrt(rate - decay**2)
    h = np.exp(-decay * time) * (np.cos(w * time) + decay / w * np.sin(w * time))
    return np.column_stack([1.0 - h, h])


def coloured(random, correlation, rows=TIME.size):
    found = random.normal(size=rows)
    for k in range(1, rows):
        found[k] = correlation * found[k - 1] + np.sqrt(1.0 - correlation**2) * found[k]
    return found


def data(seed, correlation=0.0, noise=1e-3, offset=0.0):
    random = np.random.default_rng(seed)
    x = slopes() @ np.array(list(TRUTH.values())) + noise * coloured(random, correlation) + offset * random.normal()
    return {"time": TIME, "s.displacement": x}


def found_in(given, **options):
    return pl.fit(slider(), given, list(TRUTH), **options)


@cache
def white():
    return found_in(data(0))


@cache
def correlated():
    return found_in(data(1, 0.9))


def test_correlated_noise_has_the_sandwich_of_its_covariance_matrix():
    """A^-1 J^T S J A^-1, with S from the model of the noise that the fit reports; and wider than for independent noise."""
    found = correlated()
    assert found.scatter.kind == "autoregressive" and "correlated from row to row" in found.intervals
    (model,) = found.scatter.models.values()
    impulse = np.zeros(4000)
    impulse[0] = 1.0
    for k in range(1, impulse.size):
        before = impulse[max(k - model.order, 0) : k][::-1]
        impulse[k] = model.coefficients[: before.size] @ before
    covariances = [model.innovation * float(impulse[lag:] @ impulse[: impulse.size - lag]) for lag in range(TIME.size)]
    scale = np.std(data(1, 0.9)["s.displacement"])  # weights of the residuals
    j = slopes()
    inverse = np.linalg.inv(j.T @ j)
    sandwich = scale**2 * inverse @ j.T @ toeplitz(covariances) @ j @ inverse
    assert found.covariance == pytest.approx(sandwich, rel=2e-4)
    assert min(found.inflation.values()) > 1.3 and found.degrees_of_freedom < 40
    assert any("correlation from row to row is 0." in sentence for sentence in found.warnings)


def test_a_model_that_drifts_away_from_its_data_has_wide_intervals():
    """A slow error of the model, in many rows: intervals for independent noise are far from the true values."""
    time = np.linspace(0.005, 10.0, 2000)
    x = slopes(time) @ np.array(list(TRUTH.values())) + 2e-3 * np.sin(2.0 * np.pi * time / 6.0)
    found = found_in({"time": time, "s.displacement": x})
    naive = np.sqrt(np.diag(found.scatter.independent))
    away = np.abs(np.array(list(found.values.values())) - list(TRUTH.values()))
    assert max(away / naive) > 5.0
    assert all(low < TRUTH[name] < high for name, (low, high) in found.confidence().items())
    assert min(found.inflation.values()) > 5.0 and found.degrees_of_freedom < 20.0


def test_many_experiments_with_errors_of_their_own_have_the_jackknife():
    """Leaving out one experiment after the other, each time fitted again by numpy."""
    given = [data(100 + k, offset=3e-3) for k in range(MANY)]
    found = found_in(given)
    assert found.scatter.kind == "experiments" and found.degrees_of_freedom == pytest.approx(MANY - 1)
    x = [one["s.displacement"] for one in given]
    without = np.array([np.linalg.lstsq(slopes(), np.mean(x[:k] + x[k + 1 :], axis=0), rcond=None)[0] for k in range(MANY)])
    best = np.array(list(found.values.values()))
    assert best == pytest.approx(np.linalg.lstsq(slopes(), np.mean(x, axis=0), rcond=None)[0], rel=1e-7)
    jackknife = (MANY - 1) / MANY * (without - best).T @ (without - best)
    assert found.covariance == pytest.approx(jackknife, rel=1e-5)
    assert "24 experiments" in str(found) and max(found.inflation.values()) > 3.0


def test_whitening_is_generalised_least_squares():
    found = found_in(data(1, 0.9), noise="ar")
    (model,) = found.search.noise_models.values()
    assert model.order == 1 and 0.7 < model.coefficients[0] < 0.98
    inverse = np.linalg.inv(toeplitz(model.coefficients[0] ** np.arange(TIME.size)))
    j, x = slopes(), data(1, 0.9)["s.displacement"]
    normal = np.linalg.inv(j.T @ inverse @ j)
    values = normal @ j.T @ inverse @ x
    assert list(found.values.values()) == pytest.approx(values, rel=1e-6)
    left = x - j @ values
    if found.scatter.kind == "independent":
        assert found.covariance == pytest.approx(left @ inverse @ left / (TIME.size - 2) * normal, rel=1e-5)


@pytest.mark.parametrize("as_function", [False, True])
def test_a_given_covariance_is_that_of_generalised_least_squares(as_function):
    matrix = 1e-6 * toeplitz(0.9 ** np.arange(TIME.size))
    noise = (lambda time: 1e-6 * toeplitz(0.9 ** np.arange(time.size))) if as_function else matrix
    found = found_in(data(1, 0.9), noise={"s.displacement": noise})
    inverse, j = np.linalg.inv(matrix), slopes()
    values = np.linalg.solve(j.T @ inverse @ j, j.T @ inverse @ data(1, 0.9)["s.displacement"])
    assert list(found.values.values()) == pytest.approx(values, rel=1e-6)


@pytest.mark.parametrize("loss", ["huber", "soft_l1"])
def test_a_robust_fit_is_that_of_scipy_and_wild_measurements_hardly_move_it(loss):
    given = data(2)
    given["s.displacement"] = np.where(np.arange(TIME.size) % 9 == 4, 0.3, given["s.displacement"])
    found, plain = found_in(given, loss=loss), found_in(given)
    scale = 1.4826 * np.median(np.abs(given["s.displacement"] - slopes() @ np.array(list(found.values.values()))))
    knee = found.search.loss.knee
    alone = least_squares(lambda x: (slopes() @ x - given["s.displacement"]) / scale, [0.0, 0.1], loss=loss, f_scale=knee,
                          xtol=1e-12, ftol=1e-12)  # fmt: skip
    assert list(found.values.values()) == pytest.approx(alone.x, rel=2e-3)
    for name, true in TRUTH.items():
        assert abs(found.values[name] - true) < 4.0 * found.standard_errors[name] < 2e-3
    assert max(abs(plain.values[name] - true) for name, true in TRUTH.items()) > 0.01


def test_the_profile_of_a_linear_model_is_its_interval():
    found = white()
    profile = found.profile("begin")
    assert profile.shape == "closed" and profile.interval == pytest.approx(found.confidence()["begin"], rel=1e-6)
    assert profile.excess == pytest.approx(
        ((profile.values - profile.best) / found.standard_errors["begin"]) ** 2, rel=1e-5, abs=1e-8
    )
    wide = correlated().profile("begin", points=2)
    assert wide.interval == pytest.approx(correlated().confidence()["begin"], rel=1e-5)  # allows for the correlation, too
    with pytest.raises(pl.ModelError, match="name must be a fitted parameter"):
        found.profile("rate")


def test_bands_are_those_of_linear_theory():
    found = white()
    bands = found.bands("s.displacement", level=0.9)
    error = np.sqrt(np.einsum("ij,jk,ik->i", slopes(), found.covariance, slopes()))
    times = t.ppf(0.95, TIME.size - 2)
    assert bands.standard_error == pytest.approx(error, rel=1e-5)
    assert bands.confidence[1] - bands.value == pytest.approx(times * error, rel=1e-5)
    assert bands.prediction[1] - bands.value == pytest.approx(times * np.hypot(error, found.noise["s.displacement"]), rel=1e-5)
    other = found.bands("v s.displacement")
    assert other.measured is None and np.all(other.standard_error[1:] > 0.0)
    with pytest.raises(pl.ModelError, match="experiment must be one of"):
        found.bands("s.displacement", experiment=3)


def test_designs_are_those_of_fishers_information():
    """After a fit, and before any data: standard errors from slopes in closed form, and the ranking they imply."""
    later = np.linspace(0.0, 6.0, 61)[1:]
    candidates = {"early": {"until": 0.2, "rows": [0.1, 0.2]}, "late": {"until": 6.0, "rows": 60}}
    found = white()
    known = np.linalg.inv(found.covariance)
    chosen = pl.design(candidates, fit=found)
    for one in chosen.choices:
        j = slopes(np.array([0.1, 0.2]) if one.name == "early" else later)
        information = known + j.T @ j / found.noise["s.displacement"] ** 2
        assert list(one.standard_errors.values()) == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=1e-5)
        assert one.gain == pytest.approx((np.linalg.det(information) / np.linalg.det(known)) ** 0.25, rel=1e-5)
    assert chosen.best.name == "late" and "late" in str(chosen)
    before = pl.design(candidates, "begin", system=slider(), parameters=TRUTH, noise={"s.displacement": 1e-3})
    j = slopes(later) / 1e-3
    assert before.best.standard_errors["begin"] == pytest.approx(np.sqrt(np.linalg.inv(j.T @ j)[1, 1]), rel=1e-5)
    assert np.isinf(before.before["begin"])
    with pytest.raises(pl.ModelError, match="until must be"):
        pl.design({"x": {"of": "s.displacement"}}, fit=found)
    with pytest.raises(pl.ModelError, match="choose must be 'D', 'A' or one of rest, begin"):
        pl.design(candidates, "C", fit=found)


def test_designs_need_what_experiments_had_for_themselves_and_count_what_would_not_be_known():
    """The same experiment again, with the same series and an unknown of its own, halves the variances; without, it says nothing."""
    system = pl.System("driven", gravity=(0, 0))
    u, gain, bias = pl.Parameter("u", 0.0), pl.Parameter("gain", 1.0), pl.Parameter("bias", 0.0, "N")
    joint = pl.Prismatic(damper=pl.Damper(pl.Parameter("loss", 0.5, "N s/m", low=0.0)))
    system.add("s", pl.RigidBody(mass=1.0, inertia=1e-3), joint=joint)
    system.drive("push", "s.displacement", gain * u + bias)
    series = pl.InputSeries(TIME - TIME[0], np.sin(3.0 * TIME), "linear")
    own = {"inputs": {"u": series}, "parameters": {"bias": pl.Unknown(0.1)}}
    begin = {("v", "s.displacement"): 0.2}
    truth = pl.simulate(system, 2.0, inputs=own["inputs"], parameters={"bias": 0.2, "gain": 1.4}, start=begin, save=TIME[:60])
    seen = {"time": TIME[:60], "s.displacement": truth["s.displacement"] + 1e-3 * np.random.default_rng(3).normal(size=60)}
    found = pl.fit(system, pl.Experiment(seen, starts=begin, **own), ["gain", "loss"])
    assert found.scatter.kind == "independent"
    own = {**own, "parameters": {"bias": pl.Unknown(found.values["bias [data]"])}}
    again = {"until": TIME[59], "rows": TIME[:60]}
    chosen = pl.design({"unknown bias": {**again, **own}, "known bias": {**again, **own, "parameters": {"bias": 0.2}}}, fit=found)
    by_name = {one.name: one for one in chosen.choices}
    assert list(by_name["unknown bias"].ratio.values()) == pytest.approx(
        [(1.0 + 60 / 57) ** -0.5] * 2, rel=1e-3
    )  # 60 rows, 57 free
    assert by_name["known bias"].ratio["gain"] < 0.6  # less is unknown, and the start is that of the fit's experiment
    moving = pl.design({"": {**again, **own, "start": {("v", "s.displacement"): pl.Unknown(0.2)}}}, fit=found).best
    assert by_name["unknown bias"].ratio["loss"] < moving.ratio["loss"] < 1.0  # more is unknown
    for left_out in own:
        with pytest.raises(pl.ModelError, match=f"{left_out} must be given, because experiments of the fit had their own"):
            pl.design({"x": {**again, **{name: value for name, value in own.items() if name != left_out}}}, fit=found)


def test_rows_that_do_not_count_are_no_measurements():
    """Weights of zero leave the same fit as data without these rows, its intervals, too; weights may be as long as the data."""
    given, half = data(4), np.arange(TIME.size) % 2 == 0
    thinned = {**given, "s.displacement": np.where(half, given["s.displacement"], np.nan)}
    found, alone = found_in(given, weights={"s.displacement": np.where(half, 1.0, 0.0)}), found_in(thinned)
    assert list(found.values.values()) == pytest.approx(list(alone.values.values()), rel=1e-6)
    assert found.covariance == pytest.approx(alone.covariance, rel=1e-4)
    short = found_in(pl.Experiment(given, until=TIME[49], weights={"s.displacement": np.ones(TIME.size)}))
    same = found_in({name: values[:50] for name, values in given.items()})
    assert short.covariance == pytest.approx(same.covariance, rel=1e-4)


def test_weights_that_are_not_those_of_the_noise_give_the_covariance_of_the_noise():
    """Two columns of very different scatter, equally weighted: A^-1 (s1^2 A1 + s2^2 A2) A^-1, by numpy."""
    random, j = np.random.default_rng(11), slopes()
    x = j @ np.array(list(TRUTH.values()))
    sizes = {"first": 3e-5, "second": 3e-3}
    given = {"time": TIME, **{name: x + size * random.normal(size=TIME.size) for name, size in sizes.items()}}
    given["first"][10:] = np.nan
    found = found_in(given, of=dict.fromkeys(sizes, "s.displacement"), weights=dict.fromkeys(sizes, 1.0))
    parts = {"first": j[:10], "second": j}
    whole = sum(own.T @ own for own in parts.values())
    left = {name: own @ np.array(list(found.values.values())) - given[name][: len(own)] for name, own in parts.items()}
    noise = 0.0
    for name, own in parts.items():
        hat = np.trace(own @ np.linalg.inv(whole) @ own.T)
        noise = noise + left[name] @ left[name] / (len(own) - hat) * own.T @ own
    assert found.scatter.independent == pytest.approx(np.linalg.inv(whole) @ noise @ np.linalg.inv(whole), rel=1e-4)


def test_a_search_that_ends_at_a_kink_says_how_far_derivatives_still_ask_it_to_go():
    """max(s, 2 - s) sin 40 t, seen as 0.9 sin 40 t: beside 1, derivatives ask for 0.9 or 1.1, and no run is better than at 1."""
    system = pl.System("kink", gravity=(0, 0))
    size = pl.Parameter("size", 1.4, low=0.1, high=5.0)
    system.add("s", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Prismatic())
    system.state("f", lambda t, q, v: 40.0 * pl.maximum(size, 2.0 - size) * pl.cos(40.0 * t))
    noise = 0.05 * np.random.default_rng(5).normal(size=TIME.size)
    for seen in (0.9, 1.2):
        found = pl.fit(system, {"time": TIME, "f": seen * np.sin(40.0 * TIME) + noise}, ["size"])
        said = [one for one in found.warnings if "derivatives ask for a further change" in one]
        assert found.ok and found.values["size"] == pytest.approx(max(seen, 1.0), abs=0.02)
        assert len(said) == (seen < 1.0)
        if said:
            asked = float(said[0].split("'size' by ")[1].split()[0]) * found.standard_errors["size"]
            assert abs(asked) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("loss", ["huber", "soft_l1"])
def test_a_robust_loss_finds_the_scale_of_most_data_whatever_the_size_of_weights(loss):
    given = data(4)
    given["s.displacement"][7::10] += 1.0
    found = found_in(given, loss=loss)
    sizes = [
        {"weights": {"s.displacement": 1.0}},
        {"weights": {"s.displacement": 1e6}},
        {"noise": {"s.displacement": np.eye(TIME.size)}},
    ]
    for size in sizes:
        again = found_in(given, loss=loss, **size)
        assert list(again.values.values()) == pytest.approx(list(found.values.values()), rel=1e-3)
        assert list(again.standard_errors.values()) == pytest.approx(list(found.standard_errors.values()), rel=0.02)


def test_an_experiment_that_decides_alone_is_named_and_leaves_finite_intervals():
    """Only one of thirteen sees where the spring rests; leaving it out would leave nothing."""
    early = TIME < 0.1
    others = []
    for k in range(13):
        one = data(200 + k, offset=1e-2)
        others.append({**one, "s.displacement": np.where(early | (k == 5), one["s.displacement"], np.nan)})
    found = found_in(others)
    assert found.scatter.kind == "experiments" and any("experiment 6 decides" in sentence for sentence in found.warnings)
    assert 1e-5 < found.standard_errors["rest"] < 1e-2 and found.degrees_of_freedom < 3.0


def test_the_bootstrap_has_the_spread_of_the_sandwich():
    found = white()
    assert found.bootstrap(samples=1500).standard_errors == pytest.approx(found.standard_errors, rel=0.1)
    blocks = correlated().bootstrap(samples=1500)
    assert "blocks of" in blocks.what
    for name, error in correlated().standard_errors.items():
        assert 0.4 * error < blocks.standard_errors[name] < 1.3 * error
    again, once = found.bootstrap(samples=4, seed=3, refit=True), found.bootstrap(samples=4, seed=3)
    assert again.samples == pytest.approx(once.samples, rel=1e-5)  # one step is enough in a linear model


def test_the_posterior_of_a_linear_model_is_students():
    pytest.importorskip("emcee")
    found = white()
    samples = found.posterior(walkers=32, steps=60, seed=1)
    for name in TRUTH:
        assert samples.medians[name] == pytest.approx(found.values[name], abs=0.4 * found.standard_errors[name])
    assert samples.standard_deviations == pytest.approx(found.standard_errors, rel=0.3)
    assert samples.runs > 32 * 60 / 2 and "prior uniform" in str(samples)
    again = found.posterior(walkers=32, steps=2, seed=1)
    assert again.chain == pytest.approx(samples.chain[:2], rel=1e-9) and "too short" in str(again)
    with pytest.raises(pl.ModelError, match="walkers must be even"):
        found.posterior(walkers=5)


def test_searches_from_many_starts_find_the_other_minima():
    """The stiffness of a spring from a long record has a minimum wherever the run gains or loses a cycle."""
    time = np.linspace(0.05, 6.0, 120)
    given = {"time": time, "s.displacement": slopes(time, 60.0) @ np.array([0.02, 0.08])}
    alone = pl.fit(slider(), given, ["rate"], guess={"rate": 200.0}, bounds={"rate": (10.0, 300.0)})
    assert abs(alone.values["rate"] - 60.0) > 1.0  # the wrong one
    found = pl.fit(slider(), given, ["rate"], guess={"rate": 200.0}, bounds={"rate": (10.0, 300.0)}, starts=8, seed=1)
    assert found.values["rate"] == pytest.approx(60.0, rel=1e-6)
    assert len(found.minima) > 2 and found.minima[0].squares < 1e-6 * found.minima[1].squares
    assert sum(one.starts for one in found.minima) <= 8 and "another minimum: rate = " in str(found)


def test_a_valley_of_values_that_fit_equally_well_is_one_minimum():
    system = pl.System("slider", gravity=(0, 0))
    rate, mass = (pl.Parameter(name, value, low=0.1 * value, high=10.0 * value) for name, value in (("rate", 30.0), ("mass", 1.0)))
    system.add("s", pl.RigidBody(mass=mass, inertia=1e-3), joint=pl.Prismatic(displacement=0.1, spring=pl.Spring(rate)))
    short = TIME[:20]
    seen = 0.1 * np.cos(np.sqrt(33.0) * short) + 1e-4 * np.random.default_rng(2).normal(size=short.size)
    found = pl.fit(system, {"time": short, "s.displacement": seen}, ["rate", "mass"], starts=4)
    assert len(found.minima) == 1 and found.minima[0].starts > 1 and not any("minimum" in one for one in found.warnings)
    assert set(found.unidentifiable) == {"rate", "mass"}


def test_what_is_given_must_be_known():
    for wrong, said in (({"loss": "cauchy"}, "loss"), ({"noise": "pink"}, "noise must be 'white', 'ar' or a mapping"),
                        ({"noise": {"y": np.eye(3)}}, "noise must name columns in use"), ({"starts": 0}, "starts"),
                        ({"starts": 3, "seed": -1}, "seed")):  # fmt: skip
        with pytest.raises(pl.ModelError, match=said):
            found_in(data(0), **wrong)


@pytest.mark.parametrize(("correlation", "naive"), [(0.0, True), (0.8, False)])
def test_intervals_hold_the_true_values_as_often_as_they_say(correlation, naive):
    """40 fits of two values: within the 99.8 % range of a binomial; those for independent noise only where it is."""
    hits, alone = 0, 0
    for seed in range(40):
        found = found_in(data(1000 + seed, correlation))
        errors = t.ppf(0.975, TIME.size - 2) * np.sqrt(np.diag(found.scatter.independent))
        for k, (name, (low, high)) in enumerate(found.confidence().items()):
            hits += low < TRUTH[name] < high
            alone += abs(found.values[name] - TRUTH[name]) < errors[k]
    low, high = binom.interval(0.998, 80, 0.95)
    assert low <= hits <= high
    assert (low <= alone <= high) == naive


def test_the_report_is_one_page_that_says_what_is_not_known(tmp_path):
    page = correlated().report(tmp_path / "fit.html").read_text()
    for said in ("s.displacement", "correlated from row to row", "autoregressive of order", "Not free: rate = 30",
                 "Weights: each column by one over its scatter about the best fit.",
                 "the values are off by more than their intervals say", "Derivatives are exact"):  # fmt: skip
        assert said in page
    given = found_in(data(1), weights={"s.displacement": 2.0}).report(tmp_path / "weights.html").read_text()
    assert "Weights: factors of the differences, as given." in given
    given = found_in(data(1), noise={"s.displacement": np.eye(TIME.size)}).report(tmp_path / "noise.html").read_text()
    assert "Weights: s.displacement by its covariance matrix, as given." in given
    assert page.count("<img ") == page.count('<img alt="') == 3 and "<script" not in page and "http" not in page
