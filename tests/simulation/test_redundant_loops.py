"""Closures that always hold: their Jacobian is rounding error, and the robot moves as without them."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.kinematics.closures import closure_rows


def rod_along_a_link():
    robot = dy.load("ur5e")
    ends = "upper_arm_link", "forearm_link"
    a, b = (robot.pose(robot.home(), name)[:3, 3] for name in ends)
    return robot, dy.constrained(robot, closures=dy.loops.Distance(*ends, float(np.linalg.norm(a - b))))


def doubled_hinge():
    arm = dy.load("panda").replace(friction=0)
    pose = arm.pose(arm.home(), "panda_link4", relative_to="panda_link3")
    robot = arm.with_frame("p1", "panda_link3", dy.Pose.from_matrix(pose))
    return robot, dy.constrained(robot, closures=dy.loops.Pin("p1", "panda_link4", axis=(0.0, 0.0, 1.0)))


@pytest.mark.parametrize("make", [rod_along_a_link, doubled_hinge])
def test_the_robot_moves_as_without_them(make):
    robot, held = make()
    rng = np.random.default_rng(0)
    q, (v, tau) = robot.random(1), rng.normal(size=(2, robot.n))
    assert held.independence(q).rank == 0
    a, forces = held.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, robot.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9)
    assert np.abs(forces).max() < 1e-3
    np.testing.assert_allclose(held.assemble_velocity(q, v), v, atol=1e-12)
    np.testing.assert_allclose(held.impulse(q, v)[0], v, atol=1e-9)
    for options in ({"friction": "smooth"}, {"friction": "smooth", "method": "rk4", "step": 1e-3}):
        found = held.simulate(0.02, q, v, torque=tau, **options)
        expected = dy.simulate(robot, found.t, q, v, torque=tau, **options)
        assert found.status == "completed"
        np.testing.assert_allclose(found.q, expected.q, atol=1e-7)


def test_a_rod_without_direction_is_named():
    row = "[[link]]\nmass = 1\ncom = [0.1, 0, 0]\ninertia = {xx = 0.1, yy = 0.1, zz = 0.1}\n"
    held = dy.constrained(dy.load(f'[robot]\nname = "two"\n{row}{row}xyz = [1, 0, 0]\n'),
                          closures=dy.loops.Distance("base", "link1", 1.0))  # fmt: skip
    q, rest = np.array([0.1, 0.2]), np.zeros(2)
    for call in (held.jacobian, held.delassus, lambda q: held.forward_dynamics(q, rest, rest), lambda q: held.impulse(q, rest),
                 held.independence, lambda q: held.simulate(0.1, q)):  # fmt: skip
        with pytest.raises(dy.SingularError, match="'base' to 'link1' has no direction: its ends coincide"):
            call(q)


A, B = np.radians(40.0), np.radians(70.0)  # twists
LENGTH = 0.4 * np.sin(B) / np.sin(A)
RATIO = np.sin(0.5 * (B + A)) / np.sin(0.5 * (B - A))


def bennett():
    """Bennett's linkage: a / sin α = b / sin β, tan(q₀ / 2) tan(q₁ / 2) = RATIO, q₂ = −q₀ [Bennett 1903]."""
    text = '[robot]\nname = "bennett"\n'
    for k, (length, twist) in enumerate(((0.4, A), (LENGTH, B), (0.4, A))):
        text += f'[[dh]]\nlink = "L{k}"\na = {float(length)}\nalpha = {float(twist)}\nmass = 1.0\ncom = [{-length / 2}, 0, 0]\n'
        text += "inertia = {xx = 0.001, yy = 0.02, zz = 0.02}\n"
    text += f'[[frame]]\nlink = "turned"\nparent = "base"\nrpy = [{-B}, 0, 0]\n'
    text += f'[[frame]]\nlink = "end"\nparent = "turned"\nxyz = [{-LENGTH}, 0, 0]\n'
    return dy.load(text)


def on_curve(angle):
    return np.array([angle, 2.0 * np.arctan2(RATIO, np.tan(0.5 * angle)), -angle])


def slope(angle, e=1e-5):
    return (on_curve(angle + e) - on_curve(angle - e)) / (2.0 * e)


def lagrange(robot, angle, rate, e=1e-5):
    """The acceleration of the one coordinate: I φ̈ + I′ φ̇² / 2 + U′ = 0."""

    def inertia(x):
        return slope(x) @ robot.mass_matrix(on_curve(x)) @ slope(x)

    def steepness(f):
        return (f(angle + e) - f(angle - e)) / (2.0 * e)

    U = steepness(lambda x: float(robot.potential_energy(on_curve(x))))
    return -(0.5 * steepness(inertia) * rate**2 + U) / inertia(angle)


