"""Terms that are tried on held-out motion: their columns are those of the model they stand for, and what is added is what
predicts better with the fewest columns."""

from types import SimpleNamespace

import numpy as np
import pytest
from small_machines import spatial_arm

from dynamis.identification import LinearModel, Samples, base_parameters, equations
from dynamis.identification.model_terms import (
    Candidate,
    _added,
    _candidates,
    _reference_temperature,
    _Terms,
    _with,
    better_settings,
)

ROBOT = spatial_arm()
COUNT = 5


def columns_of(terms, rank, run):
    """(N, n, columns) of all terms, behind those of the base parameters."""
    values = np.hstack(terms.columns(run, terms.sample_states().advance(run)))
    found = np.zeros((len(run), terms.n, rank + terms.count))
    for j in range(terms.n):
        places, own = terms.of_joint(j, values)
        found[:, j, rank + places] = own
    return found


@pytest.mark.parametrize("warm", [False, True])
def test_a_candidate_has_the_columns_of_the_model_it_stands_for(warm):
    base = base_parameters(LinearModel(ROBOT))
    q, v, a = np.random.default_rng(0).normal(size=(3, COUNT, ROBOT.n))
    temperature = 25.0 + np.random.default_rng(1).uniform(0.0, 20.0, (COUNT, ROBOT.n)) if warm else None
    run = Samples.of(q, v, a, 0.0 * q, temperature=temperature)
    reference = _reference_temperature([run])
    assert (reference is not None) == warm
    terms = _Terms(base, reference)
    dry = np.array([k for k, name in enumerate(base.names) if name.endswith(".coulomb")])
    found, tried = columns_of(terms, base.rank, run), set()
    candidates = _candidates(base, terms, dry)
    # of all joints, and of single joints: Stribeck, quadratic, square-root and load-dependent friction
    assert sum(len(c.columns) == 1 for c in candidates) == 4 * ROBOT.n
    for candidate in candidates:
        model = LinearModel(ROBOT, **candidate.settings)
        smooth = "smooth" in candidate.settings
        new = [
            k for k, name in enumerate(model.names) if name not in base.model.names or (smooth and name.endswith(".coulomb"))
        ]
        states = model.sample_states().advance(run)
        expected = np.array([model.rows(ROBOT, *sample) for sample in zip(q, v, a, states, strict=True)])[:, :, new]
        apart = np.abs(found[:, :, candidate.columns, None] - expected[:, :, None, :]).max(axis=(0, 1))
        assert apart.shape == (len(new), len(new)), candidate.words
        assert sorted(apart.argmin(axis=1)) == list(range(len(new))), candidate.words
        assert apart.min(axis=1).max() < 1e-12 * max(1.0, np.abs(expected).max()), candidate.words
        assert np.array_equal(candidate.replaces, dry if smooth else [])
        assert candidate.loaded == ("load" in "".join(candidate.settings.get("friction", ())))
        tried.update(candidate.columns)
    assert tried == set(range(base.rank, base.rank + terms.count))  # none is left out


def candidate(name, columns, replaces=(), **settings):
    return Candidate(name, settings or {"friction": ("viscous", name)}, np.array(columns), np.array(replaces, int))


def added(residuals, candidates, rank=3):
    """With the residual [%] of each set of columns; others are as bad as the first."""
    first = residuals[tuple(range(rank))]
    trials = SimpleNamespace(squares=lambda chosen: residuals.get(tuple(chosen), first), percent=lambda squares: squares)
    return _added(trials, rank, candidates)


POWER, LOAD = candidate("power", [4, 5]), candidate("load", [6])


