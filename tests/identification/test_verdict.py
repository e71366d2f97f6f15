"""The verdict: each complaint where there is cause for it, and none on clean data."""

import functools
import re
from dataclasses import replace

import numpy as np
import pytest
from judged_fits import base_of, held_out, simulated

import dynamis as dy
from dynamis.identification import Samples
from dynamis.identification.estimators.estimator import LeastSquares, WeightedLeastSquares
from dynamis.identification.full_parameters import inconsistent_links, link_consistency
from dynamis.identification.logs import LogFinding
from dynamis.identification.validation.describe import readable
from dynamis.identification.validation.held_out import cross_validate
from dynamis.identification.validation.symptoms import missing_terms
from dynamis.identification.validation.verdict import GRADES, Verdict, VerdictItem, verdict


def judged(validate=True, **how):
    case = simulated(**how)
    v = cross_validate(WeightedLeastSquares(), case.rows, prior=case.prior) if validate else None
    return verdict(case.judged(), v, equations=case.rows)


@functools.cache
def clean():
    return judged()


def test_clean_data_are_good_and_nothing_is_complained_of():
    v = clean()
    assert v.grade == "good", str(v)
    assert max(f.severity for f in v.findings) == 0
    assert {f.topic for f in v.findings} == {"excitation", "residual"}
    (residual,) = v.about("residual")
    assert "2.0" in residual.sentence
    assert re.search(r"\(\S+ % on the training rows of the folds, \S+ % with the prior model\)", residual.sentence)
    assert str(v).startswith("Good.\n- ")


def test_the_grade_is_that_of_the_worst_finding_which_stands_first():
    for severity, grade in enumerate(GRADES):
        v = Verdict((VerdictItem("a", 0, "fine"), VerdictItem("b", severity, "worst")))
        assert v.grade == grade
        assert v.sentences[0] == ("worst" if severity else "fine")
        assert v.reasons == (("worst",) if severity else ())
        assert v.others == (("fine",) if severity else ("fine", "worst"))
        assert ("Reasons for this grade:\n- worst\nOther findings:\n- fine" in str(v)) == (severity > 0)
    assert Verdict(()).grade == "good"


def test_weak_excitation_is_named_in_words():
    v = judged(size=0.05, seconds=8.0)
    (finding,) = v.about("excitation")
    assert finding.severity == 2
    assert "Nearly collinear: first moment" in finding.sentence


def test_a_fit_worse_than_the_model_before_is_not_usable_and_the_cure_is_named():
    weak, rich = simulated(size=0.06, noise=0.2, seconds=8.0, seed=1), simulated(seed=2)
    v = verdict(
        weak.judged(LeastSquares()), held_out(LeastSquares(), weak.rows, rich.rows, prior=weak.prior), equations=weak.rows
    )
    assert v.grade == "not usable"
    assert "worse than the prior model" in v.about("prior")[0].sentence
    assert "regularised or physically consistent" in v.about("prior")[0].sentence
    assert v.about("overfit")[0].severity == 2


def test_an_estimator_with_a_prior_is_not_recommended_to_who_used_one():
    case = simulated(noise=0.02, wrong=0.1)
    v = replace(cross_validate(LeastSquares(), case.rows), prior=1.0, held_out=1.1, train=1.08)
    for regularised, grade in ((True, "doubtful"), (False, "not usable")):
        found = verdict(case.judged(LeastSquares()), v, regularised=regularised)
        assert found.grade == grade
        (finding,) = found.about("prior")
        assert ("keep the prior model" in finding.sentence) == regularised
        assert ("use a regularised" in finding.sentence) != regularised


def test_a_model_identified_from_the_same_log_is_as_good_and_not_better():
    case = simulated(noise=0.02, wrong=0.1)
    again = LeastSquares().fit(case.rows.X, case.rows.y).coef_
    v = cross_validate(LeastSquares(), case.rows, prior=again)
    assert v.train < 1.001 * v.prior < v.held_out / 1.01
    (found,) = verdict(case.judged(LeastSquares()), v).about("prior")
    assert found.severity == 0
    assert "as good within the uncertainty" in found.sentence


