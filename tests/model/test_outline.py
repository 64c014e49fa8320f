"""Outlines of sections: builders give them, files keep them, parameters reach them, motion does not ask for them."""

import pytest

import pliant as pl


def cantilever(section):
    system = pl.System("cantilever", gravity=(0, -9.81, 0))
    beam = pl.Beam(length=0.5, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    system.add("arm", beam, joint=pl.Revolute(rate=1.0))
    return system


SECTIONS = {
    "rectangle": (pl.Section.rectangle(0.02, 0.01), pl.RectangleOutline(height=0.02, width=0.01)),
    "round": (pl.Section.round(0.01), pl.RingOutline(outer=0.01)),
    "tube": (pl.Section.tube(0.01, 0.008), pl.RingOutline(outer=0.01, inner=0.008)),
    "fibres": (
        pl.Section(A=1e-4, Iz=1e-9, outline=pl.FibreOutline(points=[(0.01, 0.0), (-0.02, 0.0)], torsion_modulus=1e-7)),
        pl.FibreOutline(points=((0.01, 0.0), (-0.02, 0.0)), torsion_modulus=1e-7),
    ),
    "numbers": (pl.Section(A=1e-4, Iz=1e-9), None),
}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_keeps_its_outline_through_a_file(name):
    section, outline = SECTIONS[name]
    assert section.outline == outline
    again = pl.loads_model(pl.dump_model(cantilever(section))).system
    assert again.links["arm"].body.section == section


def test_a_file_may_give_fibres_with_units():
    text = pl.dump_model(cantilever(SECTIONS["fibres"][0]))
    assert "fibre_outline:" in text and "torsion_modulus: 1.0e-07" in text
    again = pl.loads_model(text.replace("torsion_modulus: 1.0e-07", "torsion_modulus: 100 mm^3")).system
    assert again.links["arm"].body.section.outline.torsion_modulus == pytest.approx(1e-7)


def test_a_parameter_reaches_the_outline():
    height = pl.Parameter("height", 0.02, "m")
    system = cantilever(pl.Section.rectangle(height, 0.01))
    for value in (0.02, 0.03):
        stress = pl.stresses(pl.simulate(system, 0.01, save=[0.0, 0.01], parameters={"height": value}), stations=[0.5])
        plain = pl.stresses(pl.simulate(cantilever(pl.Section.rectangle(value, 0.01)), 0.01, save=[0.0, 0.01]), stations=[0.5])
        assert float(stress.equivalent_stress[1, 0, 0]) == pytest.approx(float(plain.equivalent_stress[1, 0, 0]), rel=1e-9)


def test_motion_does_not_ask_for_it():
    """Two beams that differ in their outlines alone are of one structure, and move alike to the last bit."""
    section = pl.Section.rectangle(0.02, 0.01)
    numbers = pl.Section(A=section.A, Iz=section.Iz, Iy=section.Iy, J=section.J, shear_factor=section.shear_factor)
    runs = [pl.simulate(cantilever(one), 0.05) for one in (section, numbers)]
    assert runs[0].values["q"].tobytes() == runs[1].values["q"].tobytes()
