"""Exciting motions: inside their limits at every time, better than random ones, the same for the same seed."""

from types import SimpleNamespace

import numpy as np
import pytest
from floating import floating

import dynamis as dy
from dynamis.errors import InputError, NameLookupError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.excitation import CRITERIA, Box, HalfSpace, Sphere, above, design_excitation
from dynamis.identification.excitation.basis import Fourier
from dynamis.identification.excitation.limits import joint_rows, torque_rows
from dynamis.identification.excitation.search import Checker
from dynamis.identification.excitation.start import find_start
from dynamis.identification.linear_model import LinearModel

ARM = dy.load("planar_2r_melchiorri")
PUMA = dy.load("puma560")
PANDA = dy.load("panda")
QUICK = {"restarts": 1, "duration": 5.0, "harmonics": 3}


@pytest.fixture(scope="module")
def bases():
    return {robot.name: base_parameters(LinearModel(robot)) for robot in (ARM, PUMA, PANDA)}


def design(bases, robot=ARM, **options):
    return design_excitation(bases[robot.name], **{**QUICK, **options})


def assert_inside(robot, found, velocity=np.inf, acceleration=np.inf, effort=np.inf, position=None, margin=0.05):
    """At fifty times as many points as were looked at, with the robot's own torques."""
    t = np.linspace(0.0, found.duration, 50_001)
    q, v, a = found.at(t)
    own = robot.limits
    low, high = (
        (own["lower"], own["upper"])
        if position is None
        else (np.maximum(own["lower"], position[0]), np.minimum(own["upper"], position[1]))
    )
    ended = np.isfinite(low) & np.isfinite(high)
    half = np.where(ended, 0.5 * margin * (np.where(ended, high, 1.0) - np.where(ended, low, 0.0)), 0.0)
    assert (q >= low + half - 1e-12).all()
    assert (q <= high - half + 1e-12).all()
    rest = 1.0 - margin
    assert (np.abs(v) <= rest * np.minimum(own["velocity"], velocity) * (1.0 + 1e-12)).all()
    assert (np.abs(a) <= rest * acceleration * (1.0 + 1e-12)).all()
    tau = robot.inverse_dynamics(q, v, a)
    assert (np.abs(tau) <= rest * np.minimum(own["effort"], effort) * (1.0 + 1e-12)).all()
    for x in (v, a):
        assert np.abs(x[[0, -1]]).max() <= 1e-12 * (1.0 + np.abs(x).max())
    return t, q, v, a, tau


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["fourier", "spline"])
def test_motions_are_inside_all_limits_at_every_time(bases, kind, seed):
    rng = np.random.default_rng(seed)
    limits = {
        "velocity": rng.uniform(1.0, 4.0, 2),
        "acceleration": rng.uniform(3.0, 20.0, 2),
        "effort": rng.uniform(1500.0, 4000.0, 2),
    }
    found = design(bases, kind=kind, seed=seed, **limits)
    assert_inside(ARM, found, **limits)
    assert found.condition < found.condition_before


@pytest.mark.parametrize(
    "hostile",
    [
        {"velocity": 1e-3},
        {"acceleration": 1e-3},
        {"position": ((0.5, -0.2), (0.51, -0.19))},
        {"velocity": 0.1, "acceleration": 100.0, "position": (-0.3, 0.1)},
        {"effort": (700.0, 250.0)},
        {"margin": 0.0, "velocity": 2.0},
        {"margin": 0.9},
        {"duration": 0.2},
        {"duration": 300.0, "velocity": 0.5},
    ],
    ids=str,
)
def test_hostile_limits_hold_too(bases, hostile):
    narrow = {key: value for key, value in hostile.items() if key != "duration"}
    for kind in ("fourier", "spline"):
        found = design(bases, kind=kind, seconds=0.2, **hostile)
        assert_inside(ARM, found, **narrow)


def test_an_arm_in_space_with_its_own_limits_beats_random_motions(bases):
    found = design(bases, PANDA, duration=10.0)
    assert_inside(PANDA, found)
    assert found.condition < 0.6 * found.condition_before
    assert set(found.used) == {"position", "velocity", "torque"}
    assert all(0.0 < share <= 95.0 for kind in found.used.values() for share in kind.values())


