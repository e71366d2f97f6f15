"""Robots, poses and torques as functions of the unknowns of a calibration.

Every geometric unknown is the coordinate of a virtual joint inserted into the robot, so that poses and torques of the changed
geometry come from the same functions as those of the robot; a joint zero is added to the coordinate of its own joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.linear_model import LinearModel
from dynamis.identification.logs.free_fit import TorqueRows, one_of
from dynamis.identification.logs.log import Log
from dynamis.identification.logs.motion_summary import MotionSummary, summary
from dynamis.identification.logs.reading import read_log
from dynamis.identification.nonlinear import Unknown, WeightedFit
from dynamis.identification.poses import Poses, alignment, checked
from dynamis.identification.samples import Samples
from dynamis.identification.signals.prepare import prepare
from dynamis.model.description import Description, Fresh, Joint, Link
from dynamis.robot import Robot
from dynamis.spatial import rotation
from dynamis.spatial.pose import Pose

Array = npt.NDArray[Any]
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
SIX = ("x", "y", "z", "rx", "ry", "rz")
STATES = 32
# the largest standard errors of use in a nearly correct robot
TURNED = 0.2  # rad: of zeros and tilts
MOVED = 0.05  # of lengths and zeros of prismatic joints, relative to the reach of the robot
SCALED = 0.3  # of gains
BENT = 0.02  # rad, or relative to the reach: of deflections by the RMS torque
LATE = 0.1  # s: of delays


class Extended:
    """The robot with a virtual joint, at the value of the unknown, for each geometric unknown that is not a joint zero."""

    def __init__(self, robot: Robot, unknowns: Sequence[Unknown], frame: str | None) -> None:
        self.original = robot
        self.frame = robot.model.frame(frame).name
        description, fresh = robot.description, Fresh(robot.link_names)
        for name in robot.joint_names:
            lengths, tilts = ([u for u in unknowns if u.kind == kind and u.joint == name] for kind in ("length", "tilt"))
            joint = description.joint(name)
            # along the axes of the parent, then about those of the joint's frame
            joint.parent = _insert(description, lengths, joint.parent, fresh)
            joint.parent = _insert(description, tilts, joint.parent, fresh)
            if tilts:
                first = description.joint(tilts[0].name)
                first.origin, joint.origin = joint.origin, Pose.identity()
        based = [u for u in unknowns if u.kind == "base"]
        if based:
            root = next(x.name for x in description.links if x.name not in {joint.child for joint in description.joints})
            description.links.insert(0, Link(fresh.name("measuring frame")))
            last = _insert(description, based, description.links[0].name, fresh)
            description.joints.append(Joint(fresh.name("base"), "fixed", last, root))
        self.frame = _insert(description, [u for u in unknowns if u.kind == "tool"], self.frame, fresh)
        self.robot = Robot(description, _quiet=True)
        self.names = self.robot.coordinate_names
        self.real = [self.names.index(name) for name in robot.coordinate_names]

    def coordinates(self, q: Array) -> Array:
        """Return the positions (N, n) with the virtual joints at zero."""
        wide = np.zeros((len(q), len(self.names)))
        wide[:, self.real] = q
        return wide


def _insert(description: Description, unknowns: Sequence[Unknown], parent: str, fresh: Fresh) -> str:
    """Insert a virtual joint for each unknown, one after the other, and return the last of their links."""
    for u in unknowns:
        child, turning = fresh.name(u.name), u.kind == "tilt" or u.axis.startswith("r")
        description.links.append(Link(child))
        kind = "continuous" if turning else "prismatic"
        description.joints.append(Joint(u.name, kind, parent, child, axis=np.array(AXES[u.axis[-1]])))
        parent = child
    return parent


class PoseRows:
    """Deviations y of measured from computed poses, as functions of the unknowns; there are no linear parameters."""

    def __init__(self, wide: Extended, measured: Poses, unknowns: Sequence[Unknown]) -> None:
        self.wide, self.unknowns, self.q = wide, unknowns, wide.coordinates(checked(measured, wide.original))
        self.aligned = Pose.identity()
        if {u.axis for u in unknowns if u.kind == "base" and not u.frozen} == set(SIX):
            self.aligned = alignment(wide.robot.pose(self.q, wide.frame)[:, :3, 3], measured.position)
        self.position = (measured.position - self.aligned.p) @ self.aligned.R
        self.rotation = None if measured.rotation is None else self.aligned.R.T @ measured.rotation
        # torques of gravity, which deflect elastic joints
        self.torque = wide.coordinates(wide.original.gravity(measured.q))
        size = 3 if self.rotation is None else 6
        self.group = np.tile(np.arange(size) // 3, len(self.q))
        self.block = np.repeat(np.arange(len(self.q)), size)

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        q = self.q.copy()
        for u, x in zip(self.unknowns, theta, strict=True):
            elastic = u.kind == "compliance"
            q += -x * self.torque * one_of(self.wide.names, u.joint) if elastic else x * one_of(self.wide.names, u.coordinate)
        X = self.wide.robot.pose(q, self.wide.frame)
        parts = [self.position - X[:, :3, 3]]
        if self.rotation is not None:
            turned = np.swapaxes(X[:, :3, :3], 1, 2) @ self.rotation
            parts.append(np.array([rotation.log_quaternion(rotation.to_quaternion(R)) for R in turned]))
        y = np.hstack(parts).reshape(-1)
        return np.zeros((len(y), 0)), y


def torque_rows(wide: Extended, measured: Any, unknowns: Sequence[Unknown], mapping: Any, signals: Any) -> TorqueRows:
    """Return the rows of a log: of all parameters of the links and joints, with the geometry of the unknowns."""
    robot = wide.original
    if not isinstance(measured, Samples | Sequence) or isinstance(measured, str):
        log = measured if isinstance(measured, Log) else read_log(measured, robot, mapping)
        measured = prepare(log, robot, **(signals or {})).samples
    motion, _ = summary([measured] if isinstance(measured, Samples) else list(measured))
    own, model = LinearModel(robot), LinearModel(wide.robot)
    shown = np.ix_(wide.real, [model.index(name) for name in own.names])

    def rows(extended: Robot, q: Array, rates: Array, changes: Array) -> Array:
        """Return the regressor of the robot's own joints and parameters; the virtual joints are at rest."""
        v, a = (sum(x * e for x, e in zip(own, np.eye(extended.n)[wide.real], strict=True)) for own in (rates, changes))
        return model.rows(extended, q, v, a, np.zeros(model.state_size))[shown]

    kernel = wide.robot.compile(rows, rates=robot.n, changes=robot.n)

    def columns_of(motion: MotionSummary) -> Array:
        def of(v: Array, a: Array) -> Array:
            return np.asarray(kernel(motion.q, v, a))

        Y = of(motion.v, motion.a)
        # friction and rotors turn with the motors
        return Y if motion.motors is None else np.where(own.is_inertial, Y, of(*motion.motors))

    def regressor(motion: MotionSummary) -> Array:
        return motion.filtered(columns_of(motion))

    motion = replace(motion, q=wide.coordinates(motion.q))
    names = wide.names, robot.coordinate_names
    deflecting = None
    if any(u.kind == "compliance" for u in unknowns):
        # noise of measured torques would be differentiated twice; friction acts on the motor's side of the spring
        X, y = TorqueRows(regressor, motion, (), *names)(np.zeros(0))
        size = np.tile(np.maximum(motion.torque.std(axis=0), 1e-300), len(y) // robot.n)
        beta = own.prior + WeightedFit.of(X, y - X @ own.prior, size).beta
        deflecting = columns_of(motion) @ np.where(own.is_inertial, beta, 0.0)
    return TorqueRows(regressor, motion, unknowns, *names, deflecting=deflecting)


def largest_errors(robot: Robot, rows: PoseRows | TorqueRows, unknowns: Sequence[Unknown]) -> Array:
    """Return the largest standard errors (k,) with which unknowns are of use."""
    names = list(robot.coordinate_names)
    q = robot.random(0, size=STATES)
    size = max(float(np.linalg.norm(robot.pose(q, name)[:, :3, 3], axis=1).max()) for name in robot.link_names)
    if isinstance(rows, PoseRows):
        torque = rows.torque[:, rows.wide.real]
    else:
        torque = rows.motion.tau
    rms = np.sqrt(np.mean(torque**2, axis=0))
    kinds = {"tilt": TURNED, "length": MOVED * size, "gain": SCALED, "delay": LATE}
    found = []
    for u in unknowns:
        most = kinds.get(u.kind, 0.0)
        if u.joint in names and u.kind in ("zero", "compliance", "bias"):
            turning, acting = robot.model.coordinates[names.index(u.joint)].revolute, float(rms[names.index(u.joint)])
            zero, bent = (TURNED, BENT) if turning else (MOVED * size, BENT * size)
            most = {"zero": zero, "compliance": bent / max(acting, 1e-300), "bias": acting}[u.kind]
        found.append(most if most > 0.0 and u.change is None else np.inf)
    return np.array(found)
