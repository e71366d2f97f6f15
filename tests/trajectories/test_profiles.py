"""Profiles: what they promise at their ends, the limits they keep, and that nothing within the limits is quicker."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.trajectories import double_s, polynomial, trapezoidal

RNG = np.random.default_rng(3)


def rates(profile, t):
    """Position, velocity, acceleration, jerk."""
    q, v, a = profile.at(t)
    return q, v, a, profile.derivative().at(t)[2]


@pytest.mark.parametrize("order", [3, 5, 7])
def test_a_polynomial_meets_everything_asked_for_at_its_ends(order):
    for _ in range(20):
        asked = RNG.normal(size=(2, 4, 3))
        names = ("velocity", "acceleration", "jerk")[: (order - 1) // 2]
        options = {f"{end}_{name}": asked[e, k + 1] for e, end in enumerate(("start", "end")) for k, name in enumerate(names)}
        T = RNG.uniform(0.1, 5.0)
        made = polynomial(asked[0, 0], asked[1, 0], T, order=order, **options)
        assert made.coefficients.shape == (1, order + 1, 3)
        for e, t in enumerate((0.0, T)):
            for k in range((order + 1) // 2):
                value = rates(made, t)[k]
                assert np.allclose(value, asked[e, k], atol=1e-8 * max(1.0, T**-k))


def test_a_polynomial_refuses_what_its_order_has_no_room_for():
    with pytest.raises(dy.InputError, match="use order 5"):
        polynomial(0.0, 1.0, 1.0, order=3, start_acceleration=1.0)
    with pytest.raises(dy.InputError, match="choose 3, 5 or 7"):
        polynomial(0.0, 1.0, 1.0, order=4)
    with pytest.raises(dy.InputError, match="positive"):
        polynomial(0.0, 1.0, 0.0)
    with pytest.raises(dy.InputError, match="the same length"):
        polynomial([0.0, 1.0], [0.0, 1.0, 2.0], 1.0)
    with pytest.raises(dy.InputError, match="finite"):
        polynomial(0.0, np.nan, 1.0)


@pytest.mark.parametrize(
    ("way", "duration", "pieces"), [(3.0, 3.5, 3), (0.5, 1.0, 2), (0.02, 0.2, 2), (-3.0, 3.5, 3), (0.0, 0.0, 1)]
)
def test_a_trapezoid_is_a_triangle_where_the_way_is_short(way, duration, pieces):
    made = trapezoidal(1.0, 1.0 + way, velocity=1.0, acceleration=2.0)
    assert made.duration == pytest.approx(duration)
    assert len(made.coefficients) == pieces
    assert made.at(made.duration)[0] == pytest.approx(1.0 + way)


def test_a_trapezoid_of_given_duration_keeps_the_limits_given_with_it():
    thirds = trapezoidal(0.0, 3.0, duration=3.0)
    assert np.allclose(thirds.times, [0, 1, 2, 3])
    slow = trapezoidal(0.0, 3.0, duration=3.0, velocity=1.2)
    assert slow.derivative().peaks() == pytest.approx(1.2)
    lazy = trapezoidal(0.0, 3.0, duration=3.0, acceleration=2.0)
    assert lazy.derivative().derivative().peaks() == pytest.approx(2.0)
    for made in (thirds, slow, lazy, trapezoidal(0.0, 3.0, duration=3.0, velocity=9.0)):
        q, v, _ = made.at(made.duration)
        assert (made.duration, q) == (pytest.approx(3.0), pytest.approx(3.0))
        assert v == pytest.approx(0.0, abs=1e-12)
    for options, text in (({"velocity": 0.9}, "requires a velocity above 1"), ({"acceleration": 1.0}, "requires an acceleration of at least 1.33"),
                          ({"acceleration": 1.4, "velocity": 1.1}, "requires a velocity of")):  # fmt: skip
        with pytest.raises(dy.InputError, match=text):
            trapezoidal(0.0, 3.0, duration=3.0, **options)
    with pytest.raises(dy.InputError, match="or a duration"):
        trapezoidal(0.0, 3.0, velocity=1.0)


CASES = {  # way, velocity, acceleration, jerk → pieces
    "all seven": ((10.0, 5.0, 10.0, 30.0), 7),
    "no constant velocity": ((10.0, 20.0, 5.0, 30.0), 6),
    "no constant acceleration": ((10.0, 2.0, 10.0, 10.0), 5),
    "neither": ((1.0, 20.0, 20.0, 30.0), 4),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_double_s_has_the_pieces_there_is_room_for(name, sign):
    (way, v, a, j), pieces = CASES[name]
    made = double_s(2.0, 2.0 + sign * way, velocity=v, acceleration=a, jerk=j)
    assert len(made.coefficients) == pieces
    q, speed, acceleration = made.at(made.duration)
    assert q == pytest.approx(2.0 + sign * way, abs=1e-12)
    assert (speed, acceleration) == (pytest.approx(0.0, abs=1e-10), pytest.approx(0.0, abs=1e-10))


def test_a_double_s_without_limits_met_has_the_closed_form():
    # |jerk| alone: four equal pieces, D = 2 j T³
    assert double_s(0.0, 1.0, velocity=1e3, acceleration=1e3, jerk=4.0).duration == pytest.approx(4.0 * (1.0 / 8.0) ** (1 / 3))
    # the book's example of all seven [Biagiotti & Melchiorri 2008, example 3.9]: D / v + v / a + a / j without end velocities
    assert double_s(0.0, 10.0, velocity=5.0, acceleration=10.0, jerk=30.0).duration == pytest.approx(2.0 + 0.5 + 1 / 3)


def test_an_infinite_limit_of_a_double_s_is_none():
    for v, a in ((np.inf, np.inf), (np.inf, 3.0), (1.5, np.inf)):
        made = double_s(0.0, 7.0, velocity=v, acceleration=a, jerk=4.0, start_velocity=0.4)
        far = double_s(0.0, 7.0, velocity=min(v, 1e3), acceleration=min(a, 1e3), jerk=4.0, start_velocity=0.4)
        assert made.duration == pytest.approx(far.duration, rel=1e-12)
    with pytest.raises(dy.InputError, match="velocity is nan"):
        double_s(0.0, 1.0, velocity=np.nan, acceleration=1.0, jerk=1.0)
    with pytest.raises(dy.InputError, match="jerk is inf"):
        double_s(0.0, 1.0, velocity=1.0, acceleration=1.0, jerk=np.inf)


def test_the_books_double_s_with_velocities_at_its_ends():
    # [Biagiotti & Melchiorri 2008, example 3.9]: T_a = 0.7333, T_v = 1.1433, T_d = 0.8333
    made = double_s(0.0, 10.0, velocity=5.0, acceleration=10.0, jerk=30.0, start_velocity=1.0, end_velocity=0.0)
    spans = np.diff(made.times)
    assert (spans[:3].sum(), spans[3], spans[4:].sum()) == pytest.approx((0.7333, 1.1433, 0.8333), abs=1e-4)


def test_random_profiles_keep_all_limits_meet_their_ends_and_are_the_quickest():
    for _ in range(200):
        v, a, j = RNG.uniform(0.2, 5.0, 3)
        v0, v1 = RNG.uniform(0.0, v, 2) * RNG.integers(0, 2, 2)
        way = RNG.uniform(0.01, 10.0)
        sharp = RNG.random() < 0.3
        try:
            if sharp:
                made = trapezoidal(0.0, way, velocity=v, acceleration=a, start_velocity=v0, end_velocity=v1)
            else:
                made = double_s(0.0, way, velocity=v, acceleration=a, jerk=j, start_velocity=v0, end_velocity=v1)
        except dy.InputError as error:
            assert "requires a distance" in str(error)
            continue
        t = np.linspace(0.0, made.duration, 4001)
        _, speed, acceleration, jerk = rates(made, t)
        tolerance = 1 + 1e-9
        assert (speed.min() > -1e-9, speed.max() <= v * tolerance, abs(acceleration).max() <= a * tolerance) == (True,) * 3
        assert sharp or abs(jerk).max() <= j * tolerance
        start, end = made.at(0.0), made.at(made.duration)
        assert (start[0], start[1], end[0], end[1]) == pytest.approx((0.0, v0, way, v1), abs=1e-9)
        # bang-bang: at each instant the velocity, the acceleration or the jerk is at its limit
        at = (speed > v * (1 - 1e-6)) | (abs(acceleration) > a * (1 - 1e-6)) | (abs(jerk) > j * (1 - 1e-6))
        assert at[1:-1].mean() > 0.995


def test_a_double_s_of_given_duration_is_slower_everywhere():
    quick = double_s(0.0, 1.0, velocity=1.0, acceleration=2.0, jerk=10.0)
    slow = double_s(0.0, 1.0, velocity=1.0, acceleration=2.0, jerk=10.0, duration=2.0 * quick.duration)
    assert slow.at(slow.duration)[0] == pytest.approx(1.0)
    assert slow.derivative().peaks() == pytest.approx(quick.derivative().peaks() / 2.0)
    with pytest.raises(dy.InputError, match="minimum duration"):
        double_s(0.0, 1.0, velocity=1.0, acceleration=2.0, jerk=10.0, duration=0.5)


def test_what_cannot_be_is_refused_with_the_reason():
    with pytest.raises(dy.InputError, match="opposite to the motion"):
        double_s(0.0, 1.0, velocity=1.0, acceleration=1.0, jerk=1.0, start_velocity=-0.5)
    with pytest.raises(dy.InputError, match=r"requires a distance of .* within these limits, not 0.1"):
        double_s(0.0, 0.1, velocity=1.0, acceleration=1.0, jerk=1.0, start_velocity=0.9)
    with pytest.raises(dy.InputError, match="exceeds the limit"):
        double_s(0.0, 1.0, velocity=1.0, acceleration=1.0, jerk=1.0, end_velocity=1.5)
    with pytest.raises(dy.InputError, match="jerk must be positive"):
        double_s(0.0, 1.0, velocity=1.0, acceleration=1.0, jerk=0.0)


def test_slow_profiles_with_quick_ramps_end_at_the_goal_at_rest():
    # ramps shorter than the rounding of the times around them
    for made, goal in (
        (trapezoidal(0.0, 1.0, velocity=1e-6, acceleration=10.0), 1.0),
        (trapezoidal(2.0, -1.0, velocity=1e-6, acceleration=1e6), -1.0),
        (double_s(0.0, 81.5, velocity=1.5e-6, acceleration=2.3e4, jerk=5.9e5), 81.5),
        (double_s(0.0, 81.5, velocity=1.5e-6, acceleration=2.3e4, jerk=5.9e5, duration=1e8), 81.5),
    ):
        q, v, _ = made.at(made.duration)
        assert q == goal
        assert abs(v) < 1e-15
        assert made.at(made.duration / 2.0)[0] == pytest.approx((made.at(0.0)[0] + goal) / 2.0)


@pytest.mark.parametrize("kind", ["trapezoidal", "double S", "slower double S"])
def test_ways_and_limits_of_any_size_end_at_the_goal_within_the_limits(kind):
    rng = np.random.default_rng(11)
    for _ in range(150):
        way = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-9.0, 3.0)
        limits = 10.0 ** rng.uniform(-6.0, 6.0, 3)
        options = dict(zip(("velocity", "acceleration", "jerk"), limits[: 2 if kind == "trapezoidal" else 3], strict=False))
        made = trapezoidal(0.0, way, **options) if kind == "trapezoidal" else double_s(0.0, way, **options)
        if kind == "slower double S":
            slower = 1.0 + rng.exponential(2.0)
            asked = made.duration * slower
            made = double_s(0.0, way, **options, duration=asked)
            assert made.duration == pytest.approx(asked, rel=1e-12)
            limits = limits / slower ** np.arange(1, 4)
        q, v, _ = made.at(made.duration)
        assert q == pytest.approx(way, rel=1e-14)
        assert abs(v) <= 1e-9 * limits[0]
        assert (np.diff(made.times) > 0.0).all()
        rate = made
        for limit in limits[: len(options)]:
            rate = rate.derivative()
            assert rate.peaks() <= limit * (1.0 + 1e-6)
        for k, t in enumerate(made.times[1:-1]):
            (q0, v0, _), (q1, v1, _) = made.on_pieces(t, k), made.on_pieces(t, k + 1)
            assert abs(q1 - q0) <= 1e-12 * abs(way)
            assert abs(v1 - v0) <= 1e-6 * limits[0]


def test_no_way_to_go():
    passing = {"velocity": 2.0, "acceleration": 1.0, "start_velocity": 1.0, "end_velocity": 1.0}
    for made in (trapezoidal(3.0, 3.0, **passing), double_s(3.0, 3.0, **passing, jerk=1.0)):
        assert made.duration == 0.0
        assert made.at(0.0) == (3.0, 1.0, 0.0)
    rest = double_s(3.0, 3.0, velocity=1.0, acceleration=1.0, jerk=1.0, duration=2.0)
    assert rest.duration == 2.0
    assert rest.at(1.0) == (3.0, 0.0, 0.0)
