"""Logs of real arms: the published parameters come out, and motion that was not fitted is predicted."""

import csv
import re

import numpy as np
import pytest
from real_logs import TX40, TX40_MAPPING, UR10, needs

import dynamis as dy
from dynamis.identification import (
    LeastSquares,
    LinearModel,
    WeightedLeastSquares,
    base_parameters,
    equations,
    prepare,
    read_log,
)

SLOW = [0.0501, 0.0501, 0.0750, 0.0716, 0.0559, 0.1222]
COUPLED = [("joint_5", "joint_6")]


@pytest.fixture(scope="module")
def tx40():
    needs(TX40)
    from dynamis.identification import Mapping

    with pytest.warns(dy.ModelWarning, match="'joint_6': it can move without moving any mass"):  # izz is 0 in the file
        robot = dy.load(TX40 / "tx40_mdh_modified.urdf")
    log = read_log(TX40 / "pos_read_data.csv", robot, Mapping.parse(TX40_MAPPING))
    return robot, log


def prepared(tx40, parallel, every):
    robot, log = tx40
    return robot, prepare(log, robot, cutoff=100.0, parallel=parallel, every=every, slow=SLOW, outliers=False)


def unexplained(fit, rows):
    return 100.0 * np.linalg.norm(rows.y - fit.predict(rows.X)) / np.linalg.norm(rows.y)


def train_and_held_out(rows, seconds, estimator, phase=2):
    """Blocks of time: of three, this one is held out."""
    held = (np.floor(rows.t / seconds + 1e-9).astype(int) % 3) == phase
    train, test = rows.select(~held), rows.select(held)
    fit = estimator.fit(train.X, train.y, joint=train.joint, names=train.names)
    return unexplained(fit, train), unexplained(fit, test)


def published():
    """(expression as {our name: factor}, value, standard deviation) of the 60 published base parameters."""
    kinds = {"Ia": "rotor", "fv": "viscous", "fs": "coulomb", "off": "offset"}
    shared = {"Iam6": "rotor", "fvm6": "viscous", "fsm6": "coulomb"}

    def ours(name):
        if name in shared:
            return f"joint_5+joint_6.{shared[name]}"
        kind, number = re.fullmatch(r"([A-Za-z]+)(\d)", name).groups()
        return f"joint_{number}.{kinds[kind]}" if kind in kinds else f"link_{number}.{kind}"

    with (TX40 / "TX40_bp_5.csv").open() as file:
        for expression, value, deviation, *_ in csv.reader(file):
            terms = re.findall(r"([+-]?)\s*(?:([\d.e-]+)\*)?([A-Za-z]\w*)", expression)
            found = {ours(name): (-1.0 if sign == "-" else 1.0) * float(factor or 1.0) for sign, factor, name in terms}
            yield found, float(value), abs(float(value)) * float(deviation) / 100.0


def test_published_parameters_of_the_tx40_come_out(tx40):
    robot, samples = prepared(tx40, parallel=15.0, every=25)
    base = base_parameters(LinearModel(robot, offset=True, couplings=COUPLED))
    assert base.rank == 61  # the table has 60: it leaves out the sixth motor's inertia
    rows = equations(base, samples)
    fit = LeastSquares().fit(rows.X, rows.y, joint=rows.joint, names=rows.names)
    off = []
    for terms, value, sigma in published():
        c = np.zeros(len(base.model.names))
        for name, factor in terms.items():
            c[base.model.index(name)] = factor
        k = c[base.independent]
        # what was published must be something that torques depend on (its factors are rounded)
        assert np.allclose(k @ base.B, c, atol=2e-5)
        off.append(abs(k @ fit.coef_ - value) / sigma)
    assert len(off) == 60
    assert np.sum(np.array(off) <= 1.0) >= 57
    assert np.sum(np.array(off) <= 2.0) >= 59


def test_held_out_motion_of_the_tx40(tx40):
    robot, samples = prepared(tx40, parallel=20.0, every=50)
    base = base_parameters(LinearModel(robot, friction=("viscous", "coulomb", "power"), offset=True, couplings=COUPLED))
    rows = equations(base, samples)
    train, held = train_and_held_out(rows, 0.75, WeightedLeastSquares())
    assert train <= 4.9
    assert held <= 5.8
    # whichever third is held out, the mean over the three keeps to it
    others = [train_and_held_out(rows, 0.75, WeightedLeastSquares(), phase) for phase in (0, 1)]
    assert np.mean([held, *(h for _, h in others)]) <= 5.8


def test_plain_friction_of_the_tx40_agrees_with_an_independent_fit(tx40):
    """An independent ordinary least squares leaves 4.9 % of the fitted third and 6.6 % of the other."""
    robot, samples = prepared(tx40, parallel=20.0, every=50)
    rows = equations(base_parameters(LinearModel(robot, offset=True, couplings=COUPLED)), samples)
    train, held = train_and_held_out(rows, 0.75, LeastSquares())
    assert train == pytest.approx(4.9, abs=0.25)
    assert held == pytest.approx(6.6, abs=0.25)


@pytest.fixture(scope="module")
def ur10():
    needs(UR10)
    robot = dy.load(UR10 / "ur10_robot.urdf")
    log = read_log(UR10 / "ur10_exciting_trajectory.npz", robot)
    # the torques were low-passed at about 2 Hz before they were logged
    ready = prepare(log, robot, logged="v", cutoff=20.0, parallel=2.0, every=1, smooth_torque=True, outliers=False)
    return robot, ready


def test_held_out_motion_of_the_ur10_with_a_sixth_joint_that_sticks(ur10):
    robot, samples = ur10
    base = base_parameters(LinearModel(robot, offset=True, smooth=0.05, presliding={"wrist_3_joint": 0.01}))
    rows = equations(base, samples)
    train, held = train_and_held_out(rows, 2.0, WeightedLeastSquares())
    assert train <= 4.6
    assert held <= 4.9
    plain = equations(base_parameters(LinearModel(robot, offset=True, smooth=0.05)), samples)
    sixth = [r.select(r.joint == 5) for r in (rows, plain)]
    fits = [WeightedLeastSquares().fit(r.X, r.y, joint=r.joint, names=r.names) for r in (rows, plain)]
    with_stiction, without = (unexplained(f, r) for f, r in zip(fits, sixth, strict=True))
    assert with_stiction < 0.95 * without


@pytest.mark.campaign
def test_the_defaults_identify_both_arms(tx40):
    """No option is needed: filters, slow rows, offsets, further friction and the coupled wrist are found from the logs."""
    found = dy.identify(*tx40, compare=())
    assert found.validation.held_out <= 4.5
    # the first two are not coupled: with their coupling, other thirds of the log are predicted no better
    assert found.base.model.settings["couplings"] == (("joint_5", "joint_6"),)
    needs(UR10)
    found = dy.identify(UR10 / "ur10_robot.urdf", UR10 / "ur10_exciting_trajectory.npz", compare=())
    assert found.validation.held_out <= 3.9
    assert found.verdict.grade in ("good", "usable")
