"""Hard stops: bounces as mechanics has them, impulses by brute force, rest that is exact, and a balance of energy."""

import itertools

import numpy as np
import pytest
from small_machines import GRAVITY, point_mass

import dynamis as dy
from dynamis.model.description import Drive, Limits
from dynamis.simulation.hard_stops import Stops, _without_creeping, impact
from dynamis.simulation.simulate import simulate


def falling(lower=0.0, upper=np.inf, **drive):
    """A mass on a vertical rail with a floor."""
    d = dy.Description("ball", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("base")
    d.add_link("ball", "base", "prismatic", joint_name="fall", axis=(0, 0, 1), inertia=point_mass(2.0), drive=Drive(**drive),
               limits=Limits(lower=lower, upper=upper))  # fmt: skip
    return dy.Robot(d)


def chain(*limits, **drive):
    """A planar chain of rods that hangs in a vertical plane."""
    d = dy.Description("chain", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("base")
    for k, (lower, upper) in enumerate(limits):
        d.add_link(f"rod{k}", "base" if k == 0 else f"rod{k - 1}", "revolute", joint_name=f"joint{k}", axis=(0, 1, 0),
                   origin=dy.Pose(np.eye(3), np.array([0, 0, -1.0 if k else 0.0])), inertia=dy.Inertia.about_com(1.0, [0, 0, -0.5], np.eye(3) / 12),
                   drive=Drive(**drive), limits=Limits(lower=lower, upper=upper))  # fmt: skip
    return dy.Robot(d)


def kinds(motion, joint=None):
    return [e.kind for e in motion.events if joint in (None, e.joint)]


def within(motion):
    limits = motion.robot.limits
    assert np.all(motion.q <= limits["upper"] + 1e-12)
    assert np.all(motion.q >= limits["lower"] - 1e-12)


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "LSODA"])
def test_a_ball_bounces_at_the_times_and_to_the_heights_of_mechanics(method):
    e, h = 0.6, 0.8
    motion = simulate(falling(), 2.0, [h], stops=dy.HardStops(e), method=method)
    fall = np.sqrt(2 * h / GRAVITY)
    expected = [fall * (1 + 2 * sum(e**k for k in range(1, n + 1))) for n in range(8)]
    times = [x.time for x in motion.events if x.kind == "hits its lower stop"]
    assert times[:4] == pytest.approx([x for x in expected if x < 2.0][:4], abs=1e-6)
    top, _ = motion.at(fall * (1 + e))
    assert top[0] == pytest.approx(e * e * h, abs=1e-6)
    within(motion)
    assert np.abs(motion.energy_error).max() < 1e-6


def test_bouncing_without_end_ends_at_rest_exactly_at_the_limit():
    e, h = 0.7, 0.5
    motion = simulate(falling(lower=0.1), 3.0, [0.1 + h], stops=dy.HardStops(e, rest_speed=1e-3))
    assert motion.complete
    assert kinds(motion)[-2:] == ["hits its lower stop", "rests at its lower stop"]
    # the whole of the geometric series, but for bounces slower than a millimetre a second
    assert motion.events[-1].time == pytest.approx(np.sqrt(2 * h / GRAVITY) * (1 + e) / (1 - e), abs=2e-3)
    rest = motion.t > motion.events[-1].time
    assert np.all(motion.q[rest] == 0.1)
    assert np.all(motion.v[rest] == 0.0)
    assert motion.stop_torque[rest] == pytest.approx(np.full((rest.sum(), 1), 2.0 * GRAVITY), rel=1e-12)
    assert np.all(motion.friction == 0.0)
    assert np.abs(motion.acceleration[rest]).max() < 1e-12
    assert np.abs(motion.ledger.total - motion.tau).max() < 1e-12
    assert np.abs(motion.energy_error).max() < 1e-9
    assert motion.work[-1] == pytest.approx(-2.0 * GRAVITY * h, rel=1e-9)


def test_a_perfect_bounce_keeps_the_energy_and_never_rests():
    motion = simulate(falling(), 4.0, [0.5], stops=dy.HardStops(1.0), points=201)
    assert set(kinds(motion)) == {"hits its lower stop"}
    assert np.ptp(motion.energy) < 1e-8


