"""A system prints itself and counts what it has."""

import copy

import pytest

import mechanisms
import pliant as pl
from pliant.beams import beam_shapes


def test_it_prints_tree_freedoms_and_masses():
    system = mechanisms.branched_tree()
    text = str(system)
    assert text.splitlines()[0] == "branched tree: 6 bodies, 17 degrees of freedom, 6.3156 kg"
    assert "└─ hub: Universal RigidBody 2 kg (angle1, angle2)" in text
    assert "   │  ├─ slider: Cylindrical RigidBody 0.4 kg (displacement, angle)" in text


def test_a_payload_becomes_a_welded_body():
    system = mechanisms.floating_base()
    assert "boom payload" in system.links
    assert system.links["boom payload"].body.mass == 0.3


def test_labels_of_modes_are_those_of_the_shapes():
    beam = mechanisms.spatial_link(torsion=2)
    assert beam.mode_labels == beam_shapes(beam).labels == ("y1", "y2", "z1", "z2", "torsion1", "torsion2")


def test_prescribed_coordinates_are_no_freedoms():
    system = pl.System("s", (0, 0))
    system.add("a", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Planar(motion={"x": lambda t: t}))
    assert system.degrees_of_freedom == 2


def test_mass_is_the_sum_of_all():
    assert mechanisms.planar_chain(3).mass == pytest.approx(3 * 7860.0 * 2e-4 * 0.8)


def test_a_chain_longer_than_pythons_stack_prints_itself():
    system = pl.System("chain", (0, -9.81))
    on = None
    for k in range(1100):
        on = system.add(f"link{k}", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(), on=on).tip
    lines = str(system).splitlines()
    assert len(lines) == 3 + 1100
    assert [line.split("└─ ")[1].split(":")[0] for line in lines[3:]] == list(system.links)
    assert max(map(len, lines)) < 300


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pl.System.snapshot])
def test_a_copy_is_a_system_of_its_own_with_the_same_parameters(copied):
    system = pl.System("s", (0, 0))
    system.add("a", pl.RigidBody(mass=pl.Parameter("m", 1.0), inertia=1.0), joint=pl.Revolute())
    same = copied(system)
    assert same == system and same.parameters["m"] is system.parameters["m"]
    same.add("b", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Revolute())
    assert "b" not in system.links and list(same.links) == ["a", "b"]
