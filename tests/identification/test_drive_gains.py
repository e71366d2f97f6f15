"""Drive gains from currents: exact without noise, within their errors with it, refused where nothing sets the scale."""

import functools
from dataclasses import replace

import numpy as np
import pytest

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.base_parameters import base_parameters
from dynamis.identification.drive_gains import estimate_drive_gains
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.samples import Samples
from dynamis.spatial import Inertia

GAINS = np.array([13.5, 14.3, 11.4, 11.2, 11.8, -11.7])
LOAD = Inertia.about_com(3.0, [0.05, 0.02, 0.1], np.diag([0.02, 0.03, 0.01]))
N, H = 800, 0.0125


@functools.cache
def base():
    return base_parameters(LinearModel(dy.load("ur5e")))


@functools.cache
def motion(seed):
    rng = np.random.default_rng(seed)
    t = np.arange(N)[:, None] * H
    q, v, a = np.zeros((3, N, 6))
    for w in 2 * np.pi * 0.1 * np.arange(1, 6):
        A, B = 0.4 * rng.normal(size=(2, 6))
        s, c = np.sin(w * t), np.cos(w * t)
        q, v, a = q + A * s + B * c, v + w * (A * c - B * s), a - w * w * (A * s + B * c)
    return q, v, a


def run(seed, load=None, noise=0.0, **options):
    robot = base().model.robot
    q, v, a = motion(seed)
    carrying = robot if load is None else robot.replace(payload=load)
    tau = carrying.inverse_dynamics(q, v, a) + 1.5 * v + 2.0 * np.sign(v)
    i = tau / GAINS + noise * np.random.default_rng(seed + 100).normal(size=tau.shape)
    return Samples.of(q, v, a, i, period=H, **options)


def test_without_noise_gains_and_parameters_are_exact():
    found = estimate_drive_gains(base(), run(0), run(1, LOAD), LOAD)
    assert np.abs(found.gains / GAINS - 1).max() < 1e-8
    robot = base().model.robot
    q, v, a = motion(2)
    tau = robot.inverse_dynamics(q, v, a) + 1.5 * v + 2.0 * np.sign(v)
    assert np.allclose(base().regressor(q, v, a) @ found.parameters, tau, atol=1e-6)
    assert np.allclose(found.torque(tau / GAINS), tau)
    assert any("wrist_3_joint" in note and "negative" in note for note in found.notes)


@pytest.mark.parametrize("known", [["m"], ["m", "mx", "my", "mz"]])
def test_what_is_not_known_of_the_payload_is_found(known):
    rough = Inertia.from_parameters(np.where([name in known for name in dy.spatial.PARAMETER_NAMES], LOAD.parameters, 7.0))
    found = estimate_drive_gains(base(), run(0), run(1, LOAD), rough, known=known)
    assert np.abs(found.gains / GAINS - 1).max() < 1e-8
    assert np.allclose(found.payload.parameters, LOAD.parameters, atol=1e-8)


def test_with_noise_the_errors_are_those_that_are_told():
    scores = []
    for seed in range(0, 24, 2):
        found = estimate_drive_gains(base(), run(seed, noise=0.05), run(seed + 1, LOAD, noise=0.05), LOAD)
        scores.append((found.gains - GAINS) / found.standard_errors)
        assert np.allclose(found.noise, 0.05, rtol=0.1)
    scores = np.array(scores)
    assert (np.abs(scores) < 3.0).mean() > 0.97
    assert 0.7 < scores.std() < 1.3
    assert abs(scores.mean()) < 0.4  # 72 scores: more would be a bias


def test_errors_hold_for_autocorrelated_noise():
    scores = []
    for seed in range(0, 24, 2):
        noise = []
        for k in range(2):
            white = np.random.default_rng(seed + k).normal(size=(N, 6))
            for i in range(1, N):
                white[i] = 0.9 * white[i - 1] + np.sqrt(1.0 - 0.9**2) * white[i]
            noise.append(0.05 * white)
        runs = [run(seed), run(seed + 1, LOAD)]
        runs = [replace(x, tau=x.tau + e) for x, e in zip(runs, noise, strict=True)]
        found = estimate_drive_gains(base(), *runs, LOAD)
        scores.append((found.gains - GAINS) / found.standard_errors)
    assert 0.7 < np.std(scores) < 1.7  # with the errors of white noise it is 4


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("tensor", [np.zeros((3, 3)), np.diag([1e-3, 1e-3, 1e-3])])
def test_a_gain_that_the_payload_does_not_load_is_not_determined(tensor, noise):
    payload = Inertia.about_com(3.0, [0.0, 0.0, 0.1], tensor)
    found = estimate_drive_gains(base(), run(0, noise=noise), run(1, payload, noise=noise), payload)
    loaded = tensor.any() or not noise
    assert np.isfinite(found.gains).sum() == np.isfinite(found.standard_errors).sum() == (6 if loaded else 5)
    known = slice(0, 6 if loaded else 5)
    assert (np.abs(found.gains - GAINS)[known] < 4.0 * found.standard_errors[known] + 1e-6).all()
    assert (found.standard_errors[:5] < 0.3).all()
    if not loaded:
        assert any("'wrist_3_joint' is not determined" in note for note in found.notes)
        assert not any("negative" in note for note in found.notes)
        assert "wrist_3_joint: not determined" in str(found)


