"""Λ, μ, p, the consistent inverse and the laws against the same formulas with Pinocchio's M, J, J̇ v, bias and weight."""

import numpy as np
import pytest

import dynamis as dy
from dynamis.model.build import with_floating_base
from dynamis.model.description import Drive

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'dynamis[oracles]'")

ts = dy.task_space
CASES = [("panda", False), ("kuka_iiwa14", False), ("ur5e", False), ("xarm7", True)]
STATES = 3


class Oracle:
    """The robot in Pinocchio, at one state, for the last link of a serial arm."""

    def __init__(self, name, floating, folder):
        d = dy.load(name).description
        for joint in d.joints:
            joint.drive = Drive()  # Pinocchio's algorithms know no friction
        self.robot = dy.Robot(with_floating_base(d) if floating else d)
        path = folder / "robot.urdf"
        dy.Robot(d).write(path)
        self.model = pin.buildModelFromUrdf(str(path), *((pin.JointModelFreeFlyer(),) if floating else ()))
        self.data = self.model.createData()
        self.frame = self.robot.model.frame().name

    def set(self, q, v):
        model, data = self.model, self.data
        number = model.getFrameId(self.frame)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        M = pin.crba(model, data, q)
        self.M = np.triu(M) + np.triu(M, 1).T
        self.n = pin.nonLinearEffects(model, data, q, v).copy()
        self.g = pin.computeGeneralizedGravity(model, data, q).copy()
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        self.drift = pin.getFrameClassicalAcceleration(model, data, number, axes).vector.copy()
        self.J = pin.computeFrameJacobian(model, data, q, number, axes).copy()


@pytest.fixture(params=CASES, ids=lambda case: case[0] + (", floating" if case[1] else ""), scope="module")
def oracle(request, tmp_path_factory):
    return Oracle(*request.param, tmp_path_factory.mktemp("robot"))


def agree(found, wanted, digits=1e-9):
    np.testing.assert_allclose(found, wanted, atol=digits * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("seed", range(STATES))
@pytest.mark.parametrize("rows", [3, 6])
def test_operational_space_and_laws_agree(oracle, rows, seed):
    robot = oracle.robot
    rng = np.random.default_rng(seed)
    q, v, x_ddot = robot.random(rng), rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, rows)
    oracle.set(q, v)
    M, n, g, J, drift = oracle.M, oracle.n, oracle.g, oracle.J[:rows], oracle.drift[:rows]
    task = ts.Position() if rows == 3 else ts.PoseTask()
    x = dy.operational_space(robot, q, v, task)
    digits = 1e-10 * x.condition**2
    M_inverse = np.linalg.inv(M)
    Lambda = np.linalg.inv(J @ M_inverse @ J.T)
    agree(x.J, J)
    agree(x.J_dot_v, drift)
    agree(x.Lambda, Lambda, digits)
    agree(x.J_bar, M_inverse @ J.T @ Lambda, digits)
    agree(x.N, np.eye(robot.n) - M_inverse @ J.T @ Lambda @ J, digits)
    agree(x.p, Lambda @ J @ M_inverse @ g, digits)
    agree(x.mu, Lambda @ (J @ M_inverse @ (n - g) - drift), digits)
    b = x_ddot - drift + J @ M_inverse @ n
    laws = {
        "driven-acceleration": M @ np.linalg.pinv(J) @ b,
        "acceleration-energy": J.T @ Lambda @ b,
        "torque": np.linalg.pinv(J @ M_inverse) @ b,
    }
    for name, tau in laws.items():
        found = dy.task_space.least_cost_torque(robot, q, v, task, x_ddot, name)
        agree(found, tau, max(digits, 1e-8) * 10)
        # and Pinocchio's own forward dynamics executes it
        a = pin.aba(oracle.model, oracle.data, q, v, found)
        agree(J @ a + drift, x_ddot, 1e-7 * max(1.0, np.abs(a).max()))
