"""Friction that depends on load and temperature: its columns, its choice for a log, and the temperatures on their way from the
file to the equations."""

from dataclasses import replace

import numpy as np
import pytest
from campaign_params import few_of
from spoiled_logs import simulated

import dynamis as dy
from dynamis.errors import DynamisError, InputError
from dynamis.identification import LinearModel, Samples, base_parameters, equations, prepare, read_log
from dynamis.identification.model_terms import Candidate
from dynamis.identification.signals import windows
from dynamis.identification.signals.windows import prepare_in_windows

ARM = "planar_2r_melchiorri"
TEMPERATURES = ("viscous_temperature", "coulomb_temperature")
LOAD = 0.12  # part of the load that is friction


@pytest.fixture(scope="module")
def believed_and_log():
    """A robot as believed, masses off by 30 %, and the log of the real one."""
    return simulated("three joints", 3, seconds=20.0, error=0.3)


def test_load_friction_is_proportional_to_the_torque_of_the_links():
    robot = dy.load("puma560")
    q, (v, a) = robot.random(0, size=10), np.random.default_rng(0).normal(size=(2, 10, robot.n))
    model = LinearModel(robot, friction=("load",))
    Y = model.regressor(q, v, a)
    rigid = dy.identification.base_parameters(robot)
    load = rigid.regressor(q, v, a) @ rigid.prior  # of the links alone
    assert np.allclose(model.load(q, v, a), load, rtol=0, atol=1e-9 * np.abs(load).max())
    for k, name in enumerate(robot.coordinate_names):
        column = Y[:, :, model.index(f"{name}.load")]
        assert np.allclose(column[:, k], np.abs(load[:, k]) * np.sign(v[:, k]), atol=1e-9)
        assert not np.delete(column, k, axis=1).any()
    doubled = model.with_links(2.0 * model.link_parameters)
    assert np.allclose(doubled.load(q, v, a), 2.0 * load, atol=1e-9)
    assert np.allclose(model.load(q, v, a), load, atol=1e-9)


def test_temperature_terms_vanish_at_the_reference_and_follow_each_joint():
    robot = dy.load(ARM)
    model = LinearModel(robot, friction=TEMPERATURES, reference_temperature=30.0, rotor=False)
    q, (v, a) = robot.random(0, size=8), np.random.default_rng(0).normal(size=(2, 8, robot.n))
    T = 30.0 + np.arange(16.0).reshape(8, 2)
    run = Samples.of(q, v, a, 0.0 * v, temperature=T)
    Y = model.regressor(q, v, a, model.sample_states().advance(run))
    for k, name in enumerate(robot.coordinate_names):
        for term, x in zip(TEMPERATURES, (v, np.sign(v)), strict=True):
            assert np.allclose(Y[:, k, model.index(f"{name}.{term}")], x[:, k] * (T - 30.0)[:, k])
    assert model.unit(model.index("joint1.viscous_temperature")) == "N m s/(rad K)"


@pytest.mark.parametrize("seed", few_of([3, 4], [3]))
def test_load_friction_is_found_in_a_log_of_a_robot_whose_masses_are_wrong(seed):
    believed, log = simulated("three joints", seed, seconds=20.0, error=0.3)
    real = dy.control.perturbed(believed, 0.3, seed=seed)
    ready = prepare(log, believed)[0]
    q, v, a = (np.column_stack([np.interp(log.t, ready.t, c) for c in x.T]) for x in (ready.q, ready.v, ready.a))
    load = real.inverse_dynamics(q, v, a)
    loaded = replace(log, tau=log.tau + LOAD * np.abs(load) * np.tanh(v / 0.01))
    found, plain = (dy.identify(model, loaded, compare=()) for model in (believed, LinearModel(believed)))
    (note,) = (note for note in found.notes if note.startswith("terms added"))
    assert "load-dependent friction" in note
    assert found.validation.held_out < 0.75 * plain.validation.held_out
    names = list(found.base.names)
    values = {name: x for name, x in zip(names, found.estimator.coef_, strict=True) if name.endswith(".load")}
    assert {"joint1.load", "joint2.load"} <= set(values)
    # of joints that carry gravity; the friction is relative to the load of the real robot, not of the believed one
    assert [values[f"joint{k}.load"] for k in (1, 2)] == pytest.approx([LOAD, LOAD], rel=0.15)


