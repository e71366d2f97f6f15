"""Functional Mock-up Units: what the archive holds, what is refused, and the compiled interface called from here."""

import ctypes
import io
import json
import re
import shutil
import subprocess
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from joint_zoo import zoo_robot

import dynamis as dy
from dynamis.cli.commands import cli

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
ARM = dy.load("planar_2r_melchiorri")
OK, ERROR = 0, 3


class Plant:
    """The co-simulation of FMI 3, called by ctypes."""

    def __init__(self, path, folder):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        description = ElementTree.parse(folder / "modelDescription.xml").getroot()
        self.places = {x.get("name"): int(x.get("valueReference")) for x in description.find("ModelVariables")}
        (library,) = (folder / "binaries").rglob("*.*")
        self.c, self.messages = ctypes.CDLL(str(library)), []
        logger = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
        self.log = logger(lambda _e, _s, _c, message: self.messages.append(message.decode()))
        self.c.fmi3InstantiateCoSimulation.restype = ctypes.c_void_p
        token = description.get("instantiationToken").encode()
        given = (b"", False, False, False, False, None, ctypes.c_size_t(0), None, self.log, None)
        self.other = self.c.fmi3InstantiateCoSimulation(b"plant", b"another token", *given)
        self.own = ctypes.c_void_p(self.c.fmi3InstantiateCoSimulation(b"plant", token, *given))

    def values(self, names, values=None):
        """The values of variables, or the status of setting them."""
        references = (ctypes.c_uint32 * len(names))(*(self.places[name] for name in names))
        array = np.zeros(len(names)) if values is None else np.array(values, dtype=float)
        call = self.c.fmi3GetFloat64 if values is None else self.c.fmi3SetFloat64
        count = ctypes.c_size_t(len(names))
        status = call(self.own, references, count, array.ctypes.data_as(ctypes.c_void_p), count)
        return status if values is not None else array if status == OK else None

    def initialize(self):
        zero = ctypes.c_double(0.0)
        assert self.c.fmi3EnterInitializationMode(self.own, False, zero, zero, False, zero) == OK
        return self.c.fmi3ExitInitializationMode(self.own)

    def step(self, t, h):
        flags, last = (ctypes.c_bool * 3)(), ctypes.c_double()
        places = [ctypes.byref(flags, k) for k in range(3)]
        return self.c.fmi3DoStep(self.own, ctypes.c_double(t), ctypes.c_double(h), True, *places, ctypes.byref(last))


def named(letter, robot=ARM):
    return [f"{letter}.{name}" for name in robot.coordinate_names]


def files_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_sources_compile_without_a_warning(tmp_path, version):
    path = dy.write_fmu(zoo_robot("wrists"), tmp_path / "wrists.fmu", version=version, wrench="tool", binary=False)
    for name, data in files_of(path).items():
        if name.startswith("sources/"):
            (tmp_path / name.rpartition("/")[2]).write_bytes(data)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0", "-fPIC", "-shared", "-DFMI3_FUNCTION_PREFIX=own_"]
    library = tmp_path / "strict.so"
    units = [f"fmi{version}.c", "dynamis_rates.c", "dynamis_slopes.c"]
    subprocess.run([COMPILER, *flags, *units, "-o", library, "-lm"], cwd=tmp_path, check=True)
    prefix = "own_" if version == 3 else ""
    assert getattr(ctypes.CDLL(str(library)), f"{prefix}fmi{version}DoStep")


@needs_compiler
def test_the_same_robot_gives_the_same_bytes(tmp_path):
    path = dy.write_fmu(ARM, tmp_path / "a b.fmu")
    before = path.read_bytes()
    assert dy.write_fmu(ARM, path).read_bytes() == before
    assert any(re.fullmatch(r"binaries/\w+-\w+/a_b\.\w+", name) for name in files_of(path))


