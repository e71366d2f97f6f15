"""Stability reports: conditions that hold or fail, and how sure they are. Energies that fall where theory says so."""

import json
import re
import warnings

import numpy as np
import pytest
from scipy.integrate import simpson

import dynamis as dy
from dynamis import control
from dynamis.control.structural_constants import gravity_slope, scaled_bounds

ARM = dy.load("planar_2r_melchiorri")
GOAL = [0.5, -0.5]


def gravity_gradient(robot, q):
    h = 1e-6 * np.eye(robot.n)
    return np.stack([(robot.gravity(q + d) - robot.gravity(q - d)) / 2e-6 for d in h], axis=-1)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", ["planar_2r_melchiorri", "puma560", "stanford"])
def test_the_slope_of_gravity_is_the_largest_eigenvalue_of_its_gradient_and_is_reached(name, both):
    robot = dy.load(name)
    scale = np.linspace(3.0, 1.0, robot.n)
    alpha = gravity_slope(robot, scale, both=both)
    H = gravity_gradient(robot, np.vstack([alpha.at[None], robot.random(0, 300)])) / np.outer(scale, scale)
    eigenvalues = np.linalg.eigvalsh(0.5 * (H + np.swapaxes(H, -1, -2)))
    found = np.maximum(-eigenvalues[:, 0], eigenvalues[:, -1]) if both else -eigenvalues[:, 0]
    assert alpha.certified
    assert found.max() <= alpha.safe
    assert found[0] == pytest.approx(alpha.value, rel=1e-6)


def test_pd_with_the_gravity_of_the_goal_holds_exactly_where_the_potential_is_convex():
    alpha = gravity_slope(ARM)
    stiff = control.PDGravity(GOAL, 1.02 * alpha.value, 500.0, "goal").check(ARM)
    soft = control.PDGravity(GOAL, 0.98 * alpha.value, 500.0, "goal").check(ARM)
    assert stiff.stable
    assert stiff.proven
    assert not soft.stable
    assert "a condition for stability fails" in str(soft)
    assert f"K_p + ∂g/∂q is not positive definite at 'joint1' = {alpha.at[0]:.4g}, 'joint2' = 0:" in str(soft)
    assert np.linalg.eigvalsh(gravity_gradient(ARM, alpha.at) + 0.98 * alpha.value * np.eye(2))[0] < 0.0


def test_an_extreme_of_gravity_that_no_configuration_shows_decides_nothing():
    panda = dy.load("panda")  # the largest slope found is 60.1 N m, the smallest proven bound in two seconds above 100
    report = control.PDGravity(panda.home(), 75.0, 50.0, "goal").check(panda)
    assert report.stable
    assert not report.proven
    assert "searched" in str(report)


def test_a_goal_too_soft_for_gravity_is_indeed_not_reached():
    goal = np.array([np.pi / 2, 0.0])  # upright
    alpha = gravity_slope(ARM).safe
    end = {}
    for share in (0.5, 1.4):
        law = control.PDGravity(goal, share * alpha, 800.0, "goal")
        # a push aside at the start
        end[share] = dy.simulate(
            ARM, 20.0, goal + np.array([0.3, 0.0]), controller=law.with_model(ARM), method="rk4", step=5e-3, points=3
        ).q[-1]
    assert np.abs(end[1.4] - goal).max() < 1e-5
    assert np.abs(end[0.5] - goal).max() > 0.1


def test_pd_with_gravity_here_is_stable_with_any_gains_and_says_what_an_error_of_gravity_asks_for():
    report = control.PDGravity(GOAL, 1.0, 1.0).check(ARM)
    assert report.proven
    assert not control.PDGravity(GOAL, 1.0, 1.0).check(ARM, error=0.05).stable


def test_the_energy_of_pd_with_gravity_falls():
    law = control.PDGravity(GOAL, stiffness=3000.0, damping=200.0)
    motion = dy.simulate(
        ARM, 3.0, [-1.0, 1.0], [1.0, -2.0], controller=law.with_model(ARM), method="rk4", step=1e-3, points=601
    )
    e = np.array(GOAL) - motion.q
    V = motion.kinetic_energy + 0.5 * (e * law.stiffness * e).sum(axis=1)
    assert (np.diff(V) < 0.0).all()
    # and by exactly what the damper takes
    taken = simpson((motion.v**2 * law.damping).sum(axis=1), x=motion.t)
    assert abs(V[0] - V[-1] - taken) < 1e-5 * V[0]


