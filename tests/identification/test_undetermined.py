"""Parameters that a log does not determine have no interval: the spread of a prior is none."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli
from dynamis.identification import LinearModel, Samples


@pytest.fixture(scope="module")
def robots():
    heavy = {"link1": dy.solids.box(1.0, 1.0, 1.0, mass=3000.0)}  # of its inertia the second link tells nothing
    file = dy.load("planar_2r_melchiorri").replace(gravity=(0.0, 0.0, -9.81), inertias=heavy)
    return file, dy.control.perturbed(file, 0.3, seed=2)


def still(real, moves=(0.0, 1.0), seed=0):
    """Samples in which the joints move by these factors."""
    t = np.arange(2000)[:, None] * 0.005
    w, phase = np.array([1.3, 2.1]), np.array([0.0, 1.0])
    q, v, a = (np.array(moves) * x for x in (np.sin(w * t + phase), w * np.cos(w * t + phase), -(w**2) * np.sin(w * t + phase)))
    noise = 0.01 * np.random.default_rng(seed).normal(size=q.shape)
    return Samples.of(q, v, a, real.inverse_dynamics(q, v, a) + noise, period=0.005)


@pytest.mark.parametrize("estimator", ["consistent", "ridge"])
def test_a_parameter_that_is_not_excited_has_no_interval(robots, estimator, tmp_path):
    file, real = robots
    model = LinearModel(file, rotor=False)
    found = dy.identify(model, still(real), estimator=estimator, compare=(), examined=False)
    s = found.statistics
    k = s.names.index("link1.Izz")
    assert s.at_bound[k] == "prior"
    assert np.isnan(s.std[k])
    assert np.isnan(s.interval[k]).all()
    assert np.isnan(found.estimator.standard_errors_[k])
    assert s.names[k] not in s.uncertain
    row = found.as_dict()["parameters"][k]
    assert (row["standard_error"], row["interval"], row["at_bound"]) == (None, None, "prior")
    moved = [i for i, name in enumerate(s.names) if name.startswith("link2.")]
    assert np.isfinite(s.std[moved]).all()
    page = found.report(tmp_path / "report.md", draw=False).read_text()
    assert re.search(r"link1\.Izz .*not determined by the log", page)
    found.write(tmp_path / "better.urdf")
    whole = dy.identify(model, still(real, moves=(1.0, 1.0)), estimator=estimator, compare=(), examined=False).statistics
    assert not any(bound == "prior" for bound in whole.at_bound)


def test_the_command_shows_no_interval_of_it(robots, tmp_path):
    file, real = robots
    run = still(real)
    names = "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2"
    table = np.column_stack([np.arange(len(run.q)) * 0.005, run.q, run.v, run.a, run.tau])
    np.savetxt(tmp_path / "run.csv", table, delimiter=",", header=names, comments="")
    file.write(tmp_path / "arm.toml")
    call = ["identify", str(tmp_path / "arm.toml"), str(tmp_path / "run.csv"), "--all", "--compare", "none", "--unexamined"]
    text = CliRunner().invoke(cli, [*call, "--no-rotor"]).output
    assert re.search(r"\.Izz +\S+ +– ", text)
    assert re.search(r"not determined by the log: .*Izz", text)
