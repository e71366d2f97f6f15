"""Dry friction that truly sticks: against closed forms, complementarity, and every mode tried by brute force."""

import itertools

import numpy as np
import pytest
from joint_zoo import NAMES, zoo_robot
from small_machines import GRAVITY, block, blocks, pendulum

import dynamis as dy
from dynamis.simulation import stick_slip
from dynamis.simulation.friction import laws_of
from dynamis.simulation.hard_stops import AtStop
from dynamis.simulation.simulate import simulate
from dynamis.simulation.stick_slip import UnsettledError, settle, solve


def is_right(M, r, laws, directions):
    a, d = solve(M, r, np.zeros(len(r)), directions, laws)
    for k, s in directions.items():
        low, high = laws[k].holding
        if (not low - 1e-9 <= d[k] <= high + 1e-9) if s == 0 else a[k] * s < -1e-9:
            return None
    return a


def random_case(rng, n):
    A = rng.standard_normal((n, n))
    laws = {k: dy.Coulomb(*rng.uniform(0.0, 2.0, 2)) for k in range(n)}
    return A @ A.T + 10.0 ** rng.uniform(-4, 0) * np.eye(n), rng.uniform(-4, 4, n), laws


def test_settled_directions_are_the_answer_that_trying_every_mode_finds():
    rng = np.random.default_rng(0)
    for _ in range(150):
        n = int(rng.integers(1, 5))
        M, r, laws = random_case(rng, n)
        found = is_right(M, r, laws, settle(M, r, np.zeros(n), laws, set(range(n))))
        modes = (dict(enumerate(signs)) for signs in itertools.product((-1, 0, 1), repeat=n))
        answers = [a for a in (is_right(M, r, laws, mode) for mode in modes) if a is not None]
        assert found is not None
        assert answers
        # several modes may fit where one is on the edge of another: the accelerations are the same
        assert all(np.abs(M @ (a - found)).max() < 1e-7 for a in answers)


def nearly_degenerate(rng, n):
    """Masses of very different size, tightly coupled, and pushes that lie on the edge of what holds."""
    scale = 10.0 ** rng.uniform(-3, 3, n)
    A = rng.standard_normal((n, max(1, n - 1)))
    M = (A @ A.T + 1e-7 * np.eye(n)) * np.outer(scale, scale)
    laws = {}
    for k in range(n):
        dry = dy.Coulomb(*(rng.uniform(0.0, 2.0, 2) * scale[k]))
        laws[k] = (dry, AtStop(1, dry), AtStop(-1), AtStop(1))[rng.integers(4)]
    r = rng.uniform(-4, 4, n) * scale
    for k in np.flatnonzero(rng.uniform(size=n) < 0.3):
        edges = [x for x in laws[k].holding if np.isfinite(x)]
        r[k] = edges[rng.integers(len(edges))]
    return M, r, laws


def fits(M, r, laws, directions):
    return not stick_slip._violations(M, r, np.zeros(len(r)), directions, laws, set(laws))


def test_settling_finds_an_answer_in_nearly_degenerate_systems_with_stops_too():
    rng = np.random.default_rng(3)
    for _ in range(300):
        n = int(rng.integers(1, 5))
        M, r, laws = nearly_degenerate(rng, n)
        found = settle(M, r, np.zeros(n), laws, set(range(n)))
        answers = [s for s in itertools.product((-1, 0, 1), repeat=n) if fits(M, r, laws, dict(enumerate(s)))]
        # a joint at its stop never goes through it
        assert all(found[k] != law.side for k, law in laws.items() if isinstance(law, AtStop))
        if answers:
            assert fits(M, r, laws, found)
            torques = [solve(M, r, np.zeros(n), dict(enumerate(s)), laws)[1] for s in answers]
            d = solve(M, r, np.zeros(n), found, laws)[1]
            assert min(np.abs(x - d).max() for x in torques) <= 1e-9 * np.abs(r).max()


def test_where_exchanging_goes_in_circles_all_choices_are_tried(monkeypatch):
    rng = np.random.default_rng(4)
    monkeypatch.setattr(stick_slip, "MAX_ITERATIONS", 0)
    for _ in range(30):
        M, r, laws = random_case(rng, 3)
        assert is_right(M, r, laws, settle(M, r, np.zeros(3), laws, {0, 1, 2})) is not None


