"""Linear equations near a state: against the motion itself, against known pendulums, controllability, bad input."""

import json

import numpy as np
import pytest
from random_trees import random_robot, relative_error

import dynamis as dy
from dynamis.model.build import with_floating_base


@pytest.fixture(autouse=True)
def quick_code(monkeypatch):
    monkeypatch.setenv("DYNAMIS_TIER", "quick")


def pendulum(length=2.0, mass=3.0, viscous=0.0):
    """A point that hangs below a hinge about y."""
    bob = dy.Inertia.about_com(mass, (0.0, 0.0, -length), np.zeros((3, 3)))
    d = dy.Description("pendulum").add_link("base")
    d.add_link("bob", "base", "continuous", joint_name="hinge", axis=(0, 1, 0), inertia=bob)
    d.joint("hinge").drive.viscous = viscous
    return dy.Robot(d)


def test_a_pendulum_swings_with_the_square_root_of_g_over_l():
    near = dy.linearize(pendulum(), [0.0])
    assert near.at_equilibrium
    assert pytest.approx(np.array([[0.0, 1.0], [-9.81 / 2.0, 0.0]])) == near.A
    assert pytest.approx(np.array([[0.0], [1.0 / 12.0]])) == near.B
    (mode,) = near.modes
    assert mode.kind == "undamped"
    assert mode.frequency == pytest.approx(np.sqrt(9.81 / 2.0) / (2.0 * np.pi))
    assert mode.damping == pytest.approx(0.0, abs=1e-12)
    assert not near.stable


def test_upside_down_it_falls_and_with_friction_it_comes_to_rest():
    up = dy.linearize(pendulum(), [np.pi])
    assert up.at_equilibrium
    assert [mode.kind for mode in up.modes] == ["unstable", "stable"]
    assert up.modes[0].time_constant == pytest.approx(-1.0 / np.sqrt(9.81 / 2.0))
    damped = dy.linearize(pendulum(viscous=6.0), [0.0])
    assert damped.stable
    (mode,) = damped.modes
    assert mode.damping == pytest.approx(6.0 / 12.0 / 2.0 / np.sqrt(9.81 / 2.0))
    assert mode.oscillates


