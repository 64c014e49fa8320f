"""Ten robots of different kinds as URDF, written compactly."""


def link(name, mass=None, com="0 0 0", inertia="0.01 0.01 0.01", extra=""):
    if mass is None:
        return f'<link name="{name}">{extra}</link>\n'
    x, y, z = inertia.split()
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>'
        f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/></inertial>{extra}</link>\n'
    )


def joint(name, kind, parent, child, xyz="0 0 0", axis=None, limit=None, rpy="0 0 0", extra=""):
    own = f'<axis xyz="{axis}"/>' if axis else ""
    if limit:
        low, high = limit.split()
        own += f'<limit lower="{low}" upper="{high}" effort="50" velocity="3"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/>{own}{extra}</joint>\n'
    )


def robot(name, *parts):
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{"".join(parts)}</robot>\n'


def sphere(radius, xyz="0 0 0"):
    return f'<collision><origin xyz="{xyz}"/><geometry><sphere radius="{radius}"/></geometry></collision>'


RUBS = '<dynamics damping="0.5" friction="0.3"/>'
MESH = '<visual><geometry><mesh filename="package://parts/arm.stl"/></geometry></visual>'


def legs():
    """Four legs of three joints, with feet."""
    for name, x, y in (("lf", 0.2, 0.1), ("rf", 0.2, -0.1), ("lh", -0.2, 0.1), ("rh", -0.2, -0.1)):
        yield link(f"{name}_hip", 0.6) + link(f"{name}_thigh", 1.0, "0 0 -0.1") + link(f"{name}_shank", 0.3, "0 0 -0.1")
        yield link(f"{name}_foot", 0.05, inertia="1e-4 1e-4 1e-4", extra=sphere(0.02))
        yield joint(f"{name}_haa", "revolute", "trunk", f"{name}_hip", f"{x} {y} 0", "1 0 0", "-0.6 0.6", extra=RUBS)
        yield joint(f"{name}_hfe", "revolute", f"{name}_hip", f"{name}_thigh", axis="0 1 0", limit="-1.5 1.5")
        yield joint(f"{name}_kfe", "revolute", f"{name}_thigh", f"{name}_shank", "0 0 -0.2", "0 1 0", "-2.5 -0.4")
        yield joint(f"{name}_ankle", "fixed", f"{name}_shank", f"{name}_foot", "0 0 -0.2")


def humanoid():
    """A trunk with a head, two arms and two legs."""
    yield link("pelvis", 8.0, inertia="0.1 0.1 0.1") + link("chest", 12.0, "0 0 0.15", "0.2 0.2 0.1") + link("head", 4.0)
    yield joint("waist", "revolute", "pelvis", "chest", "0 0 0.1", "0 0 1", "-1 1") + joint(
        "neck", "continuous", "chest", "head", "0 0 0.4", "0 1 0"
    )
    for side, y in (("l", 0.2), ("r", -0.2)):
        for part, base, upper, z in (("arm", "chest", "shoulder", 0.3), ("leg", "pelvis", "hip", -0.1)):
            yield link(f"{side}_{part}_upper", 2.0, "0 0 -0.15") + link(f"{side}_{part}_lower", 1.5, "0 0 -0.12")
            yield joint(f"{side}_{upper}", "revolute", base, f"{side}_{part}_upper", f"0 {y} {z}", "0 1 0", "-2 2", extra=RUBS)
            yield joint(
                f"{side}_{part}_mid", "revolute", f"{side}_{part}_upper", f"{side}_{part}_lower", "0 0 -0.3", "0 1 0", "0 2.4"
            )