def test_load_friction_is_found_with_a_file_that_hardly_has_masses():
    believed, log = simulated("three joints", 3, seconds=20.0, error=0.0)
    ready = prepare(log, believed)[0]
    q, v, a = (np.column_stack([np.interp(log.t, ready.t, c) for c in x.T]) for x in (ready.q, ready.v, ready.a))
    friction = LOAD * np.abs(believed.inverse_dynamics(q, v, a)) * np.tanh(v / 0.01)
    light = {body.name: dy.solids.sphere(0.01, mass=1e-3) for _, body in believed.model.moving}
    found = dy.identify(
        believed.replace(inertias=light), replace(log, tau=log.tau + friction), compare=(), estimator="weighted", examined=False
    )
    values = {name: x for name, x in zip(found.base.names, found.estimator.coef_, strict=True) if name.endswith(".load")}
    assert [values[f"joint{k}.load"] for k in (1, 2)] == pytest.approx([LOAD, LOAD], rel=0.15)


@pytest.mark.parametrize("rotor", [0.0, 40.0])
def test_the_load_of_friction_does_not_contain_rotors(rotor):
    """That of the first joint is not to be told from its link by the torques of links and rotors, and the file has none."""
    links = dy.control.perturbed(dy.load(ARM), 0.15, seed=1)
    friction = {name: {"viscous": 20.0, "coulomb": 30.0, "rotor_inertia": rotor} for name in links.joint_names}
    real = links.replace(friction=friction)
    t = np.arange(4000)[:, None] * 0.005
    w, phase = np.array([2.3, 3.1]), np.array([0.0, 1.0])
    x = [c * w**d * np.sin(k * w * t + phase + 0.5 * np.pi * d) for k, c in ((1, 1.0), (3, 0.4)) for d in range(3)]
    q, v, a = x[0] + x[3], x[1] + 3.0 * x[4], x[2] + 9.0 * x[5]
    tau = real.inverse_dynamics(q, v, a) + LOAD * np.abs(links.inverse_dynamics(q, v, a)) * np.sign(v)
    tau += np.random.default_rng(0).normal(scale=10.0, size=q.shape)
    run = Samples.of(q, v, a, tau, period=0.005, parallel=10.0, every=4)
    found = dy.identify(LinearModel(dy.load(ARM), friction=("viscous", "coulomb", "load")), run, compare=(), examined=False)
    s = found.statistics
    for name in ("joint1.load", "joint2.load"):
        k = s.names.index(name)
        assert s.interval[k, 0] < LOAD < s.interval[k, 1]
        assert s.coef[k] == pytest.approx(LOAD, rel=0.02)
    assert found.base.model.load_rotors == pytest.approx([rotor, 0.0], abs=1.0)


def test_a_given_model_with_load_friction_of_one_joint_keeps_its_other_terms(believed_and_log):
    believed, log = believed_and_log
    model = LinearModel(believed, friction=("viscous", "coulomb", "joint1.power", "joint1.load"))
    names = dy.identify(model, log, compare=()).base.names
    assert {"joint1.power", "joint1.load"} <= set(names)
    assert "joint2.load" not in names


def test_a_log_without_such_friction_gets_no_load_terms(believed_and_log):
    believed, log = believed_and_log
    assert not any("load-dependent" in note for note in dy.identify(believed, log, compare=()).notes)


@pytest.fixture(scope="module")
def warming(believed_and_log):
    """A robot and its log while it warms up: Coulomb friction falls by 60 %, temperatures are logged once in ten rows."""
    believed, log = believed_and_log
    ready = prepare(log, believed)[0]
    v = np.column_stack([np.interp(log.t, ready.t, c) for c in ready.v.T])
    T = 25.0 + 20.0 * (1.0 - np.exp(-log.t / 8.0))[:, None] * np.ones(believed.n)
    dry = 0.25 * log.tau.std(axis=0)
    log = replace(log, tau=log.tau - 0.03 * (T - 25.0) * dry * np.tanh(v / 0.01))
    T[np.arange(len(T)) % 10 != 0] = np.nan
    return believed, log, T


def written(path, log, T, word="temperature"):
    n = log.n
    head = ",".join(["t", *(f"{name}{k + 1}" for name in ("q", "tau", word) for k in range(n))])
    np.savetxt(path, np.column_stack([log.t, log.q, log.tau, T]), delimiter=",", header=head, comments="", fmt="%.10g")
    return path


def test_friction_that_falls_with_temperature_is_found_in_a_csv_file(warming, tmp_path):
    believed, log, T = warming
    found = dy.identify(believed, written(tmp_path / "warm.csv", log, T), compare=())
    plain = dy.identify(believed, log, compare=())
    (note,) = (note for note in found.notes if note.startswith("terms added"))
    assert "temperature dependence of Coulomb friction" in note
    assert found.validation.held_out < 0.8 * plain.validation.held_out
    falls = [x for name, x in zip(found.base.names, found.estimator.coef_, strict=True) if name.endswith("coulomb_temperature")]
    truth = -0.03 * 0.25 * log.tau.std(axis=0)
    assert falls == pytest.approx(truth, rel=0.35)
    with pytest.raises(InputError, match="has no temperatures"):
        equations(found.base, prepare(log, believed).samples)


