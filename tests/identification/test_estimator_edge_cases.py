"""Cases at the edge: few rows, perfect data, small robots, several rates, names that look like something else."""

import numpy as np
import pytest
from floating import floating
from judged_fits import rows_of

import dynamis as dy
from dynamis.errors import InputError, NameLookupError
from dynamis.identification import (
    Column,
    LeastSquares,
    LinearModel,
    PhysicallyConsistent,
    Ridge,
    Samples,
    WeightedLeastSquares,
    base_parameters,
    equations,
)
from dynamis.identification.estimators.body_space import BodySpace, TypicalSizes
from dynamis.identification.estimators.factors import FoldFactors
from dynamis.identification.full_parameters import full_parameters
from dynamis.identification.identify import identify
from dynamis.identification.validation.statistics import statistics
from dynamis.identification.write_back import edit
from dynamis.spatial.pose import Pose

ARM = dy.load("planar_2r_melchiorri")


def motion(n=600, period=0.01):
    t = np.arange(n)[:, None] * period
    q = v = a = 0.0
    for k, w in enumerate((0.9, 1.7, 3.1)):
        rate, phase = w * np.array([1.0, 1.2]), np.array([0.3 + k, 1.1 * k])
        q, v, a = (
            q + np.sin(rate * t + phase),
            v + rate * np.cos(rate * t + phase),
            a - rate**2 * np.sin(rate * t + phase),
        )
    return q, v, a


