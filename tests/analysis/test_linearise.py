"""Linearised mechanisms: steps are those of runs to the square of the step; their matrices agree with each other."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.linalg import expm

import pliant as pl

G = 9.81
EXACT = pl.DOP853(rtol=1e-11, atol=1e-13)
STIFF = pl.Radau9(rtol=1e-10, atol=1e-13)


def response(linear, t, size, of=0):
    """Outputs at t after a step of one input, by the matrix exponential."""
    n = len(linear.A)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = linear.A, size * linear.B[:, of]
    return linear.y0 + linear.C @ expm(t * whole)[:n, n] + size * linear.D[:, of]


def with_drive(system, effort):
    other = system.snapshot()
    drive = next(iter(other.drives.values()))
    other.drives[drive.name] = dataclasses.replace(drive, effort=pl.Constant(effort))
    return other


def outputs_of(result, names):
    """The last row of a result, by the names of a linearisation's outputs."""
    from pliant.analysis.selected import component_names

    places = component_names(result.labels)
    values = []
    for name in names:
        quantity, k = places.get(name, places.get(f"q {name}"))
        values.append(result.values[quantity][-1].ravel()[k])
    return np.array(values)


def assert_second_order(system, rest, linear, sizes, t, method=EXACT, least=3.5):
    """Halving the step quarters what the linear response misses, of every output."""
    errors = []
    for size in sizes:
        result = pl.simulate(with_drive(system, size), t, start=rest.state, method=method, save=[t])
        errors.append(np.abs(outputs_of(result, linear.outputs) - response(linear, t, size)))
    gone = np.abs(response(linear, t, sizes[0]) - linear.y0)
    for k, name in enumerate(linear.outputs):
        assert errors[0][k] < 0.3 * gone[k], name
        assert errors[0][k] / errors[1][k] > least, name


# ---- open trees


def arm():
    link = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.008), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2, static=False), damping=pl.RayleighRatios(ratios=(0.02, 0.02)))  # fmt: skip
    system = pl.System("arm", gravity=(0, -G))
    joint = pl.Revolute(angle=-0.3, spring=pl.Spring(60.0), damper=pl.Damper(0.3))
    beam = system.add("arm", link, joint=joint)
    bob = pl.RigidBody(mass=0.4, inertia=(0.01, 0.01, 0.02), com=(0.05, 0.0, 0.0))
    system.add("bob", bob, joint=pl.Spherical(spring=pl.Spring(3.0), damper=pl.Damper(0.1)), on=beam.tip)
    system.drive("motor", "arm.angle", 0.0)
    return system


def test_the_step_of_an_open_tree_is_linear_to_the_square_of_the_step():
    system = arm()
    rest = pl.equilibrium(system)
    names = ["arm.angle", "arm.y1", "bob.qz", "tip_position arm y", "reaction_moment arm z", "a arm.angle", "kinetic"]
    linear = pl.linearise(system, at=rest, outputs=names)
    kinetic = linear.outputs.index("kinetic")
    assert np.all(linear.C[kinetic] == 0.0)  # of second order
    names.remove("kinetic")
    assert_second_order(system, rest, pl.linearise(system, at=rest, outputs=names), (2.0, 1.0), 0.15)


# ---- loops


def slider_crank(**held):
    """A flexible rod pushes a block against a spring; the loop is closed exactly, or as `held` says."""
    system = pl.System("slider-crank", gravity=(0, -G))
    crank = system.add("crank", pl.RigidBody.rod(0.15, 0.4), joint=pl.Revolute(angle=0.9, damper=pl.Damper(0.02)))
    rod = pl.Beam(length=0.4, section=pl.Section.rectangle(0.01, 0.004), material=pl.ALUMINIUM, theory="euler-bernoulli",
                  modes=pl.Modes("ss", 2), damping=pl.RayleighRatios(ratios=(0.02, 0.02)))  # fmt: skip
    link = system.add("rod", rod, joint=pl.Revolute(angle=-1.2), on=crank.tip)
    block = system.add("block", pl.RigidBody(mass=0.3, inertia=1e-3),
                       joint=pl.Prismatic(axis="x", displacement=0.48, spring=pl.Spring(400.0, 0.5)))  # fmt: skip
    system.close("pin", "point", link.tip, block.root, **held)
    system.drive("motor", "crank.angle", 0.0)
    return system


