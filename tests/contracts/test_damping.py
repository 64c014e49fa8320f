"""What every registered damping must satisfy: a form that only takes energy, and a place of its own in the ledger.

By the equations alone, of beams and telescopic links: test_dissipation.
"""

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.beams import shape_integrals
from pliant.model.damping import DAMPINGS, MotionDrag
from registered import DAMPING

over_all = pytest.mark.parametrize("kind", DAMPINGS, ids=lambda kind: kind.__name__)


def beam(damping=()):
    return pl.Beam(length=0.7, section=mechanisms.FLAT, material=pl.STEEL, theory="euler-bernoulli", damping=damping,
                   modes=[pl.Modes("cf", 2), pl.Modes("cf", 2, plane="z")])  # fmt: skip


def swung(damping=()):
    """A bent beam on a hinge, let go, without gravity."""
    system = pl.System("arm", gravity=(0, 0))
    system.add("arm", beam(damping), joint=pl.Revolute(rate=2.0), initial={"y1": 0.01, "z2": 0.002})
    return pl.simulate(system, 0.1, save=1e-3, method=pl.DOP853(rtol=1e-10, atol=1e-13))


@pytest.mark.parametrize("kind", [kind for kind in DAMPINGS if kind is not MotionDrag], ids=lambda kind: kind.__name__)
def test_its_form_of_the_modal_rates_is_symmetric_and_never_negative(kind):
    (matrix,) = shape_integrals(beam(DAMPING[kind])).damping.values()
    assert np.array_equal(matrix, matrix.T)
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert np.max(eigenvalues) > 0.0
    assert np.min(eigenvalues) > -1e-12 * np.max(eigenvalues)


@over_all
def test_all_that_a_run_loses_it_has_taken(kind):
    free, damped = swung(), swung(DAMPING[kind])
    (source,) = set(damped.labels["source"]) - set(free.labels["source"])
    assert source.startswith("arm.")
    work = damped.ledger.work[source]
    assert np.all(np.diff(work) <= 1e-12) and work[-1] < -1e-5
    held = sum(damped.values[name] for name in ("kinetic", "strain"))
    assert held - held[0] == pytest.approx(work, abs=1e-8 * held[0])
    assert damped.ledger.relative_error_max < 1e-8


@over_all
def test_it_can_stand_beside_the_others_but_not_beside_itself(kind):
    beam([DAMPING[other] for other in DAMPINGS])
    with pytest.raises(pl.ModelError, match="damping must contain each kind of damping at most once"):
        beam([DAMPING[kind], DAMPING[kind]])
