"""Samples of a floating robot from joint signals, an inertial measurement unit on the base, and contact wrenches."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dynamis as dy
from dynamis import identification as ident

PERIOD, COUNT = 0.005, 3000
T = PERIOD * np.arange(COUNT)


def _sines(count, scale, seed):
    """Sums of three sines (COUNT, count) and their first and second derivatives."""
    rng = np.random.default_rng(seed)
    w, phase = 2.0 * np.pi * rng.uniform(0.2, 1.2, (count, 3)), rng.uniform(0.0, 6.0, (count, 3))
    A, angle = scale * rng.uniform(0.3, 1.0, (count, 3)), w * T[:, None, None] + phase
    return (A * np.sin(angle)).sum(-1), (w * A * np.cos(angle)).sum(-1), (-(w**2) * A * np.sin(angle)).sum(-1)


INERTIAL = (
    '<inertial><origin xyz="{}"/><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial>'
)
JOINT = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 -0.1"/><axis xyz="{3}"/></joint>"""
URDF = f"""<robot name="flyer">
<link name="body">{INERTIAL.format("0.02 -0.01 0.03", 3.0, 0.03, 0.04, 0.05)}</link>
<link name="arm">{INERTIAL.format("0 0.05 -0.1", 0.8, 0.006, 0.007, 0.003)}</link>
<link name="hand">{INERTIAL.format("0.03 0 -0.12", 0.5, 0.004, 0.005, 0.002)}</link>
{JOINT.format("shoulder", "body", "arm", "1 0 0")}{JOINT.format("wrist", "arm", "hand", "0 1 0")}</robot>"""


@pytest.fixture(scope="module")
def robot():
    arm = dy.load(URDF, base="floating")
    mounting = np.eye(4)
    mounting[:3, :3] = Rotation.from_euler("xyz", [0.3, -1.0, 2.0]).as_matrix()
    mounting[:3, 3] = [0.1, -0.2, 0.3]
    return arm.with_frame("imu", arm.model.moving[0][1].name, mounting)


@pytest.fixture(scope="module")
def recording(robot):
    """A robot held in the air at its tip: what sensors measure, of a model that is 15 % off."""
    real = dy.control.perturbed(robot, 0.15, seed=4)
    angles, _, _ = _sines(3, 0.3, 1)
    p, v, a = _sines(3, 0.1, 2)
    q, dq, ddq = _sines(2, 0.5, 3)
    turned = Rotation.from_euler("xyz", angles)
    R = turned.as_matrix()
    between = (turned[:-2].inv() * turned[2:]).as_rotvec() / (2.0 * PERIOD)
    w = np.vstack([between[:1], between, between[-1:]])
    dw = np.gradient(w, PERIOD, axis=0, edge_order=2)
    at_base = [np.einsum("nji,nj->ni", R, x) for x in (v, a, a - np.asarray(robot.model.gravity))]
    state = np.hstack([p, turned.as_quat(), q])
    twist = np.hstack([at_base[0], w, dq])
    change = np.hstack([at_base[1] - np.cross(w, at_base[0]), dw, ddq])
    tau = real.inverse_dynamics(state, twist, change)
    tip = "hand"
    J = robot.jacobian(state, frame=tip, axes="local")
    wrench = np.linalg.solve(np.swapaxes(J[:, :, :6], 1, 2), tau[:, :6, None])[..., 0]
    sensor = robot.pose(robot.neutral(), frame="imu")
    r = sensor[:3, 3]
    felt = at_base[2] + np.cross(dw, r) + np.cross(w, np.cross(w, r))
    joints = (tau - np.einsum("nij,ni->nj", J, wrench))[:, 6:]
    imu = {"angular_velocity": w @ sensor[:3, :3], "acceleration": felt @ sensor[:3, :3]}
    return real, {"q": q, "tau": joints, **imu, "wrenches": {tip: wrench}}


def test_neither_orientation_nor_velocity_of_the_base_is_needed(robot, recording):
    real, log = recording
    samples = ident.imu_samples(robot, **log, period=PERIOD, imu="imu", cutoff=15.0)
    error = real.inverse_dynamics(samples.q, samples.v, samples.a) - samples.tau
    size = np.sqrt(np.mean(samples.tau**2, axis=0))
    assert (np.sqrt(np.mean(error**2, axis=0)) < 2e-3 * size.max()).all()


def test_the_mass_of_the_base_is_identified(robot, recording):
    real, log = recording
    rng = np.random.default_rng(0)
    noisy = {name: x if name == "wrenches" else x + 1e-3 * rng.normal(size=x.shape) for name, x in log.items()}
    noisy["q"] = log["q"] + 1e-5 * rng.normal(size=log["q"].shape)
    samples = ident.imu_samples(robot, **noisy, period=PERIOD, imu="imu", cutoff=15.0, parallel=10.0, every=4)
    found = dy.identify(ident.LinearModel(robot, friction=(), rotor=False), samples, compare=())
    assert found.verdict.grade == "good"
    assert abs(robot.mass - real.mass) > 0.01 * real.mass
    assert found.robot.mass == pytest.approx(real.mass, rel=2e-3)


def test_torques_that_are_not_measured_are_left_out(robot, recording):
    _, log = recording
    tau = log["tau"].copy()
    tau[:, 1] = np.nan
    samples = ident.imu_samples(robot, **{**log, "tau": tau}, period=PERIOD, imu="imu", cutoff=15.0)
    assert samples.use[:, :7].all()
    assert not samples.use[:, 7].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"imu": "hand"}, "moves relative to the base"),
        ({"angular_velocity": np.zeros((3, 3))}, r"angular_velocity has shape \(3, 3\); expected \(3000, 3\)"),
        ({"acceleration": np.full((COUNT, 3), np.nan)}, r"acceleration\[0, 0\] is nan"),
        ({"tau": np.zeros((COUNT, 8))}, "without the base"),
        ({"q": "abc"}, "q must be an array of numbers, got str"),
        ({"wrenches": [1.0]}, "wrenches= takes a dictionary"),
        ({"cutoff": 0.1}, "too few for a cut-off of 0.1 Hz"),
        ({"wrenches": {"elbow?": np.zeros((COUNT, 6))}}, "elbow"),
    ],
)
def test_what_cannot_be_used_is_named(robot, recording, change, message):
    _, log = recording
    with pytest.raises(dy.DynamisError, match=message):
        ident.imu_samples(robot, **{**log, "period": PERIOD, "imu": "imu", "cutoff": 15.0, **change})


def test_a_fixed_base_has_no_such_samples(recording):
    _, log = recording
    with pytest.raises(dy.InputError, match="base='floating'"):
        ident.imu_samples(dy.load(URDF), **log, period=PERIOD)
