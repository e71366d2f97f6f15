"""Robots made of other robots, and vectors by the names of their entries."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configurations import independent_bodies
from dynamis.display import counted
from dynamis.errors import DynamisError, InputError, ModelWarning, printable, unknown_name
from dynamis.model import editing
from dynamis.model.description import Description
from dynamis.model.massless import new_massless_motion
from dynamis.model.tip import is_tool
from dynamis.robot.base import RobotBase
from dynamis.robot.centroidal import CentroidalFunctions
from dynamis.robot.configurations import Configurations
from dynamis.scalar import Node
from dynamis.spatial.pose import Pose, checked_pose

Array = npt.NDArray[Any]


class Editing(Configurations, CentroidalFunctions):
    """Methods that return a new robot; the robot itself is never changed."""

    def reduced(self, lock: Mapping[str, Any]) -> Self:
        """Return the robot with joints locked at given positions, and with them their followers and joints coupled to them.

        Warns of positions outside the limits.

        >>> import dynamis as dy
        >>> arm = dy.load("ur5e").reduced({"wrist_1_joint": 0.0, "wrist_2_joint": 1.57, "wrist_3_joint": 0.0})
        >>> arm.joint_names
        ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint')
        """
        if not isinstance(lock, Mapping):
            raise InputError("lock must be a mapping of joints to positions, such as {'elbow_joint': 0.5}")
        for name in lock:
            if name not in self.model.joint_names:
                raise self._no_joint(name, self.model.joint_names)
        locked = editing.locked(self._description, lock)
        self._warn_outside(lock)
        return self._rebuilt(locked)

    def attach(self, other: RobotBase, at: str | None = None, *, pose: Pose | Any = None, prefix: str = "") -> Self:
        """Return the robot with another one fixed to a link, by default the tip, at ``pose`` in the frame of the link.

        ``prefix`` stands before the names of the other robot's links and joints, and of the symbols that both robots have;
        without it, symbols with the same name are the same.

        >>> import dynamis as dy
        >>> arm = dy.load("ur5e")
        >>> both = arm.attach(dy.load("planar_2r_melchiorri"), "tool0", prefix="finger_")
        >>> both.n, both.link_names[-1]
        (8, 'finger_link2')
        """
        if not isinstance(other, RobotBase):
            raise InputError(f"attach takes a robot, got {type(other).__name__}; dynamis.load gives one")
        return self._rebuilt(
            editing.attached(self._description, other._description, self.model.frame(at, "at=").name, _place(pose), prefix)
        )

    def rerooted(self, link: str) -> Self:
        """Return the same mechanism with another link as its root, which is fixed to the world where the old one was.

        Positions keep their meaning; gravity keeps its direction in the frame of the root. The old root moves: where it has no
        mass and the mass matrix becomes singular, a warning says so.

        >>> import dynamis as dy
        >>> dy.load("panda").rerooted("panda_link8").link_names[0]
        'panda_link8'
        """
        turned = self._rebuilt(editing.rerooted(self._description, self.model.frame(link, "link=").name))
        if text := new_massless_motion(turned.model, self.model):
            warnings.warn(
                f"robot {printable(self.name)} with {printable(link)} as its root: {text}", ModelWarning, stacklevel=2
            )
        return turned

    def subtree(self, link: str) -> Self:
        """Return a link and all that it carries as a robot, with the link fixed to the world.

        A warning names closures of loops with links or joints that it does not carry.

        >>> import dynamis as dy
        >>> dy.load("ur5e").subtree("forearm_link").joint_names
        ('wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint')
        """
        made = editing.subtree(self._description, self.model.frame(link, "link=").name)
        if lost := [printable(x.first) for x in self._description.closures if x not in made.closures]:
            text = f"closures of {', '.join(lost)} end outside of what {printable(link)} carries: their loops are open"
            warnings.warn(text, ModelWarning, stacklevel=2)
        return self._rebuilt(made)

    def placed(self, pose: Pose | Any) -> Self:
        """Return the robot with its root link at ``pose`` (a `Pose` or a 4 × 4 matrix) in the world, where gravity is the same.

        >>> import dynamis as dy
        >>> arm = dy.load("ur5e").placed(dy.Pose.translation([0.0, 0.0, 0.8]))  # on a table
        >>> float((arm.pose(arm.neutral()) - dy.load("ur5e").pose(arm.neutral()))[2, 3].round(6))
        0.8
        """
        return self._rebuilt(editing.placed(self._description, _place(pose)))

    def with_frame(self, name: str, link: str | None = None, pose: Pose | Any = None) -> Self:
        """Return the robot with one more frame, at ``pose`` (a `Pose` or a 4 × 4 matrix) in the frame of a link or the tip.

        The tip, which methods use without a frame, stays the same; ``robot.replace(tip=name)`` makes the new frame the tip.
        There are two exceptions, unless the tip was set: a frame farther out than that of the last joint itself is the tip, and
        so is one named as a tool ("tcp", "tool", "ee", "flange") where the tip is not.

        >>> import dynamis as dy
        >>> arm = dy.load("ur5e").with_frame("camera", "tool0", dy.Pose.translation([0.0, 0.05, 0.02]))
        >>> arm.jacobian(arm.neutral(), "camera").shape
        (6, 6)
        """
        carrier, place = self.model.frame(link, "link=").name, _place(pose)
        made = self._rebuilt(editing.with_frame(self._description, name, carrier, place))
        if is_tool(name) and not is_tool(self.model.tip or ""):
            return made
        fixed = {joint.child: joint for joint in self._description.joints if joint.type == "fixed"}
        while made.model.tip != self.model.tip and (joint := fixed.get(carrier)) is not None:
            carrier, place = joint.parent, joint.origin @ joint.tail @ place
            made = self._rebuilt(editing.with_frame(self._description, name, carrier, place))
        return made

    def q(self, values: Mapping[str, Any], start: Any = None) -> Array:
        """Return a configuration with these positions by joint name; the others are those of ``start``, by default neutral.

        >>> import dynamis as dy
        >>> dy.load("ur5e").q({"elbow_joint": 1.2})
        array([0. , 0. , 1.2, 0. , 0. , 0. ])
        """
        if not isinstance(values, Mapping):
            raise InputError("q takes a mapping of joints to positions, such as {'elbow_joint': 0.5}")
        places = self._places()
        q = self.neutral() if start is None else np.array(self.inputs.one_state(start, self.nq, "q"))
        for name, value in values.items():
            if name not in places:
                raise self._no_joint(name, places)
            size = places[name].stop - places[name].start
            given = np.atleast_1d(np.asarray(value))
            if given.shape != (size,) or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
                raise InputError(f"the position of {name!r} must be {size} finite number(s), got {value!r}")
            q[places[name]] = given
        return self.inputs.one_state(q, self.nq, "q")

    def by_name(self, x: Any) -> dict[str, Any]:
        """Return the entries of a configuration (nq) by joint, or of a vector of velocities or torques (n) by coordinate.

        A joint with one position has a number, one with several an array; for several states (…, nq) both are arrays over
        the states. Where nq = n the names are those of the coordinates.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> robot.by_name(robot.limits["effort"])["elbow_joint"]
        150.0
        """
        array = np.asarray(x)
        size = array.shape[-1] if array.ndim else 0
        if size in (self.n, self.nq):
            each = {name: slice(k, k + 1) for k, name in enumerate(self.coordinate_names)}
            parts = {name: array[..., own] for name, own in (each if size == self.n else self._places()).items()}
            single = {name: part[..., 0] for name, part in parts.items() if part.shape[-1] == 1}
            return parts | (single if array.ndim > 1 else {name: part.item() for name, part in single.items()})
        expected = "" if self.n == self.nq else f"{self.n} or "
        raise InputError(f"expected {expected}{counted(self.nq, 'entry', 'entries')} on the last axis, got shape {array.shape}")

    def indices(self, names: Sequence[str] | str, of: str = "v") -> Array:
        """Return the places of these coordinates in v, a and tau, or in q (``of="q"``; not the same with a floating base).

        ``v[robot.indices(message.name)]`` has the order of a ROS message. A joint of several coordinates has all its places.

        >>> import dynamis as dy
        >>> dy.load("ur5e").indices(["elbow_joint", "shoulder_pan_joint"])
        array([2, 0])
        >>> dy.load("go2", base="floating").indices("FL_hip_joint", of="q")
        array([7])
        """
        if of not in ("q", "v"):
            raise InputError(f"of={of!r} is unknown; choose 'q', or 'v' for velocities, accelerations and torques")
        coordinates = self.model.coordinates
        if of == "q":
            known = {name: list(range(place.start, place.stop)) for name, place in self._places().items()}
        else:
            known = {c.joint: [k for k, other in enumerate(coordinates) if other.joint == c.joint] for c in coordinates}
        single = enumerate(c.q_index if of == "q" else k for k, c in enumerate(coordinates))
        known |= {self.coordinate_names[k]: [place] for k, place in single if place is not None}
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, Iterable):
            raise InputError(f"indices takes a name or a list of names, such as {self.coordinate_names[:2]}, got {names!r}")
        names = list(names)
        for name in names:
            if isinstance(name, str) and name in known:
                continue
            if name not in self.coordinate_names:
                raise self._no_joint(name, known)
            raise InputError(f"{name!r} has no place in q, where the orientation is a quaternion: robot.by_name(q) has it")
        return np.array([place for name in names for place in known[name]], dtype=int)

    def _warn_outside(self, positions: Mapping[str, Any]) -> None:
        """Warn of positions of joints that are outside their limits."""
        places = self._places()
        outside = []
        for c in self.model.coordinates:
            if c.joint in positions and c.q_index is not None:
                at = np.atleast_1d(positions[c.joint])[c.q_index - places[c.joint].start]
                if not isinstance(at, Node) and not c.allows(float(at)):
                    outside.append(f"{c.name} = {at:.4g}, limits {c.lower:.4g} … {c.upper:.4g} {'rad' if c.revolute else 'm'}")
        if outside:
            warnings.warn(f"lock is outside the joint limits: {'; '.join(outside)}", ModelWarning, stacklevel=3)

    def _no_joint(self, name: str, known: Iterable[str], what: str = "joint") -> DynamisError:
        """The error for a name that is not that of a joint, or is that of a follower."""
        for joint in self._description.joints:
            if joint.name == name and joint.follows is not None:
                own = f"joint {name!r} follows {joint.follows.joint!r} (mimic) and has no coordinate of its own"
                return InputError(f"{own}: use that of {joint.follows.joint!r}")
        return unknown_name(what, name, known)

    def _places(self) -> dict[str, slice]:
        """Where the positions of each joint stand in q."""
        places: dict[str, slice] = {}
        for body in independent_bodies(self.model):
            if body.dof:
                name, own = self.model.coordinates[body.dof[0]].joint, body.q_index
                places[name] = slice(places[name].start if name in places else own.start, own.stop)
        return places

    def _rebuilt(self, description: Description) -> Self:
        return type(self)(description, _tracing=self.evaluator.tracing, _quiet=True)


def _place(pose: Any) -> Pose:
    return Pose.identity() if pose is None else checked_pose(pose, "pose=")