def test_the_step_of_a_loop_is_linear_to_the_square_of_the_step():
    system = slider_crank()
    rest = pl.equilibrium(system)
    names = ["crank.angle", "rod.angle", "block.displacement", "rod.y1", "multiplier pin 0", "reaction_force crank x"]
    linear = pl.linearise(system, at=rest, outputs=names)
    assert len(linear.coordinates) == 3 and linear.A.shape == (6, 6)
    assert_second_order(system, rest, linear, (0.02, 0.01), 0.05)


def test_a_loop_by_springs_rings_as_the_exact_one_and_beside_it_on_its_springs():
    sprung = pl.linearise(slider_crank(by="springs", stiffness=1e9, damping=1e3)).modes()
    exact = pl.linearise(slider_crank()).modes()
    assert len(sprung) == len(exact) + 2
    assert sprung.frequencies[:3] == pytest.approx(exact.frequencies, rel=1e-4)
    assert np.all(sprung.frequencies[3:] > 100.0 * exact.frequencies[0])


# ---- a closed contact


def pressed(friction=None):
    """A hinged lever whose ball rests on a floor, beside a spring."""
    system = pl.System("pressed", gravity=(0, -G))
    lever = pl.RigidBody(mass=1.0, inertia=(0.01, 0.01, 0.02), com=(0.2, 0.0, 0.0), tip=(0.5, 0.0, 0.0))
    foot = system.add("lever", lever, joint=pl.Revolute(angle=0.1, damper=pl.Damper(0.05)), on=system.ground.moved((0.0, 0.06)))
    system.contact(points=pl.Sphere(foot.tip, 0.05), against=pl.Plane(normal=(0, 1, 0)),
                   normal=pl.HuntCrossley(stiffness=1e6, restitution=0.7), friction=friction)  # fmt: skip
    system.drive("motor", "lever.angle", 0.0)
    return system


def test_the_step_of_a_closed_contact_is_linear_to_the_square_of_the_step():
    system = pressed()
    rest = pl.equilibrium(system)
    ((pair, contact),) = rest.contacts.items()
    assert contact.closed
    linear = pl.linearise(system, at=rest, outputs=["lever.angle", f"normal_force {pair}", f"gap {pair}"])
    arm = 0.5 * math.cos(rest["lever.angle"])
    assert linear.K[0, 0] == pytest.approx(1.5 * contact.force / -contact.gap * arm**2, rel=1e-3)  # Hertz, and a little of weight
    assert_second_order(system, rest, linear, (0.1, 0.05), 0.005, STIFF)


def test_an_open_contact_counts_for_nothing():
    system = pressed()
    lifted = with_drive(system, 3.0)
    lifted.links["lever"] = dataclasses.replace(
        lifted.links["lever"], joint=dataclasses.replace(lifted.links["lever"].joint, spring=pl.Spring(5.0, 0.3)))  # fmt: skip
    rest = pl.equilibrium(lifted)
    assert not any(contact.closed for contact in rest.contacts.values())
    assert pl.linearise(lifted, at=rest).modes().frequencies[0] < 15.0


def test_friction_that_sticks_holds_what_it_touches():
    """A cart on a floor: free to roll along without friction, held by it."""

    def cart(friction):
        system = pl.System("cart", gravity=(0, -G))
        cart = system.add("cart", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0.0, 0.05)))
        bob = pl.RigidBody(mass=0.5, inertia=0.01, com=(0.3, 0.0, 0.0))
        system.add("bob", bob, joint=pl.Revolute(angle=-0.5 * math.pi), on=cart.root)
        feet = [pl.Sphere(cart.at((x, 0.0, 0.0)), 0.05) for x in (-0.2, 0.2)]
        system.contact(points=feet, against=pl.Plane(normal=(0, 1, 0)), normal=pl.Hertz(stiffness=1e7), friction=friction)
        depth = (0.5 * 1.5 * G / 1e7) ** (2 / 3)
        joint = dataclasses.replace(system.links["cart"].joint, position=(0.0, 0.05 - depth))
        system.links["cart"] = dataclasses.replace(system.links["cart"], joint=joint)
        return pl.linearise(system, outputs=()).modes()

    held, rolling = cart(pl.Karnopp(mu_static=0.5, mu_kinetic=0.4)), cart(None)
    swing = math.sqrt(0.5 * G * 0.3 / (0.01 + 0.5 * 0.3**2))
    assert held.frequencies[0] == pytest.approx(swing, rel=1e-3)  # the feet give way a little
    assert rolling.frequencies[0] == 0.0 and rolling.frequencies[1] > 1.1 * swing


