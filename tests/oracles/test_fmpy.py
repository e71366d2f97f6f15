"""FMPy, an importer of others: it finds nothing wrong with our units, and simulates with them what we simulate."""

import importlib.util
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from campaign_params import few_of
from joint_zoo import zoo_robot
from scipy.integrate import solve_ivp

import dynamis as dy

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install 'dynamis[fmu]'")
from fmpy.fmi1 import FMICallException  # noqa: E402
from fmpy.simulation import instantiate_fmu, simulate_fmu  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")), reason="no C compiler on this machine"
)
VERSIONS = [2, 3]
UR5E = dy.load("ur5e")
POSTURE = np.array([0.3, -1.2, 1.4, -0.5, 0.2, 0.1])


def unread(*_):
    """A log that nobody reads."""


def loaded(path, kind, log=unread):
    """(instance, description, folder). FMPy's own search for binaries does not know all machines of FMI 3.

    Without a log of its own, an instance of FMPy would write to that of the last one which had one, and may no longer exist.
    """
    description, folder = fmpy.read_model_description(str(path)), fmpy.extract(str(path), str(path.with_suffix(f".{kind}")))
    return instantiate_fmu(folder, description, kind, logger=log), description, folder


def co_simulated(path, start, **options):
    fmu, description, folder = loaded(path, "CoSimulation")
    result = simulate_fmu(folder, fmu_instance=fmu, model_description=description, start_values=start, **options)
    fmu.freeInstance()
    return result


def exchanged(path, start, times):
    """(q and v, accelerations) at these times: model exchange with an integrator of SciPy."""
    fmu, description, _ = loaded(path, "ModelExchange")
    references = {x.name: x.valueReference for x in description.modelVariables}
    of_two = description.fmiVersion == "2.0"
    get, put = (fmu.getReal, fmu.setReal) if of_two else (fmu.getFloat64, fmu.setFloat64)
    rates_of = fmu.getDerivatives if of_two else fmu.getContinuousStateDerivatives
    if of_two:
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    put([references[name] for name in start], list(start.values()))
    fmu.exitInitializationMode()
    fmu.newDiscreteStates() if of_two else fmu.updateDiscreteStates()
    fmu.enterContinuousTimeMode()
    size = description.numberOfContinuousStates
    x = np.zeros(size)
    fmu.getContinuousStates(pointer(x), size)

    def rates(t, y):
        found, given = np.zeros(size), np.ascontiguousarray(y)
        fmu.setTime(t)
        fmu.setContinuousStates(pointer(given), size)
        rates_of(pointer(found), size)
        return found

    y = solve_ivp(rates, (times[0], times[-1]), x, method="DOP853", t_eval=times, rtol=1e-11, atol=1e-12).y.T
    rates(times[-1], y[-1])
    last = get([k for name, k in references.items() if name.startswith("a.")])
    fmu.terminate()
    fmu.freeInstance()
    return y, np.array(last)


def pointer(x):
    from ctypes import POINTER, c_double

    return x.ctypes.data_as(POINTER(c_double))


def starts(robot, **values):
    """Start values by letter, such as q=…, in the order of the variables of the unit."""
    return {
        f"{letter}.{name}": x for letter, row in values.items() for name, x in zip(robot.coordinate_names, row, strict=True)
    }


def table(result, letter, robot):
    return np.column_stack([result[f"{letter}.{name}"] for name in robot.coordinate_names])


ZOO = [("screws", 2), ("wrists", 3), ("flyer", 2), ("screws", 3), ("wrists", 2), ("flyer", 3)]