@needs_compiler
def test_a_law_in_c_and_the_unit_move_as_the_sampled_law_in_python(tmp_path):
    move = dy.trajectories.joint_move([0.0, 0.0], [1.0, -0.8], duration=0.4)
    law = dy.control.ComputedTorque.designed(move, bandwidth=15.0)
    header, source = dy.control.write_c(ARM, law, tmp_path)
    library = tmp_path / "law.so"
    subprocess.run([COMPILER, "-O2", "-std=c99", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    torques = getattr(ctypes.CDLL(str(library)), header.stem)
    plant = Plant(dy.write_fmu(ARM, tmp_path / "arm.fmu"), tmp_path)
    start = [0.1, -0.1]
    assert plant.values(named("q"), start) == OK
    assert plant.initialize() == OK
    tau = np.zeros(2)
    for k in range(400):
        q, v, t = plant.values(named("q")), plant.values(named("v")), np.array([k * 1e-3])
        torques(*(x.ctypes.data_as(ctypes.c_void_p) for x in (t, q, v, tau)))
        assert plant.values(named("tau"), tau) == OK
        assert plant.step(k * 1e-3, 1e-3) == OK
    there = dy.simulate(
        ARM, 0.4, start, controller=dy.Sampled(law, rate=1000.0), friction="smooth", method="rk4", step=1e-3, points=2
    )
    assert np.abs(plant.values(named("q")) - there.q[-1]).max() < 1e-10
    assert plant.values(["position.x"])[0] == pytest.approx(ARM.pose(there.q[-1])[0, 3], abs=1e-9)


@needs_compiler
def test_failures_are_errors_with_a_message(tmp_path):
    plant = Plant(dy.write_fmu(ARM, tmp_path / "arm.fmu"), tmp_path)
    assert plant.other is None
    assert plant.messages == ["the token is not that of this FMU"]
    assert plant.values(["internal_step"], [0.0]) == ERROR
    assert plant.values(named("q"), [np.nan, 0.0]) == ERROR
    assert plant.values(named("a"), [0.0, 0.0]) == ERROR
    assert plant.initialize() == OK
    assert plant.values(named("q"), [0.0, 0.0]) == ERROR
    assert plant.values(named("tau"), [1e300, 0.0]) == OK
    plant.messages.clear()
    assert plant.step(0.0, 1.0) == ERROR
    assert plant.step(0.0, -1.0) == ERROR
    assert "diverged" in plant.messages[0]
    assert "negative" in plant.messages[1]


@needs_compiler
def test_derivatives_are_left_out_on_request_and_bad_references_refused(tmp_path):
    def asked(plant, unknown, known):
        given, seed, found = (ctypes.c_uint32 * 1)(unknown), (ctypes.c_double * 1)(1.0), (ctypes.c_double * 1)()
        one = ctypes.c_size_t(1)
        known = (ctypes.c_uint32 * 1)(known)
        return plant.c.fmi3GetDirectionalDerivative(plant.own, given, one, known, one, seed, one, found, one), found[0]

    path = dy.write_fmu(ARM, tmp_path / "arm.fmu", derivatives=False)
    assert b"providesDirectionalDerivative" not in files_of(path)["modelDescription.xml"]
    assert "sources/dynamis_slopes.c" not in files_of(path)
    bare = Plant(path, tmp_path / "bare")
    assert bare.initialize() == OK
    assert asked(bare, bare.places["a.joint1"], bare.places["tau.joint1"])[0] == ERROR
    assert bare.messages[-1] == "this FMU was written without derivatives"
    plant = Plant(dy.write_fmu(ARM, tmp_path / "arm.fmu"), tmp_path / "with")
    assert plant.initialize() == OK
    acceleration, torque = plant.places["a.joint1"], plant.places["tau.joint1"]
    status, found = asked(plant, acceleration, torque)
    assert (status, found) == (OK, pytest.approx(np.linalg.inv(ARM.mass_matrix(ARM.home()))[0, 0]))
    assert asked(plant, torque, torque) == (OK, 1.0)
    assert asked(plant, acceleration, acceleration)[0] == ERROR
    assert asked(plant, 10_000, torque)[0] == ERROR


@needs_compiler
def test_a_singular_mass_matrix_is_an_error(tmp_path):
    # a point mass on two massless links: singular when stretched
    d = dy.Description("point mass").add_link("base")
    d.add_link("link1", "base", "revolute", joint_name="j1", axis=(0, 0, 1))
    d.add_link("link2", "link1", "revolute", joint_name="j2", axis=(0, 0, 1),
               origin=dy.Pose.translation((1.0, 0.0, 0.0)), inertia=dy.Inertia.about_com(1.0, (1.0, 0.0, 0.0), np.zeros((3, 3))))  # fmt: skip
    d.joints[1].limits.lower, d.joints[1].limits.upper = 1.0, 2.0
    robot = dy.Robot(d)
    plant = Plant(dy.write_fmu(robot, tmp_path / "point.fmu"), tmp_path)
    assert plant.values(["q.j2"], [0.0]) == OK
    assert plant.initialize() == ERROR
    assert "the mass matrix is singular" in plant.messages[-1]
    assert plant.values(["a.j1"]) is None


def test_without_a_compiler_there_are_sources_and_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.warns(RuntimeWarning, match=r"no C compiler was found: 'arm\.fmu' has C sources only"):
        path = dy.write_fmu(ARM, tmp_path / "arm.fmu", version=2)
    assert not any(name.startswith("binaries/") for name in files_of(path))
    assert b"SourceFiles" in files_of(path)["modelDescription.xml"]
    silent = dy.write_fmu(ARM, tmp_path / "silent.fmu", binary=False)
    assert "sources/buildDescription.xml" in files_of(silent)


@needs_compiler
def test_a_compiler_that_fails_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(dy.InputError, match=r"false' failed: .*; use binary=False"):
        dy.write_fmu(ARM, tmp_path / "arm.fmu")
    assert not (tmp_path / "arm.fmu").exists()


def test_names_units_and_start_values_are_those_of_the_robot(tmp_path):
    robot = dy.load("stanford")
    text = files_of(dy.write_fmu(robot, tmp_path / "1.fmu", binary=False))["modelDescription.xml"]
    found = {x.get("name"): x for x in ElementTree.parse(io.BytesIO(text)).getroot().find("ModelVariables")}
    slide = next(c.name for c in robot.model.coordinates if not c.revolute)
    units = [found[name].get("unit") for name in (f"q.{slide}", f"v.{slide}", f"a.{slide}", f"tau.{slide}")]
    assert units == ["m", "m/s", "m/s2", "N"]
    assert [float(found[name].get("start")) for name in named("q", robot)] == robot.home().tolist()
    assert b'modelIdentifier="fmu_1"' in text
    assert b'Unit name="V"' not in text


@pytest.mark.parametrize("version", [2, 3])
def test_the_command_of_a_dc_motor_is_a_voltage(tmp_path, version):
    driven = ARM.replace(actuators={"joint2": dy.DCMotor(resistance=0.5, constant=0.1, ratio=100.0)})
    text = files_of(dy.write_fmu(driven, tmp_path / "m.fmu", binary=False, version=version))["modelDescription.xml"]
    root = ElementTree.parse(io.BytesIO(text)).getroot()
    found = {x.get("name"): x for x in root.find("ModelVariables")}
    unit = {name: x.get("unit") or x.find("Real").get("unit") for name, x in found.items() if name.startswith("tau.")}
    assert unit == {"tau.joint1": "N.m", "tau.joint2": "V"}
    assert found["tau.joint2"].get("description") == "voltage of the motor"
    volt = next(x for x in root.find("UnitDefinitions") if x.get("name") == "V").find("BaseUnit")
    assert dict(volt.items()) == {"kg": "1", "m": "2", "s": "-3", "A": "-1"}
    assert b'variableNamingConvention="structured"' in text


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"version": 1}, dy.InputError, "version must be 2 or 3, got 1"),
        ({"step": 0.0}, dy.InputError, "step must be a positive number of seconds, got 0.0"),
        ({"frame": "nowhere"}, dy.NameLookupError, "nowhere"),
        ({"wrench": "nowhere"}, dy.NameLookupError, "nowhere"),
        ({"friction": {"joint1": dy.Coulomb(1.0, 1.0)}}, dy.InputError, "does not stick: use friction='smooth'"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        dy.write_fmu(ARM, tmp_path / "arm.fmu", binary=False, **options)


def test_names_of_files_and_robots_without_values_are_refused(tmp_path):
    with pytest.raises(dy.InputError, match=r"must end in \.fmu"):
        dy.write_fmu(ARM, tmp_path / "arm.zip")
    with pytest.raises(dy.InputError, match="parameters without values"):
        dy.write_fmu(dy.load("planar_2r"), tmp_path / "arm.fmu")
    with pytest.raises(dy.InputError, match="cannot be written"):
        dy.write_fmu(ARM, tmp_path / "missing" / "arm.fmu", binary=False)


@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_the_command_writes_what_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(
        cli, ["fmu", "scara", "arm.fmu", "--fmi", "2", "--wrench", "base", "--gravity", "--sources-only", "--no-derivatives"]
    )
    assert (run.exit_code, run.output) == (0, "wrote arm.fmu\n")
    text = files_of("arm.fmu")["modelDescription.xml"]
    assert b'fmiVersion="2.0"' in text
    assert b"wrench.mz" in text
    assert b"gravity.z" in text
    assert b"providesDirectionalDerivative" not in text
    monkeypatch.setattr("shutil.which", lambda _name: None)
    run = CliRunner().invoke(cli, ["fmu", "scara", "arm.fmu", "--json"])
    assert "warning: no C compiler was found" in run.stderr
    assert json.loads(run.stdout) == {"written": ["arm.fmu"]}
    assert CliRunner().invoke(cli, ["fmu", "scara", "arm.zip"]).exit_code == 2
