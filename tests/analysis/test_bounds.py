"""Structural bounds: the lecture's figures, samples that stay inside, and what is refused."""

import json

import numpy as np
import pytest
from floating import floating

import dynamis as dy
from dynamis.analysis.constants import LargestEigenvalue, LeastLargestEigenvalue, SmallestEigenvalue
from dynamis.analysis.dependence import Expressions
from dynamis.analysis.linearised import Functions

QUARTER = np.pi / 2
PRP = {"g": 9.81, "m_1": 3.0, "m_2": 2.0, "m_3": 1.0, "I_2": 0.2, "I_3": 0.1, "d_c2": 0.1, "d_c3": 0.2}
# name: (parameters, lower, upper, seconds)
ROBOTS = {
    "scara": (None, None, None, 5.0),
    "stanford": (None, None, None, 1.0),
    "planar_prp": (PRP, [-1.0, -3.0, 0.2], [1.0, 3.0, 1.5], 5.0),
    "ur5e": (None, None, None, 1.0),
}


@pytest.fixture(scope="module")
def study():
    """The arm and the box of the lecture, slides 49 to 53."""
    return dy.structural_bounds(dy.load("planar_2r_melchiorri"), -QUARTER, QUARTER)


@pytest.fixture(scope="module", params=["scara", "stanford", "planar_prp", "ur5e"])
def case(request):
    parameters, lower, upper, seconds = ROBOTS[request.param]
    robot = dy.load(request.param, parameters=parameters)
    return robot, dy.structural_bounds(robot, lower, upper, seconds=seconds)


def holds(bound, value):
    """Whether the enclosure holds a value, up to the rounding of the value itself."""
    slack = 1e-11 * max(abs(value), 1.0)
    return bound.lower - slack <= value <= bound.upper + slack


# the lecture


def test_printed_norms_of_the_inertia_matrix(study):
    # slide 53
    for norm in (1, np.inf):
        assert study.M_1[norm].value == pytest.approx(117.5, rel=1e-12)
        assert study.M_2[norm].value == pytest.approx(192.5, rel=1e-12)
        assert holds(study.M_1[norm], 117.5)
        assert holds(study.M_2[norm], 192.5)
    assert round(study.M_2[2].value, 2) == 161.26
    assert study.mu_2.value == study.M_2[2].value


def test_printed_bound_of_the_coriolis_terms(study):
    # slide 51: v_b = m_2 a_1 a_C2
    assert study.v_b[1].value == pytest.approx(25.0, rel=1e-9)
    assert holds(study.v_b[1], 25.0)


def test_printed_bound_of_gravity_is_reached(study):
    # slide 52
    g_b = (50 * 0.5 + 50 * 1.0) * 9.81 + 2 * 50 * 9.81 * 0.5
    assert study.g_b[1].value == pytest.approx(g_b, rel=1e-12)
    assert holds(study.g_b[1], g_b)


def test_printed_gravity_bound_is_not_tight_where_the_arm_cannot_stretch_out():
    # slide 52, over a box without θ = 0
    robot = dy.load("planar_2r_melchiorri")
    bounds = dy.structural_bounds(robot, [0.5, 0.5], [1.5, 1.5])
    assert bounds.g_b[1].upper < 0.9 * 1226.25


def test_all_but_the_spectral_coriolis_bound_close_for_the_planar_arm(study):
    assert [b.name for b in study if not b.certified] == ["v_b (2)"]
    assert study.v_b[2].upper < 1.06 * study.v_b[2].value


def test_eigenvalues_depend_on_the_second_joint_only(study):
    # slide 53
    assert study.depends_on == ("joint2",)
    assert study.prismatic_dependence == ()


def test_symbolic_arm_with_values_has_the_same_bounds(study):
    values = {"g": 9.81, "a_1": 1.0, "a_2": 1.0, "l_1": 0.5, "l_2": 0.5, "m_1": 50.0, "m_2": 50.0, "I_1": 10.0, "I_2": 10.0}
    other = dy.structural_bounds(dy.load("planar_2r", parameters=values), -QUARTER, QUARTER)
    for a, b in zip(study, other, strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-9)


@pytest.mark.parametrize(("name", "expected"), [("stanford", ("boom",)), ("scara", ())])
def test_prismatic_joints_that_make_the_bounds_functions_of_q(name, expected):
    # slides 45 to 47; the quill of the SCARA moves without changing M or g
    bounds = dy.structural_bounds(dy.load(name), seconds=0.01)
    assert bounds.prismatic_dependence == expected


