"""What every registered kind of closure must satisfy: it closes, exactly or by springs, and the ledger closes with it."""

import numpy as np
import pytest

import pliant as pl
from pliant.model.closure import CLOSURES
from pliant.run.prepare import compile_system
from registered import held_by

TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)
over_all = pytest.mark.parametrize("kind", CLOSURES)


@over_all
def test_it_holds_and_the_ledger_closes(kind):
    """A body in space held to one that swings: residuals stay at round-off."""
    compiled = compile_system(held_by(kind))
    traced = compiled.traced
    assert traced.rows and traced.redundant == ()
    assert traced.independent == len(traced.free_v) - len(traced.rows)
    run = pl.simulate(compiled, 0.2, method=TIGHT, save="steps")
    assert run.ok
    assert np.max(np.abs(run.values["constraint"])) < 1e-12
    assert run.ledger.relative_error_max < 1e-9


@over_all
def test_springs_hold_it_too_and_pull_in_proportion(kind):
    """Their multipliers are -Ks c - d c', and what they store and lose is in the ledger."""
    run = pl.simulate(held_by(kind, by="springs", stiffness=2e4, damping=5.0), 0.05, method=TIGHT, save=1e-4)
    c, force = run.values["constraint"], run.values["multiplier"]
    assert run.ok
    assert 0.0 < np.max(np.abs(c)) < 0.05
    assert run.values["spring"] == pytest.approx(1e4 * np.sum(c**2, axis=1), abs=1e-12)
    rates = np.gradient(c, run.time, axis=0, edge_order=2)[1:-1]
    assert force[1:-1] == pytest.approx(-2e4 * c[1:-1] - 5.0 * rates, abs=1e-3 * np.max(np.abs(force)))
    assert run.ledger.relative_error_max < 1e-8


@over_all
def test_a_file_holds_it(kind):
    """But for a motion that is a Python function, which has no text."""
    system = held_by(kind)
    if system.closures["held"].prescribed:
        with pytest.raises(pl.ModelError, match="closure 'held'"):
            pl.dump_model(system)
        return
    assert pl.loads_model(pl.dump_model(system)).system.closures == system.closures