def test_a_joint_at_rest_leaves_when_the_push_on_it_reverses():
    weight = 2.0 * GRAVITY
    motion = simulate(falling(), 2.0, [0.0], stops=dy.HardStops(), torque=lambda t: [weight * t])
    (left,) = motion.events
    assert left.kind == "leaves its lower stop"
    assert left.time == pytest.approx(1.0, abs=1e-7)
    assert np.all(motion.q[motion.t <= 1.0] == 0.0)
    assert motion.q[-1, 0] == pytest.approx(GRAVITY / 6, rel=1e-6)
    assert motion.stop_torque[100, 0] == pytest.approx(weight * (1 - motion.t[100]), rel=1e-9)


def test_dry_friction_at_a_stop_holds_what_it_can_and_the_stop_the_rest():
    weight, F = 2.0 * GRAVITY, 3.0
    motion = simulate(falling(coulomb=F), 3.0, [0.0], stops=dy.HardStops(), torque=lambda t: [weight * t])
    assert kinds(motion) == ["leaves its lower stop"]
    assert motion.events[0].time == pytest.approx(1 + F / weight, abs=1e-7)
    assert np.all(np.abs(motion.friction) <= F * (1 + 1e-8))
    assert motion.friction[0, 0] == -F
    assert motion.stop_torque[0, 0] == pytest.approx(weight - F, rel=1e-12)
    assert np.all(motion.stop_torque >= 0.0)
    assert np.abs(motion.energy_error).max() < 1e-7


def test_a_push_that_comes_and_goes_at_a_stop_throws_the_joint_off_and_it_comes_back():
    motion = simulate(falling(), 2.0, [0.0], stops=dy.HardStops(), torque=lambda t: [60.0 if 1.0 < t < 1.05 else 0.0])
    assert kinds(motion) == ["leaves its lower stop", "hits its lower stop", "rests at its lower stop"]
    assert motion.events[0].time == pytest.approx(1.0, abs=1e-9)


def test_a_peak_beyond_the_stop_inside_one_step_is_not_stepped_over():
    # no reported point and no end of a step needs to lie beyond the stop: the throw just reaches over it
    h = 0.5
    motion = simulate(
        falling(lower=-np.inf, upper=h - 1e-6), [0.0, 1.0], v0=[np.sqrt(2 * GRAVITY * h)], stops=dy.HardStops(0.5)
    )
    assert kinds(motion)[0] == "hits its upper stop"
    assert motion.events[0].time == pytest.approx(np.sqrt(2 * h / GRAVITY), abs=1e-3)


def test_an_impact_throws_all_joints_of_a_chain_as_one_impulse_does():
    robot = chain((-np.inf, 0.3), (-np.inf, np.inf), (-np.inf, np.inf))
    motion = simulate(robot, 0.2, [0.0, 0.2, -0.4], [2.0, -1.0, 0.5], stops=dy.HardStops(0.4))
    hit = motion.events[0]
    assert (hit.kind, hit.joint) == ("hits its upper stop", "joint0")
    q, before = motion.at(hit.time)
    _, after = motion.at(hit.time + 1e-9)
    column = np.linalg.inv(robot.mass_matrix(q))[:, 0]
    p = 1.4 * before[0] / column[0]
    assert after == pytest.approx(before - column * p, abs=1e-5)
    assert after[0] == pytest.approx(-0.4 * before[0], abs=1e-6)
    lost = robot.kinetic_energy(q, before) - robot.kinetic_energy(q, after)
    assert lost == pytest.approx(0.5 * 0.6 * before[0] * p, rel=1e-5)  # ½ (1 − e) v p
    assert np.abs(motion.energy_error).max() < 1e-6


def brute_force(M, v, sides, restitution):
    """Every set of impulses tried; all answers that satisfy the complementarity."""
    E = np.array([s * np.eye(len(v))[k] for k, s in sides.items()])
    shift = np.array([restitution.get(k, 0.0) * s * v[k] for k, s in sides.items()])
    A, b = E @ np.linalg.solve(M, E.T), E @ v + shift
    found = []
    for size in range(len(sides) + 1):
        for active in itertools.combinations(range(len(sides)), size):
            p, on = np.zeros(len(sides)), list(active)
            if on:
                p[on] = np.linalg.solve(A[np.ix_(on, on)], b[on])
            scale = 1e-9 * np.abs(b).max()
            if np.all(p >= -1e-12) and np.all(b - A @ p <= scale):
                found.append(v - np.linalg.solve(M, E.T @ p))
    return found