def rubbing(friction):
    """A block on a floor, on a spring along it."""
    system = pl.System("rubbing", gravity=(0, -G))
    springs = {"x": pl.Spring(200.0), "angle": pl.Spring(50.0)}
    joint = pl.Planar(position=(0.0, 0.05), spring=springs, damper={"angle": pl.Damper(0.1)})
    block = system.add("block", pl.RigidBody(mass=2.0, inertia=0.1), joint=joint)
    system.contact(points=pl.Sphere(block.root, 0.05), against=pl.Plane(normal=(0, 1, 0)),
                   normal=pl.Linear(stiffness=1e5, damping=200.0), friction=friction)  # fmt: skip
    system.drive("motor", "block.x", 0.0)
    return system


def test_smooth_friction_damps_with_its_slope_at_rest():
    """mu = mu_s x (3 - x^2)/2 with x = v/v_s: 1.5 mu_s N/v_s at v = 0; the ball rolls, so its turning counts too."""
    system = rubbing(pl.CoulombStiction(mu_static=0.5, mu_kinetic=0.4, v_static=0.01, v_kinetic=0.02))
    linear = pl.linearise(system, at=pl.equilibrium(system))
    slope, depth = 1.5 * 0.5 * 2.0 * G / 0.01, 2.0 * G / 1e5
    k, turned = linear.coordinates.index("block.x"), linear.coordinates.index("block.angle")
    assert linear.damping[k, k] == pytest.approx(slope, rel=1e-6)
    assert linear.damping[k, turned] == pytest.approx(slope * 0.05, rel=1e-6)  # slip of the ball's lowest point
    assert depth < 1e-3


def test_bristles_are_states_of_their_own():
    system = rubbing(pl.LuGre(mu_static=0.5, mu_kinetic=0.4, v_stribeck=0.05, sigma0=2e4, sigma1=50.0))
    rest = pl.equilibrium(system)
    linear = pl.linearise(system, at=rest, outputs=["block.x", "block.angle"])
    assert linear.states[-1] == "bristle 0"
    assert_second_order(system, rest, linear, (0.2, 0.1), 0.02, STIFF)


# ---- matrices


@pytest.mark.parametrize("system", [arm(), slider_crank(), pressed()], ids=lambda system: system.name)
def test_state_matrices_and_second_order_matrices_say_the_same(system):
    """A from R = 0 with its constraints, M, damping and K by projection."""
    linear = pl.linearise(system, at=pl.equilibrium(system))
    n = len(linear.coordinates)
    inverse = np.linalg.inv(linear.M)
    size = np.max(np.abs(linear.A))
    assert linear.A[:n, n:] == pytest.approx(np.eye(n)) and np.all(linear.A[:n, :n] == 0.0)
    assert linear.A[n:, :n] == pytest.approx(-inverse @ linear.K, abs=1e-11 * size)
    assert linear.A[n:, n:] == pytest.approx(-inverse @ linear.damping, abs=1e-11 * size)
    assert np.max(np.abs(linear.K - linear.K.T)) <= 1e-12 * np.max(np.abs(linear.K))
    assert np.all(np.linalg.eigvalsh(linear.M) > 0.0)


def test_the_matrices_are_those_of_the_traced_right_hand_side():
    """An open tree: A is the Jacobian of what a run integrates."""
    import casadi as ca

    from pliant.trace.tracing import trace

    system = arm()
    del system.links["bob"]
    rest = pl.equilibrium(system)
    linear = pl.linearise(system, at=rest)
    traced = trace(system)
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", traced.y0.size), ca.SX.sym("p", traced.rhs.size1_in(2))
    jacobian = ca.Function("J", [t, y, p], [ca.jacobian(traced.rhs(t, y, p), y)])
    whole = np.array(jacobian(0.0, rest.state.y, traced.parameters(0.0, 1.0)))[:6, :6]
    assert np.max(np.abs(linear.A - whole)) <= 1e-10 * np.max(np.abs(whole))


# ---- inputs


