"""From logs to samples: broken logs, motors, currents, quaternions, and two logs of real robots."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from floating import floating
from real_logs import TX40, UR10, needs

import dynamis as dy
from dynamis.errors import InputError
from dynamis.identification.logs import Log
from dynamis.identification.samples import Samples
from dynamis.identification.signals import prepare, remove_spikes
from dynamis.identification.signals.constant_values import dead_torques, saturated
from dynamis.identification.transmission import Transmission

ARM = dy.load("planar_2r_melchiorri")
H, N = 0.002, 4000
T = H * np.arange(N)
W = np.array([2.0, 3.3])
Q, V, A = np.sin(T[:, None] * W), W * np.cos(T[:, None] * W), -W * W * np.sin(T[:, None] * W)
TAU = ARM.inverse_dynamics(Q, V, A)


def log(rows=slice(None), **changes):
    arrays = {"t": T, "q": Q, "tau": TAU, "v": None, "a": None, **changes}
    return SimpleNamespace(source="run.csv", **{k: x if x is None else np.array(x)[rows] for k, x in arrays.items()})


def test_a_clean_log_becomes_samples():
    ready = prepare(log(), ARM, cutoff=25.0)
    (run,) = ready
    assert isinstance(run, Samples)
    assert run is ready[0]
    assert run.source == "run.csv"
    assert np.isclose(run.period, H)
    assert len(run) == N - 2 * 20  # a period of the cut-off at either end
    rows = slice(20, N - 20)
    for found, known, close in ((run.q, Q, 1e-5), (run.v, V, 1e-3), (run.a, A, 0.05), (run.tau, TAU, 1e-12)):
        assert np.abs(found - known[rows]).max() < close
    assert run.use.all()
    assert ready.notes == ()


def test_a_cutoff_is_found_and_told():
    noisy = Q + 1e-5 * np.random.default_rng(0).normal(size=Q.shape)
    ready = prepare(log(q=noisy), ARM)
    assert "cut-off" in ready.notes[0]
    assert re.search(r"noise floor of \S+ rad$", ready.notes[0])
    assert "Hz" in str(ready)
    assert (ready[0].a - A[np.isin(np.arange(N), np.round((ready[0].t) / H).astype(int))]).std() < 0.01


def test_logged_velocities_are_used_when_asked_for():
    shifted = prepare(log(v=V + 0.5), ARM, cutoff=25.0, logged="v")[0]
    assert np.abs(shifted.v - 0.5 - V[20:-20]).max() < 1e-3
    both = prepare(log(v=V, a=A + 2.0), ARM, cutoff=25.0, logged=("v", "a"))[0]
    assert np.abs(both.a - 2.0 - A[20:-20]).max() < 1e-3
    unused = prepare(log(v=V + 0.5), ARM, cutoff=25.0)[0]
    assert np.abs(unused.v - V[20:-20]).max() < 1e-3


def test_a_broken_log_is_repaired_marked_and_told():
    q, tau, t = Q.copy(), TAU.copy(), T.copy()
    q[1000, 0] += 0.4
    q[1500, 1] = np.nan
    tau[2000, 1] += 50.0
    t[3000:] += 1.0
    kept = np.ones(N, bool)
    kept[700:703] = False
    ready = prepare(log(kept, t=t, q=q, tau=tau), ARM, cutoff=25.0, trim=0.0)
    assert [len(run) for run in ready] == [3000, 1000]
    use = ready[0].use
    unused = {0: {700, 701, 702, 1000, 1500}, 1: {700, 701, 702, 1000, 1500, 2000}}
    for j in (0, 1):
        assert set(np.flatnonzero(~use[:, j])) == unused[j]
    told = " ".join(ready.notes)
    assert all(word in told for word in ("gaps", "3 missing samples", "q.joint1", "non-finite", "tau.joint2")), told
    assert str(np.flatnonzero(np.arange(N)[kept] == 2000)[0]) in told
    inside = slice(100, -100)
    assert np.abs(ready[0].v - V[:3000])[inside].max() < 2e-3
    assert np.abs(ready[0].a - A[:3000])[inside].max() < 0.2


def test_positions_missing_for_long_end_a_run():
    q = Q.copy()
    q[1000:1100, 1] = np.nan
    ready = prepare(log(q=q), ARM, cutoff=25.0, trim=0.0)
    assert [len(run) for run in ready] == [1000, 2900]
    assert "from row 1000 to 1099" in ready.notes[0]


def test_turns_of_the_encoder_are_taken_out():
    far = np.column_stack([3.0 * T, Q[:, 1]])
    ready = prepare(log(q=np.column_stack([(far[:, 0] + np.pi) % (2 * np.pi) - np.pi, far[:, 1]])), ARM, cutoff=25.0)
    assert np.allclose(ready[0].v[:, 0], 3.0, atol=1e-6)
    assert "joint1" in ready.notes[0]
    assert "one turn" in ready.notes[0]


def test_slow_rows_do_not_count_unless_asked():
    each = prepare(log(), ARM, cutoff=25.0, slow=[0.3, 0.0])[0]
    assert np.array_equal(each.use[:, 0], np.abs(each.v[:, 0]) >= 0.3)
    assert each.use[:, 1].all()


def test_rest_is_kept_or_dropped():
    still = np.concatenate(
        [np.zeros((500, 2)), 0.2 * (1 - np.cos(2 * np.pi * T[:2000, None] / 4.0 * [1, 2])), np.zeros((700, 2))]
    )
    t = H * np.arange(len(still))
    resting = SimpleNamespace(t=t, q=still, tau=np.zeros_like(still))
    assert len(prepare(resting, ARM, cutoff=25.0)[0]) == 3200 - 40
    dropped = prepare(resting, ARM, cutoff=25.0, rest="drop")
    assert abs(len(dropped[0]) - 2000) < 40
    assert "at rest" in dropped.notes[-1]


def test_the_parallel_filter_is_handed_on_with_its_decimation():
    run = prepare(log(), ARM, cutoff=25.0, parallel=10.0, smooth_torque=True)[0]
    assert (run.parallel, run.every, run.smooth_torque) == (10.0, 10, True)
    assert prepare(log(), ARM, cutoff=25.0, parallel=10.0, every=4)[0].every == 4
    assert prepare(log(), ARM, cutoff=25.0)[0].every == 1


def test_motors_and_currents_become_joints_and_torques():
    gear = Transmission.of([50.0, -30.0], [(1, 0, 20.0)], zero=[0.1, -0.2])
    k = np.array([0.2, 0.3])
    q_motor, tau_motor = gear.motor_position(Q), gear.motor_torque(TAU)
    tau_motor[2000, 1] += 5.0  # moves both joints
    one = prepare(
        log(q=q_motor, tau=np.zeros_like(TAU), current=tau_motor / k), ARM, cutoff=25.0, transmission=gear, drive_gains=k
    )[0]
    assert not one.use[1980].any()
    assert one.use.sum() == 2 * len(one) - 2
    assert np.abs(one.q - Q[20:-20]).max() < 1e-5
    assert np.allclose(one.tau[one.use[:, 0]], TAU[20:-20][one.use[:, 0]], atol=1e-9)
    whole = Log(t=T, q=q_motor, tau=tau_motor, side="motor", transmission={"R": gear.R, "zero": gear.zero})
    assert np.array_equal(prepare(whole, ARM, cutoff=25.0)[0].q, one.q)


def test_quaternions_come_with_velocities_and_accelerations():
    body = floating("ur5e")
    rng = np.random.default_rng(0)
    t = H * np.arange(300)
    q = np.tile(body.neutral(), (300, 1))
    v, a, tau = np.cumsum(rng.normal(size=(3, 300, body.n)), axis=1)
    kept = np.arange(300) != 100
    whole = SimpleNamespace(t=t[kept], q=q[kept], v=v[kept], a=a[kept], tau=tau[kept])
    (run,) = prepare(whole, body, outliers=False)
    assert len(run) == 300
    assert np.array_equal(run.q, q)
    assert np.allclose(run.v[kept], v[kept])
    with pytest.raises(InputError, match="must contain v and a"):
        prepare(SimpleNamespace(t=t, q=q, tau=tau), body)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: prepare(log(q=Q[:, :1]), ARM), "q of 'run.csv' has shape"),
        (lambda: prepare(log(tau=None), ARM), "has no tau"),
        (lambda: prepare(log(), ARM, logged="v"), "is not in the log"),
        (lambda: prepare(log(), ARM, logged="x"), "takes 'v' and 'a'"),
        (lambda: prepare(log(), ARM, cutoff=300.0), "half the sampling rate"),
        (lambda: prepare(log(), ARM, cutoff=20.0, parallel=300.0), "the parallel low-pass"),
        (lambda: prepare(log(), ARM, cutoff=20.0, slow=[1.0, 2.0, 3.0]), "slow="),
        (lambda: prepare(log(), ARM, cutoff=20.0, rest="cut"), "rest="),
        (lambda: prepare(log(), ARM, cutoff=20.0, trim=-1.0), "trim="),
        (lambda: prepare(log(), ARM, cutoff=20.0, trim=10.0), "leaves nothing of a log"),
        (lambda: prepare(log(), ARM, cutoff=20.0, trim=np.inf), "leaves nothing of a log"),
        (lambda: prepare(log(), ARM, cutoff=20.0, period=0.0), "period="),
        (lambda: prepare(log(), ARM, cutoff=20.0, delay=1e9), "as long as the log"),
        (lambda: prepare(log(), ARM, cutoff=20.0, slow=1e3), "excludes every sample"),
        (lambda: prepare(log(), ARM, drive_gains=[1.0, 1.0]), "no currents"),
        (lambda: prepare(log(current=TAU), ARM, drive_gains=[1.0]), "drive_gains="),
        (lambda: prepare(log(), ARM, transmission=Transmission([1.0])), "the transmission has 1"),
        (lambda: prepare(Log(t=T, q=Q, tau=TAU), ARM, transmission=[2.0, 2.0]), "side='motor'"),
        (lambda: prepare(Log(t=T, q=Q, tau=TAU, side="motor"), ARM), "motor-side"),
        (lambda: prepare(log(q=np.where(np.arange(N)[:, None] == 9, np.nan, Q)), ARM, outliers=False), "not finite in row"),
        (lambda: remove_spikes(Q[:, 0]), "one column per joint"),
        (lambda: remove_spikes(np.full((20, 1), np.nan)), "not finite"),
    ],
)
def test_what_cannot_be_prepared_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-2])
def test_spikes_are_found_and_steps_and_turning_points_are_not(noise):
    rng = np.random.default_rng(3)
    steps = np.sign(np.sin(3 * T)) + 0.2 * np.sin(5 * T)
    clean = np.stack([np.sin(3 * T), steps, np.round(np.sin(3 * T), 3)], axis=1) + noise * rng.normal(size=(N, 3))
    assert not remove_spikes(clean).spikes.any()
    x = clean.copy()
    at = np.sort(rng.choice(np.arange(5, N - 5, 10), 40, replace=False))
    x[at] += rng.choice([-1.0, 1.0], (40, 3))
    x[2001:2003, 0] += 1.0  # two in a row
    found = remove_spikes(x, names=("sine",))
    assert found.spikes[at].mean() > 0.97
    assert found.spikes[2001:2003, 0].all()
    assert found.spikes.sum() <= 3 * 40 + 2
    assert "'sine': 42 spikes" in found.notes[0]
    wrong = np.abs(found.values - clean)[found.spikes]
    assert np.median(wrong) < 2e-3 + 3 * noise


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_the_velocities_a_ur10_logged_are_the_derivatives_of_its_positions():
    needs(UR10)
    with np.load(UR10 / "ur10_exciting_trajectory.npz") as archive:
        data = dict(archive)
    robot = dy.load(UR10 / "ur10_robot.urdf")
    ready = prepare(SimpleNamespace(t=data["t"], q=data["q"], tau=data["e"]), robot, cutoff=15.0)
    (run,) = ready
    rows = np.searchsorted(data["t"], run.t - 1e-4)
    off = (run.v - data["v"][rows])[50:-50]  # what was logged had been filtered, and has ends of its own
    assert (off.std(axis=0) < 0.005 * data["v"].std(axis=0)).all()
    assert ready.notes == ()  # no row of it is taken for a spike


@pytest.mark.filterwarnings("ignore::dynamis.errors.ModelWarning")
def test_the_tx40_is_explained_as_well_as_it_was_published():
    from dynamis.identification import LeastSquares, LinearModel, base_parameters, equations

    needs(TX40)
    q, tau = (np.loadtxt(TX40 / f"{name}.csv", delimiter=",", skiprows=1) for name in ("pos_read_data", "curr_data"))
    robot = dy.load(TX40 / "tx40_mdh_modified.urdf")
    gear = Transmission.of([32, 32, 45, -48, 45, 32], [(5, 4, 32)], [0, -np.pi / 2, np.pi / 2, 0, 0, 0])
    motors = SimpleNamespace(t=2e-4 * np.arange(len(q)), q=q, tau=tau)
    base = base_parameters(LinearModel(robot, offset=True, couplings=[robot.coordinate_names[4:6]]))
    slow = [0.0501, 0.0501, 0.0750, 0.0716, 0.0559, 0.1222]
    ready = prepare(motors, robot, cutoff=100.0, transmission=gear, parallel=20.0, slow=slow, rest="drop")
    assert len(ready.notes) == 1  # the rest at its end
    rows = equations(base, ready.samples)
    left = rows.y - rows.X @ LeastSquares().fit(rows.X, rows.y, joint=rows.joint).coef_
    assert np.linalg.norm(left) < 0.05 * np.linalg.norm(rows.y)


def polled(seconds=8.0, rate=500.0, spread=0.4):
    """Times of a log polled at uneven intervals."""
    return np.cumsum(np.random.default_rng(5).gamma(1.0 / spread**2, spread**2 / rate, round(seconds * rate)))


def test_values_polled_at_uneven_times_are_taken_at_these_times():
    t = polled()
    q = np.sin(np.outer(t, [2.0, 3.0]))
    ready = prepare(SimpleNamespace(t=t, q=q, tau=q), ARM)
    (run,) = ready
    assert np.abs(run.a + [4.0, 9.0] * np.sin(np.outer(run.t, [2.0, 3.0]))).max() < 0.02
    assert np.isclose(run.period, 0.002, rtol=0.02)
    assert any("kept, and the values interpolated" in note for note in ready.notes)
    # the stamps of an even clock with errors are told from it by the smoothness of the positions
    even = 0.002 * np.arange(4000)
    q = np.sin(np.outer(even, [2.0, 3.0]))
    stamps = even + 0.0005 * np.random.default_rng(1).uniform(-1, 1, len(even))
    ready = prepare(SimpleNamespace(t=stamps, q=q, tau=q), ARM)
    assert any("replaced by an even clock" in note for note in ready.notes)


def test_without_a_cutoff_both_sides_are_filtered_above_the_band_of_the_motion():
    t = np.arange(4000) * 0.002
    q = np.sin(np.outer(t, [2.0, 3.0])) + 1e-5 * np.random.default_rng(0).normal(size=(4000, 2))
    (run,) = prepare(SimpleNamespace(t=t, q=q, tau=q), ARM)
    assert 2.0 < run.parallel < 10.0
    assert run.every > 1
    assert prepare(SimpleNamespace(t=t, q=q, tau=q), ARM, parallel=0.0)[0].parallel is None
    assert prepare(SimpleNamespace(t=t, q=q, tau=q), ARM, cutoff=20.0)[0].parallel is None


def test_a_fragment_between_gaps_is_dropped_and_the_rest_kept():
    t = np.arange(4000) * 0.002
    kept = np.ones(4000, bool)
    kept[1000:1500] = kept[1540:2000] = False
    q = np.sin(np.outer(t, [2.0, 3.0]))
    ready = prepare(SimpleNamespace(t=t[kept], q=q[kept], tau=q[kept]), ARM)
    assert len(ready) == 2
    assert any("1 of 3 runs dropped: too short" in note for note in ready.notes)
    # a gap far shorter than a period of the cut-off is interpolated
    kept = np.ones(4000, bool)
    kept[1000:1008] = False
    (run,) = prepare(SimpleNamespace(t=t[kept], q=q[kept], tau=q[kept]), ARM, cutoff=5.0)
    assert np.abs(run.a + [4.0, 9.0] * np.sin(np.outer(run.t, [2.0, 3.0]))).max() < 0.05


def test_frozen_encoders_and_stale_rows_are_left_out():
    t = np.arange(4000) * 0.002
    q = np.sin(np.outer(t, [2.0, 3.0]))
    frozen = q.copy()
    frozen[1000:1900, 1] = frozen[1000, 1]
    ready = prepare(SimpleNamespace(t=t, q=frozen, tau=q), ARM, cutoff=20.0)
    assert len(ready) == 2
    assert "the position of joint2 is frozen at one value from row 1001 to 1899" in ready.notes[0]
    held = np.arange(4000) // 4 * 4  # a logger four times as fast as the controller
    ready = prepare(SimpleNamespace(t=t, q=q[held], tau=q[held]), ARM, cutoff=20.0)
    assert np.isclose(ready[0].period, 0.008)
    assert np.abs(ready[0].a + [4.0, 9.0] * np.sin(np.outer(ready[0].t, [2.0, 3.0]))).max() < 0.05


def test_zeros_and_delays_are_corrected():
    t = np.arange(4000) * 0.002
    q = np.sin(np.outer(t, [2.0, 3.0]))
    late = SimpleNamespace(t=t, q=q - [0.1, 0.2], tau=np.sin(np.outer(t - 0.03, [2.0, 3.0])))
    (run,) = prepare(late, ARM, cutoff=20.0, delay=0.03, zero=[0.1, 0.2])
    assert np.abs(run.q - run.tau).max() < 1e-3
    assert np.array_equal(prepare(late, ARM, cutoff=20.0, zero=0)[0].q, prepare(late, ARM, cutoff=20.0)[0].q)
    with pytest.raises(InputError, match="zero= takes one position for each of the 2 joints"):
        prepare(late, ARM, cutoff=20.0, zero=0.1)


def test_joint_positions_go_with_motor_torques():
    t = np.arange(2000) * 0.002
    q = np.sin(np.outer(t, [2.0, 3.0]))
    gears = {"R": np.diag([50.0, 80.0]), "zero": np.zeros(2)}
    log = Log(t, q, q / [50.0, 80.0], sides={"tau": "motor"}, transmission=gears)
    assert repr(log).endswith("; motor side: tau>")
    (run,) = prepare(log, ARM, cutoff=20.0)
    assert np.abs(run.q - run.tau).max() < 1e-4


def test_constant_torques_that_may_be_right_are_not_dead():
    t = np.arange(4000) * 0.001
    swing, cruise = np.sin(2.0 * t), np.clip(t, 0.5, 3.5)
    friction = 3.0 * np.gradient(cruise, t)
    quantised = np.round(20.0 * np.cos(2.0 * t)) / 2.0
    saturated = np.clip(9.0 * np.cos(2.0 * t), -5.0, 5.0)
    q, tau = np.stack([swing, cruise, swing, swing], axis=1), np.stack([quantised, friction, saturated, np.cos(t)], axis=1)
    assert dead_torques(q, tau, t) == []
    tau[1000:2000, 3] = 0.0
    assert dead_torques(q, tau, t) == [(1000, 2000, 3)]


def test_torques_at_a_limit_are_told_from_coarse_and_from_held_ones():
    t = np.arange(4000) * 0.001
    q, tau = np.sin(2.0 * t)[:, None], 9.0 * np.cos(2.0 * t) + 0.05 * np.random.default_rng(0).normal(size=len(t))
    clipped = np.clip(tau, -5.0, 8.0)
    assert np.array_equal(saturated(clipped, q), np.abs(clipped - 1.5) == 6.5)
    assert np.array_equal(saturated(np.round(clipped, 1), q), np.abs(np.round(clipped, 1) - 1.5) == 6.5)
    for unlimited in (tau, np.round(tau), np.round(9.0 * np.cos(2.0 * t), 1), np.repeat(tau[::40], 40)):
        assert not saturated(unlimited, q).any()


def test_rows_beside_a_gap_are_not_used_and_do_not_spoil_the_fit():
    robot, rng = dy.load("planar_2r_melchiorri"), np.random.default_rng(3)
    t = np.arange(1600) / 200.0
    q = np.sin(np.outer(t, [2.0, 3.1])) + 2e-4 * rng.standard_normal((1600, 2))
    log = SimpleNamespace(t=t, q=q, tau=np.zeros_like(q), source="")
    kept = np.r_[:600, 610:1600]
    broken = SimpleNamespace(t=t[kept], q=q[kept], tau=np.zeros((1590, 2)), source="")
    whole, gappy = (prepare(x, robot, gap=20.0) for x in (log, broken))
    assert len(gappy) == 1
    used = gappy[0].use.all(axis=1)
    near = np.abs(gappy[0].t - 0.5 * (t[599] + t[610])) < 0.1
    assert not used[near].any()
    assert used.mean() > 0.85
    # what is used is as accurate as without the gap
    error = np.abs(gappy[0].a + [4.0, 9.61] * np.sin(np.outer(gappy[0].t, [2.0, 3.1])))[used]
    usual = np.abs(whole[0].a + [4.0, 9.61] * np.sin(np.outer(whole[0].t, [2.0, 3.1])))
    assert error.max() < 1.5 * usual.max()


def test_rows_with_a_time_are_not_said_to_have_none():
    robot = dy.load("planar_2r_melchiorri")
    t = np.arange(800) / 200.0
    q = np.sin(np.outer(t, [2.0, 3.1]))
    q[300:310] = np.nan
    notes = prepare(SimpleNamespace(t=t, q=q, tau=np.zeros_like(q), source=""), robot, cutoff=10.0).notes
    assert any("q is not finite" in note for note in notes)
    assert not any("without a time" in note for note in notes)


@pytest.mark.parametrize("kind", ["uniform", "exponential", "delays", "lost"])
def test_gaps_short_against_the_filter_do_not_void_a_log(kind):
    rng, rate, count = np.random.default_rng(2), 1000.0, 12_000
    steps = {
        "uniform": rng.uniform(0.3, 1.7, count),
        "exponential": rng.exponential(1.0, count),
        "delays": np.where(rng.random(count) < 0.05, rng.uniform(1.0, 8.0, count), rng.uniform(0.6, 1.4, count)),
        "lost": rng.geometric(0.8, count).astype(float),
    }[kind]
    t = np.cumsum(steps / rate)
    w = np.array([2.0, 3.1])
    q = np.round((np.sin(np.outer(t, w)) + 2e-5 * rng.standard_normal((count, 2))) / 1e-4) * 1e-4
    ready = prepare(SimpleNamespace(t=t, q=q, tau=q), ARM)
    (run,) = ready
    assert np.isclose(run.period, (1.0 if kind == "lost" else steps.mean()) / rate, rtol=0.03)
    assert run.use.mean() > 0.9
    assert np.abs(run.a + w**2 * np.sin(np.outer(run.t, w))).max() < 0.2
    assert not any("replaced by an even clock" in note for note in ready.notes)
    # beside a gap that is not short, nothing is used
    far = np.abs(t - t[count // 2]) > 0.06
    (run,) = prepare(SimpleNamespace(t=t[far], q=q[far], tau=q[far]), ARM, gap=200.0)
    assert not run.use[np.abs(run.t - t[count // 2]) < 0.06].any()
    assert run.use.mean() > 0.6
