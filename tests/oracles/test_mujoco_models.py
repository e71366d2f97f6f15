"""MJCF in and out: M and bias torques of MuJoCo itself, for every model that Gymnasium ships and for the library's robots."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest
from mujoco_mass_matrix import full_mass_matrix

import dynamis as dy
from dynamis.spatial import from_quaternion

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[oracles]'")
pytestmark = pytest.mark.usefixtures("without_compilation", "in_an_empty_folder")
AGREE = 1e-10
SMALL = """
<mujoco model="small">
  <compiler angle="degree"/>
  <option gravity="0 1 -9"/>
  <default><joint armature="0.1" damping="0.5"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="cart" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="x" type="slide" axis="1 0 0" ref="0.2" range="-1 1" limited="true" stiffness="3" springref="0.1"/>
      <joint name="turn" axis="0 1 1" pos="0.1 0 0.05" ref="30" frictionloss="0.2"/>
      <geom type="box" size="0.1 0.2 0.05" mass="2" pos="0.03 0.02 0.01" euler="5 0 40"/>
      <site name="grip" pos="0 0 0.1"/>
      <body name="ball" pos="0 0 0.2">
        <joint name="socket" type="ball" pos="0 0 -0.1" damping="0.1"/>
        <geom type="capsule" size="0.03 0.1" mass="0.5"/>
        <body name="rest" pos="0 0.1 0"><geom type="sphere" size="0.02" mass="0.1"/></body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="x"/></actuator>
