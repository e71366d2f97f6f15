"""Two identifications of one robot: equal within their errors, or different where the robot has changed."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification import LinearModel, Samples

UR5E = dy.load("ur5e")
REAL = UR5E.replace(friction={joint: {"viscous": 2.0, "coulomb": 1.5} for joint in UR5E.joint_names})
LOADED = REAL.replace(payload=dy.Inertia.about_com(2.0, [0.0, 0.0, 0.1], 0.01 * np.eye(3)))
STICKY = REAL.replace(friction={"elbow_joint": {"viscous": 2.0, "coulomb": 2.5}})


def log(robot, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, 15.0, 0.01)[:, None]
    w = 2.0 * np.pi * np.array([0.1, 0.25, 0.45])[:, None, None]
    phase, size = rng.uniform(0.0, 6.0, (3, 1, robot.n)), rng.uniform(0.2, 0.5, (3, 1, robot.n))
    x = w * t + phase
    q, v, a = (np.sum(y, axis=0) for y in (size * np.sin(x), size * w * np.cos(x), -size * w**2 * np.sin(x)))
    return Samples.of(q, v, a, robot.inverse_dynamics(q, v, a) + 0.3 * rng.normal(size=q.shape), period=0.01)


@pytest.fixture(scope="module")
def model():
    return LinearModel(dy.control.perturbed(REAL, 0.1, seed=4))


@pytest.fixture(scope="module")
def found(model):
    cases = {"first": (REAL, 0), "second": (REAL, 1), "loaded": (LOADED, 2), "sticky": (STICKY, 3)}
    return {name: dy.identify(model, log(robot, seed), compare=()) for name, (robot, seed) in cases.items()}


def test_two_runs_of_one_robot_do_not_differ(found):
    runs = found["first"].compared_with(found["second"])
    assert runs.significant == ()
    assert runs.links == ()
    assert runs.own[0] == pytest.approx(found["first"].statistics.percent)
    assert max(runs.crossed) < 1.1 * max(runs.own)
    assert 0.5 < np.sqrt(np.nanmean(runs.ratio**2)) < 1.5  # the standard errors are right


def test_a_payload_is_found_in_the_last_links(found):
    runs = found["first"].compared_with(found["loaded"])
    assert runs.links[-1] == "wrist_3_link"
    assert set(runs.links) <= {"wrist_2_link", "wrist_3_link"}
    assert {"forearm_link.mx", "wrist_2_link.my"} <= set(runs.significant)
    assert not any("viscous" in name or "coulomb" in name for name in runs.significant)
    assert min(runs.crossed) > 5.0 * max(runs.own)
    other = found["loaded"].compared_with(found["first"])
    np.testing.assert_allclose(other.ratio, -runs.ratio)
    assert other.crossed == runs.crossed[::-1]


def test_friction_that_has_grown_is_named(found):
    runs = found["second"].compared_with(found["sticky"])
    assert runs.significant == ("elbow_joint.coulomb",)
    assert runs.links == ()
    k = runs.names.index("elbow_joint.coulomb")
    combined = np.hypot(runs.first_error[k], runs.second_error[k])
    assert runs.ratio[k] == pytest.approx((runs.second[k] - runs.first[k]) / combined)


def test_the_threshold_grows_with_the_number_of_parameters(found):
    runs = found["first"].compared_with(found["second"])
    draws = np.abs(np.random.default_rng(0).normal(size=(50_000, len(runs.names)))).max(axis=1)
    assert runs.threshold > 3.0
    assert np.mean(draws > runs.threshold) == pytest.approx(0.0027, rel=0.3)


def test_text_and_table_have_the_largest_difference_first(found):
    runs = found["first"].compared_with(found["loaded"])
    largest = runs.names[int(np.nanargmax(np.abs(runs.ratio)))]
    assert runs.rows[0][0] == largest
    assert runs.rows[0][5].endswith("*")
    assert str(runs).splitlines()[4].split()[0] == largest
    assert f"each of them contains parameters of {' and of '.join(runs.links)}" in runs._repr_html_()
    assert "nan" not in str(runs) + runs._repr_html_()
    assert "\n" not in repr(runs)
    facts = runs.as_dict()
    assert facts["significant"] == list(runs.significant)
    assert len(facts["parameters"]) == len(runs.names)


def test_a_parameter_at_a_bound_is_not_compared(model, found):
    bound = dy.identify(model, log(REAL, 1), compare=(), constraints={"bounds": {"elbow_joint.coulomb": (0.0, 1.0)}})
    runs = found["first"].compared_with(bound)
    k = runs.names.index("elbow_joint.coulomb")
    assert np.isnan(runs.ratio[k])
    assert "elbow_joint.coulomb" not in runs.significant
    assert runs.as_dict()["parameters"][k]["difference_in_standard_errors"] is None


def test_different_parameters_are_refused_by_name(found):
    for other, names in (
        (LinearModel(REAL, friction=("viscous",)), "elbow_joint.coulomb"),
        (LinearModel(REAL, offset=True), "elbow_joint.offset"),
        (LinearModel(UR5E.replace(gravity=(0.0, 0.0, 0.0)), friction=("viscous", "coulomb")), "upper_arm_link.m"),
    ):
        wrong = dy.identify(other, log(REAL, 0), compare=(), estimator="ridge", examined=False)
        with pytest.raises(InputError, match=f"the base parameters differ in .*{names}"):
            found["first"].compared_with(wrong)
    with pytest.raises(InputError, match="another Identification, got str"):
        found["first"].compared_with("run.csv")