def test_what_cannot_be_settled_ends_the_motion_with_the_names_of_the_joints(monkeypatch):
    monkeypatch.setattr(stick_slip, "MAX_ITERATIONS", 0)
    monkeypatch.setattr(stick_slip, "MAX_ENUMERATED", 0)
    with pytest.raises(UnsettledError, match=r"\(0,\)"):
        settle(np.eye(1), np.array([9.0]), np.zeros(1), {0: dy.Coulomb(1, 1)}, {0})
    motion = simulate(block(2.0, coulomb=3.0), 2.0, torque=lambda t: [9.0])
    assert motion.status.startswith("stopped at t = 0 s: no consistent stick-slip state at slide")
    assert len(motion) == 1


def test_settling_ends_with_a_right_answer_for_many_joints_at_once():
    rng = np.random.default_rng(1)
    for _ in range(100):
        M, r, laws = random_case(rng, 12)
        assert is_right(M, r, laws, settle(M, r, np.zeros(12), laws, set(range(12)))) is not None


def test_a_moving_joint_keeps_the_direction_of_its_velocity():
    M, r, laws = np.eye(2), np.array([9.0, 0.5]), {0: dy.Coulomb(1, 1), 1: dy.Coulomb(1, 1)}
    assert settle(M, r, np.array([-0.1, 0.0]), laws, {1}) == {0: -1, 1: 0}


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "LSODA", "BDF"])
def test_a_sliding_block_stops_where_and_when_mechanics_says_and_then_stands_exactly_still(method):
    v0, F, m = 1.5, 4.0, 2.0
    motion = simulate(block(m, coulomb=F), 2.0, v0=[v0], method=method)
    (stop,) = motion.events
    assert (stop.kind, stop.joint) == ("stops", "slide")
    assert stop.time == pytest.approx(m * v0 / F, abs=1e-7)
    after = motion.t > stop.time
    assert motion.q[-1, 0] == pytest.approx(0.5 * m * v0**2 / F, abs=1e-7)
    assert np.all(motion.v[after] == 0.0)
    assert np.ptp(motion.q[after]) == 0.0
    assert np.all(motion.friction[after] == 0.0)


def test_on_a_slope_the_block_holds_below_the_angle_of_friction_and_slides_beyond_it():
    m, slope = 2.0, 0.3
    weight = m * GRAVITY * np.sin(slope)
    held = simulate(block(m, slope, coulomb=1.01 * weight), 1.0)
    assert np.all(held.q == 0.0)
    assert np.all(held.v == 0.0)
    assert held.friction == pytest.approx(np.full((501, 1), -weight), rel=1e-12)
    gone = simulate(block(m, slope, coulomb=0.9 * weight), 1.0)
    assert gone.q[-1, 0] == pytest.approx(-0.5 * 0.1 * weight / m, rel=1e-9)
    # thrown upwards it comes to rest, and comes back only where friction is too weak to hold it
    up = simulate(block(m, slope, coulomb=0.5 * weight), 1.0, v0=[1.0])
    top = m * 1.0 / (1.5 * weight)
    assert [e.kind for e in up.events] == ["reverses"]  # said once, not as a stop and a start of the same instant
    assert up.events[0].time == pytest.approx(top, abs=1e-9)
    assert up.q[-1, 0] == pytest.approx(0.5 * top - 0.25 * weight / m * (1.0 - top) ** 2, abs=1e-8)


def test_a_pendulum_loses_the_same_amplitude_at_every_swing_and_stays_off_centre():
    # small angles: each half swing takes 2 F / (m g l) off
    F, q0 = 1e-4 * GRAVITY, 1.05e-3
    seen = simulate(pendulum(coulomb=F), 20.0, [q0], rtol=1e-10, atol=1e-14)
    assert [e.kind for e in seen.events] == [*4 * ["reverses"], "stops"]
    stops = [e.time for e in seen.events]
    motion = simulate(pendulum(coulomb=F), [0.0, *stops, 20.0], [q0], rtol=1e-10, atol=1e-14)
    turns = motion.q[1:-1, 0]
    expected = [q0 - 2e-4 * k for k in range(1, 6)]
    assert np.abs(turns) == pytest.approx(expected, abs=1e-8)
    assert stops[0] == pytest.approx(np.pi / np.sqrt(GRAVITY), rel=1e-5)
    assert abs(motion.q[-1, 0]) == pytest.approx(5e-5, abs=1e-8)
    assert motion.v[-1, 0] == 0.0


