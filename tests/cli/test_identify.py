"""dynamis identify."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.cli.hints import for_command_line
from dynamis.control import perturbed
from dynamis.identification.logs import Mapping

ARM = "planar_2r_melchiorri"


def run(*arguments):
    return CliRunner().invoke(cli, ["identify", *map(str, arguments)])


def motion(robot, seed=0, count=1500, size=1.0, noise=1.0):
    """t, q, tau of three harmonics at 250 Hz; the robot's friction with it."""
    rng = np.random.default_rng(seed)
    t = np.arange(count) / 250.0
    w = 2.0 * np.pi * np.array([0.3, 0.7, 1.1])[:, None, None]
    phase, amplitude = rng.uniform(0, 6, (3, 1, robot.n)), size * rng.uniform(0.3, 0.6, (3, 1, robot.n))
    angle = w * t[:, None] + phase
    q, v, a = (
        np.sum(x, axis=0) for x in (amplitude * np.sin(angle), amplitude * w * np.cos(angle), -amplitude * w**2 * np.sin(angle))
    )
    tau = robot.inverse_dynamics(q, v, a)
    return t, q + 1e-7 * rng.normal(size=q.shape), tau + noise * rng.normal(size=q.shape)


def write(path, t, q, tau):
    if path.suffix == ".npz":
        np.savez(path, t=t, q=q, tau=tau)
    else:
        head = "t,q1,q2,tau1,tau2"
        np.savetxt(path, np.column_stack([t, q, tau]), delimiter=",", header=head, comments="", fmt="%.10g")
    return path


@pytest.fixture(scope="module")
def truth():
    d = dy.load(ARM).description
    for joint in d.joints:
        joint.drive.viscous, joint.drive.coulomb = 20.0, 10.0
    return dy.Robot(d)


@pytest.fixture(scope="module")
def folder(truth, tmp_path_factory):
    place = tmp_path_factory.mktemp("folder")
    perturbed(truth, 0.2, seed=2).write(place / "arm.toml")
    write(place / "run.csv", *motion(truth, 0))
    write(place / "other.npz", *motion(truth, 1))
    return place