def test_frames_stay_where_they_may_be(bases):
    tip = PANDA.link_names[-1]
    regions = [
        Box((0.2, -0.4, -np.inf), (0.7, 0.4, 0.9), "panda_link8"),
        Sphere((0.4, 0.0, 0.4), 0.1, "panda_link8"),
        *above(PANDA, 0.15),
    ]
    found = design(bases, PANDA, seconds=2.0, regions=regions)
    _, q, *_ = assert_inside(PANDA, found)
    p = PANDA.pose(q, "panda_link8")[:, :3, 3]
    assert (p[:, 0] >= 0.2).all()
    assert (p[:, 0] <= 0.7).all()
    assert (np.abs(p[:, 1]) <= 0.4).all()
    assert (p[:, 2] <= 0.9).all()
    assert (np.linalg.norm(p - [0.4, 0.0, 0.4], axis=1) >= 0.1).all()
    for name in ("panda_link5", "panda_link7", tip):
        assert (PANDA.pose(q, name)[:, 2, 3] >= 0.15).all()


def test_a_small_box_is_found_and_kept():
    found = design_excitation(ARM, regions=[Box((0.5, 0.9, -1.0), (0.56, 0.96, 1.0))], **QUICK)
    p = ARM.pose(found.at(np.linspace(0.0, 5.0, 20_001))[0])[:, :3, 3]
    assert p[:, 0].min() >= 0.5
    assert p[:, 0].max() <= 0.56
    assert p[:, 1].min() >= 0.9
    assert p[:, 1].max() <= 0.96
    assert np.ptp(p[:, :2], axis=0).min() > 0.02


def test_constraints_of_ones_own_hold(bases):
    def little_energy(robot, q, v, a):
        return robot.kinetic_energy(q, v) - 20.0

    def behind_each_other(robot, q, v, a):
        return np.array([q[0] - q[1] - 1.0, q[1] - q[0] - 1.0])

    found = design(bases, constraints=[little_energy, behind_each_other])
    q, v, _ = found.at(np.linspace(0.0, 5.0, 50_001))
    assert ARM.kinetic_energy(q, v).max() <= 20.0
    assert np.abs(q[:, 0] - q[:, 1]).max() <= 1.0
    assert [use.name for use in found.uses if use.kind == "constraint"] == [
        "little_energy",
        "behind_each_other[0]",
        "behind_each_other[1]",
    ]


def test_a_given_start_is_where_it_starts_and_ends(bases):
    for kind in ("fourier", "spline"):
        found = design(bases, kind=kind, start=(0.3, -0.4), velocity=3.0)
        q, v, a = found.at(np.array([0.0, found.duration]))
        np.testing.assert_allclose(q, [[0.3, -0.4]] * 2, atol=1e-12)
        np.testing.assert_allclose([v, a], 0.0, atol=1e-11)
        np.testing.assert_allclose(found.start, [0.3, -0.4], atol=1e-14)


def test_periodic_motions_go_on_where_they_end(bases):
    found = design(bases, periodic=True, velocity=3.0)
    t, q, v, _ = found.sample(200.0, repeats=3)
    assert t[-1] == pytest.approx(15.0)
    np.testing.assert_allclose(q[1000:2001], q[:1001], atol=1e-9)
    np.testing.assert_allclose(np.gradient(q, t, axis=0)[5:-5], v[5:-5], atol=2e-3)
    assert np.abs(v).max() <= 0.95 * 3.0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_criterion_improves(bases, criterion):
    found = design(bases, criterion=criterion, velocity=3.0, acceleration=15.0)
    assert_inside(ARM, found, velocity=3.0, acceleration=15.0)
    assert found.history[-1] < found.history[0]
    assert (np.diff(found.history) <= 0.0).all()


def test_information_grows_where_it_is_the_criterion(bases):
    """D-optimal motions have smaller confidence ellipsoids than well-conditioned ones, and these a better condition."""
    base = bases[ARM.name]
    by = {name: design(bases, criterion=name, velocity=3.0) for name in ("condition", "d-optimal")}
    volumes = {}
    for name, found in by.items():
        X = base.regressor(*found.sample(50.0)[1:]).reshape(-1, base.rank)
        volumes[name] = -np.linalg.slogdet(X.T @ X)[1]
    assert volumes["d-optimal"] < volumes["condition"]
    assert by["condition"].condition < by["d-optimal"].condition


