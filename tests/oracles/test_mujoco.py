"""Agreement with MuJoCo on real robots, read through the URDF we write: a check of the writer as much as of the dynamics."""

import warnings

import numpy as np
import pytest
from mujoco_mass_matrix import full_mass_matrix
from random_trees import random_robot, relative_error
from real_robots import ROBOTS

import dynamis as dy
from dynamis.model.diagnostics import Report
from dynamis.model.readers.urdf import read_urdf
from dynamis.model.writers.urdf import write_urdf
from dynamis.spatial.rotation import from_quaternion

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[oracles]'")

AGREE = 1e-11
# MuJoCo refuses inertias no body can have, which these files have, and cannot free ur10's root, which is called world
REFUSED = ("allegro", "anymal", "hyq", "icub", "talos", "finger_edu", "ur_description/urdf/ur10")


def compiled(description):
    """The same robot in MuJoCo: no contacts, no limits, its own base free where ours is."""
    d = description.copy()
    for link in d.links:
        link.shapes = []
    for joint in d.joints:
        joint.drive.viscous = joint.drive.coulomb = 0.0
        joint.limits.lower, joint.limits.upper = -np.inf, np.inf
        joint.limits.effort = joint.limits.velocity = np.inf
        if joint.type == "revolute":
            joint.type = "continuous"
    robot = dy.Robot(d)
    base = next((joint for joint in d.joints if joint.type == "free"), None)
    if base is not None:
        base.type = "fixed"  # their URDF reader has no floating joint; it is added below
    spec = mujoco.MjSpec.from_string(write_urdf(d))
    spec.compiler.fusestatic = False
    if base is not None:
        spec.body(base.child).add_freejoint()
    spec.compiler.balanceinertia = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.option.gravity = d.gravity
    model = spec.compile()
    assert model.ngeom == 0
    assert model.nv == robot.n
    return robot, model


class Ordering:
    def __init__(self, robot, model):
        self.robot, self.model = robot, model
        ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in robot.joint_names]
        self.free = robot.n and robot.model.moving[0][1].motion.nv == 6
        if self.free:
            ids[0] = next(k for k in range(model.njnt) if model.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE)
        width = [6 if self.free and k == 0 else 1 for k in range(len(ids))]
        assert min(ids) >= 0
        self.v = np.concatenate(
            [np.arange(model.jnt_dofadr[i], model.jnt_dofadr[i] + w) for i, w in zip(ids, width, strict=True)]
        )
        self.q = np.concatenate(
            [
                np.arange(model.jnt_qposadr[i], model.jnt_qposadr[i] + (7 if w == 6 else 1))
                for i, w in zip(ids, width, strict=True)
            ]
        )

    def position(self, q):
        result = np.zeros(self.model.nq)
        value = q.copy()
        if self.free:
            value[3:7] = q[[6, 3, 4, 5]]  # their quaternions start with w
        result[self.q] = value
        return result

    def T(self, q):
        """Their velocity from ours: the free joint's linear part is in world axes there."""
        T = np.eye(self.robot.n)
        if self.free:
            T[:3, :3] = from_quaternion(q[3:7])
        return T

    def place(self, v):
        result = np.zeros(self.model.nv)
        result[self.v] = v
        return result


def agree(robot, model, seed):
    order, data = Ordering(robot, model), mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q = robot.random(rng)
        v, a = rng.uniform(-1.0, 1.0, (2, robot.n))
        T = order.T(q)
        # v̇ of the world-axes velocity: d/dt (R v) = R (v̇ + ω × v)
        extra = np.zeros(robot.n)
        if order.free:
            extra[:3] = T[:3, :3] @ np.cross(v[3:6], v[:3])
        data.qpos, data.qvel, data.qacc = order.position(q), order.place(T @ v), order.place(T @ a + extra)
        mujoco.mj_inverse(model, data)
        tau = T.T @ data.qfrc_inverse[order.v]
        assert relative_error(robot.inverse_dynamics(q, v, a), tau) < AGREE
        M = full_mass_matrix(model, data)
        assert relative_error(robot.mass_matrix(q), T.T @ M[np.ix_(order.v, order.v)] @ T) < AGREE
        name = robot.model.moving[-1][1].name
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        assert body >= 0
        Jp, Jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBody(model, data, Jp, Jr, body)
        J = np.vstack([Jp, Jr])[:, order.v] @ T
        assert relative_error(robot.jacobian(q, name), J) < AGREE


@pytest.mark.parametrize(("path", "base"), [(p, b) for p, b, _ in ROBOTS if not p.startswith(REFUSED)])
def test_dynamics_and_jacobians_agree(folder, path, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        robot = dy.load(folder / path, base=base)
    agree(*compiled(robot.description), seed=1)


@pytest.mark.usefixtures("without_compilation")
@pytest.mark.parametrize("seed", range(30))
def test_random_trees_agree_after_a_trip_through_urdf(seed):
    rng = np.random.default_rng(seed)
    kinds = ("continuous", "prismatic", "fixed")  # MuJoCo takes no massless bodies, so no compound joints
    robot = random_robot(rng, floating=False, kinds=kinds, mimics=False, tails=False)
    if robot.n == 0:
        pytest.skip("this seed made a robot of fixed joints only")
    d = robot.description
    for joint in d.joints:
        joint.drive.rotor_inertia = joint.drive.stiffness = joint.drive.coulomb_bias = 0.0
    again = read_urdf(write_urdf(d).encode(), "again.urdf", Report())
    agree(*compiled(again), seed=seed)
