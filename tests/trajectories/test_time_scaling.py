"""The fastest motion along a path: never beyond a limit, always at one, and as fast as theory and others say."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.trajectories import joint_move, spline, spline_path, time_optimal

UR5E, PUMA, SCARA = (dy.load(name) for name in ("ur5e", "puma560", "scara"))
VIA = np.array([[0.3, -1.2, 1.5, -0.4, 0.8, 0.1], [1.2, -1.6, 1.9, -1.0, 0.2, 0.9], [2.2, -0.7, 0.9, -0.4, -0.5, 1.6]])
PUMA_VIA = np.array([[0.3, 0.5, -0.5, 0.2, 0.6, 0.1], [1.0, 1.1, -1.3, -0.3, 0.1, 0.9], [-0.2, 1.6, -0.4, 0.5, -0.5, 0.2]])
PUMA_TORQUE = np.array([100.0, 180.0, 90.0, 25.0, 22.0, 22.0])


def largest_use(robot, motion, torque=np.inf, velocity=np.inf, acceleration=np.inf, count=20001):
    """The largest part of any limit, at many instants."""
    _, q, v, a = motion.sample(count)
    tau = robot.inverse_dynamics(q, v, a)
    return np.maximum.reduce([abs(tau) / torque, abs(v) / velocity, abs(a) / acceleration]).max(axis=1)


CASES = {
    "torque and velocity": (UR5E, VIA, {}),
    "torque alone": (UR5E, VIA, {"velocity": np.inf}),
    "all three": (UR5E, VIA, {"acceleration": 12.0, "velocity": 2.0}),
    "much friction": (PUMA, PUMA_VIA, {"torque": PUMA_TORQUE}),
    "friction and velocity": (PUMA, PUMA_VIA, {"torque": PUMA_TORQUE, "velocity": 1.5}),
}


@pytest.fixture(scope="module", params=CASES, ids=lambda name: name.replace(" ", "_"))
def case(request):
    robot, points, limits = CASES[request.param]
    motion = time_optimal(robot, points, points=100, **limits)
    own = {"torque": robot.limits["effort"], "velocity": robot.limits["velocity"], **limits}
    return robot, points, motion, own


def test_no_limit_is_ever_exceeded(case):
    robot, _, motion, limits = case
    assert largest_use(robot, motion, **limits).max() <= 1.0 + 1e-9
    assert motion.measured["use"] <= 1.0


def test_some_limit_is_met_at_all_times(case):
    robot, _, motion, limits = case
    use = largest_use(robot, motion, **limits)
    assert (use > 0.99).mean() > 0.995  # apart from the instants of switching, one interval each


def test_it_stays_on_the_path_and_rests_at_its_ends(case):
    _, points, motion, _ = case
    path = spline_path(points)
    s = motion.clock.at(np.linspace(0.0, motion.duration, 101))[0]
    assert np.allclose(motion.at(np.linspace(0.0, motion.duration, 101))[0], path.at(np.clip(s, 0, path.duration))[0])
    assert np.allclose(motion.at(motion.duration)[0], points[-1])
    for end in (0.0, motion.duration):
        assert np.allclose(motion.at(end)[1], 0.0, atol=1e-6)


def test_it_is_faster_than_any_spline_slowed_down_to_the_limits(case):
    robot, points, motion, limits = case
    reference = spline(None, points, velocity=1.0)
    stretch = np.linspace(0.1, 8.0, 400)
    kept = [k for k in stretch if largest_use(robot, reference.stretched(k), count=301, **limits).max() <= 1.0]
    assert motion.duration < min(kept) * reference.duration


@pytest.mark.parametrize(("way", "peak"), [(1.0, np.inf), (3.0, 1.0), (-2.0, 1.5)])
def test_one_joint_with_limited_acceleration_goes_bang_bang(way, peak):
    a = 4.0
    start = np.array([0.2, 0.0, 0.1, 0.0])
    motion = time_optimal(SCARA, [start, start + np.array([way, 0, 0, 0])], acceleration=a, velocity=peak)
    reached = np.sqrt(abs(way) * a)
    exact = 2.0 * np.sqrt(abs(way) / a) if reached <= peak else abs(way) / peak + peak / a
    assert motion.duration == pytest.approx(exact, rel=3e-4)
    assert motion.duration >= exact * (1 - 1e-12)


def test_one_joint_with_viscous_friction_is_the_solution_of_its_equation():
    """I v̇ + F v = ±τ: speed up to v₁, brake to rest, with lengths that add up to the way."""
    d = dy.Description("wheel", gravity=np.zeros(3)).add_link("base")
    d.add_link("wheel", "base", "revolute", axis=(0, 0, 1), inertia=dy.solids.disc(0.2, mass=10.0))
    d.joint("wheel_joint").drive.viscous = 0.3
    robot = dy.Robot(d)
    inertia, F, tau, way = float(robot.mass_matrix([0.0])[0, 0]), 0.3, 1.0, 4.0

    def lengths(t, braking):
        up = tau / F * (t - inertia / F * (1 - np.exp(-F * t / inertia)))
        v = tau / F * (1 - np.exp(-F * t / inertia))
        down = inertia / F * np.log(1 + F * v / tau)
        return up + inertia / F * v - tau / F * down if not braking else down

    from scipy.optimize import brentq

    t1 = brentq(lambda t: lengths(t, False) - way, 0.0, 100.0)
    exact = t1 + lengths(t1, True)
    motion = time_optimal(robot, [[0.0], [way]], torque=tau)
    assert exact <= motion.duration <= 1.002 * exact


def test_only_the_way_of_a_motion_counts():
    move = joint_move(VIA[0], VIA[1], duration=20.0)
    assert time_optimal(UR5E, move, points=80).duration == pytest.approx(
        time_optimal(UR5E, VIA[:2], points=80).duration, rel=1e-3
    )
    resting = spline(np.array([0.0, 5.0]), VIA[:2])  # stands still at its ends
    assert time_optimal(UR5E, resting, points=80).duration == pytest.approx(
        time_optimal(UR5E, VIA[:2], points=80).duration, rel=1e-3
    )


def test_more_points_change_little():
    coarse, fine = (time_optimal(UR5E, VIA, points=n).duration for n in (50, 400))
    assert coarse == pytest.approx(fine, rel=1e-3)


def test_a_path_whose_weakest_place_is_far_from_its_start_is_refused_with_that_place():
    arm = dy.load("planar_2r_melchiorri")
    torque = np.abs(arm.gravity([0.0, 0.0]))
    for path, place in (([[-1.5, 0.0], [0.0, 0.0]], 100), ([[-1.5, 0.0], [0.0, 0.0], [1.5, 0.0]], 50)):
        with pytest.raises(
            dy.InputError, match=f"at {place} % of the path the static torque of joint1 is 981, its limit is 490"
        ):
            time_optimal(arm, path, torque=0.5 * torque, points=40)
    rubbing = arm.replace(friction={"joint1": {"coulomb": 200.0}})
    with pytest.raises(
        dy.InputError, match="static torque of joint1, with dry friction against the motion, is 1181, its limit"
    ):
        time_optimal(rubbing, [[0.0, 0.0], [1.0, 0.5]], torque=torque + 100.0, points=40)
    # downwards friction helps, also where rounding makes the last velocity negative along the path
    down = time_optimal(rubbing, [[1.0, 0.5], [0.0, 0.0]], torque=torque + 100.0, points=40)
    q, v, a = down.at(down.duration)
    assert np.abs(rubbing.inverse_dynamics(q, v, a)).max() <= torque.max() + 100.0


def test_what_cannot_be_done_is_refused_with_the_place():
    with pytest.raises(dy.InputError, match=r"the static torque of shoulder_lift_joint is .*, its limit is 5"):
        time_optimal(UR5E, VIA, torque=[150, 5, 150, 28, 28, 28])
    with pytest.raises(dy.InputError, match="has no torque limits"):
        time_optimal(SCARA, [[0, 0, 0.1, 0], [1, 0, 0.1, 0]], velocity=1.0)
    with pytest.raises(dy.InputError, match="has 6 joints, but the motion has 2"):
        time_optimal(UR5E, [[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(dy.InputError, match="points= must be"):
        time_optimal(UR5E, VIA, points=3)
    panda = dy.load("panda")
    with pytest.raises(dy.InputError, match="the path takes 'panda_joint4' to"):
        time_optimal(panda, [panda.home(), panda.home() + 9.0])
    assert time_optimal(panda, [panda.home(), panda.home() + 9.0], points=20, within=False).duration > 1.0
    with pytest.raises(dy.InputError, match="has symbolic parameters"):
        time_optimal(dy.load("planar_2r"), [[0.0, 0.0], [1.0, 1.0]], torque=1.0)


def test_toppra_takes_as_long():
    toppra = pytest.importorskip("toppra", reason="toppra is not installed: pip install toppra")
    from toppra import constraint
    from toppra.algorithm import TOPPRA

    toppra.setup_logging("ERROR")
    path = spline_path(VIA)
    grid = np.linspace(0.0, path.duration, 2001)
    geometric = toppra.SplineInterpolator(path.times, VIA, bc_type="natural")
    velocity, torque = UR5E.limits["velocity"], UR5E.limits["effort"]
    for options in ({"acceleration": 12.0, "torque": 1e6}, {"velocity": 1e3}, {}):
        limited = [constraint.JointVelocityConstraint(np.broadcast_to(options.get("velocity", velocity), 6))]
        if "acceleration" in options:
            limited.append(constraint.JointAccelerationConstraint(np.full(6, 12.0)))
        else:
            limited.append(constraint.JointTorqueConstraint(
                lambda q, v, a: UR5E.inverse_dynamics(q, v, a), np.stack([-torque, torque], axis=1), np.zeros(6),
                discretization_scheme=constraint.DiscretizationType.Interpolation))  # fmt: skip
        for one in limited[1:]:
            one.set_discretization_type(constraint.DiscretizationType.Interpolation)
        theirs = TOPPRA(limited, geometric, gridpoints=grid, parametrizer="ParametrizeConstAccel").compute_trajectory()
        assert time_optimal(UR5E, VIA, **options).duration == pytest.approx(theirs.duration, rel=1e-3)


def test_the_cure_of_too_small_torque_limits_is_that_of_where_they_come_from():
    loaded = UR5E.replace(payload=dy.solids.sphere(0.05, mass=60.0))
    with pytest.raises(dy.InputError, match="lighter payload or stronger drives") as caught:
        time_optimal(loaded, VIA[:2])
    assert "torque=" not in str(caught.value)
    with pytest.raises(dy.InputError, match="raise torque= or choose another path"):
        time_optimal(UR5E, VIA[:2], torque=10.0)