def followed_joint(seed=0):
    """Two joints; the second has two rows and two parameters of its own, so that its noise does not show."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4))
    X[2:, 2:], X[:2, :2] = 0.0, 0.0
    joint = np.zeros(200, int)
    joint[:2] = 1
    beta = np.array([1.0, -2.0, 3.0, 0.5])
    return X, X @ beta + 0.1 * rng.normal(size=200), joint, beta


@pytest.mark.parametrize("estimator", [LeastSquares, WeightedLeastSquares, Ridge])
def test_a_joint_whose_rows_are_followed_one_by_one_has_the_noise_of_all(estimator):
    X, y, joint, beta = followed_joint()
    fit = estimator().fit(X, y, joint=joint)
    assert np.allclose(fit.coef_[:2], beta[:2], atol=0.05)
    assert (fit.standard_errors_[2:] > 0.03).all()
    assert 0.05 < fit.noise_[1] < 0.2
    tiny = estimator().fit(X, 1e-9 * y, joint=joint)
    assert np.allclose(1e9 * tiny.coef_, fit.coef_, rtol=1e-4)
    assert np.allclose(1e9 * tiny.standard_errors_, fit.standard_errors_, rtol=1e-3)


@pytest.mark.parametrize("estimator", [LeastSquares, WeightedLeastSquares, Ridge])
def test_zero_torques_and_joints_without_any_are_no_division_by_zero(estimator):
    X, y, _, _ = followed_joint()
    X = np.random.default_rng(1).normal(size=X.shape)
    joint = np.arange(200) % 2
    assert np.allclose(estimator().fit(X, 0.0 * y, joint=joint).coef_, 0.0)
    dead = np.where(joint[:, None] == 1, 0.0, X)
    assert np.isfinite(estimator().fit(dead, dead @ np.ones(4) + 0.1 * y * (joint == 0), joint=joint).covariance_).all()


def test_a_prior_that_is_exact_is_kept():
    X, _, joint, beta = followed_joint()
    fit = Ridge(prior=beta).fit(X, X @ beta, joint=joint)
    assert np.allclose(fit.coef_, beta, rtol=1e-12)
    assert np.isfinite(fit.shown_).all()


def test_settings_that_do_not_fit_are_refused_in_words():
    X, y, joint, _ = followed_joint()
    for estimator in (Ridge(noise=[1.0, 2.0, 3.0]), Ridge(noise=np.nan)):
        with pytest.raises(InputError, match="each of 2 joints"):
            estimator.fit(X, y, joint=joint)
    with pytest.raises(InputError, match="finite"):
        Ridge(strength=np.inf).fit(X, y)
    assert LeastSquares().fit(X, y).score(X, np.ones(200)) == 0.0


def test_samples_are_checked():
    q, v, a = motion(40)
    t = np.arange(40.0)
    t[7] = np.nan
    with pytest.raises(InputError, match=r"t\[7\] is nan"):
        Samples.of(q, v, a, q, t=t)
    for every in (0, 2.7):
        with pytest.raises(InputError, match="integer"):
            Samples.of(q, v, a, q, period=0.01, every=every)
    with pytest.raises(InputError, match="above zero"):
        Samples.of(q, v, a, q, period=np.inf)
    with pytest.raises(InputError, match="is empty"):
        equations(base_parameters(ARM), Samples.of(q[:0], v[:0], a[:0], q[:0]))


def test_evidence_of_nothing_is_quiet(capfd):
    base = base_parameters(ARM)
    q, v, a = motion(40)
    unused = Samples.of(q, v, a, q, use=np.zeros(q.shape, bool))
    rows = equations(base, [unused, unused])
    with pytest.raises(InputError, match="is empty: leave it out"):
        equations(base, Samples.of(q[:0], v[:0], a[:0], q[:0]))
    assert rows.whole.counts.sum() == 0
    for estimator in (LeastSquares(), PhysicallyConsistent(base)):
        with pytest.raises(InputError, match=r"(0|no) rows"):
            estimator.fit_factors(rows.whole, rows.names)
    assert "DGEQRF" not in "".join(capfd.readouterr())
    with pytest.raises(InputError, match="6 positions"):
        equations(base, Samples.of(*np.zeros((4, 10, 6))))


def test_factors_with_fewer_directions_than_parameters_names_them():
    base = base_parameters(LinearModel(ARM, friction=("viscous",)))
    q = np.full((4096, 2), 0.3)
    rows = equations(base, Samples.of(q, q, q, q))
    with pytest.raises(InputError, match="are indistinguishable"):
        LeastSquares().fit_factors(rows.whole, rows.names)


def test_a_torque_smooth_already_stands_in_the_middle_of_its_filter():
    model = LinearModel(ARM, rotor=False, friction=("viscous",))
    base = base_parameters(model)
    pi = model.prior.copy()
    pi[model.index("joint1.viscous")] = 20.0
    q, v, a = motion(8000, 0.001)
    smooth = model.regressor(q, v, a) @ pi  # far below the cut-off
    run = Samples.of(q, v, a, smooth, period=0.001, parallel=20.0, every=4, smooth_torque=True)
    rows = equations(base, run)
    fit = LeastSquares().fit(rows.X, rows.y, joint=rows.joint)
    assert abs(fit.coef_[base.names.index("joint1.viscous")] - 20.0) < 0.02
    assert np.allclose(LeastSquares().fit_factors(rows.whole).coef_, fit.coef_, atol=1e-6)


def test_columns_of_ones_own_may_have_any_size_but_must_be_finite():
    def cubic(factor):
        return Column("cubic", lambda robot, q, v, a: np.array([factor * v[0] ** 3, 0.0]))

    ranks = {base_parameters(LinearModel(ARM, columns=[cubic(factor)])).rank for factor in (1e-30, 1.0, 1e30)}
    assert len(ranks) == 1
    with pytest.raises(InputError, match=r"'cubic' is not finite"):
        base_parameters(LinearModel(ARM, columns=[cubic(np.inf)]))


@pytest.mark.filterwarnings("ignore:.*without moving any mass")
def test_the_robots_own_parameters_are_always_possible():
    for robot in (floating("planar_2r_melchiorri"), ARM):  # a base without mass, and flat links
        base = base_parameters(LinearModel(robot))
        assert np.array_equal(full_parameters(base, base.prior), base.model.prior)


def test_nearest_robot_with_a_covariance_that_has_no_inverse():
    base = base_parameters(LinearModel(ARM))
    for covariance in (np.zeros((base.rank, base.rank)), np.diag(np.r_[0.0, np.ones(base.rank - 1)])):
        found = full_parameters(base, -base.prior, infeasible="nearest", covariance=covariance)
        assert np.isfinite(found).all()
    assert np.isfinite(full_parameters(base, np.zeros(base.rank), infeasible="nearest")).all()


def test_riding_rotors_go_back_and_friction_not_looked_for_goes():
    robot = dy.load("puma560").replace(rotors="riding")
    q, v, a = robot.random(0, size=5), *np.random.default_rng(0).normal(size=(2, 5, 6))
    for model in (LinearModel(robot), LinearModel(robot, friction=())):
        again = edit(robot, model, model.prior).robot
        assert np.allclose(again.inverse_dynamics(q, v, a), model.regressor(q, v, a) @ model.prior, rtol=1e-9, atol=1e-9)


def test_a_joint_whose_name_looks_like_a_pair_is_a_joint():
    description = ARM.description
    description.joints[-1].name = "a+b"
    model = LinearModel(dy.Robot(description), couplings=[("joint1", "a+b")])
    space = BodySpace(model)
    assert space.lower[model.index("a+b.viscous")] == 0.0
    assert space.lower[model.index("joint1+a+b.viscous")] == -np.inf
    values = model.prior.copy()
    values[[model.index("a+b.viscous"), model.index("joint1+a+b.viscous")]] = 2.0
    notes = " ".join(edit(model.robot, model, values).notes)
    assert "'joint1+a+b.viscous'" in notes
    assert "'a+b.viscous'" not in notes


def test_what_the_log_does_not_show_of_a_small_robot_stays_as_believed():
    small = ARM.description
    for link in small.links:
        if link.mass_properties is not None:
            p = link.mass_properties
            p.com, p.tensor = 1e-4 * p.com, 1e-8 * (p.tensor + np.eye(3))
    for joint in small.joints:
        for pose in ("origin", "tail"):
            X = getattr(joint, pose).matrix()
            X[:3, 3] *= 1e-4
            setattr(joint, pose, Pose.from_matrix(X))
    base = base_parameters(LinearModel(dy.Robot(small), rotor=False))
    X = base.regressor(*np.random.default_rng(0).normal(size=(3, 60, 2))).reshape(-1, base.rank)
    y = X @ base.prior
    fit = PhysicallyConsistent(base).fit(X, y + 1e-3 * np.abs(y).max() * np.random.default_rng(1).normal(size=len(y)))
    at = base.model.index("link1.Ixx")
    assert 0.5 < fit.full_[at] / base.model.prior[at] < 2.0


def test_perfect_data_are_good_and_nothing_is_read_into_rounding():
    model = LinearModel(ARM, rotor=False)
    q, v, a = motion()
    run = Samples.of(q, v, a, model.regressor(q, v, a) @ model.prior, period=0.01)
    found = identify(model, run, estimator="weighted", compare=()).verdict
    assert found.grade == "good"
    assert not [f for topic in ("missing", "standstill", "outliers", "coloured") for f in found.about(topic)]


def test_friction_that_remembers_is_left_out_of_the_file_with_a_note(tmp_path):
    model = LinearModel(ARM, rotor=False, presliding={"joint1": 0.02})
    q, v, a = motion()
    tau = ARM.inverse_dynamics(q, v, a) + 3.0 * np.random.default_rng(0).normal(size=q.shape)
    written = identify(model, Samples.of(q, v, a, tau, period=0.01), compare=()).write(tmp_path / "arm.toml")
    assert "cannot represent presliding friction" in " ".join(written.notes)
    assert written.difference < 1e-9


def test_no_folds_are_refused_in_words():
    q, v, a = motion()
    run = Samples.of(q, v, a, ARM.inverse_dynamics(q, v, a), period=0.01)
    with pytest.raises(InputError, match="k=0 folds"):
        identify(LinearModel(ARM, rotor=False), run, folds=0, compare=())


def test_standard_errors_of_runs_at_different_rates():
    off = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, e, t, run = [], [], [], []
        for k, (period, count) in enumerate(((0.01, 3000), (0.001, 2400))):
            own, keep = np.arange(count) * period, np.exp(-period / 0.3)
            noise = np.sqrt(1.0 - keep**2) * rng.normal(size=count)
            noise[0] = rng.normal()
            for i in range(1, count):
                noise[i] += keep * noise[i - 1]
            X.append(np.stack([np.sin(3.1 * own + k), np.cos(1.9 * own)], axis=1))
            e.append(noise)
            t.append(own)
            run.append(np.full(count, k))
        X, e, t, run = map(np.concatenate, (X, e, t, run))
        fit = LeastSquares().fit(X, X @ [1.0, 2.0] + e)
        judged = statistics(rows_of(X, X @ [1.0, 2.0] + e, t=t, run=run), fit.coef_, fit.covariance_)
        off.append((fit.coef_ - [1.0, 2.0]) / judged.std)
    assert 0.5 < np.sqrt(np.mean(np.square(off))) < 1.6


def test_rows_that_are_not_finite_are_named():
    X, y, joint, _ = followed_joint()
    names = [f"p{k}" for k in range(X.shape[1])]
    holes, gaps = X.copy(), y.copy()
    holes[3, 1], gaps[[2, 5]] = np.nan, np.inf
    for names_, words in ((names, r"X\[3, 1\] is nan, column 'p1'; 1 row"), (None, r"X\[3, 1\] is nan; 1 row")):
        with pytest.raises(InputError, match=words):
            LeastSquares().fit(holes, y, joint=joint, names=names_)
    for names_ in (names, None):
        with pytest.raises(InputError, match=r"y\[2\] is inf; 2 rows"):
            LeastSquares().fit(X, gaps, joint=joint, names=names_)


def test_rows_and_joints_of_other_shapes_are_refused():
    X, y, joint, _ = followed_joint()
    for rows, given in ((X[:, 0], y), (X, X), (X, y[:-1])):
        with pytest.raises(InputError, match=r"X must be \(rows, parameters\)"):
            LeastSquares().fit(rows, given)
    for wrong in (joint[:-1], joint.astype(float), joint - 1):
        with pytest.raises(InputError, match="joint must be an integer ≥ 0"):
            LeastSquares().fit(X, y, joint=wrong)
    with pytest.raises(InputError, match=f"{X.shape[1]} rows cannot determine {X.shape[1]} parameters"):
        LeastSquares().fit(X[: X.shape[1]], y[: X.shape[1]])


def test_as_many_rows_as_parameters_are_too_few_for_their_errors():
    X, y, _, _ = followed_joint()
    few = X.shape[1]
    for count, enough in ((few, False), (few + 1, True)):
        none = np.zeros(count, int)
        folds = FoldFactors.of(X[:count], y[:count], none, none, 1, 1)
        if enough:
            assert LeastSquares(per_joint=False).fit_factors(folds).dof_ == 1
        else:
            with pytest.raises(InputError, match=f"{few} rows cannot determine {few} parameters"):
                LeastSquares().fit_factors(folds)


def test_the_noise_of_each_joint_is_repeated_to_convergence():
    rng = np.random.default_rng(3)
    X, joint = rng.normal(size=(300, 4)), np.arange(300) % 3
    y = X @ [1.0, -2.0, 3.0, 0.5] + np.array([0.01, 0.3, 5.0])[joint] * rng.normal(size=300)
    noise = np.ones(3)
    for _ in range(50):
        A = X / noise[joint, None]
        Q, left = np.linalg.qr(A)[0], y / noise[joint]
        left = (left - Q @ (Q.T @ left)) * noise[joint]
        noise = np.sqrt(np.bincount(joint, left**2) / (100.0 - np.bincount(joint, (Q**2).sum(axis=1))))
    assert np.allclose(WeightedLeastSquares().fit(X, y, joint=joint).noise_, noise, rtol=1e-8)
    assert np.allclose(Ridge(strength=1e-9).fit(X, y, joint=joint).noise_, noise, rtol=1e-5)


def test_the_typical_size_of_a_parameter_gives_the_torques_of_the_joints_it_acts_on():
    model = LinearModel(ARM)
    typical = TypicalSizes(model)
    torque = np.sqrt(np.mean((typical.rows @ model.prior) ** 2, axis=0))
    columns = np.sqrt(np.mean(typical.rows**2, axis=0))
    for size, column in zip(typical.of_model(model.prior), columns.T, strict=True):
        acts = column > 1e-9 * column.max()
        assert size == pytest.approx(
            np.sqrt(np.sum(torque[acts] ** 2) / np.sum(column**2)) if acts.any() else np.sqrt(np.mean(torque**2))
        )


def test_predictions_need_rows_of_the_same_columns():
    X, y, joint, _ = followed_joint()
    fit = LeastSquares().fit(X, y, joint=joint)
    assert np.array_equal(fit.predict(X[:3]), X[:3] @ fit.coef_)
    for rows in (X[0], X[:, 1:], X[None]):
        with pytest.raises(InputError):
            fit.predict(rows)
    with pytest.raises(InputError, match="fit"):
        LeastSquares().predict(X)


def test_blocks_of_time_are_at_least_three():
    X, y, joint, _ = followed_joint()
    assert Ridge().fit(X, y, joint=joint, blocks=np.arange(len(y)) * 3 // len(y)).strength_ > 0.0
    for labels in (np.arange(len(y)) * 2 // len(y), np.arange(len(y) - 1)):
        with pytest.raises(InputError, match="at least three distinct values"):
            Ridge().fit(X, y, joint=joint, blocks=labels)


def test_only_the_named_parameters_are_estimated():
    X, y, joint, _ = followed_joint()
    names = [f"p{k}" for k in range(X.shape[1])]
    kept = [k for k in range(len(names)) if k != 1]
    some, all_of_them = WeightedLeastSquares(only=[names[k] for k in kept]), WeightedLeastSquares()
    some.fit(X, y, joint=joint, names=names)
    all_of_them.fit(X[:, kept], y, joint=joint)
    assert np.allclose(some.coef_[kept], all_of_them.coef_, rtol=1e-12)
    assert np.allclose(some.covariance_[np.ix_(kept, kept)], all_of_them.covariance_, rtol=1e-9)
    assert (some.coef_[1], some.at_bound_[1], some.covariance_[1].any()) == (0.0, "fixed", False)
    with pytest.raises(InputError, match="pass names= to fit"):
        WeightedLeastSquares(only=["p0"]).fit(X, y, joint=joint)
    with pytest.raises(NameLookupError, match="p9"):
        WeightedLeastSquares(only=["p0", "p9"]).fit(X, y, joint=joint, names=names)