def test_rules_of_thumb_are_called_so_and_do_not_decide():
    slow = control.ComputedTorque.designed(GOAL, bandwidth=20.0).check(ARM, rate=100.0)
    assert slow.stable
    assert [c.what for c in slow.advice] == ["sample rate [Hz]"]
    assert "a rule of thumb is violated" in slow.verdict
    assert not control.ComputedTorque.designed(GOAL, bandwidth=20.0).check(ARM, rate=500.0).advice


def test_how_well_the_inertia_is_known_is_part_of_the_report():
    law = control.ComputedTorque.designed(GOAL, bandwidth=10.0)
    near = law.check(ARM, model=control.perturbed(ARM, 0.05))
    assert near.stable
    assert not near.proven
    heavy = ARM.replace(payload=dy.solids.sphere(0.1, mass=2000.0))
    assert not law.check(ARM, model=heavy).stable


def test_feedforward_needs_springs_that_outweigh_the_slope_of_the_torque():
    def swing(t):
        s, c = np.sin(2.0 * t), np.cos(2.0 * t)
        return np.array([0.5, 1.0]) * s + np.array([np.pi / 2, 0.0]), np.array([1.0, 2.0]) * c, np.array([-2.0, -4.0]) * s

    assert control.FeedforwardPD.designed(ARM, swing, bandwidth=15.0).check(ARM, duration=3.0).stable
    assert not control.FeedforwardPD(swing, 100.0, 100.0).check(ARM, duration=3.0).stable


def test_the_bounded_law_states_its_margin_its_torques_and_its_last_error():
    law = control.RobustPD.designed(ARM, GOAL, bandwidth=5.0, torque_limits=[3000.0, 1000.0], seconds=1.0)
    report = law.check(ARM)
    assert report.proven
    assert "ultimate bound of the error" in str(report)
    cut = control.RobustPD.designed(ARM, GOAL, bandwidth=5.0, torque_limits=[900.0, 300.0], seconds=1.0)
    assert [c.what for c in cut.check(ARM).advice] == ["torque limit of joint1 [N m]"]
    assert not cut.check(ARM).stable  # nor do they hold its weight
    far = cut(ARM, 0.0, np.array([-2.0, 2.0]), np.array([3.0, -3.0]))
    assert (np.abs(far) <= [900.0, 300.0]).all()
    with pytest.raises(dy.InputError, match="constants='guessed'"):
        control.RobustPD.designed(ARM, GOAL, bandwidth=5.0, constants="guessed", seconds=0.2)


def test_the_scaled_bounds_hold_at_random_states():
    robot = dy.load("puma560")
    bounds = scaled_bounds(robot, seconds=1.0)
    rng = np.random.default_rng(3)
    w = bounds.scale
    for q in robot.random(rng, 100):
        M = robot.mass_matrix(q) / np.outer(w, w)
        values = np.linalg.eigvalsh(M)
        assert bounds.least.lower <= values[0]
        assert values[-1] <= bounds.inertia.safe
        x, y = rng.standard_normal((2, 6))
        C = robot.coriolis_matrix(q, x / w) @ (y / w) / w
        assert np.linalg.norm(C) <= bounds.coriolis.safe * np.linalg.norm(x) * np.linalg.norm(y)
        assert np.linalg.norm(robot.gravity(q) / w) <= bounds.gravity.safe


def test_v_of_the_bounded_law_falls_outside_its_layer():
    model = control.perturbed(ARM, 0.05, seed=5)
    law = control.RobustPD.designed(model, GOAL, bandwidth=5.0, torque_limits=np.inf, seconds=1.0)
    motion = dy.simulate(ARM, 0.1, [-1.0, 1.0], controller=law.with_model(model), method="rk4", step=1e-4, points=401)
    s = 5.0 * (np.array(GOAL) - motion.q) - motion.v
    V = 0.5 * np.einsum("ni,nij,nj->n", s, ARM.mass_matrix(motion.q), s)
    outside = np.linalg.norm(s * law.bounds.scale, axis=1) > law.width / law.margin
    assert outside[:-1].sum() > 50
    assert (np.diff(V)[outside[:-1]] < 0.0).all()


