"""The class `Robot`: all dynamics and kinematics functions of a robot, for one state or a batch."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any

from dynamis.algorithms.kinematics import MovingBase
from dynamis.display import call_by_name, counted, robot_card
from dynamis.errors import ConversionError, InputError, ModelWarning, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.model.actuators import Actuator
from dynamis.model.build import doubts, with_floating_base
from dynamis.model.description import Description
from dynamis.model.diagnostics import Report
from dynamis.model.editing import rotors_reflected, rotors_riding
from dynamis.model.load import describe_mujoco, describe_object, load_description
from dynamis.model.massless import new_massless_motion
from dynamis.model.payloads import check_bodies
from dynamis.robot.c_code import CCode
from dynamis.robot.editing import Editing
from dynamis.robot.inputs import moving_base
from dynamis.robot.moving_base import OnMovingBase
from dynamis.robot.replacement import replace_friction, replace_inertias, replace_limits, replace_payload, replace_symbols
from dynamis.spatial import Inertia

if TYPE_CHECKING:
    from dynamis.symbolic.closed_form import ClosedForm
    from dynamis.symbolic.notation import Notation


def load(
    source: Any,
    *,
    base: str = "fixed",
    strict: bool = False,
    parameters: Mapping[str, Any] | None = None,
    xacro_args: Mapping[str, Any] | None = None,
) -> Robot:
    """Load a robot from the library by name, or from a file by path: URDF, xacro, SDF, MJCF or TOML.

    ``source`` may also be the text or the bytes of a file, an open file, a folder or a ZIP archive with one robot in it, or a
    module of robot_descriptions or its name. ``base="floating"`` gives the root link six degrees of freedom. ``strict=True``
    turns warnings about the file into errors. ``parameters`` assigns values to the parameters declared in a .toml file,
    ``xacro_args`` to the arguments of a xacro file.

    >>> import dynamis as dy
    >>> dy.load("ur5e").n
    6
    """
    if base not in ("fixed", "floating"):
        raise InputError(f"base={base!r} is unknown; choose 'fixed' or 'floating'")
    description = load_description(source, strict=strict, parameters=parameters, base=base, xacro_args=xacro_args)
    return Robot(description, _checked=True)


def from_mujoco(model: Any) -> Robot:
    """Return the robot of a `mujoco.MjModel`; what a robot cannot represent is listed in a warning.

    q has the order of qpos, with quaternions (x, y, z, w); the velocity of a free joint is in the axes of its body.
    """
    return Robot(describe_mujoco(model), _checked=True)


def from_pinocchio(model: Any) -> Robot:
    """Return the robot of a `pinocchio.Model`: joints, mimic joints, inertias, armature, damping, friction, limits and frames.

    The joints have the order of the model, except that they are depth first here. A joint without limits has one number in q
    here and (cos, sin) there; a planar joint has its velocity in the axes of its parent here. Composite joints, and those of
    Euler angles and of translations, are chains of single joints here. ``rotorInertia``, which Pinocchio's algorithms do not
    use, is left out with a warning.

    >>> import dynamis as dy
    >>> robot = dy.from_pinocchio(dy.load("ur5e").to_pinocchio())  # doctest: +SKIP
    """
    from dynamis.model.readers.pinocchio import describe_pinocchio

    return Robot(describe_object(describe_pinocchio, model, "pinocchio.Model"), _checked=True)


def from_roboticstoolbox(robot: Any) -> Robot:
    """Return the robot of the Robotics Toolbox: a DHRobot, standard or modified, or an ERobot with one axis for each joint.

    Rotor inertia, gear ratio, viscous and Coulomb friction, joint limits, base and tool are kept.

    >>> import dynamis as dy, roboticstoolbox as rtb  # doctest: +SKIP
    >>> dy.from_roboticstoolbox(rtb.models.DH.Puma560()).n  # doctest: +SKIP
    6
    """
    from dynamis.model.readers.roboticstoolbox import describe_toolbox

    return Robot(describe_object(describe_toolbox, robot, "roboticstoolbox robot"), _checked=True)


class Robot(CCode, Editing):
    """An immutable robot model with its dynamics and kinematics functions.

    The last axis of q (nq), v, a, tau (n) is the joint; leading axes are batches and broadcast as in NumPy. Units are SI.
    Spatial vectors have the linear part first; Jacobians and wrenches refer to the frame origin, in world axes unless
    ``axes="local"``. Without a frame, functions of a frame take the tip (``robot.model.tip``), the outermost frame of a serial
    arm, which ``print(robot)`` shows; robots with several ends have none. Wrenches are exerted by the environment on the
    robot: M v̇ + C v + g + friction + springs = τ + Σ Jᵀ w.

    Functions compute in double precision, or in single precision if all arguments are float32 or ``dtype`` is; ``out`` is an
    array that receives the result.
    """

    # properties

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints (without fixed and mimic joints), in depth-first order."""
        return self.model.joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of links and fixed frames, in depth-first order; each can be used as a frame."""
        return self.model.link_names

    @property
    def actuators(self) -> Mapping[str, Actuator]:
        """Actuator models by coordinate name, for the coordinates that have one.

        The rotor of an elastic joint is part of its actuator, not of M, the regressor and the equations of motion.
        """
        pairs = zip(self.coordinate_names, self.model.actuators, strict=True)
        return MappingProxyType({name: x for name, x in pairs if x is not None})

    @property
    def description(self) -> Description:
        """An editable copy of the description; ``Robot(description)`` builds a new robot from it, and warns of what is doubtful
        in the changes."""
        copy = self._description.copy()
        copy.known = self._doubts
        return copy

    @cached_property
    def _doubts(self) -> frozenset[tuple[str, ...]]:
        return doubts(self._description, self.model).keys

    def __repr__(self) -> str:
        kind = "symbolic " if self.model.symbolic else ""
        loops = f", {counted(len(self._description.closures), 'closure')} of loops" if self._description.closures else ""
        return f"<{kind}Robot {printable(self.name)}: {self.model.size_text}, {self.model.tip_text}{loops}>"

    def _repr_html_(self) -> str:
        return robot_card(self.model, self._description)

    def replace(
        self,
        *,
        gravity: Any = None,
        payload: Inertia | int | None = None,
        payload_frame: str | None = None,
        friction: Any = None,
        rotors: str | None = None,
        actuators: Mapping[str, Actuator | None] | None = None,
        limits: Mapping[str, Mapping[str, float]] | None = None,
        inertias: Mapping[str, Inertia] | None = None,
        parameters: Mapping[str, Any] | None = None,
        tip: str | None = None,
    ) -> Robot:
        """Return a new robot with changed gravity, payload (at the tip or a given frame), friction, limits, inertias or tip.

        ``payload`` takes the place of an earlier one at the same frame; without ``payload_frame``, of the one that was given
        without it, even where the tip has changed since. 0 removes it. ``friction`` is None (unchanged), 0 or
        False (no friction), or a mapping from joint names to the `Drive` fields to change. ``rotors`` is "riding" (rotors
        mounted on moving links, by default the parent link of the joint) or "reflected" (only the reflected inertia at the
        joint). ``actuators`` maps coordinate names to actuator models, or to None to remove one; other coordinates keep theirs.
        ``limits`` maps joint names to the limits to change ("lower", "upper", "velocity", "effort"; 0 is refused where files
        write it for a limit that is not known), ``inertias`` links to their inertia in the link frame,
        without the payload that they carry. ``parameters`` gives symbols of the robot their values, numbers or expressions.
        ``tip`` is the link or frame that functions take where none is named, of any robot; "" leaves it to the rule.

        >>> import dynamis as dy
        >>> slow = dy.load("ur5e").replace(limits={"elbow_joint": {"velocity": 1.0}})
        >>> float(slow.limits["velocity"][2])
        1.0
        >>> robot = dy.load("ur5e").replace(gravity=(0, 0, 0))
        >>> bool(abs(robot.gravity(robot.neutral())).max() == 0)
        True
        >>> unknown = robot.replace(payload=dy.solids.sphere(0.05, mass=dy.symbol("m")))
        >>> round(unknown.replace(parameters={"m": 2.0}).mass - robot.mass, 9)
        2.0
        """
        d = self._description.copy() if parameters is None else replace_symbols(self._description, parameters)
        if tip is not None:
            d.tip = self.model.frame(tip, "tip=").name if tip != "" else ""
        report, bodies = Report(self.name), dict[str, Inertia]()
        if gravity is not None:
            if isinstance(gravity, int | float) and gravity != 0:
                raise InputError(f"gravity must be a vector in m/s², such as (0, 0, -9.81), or 0 for none; got {gravity!r}")
            d.gravity = self.inputs.vector([0.0] * 3 if isinstance(gravity, int | float) else gravity, 3, "gravity")
        if inertias is not None:
            replace_inertias(d, inertias, bodies)
        if payload is not None:
            replace_payload(d, payload, self.model, payload_frame, bodies)
        elif payload_frame is not None:
            raise InputError("payload_frame= requires payload=")
        if friction is not None:
            replace_friction(d, friction, report)
        if rotors is not None:
            ways = {"riding": rotors_riding, "reflected": rotors_reflected}
            if not isinstance(rotors, str) or rotors not in ways:
                raise InputError(f"rotors={rotors!r} is unknown; choose 'riding' or 'reflected'")
            d = ways[rotors](d)
        if actuators is not None:
            self._replace_actuators(d, actuators)
        if limits is not None:
            replace_limits(d, limits, report)
        robot = Robot(d, _tracing=self.evaluator.tracing, _quiet=True)
        check_bodies(bodies, report)
        if parameters is not None and not self.evaluator.tracing:
            report.problems += [p for p in doubts(d, robot.model).without(self._doubts) if p.where not in bodies]
        report.problems = [dataclasses.replace(p, line=None) for p in report]  # the values are not from the file
        report.emit_warnings(2)
        if inertias and (text := new_massless_motion(robot.model, self.model)):
            warnings.warn(f"robot {printable(self.name)} with other inertias: {text}", ModelWarning, stacklevel=2)
        return robot

    def _replace_actuators(self, d: Description, actuators: Mapping[str, Actuator | None]) -> None:
        if not isinstance(actuators, Mapping):
            raise InputError("actuators= must be a mapping such as {'elbow': dynamis.Saturated(effort=50)}")
        for name, actuator in actuators.items():
            if name not in self.coordinate_names:
                raise self._no_joint(name, self.coordinate_names, "coordinate")
            if actuator is not None and not isinstance(actuator, Actuator):
                kinds = "a Saturated, DCMotor or Elastic"
                raise InputError(f"the actuator of {name!r} must be {kinds}, got {type(actuator).__name__}")
            joint = self.model.coordinates[self.coordinate_names.index(name)].joint
            if name != joint:
                raise InputError(
                    f"{name!r} is one of several coordinates of a joint; actuators require a joint with one coordinate"
                )
            d.joint(joint).actuator = actuator

    def on(self, base: MovingBase) -> OnMovingBase:
        """Return the robot on a base that moves in a prescribed way: poses, velocities, Jacobians, energies, torques, ….

        >>> import dynamis as dy
        >>> arm, ship = dy.load("panda"), dy.MovingBase(dy.Pose.translation([0.0, 0.0, 1.0]), [0.1, 0, 0, 0, 0, 0.2], [0.0] * 6)
        >>> arm.on(ship).velocity(arm.home(), [0.0] * 7, "panda_link0").tolist()
        [0.1, 0.0, 0.0, 0.0, 0.0, 0.2]
        """
        moved = moving_base(base)
        if moved.symbolic or self.model.symbolic:
            raise InputError("robot.on(base) takes numbers; inverse_dynamics(…, base=base) takes symbols, too")
        if self._floating.n == self.n:
            raise InputError(f"robot {printable(self.name)} has a free base: its q, v and a begin with the motion of the base")
        return OnMovingBase(self._floating, moved)

    @cached_property
    def _floating(self) -> Robot:
        return Robot(with_floating_base(self._description), _quiet=True)

    def write(self, path: str | os.PathLike[str], form: str = "link") -> None:
        """Write a .urdf, .sdf, .mjcf (or .xml), .usda or .toml file; ``form`` (link, dh, mdh, poe) is how a .toml places links.

        A robot that was read from a URDF is written as that document with only the changed values replaced. A warning lists
        what the format has no place for, if it changes the motion or names of joints; ``dynamis convert`` lists everything.
        Only a .toml keeps payloads apart from the links that carry them, so that `replace` can take them off again. A .mjcf
        excludes contacts between the links that `dynamis.collision.Scene` does not check.
        """
        target = path_of(path)
        suffix = ".mjcf" if target.suffix == ".xml" else target.suffix
        if suffix not in (".urdf", ".toml", ".mjcf", ".sdf", ".usda"):
            raise InputError(f"{printable(target.name)}: the file name must end in .urdf, .sdf, .mjcf, .xml, .usda or .toml")
        if suffix != ".toml" and form != "link":
            raise InputError(f"form={form!r} applies to .toml files only; {suffix[1:].upper()} has one form")
        from dynamis.model.writers.document import document  # all writers: not needed by those who only read

        text = document(self._for_mujoco() if suffix == ".mjcf" else self._description, suffix, form)
        self._warn_of_losses(printable(target.name), self._description, suffix)
        write_file(target, text)

    def _for_mujoco(self) -> Description:
        """The description with the pairs of links between which MuJoCo must not compute contacts."""
        description, complete = call_by_name("dynamis.collision.contact_exclusions:with_contact_exclusions", self)
        if not complete:
            text = "links that collide in every posture were not looked for, and would jam: pip install 'dynamis[collision]'"
            warnings.warn(f"robot {printable(self.name)} in MuJoCo: {text}", ModelWarning, stacklevel=3)
        found: Description = description
        return found

    def _warn_of_losses(self, target: str, description: Description, suffix: str) -> None:
        """Warn the caller of the calling method of what a format has no place for."""
        from dynamis.model.writers.losses import losses

        if lost := losses(description, suffix, essential=True):
            text = f"{target} does not hold all of robot {printable(self.name)}: {'; '.join(lost)}"
            warnings.warn(text, ModelWarning, stacklevel=3)

    def to_mujoco(self) -> Any:
        """Return the robot as a `mujoco.MjModel`: the same M, bias torques, friction, springs and limits.

        Needs MuJoCo (``pip install 'dynamis[mujoco]'``). Followers (mimic joints) become equality constraints, which are soft.
        Contacts are excluded between the links that `dynamis.collision.Scene` does not check: adjacent ones, and those that
        always collide. A warning lists what MJCF has no place for, if it changes the motion.
        """
        from dynamis.model.readers.mjcf import mujoco
        from dynamis.model.writers.mjcf import write_mjcf

        try:
            made = mujoco().MjModel.from_xml_string(write_mjcf(self._for_mujoco()))
        except ValueError as error:
            raise ConversionError(
                f"MuJoCo does not accept robot {printable(self.name)}: {' '.join(str(error).split())}"
            ) from None
        self._warn_of_losses("the MjModel", dataclasses.replace(self._description, payloads={}), ".mjcf")
        return made

    def to_pinocchio(self) -> Any:
        """Return the robot as a `pinocchio.Model` with the same q and v, and its links as frames.

        Rotor inertia is armature there, and followers are mimic joints. Needs Pinocchio (``pip install pin``). Motors on links,
        actuators, helical followers and followers before their leader are refused; springs, direction-dependent friction and
        closures of loops are left out with a warning.

        >>> import dynamis as dy
        >>> dy.load("ur5e").to_pinocchio().nv  # doctest: +SKIP
        6
        """
        from dynamis.model.writers.pinocchio import make_pinocchio

        return make_pinocchio(self._description)

    def closed_form(
        self,
        notation: str | Notation | None = None,
        *,
        seconds: float = 60.0,
        terms: float = 5e6,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> ClosedForm:
        """Symbolic equations of motion: M, C, g, Christoffel symbols, energies, regressor, derivation.

        ``notation`` is "dynamis", "rocco", "deluca", "melchiorri", "tzafestas", or a `Notation`. If the expansion exceeds
        ``seconds`` or ``terms``, the entries keep their factored form.

        >>> import dynamis as dy
        >>> arm = dy.load("planar_2r").closed_form()
        >>> arm.M[0, 1]
        m_2*(l_2^2 + a_1*l_2*c2) + I_2
        >>> (arm.N + arm.N.T).is_zero
        True
        """
        from dynamis.symbolic.closed_form import closed_form

        return closed_form(self.model, notation, seconds=seconds, terms=terms, progress=progress, description=self._description)


# messages of Python name the method as users know it, not the class that defines it
for _base in Robot.__mro__[1:-1]:
    for _entry in vars(_base).values():
        if isinstance(_function := getattr(_entry, "method", _entry), FunctionType):
            _function.__qualname__ = f"Robot.{_function.__name__}"