def test_filtered_and_masked_rows_give_the_same():
    use = np.ones((N, 6), bool)
    use[::3, 2] = False
    runs = [run(0, parallel=8.0, every=3, use=use), run(1, LOAD, parallel=8.0, every=3, use=use)]
    found = estimate_drive_gains(base(), [runs[0][:400], runs[0][400:]], runs[1], LOAD)
    # dry friction is not smooth, but it too went through the filter
    assert np.abs(found.gains / GAINS - 1).max() < 1e-6


def test_another_frame_is_another_place_for_the_payload():
    robot = base().model.robot
    q, v, a = motion(1)
    tau = robot.replace(payload=LOAD, payload_frame="forearm_link").inverse_dynamics(q, v, a) + 1.5 * v + 2.0 * np.sign(v)
    loaded = Samples.of(q, v, a, tau / GAINS, period=H)
    # what hangs on the forearm sets the scale of the joints that share parameters with it, so of all
    found = estimate_drive_gains(base(), run(0), loaded, LOAD, frame="forearm_link")
    assert np.abs(found.gains / GAINS - 1).max() < 1e-7


def test_believed_parameters_set_the_scale_where_there_is_no_payload():
    found = estimate_drive_gains(base(), run(0, noise=1e-4), spread=0.1)
    first = slice(0, 5)  # the last joint shares next to nothing with the others
    assert (np.abs(found.gains - GAINS)[first] < 3.0 * found.standard_errors[first]).all()
    assert any("scale of the gains comes from" in note for note in found.notes)
    assert str(found).count("±") == 6


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: estimate_drive_gains(base(), run(0)), "a common factor"),
        (lambda: estimate_drive_gains(base(), run(0), run(1, LOAD)), "must be given together"),
        (lambda: estimate_drive_gains(base(), run(0, LOAD), run(1, LOAD), LOAD), "do not depend on the payload"),
        (lambda: estimate_drive_gains(base(), run(0), run(1, LOAD), LOAD, known=[]), "does not determine the scale"),
        (lambda: estimate_drive_gains(base(), run(0), run(1, LOAD), LOAD, known=["mass"]), "the parameters are"),
        (lambda: estimate_drive_gains(base(), run(0), spread=-1.0), "spread="),
        (lambda: estimate_drive_gains(base(), run(0, use=np.zeros((N, 6), bool)), spread=0.1), "no current"),
    ],
)
def test_what_sets_no_scale_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_exchanged_runs_are_named_instead_of_six_wrong_signs():
    load = Inertia.about_com(5.0, [0.05, 0.02, 0.1], np.diag([0.02, 0.03, 0.01]))
    right = estimate_drive_gains(base(), run(0, noise=0.01), run(1, load, noise=0.01), load)
    found = estimate_drive_gains(base(), run(1, load, noise=0.01), run(0, noise=0.01), load)
    assert np.allclose(found.gains, -right.gains, rtol=0.02)
    turned = (
        replace_currents(run(0, noise=0.01), [1, 1, 1, 1, 1, -1]),
        replace_currents(run(1, load, noise=0.01), [1, 1, 1, 1, 1, -1]),
    )
    found = estimate_drive_gains(base(), turned[1], turned[0], load)
    (note,) = [note for note in found.notes if "negative" in note]
    assert "runs with load and without seem to be exchanged; exchanged, they give the gains [13." in note
    inverted = [replace_currents(each, -np.ones(6)) for each in turned]
    notes = estimate_drive_gains(base(), *inverted, load).notes
    assert sum("its current has the opposite sign" in note for note in notes) == 6


def replace_currents(log, factors):
    return replace(log, tau=log.tau * np.asarray(factors))


def test_a_payload_with_a_wrong_centre_of_mass_is_named_instead_of_an_innocent_joint():
    wrong = Inertia.about_com(3.0, [0.05, 0.02, -0.1], np.diag([0.02, 0.03, 0.01]))
    found = estimate_drive_gains(base(), run(0, noise=0.01), run(1, LOAD, noise=0.01), wrong)
    (note,) = [note for note in found.notes if "RMS residual" in note]
    assert "with a free centre of mass they agree: the centre of mass seems to be [0.0" in note
    assert not any("negative" in each for each in found.notes)


def test_a_gain_that_differs_between_the_runs_is_named():
    loaded = replace_currents(run(1, LOAD, noise=0.01), [1, 1 / 0.92, 1, 1, 1, 1])
    found = estimate_drive_gains(base(), run(0, noise=0.01), loaded, LOAD)
    (note,) = [note for note in found.notes if "RMS residual" in note]
    assert "its gain seems to be 13.1" in note or "its gain seems to be 13.2" in note
    assert "with load and 14." in note


def test_runs_that_agree_have_no_note_of_a_contradiction():
    for seed in range(4):
        found = estimate_drive_gains(base(), run(seed, noise=0.05), run(seed + 10, LOAD, noise=0.05), LOAD)
        assert not any("RMS residual" in note for note in found.notes)
