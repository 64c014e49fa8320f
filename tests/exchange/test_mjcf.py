"""MJCF: every kind of joint as MuJoCo moves it, what is read, and what is not."""

import numpy as np
import pytest

import pliant as pl
from pliant.trace.tracing import trace

mujoco = pytest.importorskip("mujoco")

KINDS = """
<mujoco model="kinds">
  <compiler angle="radian"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default><joint damping="0.1"/><geom density="800"/><default class="thin"><geom type="capsule" size="0.03"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" pos="0 0 -9"/>
    <body name="float" pos="0.3 0.2 1" quat="0.9 0.1 0.2 0.3">
      <freejoint name="free"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.05 0 0.02" euler="0.2 0.3 0.1"/>
      <body name="lid" pos="0.2 0.1 0" euler="0.5 -0.3 0.2">
        <joint name="hinge" axis="1 2 3" pos="0.05 -0.02 0.01" ref="0.4" range="-2 2" stiffness="3" springref="0.7"
               armature="0.02"/>
        <geom class="thin" fromto="0 0 0 0.3 0.05 0.02"/>
        <body name="slider" pos="0.3 0 0.1" axisangle="0 1 0 0.6">
          <joint name="slide" type="slide" axis="0 1 1" pos="0.1 0 0" ref="-0.05"/>
          <joint name="first" axis="0 0 1" pos="0.02 0.03 0" ref="0.2"/>
          <joint name="second" axis="0 1 0" pos="-0.01 0 0.04"/>
          <geom type="sphere" size="0.08" pos="0.1 0.02 0"/>
          <body name="welded" pos="0.1 0 0" xyaxes="0 1 0 -1 0 0"><geom type="cylinder" size="0.02 0.1"/></body>
        </body>
      </body>
      <body name="ball" pos="-0.2 0 0" zaxis="1 0 1">
        <joint name="swivel" type="ball" pos="0.02 0.01 0.05"/>
        <geom type="ellipsoid" size="0.05 0.1 0.2" pos="0 0 -0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def read(tmp_path, text, **options):
    file = tmp_path / "robot.xml"
    file.write_text(text, encoding="utf-8")
    return pl.read_mjcf(file, **options)


def accelerations(traced, q, v):
    y = np.concatenate([q, v, np.zeros(len(traced.sources))])
    return np.array(traced.rhs(0.0, y, traced.parameters(0.0, 1.0))).ravel()[len(q) : len(q) + len(v)]


def test_every_kind_of_joint_moves_as_in_mujoco(tmp_path):
    """Several joints of a body, anchors, references, springs, rotors, frames and inertias of geoms, at random states."""
    robot, model = read(tmp_path, KINDS, stops=False), mujoco.MjModel.from_xml_string(KINDS)
    model.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data, rng = mujoco.MjData(model), np.random.default_rng(5)
    traced = trace(robot)
    assert list(robot.links) == ["float", "lid", "slider_1", "slider_2", "slider", "welded", "ball"]
    assert robot.coordinates == {"hinge": "lid.angle", "slide": "slider_1.displacement", "first": "slider_2.angle",
                                 "second": "slider.angle"}  # fmt: skip
    for _ in range(50):
        data.qpos[:], data.qvel[:] = rng.normal(size=model.nq), rng.normal(size=model.nv)
        data.qpos[model.jnt_qposadr[1]] = rng.uniform(-1.9, 1.9)  # inside its range
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_forward(model, data)
        found = accelerations(traced, data.qpos, data.qvel)
        theirs = data.qacc.copy()
        assert np.max(np.abs(found - theirs)) < 1e-9 * np.max(np.abs(theirs))


def test_the_start_is_the_reference_and_shapes_are_where_mujoco_has_them(tmp_path):
    robot, model = read(tmp_path, KINDS), mujoco.MjModel.from_xml_string(KINDS)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    start = pl.start(robot)
    seen = start.observe()
    for name in ("float", "lid", "slider", "welded", "ball"):
        body = robot.handle(name)
        joint = model.body(name).jntadr[0]
        anchor = data.xanchor[joint + model.body(name).jntnum[0] - 1] if joint >= 0 else data.body(name).xpos
        assert seen["root_position", name] == pytest.approx(anchor, abs=1e-12), body
    assert set(robot.shapes) == {"ground", "float", "lid", "slider"}
    assert [type(shape).__name__ for shape in robot.shapes["float"]] == ["Point"] * 8
    capsule = robot.shapes["lid"][0]
    assert capsule.length == pytest.approx(np.linalg.norm([0.3, 0.05, 0.02])) and capsule.radius == 0.03
    ends = sorted(end.at.offset for end in capsule.ends())  # from the joint's anchor
    assert np.allclose(ends, [(-0.05, 0.02, -0.01), (0.25, 0.07, 0.01)], rtol=0.0, atol=1e-12)
    assert any("contacts have no cylinder" in line for line in robot.unused)
    assert any("contacts have no ellipsoid" in line for line in robot.unused)


LOOPS = """
<mujoco model="loops">
  <worldbody>
    <body name="crank" pos="0 0 1"><joint name="crank" axis="0 1 0" ref="20"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0"/>
      <body name="rod" pos="0.2 0 0"><joint name="rod" axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0"/></body>
    </body>
    <body name="slide" pos="0.7 0 1"><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.05"/></body>
    <body name="wheel" pos="0 1 1"><joint name="wheel" axis="0 1 0"/><geom size="0.1" pos="0.05 0 0"/></body>
    <body name="loose" pos="2 0 1"><freejoint/><geom size="0.1"/></body>
    <body name="held" pos="2 0.5 1" euler="20 30 10"><freejoint/><geom size="0.1" pos="0.1 0 0"/></body>
  </worldbody>
  <equality>
    <connect name="pin" body1="rod" body2="slide" anchor="0.5 0 0"/>
    <joint name="gear" joint1="wheel" joint2="crank" polycoef="0.1 -2 0 0 0"/>
    <joint name="cam" joint1="slide" joint2="wheel" polycoef="0 0 1 0 0" active="false"/>
    <weld name="glue" body1="loose" body2="held"/>
  </equality>