def test_a_report_is_plain_data():
    report = control.PDGravity(GOAL, 2000.0, 500.0).check(ARM, rate=1000.0)
    facts = json.loads(json.dumps(report.as_dict()))
    assert facts["stable"] is True
    assert {c["basis"] for c in facts["conditions"]} == {"proven for small errors", "of the continuous law", "rule of thumb"}


@pytest.mark.parametrize("rate", [0, -1.0, np.nan, "often"])
def test_a_sample_rate_is_a_positive_number(rate):
    with pytest.raises(dy.InputError, match="the sample rate"):
        dy.control.ComputedTorque([0.3, 0.5], 100.0, 20.0).check(dy.load("planar_2r_melchiorri"), rate=rate)


LIMITED = ARM.replace(actuators={"joint2": dy.Saturated(effort=5000.0)})
PD = control.PDGravity(GOAL, 4000.0, 900.0)


@pytest.mark.parametrize("law", [
    PD, PD.with_model(ARM), control.MomentumObserver(PD, 2), control.MomentumObserver(PD, 2).with_model(ARM),
    control.MomentumObserver(PD.with_model(ARM), 2), control.MomentumObserver(control.MomentumObserver(PD, 2), 2),
], ids=["law", "model", "observer", "observer with model", "observer of a model", "observer of an observer"])  # fmt: skip
def test_without_a_theorem_a_loop_is_neither_stable_nor_unstable(law):
    assert law.check(ARM).proven
    report = law.check(LIMITED)
    assert report.stable is None
    assert not report.proven
    assert "not proven: no theorem was checked" in report.verdict
    assert json.loads(json.dumps(report.as_dict()))["stable"] is None


def test_a_law_without_conditions_has_no_theorem():
    class Mine(control.ControlLaw):
        def __call__(self, robot, t, q, v):
            return -100.0 * q - 10.0 * v

    assert Mine().check(ARM).stable is None
    assert control.MomentumObserver(Mine(), 2).check(ARM).stable is None


