"""What pliant does not do yet: the answers to names and files of things that it does not have, each with the nearest way."""

from __future__ import annotations

import re

_BODIES = (
    "elastic bodies are straight beams (pl.Beam, pl.TelescopicBeam) or finite-element bodies of any shape (pl.ModalBody), other "
    "bodies are rigid (pl.RigidBody)"
)
_LINK_BY_LINK = (
    "describe the mechanism link by link, in Python or as a model file (`pliant new` writes one): each link is a rigid body or "
    "a beam, its joint is revolute, prismatic, weld or free, and its origin a frame of its parent (`on`); docs/scope.md has a table"
)

# Each answer, by the words in names that ask for it: pl.Plate and pl.KirchhoffPlate, pl.read_sdf and pl.SDF.
_ANSWERS = {
    "plate plates shell shells membrane": (
        f"plates and shells have no class of their own yet; {_BODIES}; one that another program meshed is "
        "pl.modal_body(pl.FiniteElements(...), ...), and a narrow strip is a pl.Beam"
    ),
    "curved": f"curved beams are not supported yet; {_BODIES}; join several straight ones by pl.Weld",
    "tapered taper": "tapered beams have no class of their own yet; use pl.Beam(section=..., tip_section=...)",
    "cable cables rope string wire tendon": (
        "cables are not supported yet; a cable with mass is a chain of rods (pl.RigidBody.rod on pl.Revolute joints) or "
        "pl.segmented(beam, n), and one without is a strut that only pulls: system.strut(..., force=lambda length, rate: ...)"
    ),
    "belt chain": "belts and chains are not supported yet; a belt between two pulleys is a gear: system.close(name, 'gear', ...)",
    "pulley sheave capstan": (
        "pulleys are not supported yet; nothing runs along a rope; a belt between two wheels is a gear, system.close(name, "
        "'gear', ...), and a beam that touches a round bar at one place is pl.Along(beam, radius) against a pl.Capsule"
    ),
    "plastic plasticity elastoplastic yielding creep damage": (
        "materials that yield are not supported yet; pl.Material is linear and isotropic; pl.stresses(result, ...) says where a "
        "beam would yield, and a hinge that does is a joint with friction=pl.JointFriction(..., preload=..., pressed=False)"
    ),
    "composite composites laminate orthotropic anisotropic": (
        "composites are not supported yet; pl.Material is isotropic; the stiffness of a layered beam without coupling is that of a "
        "pl.Section(A=..., Iz=...), and layers that another program meshed are pl.modal_body(pl.FiniteElements(...), ...)"
    ),
    "hyperelastic viscoelastic": (
        "large strains are not supported yet; pl.Material is linear, and its internal damping is pl.KelvinVoigt(...)"
    ),
    "sdf sdformat": f"SDF files cannot be read yet; {_LINK_BY_LINK}",
    "heightfield terrain": (
        "contact with terrain is not supported yet; a plane is a pl.Plane, a stone on it a fixed pl.Box or pl.Sphere"
    ),
    "mesh meshes cuboid convex polyhedron": (
        "contact with meshes that are not convex, and of meshes with anything but planes, is not supported yet; the convex hull "
        "of a mesh is pl.Hull(at, pl.read_stl(path)); pl.Box and pl.Cylinder are solids, too"
    ),
    "fluid water wind": "fluids are not supported yet; air resists a beam by pl.AirDrag, and any force is a formula: system.force",
}
# What pliant has by another name.
_OTHER_NAMES = {
    "fe fem fea nastran calculix skfem abaqus ansys mnf bdf superelement solid solids brick tetrahedron": (
        "a finite-element body of any shape is pl.modal_body(elements, interfaces, reduction); its matrices are given to "
        "pl.FiniteElements, or come from pl.skfem_elements, pl.read_calculix or pl.read_nastran; pliant meshes straight beams "
        "itself (pl.ElementModes)"
    ),
    "urdf xacro": (
        "a URDF file is read by pl.read_urdf(path), and by commands such as `pliant check` if its name ends in .urdf (a xacro file "
        "must be expanded first); `pliant new` writes a model file"
    ),
    "mjcf mujoco": (
        "an MJCF file of MuJoCo is read by pl.read_mjcf(path), and by commands such as `pliant check` if its name ends in .xml; "
        "`pliant new` writes a model file"
    ),
}
_BY_WORD = {word: answer for words, answer in _ANSWERS.items() for word in words.split()}
_OTHER_BY_WORD = {word: answer for words, answer in _OTHER_NAMES.items() for word in words.split()}
_ROOTS = {"robot": "urdf", "mujoco": "mjcf", "mujocoinclude": "mjcf", "sdf": "sdf"}  # first elements of XML files

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ROOT = re.compile(r"<(\w+)")
_BEFORE_ROOT = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!(?!--)[^>]*>", re.DOTALL)


def not_yet(name: str) -> str | None:
    """The answer to a name such as Plate or read_sdf, of what pliant does not have; None if nothing is known about it."""
    return _answer(name, _BY_WORD)


def by_another_name(name: str) -> str | None:
    """The answer to a name such as load_urdf, of what pliant has by another name; None if nothing is known about it."""
    return _answer(name, _OTHER_BY_WORD)


def _answer(name: str, known: dict[str, str]) -> str | None:
    return next((known[word] for word in map(str.lower, _WORD.findall(name)) if word in known), None)


def foreign_model(text: str) -> str | None:
    """The answer to the text of another program's model, recognised by its first element; None if it is not XML."""
    begin = 1 if text.startswith("\ufeff") else 0
    while found := _BEFORE_ROOT.match(text, begin):
        begin = found.end()
    if not (root := _ROOT.match(text, begin)):
        return None
    kind = _ROOTS.get(root[1], "")
    return (
        by_another_name(kind)
        or not_yet(kind)
        or f"must be a model file in YAML, got XML (<{root[1]}>); `pliant new` writes an example"
    )