def test_a_ramp_starts_the_joint_at_the_instant_it_exceeds_what_holds():
    motion = simulate(block(2.0, coulomb=3.0), 3.0, torque=lambda t: [2.0 * t])
    (start,) = motion.events
    assert start.kind == "starts"
    assert start.time == pytest.approx(1.5, abs=1e-8)
    assert motion.q[-1, 0] == pytest.approx(2.0 * 1.5**3 / 6 / 2.0, rel=1e-6)


def test_a_push_that_comes_and_goes_while_all_is_still_is_not_stepped_over():
    motion = simulate(block(2.0, coulomb=3.0), 10.0, torque=lambda t: [9.0 if 4.0 < t < 4.1 else 0.0])
    assert [e.kind for e in motion.events] == ["starts", "stops"]
    assert motion.events[0].time == pytest.approx(4.0, abs=1e-9)
    # 0.3 m/s are gained in 0.1 s and lost in 0.2 s
    assert motion.events[1].time == pytest.approx(4.3, abs=1e-6)
    assert motion.q[-1, 0] == pytest.approx(0.045, abs=1e-6)


def test_a_short_reversal_between_two_long_steps_is_found():
    # v would be t² − 0.9999 t + … without friction: the joint dips below zero for a moment only
    m, F = 2.0, 0.2
    low, high = 0.98, 1.02
    motion = simulate(block(m, coulomb=F), 2.0, v0=[low * high], torque=lambda t: [m * (2 * t - low - high) + F], points=401)
    assert [e.kind for e in motion.events] == ["stops", "starts"]
    assert motion.events[0].time == pytest.approx(low, abs=1e-6)
    assert motion.events[1].time == pytest.approx((low + high) / 2, abs=1e-6)


def test_a_sine_that_exceeds_friction_now_and_then_moves_the_joint_each_time_it_does():
    motion = simulate(block(2.0, coulomb=2.0), 4.0, torque=lambda t: [3.0 * np.sin(2 * np.pi * t)])
    starts = [e.time for e in motion.events if e.kind == "starts"]
    assert len(starts) == 8
    assert starts[0] == pytest.approx(np.arcsin(2 / 3) / (2 * np.pi), abs=1e-7)


def test_a_block_pulled_by_a_spring_sticks_and_slips_in_equal_periods():
    m, k, speed = 1.0, 50.0, 0.1
    law = dy.Stribeck(2.0, 4.0, 1e-3)
    motion = simulate(
        block(m), 12.0, controller=lambda t, q, _v: k * (speed * t - q), friction={"slide": law}, points=1201, rtol=1e-7
    )
    starts = np.array([e.time for e in motion.events if e.kind == "starts"])
    assert starts[0] == pytest.approx(4.0 / k / speed, abs=1e-6)
    assert len(starts) >= 5
    # the first slip starts with the spring exactly at 4 N, and so do all that follow
    assert np.ptp(np.diff(starts)[1:]) < 1e-4
    stretch = k * (speed * starts - np.interp(starts, motion.t, motion.q[:, 0]))
    assert stretch == pytest.approx(np.full(len(starts), 4.0), abs=1e-2)
    assert motion.complete


def test_asymmetric_friction_stops_each_direction_with_its_own_force():
    m, F, bias = 2.0, 3.0, 1.0
    for v0, force in ((1.0, 4.0), (-1.0, 2.0)):
        motion = simulate(block(m, coulomb=F, coulomb_bias=bias), 2.0, v0=[v0])
        assert motion.events[0].time == pytest.approx(m / force, abs=1e-8)
    for push, moves in ((3.9, False), (4.1, True), (-1.9, False), (-2.1, True)):
        assert bool(simulate(block(m, coulomb=F, coulomb_bias=bias), 0.5, torque=[push]).q[-1, 0]) is moves


def test_joints_that_start_and_stop_at_the_same_instant_all_do():
    robot = blocks(4, coulomb=3.0)
    motion = simulate(robot, 4.0, torque=lambda t: np.full(4, 6.0 if 1.0 < t < 2.0 else 0.0))
    assert motion.complete
    for kind, time in (("starts", 1.0), ("stops", 3.0)):
        found = [e for e in motion.events if e.kind == kind]
        assert {e.joint for e in found} == set(robot.coordinate_names)
        assert [e.time for e in found] == pytest.approx([time] * len(found), abs=1e-6)
    assert motion.q[-1] == pytest.approx(np.full(4, 1.5), abs=1e-6)
    assert np.all(motion.v[-1] == 0.0)
    assert motion.statistics["pieces"] <= 20