@pytest.mark.parametrize(("name", "version"), few_of(ZOO, ZOO[:3]))
def test_descriptions_of_all_kinds_of_joints_are_valid(tmp_path, name, version):
    path = dy.write_fmu(zoo_robot(name), tmp_path / "zoo.fmu", version=version, wrench="tool", gravity=True, binary=False)
    assert validate_fmu(str(path)) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_names_that_are_no_identifiers_are_valid(tmp_path, version):
    d = dy.Description("a <robot> & more").add_link("base")
    d.add_link(
        "link", "base", "revolute", joint_name='Gelenk-1 "ä" <&>\x1b\n', axis=(0, 1, 0), inertia=dy.solids.sphere(0.1, mass=1.0)
    )
    path = dy.write_fmu(dy.Robot(d), tmp_path / "names.fmu", version=version, binary=False)
    assert validate_fmu(str(path)) == []


@pytest.mark.parametrize("version", few_of(VERSIONS, [3]))  # both: test_rotors_of_elastic_joints_begin_where_their_joints_do
def test_a_ur5e_moves_as_in_our_own_simulation(tmp_path, version):
    path = dy.write_fmu(UR5E, tmp_path / "ur5e.fmu", version=version)
    assert validate_fmu(str(path)) == []
    tau = UR5E.gravity(POSTURE) + np.array([3.0, -4.0, 2.0, 0.2, 0.1, 0.05])
    start = starts(UR5E, q=POSTURE, tau=tau)

    found = co_simulated(path, start, stop_time=0.5, output_interval=0.01)
    ours = dy.simulate(UR5E, found["time"], POSTURE, torque=tau, friction="smooth", method="rk4", step=1e-3)
    assert np.abs(table(found, "q", UR5E) - ours.q).max() < 1e-11
    assert np.abs(table(found, "v", UR5E) - ours.v).max() < 1e-10
    place = np.column_stack([found[f"position.{c}"] for c in "xyz"])
    assert np.abs(place - UR5E.pose(ours.q)[:, :3, 3]).max() < 1e-11

    times = np.linspace(0.0, 0.5, 11)
    y, a = exchanged(path, start, times)
    ours = dy.simulate(UR5E, times, POSTURE, torque=tau, friction="smooth", rtol=1e-11, atol=1e-12)
    assert np.abs(y - np.hstack([ours.q, ours.v])).max() < 1e-8
    assert np.abs(a - UR5E.forward_dynamics(y[-1, :6], y[-1, 6:], tau)).max() < 1e-8


def test_strong_friction_of_a_light_link_shortens_the_step_of_co_simulation(tmp_path):
    """1 N m of friction over 0.01 rad/s on 1.4e-4 kg m²: a time constant of 1.4 µs."""
    arm = dy.load("planar_2r_melchiorri").replace(
        inertias={"link2": dy.solids.sphere(0.06, mass=0.1)}, friction={"joint2": {"coulomb": 1.0, "viscous": 2.0}}
    )
    start = starts(arm, q=[0.3, 0.5], v=[0.5, 0.0])
    found = co_simulated(dy.write_fmu(arm, tmp_path / "arm.fmu"), start, stop_time=0.1, output_interval=0.05)
    ours = dy.simulate(arm, found["time"], [0.3, 0.5], [0.5, 0.0], friction="smooth", method="Radau", rtol=1e-9, atol=1e-11)
    assert np.abs(table(found, "q", arm) - ours.q).max() < 2e-6
    shorter = dy.write_fmu(arm, tmp_path / "long.fmu", step=1e-3, binary=False)
    assert {"0.001"} == {v.start for v in fmpy.read_model_description(str(shorter)).modelVariables if v.name == "internal_step"}


@pytest.mark.parametrize("version", VERSIONS)
def test_rotors_of_elastic_joints_begin_where_their_joints_do(tmp_path, version):
    """Unless their start values are set too."""
    arm = dy.load("planar_2r_melchiorri")
    drives = {"joint2": dy.Elastic(stiffness=9000.0, inertia=2.0, damping=20.0)}
    path = dy.write_fmu(arm, tmp_path / "arm.fmu", version=version, actuators=drives, step=1e-4)
    start = {"q.joint1": 0.4, "q.joint2": 0.7, "v.joint2": 0.3}
    found = co_simulated(path, start, stop_time=0.1, output_interval=0.01)
    ours = dy.simulate(arm, found["time"], [0.4, 0.7], [0.0, 0.3], friction="smooth", actuators=drives, rtol=1e-11, atol=1e-12)
    assert np.abs(table(found, "q", arm) - ours.q).max() < 1e-9
    preloaded = co_simulated(path, start | {"actuator.joint2[1]": 0.0}, stop_time=0.1, output_interval=0.01)
    assert np.abs(table(preloaded, "q", arm) - ours.q).max() > 1e-2