@pytest.mark.parametrize("seed", range(6))
def test_small_deviations_move_as_the_equations_say(seed):
    """d/dt of the difference between two motions, one step of each apart; free and spherical joints and velocities too."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=2, floating=bool(seed % 2), kinds=("revolute", "spherical", "prismatic"), mimics=False)
    if np.linalg.cond(robot.mass_matrix(robot.neutral())) > 1e4:
        return
    q, v, tau = robot.random(rng), rng.uniform(0.2, 1.0, robot.n), rng.uniform(-1.0, 1.0, robot.n)
    near = dy.linearize(robot, q, v, tau, actuated=robot.coordinate_names)
    assert not near.at_equilibrium
    dx, du, h, size = rng.standard_normal(2 * robot.n), rng.standard_normal(robot.n), 1e-4, 1e-4

    def rate(sign):
        """How fast the deviation changes, to second order in the step, for a deviation of this sign."""
        apart = []
        for t in (h, -h):
            start, speed = robot.integrate(q, sign * size * dx[: robot.n]), v + sign * size * dx[robot.n :]
            ends = [
                (robot.integrate(x, t * w), w + t * robot.forward_dynamics(x, w, u))
                for x, w, u in ((q, v, tau), (start, speed, tau + sign * size * du))
            ]
            apart.append(np.concatenate([robot.difference(ends[0][0], ends[1][0]), ends[1][1] - ends[0][1]]))
        return (apart[0] - apart[1]) / (2.0 * h)

    found = (rate(1.0) - rate(-1.0)) / (2.0 * size)
    assert relative_error(near.A @ dx + near.B @ du, found) < 1e-5


def test_modes_of_a_repeated_eigenvalue_have_no_dominant_coordinate_but_a_subspace():
    """A pendulum beside horizontal slides: two zeros for each slide, and one conjugate pair."""
    slides = ["slide1", "slide2"]

    def rack(names):
        d = pendulum().description
        for name in names:
            body = dy.solids.sphere(0.1, mass=1.0)
            d.add_link(f"on {name}", "base", "prismatic", joint_name=name, axis=(1.0, 0.0, 0.0), inertia=body)
        return dy.linearize(dy.Robot(d), np.zeros(1 + len(names)))

    near = rack(slides)
    assert [(m.kind, m.coordinate) for m in near.modes if m.kind == "neutral"] == [("neutral", "")] * 4
    assert sorted(near.neutral_coordinates) == sorted(slides)
    (swinging,) = [m for m in near.modes if m.kind != "neutral"]
    assert swinging.coordinate == "hinge"
    # of one slide alone, the double zero has one eigenvector
    assert {m.coordinate for m in rack(["slide1"]).modes if m.kind == "neutral"} == {"slide1"}


def test_rigid_modes_of_a_humanoid_are_zero_and_slow_modes_are_kept():
    """Rounding errors of double zeros grow with ‖A‖; viscous friction of 1e-4 N m s/rad gives modes slower than those."""
    body = dy.load("g1", base="floating")
    at = dy.linearize(body, body.random(2))
    assert sum(mode.kind == "neutral" for mode in at.modes) == 12
    assert all(mode.kind == "neutral" or abs(mode.eigenvalue) > 0.1 for mode in at.modes)
    scara = dy.load("scara")
    assert sum(0.0 < -mode.eigenvalue.real < 1e-4 for mode in dy.linearize(scara, scara.random(0)).modes) == 2


def test_one_motor_of_two_controls_all_or_half():
    arm = dy.load("planar_2r_melchiorri")
    assert dy.linearize(arm, [np.pi / 2, 0.0], actuated=["joint2"]).controllable_dimension == 4
    # without gravity a stretched arm turned by its elbow alone keeps its angular momentum
    flat = arm.replace(gravity=(0, 0, 0))
    half = dy.linearize(flat, [0.3, 0.0], actuated=["joint2"])
    assert half.controllable_dimension == 2
    assert not half.controllable
    assert half.B.shape == (4, 1)


def test_a_free_base_has_no_motors():
    ball, d = dy.solids.sphere(0.1, mass=1.0), dy.Description("two balls")
    d.add_link("first", inertia=ball).add_link("second", "first", "revolute", joint_name="hinge", inertia=ball)
    robot = dy.Robot(with_floating_base(d))
    near = dy.linearize(robot, robot.neutral())
    assert near.B.shape == (14, 1)
    assert near.actuated == ("hinge",)
    assert not near.at_equilibrium  # it falls: no torque holds it
    assert near.acceleration[2] == pytest.approx(-9.81)


def test_the_holding_torque_is_the_default_and_springs_belong_to_it():
    robot = dy.load("ur5e")
    q = [0.0, -1.2, 1.6, -0.9, -1.3, 0.0]
    near = dy.linearize(robot, q)
    assert near.at_equilibrium
    assert near.tau == pytest.approx(robot.inverse_dynamics(q, np.zeros(6), np.zeros(6)))
    assert not dy.linearize(robot, q, tau=np.zeros(6)).at_equilibrium
    facts = json.loads(json.dumps(near.as_dict(), allow_nan=True))
    assert np.array(facts["A"]).shape == (12, 12)
    assert len(facts["state"]) == 12
    assert len(near.eigenvalues) == 12
    assert all(np.diff(near.eigenvalues.real) <= 1e-12)


def test_bad_input_says_so():
    with pytest.raises(dy.NameLookupError, match="did you mean 'joint1'"):
        dy.linearize(dy.load("planar_2r_melchiorri"), [0.0, 0.0], actuated=["joint_1"])
    with pytest.raises(dy.InputError, match="without values"):
        dy.linearize(dy.load("planar_2r"), [0.0, 0.0])
    with pytest.raises(dy.InputError, match="one state"):
        dy.linearize(dy.load("planar_2r_melchiorri"), np.zeros((3, 2)))
    with pytest.raises(dy.InputError, match="without moving joints"):
        dy.linearize(dy.Robot(dy.Description("post").add_link("base")), [])


def test_every_eigenvalue_belongs_to_a_mode():
    near = dy.linearize(dy.load("ur5e"), [0.0, -1.2, 1.6, -0.9, -1.3, 0.0])
    assert sum(2 if mode.oscillates else 1 for mode in near.modes) == 12
    assert [mode.kind for mode in near.modes].count("neutral") == 4
    frequencies = [mode.frequency for mode in near.modes if mode.kind == "undamped"]
    assert frequencies == sorted(frequencies)
    assert all(mode.damping == 0.0 for mode in near.modes if mode.kind == "undamped")


def test_the_discrete_model_is_that_of_a_fine_integration():
    robot = dy.load("planar_2r_melchiorri")
    near = dy.linearize(robot, [-np.pi / 2, 0.0])
    A, B = near.discrete(0.1)
    fine_A, fine_B = near.discrete(0.1 / 64)
    power, total = np.eye(4), np.zeros((4, 2))
    for _ in range(64):
        total = fine_A @ total + fine_B
        power = fine_A @ power
    assert np.abs(A - power).max() < 1e-12
    assert np.abs(B - total).max() < 1e-12
    step = dy.optimize.Step(robot, 0.001, "rk4").derivatives(near.q, near.v, near.tau)
    assert np.abs(near.discrete(0.001)[0] - step.A).max() < 1e-9
    assert np.abs(near.discrete(0.001)[1] - step.B).max() < 1e-9
    with pytest.raises(dy.InputError, match="positive number of seconds"):
        near.discrete(-1.0)


def test_actuators_are_said_not_to_be_part_of_the_linear_model():
    arm = dy.load("planar_2r_melchiorri").replace(actuators={"joint2": dy.Elastic(800.0, inertia=0.1)})
    with pytest.warns(dy.ModelWarning, match="actuators of 'joint2' are not part of the linear model"):
        dy.linearize(arm, [0.1, 0.2])


def test_the_text_says_that_the_state_is_no_equilibrium():
    falling = dy.linearize(dy.load("go2", base="floating"), dy.load("go2", base="floating").neutral())
    assert repr(falling).endswith("not at an equilibrium>")
    hanging = dy.linearize(dy.load("planar_2r_melchiorri"), [-np.pi / 2.0, 0.0])
    assert "equilibrium" not in repr(hanging)


def test_a_step_in_which_the_linear_model_overflows_is_refused():
    upright = dy.linearize(dy.load("planar_2r_melchiorri"), [np.pi / 2.0, 0.0])
    with pytest.raises(dy.InputError, match="choose a shorter step"):
        upright.discrete(1e4)