ROBOTS = {
    "arm": robot("arm", link("base"), link("upper", 3, "0 0 0.2"), link("fore", 2, "0.15 0 0", extra=MESH), link("tool0"),
                 joint("shoulder", "revolute", "base", "upper", "0 0 0.3", "0 1 0", "-2 2", extra=RUBS),
                 joint("elbow", "revolute", "upper", "fore", "0 0 0.4", "0 1 0", "-2.6 2.6"),
                 joint("flange", "fixed", "fore", "tool0", "0.3 0 0", rpy="0 1.5708 0"),
                 '<transmission name="t1"><joint name="elbow"/></transmission>'),
    "mimic": robot("mimic", link("base"), link("first", 1, "0.2 0 0"), link("second", 0.8, "0.2 0 0"),
                   link("third", 0.5, "0.1 0 0"),
                   joint("drive", "continuous", "base", "first", axis="0 1 0"),
                   joint("level", "continuous", "first", "second", "0.4 0 0", "0 1 0",
                         extra='<mimic joint="drive" multiplier="-1" offset="0.3"/>'),
                   joint("follow", "continuous", "second", "third", "0.4 0 0", "0 1 0",
                         extra='<mimic joint="level" multiplier="-0.5"/>')),
    "gripper": robot("gripper", link("palm", 0.5), link("left", 0.1, "0 0 0.03", "1e-5 1e-5 1e-5"),
                     link("right", 0.1, "0 0 0.03", "1e-5 1e-5 1e-5"),
                     joint("finger", "prismatic", "palm", "left", "0 0.01 0.05", "0 1 0", "0 0.04",
                           extra='<dynamics damping="5" friction="0.5"/>'),
                     joint("other", "prismatic", "palm", "right", "0 -0.01 0.05", "0 -1 0", "0 0.05",
                           extra='<mimic joint="finger"/>')),
    "quadruped": robot("quadruped", link("trunk", 6, inertia="0.05 0.1 0.12"), *legs()),
    "planar": robot("planar", link("floor"), link("puck", 2), link("mast", 0.5, "0 0 0.3"),
                    joint("glide", "planar", "floor", "puck", axis="0 0.6 0.8"),
                    joint("mast", "continuous", "puck", "mast", axis="1 0 0")),
    "gantry": robot("gantry", link("frame"), link("bridge", 20), link("trolley", 5), link("ram", 3, "0 0 -0.3"),
                    joint("x", "prismatic", "frame", "bridge", axis="1 0 0", limit="-1 1", extra=RUBS),
                    joint("y", "prismatic", "bridge", "trolley", axis="0 1 0", limit="-0.5 0.5"),
                    joint("z", "prismatic", "trolley", "ram", axis="0 0 1", limit="-0.4 0")),
    "scara": robot("scara", link("column", 10), link("inner", 4, "0.15 0 0"), link("outer", 3, "0.1 0 0"), link("quill", 0.5),
                   link("tool", 0.2),
                   joint("j1", "revolute", "column", "inner", "0 0 0.4", "0 0 1", "-2.5 2.5"),
                   joint("j2", "revolute", "inner", "outer", "0.3 0 0", "0 0 1", "-2.5 2.5"),
                   joint("j3", "prismatic", "outer", "quill", "0.25 0 0", "0 0 1", "-0.2 0"),
                   joint("j4", "continuous", "quill", "tool", axis="0 0 1")),
    "delta": robot("delta", link("plate"), *(
        link(f"arm{k}", 0.5, "0.1 0 0") + link(f"rod{k}", 0.2, "0.2 0 0", "1e-4 1e-3 1e-3")
        + joint(f"motor{k}", "revolute", "plate", f"arm{k}", "0.1 0 0", "0 1 0", "-1 1.5", f"0 0 {2.0943951 * k}")
        + joint(f"fork{k}", "revolute", f"arm{k}", f"rod{k}", "0.2 0 0", "0 1 0", "0.5 2.5") for k in range(3))),
    "humanoid": robot("humanoid", *humanoid()),
    "mobile_base": robot("mobile_base", link("world"), link("chassis", 15, extra=sphere(0.1, "0.2 0 0")), link("left.wheel", 1),
                         link("right.wheel", 1), link("sensor"),
                         joint("floating_base", "floating", "world", "chassis", "0 0 0.2"),
                         joint("left", "continuous", "chassis", "left.wheel", "0 0.2 0", "0 1 0", extra=RUBS),
                         joint("right", "continuous", "chassis", "right.wheel", "0 -0.2 0", "0 1 0", extra=RUBS),
                         joint("mount", "fixed", "chassis", "sensor", "0 0 0.3")),
}  # fmt: skip
