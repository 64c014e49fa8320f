"""Section forces of a beam by its strains: N = E A u', V = k A G (w' - theta), T = G J phi', M = E I theta'.

They know nothing of what acts but by the modes: of a few modes they are a rough answer that converges with their number, at a
force or a support slowly. A direction in which the beam has no modes has no strain to go by: nan. The shear force of an
Euler-Bernoulli beam, which does not shear, is nan too.
"""

from __future__ import annotations

import numpy as np

from pliant.analysis.section_balance import BeamRows, Floats, SectionWrench


def curvature(beam: BeamRows, stations: Floats) -> SectionWrench:
    """Section forces at stations, m, in the axes of the sections."""
    model, shapes = beam.beam, beam.shapes
    z = beam.position[:, beam.modes]
    section, material = model.section, model.material
    shear = material.shear_modulus or np.nan
    stretch, bend, slip = shapes.displacement(stations, 1), shapes.rotation(stations, 1), shapes.shear_strain(stations)
    strain = np.stack([stretch[:, 0], slip[:, 1], slip[:, 2]], axis=1)
    sheared = (section.shear_factor or np.nan) * section.A * shear if model.theory == "timoshenko" else np.nan
    directions = set(shapes.directions)
    stiffness = np.array([material.E * section.A if "axial" in directions else np.nan,
                          sheared if "y" in directions else np.nan,
                          sheared if "z" in directions else np.nan])  # fmt: skip
    bending = np.array([shear * (section.J or np.nan) if "torsion" in directions else np.nan,
                        material.E * (section.Iy or np.nan) if "z" in directions else np.nan,
                        material.E * (section.Iz or np.nan) if "y" in directions else np.nan])  # fmt: skip
    force, moment = (np.einsum("rj,sij->rsi", z, field) for field in (strain, bend))
    return SectionWrench(force * stiffness, moment * bending)