def test_inputs_may_be_loads_coordinates_prescribed_accelerations_and_parameters():
    stiffness = pl.Parameter("stiffness", 30.0)
    length = pl.Parameter("length", 0.5)
    system = pl.System("cart", gravity=(0, -G))
    cart = system.add("cart", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="x", motion=lambda t: 0.0))
    bob = pl.RigidBody(mass=0.5, inertia=0.0, com=(length, 0.0, 0.0))
    hinge = pl.Revolute(angle=-0.5 * math.pi, spring=pl.Spring(stiffness, -1.2))
    held = system.add("bob", bob, joint=hinge, on=cart.root)
    system.force("push", held.at((0.5, 0.0, 0.0)), (0.0, 0.0))
    rest = pl.equilibrium(system)
    angle = rest["bob.angle"]
    linear = pl.linearise(system, at=rest, inputs=["push x", "bob.angle", "cart.displacement", "stiffness", "length"],
                          outputs=["bob.angle", "effort cart.displacement motion"])  # fmt: skip
    inertia, row = 0.5 * 0.5**2, linear.states.index("rate of bob.angle")
    assert linear.states == ("cart.displacement", "bob.angle", "rate of cart.displacement", "rate of bob.angle")
    assert linear.coordinates == ("bob.angle",)
    wanted = [-0.5 * math.sin(angle), 1.0, 0.5 * 0.5 * math.sin(angle), -(angle + 1.2),
              -0.5 * G * math.cos(angle) - 0.0]  # moments about the hinge per unit of each input  # fmt: skip
    assert linear.B[row] == pytest.approx(np.array(wanted) / inertia, rel=1e-9)
    assert linear.B[linear.states.index("rate of cart.displacement")] == pytest.approx([0.0, 0.0, 1.0, 0.0, 0.0])
    # to accelerate the cart takes both masses, less what the bob swings back with
    swung = 1.5 - 0.5 * 0.5 * math.sin(angle) * (0.5 * 0.5 * math.sin(angle) / inertia)
    assert linear.D[1, 2] == pytest.approx(swung, rel=1e-9)


def test_a_parameter_that_moves_a_loop_is_refused_as_an_input():
    length = pl.Parameter("length", 0.4)
    system = pl.System("loop", gravity=(0, -G))
    arm = system.add("arm", pl.RigidBody.rod(length, 1.0), joint=pl.Revolute(angle=-1.0, spring=pl.Spring(5.0)))
    held = pl.Planar(position=(0.2, -0.3), spring={"angle": pl.Spring(1.0)})
    block = system.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=held)
    system.close("pin", "point", arm.tip, block.root)
    with pytest.raises(pl.ModelError, match=r"inputs must not name a parameter that moves a closure: .* got 'length'"):
        pl.linearise(system, inputs=["length"])


def test_a_prescribed_acceleration_moves_the_mechanism_as_a_run_does():
    def swung(acceleration):
        system = pl.System("cart", gravity=(0, -G))
        motion = pl.Prescribed(lambda t: 0.5 * acceleration * t * t)
        cart = system.add("cart", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="x", motion=motion))
        bob = pl.RigidBody(mass=0.5, inertia=0.0, com=(0.5, 0.0, 0.0))
        system.add("bob", bob, joint=pl.Revolute(angle=-0.5 * math.pi, spring=pl.Spring(1.0, -1.2)), on=cart.root)
        return system

    rest = pl.equilibrium(swung(0.0))
    linear = pl.linearise(swung(0.0), at=rest, inputs=["cart.displacement"], outputs=["bob.angle", "tip_position cart x"])
    errors = []
    for size in (0.4, 0.2):
        result = pl.simulate(swung(size), 0.6, start=rest.state, method=EXACT, save=[0.6])
        errors.append(outputs_of(result, linear.outputs) - response(linear, 0.6, size))
    assert abs(errors[0][0] / errors[1][0]) > 3.5
    assert errors[0][1] == pytest.approx(0.0, abs=1e-12)  # the cart itself is where it is told to be


# ---- frequency response, python-control


