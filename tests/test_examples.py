"""Every example runs, writes a picture that shows something, prints figures that make sense, and has its place in the gallery."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("[0-9]*.py"))
GALLERY = ROOT / "docs" / "gallery.md"
NUMBER = r"([-+]?[\d.]+(?:e[-+]?\d+)?)"


def numbers(pattern, printed):
    """The numbers that stand where the pattern has #, in its first match."""
    found = re.search(pattern.replace("#", NUMBER), printed)
    assert found, f"{pattern!r} is not in what was printed:\n{printed}"
    return [float(x) for x in found.groups()]


def equations_of_motion(out):
    assert "M11 = m_1*l_1^2 + I_1" in out
    assert "skew: True" in out
    assert "1 of 2 entries is right" in out


def your_own_urdf(out):
    assert out.count("break the triangle inequality") == 2
    assert 0.5 < numbers(r"UR5e: # s", out)[0] < 3.0


def fall_with_dry_friction(out):
    assert out.startswith("completed")
    assert out.count("stops") == 2
    error, energy = numbers(r"energy error # J of # J", out)
    assert error < 1e-4
    assert 40.0 < energy < 70.0


def control_with_a_wrong_model(out):
    (pd,), (computed,), (adaptive,) = (numbers(rf"{name}\S* +(?:\S+ )?largest #", out) for name in (r"gravity", "torque", "Li"))
    assert adaptive < computed < pd < 20.0


def a_thousand_arms(out):
    assert "all 1000 completed" in out
    middle, most = numbers(r"tip error # mm median, # mm largest", out)
    assert 10.0 < middle < most < 100.0


def fastest_motion(out):
    assert numbers(r"busiest joint is at # %", out)[0] == pytest.approx(100.0, abs=1.0)
    assert "torque of panda_joint" in out


def redundancy(out):
    laws = ("driven-acceleration", "acceleration-energy", "torque")
    costs = [numbers(rf"\n{law} +#", out)[0] for law in laws]
    assert costs[2] > 100 * costs[0]  # the least torque at every instant costs most in the end


def all_inverse_kinematics(out):
    assert len(re.findall(r"error", out)) == 8
    assert all(float(x) < 1e-8 for x in re.findall(r"error (\S+)", out))


def workspace_maps(out):
    low, high = numbers(r"payload: # \.\.\. # kg", out)
    assert 5.0 < low < high < 60.0
    assert numbers(r"manipulability: # \.\.\. #", out)[1] == pytest.approx(0.15, abs=0.03)


def forces_and_stiffness(out):
    assert [float(x) for x in re.findall(r"downward force (\d+) N", out)] == pytest.approx([1746, 3106, 1854], abs=2)


def excitation(out):
    before, after = numbers(r"condition number # for the best random motion, # for this one", out)
    assert 1.0 < after < before


def identify_a_robot(out):
    assert re.search(r"^(?:Good|Usable)\.$", out, flags=re.M)
    assert numbers(r"largest relative torque difference after reading back #", out)[0] < 1e-9
    after = re.search(r"before and \[(.*?)\] % after", out, flags=re.S)[1]
    assert max(map(float, after.split())) < 3.0


def payload_from_a_log(out):
    mass, error = numbers(r"mass # kg, standard error # kg", out)
    assert abs(mass - 3.0) < 5 * error < 0.1


def elastic_joint(out):
    hasty, timed = re.findall(r"oscillates by ([\d.]+) deg", out)
    assert float(hasty) > 5.0
    assert float(timed) < 0.1


def four_bar(out):
    assert "1 degree of freedom" in out
    assert numbers(r"pin force up to # N", out)[0] == pytest.approx(49.7, abs=0.5)


def c_code(out):
    assert numbers(r"# lines of C", out)[0] > 100
    if "largest difference" in out:  # there is a C compiler
        assert numbers(r"largest difference between C and Python: # N m", out)[0] < 1e-9


def proven_bounds(out):
    assert numbers(r"Coriolis: found #, proven between # and #", out) == pytest.approx([75.0] * 3, rel=1e-3)
    assert numbers(r"largest fraction of the bound in 600 random states: #", out)[0] <= 1.0