def complementary(motion, laws):
    """Whether every reported point has the friction its law allows there."""
    smooth = motion.robot.replace(friction={j: {"coulomb": 0.0, "coulomb_bias": 0.0} for j in motion.robot.joint_names})
    for k, law in laws.items():
        v, d = motion.v[:, k], motion.friction[:, k]
        low, high = law.holding
        still = v == 0.0
        scale = 1e-8 * max(abs(low), abs(high))
        assert np.all(d[still] >= low - scale)
        assert np.all(d[still] <= high + scale)
        for s in (1, -1):
            moving = v * s > 1e-9
            assert d[moving] == pytest.approx([law.sliding(s, x) for x in v[moving]], abs=1e-12)
    rest = smooth.inverse_dynamics(motion.q, motion.v, motion.acceleration) + motion.friction - motion.tau
    return np.abs(rest).max()


def test_the_puma_falls_with_its_friction_in_few_pieces_and_every_point_is_complementary():
    robot = dy.load("puma560")
    motion = simulate(robot, 0.5, [0.0, 0.7, -0.5, 0.3, 0.2, 0.1])
    assert motion.complete
    assert motion.statistics["pieces"] <= 8
    assert complementary(motion, laws_of(robot.model, "model")) < 1e-9
    assert np.all(np.diff(motion.energy) < 1e-7)


def test_a_shaken_puma_starts_and_stops_all_its_joints_and_stays_complementary():
    robot = dy.load("puma560")
    holding = robot.gravity(robot.neutral())
    motion = simulate(
        robot, 2.0, torque=lambda t: holding + 12.0 * np.sin(7 * t) * np.array([1, 1, 1, 0.1, 0.1, 0.1]), points=201
    )
    assert motion.complete
    assert {e.kind for e in motion.events} == {"starts", "stops", "reverses"}
    assert len({(e.time, e.joint) for e in motion.events}) == len(motion.events)
    assert complementary(motion, laws_of(robot.model, "model")) < 1e-9
    assert np.abs(motion.energy_error).max() < 1e-5 * motion.kinetic_energy.max()


@pytest.mark.parametrize("name", NAMES)
def test_every_joint_type_balances_its_energy_with_sticking_friction(name):
    robot = zoo_robot(name)
    motion = simulate(robot, 1.0, robot.random(1), points=101)
    assert motion.complete
    assert np.abs(motion.energy_error).max() < 1e-6 * motion.kinetic_energy.max()
    assert np.abs(motion.ledger.total - motion.tau).max() < 1e-9


def test_friction_never_adds_energy():
    robot = pendulum(coulomb=0.4, coulomb_bias=0.1)
    motion = simulate(robot, 10.0, [2.0], rtol=1e-10, atol=1e-12)
    assert np.all(np.diff(motion.energy) <= 1e-9)
    assert np.all(np.diff(motion.work) <= 1e-12)
    assert np.all(motion.friction * motion.v >= -1e-12)


SLIDE = """
[robot]
name = "axis"
gravity = [0, 0, 0]
[[link]]
link = "carriage"
joint = "x"
type = "prismatic"
axis = [1, 0, 0]
mass = 1.8
viscous = 20
coulomb = 5
"""


@pytest.mark.parametrize("tolerances", [{}, {"rtol": 1e-6, "atol": 1e-8}, {"rtol": 1e-11, "atol": 1e-13}])
def test_a_joint_that_comes_to_rest_under_sliding_friction_stays_there(tolerances):
    """A well-damped controller brings it to where it can just not move the joint; errors of the integrator made it start and
    stop there without end."""

    def servo(t, q, v):
        return 180.0 * (0.1 - q) - 36.0 * v

    motion = simulate(dy.load(SLIDE), 12.0, [0.0], controller=servo, **tolerances)
    assert motion.complete
    assert motion.statistics["pieces"] <= 12
    assert motion.q[-1] == pytest.approx(0.1 - 5.0 / 180.0, abs=1e-6)
    assert motion.v[-1] == 0.0
    later = simulate(dy.load(SLIDE), 12.0, [0.0], controller=lambda t, q, v: servo(t, q, v) + 0.5 * max(0.0, t - 9.0))
    assert [event.kind for event in later.events][-1] == "starts"  # it holds no more than its friction
    assert later.events[-1].time == pytest.approx(9.0, abs=1e-3)