@pytest.mark.parametrize(("name", "version"), few_of(ZOO, ZOO[:3]))
def test_friction_springs_rotors_quaternions_wrenches_and_gravity_are_those_of_our_simulation(tmp_path, name, version):
    robot = zoo_robot(name)
    path = dy.write_fmu(robot, tmp_path / "zoo.fmu", version=version, wrench="tool", gravity=True, step=5e-4)
    gravity, push = np.array([0.5, 1.0, -7.0]), np.array([1.0, -2.0, 0.5, 0.2, 0.1, -0.3])
    v0 = np.linspace(-0.5, 0.5, robot.n)
    start = starts(robot, v=v0) | {f"gravity.{c}": x for c, x in zip("xyz", gravity, strict=True)}
    start |= {f"wrench.{c}": x for c, x in zip(("fx", "fy", "fz", "mx", "my", "mz"), push, strict=True)}
    moved = robot.replace(gravity=gravity)
    times = np.linspace(0.0, 0.1, 6)
    options = {"wrenches": {"tool": push}, "friction": "smooth"}

    y, _ = exchanged(path, start, times)
    ours = dy.simulate(moved, times, v0=v0, **options, rtol=1e-11, atol=1e-12)
    assert np.abs(y - np.hstack([ours.q, ours.v])).max() < 1e-7

    found = co_simulated(path, start, stop_time=0.1, output_interval=0.02)
    ours = dy.simulate(moved, found["time"], v0=v0, **options, method="rk4", step=5e-4)
    assert np.abs(table(found, "v", robot) - ours.v).max() < 1e-7


@pytest.mark.parametrize("version", VERSIONS)
def test_states_of_friction_and_drives_are_states_of_the_unit(tmp_path, version):
    arm = dy.load("planar_2r_melchiorri")
    options = {
        "friction": {"joint1": dy.LuGre(coulomb=2.0, static=3.0, velocity=0.1, stiffness=1e3, damping=10.0)},
        "actuators": {"joint2": dy.Elastic(stiffness=2e3, damping=5.0, inertia=1.0)},
    }
    path = dy.write_fmu(arm, tmp_path / "drives.fmu", version=version, **options)
    assert validate_fmu(str(path)) == []
    tau = np.array([300.0, 150.0])
    y, _ = exchanged(path, starts(arm, tau=tau), np.linspace(0.0, 0.3, 4))
    ours = dy.simulate(arm, np.linspace(0.0, 0.3, 4), torque=tau, **options, rtol=1e-11, atol=1e-12)
    assert y.shape[1] == 7
    assert np.abs(y[:, :4] - np.hstack([ours.q, ours.v])).max() < 1e-7


@pytest.mark.parametrize("version", VERSIONS)
def test_a_state_is_kept_serialized_and_restored(tmp_path, version):
    arm = dy.load("planar_2r_melchiorri")
    fmu, _, _ = loaded(dy.write_fmu(arm, tmp_path / "arm.fmu", version=version), "CoSimulation")
    if version == 2:
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    get = fmu.getReal if version == 2 else fmu.getFloat64
    fmu.doStep(0.0, 0.1)
    state = fmu.getFMUState()
    data = fmu.serializeFMUState(state)
    fmu.doStep(0.1, 0.1)
    after = get([1, 2, 3, 4])
    for kept in (state, fmu.deserializeFMUState(data)):
        fmu.setFMUState(kept)
        assert get([1, 2, 3, 4]) != after
        fmu.doStep(0.1, 0.1)
        assert get([1, 2, 3, 4]) == after
        fmu.freeFMUState(kept)
    fmu.reset()
    assert get([1, 2]) == list(arm.home())
    fmu.freeInstance()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_failure_is_logged(tmp_path, version):
    messages = []
    path = dy.write_fmu(dy.load("planar_2r_melchiorri"), tmp_path / "arm.fmu", version=version)
    fmu, _, _ = loaded(
        path, "ModelExchange", lambda *given: messages.append(b" ".join(x for x in given if isinstance(x, bytes)))
    )
    with pytest.raises(FMICallException):
        (fmu.setReal if version == 2 else fmu.setFloat64)([1], [np.inf])
    assert b"not a finite number" in messages[0]
    fmu.freeInstance()