def test_a_joint_that_the_model_before_predicts_better_is_named():
    case = simulated(noise=0.02, wrong=0.1)
    v = cross_validate(WeightedLeastSquares(), case.rows, prior=case.prior)
    v.prior_joints[3] = 0.1 * v.held_out_joints[3]
    found = verdict(case.judged(), v).about("prior")
    assert [f.severity for f in found] == [1]
    assert "joint4" in found[0].sentence


def test_effects_of_a_fault_of_the_log_are_one_sentence_and_no_reasons():
    case = simulated(memory=0.9)
    v = cross_validate(WeightedLeastSquares(), case.rows, prior=case.prior)
    masses = {"a": (5.0, 100.0), "b": (5.0, 0.1)}
    fault = LogFinding("warning", "delay", None, None, "the torques are 80 ms late", "correct it", caps=2, delay=0.08)
    plain, faulty = (verdict(case.judged(), v, masses=masses, log_findings=x) for x in ((), (fault,)))
    assert plain.about("masses")
    assert plain.about("coloured")
    (reason,) = faulty.reasons
    assert reason.startswith("The torques are 80 ms late; correct it. Possible effects: ")
    assert "correlated residuals and masses far from those of the file" in reason
    assert not faulty.about("masses")
    assert not faulty.about("coloured")


def test_nothing_but_noise_is_no_better_than_the_mean():
    case = simulated("planar_2r_melchiorri", noise=30.0)
    v = cross_validate(LeastSquares(), case.rows)
    said = verdict(case.judged(), v)
    assert said.grade == "not usable"
    assert said.about("mean")
    assert said.about("residual")[0].severity == 3


@pytest.mark.parametrize(
    ("kind", "friction", "spoil", "cure"),
    [
        ("dry", ("viscous",), lambda t, q, v, a, tau: tau + 3.0 * np.sign(v), "'coulomb'"),
        ("viscous", ("coulomb",), lambda t, q, v, a, tau: tau + 4.0 * v, "'viscous'"),
        ("offset", ("viscous", "coulomb"), lambda t, q, v, a, tau: tau + 2.0, "offset=True"),
        ("quadratic", ("viscous", "coulomb"), lambda t, q, v, a, tau: tau + 3.0 * v * np.abs(v), "'quadratic'"),
        (
            "stribeck",
            ("viscous", "coulomb"),
            lambda t, q, v, a, tau: tau + 6.0 * np.sign(v) * np.exp(-((v / 0.2) ** 2)),
            "'stribeck'",
        ),
    ],
)
def test_a_term_the_model_lacks_is_recognised(kind, friction, spoil, cure):
    case = simulated(friction=friction, spoil=spoil)
    s = case.judged()
    rows = case.rows
    found = missing_terms(rows, s.residual)
    assert sum(term.kind == kind for term in found) >= 5, found
    said = verdict(s, equations=rows).about("missing")
    assert any(cure in f.sentence for f in said)
    assert all(("most of a residual above 20 % of the torque" in f.sentence) == (f.limit == "doubtful") for f in said)


def test_a_delay_is_measured():
    late = 0.012

    def spoil(t, q, v, a, tau):
        return np.stack([np.interp(t - late, t, column) for column in tau.T], axis=1)

    case = simulated(rate=200.0, seconds=10.0, noise=0.005, spoil=spoil)
    rows, s = case.rows, case.judged()
    found = missing_terms(rows, s.residual)
    shifts = [term.size for term in found if term.kind == "delay"]
    assert len(shifts) >= 4
    assert np.median(shifts) == pytest.approx(late, rel=0.3)
    assert "ms late" in verdict(s, equations=rows).about("missing")[0].sentence


def test_coloured_residuals_are_told_with_what_they_cost():
    case = simulated(memory=0.9)
    s = case.judged()
    (finding,) = verdict(s, cross_validate(WeightedLeastSquares(), case.rows, prior=case.prior)).about("coloured")
    assert finding.severity == 1
    least, most = (f"{x:.2g}" for x in (s.inflation.min(), s.inflation.max()))
    assert f"depending on the parameter, they are {least} to {most} times those of white noise" in finding.sentence
    assert "samples of a constant torque count as" in finding.sentence
    assert not clean().about("coloured")


def test_outliers_are_told():
    def spoil(t, q, v, a, tau):
        wild = tau.copy()
        wild[::97, 2] += 40.0
        return wild

    (finding,) = judged(validate=False, spoil=spoil).about("outliers")
    assert "joint3" in finding.sentence
    assert "joint4" not in finding.sentence