def test_impulses_are_those_that_trying_every_set_finds():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 6))
        B = rng.standard_normal((n, n))
        M = B @ B.T + 10.0 ** rng.uniform(-4, 0) * np.eye(n)
        v = rng.uniform(-2, 2, n)
        sides = {int(k): int(rng.choice([-1, 1])) for k in rng.permutation(n)[: rng.integers(1, n + 1)]}
        hitting = {k: rng.uniform(0, 1) for k, s in sides.items() if s * v[k] > 0}
        for k in sides:
            if k not in hitting:
                v[k] = 0.0  # rests
        after = impact(M, v, sides, hitting)
        answers = brute_force(M, v, sides, hitting)
        assert answers
        scale = np.abs(v).max(initial=0.0) + np.abs(after).max()
        assert all(np.abs(a - after).max() <= 1e-6 * scale for a in answers)
        assert after @ M @ after <= v @ M @ v * (1 + 1e-9) + 1e-12
        assert all(s * after[k] <= 1e-9 * scale for k, s in sides.items())


def test_joints_that_hit_at_the_same_instant_are_solved_together():
    robot = chain((-np.inf, 0.2), (-0.2, np.inf))
    motion = simulate(robot, 0.3, v0=[1.0, -1.0], torque=lambda t: [0.0, 0.0], stops=dy.HardStops(0.0))
    within(motion)
    assert motion.complete
    assert np.abs(motion.energy_error).max() < 1e-6


def test_resting_and_sticking_joints_together_stay_complementary():
    limits = ((-0.2, 0.5), (-0.1, 0.1), (-0.3, np.inf))
    robot = chain(*limits, coulomb=0.4)
    free = chain(*limits)
    for machine in (robot, free):
        motion = simulate(
            machine, 3.0, [0.1, 0.0, 0.2], [3.0, -2.0, 1.0], stops=dy.HardStops(0.3),
            torque=lambda t: 4.0 * np.sin(5 * t + np.arange(3)), points=301,
        )  # fmt: skip
        assert motion.complete
        assert {"hits its upper stop", "rests at its upper stop", "leaves its upper stop"} <= set(kinds(motion))
        within(motion)
        upper, lower = (motion.q == motion.robot.limits[x] for x in ("upper", "lower"))
        pushed = motion.stop_torque != 0.0
        assert np.all(motion.stop_torque[upper] <= 0.0)
        assert np.all(motion.stop_torque[lower] >= 0.0)
        assert not np.any(pushed & ~(upper | lower))
        assert np.all(motion.v[pushed] == 0.0)
        assert np.abs(motion.acceleration[pushed]).max() < 1e-9
        assert np.abs(motion.ledger.total - motion.tau).max() < 1e-9
        assert np.abs(motion.energy_error).max() < 1e-5
        if machine is robot:
            assert np.all(np.abs(motion.friction) <= 0.4 * (1 + 1e-6))


def test_two_joints_that_knock_each_other_off_their_stops_come_to_rest():
    # pressed against both stops of a chain, with impacts that pass between the joints
    robot = chain((-np.inf, 0.1), (-0.1, np.inf))
    motion = simulate(robot, 4.0, [0.0, 0.0], [1.0, -2.0], torque=[30.0, -30.0], stops=dy.HardStops(0.5), points=101)
    assert motion.complete
    assert motion.q[-1].tolist() == [0.1, -0.1]
    assert motion.v[-1].tolist() == [0.0, 0.0]
    assert motion.events[-1].time < 3.5