</mujoco>
"""


def test_equalities_become_closures_and_gears(tmp_path):
    robot = read(tmp_path, LOOPS)
    assert {name: closure.kind for name, closure in robot.closures.items()} == {
        "wheel follows": "gear", "pin": "point", "glue": "weld"}  # fmt: skip
    result = pl.simulate(robot, t_end=0.3)
    assert result.ok and result.ledger.relative_error_max < 1e-6
    crank, wheel = result["crank.angle"], result["wheel.angle"]
    reference = np.radians(20.0)
    assert np.max(np.abs(wheel - (0.1 - 2.0 * (crank - reference)))) < 1e-9
    pin, slide = result["tip_position", "slide"], 0.7 + result["slide.displacement"]
    assert np.max(np.abs(pin[:, 0] - slide)) < 1e-9 and np.ptp(slide) > 1e-3
    apart = result["root_position", "held"] - result["root_position", "loose"]
    assert np.max(np.abs(apart - [0.0, 0.5, 0.0])) < 1e-6  # both fall, and do not turn
    assert any("'cam': it is not active" in line for line in robot.unused)


def test_elastic_links_and_motors_of_a_file_of_mujoco(tmp_path):
    """The lid reaches to the anchor of the last child's first joint; it is the same body about its joint as the rigid one."""
    rigid = read(tmp_path, KINDS)
    robot = read(
        tmp_path, KINDS, elastic={"lid": pl.elastic_link(first_frequency="30 Hz")}, motors={"hinge": pl.Motor(inertia=0.1)}
    )
    assert isinstance(robot.links["lid"].body, pl.Beam)
    assert robot.mass == pytest.approx(rigid.mass, rel=1e-12)
    assert robot.motors["hinge motor"].motor.inertia == 0.1 and any("armature is not used" in line for line in robot.unused)
    seen, before = (pl.start(one).observe() for one in (robot, rigid))
    for name in ("slider", "welded"):
        assert seen["root_position", name] == pytest.approx(before["root_position", name], abs=1e-12)


