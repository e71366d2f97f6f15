"""Links without mass that a loop holds: the mass matrix of the tree is singular, the motion of the loop is not."""

import numpy as np
import pytest

import dynamis as dy

CLOSURES = [dy.loops.InPlane("coupler_end", "rocker_end", (0, 1, 0), "trunk"), dy.loops.Point("coupler_end", "rocker_end")]
pytestmark = pytest.mark.filterwarnings("ignore::dynamis.ModelWarning")


def leg(mass_of_rocker, motion="free"):
    def rod(length, mass):
        return dy.solids.rod(length, mass=mass).seen_from(dy.Pose.translation([0.0, 0.0, -length / 2]))

    d = dy.Description("leg").add_link("world")
    d.add_link("trunk", "world", motion, inertia=dy.solids.box(0.3, 0.2, 0.1, mass=5.0))
    axis = {"axis": (0, 1, 0)}
    d.add_link("crank", "trunk", "revolute", origin=dy.Pose.translation([0.1, 0.0, 0.0]), inertia=rod(0.2, 0.5), **axis)
    d.add_link("coupler", "crank", "revolute", origin=dy.Pose.translation([0.0, 0.0, -0.2]), inertia=rod(0.35, 0.6), **axis)
    d.add_link("coupler_end", "coupler", origin=dy.Pose.translation([-0.2, 0.0, -0.05]))
    mass = {"inertia": rod(0.22, mass_of_rocker)} if mass_of_rocker else {}
    d.add_link("rocker", "trunk", "revolute", origin=dy.Pose.translation([-0.1, 0.0, 0.02]), **axis, **mass)
    d.add_link("rocker_end", "rocker", origin=dy.Pose.translation([0.0, 0.0, -0.22]))
    return dy.Robot(d)


@pytest.fixture(params=CLOSURES, ids=["in plane", "point"])
def pair(request):
    """(without mass, with 1e-9 kg), and a state with the loop closed."""
    held = [dy.constrained(leg(m), closures=request.param, alpha=20.0, beta=20.0) for m in (0.0, 1e-9)]
    robot, rng = held[1].robot, np.random.default_rng(0)
    q = held[1].assemble(robot.integrate(robot.neutral(), np.r_[np.zeros(6), 0.2, 0.1, 0.1]))
    v = held[1].assemble_velocity(q, rng.normal(size=9))
    return held, q, v, np.r_[np.zeros(6), 0.3, 0.1, 0.0]


def test_they_move_as_those_of_little_mass(pair):
    (massless, light), q, v, tau = pair
    for one, other in zip(massless.forward_dynamics(q, v, tau), light.forward_dynamics(q, v, tau), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    found, expected = (x.simulate(0.1, q, v, torque=tau, points=3) for x in (massless, light))
    assert found.status == "completed"
    np.testing.assert_allclose(found.q[-1], expected.q[-1], atol=1e-7)
    falling = v + np.eye(9)[2]
    np.testing.assert_allclose(massless.impulse(q, falling)[0], light.impulse(q, falling)[0], atol=1e-6)


def test_derivatives_are_those_of_little_mass(pair):
    (massless, light), q, v, tau = pair
    found, expected = (x.forward_dynamics_derivatives(q, v, tau) for x in (massless, light))
    for one, other in ((found[0], expected[0]), (found[1], expected[1])):
        for name in ("dq", "dv", "dtau"):
            exact = getattr(other, name)
            np.testing.assert_allclose(getattr(one, name), exact, atol=1e-6 * (1.0 + np.abs(exact).max()))


def test_rollouts_keep_them_in_the_loop_with_a_controller(pair):
    (massless, light), q, v, _ = pair
    options = {"controller": lambda _t, _q, v: np.r_[np.zeros(6), -0.1 * v[6:8], 0.0], "every": 100}
    found, expected = (dy.rollouts(x, 0.1, q, v, **options) for x in (massless, light))
    np.testing.assert_allclose(found.q[-1], expected.q[-1], atol=1e-7)


def test_rollouts_without_the_loop_blame_the_mass_matrix_and_not_the_controller():
    with pytest.raises(dy.SingularError, match="mass matrix is singular here: joint 'rocker"):
        dy.rollouts(leg(0.0), 0.1, leg(0.0).neutral(), controller=lambda _t, _q, v: -v)