@pytest.mark.parametrize("seed", range(10))
def test_an_impulse_that_stops_a_creeping_joint_moves_the_others_by_their_coupling(seed):
    """M (v⁺ − v⁻) is the impulse: it acts at the joints that are stopped, and nowhere else."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 4))
    M, v = A @ A.T + np.eye(4), rng.normal(size=4)
    v[[1, 3]] = 1e-4, -2e-4
    after = _without_creeping(M, v, {1: -1, 3: 1}, 1e-3)
    assert after[[1, 3]].tolist() == [0.0, 0.0]
    np.testing.assert_allclose((M @ (after - v))[[0, 2]], 0.0, atol=1e-15)
    assert after @ M @ after < v @ M @ v


def test_a_start_at_the_limit_is_taken_and_one_beyond_it_is_refused_by_name():
    at = simulate(falling(lower=0.1), 0.5, [0.1], stops=dy.HardStops())
    assert np.all(at.q == 0.1)
    assert not at.events
    thrown = simulate(falling(lower=0.1), 0.2, [0.1], [-1.0], stops=dy.HardStops(0.5), points=21)
    assert (thrown.events[0].time, thrown.events[0].kind) == (0.0, "hits its lower stop")
    assert thrown.q[-1, 0] == pytest.approx(0.1, abs=0.02)
    with pytest.raises(dy.InputError, match=r"fall starts at 0.05, beyond its lower stop at 0.1"):
        simulate(falling(lower=0.1), 0.5, [0.05], stops=dy.HardStops())
    stops = Stops(falling(lower=0.1), dy.HardStops())
    assert stops.checked_start(np.array([0.1 - 5e-10])).tolist() == [0.1]  # rounding
    with pytest.raises(dy.InputError, match="beyond its lower stop"):
        stops.checked_start(np.array([0.1 - 5e-9]))


def test_a_sampled_controller_sees_bounces_and_rest():
    held = dy.Sampled(lambda t, q, v: [40.0 if t > 0.9 else 0.0], 50.0)
    motion = simulate(falling(), 1.2, [0.3], controller=held, stops=dy.HardStops(0.3), points=241)
    assert motion.complete
    assert kinds(motion)[-2:] == ["rests at its lower stop", "leaves its lower stop"]
    assert motion.events[-1].time == pytest.approx(0.92, abs=1e-9)
    assert kinds(motion).count("rests at its lower stop") == 1
    within(motion)
    assert np.abs(motion.energy_error).max() < 1e-8


def test_a_controller_that_refuses_what_lies_beyond_the_stops_is_never_asked_about_it_for_good():
    def careful(_t, q, _v):
        if q[0] < -1e-9:
            raise ValueError("the floor is broken")
        return [0.0]

    motion = simulate(falling(), 1.0, [0.5], controller=careful, stops=dy.HardStops(0.5))
    assert motion.complete
    assert kinds(motion).count("hits its lower stop") > 2


def test_a_resumed_motion_goes_on_from_the_stop_as_if_it_had_not_been_cut():
    whole = simulate(falling(), 2.0, [0.5], stops=dy.HardStops(0.5), points=201)
    half = simulate(falling(), 0.8, [0.5], stops=dy.HardStops(0.5), points=81)
    both = simulate(falling(), whole.t[whole.t > 0.8], resume=half, stops=dy.HardStops(0.5))
    assert both.q == pytest.approx(whole.q, abs=1e-6)
    assert kinds(both) == kinds(whole)
    assert both.stop_torque == pytest.approx(whole.stop_torque, abs=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [{"restitution": -0.1}, {"restitution": 1.1}, {"restitution": np.nan}, {"restitution": "soft"}, {"restitution": True},
     {"rest_speed": 0.0}, {"rest_speed": -1.0}, {"rest_speed": np.inf}, {"rest_speed": None}],
)  # fmt: skip
def test_impossible_stops_are_refused(wrong):
    with pytest.raises(dy.InputError, match=next(iter(wrong))):
        dy.HardStops(**wrong)


def test_robots_without_limits_or_without_a_range_are_refused_and_fixed_steps_name_what_to_use():
    with pytest.raises(dy.InputError, match="no joint with limits"):
        simulate(dy.load("planar_2r_melchiorri"), 1.0, stops=dy.HardStops())
    with pytest.raises(dy.InputError, match="'fall' has an empty range"):
        simulate(falling(lower=0.2, upper=0.2), 1.0, [0.2], stops=dy.HardStops())
    with pytest.raises(dy.InputError, match=r"use method='DOP853', or compliant stops; dynamis.joint_stops\("):
        simulate(falling(), 1.0, [0.5], stops=dy.HardStops(), method="rk4", step=1e-3)


@pytest.mark.parametrize("stops", ["hard", "compliant", True, dy.HardStops, [1.0, 1.0]])
def test_what_is_no_object_of_stops_is_refused_with_the_names_of_those_that_are(stops):
    robot = dy.load("scara")
    text = r"dynamis.HardStops\(\) is for rigid stops, dynamis.joint_stops\(robot, …\) gives compliant ones; got "
    for run in (dy.simulate, dy.rollouts):
        with pytest.raises(dy.InputError, match=text):
            run(robot, 0.1, np.zeros(4), stops=stops)
    with pytest.raises(dy.InputError, match=r"cannot be HardStops: dynamis\.joint_stops"):
        dy.rollouts(robot, 0.1, np.zeros(4), stops=dy.HardStops())
