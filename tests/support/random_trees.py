"""Random robots: every joint type, branches, random numbering, inertial rotations, friction, rotors, springs, mimics."""

from __future__ import annotations

import numpy as np

from dynamis.model.description import Description, Drive, Mimic
from dynamis.robot import Robot
from dynamis.spatial import Inertia, Pose, from_rpy

ONE_NUMBER = ("revolute", "continuous", "prismatic", "helical")
KINDS = (*ONE_NUMBER, "cylindrical", "universal", "planar", "spherical", "free", "fixed")


def random_pose(rng):
    return Pose(from_rpy(rng.uniform(-np.pi, np.pi, 3)), rng.uniform(-1.0, 1.0, 3))


def random_inertia(rng):
    """A real body: a few point masses, seen from a rotated frame."""
    points, masses = rng.uniform(-0.5, 0.5, (5, 3)), rng.uniform(0.1, 1.0, 5)
    com = masses @ points / masses.sum()
    arms = points - com
    tensor = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    return Inertia.about_com(masses.sum(), com, tensor).seen_from(random_pose(rng))


def random_drive(rng, kind):
    spring = 0.0 if kind in ("spherical", "free") else rng.uniform(0.0, 2.0)
    return Drive(
        viscous=rng.uniform(0.0, 1.0),
        coulomb=rng.uniform(0.0, 1.0),
        coulomb_bias=rng.uniform(-0.2, 0.2),
        rotor_inertia=rng.uniform(0.0, 0.01),
        gear_ratio=rng.uniform(1.0, 5.0),
        stiffness=spring,
        rest=rng.uniform(-0.5, 0.5),
    )


def random_description(rng, bodies, kinds=KINDS, branching=0.5, mimics=True, tails=True):
    d = Description("random tree", gravity=rng.uniform(-10.0, 10.0, 3)).add_link("link0", inertia=random_inertia(rng))
    leaders = []
    for i in range(1, bodies + 1):
        kind = str(rng.choice(kinds))
        parent = f"link{rng.integers(i)}" if rng.random() < branching else f"link{i - 1}"
        drive, pitch = random_drive(rng, kind), rng.uniform(-0.3, 0.3)
        fields = {"drive": drive} | ({"pitch": pitch} if kind == "helical" else {})
        if kind == "universal":
            fields["axis2"] = rng.standard_normal(3)
        if tails and rng.random() < 0.3:
            fields["tail"] = random_pose(rng)
        if mimics and kind in ONE_NUMBER and leaders and rng.random() < 0.15:
            fields["mimic"] = Mimic(str(rng.choice(leaders)), float(rng.uniform(-2.0, 2.0)), float(rng.uniform(-0.5, 0.5)))
        d.add_link(f"link{i}", parent, kind, joint_name=f"joint{i}", axis=rng.standard_normal(3), origin=random_pose(rng),
                   inertia=random_inertia(rng), **fields)  # fmt: skip
        if kind in ONE_NUMBER:
            leaders.append(f"joint{i}")
    rng.shuffle(d.links)
    rng.shuffle(d.joints)
    return d


def random_robot(rng, bodies=None, floating=None, **options):
    from dynamis.model.build import with_floating_base

    bodies = int(rng.integers(1, 9)) if bodies is None else bodies
    floating = bool(rng.random() < 0.25) if floating is None else floating
    description = random_description(rng, bodies, **options)
    return Robot(with_floating_base(description) if floating else description)


def random_states(rng, robot, count):
    return robot.random(rng, count), rng.uniform(-1.0, 1.0, (count, robot.n)), rng.uniform(-1.0, 1.0, (count, robot.n))


def relative_error(value, reference):
    """The largest difference, in units of the largest entry of the reference."""
    value, reference = np.asarray(value, dtype=float), np.asarray(reference, dtype=float)
    if reference.size == 0:
        return 0.0
    return float(np.abs(value - reference).max() / max(np.abs(reference).max(), 1e-300))