def test_a_longer_range_of_a_prismatic_joint_raises_the_bounds():
    robot = dy.load("planar_prp", parameters=PRP)
    near, far = (dy.structural_bounds(robot, [-1, -1, 0.5], [1, 1, reach], seconds=2.0) for reach in (1.0, 10.0))
    assert far.mu_2.lower > 10 * near.mu_2.upper
    assert far.v_b[1].lower > 5 * near.v_b[1].upper


# enclosures


def test_no_sample_leaves_the_enclosures(case):
    robot, bounds = case
    rng = np.random.default_rng(7)
    n, count = robot.n, 3000
    q = bounds.lower + rng.random((count, n)) * (bounds.upper - bounds.lower)
    corners = np.where(rng.random((count, n)) < 0.5, bounds.lower, bounds.upper)
    q = np.vstack([q, corners])
    M, g = robot.mass_matrix(q), robot.gravity(q)
    eigenvalues = np.linalg.eigvalsh(M)
    slack = 1.0 + 1e-11
    assert eigenvalues.min() * slack >= bounds.mu_1.lower
    assert eigenvalues.max() <= bounds.mu_2.upper * slack
    v = rng.normal(size=q.shape) * rng.integers(0, 2, q.shape)
    C_v = np.einsum("nij,nj->ni", robot.coriolis_matrix(q, v), v)
    for p in (1, 2, np.inf):
        norms = np.linalg.norm(M, p, axis=(1, 2))
        assert norms.min() * slack >= bounds.M_1[p].lower
        assert norms.max() <= bounds.M_2[p].upper * slack
        assert np.linalg.norm(g, p, axis=1).max() <= bounds.g_b[p].upper * slack + 1e-12
        assert (np.linalg.norm(C_v, p, axis=1) <= bounds.v_b[p].upper * np.linalg.norm(v, p, axis=1) ** 2 * slack + 1e-9).all()


def test_values_are_reached_where_they_are_said_to_be(case):
    robot, bounds = case
    for bound in bounds:
        assert bound.lower <= bound.value <= bound.upper or holds(bound, bound.value)
        assert bound.status
        if bound.at is not None:
            assert (bounds.lower <= bound.at).all()
            assert (bound.at <= bounds.upper).all()

    def eigenvalues(at):
        return np.linalg.eigvalsh(robot.mass_matrix(at))

    assert eigenvalues(bounds.mu_1.at)[0] == pytest.approx(bounds.mu_1.value, rel=1e-8)
    assert eigenvalues(bounds.mu_2.at)[-1] == pytest.approx(bounds.mu_2.value, rel=1e-9)
    for p in (1, 2, np.inf):
        assert np.linalg.norm(robot.mass_matrix(bounds.M_1[p].at), p) == pytest.approx(bounds.M_1[p].value, rel=1e-9)
        assert np.linalg.norm(robot.gravity(bounds.g_b[p].at), p) == pytest.approx(bounds.g_b[p].value, rel=1e-9)


def test_no_random_sample_beats_the_found_values_by_much(case):
    robot, bounds = case
    rng = np.random.default_rng(8)
    q = bounds.lower + rng.random((20_000, robot.n)) * (bounds.upper - bounds.lower)
    eigenvalues = np.linalg.eigvalsh(robot.mass_matrix(q))
    assert eigenvalues.max() <= bounds.mu_2.value * (1 + 1e-3)
    assert eigenvalues.min() >= bounds.mu_1.value * (1 - 1e-3)


@pytest.mark.parametrize("name", ["scara", "planar_prp", "planar_2r_melchiorri"])
def test_few_joints_close_to_the_tolerance(name):
    parameters, lower, upper, _ = ROBOTS.get(name, (None, None, None, 0))
    bounds = dy.structural_bounds(dy.load(name, parameters=parameters), lower, upper, tolerance=1e-4, seconds=60.0)
    for bound in bounds:
        if bound.name != "v_b (2)":
            assert bound.certified
            assert bound.upper - bound.lower <= 1.01e-4 * bound.value + 1e-9


@pytest.mark.parametrize("way", [LargestEigenvalue, SmallestEigenvalue, LeastLargestEigenvalue])
@pytest.mark.parametrize("name", ["stanford", "ur5e"])
def test_bounds_over_small_boxes_hold_and_are_exact_to_first_order(way, name):
    robot = dy.load(name)
    terms, rng = Expressions(robot.model), np.random.default_rng(5)
    used = terms.coordinates_in(terms.inertia)
    low, high = np.maximum(robot.limits["lower"], -3.0)[used], np.minimum(robot.limits["upper"], 3.0)[used]
    f = Functions(terms.inertia, [terms.q[k] for k in used], low, high)
    constant = way(terms.places)
    centre = low + rng.random((40, len(used))) * (high - low)
    for size in (0.1, 0.01, 0.001):
        a, b = np.maximum(centre - size, low), np.minimum(centre + size, high)
        bound, _ = constant.bound(f.over(a, b))
        inside = a[:, None] + rng.random((40, 60, len(used))) * (b - a)[:, None]
        values = constant.point(f.at(inside.reshape(-1, len(used)))).reshape(40, 60)
        assert (values.max(axis=1) <= bound + 1e-12).all()
    # over the smallest boxes the bound exceeds the largest sample by little
    assert np.median((bound - values.max(axis=1)) / np.abs(values).max(axis=1)) < 0.05