def detect_a_push(out):
    assert len(out.strip().splitlines()) == 1  # one push, one alarm
    start, end = numbers(r"# … # s: at or beyond joint4", out)
    assert 1.4 <= start < 1.45
    assert end < 1.8


def mppi(out):
    left, gap = numbers(r"# mm from the goal, past the column at # mm", out)
    assert left <= 10.0
    assert 20.0 < gap < 60.0


def fmu(out):
    assert 5.0 < numbers(r"ur5e\.fmu: # kB", out)[0] < 100.0
    assert numbers(r"tracking error without feedback: # rad", out)[0] < 0.01
    if "not simulated by FMPy" not in out:
        assert numbers(r"largest difference between FMPy and Dynamis: # rad", out)[0] < 1e-9


def real_time_loop(out):
    if "not run in C" not in out:
        assert numbers(r"largest difference between the C program and Python: # rad", out)[0] < 1e-9
        assert "µs per cycle" in out


def swing_up(out):
    assert out.startswith("converged")
    most, hold = numbers(r"largest torque # N m; # N m would hold", out)
    assert most <= 800.0 < hold
    assert numbers(r"ends # rad from the goal", out)[0] < 0.05


def least_effort(out):
    assert out.startswith("converged")
    smooth, best = (numbers(rf"{name}: effort #", out)[0] for name in ("Quintic", "Least effort"))
    assert best < 0.5 * smooth


def gradients_elsewhere(out):
    lines = out.strip().splitlines()
    assert [line.split(":")[0] for line in lines] == ["casadi", "jax", "torch", "numba"]
    for line in lines:
        assert "pip install 'dynamis[" in line or numbers(r"relative difference #,", line)[0] < 1e-12


def solvers_elsewhere(out):
    names = [line.split(":")[0] for line in out.strip().splitlines()]
    assert names == ["iLQR", "Crocoddyl", "aligator", "acados", "Gymnasium"]
    (ours,) = numbers(r"iLQR: converged.*cost #", out)
    if "Crocoddyl: not installed" not in out:
        assert numbers(r"Crocoddyl: .*cost #", out)[0] == pytest.approx(ours, rel=1e-2)


def tuned_gains(out):
    assert "never higher: True" in out
    first, last = numbers(r"after 1 s: # rad, then # rad", out)
    assert last < 0.5 * first


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_an_example_runs_and_draws(script, tmp_path, monkeypatch, capsys):
    image = pytest.importorskip("matplotlib.image")
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    monkeypatch.setattr("dynamis.drawing.FILE_DPI", 160)  # the size of the gallery
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    globals()[script.stem[3:]](capsys.readouterr().out)

    picture = image.imread(tmp_path / f"{script.stem}.png")[..., :3]
    assert picture.shape[:2] == (752, 1200)
    ink = (np.abs(picture - 1.0) > 0.1).any(axis=-1)
    assert 0.01 < ink.mean() < 0.9  # neither blank nor filled
    rows = ink.reshape(8, 94, 1200).any(axis=(1, 2))
    assert rows.all()  # the page is used from top to bottom


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_an_example_is_short_states_what_it_shows_and_is_in_the_gallery(script):
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert "Shows: " in text.split('"""')[1]
    assert not re.search(r"\b(?:import|from) dynamis\S*\._|\._[a-z]", text)  # public names only
    page = GALLERY.read_text(encoding="utf-8")
    assert f"gallery/{script.stem}.png" in page
    assert f"examples/{script.name}" in page
    assert (GALLERY.parent / "gallery" / f"{script.stem}.png").stat().st_size < 150_000


def test_the_gallery_shows_no_picture_without_an_example():
    stems = {script.stem for script in SCRIPTS}
    assert {path.stem for path in (GALLERY.parent / "gallery").glob("*.png")} == stems
    assert set(re.findall(r"gallery/([\w]+)\.png", GALLERY.read_text(encoding="utf-8"))) == stems