class TestALinkageThatMovesOnlyWhereItsRowsAreRedundant:
    """Open by 1e-6 its rows have rank 3 of 3 coordinates in place of 2, and would determine the acceleration alone."""

    robot = bennett()
    pin = dy.loops.Pin("L2", "end")
    loop, exact = dy.constrained(robot, closures=pin, alpha=20.0, beta=20.0), dy.constrained(robot, closures=pin)
    q = on_curve(0.7)
    v = exact.assemble_velocity(q, 3.0 * slope(0.7))

    @pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-6])
    def test_accelerations(self, gap):
        exact, q, v = self.exact, self.q, self.v
        a, forces = exact.forward_dynamics(q + gap * np.array([0.3, 0.5, -0.8]), v, np.zeros(3))
        assert a[0] == pytest.approx(lagrange(exact.robot, 0.7, 3.0), abs=1e-5 + 100.0 * gap)
        closed = exact.forward_dynamics(q, v, np.zeros(3))[1]
        np.testing.assert_allclose(forces, closed, atol=1e-6 + 1e3 * gap)
        J = exact.jacobian(q)
        np.testing.assert_allclose(J.T @ closed, exact.robot.inverse_dynamics(q, v, exact.forward_dynamics(q, v, np.zeros(3))[0]),
                                   atol=1e-9)  # fmt: skip
        np.testing.assert_allclose(J @ np.linalg.lstsq(J, closed, rcond=1e-9)[0], closed, atol=1e-9)  # of least norm

    def test_only_such_linkages_have_a_rank_that_is_given(self):
        exact = self.exact
        assert exact.independence(self.q).degrees_of_freedom == 1
        assert exact.independence(self.q + 0.1 * np.arange(3)).degrees_of_freedom == 0
        assert exact.ranked.rank == 2
        for other in (dy.loops.four_bar(closed_by="pin"), dy.loops.four_bar(0.5, 0.3, 0.5, 0.3, angle=0.0), dy.loops.delta()):
            assert other.ranked.rank is None

    @pytest.mark.parametrize(
        "options",
        [{}, {"method": "rk4", "step": 2e-3}, {"method": "time_stepping", "step": 2e-3}, {"stabilisation": "baumgarte"},
         {"stabilisation": "none"}],
        ids=["DOP853", "rk4", "time stepping", "Baumgarte", "none"],
    )  # fmt: skip
    def test_motions(self, options):
        motion = self.exact.simulate(1.0, self.q, self.v, points=5, **options)
        assert motion.status == "completed"
        assert motion.q[-1, 0] == pytest.approx(-1.6812985, abs=2e-4 if "time_stepping" in options.values() else 3e-7)
        np.testing.assert_allclose(motion.q, [on_curve(x) for x in motion.q[:, 0]], atol=1e-6)
        expected = [lagrange(self.robot, *x) for x in zip(motion.q[:, 0], motion.v[:, 0], strict=True)]
        np.testing.assert_allclose(motion.acceleration[:, 0], expected, atol=1e-3 * np.abs(expected).max())

    def test_batches(self):
        q, v = self.q, self.v
        made = dy.rollouts(self.loop, 1.0, np.stack([q, on_curve(1.1)]), np.stack([v, 0.0 * v]), step=2e-3, every=100)
        assert made.q[-1, 0, 0] == pytest.approx(-1.6812985, abs=1e-6)
        expected = self.exact.simulate(1.0, on_curve(1.1), points=2)
        np.testing.assert_allclose(made.q[-1, 1], expected.q[-1], atol=1e-6)


def four_bar_on(motion, closed_by):
    """A four-bar linkage on a body that moves, without gravity, and a configuration with the loop closed."""
    d = dy.Description("moving").add_link("world")
    d.add_link("body", "world", motion, axis=(0.6, 0.0, 0.8), inertia=dy.solids.box(0.4, 0.3, 0.2, mass=5.0))
    linkage = dy.loops.four_bar(closed_by=closed_by)
    robot = dy.Robot(d).attach(linkage.robot, "body").replace(gravity=0)
    held = dy.constrained(robot, closures=linkage.closures)
    return robot, held, held.assemble(np.concatenate([robot.neutral()[:-3], linkage.home()]))


@pytest.mark.parametrize("closed_by", ["pin", "point"])
@pytest.mark.parametrize("motion", ["revolute", "free"])
def test_a_small_gap_of_a_planar_loop_does_not_hold_the_body_that_carries_it(motion, closed_by):
    """A row across the plane of the loop that grew with the gap took the rotation of the body away, with forces of 1e7 N."""
    robot, held, q = four_bar_on(motion, closed_by)
    turn, crank = robot.n - 4, robot.n - 3
    tau = np.eye(robot.n)[turn]
    closed, _ = held.forward_dynamics(q, np.zeros(robot.n), tau)
    assert abs(closed[turn]) > 0.1
    for gap in (1e-8, 2e-7, 1e-6):
        near = robot.integrate(q, gap * np.eye(robot.n)[crank])
        a, forces = held.forward_dynamics(near, np.zeros(robot.n), tau)
        np.testing.assert_allclose(a, closed, atol=1e-4)
        assert np.abs(forces).max() < 100.0
        assert held.independence(near).degrees_of_freedom == held.independence(q).degrees_of_freedom
        np.testing.assert_allclose(held.assemble_velocity(near, tau)[turn], held.assemble_velocity(q, tau)[turn], atol=1e-5)


def test_rates_of_a_separation_are_those_seen_from_the_body_that_carries_both_frames():
    robot, held, _ = four_bar_on("free", "point")
    rng, e = np.random.default_rng(2), 1e-6
    q, v = robot.random(rng), rng.normal(size=robot.n)
    _, H, bias = (np.asarray(x, float) for x in closure_rows(robot, held.closures, q, v))

    def seen(q):
        """The separation in the axes of the body."""
        R, frames = robot.pose(q, "body")[:3, :3], (held.closures[0].frame_a, held.closures[0].frame_b)
        return R.T @ (robot.pose(q, frames[0])[:3, 3] - robot.pose(q, frames[1])[:3, 3])

    ahead, here, behind = (seen(robot.integrate(q, s * v)) for s in (e, 0.0, -e))
    R = robot.pose(q, "body")[:3, :3]
    np.testing.assert_allclose(R.T @ H @ v, (ahead - behind) / (2.0 * e), atol=1e-8)
    e = 1e-4
    ahead, behind = (seen(robot.integrate(q, s * v)) for s in (e, -e))
    np.testing.assert_allclose(R.T @ bias, (ahead - 2.0 * here + behind) / e**2, atol=1e-5)
    assert np.abs(H[:, : robot.n - 3]).max() < 1e-13