def test_a_box_without_width_gives_the_values_at_its_point():
    robot = dy.load("ur5e")
    q = robot.random(3)
    bounds = dy.structural_bounds(robot, q, q)
    eigenvalues = np.linalg.eigvalsh(robot.mass_matrix(q))
    for bound, value in ((bounds.mu_1, eigenvalues[0]), (bounds.mu_2, eigenvalues[-1])):
        assert bound.certified
        assert bound.value == pytest.approx(value, rel=1e-9)
        assert bound.upper - bound.lower < 1e-8
    assert bounds.g_b[2].value == pytest.approx(np.linalg.norm(robot.gravity(q)), rel=1e-12)


def test_the_first_joint_and_whole_turns_change_nothing(study):
    robot = dy.load("planar_2r_melchiorri")
    turned = dy.structural_bounds(robot, [1.0, 2 * np.pi - QUARTER], [1.5, 2 * np.pi + QUARTER])
    assert turned.mu_1.value == pytest.approx(study.mu_1.value, rel=1e-9)
    assert turned.M_2[1].value == pytest.approx(192.5, rel=1e-9)
    several = dy.structural_bounds(robot, -20.0, 20.0)
    assert several.mu_1.value == pytest.approx(study.mu_1.value, rel=1e-9)


def test_a_larger_box_has_wider_bounds():
    robot = dy.load("scara")
    inner, outer = (dy.structural_bounds(robot, [-x, -x, 0, -x], [x, x, 0.5, x]) for x in (0.5, 2.0))
    assert outer.mu_1.value <= inner.mu_1.value + 1e-12
    assert outer.mu_2.value >= inner.mu_2.value - 1e-12
    assert outer.v_b[2].value >= inner.v_b[2].value - 1e-12


def test_more_time_and_less_time_both_enclose():
    robot = dy.load("stanford")
    short, longer = (dy.structural_bounds(robot, seconds=s) for s in (1e-9, 1.0))
    for a, b in zip(short, longer, strict=True):
        assert holds(a, b.value) or not a.largest
        assert a.lower <= b.upper + 1e-9
        assert b.lower <= a.upper + 1e-9


def test_friction_bounds_are_those_of_the_coefficients():
    robot = dy.load("puma560")
    bounds = dy.structural_bounds(robot, seconds=0.01)
    assert bounds.d_max[2].value == robot.model.viscous.max()
    v = np.random.default_rng(1).normal(size=(200, 6))
    dry = robot.torque_ledger(np.zeros(6), v, np.zeros(6)).dry
    for p in (1, 2, np.inf):
        assert np.linalg.norm(dry, p, axis=1).max() <= bounds.dry[p].upper + 1e-12


def test_an_inertia_that_is_constant_has_equal_bounds_everywhere():
    robot = dy.load("cartesian_2p", parameters={"g": 9.81, "m_1": 3.0, "m_2": 2.0})
    bounds = dy.structural_bounds(robot)
    assert bounds.certified
    assert bounds.depends_on == ()
    assert bounds.mu_1.value == pytest.approx(2.0)
    assert bounds.mu_2.value == pytest.approx(5.0)
    assert bounds.v_b[2].value == 0.0


def test_a_tree_is_enclosed():
    rod = dy.solids.rod(0.5, mass=2.0).seen_from(dy.Pose.translation([0, 0, 0.25]))
    d = dy.Description("branches", gravity=np.array([0, 0, -9.81])).add_link("base")
    d.add_link("left", "base", "revolute", axis=(0, 1, 0), inertia=rod)
    d.add_link("right", "base", "revolute", axis=(1, 0, 0), inertia=rod)
    d.add_link("tip", "left", "revolute", axis=(0, 1, 0), inertia=rod, origin=dy.Pose.translation([0, 0, 0.5]))
    robot = dy.Robot(d)
    bounds = dy.structural_bounds(robot)
    q = np.random.default_rng(2).uniform(-np.pi, np.pi, (2000, 3))
    eigenvalues = np.linalg.eigvalsh(robot.mass_matrix(q))
    assert bounds.mu_1.lower <= eigenvalues.min()
    assert eigenvalues.max() <= bounds.mu_2.upper
    assert bounds.depends_on == ("tip_joint",)


