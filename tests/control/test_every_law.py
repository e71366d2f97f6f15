"""Every controller, on three robots whose masses, centres of mass and inertias it knows to 5 %: it stays within a stated
bound, and compiled it is what it is in Python."""

from functools import cache

import numpy as np
import pytest
from campaign_params import few_of

import dynamis as dy
from dynamis import control
from dynamis.control.gains import max_diagonal_inertia
from dynamis.trajectories.joint_moves import joint_move

ROBOTS = ("planar_2r_melchiorri", "puma560", "kuka_iiwa14")
STARTS = {
    "planar_2r_melchiorri": [0.3, 1.2],
    "puma560": [0.3, 0.7, -0.4, 0.2, 0.8, 0.1],
    "kuka_iiwa14": [0.2, 0.6, 0.1, -1.3, 0.2, 0.9, 0.1],
}
END, BANDWIDTH, ERROR, SEED = 2.0, 15.0, 0.05, 5
# The largest error of any joint [rad] or component of the tip's position [m] on any of the three robots, for seven draws of the
# parameters' errors; one of the worst is tested. What a law misses on its reference, over its stiffness, explains them: some
# 5 % of the weight over K for the model-based ones, all of M a + C v for PD + gravity. `predicted_error` computes it
# beforehand, and the tests hold the motions against that as well.
STATED = {
    "pd_gravity": 0.06,
    "pid": 0.05,
    "pd_bounded": 0.01,
    "feedforward_pd": 0.02,
    "computed_torque": 0.02,
    "slotine_li": 0.012,
    "gravity_compensation": 0.15,
    "operational_space": 0.002,
    "impedance": 0.002,
    "impedance_shaped": 0.002,
    "hybrid": 0.005,
    "momentum_observer": 0.02,
}
STEPS = {"pd_bounded": 1e-4, "slotine_li": 5e-4}  # the wrist of the lightest arm is quick under their gains


@cache
def plant(name, dry=True):
    robot = dy.load(name)
    if dry:
        return robot
    joints = [j.name for j in robot.description.joints if j.type != "fixed"]
    return robot.replace(friction={joint: {"coulomb": 0.0, "coulomb_bias": 0.0} for joint in joints})


@cache
def known(name, dry=True):
    return control.perturbed(plant(name, dry), ERROR, seed=SEED)


def position(name):
    return dy.task_space.Position(rows=(0, 1)) if name.startswith("planar") else dy.task_space.Position()


def joint_reference(name):
    q0 = np.array(STARTS[name])
    return joint_move(q0, q0 + np.linspace(0.8, -0.6, len(q0)), duration=1.5)


def tip_reference(name, way):
    x0 = position(name).value(plant(name), STARTS[name])
    return joint_move(x0, x0 + np.array(way)[: len(x0)], duration=1.5)


def surface(name):
    """2 mm below where the tip starts, across its last axis."""
    x0 = position(name).value(plant(name), STARTS[name])
    normal = np.eye(3)[len(x0) - 1]
    return dy.Plane(tuple(normal * (x0[-1] - 0.002)), tuple(normal))


def touching(name, robot):
    return dy.contact(robot, robot.link_names[-1], surface(name), stiffness=2e4, damping=0.5)