def test_temperatures_are_recognised_by_common_names_and_ignored_if_ambiguous(warming, tmp_path):
    believed, log, T = warming
    for word in ("temperature", "joint_temperatures_", "temp_"):
        read = read_log(written(tmp_path / "warm.csv", log, T, word), believed)
        assert np.allclose(read.temperature, T, atol=1e-8, equal_nan=True)
        assert "temperature" in repr(read)
    path = tmp_path / "both.csv"
    n = log.n
    head = ",".join(["t", *(f"{name}{k + 1}" for name in ("q", "tau", "temperature", "motor_temperature") for k in range(n))])
    np.savetxt(path, np.column_stack([log.t, log.q, log.tau, T, T]), delimiter=",", header=head, comments="", fmt="%.10g")
    assert read_log(path, believed).temperature is None


def test_temperatures_of_long_logs_are_those_of_the_whole(warming, monkeypatch):
    believed, log, T = warming
    monkeypatch.setattr(windows, "WINDOW", 1500)
    whole = replace(log, temperature=T)
    (first,) = prepare(whole, believed, cutoff=10.0).samples
    (second,) = prepare_in_windows(whole[:2000], iter([whole[2000:]]), believed, cutoff=10.0).samples
    at = np.searchsorted(first.t, second.t - 1e-6)
    assert np.allclose(first.temperature[at], second.temperature, atol=1e-9)
    none = T.copy()
    none[3000:] = np.nan  # not measured in the last windows: used in none
    lost = replace(log, temperature=none)
    (third,) = prepare_in_windows(lost[:2000], iter([lost[2000:]]), believed, cutoff=10.0).samples
    assert third.temperature is None or np.isfinite(third.temperature).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"friction": ("coulomb_temperature",)}, "reference_temperature=35"),
        ({"friction": ("coulomb_temperature",), "reference_temperature": np.nan}, "reference_temperature=35"),
        ({"friction": ("coulomb_temperature",), "reference_temperature": "warm"}, "reference_temperature=35"),
        ({"friction": ("loads",)}, "did you mean 'load'"),
        ({"stribeck_speed": 0.1}, "no effect without the friction term 'stribeck'"),
        ({"reference_temperature": 30.0}, "no effect without the friction term 'coulomb_temperature'"),
    ],
)
def test_incomplete_terms_are_refused(settings, message):
    with pytest.raises(DynamisError, match=message):
        LinearModel(dy.load(ARM), **settings)


def test_links_of_another_robot_and_temperatures_in_words_are_refused():
    with pytest.raises(InputError, match="expected the 20 inertial parameters of the links"):
        LinearModel(dy.load(ARM), friction=("load",)).with_links(np.zeros(3))
    with pytest.raises(InputError, match="temperature must be an array of numbers"):
        dy.identification.Log(np.zeros(1), np.zeros((1, 2)), np.zeros((1, 2)), temperature=[["warm", "cold"]])


def test_a_regressor_with_temperatures_needs_them():
    model = LinearModel(dy.load(ARM), friction=("viscous_temperature",), reference_temperature=30.0)
    with pytest.raises(InputError, match="states="):
        model.regressor(*np.zeros((3, 4, 2)))


def test_files_hold_neither_load_nor_temperature_terms(believed_and_log, tmp_path):
    believed, log = believed_and_log
    found = dy.identify(LinearModel(believed, friction=("viscous", "coulomb", "load")), log, compare=())
    notes = " ".join(found.write(tmp_path / "better.urdf").notes)
    assert "load friction" in notes


def test_base_parameters_include_load_friction_of_joints_that_carry_torque():
    names = base_parameters(LinearModel(dy.load(ARM), friction=("viscous", "coulomb", "load"))).names
    assert {"joint1.load", "joint2.load"} <= set(names)


def test_a_coupling_is_added_only_if_the_residual_of_its_joints_falls_clearly():
    before = np.array([4.0, 1.0, 9.0])  # squares
    coupling = Candidate("coupling", {}, np.arange(3), np.array([], int), (0, 1))
    assert coupling.plausible(before, np.array([2.0, 1.0, 9.0]))
    assert not coupling.plausible(before, np.array([3.3, 1.0, 1.0]))
    assert Candidate("offsets", {}, np.arange(3), np.array([], int)).plausible(before, before)