@pytest.mark.parametrize(
    ("residuals", "words"),
    [({(0, 1, 2): 1.0, (0, 1, 2, 6): 0.1}, []),  # nothing left to explain
     ({(0, 1, 2): 10.0, (0, 1, 2, 6): 9.71}, []),  # less than three percent better
     ({(0, 1, 2): 10.0, (0, 1, 2, 6): 9.69}, ["load"]),
     ({(0, 1, 2): 10.0, (0, 1, 2, 6): 5.04, (0, 1, 2, 4, 5): 5.0}, ["load"]),  # as well, with fewer columns
     ({(0, 1, 2): 10.0, (0, 1, 2, 6): 5.06, (0, 1, 2, 4, 5): 5.0}, ["power"]),
     ({(0, 1, 2): 10.0, (0, 1, 2, 6): 6.0, (0, 1, 2, 4, 5): 5.0, (0, 1, 2, 4, 5, 6): 4.0}, ["power", "load"]),
     ({(0, 1, 2): 10.0, (0, 1, 2, 6): 0.9, (0, 1, 2, 4, 5): 5.0, (0, 1, 2, 4, 5, 6): 0.1}, ["load"])],
)  # fmt: skip
def test_terms_are_added_one_by_one_as_long_as_the_residual_falls(residuals, words):
    settings, found, (before, after) = added(residuals, [POWER, LOAD])
    assert found == words
    assert settings == ({"friction": ("viscous", *words)} if words else {})
    chosen = sorted({0, 1, 2}.union(*(set(c.columns.tolist()) for c in (POWER, LOAD) if c.words in words)))
    assert (before, after) == (residuals[0, 1, 2], residuals[tuple(chosen)])


def test_settings_of_several_terms_are_joined_and_one_width_of_the_sign_is_chosen():
    narrow, wide = candidate("narrow", [3], [2], smooth=0.02), candidate("wide", [4], [2], smooth=0.1)
    pairs = [candidate(f"pair {k}", [5 + k], couplings=((f"joint{k}", f"joint{k + 1}"),)) for k in range(2)]
    residuals = {(0, 1, 2): 50.0, (0, 1, 3): 20.0, (0, 1, 4): 30.0, (0, 1, 3, 5): 10.0, (0, 1, 3, 5, 6): 5.0,
                 (0, 1, 3, 4): 1e-3, (0, 1, 3, 4, 5): 1e-3, (0, 1, 3, 4, 5, 6): 1e-3}  # fmt: skip
    settings, words, _ = added(residuals, [wide, narrow, *pairs])
    assert words == ["narrow", "pair 0", "pair 1"]
    assert settings == {"smooth": 0.02, "couplings": (("joint0", "joint1"), ("joint1", "joint2"))}


def test_columns_take_the_place_of_those_that_they_replace():
    assert np.array_equal(_with(np.arange(4), candidate("smooth", [7, 6], [1, 3])), [0, 2, 6, 7])


def run_at(*temperatures):
    """Each of these temperatures for one joint, and half a kelvin less for the other."""
    zeros = np.zeros((len(temperatures), 2))
    return Samples.of(zeros, zeros, zeros, zeros, temperature=np.column_stack([temperatures, np.subtract(temperatures, 0.5)]))


def test_the_reference_is_the_mean_temperature_of_runs_in_which_a_joint_warms_up():
    cold = Samples.of(*np.zeros((4, 2, 2)))
    assert _reference_temperature([run_at(30.0, 32.0)]) == 31.0  # 30.75
    assert _reference_temperature([run_at(30.0, 31.9)]) is None
    assert _reference_temperature([run_at(30.0, 30.0), run_at(40.0, 50.0)]) == 37.0  # 37.25: each run counts alike
    assert _reference_temperature([run_at(30.0, 30.0), run_at(40.0, 40.0)]) is None
    assert _reference_temperature([run_at(30.0, 50.0), cold]) is None


def test_friction_that_depends_on_the_load_is_chosen_and_left_out_of_the_second_choice():
    t = np.linspace(0.0, 20.0, 2000)
    waves = [np.array([0.9, 1.3, 1.7]) * speed for speed in (1.0, 2.1)]
    q, v, a = (sum(f(w, t[:, None]) for w in waves) for f in (
        lambda w, t: np.sin(w * t), lambda w, t: w * np.cos(w * t), lambda w, t: -(w**2) * np.sin(w * t)))  # fmt: skip
    model = LinearModel(ROBOT, friction=("viscous", "coulomb", "load", "power"))
    real = model.prior.copy()
    for k in range(3):
        for term, value in (("viscous", 0.5), ("coulomb", 0.4), ("load", 0.2), ("power", 9.0)):
            real[model.index(f"joint{k}.{term}")] = value
    tau = model.regressor(q, v, a) @ real + np.random.default_rng(2).normal(scale=0.1, size=q.shape)
    rows = equations(base_parameters(LinearModel(ROBOT)), Samples.of(q, v, a, tau, t=t, period=t[1]))
    settings, unloaded, note = better_settings(rows)
    assert set(settings["friction"]) == {"viscous", "coulomb", "load", "power"}
    assert not any(term.endswith("load") for term in unloaded["friction"])
    assert "power" in unloaded["friction"]
    assert "load" in note