@cache
def make(kind, name):
    """(law, reference, task or None, wrenches) for the model the law knows."""
    dry = kind not in WITHOUT_DRY_FRICTION
    model, task = known(name, dry), position(name)
    heavy = name.startswith("planar")
    q_d, x_d = joint_reference(name), tip_reference(name, [-0.1, 0.15, 0.1])
    K = 20000.0 if heavy else 4000.0
    match kind:
        case "pd_gravity":
            return control.PDGravity.designed(model, q_d, bandwidth=BANDWIDTH), q_d, None, None
        case "pid":
            return control.PID.designed(model, q_d, bandwidth=BANDWIDTH, gravity="here"), q_d, None, None
        case "pd_bounded":
            law = control.RobustPD.designed(model, q_d, bandwidth=10.0, torque_limits=np.inf, seconds=0.4, constants="found")
            return law, q_d, None, None
        case "feedforward_pd":
            return control.FeedforwardPD.designed(model, q_d, bandwidth=BANDWIDTH), q_d, None, None
        case "computed_torque":
            return control.ComputedTorque.designed(q_d, bandwidth=BANDWIDTH), q_d, None, None
        case "slotine_li":
            return control.SlotineLi.designed(model, q_d, bandwidth=10.0), q_d, None, None
        case "momentum_observer":
            inner = control.ComputedTorque.designed(q_d, bandwidth=BANDWIDTH)
            return control.MomentumObserver(inner, model.n), q_d, None, None
        case "gravity_compensation":
            damping = 2.0 * 20.0 * max_diagonal_inertia(model)
            return control.GravityCompensation(damping=damping), np.array(STARTS[name]), None, None
        case "operational_space":
            return control.OperationalSpace.designed(x_d, task, bandwidth=BANDWIDTH), x_d, task, None
        case "impedance":
            return control.Impedance(x_d, K, task, coriolis="cancelled"), x_d, task, None
        case "impedance_shaped":
            law = control.Impedance(x_d, K, task, inertia=50.0 if heavy else 5.0, wrench=lambda t, q, v: np.zeros(6))
            return law, x_d, task, None
        case "hybrid":
            robot = plant(name, False)
            push = touching(name, robot)
            x_d = tip_reference(name, [-0.1, 0.0] if heavy else [0.1, -0.05, 0.0])
            options = {"bandwidth": BANDWIDTH, "wrench": push, "integral": 10.0}
            law = control.HybridForcePosition.designed(x_d, 20.0, np.eye(task.size)[-1], task, **options)
            return law, x_d, task, {robot.link_names[-1]: push}
    raise AssertionError(kind)


TASKS = ("operational_space", "impedance", "impedance_shaped", "hybrid")
WITHOUT_DRY_FRICTION = (*TASKS, "gravity_compensation")  # what they do not carry would hide what they do


@cache
def motion(kind, name):
    law, reference, task, wrenches = make(kind, name)
    robot, model = plant(name, kind not in WITHOUT_DRY_FRICTION), known(name, kind not in WITHOUT_DRY_FRICTION)
    step = STEPS.get(kind, 1e-3)
    made = dy.rollouts(robot, END, STARTS[name], controller=law.with_model(model), wrenches=wrenches, friction="smooth",
                       method="rk4", step=step, every=round(0.01 / step))  # fmt: skip
    return law, reference, task, wrenches, made


def errors(kind, name):
    _, reference, task, _, made = motion(kind, name)
    wanted = np.array([reference.at(float(t))[0] if hasattr(reference, "at") else reference for t in made.t])
    found = made.q if task is None else np.array([task.value(plant(name), q) for q in made.q])
    e = np.abs(wanted - found)
    return e[:, :-1] if kind == "hybrid" else e  # its last axis is one of force


CASES = [(kind, name) for kind in STATED for name in ROBOTS]
# each law on one robot every time
USUAL = [(kind, ROBOTS[(k + 1) % len(ROBOTS)]) for k, kind in enumerate(STATED)]


@pytest.mark.parametrize(("kind", "name"), few_of(CASES, USUAL))
def test_with_five_per_cent_of_parameter_error_it_stays_within_the_stated_bound(kind, name):
    law, reference, task, _, made = motion(kind, name)
    assert made.note == ""  # it was compiled
    worst = errors(kind, name).max(axis=0)
    assert worst.max() < STATED[kind]
    if task is None and kind in ("pd_gravity", "feedforward_pd", "computed_torque"):
        expected = control.tracking_bound(law.with_model(known(name)), plant(name), reference)
        assert (worst < expected).all()
        if name != "puma560":  # smoothed dry friction damps, which is left out
            assert (worst > 0.6 * expected).all()  # the prediction is right to a tenth
    if kind == "gravity_compensation":
        # it drifts with the speed at which the damper carries the unknown weight
        missed = np.abs(plant(name, False).gravity(made.q) - known(name, False).gravity(made.q)).max(axis=0)
        assert (worst < 1.2 * END * missed / law.damping + 5e-3).all()
    if kind == "pd_bounded":
        assert (worst < law.ultimate_error()).all()


