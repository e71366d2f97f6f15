"""The robots measured: ours as the library has them, and one description for all rivals."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

import dynamis as dy
from dynamis.model.build import with_floating_base
from dynamis.model.description import Description, Drive, Joint, Link, MassProperties
from dynamis.model.writers.urdf import write_urdf
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]

FLOATING = {
    "ur5e": False, "panda": False, "xarm7": False, "kuka_iiwa14": False, "puma560": False, "stanford": False,
    "go2": True, "g1": True, "talos": True,
}  # fmt: skip
STANDARD_GRAVITY = 9.80665  # some rivals have no other
TALOS = "share/example-robot-data/robots/talos_data/robots/talos_reduced.urdf"


@dataclass(frozen=True, eq=False)
class Subject:
    """A robot without friction, rotors and springs, which rivals have under other conventions or not at all.

    ``description`` is for the rivals: its base is fixed, and links that are fixed to others are merged with them, so that
    nobody spends time on frames.
    """

    name: str
    robot: dy.Robot
    description: Description
    floating: bool

    @property
    def actuated(self) -> list[str]:
        """The joints that are not the free base, in our order."""
        return list(self.robot.joint_names[1 if self.floating else 0 :])

    @property
    def urdf(self) -> str:
        return plain_urdf(self.description)


@dataclass(frozen=True, eq=False)
class States:
    """The states everybody computes, one a row."""

    q: Array
    v: Array
    a: Array
    tau: Array

    def __len__(self) -> int:
        return len(self.q)

    def first(self, count: int) -> States:
        return States(self.q[:count], self.v[:count], self.a[:count], self.tau[:count])


def load(name: str) -> Subject:
    """One of the robots named in ``FLOATING``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)  # what vendors ship; the model is used as written
        description = dy.load(_source(name)).description
        return subject(name, description, floating=FLOATING[name])


def load_all(names: Iterable[str], tell: Callable[[str], None]) -> tuple[list[Subject], dict[str, str]]:
    """The robots of these names, and why those that are missing are."""
    found, left_out = [], {}
    for name in names:
        tell(f"{name}: loading")
        try:
            found.append(load(name))
        except (OSError, dy.DynamisError) as error:
            left_out[name] = str(error)
    return found, left_out


def subject(name: str, description: Description, *, floating: bool) -> Subject:
    description.gravity = np.array([0.0, 0.0, -STANDARD_GRAVITY])
    for joint in description.joints:
        joint.drive = Drive()
    robot = dy.Robot(with_floating_base(description) if floating else description)
    return Subject(name, robot, without_fixed_links(description), floating)


def states(subject: Subject, count: int, seed: int = 0) -> States:
    """Random states; nothing pushes a free base, as nothing does in life and some rivals assume it."""
    rng = np.random.default_rng(seed)
    q = subject.robot.random(rng, count)
    v, a, tau = rng.uniform(-1.0, 1.0, (3, count, subject.robot.n))
    if subject.floating:
        tau[:, :6] = 0.0
    return States(q, v, a, tau)


def _source(name: str) -> str | Path:
    if name != "talos":
        return name
    found = importlib.util.find_spec("cmeel")
    folders = list(found.submodule_search_locations or []) if found is not None else []
    paths = [Path(folder).parent / "cmeel.prefix" / TALOS for folder in folders]
    existing = [path for path in paths if path.is_file()]
    if not existing:
        raise FileNotFoundError("it comes with the package example-robot-data, which is not installed")
    return existing[0]


def without_fixed_links(description: Description) -> Description:
    """The same robot with every link on a joint that moves, and every link's frame on its joint's axis."""
    result = Description(description.name, gravity=description.gravity.copy())
    place = _places(description)
    result.links += [Link(link.name) for link in description.links if place[link.name][0] == link.name]
    for link in description.links:
        if link.mass_properties is not None:
            holder, pose = place[link.name]
            inertia, target = link.mass_properties.inertia.seen_from(pose), result.link(holder)
            known = target.mass_properties
            target.mass_properties = MassProperties.of(inertia if known is None else known.inertia + inertia)
    for joint in description.joints:
        if joint.type != "fixed":
            holder, pose = place[joint.parent]
            origin = pose @ joint.origin
            result.joints.append(Joint(joint.name, joint.type, holder, joint.child, origin, joint.axis, limits=joint.limits))
    root = result.link(root_name(result))
    if root.mass_properties is None:  # some readers ask for the inertia of a base that never moves
        root.mass_properties = MassProperties(1.0, np.zeros(3), np.eye(3))
    return result


def root_name(description: Description) -> str:
    carried = {joint.child for joint in description.joints}
    return next(link.name for link in description.links if link.name not in carried)


def _places(description: Description) -> dict[str, tuple[str, Pose]]:
    """For each link, the link that takes it in and where in that one it is; a link on a moving joint stays itself."""
    waiting = [root_name(description)]
    place = {name: (name, Pose.identity()) for name in waiting}
    while waiting:
        parent = waiting.pop()
        holder, pose = place[parent]
        for joint in description.joints:
            if joint.parent == parent:
                fixed = joint.type == "fixed"
                place[joint.child] = (holder, pose @ joint.origin @ joint.tail) if fixed else (joint.child, joint.tail)
                waiting.append(joint.child)
    return place


def plain_urdf(description: Description) -> str:
    """URDF with every joint's origin written out: some readers do not know that it may be left out."""
    root = ElementTree.fromstring(write_urdf(description))  # noqa: S314  # what we have just written ourselves
    for joint in root.iter("joint"):
        if joint.find("origin") is None:
            joint.insert(0, ElementTree.Element("origin", xyz="0 0 0", rpy="0 0 0"))
    return ElementTree.tostring(root, encoding="unicode")