def test_the_frequency_response_is_that_of_a_damped_oscillator():
    system = pl.System("oscillator", gravity=(0, 0))
    system.add("block", pl.RigidBody(mass=2.0, inertia=1.0), joint=pl.Prismatic(spring=pl.Spring(50.0), damper=pl.Damper(3.0)))
    system.drive("motor", "block.displacement", 0.0)
    linear = pl.linearise(system, outputs=["block.displacement", "a block.displacement"])
    w = np.array([0.0, 1.0, 5.0, 20.0])
    found = linear.frequency_response(w)
    wanted = 1.0 / (50.0 - 2.0 * w**2 + 3j * w)
    assert found.of("block.displacement", "motor") == pytest.approx(wanted, rel=1e-12)
    assert found.of("a block.displacement", "motor") == pytest.approx(-(w**2) * wanted, rel=1e-12, abs=1e-16)
    assert found.phase[:, 0, 0] == pytest.approx(np.angle(wanted))
    with pytest.raises(pl.ModelError, match="output must be one of"):
        found.of("block.speed", "motor")
    with pytest.raises(pl.ModelError, match="frequencies must be finite"):
        linear.frequency_response([-1.0])
    around = linear.frequency_response().frequencies
    assert around[0] < 5.0 < around[-1]
    with pytest.raises(pl.ModelError, match="inputs must have at least one"):
        pl.linearise(system, inputs=()).frequency_response()


def test_python_controls_step_response_is_the_simulated_one_to_the_square_of_the_step():
    control = pytest.importorskip("control")
    system = arm()
    rest = pl.equilibrium(system)
    linear = pl.linearise(system, at=rest, outputs=["arm.angle", "tip_position arm y"])
    plant = linear.to_control()
    assert plant.input_labels == ["motor"] and plant.output_labels == ["arm_angle", "tip_position arm y"]
    times = np.linspace(0.0, 0.15, 301)
    errors = []
    for size in (2.0, 1.0):
        stepped = control.forced_response(plant, times, np.full(times.size, size)).outputs[:, -1]
        result = pl.simulate(with_drive(system, size), 0.15, start=rest.state, method=EXACT, save=[0.15])
        errors.append(np.abs(outputs_of(result, linear.outputs) - linear.y0 - stepped))
    assert np.all(errors[0] / errors[1] > 3.5)


# ---- where, and what is refused


def test_it_can_look_at_the_end_of_a_run_and_at_a_start_that_is_not_in_balance():
    system = arm()
    result = pl.simulate(system, 20.0)
    by_run = pl.linearise(system, at=result).modes().frequencies
    assert by_run == pytest.approx(pl.linearise(system).modes().frequencies, rel=1e-6)  # it has come to rest
    falling = pl.linearise(system, at="start")
    assert "not in balance" in falling.message and np.max(np.abs(falling.drift)) > 0.1


def test_a_coordinate_without_inertia_may_rest_but_is_refused_by_name_here():
    system = pl.System("pointer", gravity=(0, -G))
    weightless = pl.RigidBody(mass=1.0, inertia=(0.0, 0.0, 0.0))
    system.add("needle", weightless, joint=pl.Revolute(spring=pl.Spring(2.0, 0.3)))
    assert pl.equilibrium(system)["needle.angle"] == pytest.approx(0.3, rel=1e-12)
    with pytest.raises(pl.SolveError, match=r"no mass or inertia resists a motion of needle\.angle"):
        pl.linearise(system)


def test_wrong_words_are_refused():
    system = arm()
    with pytest.raises(pl.ModelError, match=r"inputs must name drives, .*did you mean 'motor'"):
        pl.linearise(system, inputs=["moter"])
    with pytest.raises(pl.ModelError, match=r"outputs must name quantities, .*did you mean 'tip_position"):
        pl.linearise(system, outputs=["tip_positon"])
    with pytest.raises(pl.ModelError, match="at must be an Equilibrium, a Result, a final_state, 'start' or None"):
        pl.linearise(system, at="end")
    with pytest.raises(pl.ModelError, match="bodies must hold at least one body"):
        pl.linearise(pl.System("empty", gravity=(0, 0)))
    with pytest.raises(pl.ModelError, match="at must be an equilibrium of the same mechanism"):
        pl.linearise(slider_crank(), at=pl.equilibrium(system))


def test_outputs_of_a_body_are_not_those_of_its_payload():
    system = pl.System("arm", gravity=(0, -9.81))
    beam = pl.Beam(length=0.5, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1), payload=pl.Payload(mass=0.2))  # fmt: skip
    system.add("fore", beam, joint=pl.Revolute(angle=-pl.pi / 2))
    assert pl.linearise(system, outputs="tip_position fore").outputs == tuple(f"tip_position fore {axis}" for axis in "xyz")
    assert pl.linearise(system, outputs="tip_position fore payload y").outputs == ("tip_position fore payload y",)