def test_included_files_are_read_and_those_outside_are_not(tmp_path):
    (tmp_path / "part.xml").write_text(
        '<mujoco><worldbody><body name="b"><joint/><geom size=".1" rgba="1 0 0 1"/></body></worldbody></mujoco>'
    )
    robot = read(tmp_path, '<mujoco><include file="part.xml"/><option timestep="0.01"/></mujoco>')
    assert list(robot.links) == ["b"]
    assert robot.unused == ("option timestep: line 1", "worldbody body geom rgba: line 1")
    (tmp_path / "part.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>')
    with pytest.raises(pl.ModelError, match=r"part\.xml, line 1: DOCTYPE must be left out"):
        read(tmp_path, '<mujoco><include file="part.xml"/></mujoco>')
    with pytest.raises(pl.ModelError, match=r"include: file must be inside the folder of the first file, got '\.\./part\.xml'"):
        read(tmp_path, '<mujoco><include file="../part.xml"/></mujoco>')
    with pytest.raises(pl.ModelError, match=r"include: file must be included once, got 'robot\.xml'"):
        read(tmp_path, '<mujoco><include file="robot.xml"/></mujoco>')


def test_names_that_a_file_does_not_give_differ_from_those_that_it_gives(tmp_path):
    """Of bodies and joints without names, and of the massless bodies between several joints of one."""
    robot = read(
        tmp_path,
        """<mujoco><worldbody>
      <body name="body2"><joint name="joint1"/><geom size=".1"/><body pos="1 0 0"><joint/><geom size=".1"/></body></body>
      <body name="a"><joint type="slide"/><joint/><geom size=".1"/>
        <body name="a_1" pos="1 0 0"><joint name="weld of c"/><geom size=".1"/><body name="c"><geom size=".1"/></body></body>
      </body></worldbody></mujoco>""",
    )
    assert list(robot.links) == ["body2", "body2_", "a_1_", "a", "a_1", "c"]
    assert robot.coordinates == {"joint1": "body2.angle", "joint1_": "body2_.angle", "joint2": "a_1_.displacement",
                                 "joint3": "a.angle", "weld of c": "a_1.angle"}  # fmt: skip
    assert robot.degrees_of_freedom == 5


def test_gravity_may_be_switched_off_and_other_flags_are_listed(tmp_path):
    text = '<mujoco><option><flag gravity="disable" damper="disable"/></option><worldbody/></mujoco>'
    robot = read(tmp_path, text)
    assert robot.gravity == (0.0, 0.0, 0.0) and robot.unused == ("option flag damper: line 1",)


def test_attached_models_are_read_as_safely_as_included_files(tmp_path):
    part = '<mujoco model="part"><worldbody><body name="b"><joint/><geom size=".1" rgba="1 0 0 1"/></body></worldbody></mujoco>'
    (tmp_path / "part.xml").write_text(part)
    text = """<mujoco><asset><model name="part" file="part.xml"/></asset>
      <worldbody><body name="a"><joint/><geom size=".1"/><attach model="part" body="b" prefix="its "/></body>
      </worldbody></mujoco>"""
    robot = read(tmp_path, text)
    assert list(robot.links) == ["a", "its b"] and robot.unused == ("worldbody body geom rgba: line 1",)
    (tmp_path / "part.xml").write_text(f"<!DOCTYPE a>{part}")
    with pytest.raises(pl.ModelError, match=r"part\.xml, line 1: DOCTYPE must be left out"):
        read(tmp_path, text)


BODY = '<mujoco><worldbody><body name="b">{}</body></worldbody></mujoco>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><worldbody>", r"robot\.xml, line 1, column \d+: must be XML"),
        ("<robot/>", "root element must be mujoco, got 'robot'"),
        ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "DOCTYPE must be left out"),
        (BODY.format('<joint type="hing"/><geom size="1"/>'), "cannot read it: invalid keyword: 'hing' Element 'joint', line 1"),
        (BODY.format("<joint/>"), "mass and inertia of moving bodies must be larger"),
        (BODY.format('<joint/><geom type="mesh" mesh="arm"/>'), "mesh 'arm' not found"),
        ('<mujoco><asset><mesh name="arm" file="arm.stl"/></asset><worldbody/></mujoco>', r"arm\.stl"),
        (BODY.format('<joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'), "MuJoCo cannot read it"),
        (BODY.format('<joint range="2 1" limited="true"/><geom size="1"/>'), "MuJoCo cannot read it"),
        ('<mujoco><equality><connect body1="a" anchor="0 0 0"/></equality></mujoco>', "MuJoCo cannot read it"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_refused_with_its_reason(text, words, tmp_path):
    with pytest.raises(pl.ModelError, match=words) as refused:
        read(tmp_path, text)
    assert str(tmp_path / "robot.xml") in str(refused.value)
