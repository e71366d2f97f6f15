"""Verdicts on what torques determine: masses far from the file, and terms that are part of sums."""

import numpy as np
import pytest
from real_logs import TX40, TX40_MAPPING, needs
from spoiled_logs import simulated, three_joints

import dynamis as dy
from dynamis.identification import LinearModel, Mapping, Samples, base_parameters, equations, read_log
from dynamis.identification.estimators.regularised import PhysicallyConsistent
from dynamis.identification.validation.link_masses import determined_masses
from dynamis.identification.validation.symptoms import Symptom
from dynamis.identification.validation.verdict import verdict


@pytest.fixture(scope="module")
def fitted():
    """A consistent fit to an arm whose last link weighs 6 kg, in the file 2 kg."""
    robot, (_, log) = three_joints(), simulated("three joints", 3)
    real = robot.replace(payload=dy.solids.sphere(0.05, mass=4.0).seen_from(dy.Pose.translation([0.0, 0.0, 0.2])))
    v, a = np.gradient(log.q, log.t, axis=0), np.gradient(np.gradient(log.q, log.t, axis=0), log.t, axis=0)
    run = Samples.of(
        log.q, v, a, real.inverse_dynamics(log.q, v, a) + 0.1 * np.random.default_rng(0).normal(size=v.shape), t=log.t
    )
    base = base_parameters(LinearModel(robot))
    rows = equations(base, run)
    fit = PhysicallyConsistent(base, regularisation=1.0).fit(rows.X, rows.y, joint=rows.joint, names=rows.names)
    return base, rows, fit


def test_masses_on_which_no_torque_depends_are_not_compared_with_the_file(fitted):
    base, rows, fit = fitted
    assert "link0.m" in base.unidentifiable
    at = {body.name: fit.full_[body.place.start] for body in base.model.bodies}
    masses = {"link0": (5.0, 1.0), "link1": (4.0, float(at["link1"])), "link2": (2.0, float(at["link2"]))}
    kept = determined_masses(masses, fit, rows)
    assert kept["link0"] == (5.0, 5.0)
    assert kept["link2"] == masses["link2"]
    assert masses["link2"][1] > 2.5 * 2.0


def test_a_term_that_is_part_of_a_base_parameter_is_not_called_missing(fitted, monkeypatch):
    """The rotor of the first joint has no column of its own: its inertia adds to that of the link."""
    base, rows, fit = fitted
    assert "joint0.rotor" not in base.names
    found = dy.identify(base.model, list(rows.source.runs), compare=(), estimator=fit, examined=False)
    name = "dynamis.identification.validation.verdict.missing_terms"
    monkeypatch.setattr(name, lambda *_: (Symptom("joint0", "inertia", 0.2, 1.0),))
    (item,) = verdict(found.statistics, equations=rows).about("missing")
    assert "motor-side inertia, which is already in the model" in item.sentence
    assert "rotor=True" not in item.sentence


@pytest.mark.filterwarnings("ignore::dynamis.ModelWarning")
def test_a_mass_of_a_real_arm_on_which_no_torque_depends_is_not_called_far_from_the_file():
    needs(TX40)
    robot = dy.load(TX40 / "tx40_mdh_modified.urdf")
    found = dy.identify(robot, read_log(TX40 / "pos_read_data.csv", robot, Mapping.parse(TX40_MAPPING)), compare=())
    assert "link_2.m" in found.base.unidentifiable
    assert found.verdict.about("masses") == ()