def test_torques_at_their_limit_are_told():
    v = judged(validate=False, noise=0.0, spoil=lambda t, q, v, a, tau: np.clip(tau, -12.0, 12.0))
    (finding,) = v.about("saturation")
    assert "12 N m" in finding.sentence
    case = simulated()
    effort = np.full(7, np.inf)
    effort[1] = np.abs(case.rows.y[case.rows.joint == 1]).max()
    clipped = simulated(noise=0.001, spoil=lambda t, q, v, a, tau: np.clip(tau, -0.7 * effort, 0.7 * effort))
    (finding,) = verdict(clipped.judged(), equations=clipped.rows, effort=0.7 * effort).about("saturation")
    assert "joint2" in finding.sentence
    assert not verdict(case.judged(), equations=case.rows, effort=0.7 * effort).about("saturation"), "the limit is another one"


def test_terms_that_were_tried_are_not_advised():
    case = simulated(spoil=lambda t, q, v, a, tau: tau + 2.0)
    said = verdict(case.judged(), equations=case.rows)
    assert any("offset=True" in item.sentence for item in said.about("missing"))
    assert not verdict(case.judged(), equations=case.rows, terms_chosen=True).about("missing")


def test_rough_standstill_is_told():
    rng = np.random.default_rng(0)

    def spoil(t, q, v, a, tau):
        return tau + 5.0 * rng.normal(size=tau.shape) * (np.abs(v) < 0.04 * np.abs(v).max(axis=0))

    assert judged(validate=False, spoil=spoil).about("standstill")


def test_links_that_cannot_be_real_are_named_with_the_reason():
    model = base_of().model
    good = link_consistency(model, model.prior)
    assert inconsistent_links(good) == {}
    wrong = model.prior.copy()
    wrong[model.index("link3.m")] = -1.0
    wrong[model.index("link4.Izz")] += 5.0
    wrong[model.index("link5.Ixx")] -= 5.0
    reasons = inconsistent_links(link_consistency(model, wrong))
    assert set(reasons) == {"link3", "link4", "link5"}
    assert "mass is -1" in reasons["link3"]
    assert "exceeds the sum" in reasons["link4"]
    s = simulated().judged()
    assert verdict(s, inconsistent=reasons).grade == "doubtful"
    assert verdict(s, inconsistent={}).about("consistency")[0].severity == 0


def test_parameters_are_readable():
    assert readable("elbow.power") == "power friction of elbow"  # as in the options
    assert readable("a.b.Ixx") == "moment of inertia xx of a.b"
    assert readable("own") == "own"
    assert readable("j.unknown") == "j.unknown"


def test_a_residual_far_below_the_limit_may_be_larger_than_in_training():
    log, other = simulated(seed=1), simulated(seed=2)
    judged, v = log.judged(LeastSquares()), held_out(LeastSquares(), log.rows, other.rows, prior=log.prior)
    grown = replace(v, train=v.held_out / 3.0)
    for limit, severity in ((10.0 * v.held_out, 0), (2.0 * v.held_out, 2)):
        (found,) = verdict(judged, grown, limits=(limit, 2.0 * limit, 3.0 * limit)).about("overfit")
        assert found.severity == severity
        assert ("both are small" in found.sentence) == ("Use more data" not in found.sentence) == (severity == 0)


@pytest.mark.parametrize(
    ("seconds", "memory", "wander", "overfits"),
    [(0.8, 0.0, 0.0, True), (20.0, 0.0, 0.0, True), (20.0, 0.9, 0.0, True), (20.0, 0.9, 0.05, False)],
)
def test_only_residuals_that_vary_over_the_log_contradict_each_other(seconds, memory, wander, overfits):
    """Noise of first order, x(k) = 0.9 x(k − 1) + e(k), is correlated over 0.4 s."""

    def spoil(t, q, v, a, tau):
        return tau + wander * np.sqrt(np.mean(tau**2, axis=0)) * np.sin(1.2 * t)[:, None]

    log = simulated(seed=1, seconds=seconds, memory=memory, spoil=spoil)
    v = cross_validate(LeastSquares(), simulated(seed=1).rows)
    grown = replace(v, train=v.held_out / 1.5)
    (found,) = verdict(log.judged(LeastSquares()), grown, equations=log.rows, limits=(0.1, 0.2, 0.3)).about("overfit")
    assert ("Use more data" in found.sentence) == overfits
    assert ("parts of the log contradict each other" in found.sentence) != overfits


