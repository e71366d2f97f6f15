"""Equality constraints of MJCF: closures whose Jacobian, accelerations and forces are those of MuJoCo's own rows."""

import re

import numpy as np
import pytest
from mujoco_mass_matrix import full_mass_matrix

import dynamis as dy

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[mujoco]'")
pytestmark = pytest.mark.filterwarnings("ignore:.*initial poses of free joints:dynamis.ModelWarning")

MODEL = """
<mujoco>
  <option timestep="0.001"><flag contact="disable"/></option>
  <default><equality solref="0.002 1" solimp="0.9999 0.9999 0.001"/></default>
  <worldbody>
    <body name="crank" pos="0 0 1">
      <joint name="crank" axis="0 1 0" ref="0.2"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
      <body name="rod" pos="0.2 0 0">
        <joint name="rod" axis="0 1 0"/>
        <inertial pos="0.15 0 0" mass="0.7" diaginertia="0.01 0.01 0.01"/>
        <site name="end" pos="0.3 0 0"/>
      </body>
    </body>
    <body name="rocker" pos="0.5 0 0.8">
      <joint name="rocker" type="ball"/>
      <inertial pos="0 0 0.1" mass="0.8" diaginertia="0.01 0.02 0.01"/>
      <site name="top" pos="0 0 0.2"/>
    </body>
    <body name="plate" pos="0 0.5 1"><freejoint/><inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body>
    <body name="drum" pos="0 0.5 0.5">
      <joint name="drum" axis="0 1 0" ref="20" armature="0.1"/>
      <inertial pos="0.02 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
    </body>
    <body name="slider" pos="0 1 1">
      <joint name="slide" type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
    </body>
  </worldbody>
  <equality>
    {equalities}
  </equality>
</mujoco>
"""
ALL = """<connect site1="end" site2="top"/>
    <weld body1="plate" body2="drum" anchor="0.1 0 0.1" relpose="0.1 0.05 -0.5 1 0 0.1 0"/>
    <joint joint1="slide" joint2="drum" polycoef="0.1 0.3 0.4 -0.2 0.1"/>
    <joint joint1="crank" polycoef="0.15 0 0 0 0"/>"""


def loaded(equalities):
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        robot = dy.load(MODEL.format(equalities=equalities))
    return robot, mujoco.MjModel.from_xml_string(MODEL.format(equalities=equalities))


class Same:
    """One state in both: quaternions (w, x, y, z) and a velocity in world axes there."""

    def __init__(self, robot, model, q, v):
        self.data, qpos = mujoco.MjData(model), np.array(q)
        self.T = np.eye(robot.n)  # our velocity to theirs
        for j in range(model.njnt):
            kind, at, dof = int(model.jnt_type[j]), int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            start = at + {0: 3, 1: 0}.get(kind, 0)
            if kind < 2:
                qpos[start : start + 4] = np.roll(q[start : start + 4], 1)
            if kind == 0:
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, qpos[start : start + 4])
                self.T[dof : dof + 3, dof : dof + 3] = R.reshape(3, 3)
        self.data.qpos, self.data.qvel = qpos, self.T @ v
        mujoco.mj_forward(model, self.data)

    def mass_matrix(self, model):
        return full_mass_matrix(model, self.data)


def test_closures_are_satisfied_where_those_of_mujoco_are():
    robot, model = loaded(ALL)
    closures = dy.loops.closures(robot)
    assert [type(x).__name__ for x in closures] == ["Point", "Weld", "Coupled", "Coupled"]
    q = dy.constrained(robot).home()
    other = Same(robot, model, q, np.zeros(robot.n)).data
    assert other.nefc == 11
    np.testing.assert_allclose(other.efc_pos, 0.0, atol=1e-10)