# the answer as an object


def test_progress_is_told_and_grows():
    told = []
    dy.structural_bounds(dy.load("scara"), seconds=1.0, progress=lambda fraction, name: told.append((fraction, name)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert all(0.0 <= x < 1.0 for x in fractions)


def test_report_names_every_bound_and_plain_data_is_json(study):
    text = str(study)
    for word in ("μ_1", "μ_2", "M_1 (1)", "M_2 (∞)", "v_b (1)", "g_b (2)", "d_max", "dry", "117.5", "192.5", "joint2"):
        assert word in text
    data = json.loads(json.dumps(study.as_dict()))
    assert data["M_2"]["inf"]["value"] == pytest.approx(192.5)
    assert data["box"]["joint1"] == [-QUARTER, QUARTER]
    assert data["depends_on"] == ["joint2"]


def test_the_safe_constant_is_on_the_proven_side(study):
    assert study.mu_1.safe == study.mu_1.lower <= study.mu_1.value
    assert study.mu_2.safe == study.mu_2.upper >= study.mu_2.value


# refusals


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [([0.0], None, "2 numbers"), ([0, 0, 0], None, "2 numbers"), (1.0, -1.0, "empty"), ([np.nan, 0], None, "nan"),
     ("ab", None, "numbers"), ([[0, 0]], None, "shape"), (None, [1e9, 1.0], "extends"), ([0, None], None, "numbers|nan"),
     (-np.inf, np.inf, "no limits")],
)  # fmt: skip
def test_a_bad_box_is_refused(lower, upper, words):
    with pytest.raises(dy.InputError, match=words):
        dy.structural_bounds(dy.load("planar_2r_melchiorri"), lower, upper)


@pytest.mark.parametrize("option", [{"tolerance": 0.0}, {"tolerance": np.nan}, {"seconds": -1.0}, {"seconds": "long"}])
def test_bad_options_are_refused(option):
    with pytest.raises(dy.InputError, match=next(iter(option))):
        dy.structural_bounds(dy.load("scara"), **option)


def test_a_symbolic_robot_is_refused_with_its_symbols_and_the_cure():
    with pytest.raises(dy.InputError, match=r"I_1.*a_1.*m_2.*parameters=.*--set"):
        dy.structural_bounds(dy.load("planar_2r"))


def test_a_prismatic_joint_without_limits_is_refused_only_if_it_matters():
    robot = dy.load("planar_prp", parameters=PRP)
    with pytest.raises(dy.InputError, match=r"joint3.*lower= and upper="):
        dy.structural_bounds(robot)
    bounds = dy.structural_bounds(robot, [-np.inf, -1, 0], [np.inf, 1, 1], seconds=0.5)
    assert bounds.as_dict()["box"]["joint1"] == [None, None]


@pytest.mark.parametrize("wrong", ["ur5e", None, 3])
def test_what_is_no_robot_is_refused(wrong):
    with pytest.raises(dy.InputError, match="must be a Robot"):
        dy.structural_bounds(wrong)


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_a_floating_base_is_refused():
    with pytest.raises(dy.InputError, match="quaternion coordinate"):
        dy.structural_bounds(floating("ur5e"))


def test_what_is_no_trigonometric_polynomial_is_enclosed_by_intervals():
    # a helical joint turns and slides by the same q
    rod = dy.solids.rod(0.5, mass=2.0).seen_from(dy.Pose.translation([0.1, 0, 0.25]))
    d = dy.Description("screw", gravity=np.array([0, 0, -9.81])).add_link("base")
    d.add_link("first", "base", "revolute", axis=(1, 0, 0), inertia=rod)
    d.add_link("nut", "first", "helical", axis=(0, 0, 1), pitch=0.05, inertia=rod)
    robot = dy.Robot(d)
    terms = Expressions(robot.model)
    used = terms.coordinates_in(terms.inertia)
    f = Functions(terms.inertia, [terms.q[k] for k in used], np.full(len(used), -2.0), np.full(len(used), 9.0))
    assert f._harmonics is None
    bounds = dy.structural_bounds(robot, [-1.0, -2.0], [1.0, 9.0], seconds=10.0)
    assert all(b.certified for b in bounds if b.name != "v_b (2)")
    q = np.random.default_rng(4).uniform([-1.0, -2.0], [1.0, 9.0], (4000, 2))
    eigenvalues = np.linalg.eigvalsh(robot.mass_matrix(q))
    assert bounds.mu_1.lower <= eigenvalues.min()
    assert eigenvalues.max() <= bounds.mu_2.upper
    assert np.abs(robot.gravity(q)).sum(axis=1).max() <= bounds.g_b[1].upper
    assert bounds.prismatic_dependence == ("nut_joint",)
