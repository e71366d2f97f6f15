"""Machines of one or two joints whose motion with friction is known in closed form."""

from __future__ import annotations

import numpy as np

import dynamis as dy
from dynamis.model.description import Drive

GRAVITY = 9.81


def point_mass(mass=1.0, at=(0.0, 0.0, 0.0)):
    return dy.Inertia.about_com(mass, np.array(at, dtype=float), np.zeros((3, 3)))


def block(mass=2.0, slope=0.0, **drive):
    """A block on a slope that rises along its axis: M = mass, gravity pulls with −mass g sin(slope)."""
    d = dy.Description("block", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("ground")
    axis = np.array([np.cos(slope), 0.0, np.sin(slope)])
    d.add_link("body", "ground", "prismatic", joint_name="slide", axis=axis, inertia=point_mass(mass), drive=Drive(**drive))
    return dy.Robot(d)


def blocks(count, mass=2.0, **drive):
    """Blocks side by side on level ground: equations that do not know of each other."""
    d = dy.Description("blocks", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("ground")
    for k in range(count):
        d.add_link(f"body{k}", "ground", "prismatic", joint_name=f"slide{k}", axis=np.array([1.0, 0.0, 0.0]),
                   inertia=point_mass(mass), drive=Drive(**drive))  # fmt: skip
    return dy.Robot(d)


def pendulum(mass=1.0, length=1.0, name="hinge", **drive):
    """A point mass on a rod, hanging at q = 0: m l² q̈ + m g l sin q = τ − friction."""
    d = dy.Description("pendulum", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("base")
    d.add_link("bob", "base", "revolute", joint_name=name, axis=np.array([0.0, 1.0, 0.0]),
               inertia=point_mass(mass, (0.0, 0.0, -length)), drive=Drive(**drive))  # fmt: skip
    return dy.Robot(d)


def free_body(name="satellite"):
    """A rigid body in free space, its centre of mass at its origin, with three different moments of inertia."""
    d = dy.Description(name, gravity=np.zeros(3)).add_link("world")
    inertia = dy.Inertia.about_com(3.0, np.zeros(3), np.diag([0.5, 0.9, 1.2]))
    return dy.Robot(d.add_link("body", "world", "free", joint_name="flight", inertia=inertia))


def ball_joint(gravity=GRAVITY):
    """A heavy top on a spherical joint."""
    d = dy.Description("top", gravity=np.array([0.0, 0.0, -gravity])).add_link("world")
    inertia = dy.Inertia.about_com(2.0, np.array([0.0, 0.1, -0.4]), np.diag([0.08, 0.1, 0.05]))
    return dy.Robot(d.add_link("body", "world", "spherical", joint_name="ball", inertia=inertia))


def turning(inertia=2.0, **drive):
    """A disc on a vertical axis: no weight, only inertia."""
    d = dy.Description("wheel", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("base")
    d.add_link("disc", "base", "revolute", joint_name="axle", axis=np.array([0.0, 0.0, 1.0]),
               inertia=dy.Inertia(1.0, np.zeros(3), inertia * np.eye(3)), drive=Drive(**drive))  # fmt: skip
    return dy.Robot(d)


def spatial_arm():
    """Three hinges along x, y and z: every component of gravity bends some of them."""
    d = dy.Description("arm", gravity=np.array([0.0, 0.0, -GRAVITY])).add_link("base")
    for k, axis in enumerate(np.eye(3)):
        inertia = dy.Inertia.about_com(3.0 - k, (0.2, 0.1, -0.1), np.diag([0.03, 0.04, 0.05]))
        d.add_link(f"link{k}", d.links[-1].name, "revolute", joint_name=f"joint{k}", axis=axis,
                   origin=dy.Pose.translation((0.3, 0.0, 0.2 * k)), inertia=inertia)  # fmt: skip
    return dy.Robot(d)