def test_the_same_seed_gives_the_same_motion(bases):
    first, again, other = (design(bases, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.coefficients, again.coefficients)
    assert first.history == again.history
    assert np.abs(first.coefficients - other.coefficients).max() > 1e-3


def test_when_time_is_over_the_best_so_far_is_returned_inside(bases):
    found = design(bases, PUMA, seconds=1e-3)
    assert found.status == "stopped at the time limit"
    assert np.isfinite(found.condition)
    assert_inside(PUMA, found)


@pytest.mark.parametrize("after", [1, 12])
def test_an_interruption_keeps_the_best_so_far(bases, after):
    calls = []

    def progress(share, text):
        calls.append((share, text))
        if len(calls) == after:
            raise KeyboardInterrupt

    found = design(bases, velocity=3.0, progress=progress)
    assert found.status == "interrupted: best so far"
    assert found.condition <= found.condition_before * (1.0 + 1e-9)
    assert_inside(ARM, found, velocity=3.0)


def test_progress_tells_the_criterion(bases):
    told = []
    design(bases, progress=lambda share, text: told.append((share, text)))
    shares = [share for share, _ in told]
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert shares[-1] == 1.0
    assert "best" in told[0][1]
    assert told[-1][1].startswith("condition")


def test_extents_hold_between_the_points_of_the_grid():
    """Of motions that peak between the points, beyond what is seen at them."""
    basis = Fourier(3.0, 12, periods=3)
    rows = [*joint_rows(ARM, np.zeros(2), 0.0, {"velocity": 5.0, "acceleration": 50.0}), torque_rows(ARM, 0.0, effort=1000.0)]
    checker = Checker(basis, rows)
    checker.t = np.linspace(0.0, 3.0, 1201)
    checker.phi = basis.matrices(checker.t)
    for seed in range(3):
        c = 0.05 * np.random.default_rng(seed).normal(size=(basis.size, 2))
        phi = basis.matrices(np.linspace(0.0, 3.0, 60_001))
        state = [x @ c for x in phi]
        for extent in checker.extents(np.zeros(2), c):
            values = extent.rows.values(*state)
            assert (values.max(axis=0) <= extent.highest).all()
            assert (values.min(axis=0) >= extent.lowest).all()
            assert (extent.highest - values.max(axis=0) < 0.05 * np.ptp(values, axis=0)).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"start": (0.0, 4.0), "position": (-2.0, 2.0)},
            "start= violates a limit at rest: position of 'joint2' is 4, allowed is",
        ),
        (
            {"start": (0.0, 0.0), "regions": [HalfSpace((1, 0, 0), 10.0)]},
            "start= violates a limit at rest: place of 'distance to the wall of",
        ),
        ({"start": (0.0, 0.0), "effort": 100.0}, "torque of 'joint1' is"),
        ({"regions": [Box((5, 5, 5), (6, 6, 6))]}, "no configuration at rest satisfies all limits: .* place of"),
        ({"start": (0.0, 0.0, 0.0)}, "start= takes 2 joint positions"),
        ({"start": (0.0, np.nan)}, "non-finite"),
        ({"position": (1.0, -1.0)}, "'joint1' has no range"),
        ({"position": 3.0}, "position= takes"),
        ({"velocity": -1.0}, "velocity must be positive"),
        ({"velocity": (1.0, 2.0, 3.0)}, "velocity must be one number for all joints or 2"),
        ({"margin": 1.0}, "margin must be a fraction"),
        ({"seconds": 0.0}, "seconds must be positive"),
        ({"restarts": 0}, "restarts must be at least 1"),
        ({"restarts": 1.5}, "take integers"),
        ({"seed": -1}, "seed at least 0"),
        ({"kind": "zigzag"}, "choose 'fourier' or 'spline'"),
        ({"kind": "spline", "periodic": True}, "spline motions start and end at rest"),
        ({"kind": "spline", "harmonics": 2.5}, "must be an integer"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"effort": 5.0, "torque": False}, "exclude each other"),
        ({"regions": [(0, 1)]}, "regions= takes Box"),
        ({"constraints": ["q < 0"]}, "constraints= takes functions"),
        ({"noise": -1.0}, "noise="),
        ({"regions": 5}, "regions= takes a list"),
        ({"constraints": 5}, "constraints= takes a list"),
        ({"duration": 1e-300}, "duration must be between"),
        ({"constraints": [lambda robot, q, v, a: q[0] if q[0] > 0 else 0.0]}, "use np.where"),
        ({"constraints": [lambda robot, q, v, a: 1.0 + 0.0 * q[0]]}, "constraint of '<lambda>' at 1, allowed is -inf to 0"),
    ],
    ids=lambda x: x if isinstance(x, str) else "-".join(x),
)
def test_bad_input_says_what_to_do(bases, options, sentence):
    with pytest.raises(InputError, match=sentence):
        design(bases, **options)


def test_other_things_cannot_be_excited():
    with pytest.raises(NameLookupError, match="criterion"):
        design_excitation(ARM, criterion="nice")
    with pytest.raises(InputError, match="BaseParameters, got str"):
        design_excitation("planar_2r_melchiorri")
    with pytest.raises(InputError, match="spherical or free joint"):
        design_excitation(floating("planar_2r_melchiorri"))


def always_free(*_, **__):
    return SimpleNamespace(free=True)