@pytest.mark.parametrize(("kind", "name"), few_of(CASES, [*USUAL, *((kind, ROBOTS[0]) for kind in STATED)]))
def test_compiled_it_is_what_it_is_in_python(kind, name):
    law, _, _, wrenches, made = motion(kind, name)
    robot, model = plant(name, kind not in WITHOUT_DRY_FRICTION), known(name, kind not in WITHOUT_DRY_FRICTION)

    class Called(dy.Controller):  # the law, called from Python with the model
        size = getattr(law, "size", 0)

        def start(self, _robot, q, v):
            return law.start(model, q, v)

        def __call__(self, _robot, t, q, v, x):
            return law(model, t, q, v, x)

        def rates(self, _robot, t, q, v, x):
            return law.rates(model, t, q, v, x)

    dynamic = law.size
    called = Called() if dynamic else (lambda t, q, v: law(model, t, q, v))
    one = dy.simulate(robot, made.t[:3], STARTS[name], controller=called, wrenches=wrenches, friction="smooth",
                      method="rk4", step=made.step)  # fmt: skip
    assert one.statistics["compiled"] is False
    for mine, theirs in ((made.q, one.q), (made.v, one.v)):
        assert np.abs(mine[:3] - theirs).max() < 1e-12 * max(1.0, np.abs(theirs).max())
    if dynamic:
        x = one.actuator_states["controller"]
        assert np.abs(made.drives[:3] - x).max() < 1e-12 * max(1.0, np.abs(x).max())


@pytest.mark.parametrize("name", few_of(ROBOTS, [name for kind, name in USUAL if kind == "hybrid"]))
def test_the_force_of_the_hybrid_law_converges_in_spite_of_the_wrong_weight(name):
    _, _, _, wrenches, made = motion("hybrid", name)
    push = next(iter(wrenches.values()))
    force = np.array([np.linalg.norm(push(0.0, q, v)[:3]) for q, v in zip(made.q, made.v, strict=True)])
    assert force[0] == 0.0  # it starts above the surface
    assert abs(force[-1] - 20.0) < 0.2


@pytest.mark.parametrize("kind", ["slotine_li", "impedance", "hybrid"])
def test_at_many_states_the_compiled_torques_are_those_of_python(kind):
    name = "kuka_iiwa14"
    law, *_ = make(kind, name)
    model = known(name, kind not in WITHOUT_DRY_FRICTION)
    rng = np.random.default_rng(1)
    count = 16
    q = np.array(STARTS[name]) + rng.uniform(-0.3, 0.3, (count, model.n))
    v = rng.uniform(-1.0, 1.0, (count, model.n))
    t = rng.uniform(0.0, END, (count, 1))
    kernel = control.compile_law(model, law)
    if law.size:
        x = law.start(model, q, v) + rng.uniform(-0.1, 0.1, (count, law.size))
        tau, rates = kernel(t, q, v, x)
        expected = [law(model, float(a[0]), *s) for a, *s in zip(t, q, v, x, strict=True)]
        slopes = np.array([law.rates(model, float(a[0]), *s) for a, *s in zip(t, q, v, x, strict=True)])
        assert np.abs(rates - slopes).max() <= 1e-12 * np.abs(slopes).max()
    else:
        tau = kernel(t, q, v)
        expected = [law(model, float(a[0]), *s) for a, *s in zip(t, q, v, strict=True)]
    assert np.abs(tau - np.array(expected)).max() <= 1e-12 * np.abs(expected).max()