@pytest.fixture(scope="module")
def machine(folder):
    """What one run says to machines."""
    files = ("--out", folder / "better.urdf", "--report", folder / "page.html")
    result = run(folder / "arm.toml", folder / "run.csv", "--validate", folder / "other.npz", *files, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_parameters_of_another_log_are_compared(folder, truth):
    loaded = truth.replace(payload=dy.Inertia.about_com(10.0, [0.2, 0.0, 0.0], np.eye(3)))
    write(folder / "loaded.npz", *motion(loaded, 3))
    arguments = (folder / "arm.toml", folder / "run.csv", "--compare", "none", "--against")
    same, other = (run(*arguments, folder / name) for name in ("other.npz", "loaded.npz"))
    assert same.exit_code == other.exit_code == 0, same.output + other.output
    assert re.search(r"0 of \d+ base parameters differ by more than", same.output)
    assert "Difference from the other log" in other.output
    assert re.search(r"link2\.mx .* \*", other.output)
    facts = json.loads(run(*arguments, folder / "loaded.npz", "--json").stdout)["against"]
    assert "link2.mx" in facts["significant"]
    assert facts["links"] == ["link2"]
    assert min(facts["crossed_residual_percent"]) > max(facts["own_residual_percent"])


def test_machines_get_everything(machine, folder, truth):
    assert machine["verdict"]["grade"] in ("good", "usable")
    assert set(machine["comparison"]) == {"consistent", "ordinary", "weighted", "ridge"}
    for each in machine["comparison"].values():
        assert each["held_out"] < each["prior"]
    names = [p["name"] for p in machine["parameters"]]
    assert "joint1.viscous" in names
    found = next(p for p in machine["parameters"] if p["name"] == "joint1.viscous")
    assert abs(found["value"] - 20.0) < 1.0
    assert machine["written"] == [str(folder / "better.urdf"), str(folder / "page.html")]
    assert machine["round_trip"]["difference"] < 1e-9
    assert machine["round_trip"]["held_out"] > 0.0
    assert any("run.csv" in note for note in machine["notes"])


def test_files_are_written_and_better(machine, folder, truth):
    rng = np.random.default_rng(4)
    q, v, a = rng.normal(size=(3, 100, 2))
    before, after = (dy.load(folder / name).inverse_dynamics(q, v, a) for name in ("arm.toml", "better.urdf"))
    exact = truth.inverse_dynamics(q, v, a)
    assert np.linalg.norm(after - exact) < 0.1 * np.linalg.norm(before - exact)
    page = (folder / "page.html").read_text()
    assert "estimator consistent ·" in page
    assert "http://" not in page
    assert "https://" not in page


def test_people_get_a_verdict_tables_and_files(folder, tmp_path):
    out = tmp_path / "better.toml"
    result = run(folder / "arm.toml", folder / "run.csv", "--estimator", "weighted", "--compare", "none", "--out", out, "--all")
    assert result.exit_code == 0, result.output
    for words in ("base parameters from", "Residual torque, validation on held-out blocks", "weighted (chosen)", "prior model",
                  "Residual torque by joint (weighted)", "Base parameters", "joint1.coulomb", "N m s/rad", "note:", "wrote", "read back", "residual of the file"):  # fmt: skip
        assert words in result.output
    assert "consistent " not in result.output  # as in a row of the comparison
    assert dy.load(out).n == 2


def test_the_report_has_a_name_of_its_own_and_needs_nothing_else(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(folder / "arm.toml", folder / "run.csv", "--compare", "none", "--report")
    assert result.exit_code == 0, result.output
    assert "wrote identification.html" in result.output
    page = (tmp_path / "identification.html").read_text()
    assert "http://" not in page
    assert "https://" not in page
    grade = re.search(r"not usable|usable|good|doubtful", result.output)
    assert grade
    assert grade[0] in page.lower()
    assert "joint2" in page
    assert "link2" in page


def test_a_parameter_at_its_bound_has_no_interval_anywhere(folder, truth, tmp_path):
    t, q, tau = motion(truth, 0)
    tau[:, 1] -= 40.0 * np.gradient(q[:, 1], t)  # the viscous friction of joint2 would be negative: −20
    log, page = write(tmp_path / "pushed.npz", t, q, tau), tmp_path / "page.md"
    result = run(folder / "arm.toml", log, "--compare", "none", "--all", "--report", page)
    assert re.search(r"joint2\.viscous +0 +– ", result.output)
    assert re.search(r"no interval, at its lower bound:[^–]* joint2\.viscous", result.output)
    row = next(line for line in page.read_text().splitlines() if line.startswith("| joint2.viscous | 0 |"))
    assert re.fullmatch(r"\| joint2\.viscous \| 0 \| – \| – \| none \|.*at its lower bound \|", row)
    found = dy.identify(dy.load(folder / "arm.toml"), str(log), compare=())
    s, k = found.statistics, found.base.names.index("joint2.viscous")
    assert s.at_bound[k] == "lower bound"
    assert np.isnan([s.std[k], *s.interval[k], s.deviation[k], s.inflation[k]]).all()
    assert np.isfinite(s.std[[not bound for bound in s.at_bound]]).all()
    assert "joint2.viscous" not in s.uncertain
    entry = found.as_dict()["parameters"][k]
    assert (entry["standard_error"], entry["interval"], entry["at_bound"]) == (None, None, "lower bound")
    assert "none (lower bound)" in found._repr_html_()
    assert not any("standard errors" in note for note in found.write(tmp_path / "better.toml").notes)


def test_the_report_shows_a_command_or_code_that_repeats_the_result(folder, tmp_path):
    options = {"estimator": "weighted", "compare": (), "folds": 2}
    found = dy.identify(folder / "arm.toml", [folder / "run.csv"], **options)
    again = {}
    exec(found.call, again)
    assert (again["found"].estimator.coef_ == found.estimator.coef_).all()
    assert found.call in found.report(tmp_path / "page.md", draw=False).read_text()
    assert "dynamis identify" in found.report(tmp_path / "page.md", draw=False, command="dynamis identify").read_text()
    assert dy.identify(dy.load(folder / "arm.toml"), folder / "run.csv", **options).call == ""  # a robot has no literal


def test_a_bad_result_ends_with_status_one(folder, truth, tmp_path):
    t, q, tau = motion(truth, 5, count=500, size=0.01, noise=300.0)
    log = write(tmp_path / "weak.csv", t, q, tau)
    out = tmp_path / "worse.toml"
    options = ("--validate", folder / "other.npz", "--estimator", "ordinary", "--compare", "none", "--out", out)
    result = run(folder / "arm.toml", log, *options)
    assert result.exit_code == 1, result.output
    assert "not usable" in result.output
    assert "worse than the prior model" in result.output
    assert out.exists()  # whoever asked for it gets it, with the verdict


def test_a_mapping_says_what_columns_are(folder, truth, tmp_path):
    t, q, tau = motion(truth)
    np.savetxt(
        tmp_path / "odd.csv", np.column_stack([1e3 * t, np.rad2deg(q), -tau]), delimiter=",", header="ms,a,b,x,y", comments=""
    )
    mapping = tmp_path / "odd.toml"
    mapping.write_text(
        '[time]\ncolumn = "ms"\nunit = "ms"\n[position]\ncolumns = ["a", "b"]\nunit = "deg"\n'
        '[torque]\ncolumns = ["x", "y"]\nsigns = [-1, -1]\n'
    )
    result = run(folder / "arm.toml", tmp_path / "odd.csv", "--mapping", mapping, "--compare", "none", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["comparison"]["consistent"]["held_out"] < 5.0


def test_what_is_looked_for_is_said_by_options(folder):
    plain = ("--compare", "none", "--json")
    result = run(
        folder / "arm.toml", folder / "run.csv", "--friction", "viscous", "--no-rotor", "--offset", "--smooth", "0.05", *plain
    )
    names = {p["name"] for p in json.loads(result.stdout)["parameters"]}
    assert "joint1.offset" in names
    assert not any(name.endswith((".coulomb", ".rotor")) for name in names)
    result = run(
        folder / "arm.toml", folder / "run.csv", "--spring", "--presliding", "joint2=0.02", "--couple", "joint1,joint2", *plain
    )
    assert result.exit_code in (0, 1), result.output
    names = {p["name"] for p in json.loads(result.stdout)["parameters"]}
    assert {"joint1.stiffness", "joint2.presliding", "joint1+joint2.viscous"} <= names
    signals = ("--cutoff", "15", "--parallel", "8", "--every", "5", "--slow", "0.05,0.1", "--rest", "drop", "--no-outliers")
    result = run(
        folder / "arm.toml", folder / "run.csv", *signals, "--derivative", "savgol", "--folds", "3", "--block", "0.5", *plain
    )
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--couple", "joint1"), "--couple takes two joints"),
        (("--couple", "joint1,elbow"), "no joint named 'elbow'"),
        (("--presliding", "joint1=far"), "--presliding takes an angle"),
        (("--presliding", "0.1", "--presliding", "0.2"), "give it once"),
        (("--friction", "sticky"), "no friction term named 'sticky'"),
        (("--friction", "stribeck"), "needs its characteristic speed"),
        (("--slow", "fast"), "--slow"),
        (("--logged", "v"), "is not in the log"),
        (("--logged", "speed"), "takes 'v' and 'a'"),
        (("--compare", "wieghted"), "did you mean 'weighted'"),
        (("--compare", "none", "--out", "robot.stl"), ".urdf"),
        (("--cutoff", "500"), "half the sampling rate"),
        (("--every", "0"), "every"),
        (("--block", "-1"), "is not a positive number"),
        (("--period", "0"), "is not a positive number"),
        (("--slow", "100"), "excludes every sample"),
        (("--delay", "1000"), "as long as the log"),
        (("--trim", "1000"), "leaves nothing of a log"),
        (("--folds", "50", "--block", "1"), "blocks cannot fill 50 folds"),
        (("--estimator", "best"), "'best' is not one of"),
        (("--folds", "1"), "--folds"),
        (("--only", "joint1.visc"), "no parameter named 'joint1.visc'"),
        (("--only", "essential", "--estimator", "ridge"), "--only"),
        (("--mapping", "none.toml"), "does not exist"),
        (("--validate", "none.csv"), "none.csv"),
    ],
)
def test_bad_input_says_what_to_do(folder, arguments, sentence):
    result = run(folder / "arm.toml", folder / "run.csv", *arguments)
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output


def test_only_selected_or_essential_parameters_are_fitted(folder):
    result = run(
        folder / "arm.toml", folder / "run.csv", "--only", "joint1.viscous, joint2.viscous", "--compare", "none", "--json"
    )
    values = {p["name"]: p["value"] for p in json.loads(result.stdout)["parameters"]}
    assert {name for name, value in values.items() if value} == {"joint1.viscous", "joint2.viscous"}
    result = run(folder / "arm.toml", folder / "run.csv", "--only", "essential", "--out", folder / "few.toml", "--json")
    found = json.loads(result.stdout)
    zero = [p for p in found["parameters"] if p["value"] == 0.0]
    assert 0 < len(zero) < len(found["parameters"]) - 3
    assert all(p["at_bound"] == "fixed" for p in zero)
    chosen = found["comparison"][f"weighted, {len(found['parameters']) - len(zero)} parameters"]
    assert chosen["held_out"] == pytest.approx(found["comparison"]["weighted"]["held_out"], rel=0.1)
    assert dy.load(folder / "few.toml").n == 2


def test_the_gravity_of_another_mounting_is_an_option_and_the_cure(truth, folder, tmp_path):
    hung = write(tmp_path / "hung.csv", *motion(truth.replace(gravity=-np.array(truth.model.gravity)), 3))
    other = ",".join(f"{0.0 - x:g}" for x in truth.model.gravity)
    refused = run(folder / "arm.toml", hung, "--compare", "none")
    assert refused.exit_code == 2
    assert f"set the gravity of the robot: --gravity {other}" in " ".join(refused.stderr.split())
    cure = for_command_line("set the gravity of the robot: gravity=(0,0,9.81)", cli.get_command(None, "identify"))
    assert cure == "set the gravity of the robot: --gravity 0,0,9.81"
    assert for_command_line("add couplings=[('a', 'b')]", cli.get_command(None, "identify")) == "add --couple a,b"
    assert run(folder / "arm.toml", hung, "--compare", "none", f"--gravity={other}").exit_code == 0
    assert "three numbers" in run(folder / "arm.toml", hung, "--gravity", "9.81").stderr


def test_a_joint_that_the_log_lacks_is_locked_by_an_option(folder, truth, tmp_path):
    t, q, _ = motion(truth, 4)
    one = truth.reduced({truth.joint_names[1]: 0.3})
    rates = np.gradient(q[:, :1], t, axis=0), np.gradient(np.gradient(q[:, :1], t, axis=0), t, axis=0)
    tau = one.inverse_dynamics(q[:, :1], *rates)
    np.savetxt(tmp_path / "one.csv", np.column_stack([t, q[:, :1], tau]), delimiter=",", header="t,q1,tau1", comments="")
    second = truth.joint_names[1]
    assert for_command_line(f"lock it: robot.reduced({{'{second}': 0.3}})") == f"lock it: --lock {second}=0.3"
    files = (folder / "arm.toml", tmp_path / "one.csv")
    result = run(*files, "--compare", "none", "--lock", f"{second}=0.3", "--json", "--out", tmp_path / "out.toml")
    assert result.exit_code in (0, 1), result.stderr
    data = json.loads(result.stdout)
    assert not any(second in name for name in data["parameters"])
    assert f"fixed in the file at the positions of --lock: '{second}'" in data["round_trip"]["notes"]
    assert dy.load(tmp_path / "out.toml").joint_names == one.joint_names
    assert "--lock takes a joint" in run(folder / "arm.toml", tmp_path / "one.csv", "--lock", second).stderr


def test_what_is_not_there_is_said(folder):
    assert run(folder / "arm.toml").exit_code == 2
    for arguments in ((folder / "arm.toml", "none.csv"), ("no_such_arm", folder / "run.csv"), ("ur5e", folder / "run.csv")):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.stderr
        assert result.stderr.startswith("dynamis: ")
        assert result.stdout == ""


def test_the_template_of_a_mapping_is_printed_as_it_must_be_saved(tmp_path):
    columns = [f"a long name of column {k}" for k in range(30)]
    (tmp_path / "odd.csv").write_text(",".join(columns) + "\n" + ",".join(["1"] * 30) + "\n")
    result = CliRunner().invoke(cli, ["identify", "ur5e", str(tmp_path / "odd.csv")], env={"COLUMNS": "60"})
    message, template = re.split(r"(?<=such as:)\n", result.stderr)
    assert "no columns of position were recognised" in " ".join(message.split())
    assert template == Mapping.skeleton(columns, dy.load("ur5e"))


def test_a_log_that_is_too_short_names_its_length_and_the_option(tmp_path):
    robot = dy.load("planar_2r_melchiorri")
    t = np.arange(50) / 125.0
    q = np.stack([np.sin(9.0 * t), np.cos(7.0 * t)], axis=1)
    log = tmp_path / "short.csv"
    np.savetxt(log, np.column_stack([t, q, robot.gravity(q)]), delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    said = " ".join(run("planar_2r_melchiorri", log).output.split())
    assert "50 samples, 0.4 s, are too few to find the noise floor" in said
    assert "pass the cut-off as --cutoff" in said


def without_times(path, q, tau):
    np.savetxt(path, np.column_stack([q, tau]), delimiter=",", header="q1,q2,tau1,tau2", comments="", fmt="%.10g")
    return path


def test_the_period_is_that_of_a_log_without_times(truth, tmp_path):
    t, q, tau = motion(truth)
    timed = run(ARM, write(tmp_path / "timed.csv", t, q, tau), "--compare", "none", "--json")
    untimed = run(ARM, without_times(tmp_path / "run.csv", q, tau), "--period", "0.004", "--compare", "none", "--json")
    assert untimed.exit_code == timed.exit_code == 0
    values = [json.loads(x.output)["parameters"] for x in (timed, untimed)]
    assert [x["name"] for x in values[0]] == [x["name"] for x in values[1]]
    assert [x["value"] for x in values[1]] == pytest.approx([x["value"] for x in values[0]], rel=1e-6)
    assert "set --period SECONDS" in " ".join(run(ARM, tmp_path / "run.csv").output.split())


def test_zeros_in_degrees_are_refused_or_converted(truth, tmp_path):
    t, q, tau = motion(truth)
    log = write(tmp_path / "run.csv", t, q - [0.0, 0.5 * np.pi], tau)
    refused = run(ARM, log, "--zero", "0,90", "--compare", "none")
    assert refused.exit_code == 2
    assert "write 90deg; if 90 rad is meant, write 90rad" in " ".join(refused.output.split())
    assert "--degrees" not in refused.output
    assert run(ARM, log, "--zero", "0,90deg", "--compare", "none").exit_code == 0


def test_zeros_are_given_joint_by_joint(truth, tmp_path):
    log = write(tmp_path / "run.csv", *motion(truth))
    refused = run(ARM, log, "--zero", "0.2", "--compare", "none")
    assert refused.exit_code == 2
    names = ", ".join(map(repr, truth.coordinate_names))
    assert f"--zero takes one number per joint ({names}), 0 where the zero is right; got '0.2'" in refused.stderr
    assert run(ARM, log, "--zero", "0", "--compare", "none").exit_code == 0


def test_a_total_mass_far_from_that_of_the_file_is_said(truth, tmp_path):
    log = write(tmp_path / "run.csv", *motion(truth))
    known = sum(link.mass_properties.mass for link in dy.load(ARM).description.links if link.mass_properties)
    words = "times that of the file"
    assert words not in run(ARM, log, "--total-mass", str(known), "--compare", "none").output
    assert words in " ".join(run(ARM, log, "--total-mass", str(10.0 * known), "--compare", "none").output.split())