@pytest.mark.filterwarnings("ignore:the motion excites the parameters less")  # in little time
def test_links_do_not_collide_along_a_motion():
    pytest.importorskip("coal", reason="coal is not installed: pip install coal")
    robot = dy.load("ur5e")
    scene = dy.collision.Scene(robot, obstacles={"floor": dy.collision.Obstacle("half_space")}, margin=0.01)
    options = {"duration": 4.0, "harmonics": 2, "restarts": 1, "seconds": 0.8}
    careless, careful = (design_excitation(robot, collision=x, **options) for x in (None, scene))
    assert scene.in_collision(careless.sample(100.0)[1]).any()
    assert not scene.in_collision(careful.sample(100.0)[1]).any()
    assert careful.condition < careful.condition_before * 10.0
    with pytest.raises(dy.InputError, match=r"start= is in collision: .* overlap by \S+ m; choose"):
        design_excitation(robot, collision=scene, start=[0.0, 0.5, 0.5, 0.0, 0.0, 0.0], **options)
    with pytest.raises(dy.InputError, match="a Scene of this robot"):
        design_excitation(dy.load("panda"), collision=scene, **options)


def test_a_motion_worse_than_a_random_one_is_warned_of(bases):
    scene = SimpleNamespace(robot=ARM, pairs=(), in_collision=lambda q: (np.abs(q) > 0.02).any(axis=1), along=always_free)
    with pytest.warns(RuntimeWarning, match="collisions leave little room about this start; pass another start="):
        found = design(bases, collision=scene, start=(0.0, 0.0), seconds=1.0)
    assert found.condition > found.condition_before
    assert np.abs(found.sample(1000.0)[1]).max() <= 0.02


@pytest.mark.filterwarnings("ignore:the motion excites the parameters less")
def test_a_motion_that_collides_between_the_points_of_the_search_is_made_smaller(bases):
    peaks = []

    def along(motion, samples):
        peaks.append(np.abs(motion.at(np.linspace(0.0, motion.duration, samples))[0]).max())
        return SimpleNamespace(free=peaks[-1] < 0.9995 * peaks[0])

    scene = SimpleNamespace(robot=ARM, pairs=(), in_collision=lambda q: np.zeros(len(q), bool), along=along)
    found = design(bases, collision=scene, start=(0.0, 0.0), seconds=1.0, restarts=1)
    reached = np.abs(found.sample(1000.0)[1]).max()
    assert 0.998 * peaks[0] < reached < 0.9995 * peaks[0]


@pytest.mark.filterwarnings("ignore:the motion excites the parameters less")  # without the distances
def test_a_search_that_sees_distances_is_better_than_one_made_smaller(bases):
    walls = SimpleNamespace(
        robot=ARM,
        pairs=(("tip", "wall"), ("base", "wall")),
        margin=0.01,
        in_collision=lambda q: distances(q).min(axis=1) <= 0.01,
        along=always_free,
    )

    def distances(q, within=np.inf):
        return np.minimum(np.stack([0.4 - np.abs(q[:, 0] - 0.5 * q[:, 1]), np.full(len(q), 0.011)], axis=1), within)

    def gradients(q, within):
        s = np.sign(q[:, 0] - 0.5 * q[:, 1])
        slopes = np.stack([np.stack([-s, 0.5 * s], axis=1), np.zeros_like(q)], axis=1)
        return slopes * (distances(q) < within)[:, :, None]

    walls.distances, walls.distance_gradients = distances, gradients
    unseen = SimpleNamespace(robot=ARM, pairs=(), in_collision=walls.in_collision, along=always_free)
    found, reduced = (design(bases, collision=x, start=(0.0, 0.0), seconds=20.0, restarts=2) for x in (walls, unseen))
    assert not walls.in_collision(found.sample(1000.0)[1]).any()
    assert found.condition < reduced.condition


def test_a_colliding_motion_is_reduced_towards_a_free_one():
    basis = Fourier(5.0, 3)
    checker = Checker(basis, joint_rows(ARM, np.zeros(2), 0.05, {}), lambda q: q[:, 0] > 0.3)
    rng = np.random.default_rng(0)
    c = 0.2 * rng.normal(size=(basis.size, 2))
    free = np.stack([np.zeros(basis.size), c[:, 1]], axis=1)
    found, factor = checker.inside(np.zeros(2), c, free)
    assert 0.0 < factor < 1.0
    np.testing.assert_allclose(found[:, 1], c[:, 1], atol=1e-15)


def test_a_start_with_room_is_chosen():
    rows = joint_rows(ARM, np.zeros(2), 0.05, {})
    found = find_start(rows, np.zeros(2), np.random.default_rng(0), lambda q: q[:, 0] < -0.05)
    assert found[0] > 0.1
