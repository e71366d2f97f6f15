"""Small robots that between them have every joint type, followers, fixed frames, tails, friction, rotors and springs."""

from __future__ import annotations

import functools

import numpy as np
from random_trees import random_drive, random_inertia, random_pose

import dynamis as dy
from dynamis.model.description import Mimic

# robot → (joint type, parent, leader it follows or None) of each moving link, in order; link k is carried by joint k
ROBOTS = {
    "screws": [("revolute", "base", None), ("helical", "link1", None), ("prismatic", "link2", "joint1"), ("helical", "link1", "joint2")],
    "sliders": [("cylindrical", "base", None), ("continuous", "link1", None), ("prismatic", "base", None)],
    "wrists": [("universal", "base", None), ("spherical", "link1", None)],
    "sledge": [("planar", "base", None), ("revolute", "link1", None), ("continuous", "link1", "joint2")],
    "flyer": [("free", "base", None), ("revolute", "link1", None)],
}  # fmt: skip
NAMES = tuple(ROBOTS)


@functools.cache
def zoo_robot(name):
    """The robot of this name; frames "tool" (behind the last link) and "belt" (behind the first) are fixed to it."""
    rng = np.random.default_rng(list(ROBOTS).index(name) + 100)
    d = dy.Description(name, gravity=np.array([1.0, -2.0, -9.0])).add_link("base", inertia=random_inertia(rng))
    for k, (kind, parent, leader) in enumerate(ROBOTS[name], 1):
        fields = {"drive": random_drive(rng, kind)} | ({"pitch": 0.17} if kind == "helical" else {})
        if kind == "universal":
            fields["axis2"] = rng.standard_normal(3)
        if leader is not None:
            fields["mimic"] = Mimic(leader, -1.3, 0.4)
        if k == 2:
            fields["tail"] = random_pose(rng)
        d.add_link(f"link{k}", parent, kind, joint_name=f"joint{k}", axis=rng.standard_normal(3), origin=random_pose(rng),
                   inertia=random_inertia(rng), **fields)  # fmt: skip
    d.add_link("tool", f"link{len(ROBOTS[name])}", origin=random_pose(rng))
    d.add_link("belt", "link1", origin=random_pose(rng))
    return dy.Robot(d)


def zoo_states(robot, count, dtype=np.float64, seed=0):
    """(q, v, a): random states, the first of them at rest in the neutral configuration, where signs and sines are zero."""
    rng = np.random.default_rng(seed)
    q, v, a = robot.random(rng, count), *rng.uniform(-2.0, 2.0, (2, count, robot.n))
    q[0], v[0], a[0] = robot.neutral(), 0.0, 0.0
    return q.astype(dtype), v.astype(dtype), a.astype(dtype)