@pytest.mark.parametrize("version", few_of(VERSIONS, [2]))
def test_fmpy_simulates_model_exchange_by_itself(tmp_path, version):
    sundials = Path(importlib.util.find_spec("fmpy").origin).parent / "sundials" / fmpy.platform_tuple
    if not sundials.is_dir():
        pytest.skip(f"FMPy has no integrator for {fmpy.platform_tuple}")
    path = dy.write_fmu(UR5E, tmp_path / "ur5e.fmu", version=version)
    tau = UR5E.gravity(POSTURE) + np.array([3.0, -4.0, 2.0, 0.2, 0.1, 0.05])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = simulate_fmu(
            str(path), fmi_type="ModelExchange", start_values=starts(UR5E, q=POSTURE, tau=tau), stop_time=0.5,
            output_interval=0.05, relative_tolerance=1e-9, record_events=False,
        )  # fmt: skip
    ours = dy.simulate(UR5E, found["time"], POSTURE, torque=tau, friction="smooth", rtol=1e-11, atol=1e-12)
    assert np.abs(table(found, "q", UR5E) - ours.q).max() < 1e-6


@pytest.mark.parametrize(("version", "kind"), [(2, "ModelExchange"), (3, "CoSimulation")])
def test_directional_derivatives_are_those_of_differences(tmp_path, version, kind):
    robot = zoo_robot("wrists")
    path = dy.write_fmu(robot, tmp_path / "wrists.fmu", version=version, wrench="tool", gravity=True)
    fmu, description, folder = loaded(path, kind)
    flag = "providesDirectionalDerivative" + "s" * (version == 3)  # FMPy does not read that of FMI 3
    assert (Path(folder) / "modelDescription.xml").read_text(encoding="utf-8").count(f'{flag}="true"') == 2
    references = {x.name: x.valueReference for x in description.modelVariables}
    get, put = (fmu.getReal, fmu.setReal) if version == 2 else (fmu.getFloat64, fmu.setFloat64)
    if version == 2:
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    rng = np.random.default_rng(0)
    knowns = [k for name, k in references.items() if name.split(".")[0] in ("q", "v", "tau", "wrench", "gravity")]
    unknowns = [
        k for name, k in references.items() if name.split(".")[0] in ("a", "position", "rotation") or name[:4] == "der("
    ]
    quaternions = {k for name, k in references.items() if name.endswith((".qx", ".qy", ".qz", ".qw"))}
    start = np.array(get(knowns)) + 0.2 * rng.normal(size=len(knowns)) * [k not in quaternions for k in knowns]
    for _ in range(3):
        seed = rng.normal(size=len(knowns))

        def at(h, seed=seed):
            put(knowns, list(start + h * seed))
            return np.array(get(unknowns))

        differences = (at(1e-6) - at(-1e-6)) / 2e-6
        put(knowns, list(start))
        found = np.array(fmu.getDirectionalDerivative(unknowns, knowns, list(seed)))
        assert np.abs(found - differences).max() < 1e-6 * max(1.0, np.abs(differences).max())
    fmu.exitInitializationMode()
    assert np.isfinite(fmu.getDirectionalDerivative(unknowns, knowns, list(seed))).all()
    with pytest.raises(FMICallException):
        fmu.getDirectionalDerivative(unknowns, unknowns[:1], [1.0])
    fmu.freeInstance()