</mujoco>
"""


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch):
    """MuJoCo, where it is called by a test, keeps a log in the current folder."""
    monkeypatch.chdir(tmp_path)


def models():
    found = importlib.util.find_spec("gymnasium")
    folder = Path(found.origin).parent / "envs" / "mujoco" / "assets" if found and found.origin else Path("none")
    return sorted(folder.glob("*.xml"))


def quietly(function, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        return function(*arguments)


class Coordinates:
    """qpos and qvel of MuJoCo for our q and v: qvel = T v."""

    def __init__(self, robot, model, q):
        self.qpos, self.T = np.zeros(model.nq), np.zeros((model.nv, robot.n))
        by_joint = {}
        for _, body in robot.model.moving:
            if body.dof:
                by_joint.setdefault(robot.model.coordinates[body.dof[0]].joint, body)
        self.free = []
        for j in range(model.njnt):
            body = by_joint[model.joint(j).name or f"joint{j}"]
            x, at, dof = q[body.q_index], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if model.jnt_type[j] == 0:
                self.qpos[at : at + 7] = [*x[:3], x[6], *x[3:6]]
                R = from_quaternion(x[3:])
                self.T[dof : dof + 3, list(body.dof[:3])], self.T[dof + 3 : dof + 6, list(body.dof[3:])] = R, np.eye(3)
                self.free.append((dof, list(body.dof), R))
            elif model.jnt_type[j] == 1:
                self.qpos[at : at + 4] = [x[3], *x[:3]]
                self.T[dof : dof + 3, list(body.dof)] = np.eye(3)
            else:
                self.qpos[at], self.T[dof, body.dof[0]] = x[0], 1.0

    def rate(self, v):
        """Ṫ v: the axes of free bodies turn."""
        result = np.zeros(len(self.T))
        for dof, own, R in self.free:
            result[dof : dof + 3] = np.cross(R @ v[own[3:]], R @ v[own[:3]])
        return result


def compare(robot, model, seed=0):
    rng = np.random.default_rng(seed)
    q, v = robot.random(rng), rng.normal(size=robot.n)
    there = Coordinates(robot, model, q)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = there.qpos, there.T @ v
    mujoco.mj_forward(model, data)
    M = full_mass_matrix(model, data)
    ours = robot.mass_matrix(q)
    assert np.abs(there.T.T @ M @ there.T - ours).max() < AGREE * max(1.0, np.abs(ours).max())
    terms = robot.torque_ledger(q, v, np.zeros(robot.n))
    bias = terms.coriolis + terms.gravity
    expected = there.T.T @ (data.qfrc_bias + M @ there.rate(v))
    assert np.abs(expected - bias).max() < AGREE * max(1.0, np.abs(bias).max())
    passive = there.T.T @ (data.qfrc_spring + data.qfrc_damper)
    np.testing.assert_allclose(passive, -(terms.spring + terms.viscous), atol=AGREE)


@pytest.mark.skipif(not models(), reason="Gymnasium is not installed: pip install 'dynamis[oracles]'")
@pytest.mark.parametrize("path", models(), ids=lambda path: path.stem)
def test_every_model_of_gymnasium_has_mujocos_dynamics(path):
    with pytest.warns(dy.ModelWarning, match="without a counterpart: .*actuators"):
        robot = dy.load(path)
    compare(robot, mujoco.MjModel.from_xml_path(str(path)))


def test_the_model_that_mujoco_itself_ships_has_its_dynamics():
    path = Path(mujoco.__file__).parent / "testdata" / "model.xml"
    if not path.is_file():
        pytest.skip("this version of MuJoCo does not ship testdata/model.xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    with pytest.warns(dy.ModelWarning) as found:
        robot = dy.load(path)
    assert "armature" not in str(found[0].message)
    assert robot.model.rotor.any()
    compare(robot, model)


def test_joints_of_every_type_with_references_anchors_springs_and_friction():
    with pytest.warns(dy.ModelWarning, match=r"planes \(1: 'floor'\); actuators \(1: 'push'\)"):
        robot = dy.load(SMALL)
    model = mujoco.MjModel.from_xml_string(SMALL)
    assert robot.joint_names == ("x", "turn", "socket")
    compare(robot, model)
    assert robot.limits["lower"][0] == -1.0
    assert robot.model.coulomb.tolist() == [0.0, 0.2, 0.0, 0.0, 0.0]
    assert "grip" in robot.link_names
    assert [shape.role for shape in robot.description.link("cart").shapes] == ["collision", "visual"]


@pytest.mark.parametrize(("name", "base"), [("ur5e", "fixed"), ("panda", "fixed"), ("stanford", "fixed"), ("go2", "floating")])
def test_a_robot_written_for_mujoco_is_the_same_there_and_read_back(name, base, tmp_path):
    robot = dy.load(name, base=base)
    compare(robot, robot.to_mujoco())
    robot.write(tmp_path / "robot.mjcf")
    again = quietly(dy.load, tmp_path / "robot.mjcf")
    q, v = robot.random(2), np.random.default_rng(2).normal(size=robot.n)
    assert again.joint_names == robot.joint_names
    np.testing.assert_allclose(again.mass_matrix(q), robot.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(again.bias(q, v), robot.bias(q, v), atol=1e-10)
    np.testing.assert_allclose(again.limits["upper"], robot.limits["upper"])


def test_remarks_of_mujoco_are_findings_and_leave_no_file(tmp_path, capfd):
    text = SMALL.replace('<compiler angle="degree"/>', '<compiler angle="degree" settotalmass="5"/>')
    quietly(dy.load, text)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().out == ""
    if int(mujoco.__version__.split(".")[0]) >= 4:  # where it is deprecated
        assert any("settotalmass" in str(problem) for problem in dy.check(text).notes)


def test_what_mujoco_does_not_accept_is_refused_in_our_words(tmp_path):
    file = tmp_path / "broken.xml"
    file.write_text("<mujoco>\n  <worldbody>\n    <body><joint type='elbow'/></body>\n  </worldbody>\n</mujoco>")
    with pytest.raises(dy.FormatError, match=r"broken\.xml:3"):
        dy.load(file)
    with pytest.raises(dy.FormatError, match="MuJoCo does not compile it"):
        dy.load("<mujoco><worldbody><bodies/></worldbody></mujoco>")
    with pytest.raises(dy.InputError, match="MjModel"):
        dy.from_mujoco("model.xml")
    with pytest.raises(dy.ConversionError, match="helical"):
        d = dy.Description("screw").add_link("base")
        dy.Robot(d.add_link("nut", "base", "helical", pitch=0.1, inertia=dy.solids.sphere(0.1, mass=1.0))).to_mujoco()
    assert not dy.check(file).ok
