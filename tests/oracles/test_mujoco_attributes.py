"""Attributes of MJCF that change M or the torques: each is in our dynamics as in MuJoCo's, or in a warning."""

import warnings

import numpy as np
import pytest
from mujoco_mass_matrix import full_mass_matrix

import dynamis as dy
from dynamis.spatial import from_quaternion

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'dynamis[mujoco]'")
pytestmark = pytest.mark.usefixtures("without_compilation")
AGREE = 1e-10
MODEL = """
<mujoco>
  <option timestep="0.001">{option}</option>
  <worldbody>
    <body name="a" pos="0.1 0 1" {body}>
      <joint name="j1" type="{kind}" axis="1 0.3 0" {joint}/>
      <inertial pos="0.1 0.02 0.3" mass="2" diaginertia="0.1 0.2 0.15"/>
      <body name="b" pos="0 0 0.4">
        <joint name="j2" axis="0 1 0"/>
        <inertial pos="0.2 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
        <geom type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/>
        <site name="s"/>
      </body>
    </body>
  </worldbody>
  {more}
</mujoco>
"""
FLAG = "<flag {}='disable'/>"
ACTUATOR = "<actuator>{}</actuator>"
TENDON = "<tendon><fixed {}><joint joint='j1' coef='1'/><joint joint='j2' coef='2'/></fixed></tendon>"
LOOP = "<equality><joint joint1='j1' joint2='j2'/></equality>"
EVERYTHING = "damping='2' stiffness='20' springref='0.3' frictionloss='0.5'"

EQUAL = {
    "damping": {"joint": "damping='2'"},
    "stiffness": {"joint": "stiffness='20' springref='10'"},
    "springdamper": {"joint": "springdamper='0.1 0.7'"},
    "frictionloss": {"joint": "frictionloss='0.5'"},
    "armature": {"joint": "armature='0.4'"},
    "armature of a slide": {"kind": "slide", "joint": "armature='0.4' damping='1' stiffness='2'"},
    "armature of a ball joint": {"kind": "ball", "joint": "armature='0.4' damping='1'"},
    "armature of a ball joint by its actuator": {
        "kind": "ball", "more": ACTUATOR.format("<motor joint='j1' armature='1' gear='2 1 0'/>"),
    },
    "damping of a ball joint": {"kind": "ball", "joint": "damping='2' frictionloss='0.3'"},
    "damping of a free joint": {"kind": "free", "joint": "damping='2'"},
    "flag spring": {"option": FLAG.format("spring"), "joint": EVERYTHING},
    "flag spring, nonlinear": {"option": FLAG.format("spring"), "joint": "stiffness='20 5'"},
    "flag spring, free": {"option": FLAG.format("spring"), "kind": "free", "joint": "stiffness='20'"},
    "flag damper": {"option": FLAG.format("damper"), "joint": EVERYTHING},
    "flag damper, nonlinear": {"option": FLAG.format("damper"), "joint": "damping='2 1 0.5'"},
    "flag frictionloss": {"option": FLAG.format("frictionloss"), "joint": EVERYTHING},
    "flag constraint": {"option": FLAG.format("constraint"), "joint": EVERYTHING},
    "flag gravity": {"option": FLAG.format("gravity"), "joint": EVERYTHING},
    "flag actuation": {"option": FLAG.format("actuation"), "more": ACTUATOR.format("<general joint='j1' armature='0.7'/>")},
    "actuator": {"more": ACTUATOR.format("<general joint='j1' armature='0.7' damping='3' gear='2 5'/>")},
    "actuator in the parent's axes": {"more": ACTUATOR.format("<motor jointinparent='j1' armature='0.7' damping='3'/>")},
    "two actuators": {
        "joint": "armature='0.1' damping='1'",
        "more": ACTUATOR.format("<motor joint='j1' armature='0.7' gear='3'/><motor joint='j1' armature='0.2' damping='3'/>"),
    },
    "actuator of a ball joint": {"kind": "ball", "more": ACTUATOR.format("<motor joint='j1' damping='3' gear='2 1 0'/>")},
    "actuator with three controls": {"kind": "ball", "more": ACTUATOR.format("<orientation joint='j1' kp='1'/>")},
    "actuator with flag damper": {
        "option": FLAG.format("damper"), "more": ACTUATOR.format("<motor joint='j1' armature='0.7' damping='3'/>"),
    },
}  # fmt: skip
LISTED = {
    "nonlinear damping": ("nonlinear damping", {"joint": "damping='2 1 0.5'"}),
    "nonlinear stiffness": ("nonlinear springs", {"joint": "stiffness='20 5'"}),
    "nonlinear damping of an actuator": (
        "nonlinear damping", {"more": ACTUATOR.format("<general joint='j1' damping='3 1'/>")},
    ),
    "plastic spring": ("yielding of springs", {"joint": "stiffness='20' springyield='10'"}),
    "spring of a free joint": ("springs of free", {"kind": "free", "joint": "stiffness='5'"}),
    "nonlinear spring of a free joint": ("springs of free", {"kind": "free", "joint": "stiffness='0 5'"}),
    "spring of a ball joint": ("springs of free and ball", {"kind": "ball", "joint": "stiffness='5'"}),
    "armature of a free joint": ("armature of free", {"kind": "free", "joint": "armature='5'"}),
    "frictionloss of a free joint": ("frictionloss of free", {"kind": "free", "joint": "frictionloss='0.5'"}),
    "gravity compensation": ("gravity compensation", {"body": "gravcomp='1'"}),
    "density": ("forces of a fluid", {"option": "</option><option density='1000'>"}),
    "viscosity": ("forces of a fluid", {"option": "</option><option viscosity='1'>"}),
    "tendon armature": ("tendons", {"more": TENDON.format("armature='1'")}),
    "tendon damping": ("tendons", {"more": TENDON.format("damping='1'")}),
    "tendon stiffness": ("tendons", {"more": TENDON.format("stiffness='1' springlength='0.1'")}),
    "actuator of a tendon": (
        "tendons",
        {"more": TENDON.format("name='t'") + ACTUATOR.format("<motor tendon='t' armature='0.5'/>")},
    ),
    "equality": ("loops closed by 1 equality constraint", {"more": LOOP}),
    "equality, disabled": ("inactive equality constraints", {"option": FLAG.format("equality"), "more": LOOP}),
}  # fmt: skip