def doubtful(joint, **values):
    """The arm with friction or springs of a sign that a message of the loader calls doubtful."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        return ARM.replace(friction={joint: values})


def propelled(viscous):
    return doubtful("joint2", viscous=viscous)


@pytest.mark.parametrize("make", [
    lambda d: control.GravityCompensation(damping=d),
    lambda d: control.PDGravity(GOAL, 4000.0, d),
    lambda d: control.FeedforwardPD(GOAL, 4000.0, d),
    lambda d: control.SlotineLi(GOAL, 5.0, d, 1.0, control.SlotineLi.designed(ARM, GOAL, bandwidth=5.0).adapted),
], ids=["gravity", "pd", "feedforward", "adaptive"])  # fmt: skip
def test_damping_must_outweigh_negative_viscous_friction(make):
    for damping, viscous in ((10.0, -20.0), (30.0, -20.0), (10.0, 0.0)):
        report = make(damping).check(propelled(viscous))
        least = next(c for c in report.conditions if "F_v" in c.what or c.what.split()[-1] in ("K_d", "D", "K_D"))
        assert least.found == min(damping, damping + viscous)
        assert report.stable is (damping + viscous > 0.0)


def test_a_motion_that_negative_friction_drives_is_called_unstable():
    law, robot = control.PDGravity(GOAL, 4000.0, 10.0), propelled(-20.0)
    motion = dy.simulate(robot, 20.0, np.array(GOAL) + 1e-3, controller=law, method="rk4", step=1e-3, points=3)
    assert np.abs(motion.q[-1] - GOAL).max() > 5e-3
    assert not law.check(robot).stable


def test_the_bounded_law_outweighs_negative_friction_by_its_settling():
    law = control.RobustPD.designed(ARM, GOAL, bandwidth=5.0, constants="found", seconds=0.2)
    least = float((law.bounds.scale[1] ** 2) * law.settling)
    assert law.check(propelled(-0.9 * least)).stable
    assert not law.check(propelled(-1.1 * least)).stable


def test_an_impedance_must_damp_what_negative_friction_drives():
    task = dy.task_space.Position(rows=(0, 1))
    law = control.Impedance([1.2, 0.9], 800.0, task)
    q = np.array([0.3, 1.2])
    weak, strong = law.check(propelled(-1.0), q=q), law.check(propelled(-2000.0), q=q)
    assert weak.stable
    assert not strong.stable
    for report in (weak, strong):
        assert "negative viscous friction of the joints supplies energy" in str(report)
    cancelled = control.Impedance([1.2, 0.9], 800.0, task, coriolis="cancelled")
    assert cancelled.check(propelled(-2000.0), q=q).stable


def test_springs_are_compensated_at_the_measured_position_so_that_only_gravity_needs_stiffness():
    robot = doubtful("joint1", stiffness=-3000.0)
    alpha = gravity_slope(ARM)
    law = control.PDGravity(GOAL, 1.02 * alpha.value, 500.0, "goal")
    assert law.check(robot).proven
    h = 1e-6 * np.eye(2)
    torque = [robot.bias(alpha.at + d, np.zeros(2)) - law(robot, 0.0, alpha.at + d, np.zeros(2)) for d in (*h, *-h)]
    slope = (np.array(torque[:2]) - torque[2:]).T / 2e-6
    assert np.linalg.eigvalsh(slope)[0] > 0.0


def test_a_report_says_where_effort_limits_and_joint_limits_end_the_theorem():
    weak = ARM.replace(limits={"joint1": {"effort": 5.0, "lower": -1.0, "upper": 0.4}})
    for law in (PD, PD.with_model(weak), control.MomentumObserver(PD, 2)):
        text = str(law.check(weak))
        assert text.count("the effort limit of 'joint1', 5 N m, is below its torque of gravity") == 1
        assert text.count("the goal is outside the joint limits of 'joint1' (-1 … 0.4)") == 1
        assert "limit" not in str(law.check(ARM))


def test_a_report_says_that_loops_of_the_file_are_open():
    with pytest.warns(dy.ModelWarning, match="closes loops|loops closed"):
        robot = dy.load("""<mujoco><compiler angle="radian"/><worldbody>
          <body name="crank"><joint name="j1" axis="0 0 1"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
          <body name="rocker" pos="1 0 0"><joint name="j2" axis="0 0 1"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
          </body></worldbody><equality><connect body1="crank" body2="rocker" anchor="0.5 0 0"/></equality></mujoco>""")
    law = control.PDGravity(np.zeros(2), 100.0, 10.0)
    for one in (law, law.with_model(robot), law):
        assert str(one.check(robot)).count("which are open in these conditions: dynamis.constrained(robot) closes them") == 1
    with pytest.warns(dy.ModelWarning, match="open in this controller"):
        control.compile_law(robot, law)
    with pytest.warns(dy.ModelWarning, match="open in this motion"):
        dy.simulate(robot, 0.01, controller=law)


def test_gravity_without_a_slope_needs_no_stiffness():
    floating_in_space = ARM.replace(gravity=0)
    for report in (control.PDGravity(GOAL, 1.0, 1.0, "goal").check(floating_in_space),
                   control.PDGravity(GOAL, 1.0, 1.0).check(floating_in_space, error=0.05)):  # fmt: skip
        assert report.proven
        assert "gravity has no slope to outweigh" in str(report)
        assert "e+" not in str(report)
    report = control.FeedforwardPD(GOAL, 1.0, 1.0).check(floating_in_space)
    assert report.stable
    assert "has no negative stiffness along the reference" in str(report)
    assert "e+" not in str(report)


def test_limits_and_bounds_of_linear_axes_are_in_newtons_and_metres():
    d = dy.Description("gantry").add_link("base")
    d.add_link("x", "base", "prismatic", joint_name="X", axis=(1, 0, 0), inertia=dy.solids.sphere(0.1, mass=5.0))
    slide = d.copy().add_link("y", "x", "prismatic", joint_name="Y", axis=(0, 1, 0), inertia=dy.solids.sphere(0.1, mass=2.0))
    d.add_link("c", "x", "revolute", joint_name="C", axis=(0, 1, 0), inertia=dy.solids.box(0.1, 0.1, 0.5, mass=1.0))
    for robot, unit, speed in ((dy.Robot(slide), "m", "m"), (dy.Robot(d), "rad and [0-9.]+ m", "rad or m")):
        law = control.RobustPD.designed(robot, [0.1, 0.2], bandwidth=5.0, torque_limits=[0.3, 9.0], seconds=0.5)
        report = law.check(robot)
        assert any(c.what.startswith("torque limit of X [N]") for c in report.conditions)
        assert f"at 1 {speed}/s and 2 {speed}/s²" in str(report)
        assert re.search(f"ultimate bound of the error [0-9.]+ {unit}, for", str(report))
        assert "N m]" not in str(report)