def test_a_separate_validation_log_that_is_predicted_worse_has_another_load_or_friction():
    log, other = simulated(seed=1), simulated(seed=2)
    v = held_out(LeastSquares(), log.rows, other.rows)
    grown = replace(v, train=v.held_out / 1.5)
    (found,) = verdict(log.judged(LeastSquares()), grown, equations=log.rows, limits=(0.1, 0.2, 0.3)).about("overfit")
    assert "the logs for validation are of another load or friction than those for training" in found.sentence


def test_a_term_of_the_model_is_not_said_to_be_missing():
    rng = np.random.default_rng(3)

    def spoil(t, q, v, a, tau):  # static friction in pauses
        return tau - 4.0 * np.sign(v) * (np.abs(v) < 0.1 * np.abs(v).max(axis=0)) + 0.01 * rng.normal(size=tau.shape)

    sentences = [f.sentence for f in judged(validate=False, spoil=spoil).about("missing")]
    assert sentences
    assert all("missing in the model" not in x for x in sentences if "Coulomb" in x)
    assert any("slow=…" in x for x in sentences)


def test_the_residual_of_the_worst_joint_and_its_percentage_belong_together():
    (residual,) = clean().about("residual")
    percent, left, torque = re.search(r"with (\S+) % \((\S+) of (\S+) N", residual.sentence).groups()
    assert float(left) / float(torque) == pytest.approx(float(percent) / 100.0, rel=0.02)


def test_a_heavier_last_link_may_be_a_load():
    s = simulated().judged()
    last = {"a": (5.0, 5.0), "b": (5.0, 1.0), "c": (0.2, 4.0)}
    (found,) = verdict(s, masses=last).about("masses")
    assert found.severity == 2
    assert "dynamis payload" in found.sentence
    (found,) = verdict(s, masses=last | {"b": (5.0, 5.0)}).about("masses")
    assert found.severity == 0
    assert "dynamis payload" in found.sentence
    (found,) = verdict(s, masses={"a": (5.0, 0.5), "b": (5.0, 5.0)}).about("masses")
    assert "far below" in found.sentence
    assert found.severity == 2
    (found,) = verdict(s, masses={"a": (5.0, 1.0), "b": (5.0, 1.0), "c": (0.2, 0.2)}).about("masses")
    assert "payload" not in found.sentence


def test_a_joint_that_never_moved_is_the_reason_of_weak_excitation():
    robot, t = dy.load("planar_2r_melchiorri"), np.arange(1000)[:, None] * 0.01
    w = np.array([1.3, 0.0])
    q, v, a = np.sin(w * t + 0.3), w * np.cos(w * t + 0.3), -(w**2) * np.sin(w * t + 0.3)
    tau = robot.inverse_dynamics(q, v, a) + 0.1 * np.random.default_rng(0).normal(size=q.shape)
    found = dy.identify(dy.identification.LinearModel(robot), Samples.of(q, v, a, tau, period=0.01), compare=(), examined=False)
    (item,) = found.verdict.about("excitation")
    assert item.sentence.startswith("joint2 never moved, so its friction and rotor inertia are not determined.")


@pytest.mark.parametrize(("left", "grade", "said"), [(101.0, "doubtful", "is predicted worse than by zero"), (99.0, "usable", "is hardly explained: it is small, noisy")])  # fmt: skip
def test_a_joint_predicted_worse_than_by_zero_is_not_usable_and_not_called_noisy(left, grade, said):
    case = simulated()
    v = cross_validate(WeightedLeastSquares(), case.rows, prior=case.prior)
    joints = v.held_out_joints.copy()
    joints[-1] = left
    found = verdict(case.judged(), replace(v, held_out_joints=joints, prior_joints=None), equations=case.rows)
    assert found.grade == grade
    (item,) = [item for item in found.about("residual") if item.severity]
    assert said in item.sentence
    assert ("small, noisy" in item.sentence) == (left < 100.0)