def text(kind="hinge", **parts):
    return MODEL.format(kind=kind, **{name: parts.get(name, "") for name in ("option", "body", "joint", "more")})


def loaded(load, argument):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        robot = load(argument)
    return robot, " ".join(str(x.message) for x in found)


def errors(robot, model):
    """The largest differences of M and of inverse dynamics at a random state."""
    rng = np.random.default_rng(3)
    q, v, a = robot.random(rng), rng.uniform(0.5, 1.0, robot.n), rng.uniform(-0.1, 0.1, robot.n)
    data, T, more = mujoco.MjData(model), np.eye(robot.n), np.zeros(robot.n)
    data.qpos = q
    kind = int(model.jnt_type[0])
    if kind < 2:
        start = {0: 3, 1: 0}[kind]
        data.qpos[start : start + 4] = np.roll(q[start : start + 4], 1)
    if kind == 0:  # its velocity is in the axes of the world there, of the body here
        T[:3, :3] = from_quaternion(q[3:7])
        more[:3] = T[:3, :3] @ np.cross(v[3:6], v[:3])
    data.qvel, data.qacc = T @ v, T @ a + more
    mujoco.mj_inverse(model, data)
    M = full_mass_matrix(model, data)
    tau = T.T @ data.qfrc_inverse
    return np.abs(T.T @ M @ T - robot.mass_matrix(q)).max(), np.abs(tau - robot.inverse_dynamics(q, v, a)).max()


def compiled(parts):
    try:
        return mujoco.MjModel.from_xml_string(text(**parts))
    except ValueError as error:
        pytest.skip(f"this version of MuJoCo does not know the attribute: {error}")


@pytest.mark.parametrize("name", EQUAL)
def test_mass_matrix_and_torques_are_those_of_mujoco(name):
    model = compiled(EQUAL[name])
    for load, argument in ((dy.load, text(**EQUAL[name])), (dy.from_mujoco, model)):
        robot, said = loaded(load, argument)
        assert max(errors(robot, model)) < AGREE, said
        for word in ("nonlinear", "springs", "armature of", "friction"):
            assert word not in said


@pytest.mark.parametrize("name", LISTED)
def test_what_differs_from_mujoco_is_in_a_warning(name):
    said, parts = LISTED[name]
    model = compiled(parts)
    for load, argument in ((dy.load, text(**parts)), (dy.from_mujoco, model)):
        robot, found = loaded(load, argument)
        assert said in found
        if name not in ("plastic spring", "equality, disabled"):  # it yields during a motion; none is computed
            assert max(errors(robot, model)) > 1e-6  # otherwise the warning is not needed


def test_armature_of_a_free_joint_is_in_the_mass_matrix():
    model = compiled({"kind": "free", "joint": "armature='5'"})
    assert errors(loaded(dy.from_mujoco, model)[0], model)[0] < AGREE


@pytest.mark.parametrize("what", ["damping", "frictionloss", "armature"])
def test_what_differs_between_the_axes_of_a_joint_is_in_a_warning(what):
    model = compiled({"kind": "ball", "joint": f"{what}='2'"})
    assert "differs between" not in loaded(dy.from_mujoco, model)[1]
    getattr(model, f"dof_{what}")[1] = 3.0
    word = "armature" if what == "armature" else "friction"
    assert f"{word} that differs between the axes of a joint" in loaded(dy.from_mujoco, model)[1]