def test_accelerations_and_forces_agree_with_mujocos_constraint_rows():
    """An independent solution from MuJoCo's M, bias and Jacobian; and MuJoCo's own solver, whose constraints are soft."""
    robot, model = loaded(ALL)
    held = dy.constrained(robot)
    q = held.home()
    tau = np.linspace(-1.0, 1.0, robot.n)
    a, forces = held.forward_dynamics(q, np.zeros(robot.n), tau)
    both = Same(robot, model, q, np.zeros(robot.n))
    d, T = both.data, both.T
    d.qfrc_applied = np.linalg.solve(T.T, tau)
    mujoco.mj_forward(model, d)
    J, M = d.efc_J.reshape(-1, model.nv)[: d.nefc], both.mass_matrix(model)
    assert np.linalg.matrix_rank(np.vstack([J @ T, held.jacobian(q)]), tol=1e-9) == np.linalg.matrix_rank(J, tol=1e-9)
    K = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([d.qfrc_applied - d.qfrc_bias, np.zeros(len(J))])
    x = np.linalg.lstsq(K, right, rcond=1e-12)[0]
    np.testing.assert_allclose(T @ a, x[: model.nv], atol=1e-8)
    np.testing.assert_allclose(held.jacobian(q).T @ forces, T.T @ (J.T @ x[model.nv :]), atol=1e-7)
    np.testing.assert_allclose(T @ a, d.qacc, atol=2e-2 * np.abs(a).max())


def test_equality_constraints_survive_a_round_trip():
    robot, _ = loaded(ALL)
    q = dy.constrained(robot).home()
    with pytest.warns(dy.ModelWarning, match="loops closed by"):
        again = dy.from_mujoco(robot.to_mujoco())
    held, other = dy.constrained(robot), dy.constrained(again)
    rest = np.zeros(robot.n)
    a, b = (x.forward_dynamics(q, rest, rest)[0] for x in (held, other))
    np.testing.assert_allclose(a, b, atol=1e-8)


def test_what_has_no_counterpart_is_listed(tmp_path):
    equalities = '<connect name="off" site1="end" site2="top" active="false"/>'
    with pytest.warns(dy.ModelWarning) as found:
        robot = dy.load(MODEL.format(equalities=equalities))
    text = " ".join(str(x.message) for x in found)
    assert "inactive equality constraints (1: 'off')" in text
    assert dy.loops.closures(robot) == ()
    fixed = re.sub(r"<freejoint/>", "", MODEL)  # SDF has no free body beside a fixed one
    with pytest.warns(dy.ModelWarning, match="loops closed by 1 equality constraint"):
        robot = dy.load(fixed.format(equalities='<connect site1="end" site2="top"/>'))
    with pytest.warns(dy.ModelWarning, match=r"closures of loops of the kind point \(1: end"):
        robot.write(tmp_path / "tree.sdf")


def test_a_joint_that_is_coupled_to_a_locked_one_is_locked_with_it(tmp_path):
    robot, _ = loaded('<joint joint1="slide" joint2="drum" polycoef="0.1 0.3 0 0 0"/><joint joint1="crank" polycoef="0.15"/>')
    both = {"drum": 0.5, "slide": 0.1 + 0.3 * (0.5 - np.radians(20.0))}
    for lock in ({"drum": both["drum"]}, {"slide": both["slide"]}, both):
        reduced = robot.reduced(lock)
        assert set(robot.joint_names) - set(reduced.joint_names) == {"drum", "slide"}
        q = reduced.random(0)
        whole = robot.q({name: reduced.by_name(q)[name] for name in reduced.joint_names} | both)
        for link in ("drum", "slider", "rod"):
            np.testing.assert_allclose(reduced.pose(q, link), robot.pose(whole, link), atol=1e-12)
        (left,) = dy.loops.closures(reduced)
        assert (left.joint_a, left.joint_b) == ("crank", None)
        assert left.offset == pytest.approx(0.15 + np.radians(0.2), abs=1e-12)  # its ref is in degrees
        reduced.write(tmp_path / "reduced.mjcf")
        assert mujoco.MjModel.from_xml_path(str(tmp_path / "reduced.mjcf")).neq == 1
    assert dy.loops.closures(robot.reduced({"crank": 0.3, "drum": 0.0})) == ()
    with pytest.raises(dy.InputError, match=r"'slide' is coupled to 'drum': at 0.5 of that one it is at 0.14528, not at 0.3"):
        robot.reduced({"drum": 0.5, "slide": 0.3})
