"""dynamis excite."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.excite import NAMES, excite
from dynamis.identification import excitation
from dynamis.identification.excitation import CRITERIA, Excitation, design

ARM = "planar_2r_melchiorri"
QUICK = ("--time", "4", "--harmonics", "3", "--restarts", "1", "--seconds", "1")


def run(*arguments):
    return CliRunner().invoke(excite, arguments)


def test_a_motion_is_summed_up_and_written(tmp_path):
    files = [str(tmp_path / name) for name in ("m.csv", "m.json")]
    result = run(ARM, *QUICK, "--velocity", "3", "--effort", "3000,900", "--rate", "100", "--out", files[0], "--out", files[1],
                 "--plot", str(tmp_path / "m.png"))  # fmt: skip
    assert result.exit_code == 0, result.output
    for words in (
        "condition number",
        "best random trajectory",
        "Share of the limits used",
        "joint2",
        "torque",
        "best of 1 search",
        "wrote",
    ):
        assert words in result.output
    assert len((tmp_path / "m.csv").read_text().splitlines()) == 402
    assert Excitation.load(files[1]).condition < Excitation.load(files[1]).condition_before
    assert (tmp_path / "m.png").read_bytes()[:4] == b"\x89PNG"


def test_machine_readable_output_has_everything():
    result = run(ARM, *QUICK, "--kind", "spline", "--criterion", "d-optimal", "--friction", "none", "--box", ":-2,2,-2,1.5,-inf,inf",
                 "--json")  # fmt: skip
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["criterion"] == "d-optimal"
    assert facts["basis"]["kind"] == "spline"
    assert facts["condition"] > 1.0
    assert {use["kind"] for use in facts["uses"]} == {"position", "place"}
    assert facts["written"] == []


def test_a_motion_after_a_log_says_what_it_will_make_certain(tmp_path):
    arm, rng = dy.load(ARM), np.random.default_rng(0)
    t = np.arange(0.0, 12.0, 0.005)[:, None]
    w, size = np.array([0.9, 2.1]), np.array([0.01, 0.8])
    q = size * (np.sin(w * t) + 0.5 * np.sin(2.3 * w * t + 1.0))
    v = size * w * (np.cos(w * t) + 0.5 * 2.3 * np.cos(2.3 * w * t + 1.0))
    a = -size * w**2 * (np.sin(w * t) + 0.5 * 2.3**2 * np.sin(2.3 * w * t + 1.0))
    tau = arm.inverse_dynamics(q, v, a) + rng.normal(size=q.shape)
    file = tmp_path / "run.csv"
    np.savetxt(file, np.hstack([t, q, tau]), delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    options = (*QUICK, "--velocity", "3", "--acceleration", "10", "--after", str(file))
    result = run(ARM, *options)
    assert result.exit_code == 0, result.output
    assert "criterion a-optimal" in result.output
    assert "Standard errors of the least certain base parameters" in result.output
    assert re.search(r"the largest, of link1\.\w+, is expected to fall to [\d.e-]+ % of its value", result.output)
    facts = json.loads(run(ARM, *options, "--json").stdout)
    assert facts["expected_errors"][0]["after"] < 0.5 * facts["expected_errors"][0]["before"]


CART = """
[[link]]
link = "cart"
joint = "rail"
type = "prismatic"
axis = [1, 0, 0]
mass = 2
[[link]]
link = "pole"
joint = "hinge"
axis = [0, 1, 0]
mass = 1
com = [0, 0, 0.3]
"""


def test_a_range_in_metres_is_never_assumed_and_one_in_radians_is_marked(tmp_path):
    file = tmp_path / "cart.toml"
    file.write_text(CART)
    refused = run(str(file), *QUICK)
    assert refused.exit_code == 2
    assert "'rail': no position limits in metres" in refused.output
    assert "give --lower and --upper" in refused.output
    quick = (str(file), *QUICK[:-2], "--seconds", "0.2", "--lower=-0.2,-inf", "--upper", "0.3,inf")
    found = run(*quick)
    assert found.exit_code == 0, found.output
    assert "range assumed: hinge -3.14 … 3.14 rad;" in found.stderr
    assert "no velocity limits; peak velocity: rail" in found.stderr
    assert "no acceleration or torque limits" in found.stderr
    rail, hinge = (next(line for line in found.stdout.splitlines() if line.startswith(name)) for name in ("rail", "hinge"))
    assert "assumed" in hinge
    assert "assumed" not in rail
    assert "m/s²" in rail
    assert "rad/s²" in hinge
    limited = run(*quick, "--velocity", "1,2", "--acceleration", "3,10", "--json")
    assert "hinge" in limited.stderr
    assert "peak" not in limited.stderr
    facts = json.loads(limited.stdout)
    assert {use["name"]: use["assumed"] for use in facts["uses"] if use["kind"] == "position"} == {"rail": False, "hinge": True}
    rail_use = next(use for use in facts["uses"] if use["kind"] == "position")
    assert -0.2 <= rail_use["lowest"] < rail_use["highest"] <= 0.3
    assert 0.0 < facts["peaks"]["velocity"][0] <= 1.0


def test_places_are_told():
    result = run("puma560", *QUICK[:-2], "--seconds", "0.5", "--above", "0.1")
    assert result.exit_code == 0, result.output
    assert "height of" in result.output
    assert "0.1 …" in result.output


def test_the_same_seed_gives_the_same_output():
    first, again, other = (run(ARM, *QUICK, "--seed", seed, "--json").output for seed in ("1", "1", "2"))
    assert first == again
    assert first != other


def test_the_choices_are_those_of_the_design():
    assert set(NAMES) == set(CRITERIA)
    assert excitation.design_excitation is design.design_excitation


def test_an_interruption_writes_the_best_so_far(monkeypatch, tmp_path):
    def interrupted(self, fraction, name):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "dynamis.cli.progress.Bar.show", lambda self, x, text: interrupted(self, x, text) if "best" in text else None
    )
    result = run(ARM, *QUICK, "--out", str(tmp_path / "m.json"))
    assert result.exit_code == 130
    assert "interrupted: best so far" in result.output
    assert Excitation.load(tmp_path / "m.json").condition > 1.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--box", "1,2,3"), "--box takes FRAME:xmin"),
        (("--box", "tool:1,2,3,4,5,x"), "--box takes numbers"),
        (("--box", "nowhere:0,1,0,1,0,1"), "no frame"),
        (("--box", "5,6,5,6,5,6"), "no configuration at rest satisfies all limits"),
        (("--start", "1,2,3"), "--q0 takes 2 numbers"),
        (("--margin", "120"), "--margin takes percent"),
        (("--velocity", "-3"), "velocity must be positive"),
        (("--friction", "sticky"), "friction"),
        (("--harmonics", "1"), "harmonics must be"),
        (("--out", "motion.xls"), "the file name must end in"),
    ],
)
def test_bad_input_says_what_to_do(arguments, sentence):
    result = run(ARM, *QUICK, *arguments)
    assert result.exit_code == 2, result.output
    assert sentence in result.output


def test_help_has_examples():
    assert "dynamis excite kuka_iiwa14 --out motion.csv" in run("--help").output


@pytest.mark.filterwarnings("ignore:the motion excites the parameters less")  # in little time
def test_collisions_are_avoided_or_said_not_to_be_checked():
    assert "collisions are not checked" in run(ARM, *QUICK).stderr
    assert "collisions are not checked" not in run(ARM, *QUICK, "--no-collision").stderr
    pytest.importorskip("coal", reason="coal is not installed: pip install coal")
    result = run("ur5e", *QUICK, "--above", "0", "--json")
    assert json.loads(result.stdout)["nearest"]["distance"] > 0.01


@pytest.mark.filterwarnings("default")
def test_a_motion_without_room_is_warned_of(monkeypatch):
    small = SimpleNamespace(
        robot=dy.load(ARM), pairs=(), in_collision=lambda q: (np.abs(q) > 0.02).any(axis=1),
        along=lambda *_, **__: SimpleNamespace(free=True, status="free"),
    )  # fmt: skip
    monkeypatch.setattr("dynamis.cli.excite._scene", lambda *_: small)
    result = run(ARM, *QUICK, "--seconds", "1", "--q0", "0,0")
    assert "pass another --q0, a smaller --clearance, no --above, or more time by --seconds" in " ".join(result.stderr.split())
