"""Robots whose motors are on links: the planar arm of Siciliano, random trees, and a turret."""

import numpy as np
from random_trees import ONE_NUMBER, random_description

import dynamis as dy
from dynamis.model.description import Drive
from dynamis.spatial import Inertia, Pose

SICILIANO = """
[robot]
name = "planar arm with motors"
gravity = [0, "-g", 0]
[parameters]
a_1 = "symbol"
l_1 = "symbol"
l_2 = "symbol"
m_1 = "symbol"
m_2 = "symbol"
m_m2 = "symbol"
I_1 = "symbol"
I_2 = "symbol"
I_m1 = "symbol"
I_m2 = "symbol"
k_r1 = "symbol"
k_r2 = "symbol"
g = "symbol"
# link 1 with the motor of joint 2 at its end, locked
[[link]]
link = "upper"
mass = "m_1 + m_m2"
com = ["(m_1*l_1 + m_m2*a_1)/(m_1 + m_m2)", 0, 0]
inertia = { zz = "I_1 + m_1*l_1^2 + I_m2 + m_m2*a_1^2 - (m_1*l_1 + m_m2*a_1)^2/(m_1 + m_m2)" }
rotor_inertia = "I_m1"
gear_ratio = "k_r1"
motor_link = "base"
[[link]]
link = "fore"
xyz = ["a_1", 0, 0]
mass = "m_2"
com = ["l_2", 0, 0]
inertia = { zz = "I_2" }
rotor_inertia = "I_m2"
gear_ratio = "k_r2"
motor_link = "upper"
"""


def random_riding(seed, bodies=5, **options):
    """A random tree whose rotors ride on random links before their joints, about random axes, with either sign of ratio."""
    rng = np.random.default_rng(seed)
    d = random_description(rng, bodies, **options)
    carrier = {joint.child: joint for joint in d.joints}
    for joint in d.joints:
        if joint.type not in ONE_NUMBER:
            continue
        before = [joint.parent]
        while before[-1] in carrier:
            before.append(carrier[before[-1]].parent)
        joint.drive.motor_link = str(rng.choice(before))
        joint.drive.gear_ratio *= rng.choice([-1.0, 1.0])
        joint.drive.rotor_inertia = rng.uniform(0.005, 0.05)
        if rng.random() < 0.5:
            axis = rng.standard_normal(3)
            joint.drive.motor_axis = tuple(axis / np.linalg.norm(axis))
    return d, rng


def spatial_arm(**motor):
    """Two axes at right angles: the rotor of the second, on the first link, is a gyroscope."""
    d = dy.Description("turret", gravity=np.zeros(3)).add_link("base")
    body = Inertia.about_com(2.0, (0.1, 0.0, 0.05), np.diag([0.03, 0.04, 0.05]))
    d.add_link("pan", "base", "revolute", joint_name="pan_joint", axis=(0, 0, 1), inertia=body)
    d.add_link("tilt", "pan", "revolute", joint_name="tilt_joint", axis=(0, 1, 0), inertia=body, origin=Pose.translation([0, 0, 0.2]),
               drive=Drive(rotor_inertia=1e-3, gear_ratio=50.0, **motor))  # fmt: skip
    return d
