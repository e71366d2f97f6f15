"""Logs of arms with springs, counterweights or gas cylinders that their files lack."""

import re
from functools import cache

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis.errors import InputError, NameLookupError
from dynamis.identification import LinearModel, Log


def motion(robot, seed, amplitude=1.2):
    """A generator of random numbers, and t, q, v and a of 20 s."""
    rng, t, n = np.random.default_rng(seed), np.arange(2500) / 125.0, robot.n
    w, phase = 2.0 * np.pi * rng.uniform(0.05, 0.45, (4, n)), rng.uniform(0.0, 6.28, (4, n))
    angle = w * t[:, None, None] + phase
    q = amplitude / 4.0 * np.sin(angle).sum(axis=1) + [0.0, -0.8, 0.6, *[0.0] * (n - 3)]
    return rng, t, q, amplitude / 4.0 * (w * np.cos(angle)).sum(axis=1), -amplitude / 4.0 * (w**2 * np.sin(angle)).sum(axis=1)


def weight(q, gravity):
    """The amplitude and the phase of gravity at a joint, as a function of its own position."""
    s, c = np.linalg.lstsq(np.stack([np.sin(q), np.cos(q)], axis=1), gravity, rcond=None)[0]
    return np.hypot(s, c), np.arctan2(c, s)


KINDS = {
    "counterweight": lambda q, size, phase: -0.7 * size * np.sin(q + phase),
    "spring": lambda q, size, phase: 0.7 * size * (q + 0.5),
    "cylinder": lambda q, size, phase: -0.7 * size * np.sin(q + phase) / np.sqrt(1.09 + 0.6 * np.cos(q + phase)),
}


def recorded(name, kind, seed, *, error=0.1, joint=1):
    """A robot, and a log of one with masses that differ by ``error``, friction, and a balancer of a joint."""
    robot = dy.load(name)
    real = dy.control.perturbed(robot, error, seed=seed)
    rng, t, q, v, a = motion(robot, seed)
    size, phase = weight(q[:, joint], real.gravity(q)[:, joint])
    tau = real.inverse_dynamics(q, v, a)
    largest = np.abs(tau).max(axis=0)
    tau += 0.1 * largest * v / np.abs(v).max(axis=0) + 0.08 * largest * np.sign(v)
    balancer = KINDS[kind](q[:, joint], size, phase) if kind else np.zeros(len(t))
    tau[:, joint] += balancer
    log = Log(t, q + 2e-5 * rng.normal(size=q.shape), tau + 0.01 * largest * rng.normal(size=q.shape))
    return robot, real, log, balancer


@cache
def identified(name, kind, seed):
    """What is found of the log of ``recorded``."""
    robot, _, log, _ = recorded(name, kind, seed)
    return dy.identify(robot, log, compare=())


@pytest.mark.parametrize(("name", "kind"), [("puma560", "counterweight"), ("ur5e", "spring"), ("panda", "cylinder")])
def test_a_balancer_that_the_file_lacks_is_named_and_identified(name, kind):
    robot, real, _, balancer = recorded(name, kind, 3)
    found = identified(name, kind, 3)
    assert found.verdict.grade in ("good", "usable")
    joint = robot.coordinate_names[1]
    kinds = [kind for kind in found.base.model.kind if "balancer" in kind]
    assert len(kinds) == (2 if kind == "counterweight" else 4)
    (note,) = [note for note in found.notes if "balancer" in note]
    assert note.startswith(f"'{joint}' seems to have a balancer that the file lacks")
    assert note.endswith("it is identified, too")
    size = float(re.search(r"changes by (\d+) N m", note)[1])
    assert size == pytest.approx(np.ptp(balancer), rel=0.15)
    # the masses are those of the links, not of links and balancer: without it the second one differs by tens of percent
    model = found.base.model
    for link in ("link2", "upper_arm_link", "panda_link2"):
        if f"{link}.m" in model.names:
            place = next(body.place for body in model.bodies if body.name == link)
            true, est = LinearModel(real).prior[place], np.asarray(found.full)[place]
            assert np.linalg.norm(est[1:4] - true[1:4]) < 0.35 * max(np.linalg.norm(true[1:4]), 0.2 * true[0])


@pytest.mark.parametrize("name", few_of(["puma560", "ur5e", "panda"], ["ur5e"]))
def test_wrong_masses_are_no_balancer(name):
    robot, _, log, _ = recorded(name, "", 5, error=0.3)
    found = dy.identify(robot, log, compare=())
    assert found.verdict.grade == "good"
    assert not any("balancer" in note for note in (*found.notes, *found.verdict.reasons))


def test_a_given_model_without_the_balancer_is_told_the_argument():
    robot, _, log, _ = recorded("puma560", "counterweight", 3)
    without = dy.identify(LinearModel(robot), log, compare=())
    assert without.verdict.grade == "usable"
    assert any("add balancer=['shoulder']" in reason for reason in without.verdict.reasons)
    given = dy.identify(LinearModel(robot, balancer={"shoulder": 1}), log, compare=())
    assert not any("balancer that the file lacks" in text for text in (*given.verdict.reasons, *given.notes))
    assert not any("times those of the model" in reason for reason in given.verdict.reasons)


def test_files_lack_balancers_and_say_so(tmp_path):
    written = identified("puma560", "counterweight", 3).write(tmp_path / "better.toml")
    assert any("the balancer of shoulder" in note for note in written.notes)


def test_joints_of_balancers_are_checked():
    robot = dy.load("puma560")
    with pytest.raises(NameLookupError, match="'sholder'; did you mean 'shoulder'"):
        LinearModel(robot, balancer=["sholder"])
    floating = dy.load("go2", base="floating")
    with pytest.raises(InputError, match="balancer= takes joints with one variable"):
        LinearModel(floating, balancer=floating.coordinate_names[:1])
    with pytest.raises(InputError, match="1 or 2 harmonics"):
        LinearModel(robot, balancer={"shoulder": 3})
    with pytest.raises(InputError, match="balancer= takes names of joints"):
        LinearModel(robot, balancer=3)
    names = LinearModel(robot, balancer="shoulder", offset=True).names
    assert names.count("shoulder.offset") == 1
    assert "shoulder.balancer_sin2" in names
    assert "shoulder.balancer_sin2" not in LinearModel(robot, balancer={"shoulder": 1}).names
    stanford = dy.load("stanford")
    slide = next(c.name for c in stanford.model.coordinates if not c.revolute)
    assert [kind for kind in LinearModel(stanford, balancer=[slide]).kind if "balancer" in kind] == ["balancer"]
