"""Reader of MJCF, MuJoCo's format, by MuJoCo's own compiler: defaults, includes and inertias of shapes are its business.

Bodies become links, each joint of a body a joint with a massless link between it and the next, sites become frames. Armature is
a rotor inertia, frictionloss Coulomb friction, damping viscous friction, each with what actuators add to the joint; equality
constraints are closures of loops; what a <flag> disables is absent. q has the order of qpos; a quaternion is (x, y, z, w) here
and (w, x, y, z) there, and the velocity of a free joint is in the axes of the body here. What has no counterpart is listed:
in a warning what acts on the motion, in notes appearance, contact parameters and settings of the simulation.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import counted
from dynamis.errors import InputError, MissingExtraError, printable
from dynamis.model.closures import LoopClosure
from dynamis.model.description import Description, Drive, Fresh, Joint, Limits, Link, MassProperties, Shape
from dynamis.model.diagnostics import Report, format_error, listed
from dynamis.model.readers.mjcf_limits import check_mjcf
from dynamis.model.readers.xml_tree import Element
from dynamis.spatial.pose import Pose
from dynamis.spatial.rotation import about_axis, from_quaternion
from dynamis.tolerances import SMALLEST_INERTIA

Array = npt.NDArray[Any]
ROOT = "world"
TYPES = {0: "free", 1: "spherical", 2: "prismatic", 3: "revolute"}  # mjtJoint
SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}  # mjtGeom
PLANE, HEIGHT_FIELD, MESH = 0, 1, 7
CONNECT, WELD, JOINT = 0, 1, 2  # mjtEq
SITE = 6  # mjtObj
HIDDEN_GROUPS = 3  # of shapes, from this one on: MuJoCo's viewer does not show them unless asked
ON_JOINTS = (0, 1)  # mjtTrn: of actuators that act on a joint, in its own axes or its parent's
# what a model may have that a robot has not: the count, the kind of object, words for it
ASIDE = (
    ("ntendon", "tendon", "tendons"), ("nactuator", "actuator", "actuators"),
    ("nsensor", "sensor", "sensors"), ("nflex", "flex", "deformable objects"),
    ("nskin", "skin", "skins"), ("nplugin", "plugin", "plugins"), ("nkey", "key", "keyframes"),
    ("npair", "pair", "contact pairs"), ("ncam", "camera", "cameras"),
    ("nlight", "light", "lights"),
)  # fmt: skip
ASIDE_IN_NOTES = (
    ("ntex", "texture", "textures"), ("nmat", "material", "materials"), ("nnumeric", "numeric", "custom numbers"),
    ("ntext", "text", "custom texts"), ("ntuple", "tuple", "custom tuples"),
)  # fmt: skip
# parameters that are listed where they differ from MuJoCo's defaults: array of the model, kind of object, words for it
SOFT = "solref solimp"
CONTACT = f"friction condim contype conaffinity priority margin gap solmix surfacevel adhesion {SOFT}"
PARAMETERS = (
    *((f"geom_{x}", "geom", "contact parameters of shapes") for x in CONTACT.split()),
    *((f"{a}_{x}", kind, f"softness of {words}") for x in SOFT.split() for a, kind, words in (
        ("jnt", "joint", "limits"), ("dof", "joint", "frictionloss"), ("eq", "equality", "equality constraints"))),
    ("geom_fluid", "geom", "fluid parameters of shapes"), ("jnt_margin", "joint", "margins of limits"),
)  # fmt: skip
USER_DATA = ("actuator", "body", "cam", "geom", "jnt", "sensor", "site", "tendon")
USED_OPTIONS = ("gravity", "density", "viscosity", "wind", "disableflags")
USED_FLAGS = ("GRAVITY", "SPRING", "DAMPER", "FRICTIONLOSS", "EQUALITY")
PLAIN = """<mujoco><worldbody><body name="a"><joint name="j" frictionloss="1"/><geom size="1"/></body></worldbody>
<equality><joint joint1="j"/></equality></mujoco>"""


def mujoco() -> Any:
    """The package, which is an extra."""
    try:
        return importlib.import_module("mujoco")
    except ImportError:
        raise MissingExtraError("MuJoCo reads MJCF files and is not installed: pip install 'dynamis[mujoco]'") from None


def read_mjcf(path: str, data: bytes, report: Report) -> Description:
    """The description of a file; ``path`` is where it lies, for its includes and meshes, or empty for text."""
    library, remarks = mujoco(), list[str]()
    elements = check_mjcf(data, report.source, Path(path).parent if path else None)
    try:
        with _remarks(library, remarks):
            model = library.MjModel.from_xml_path(path) if path else library.MjModel.from_xml_string(data.decode("utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())
        line = re.search(r"line (\d+)", text)
        raise format_error(
            report.source, int(line[1]) if line else None, f"MuJoCo does not compile it: {printable(text)}", "an MJCF model",
            "correct the model: python -m mujoco.viewer shows it once it compiles",
        ) from None  # fmt: skip
    for text in dict.fromkeys(remarks):
        report.note(
            "mujoco", "model", f"MuJoCo remarks: {printable(text, 400)}", "see MuJoCo's documentation", "used as it compiles"
        )
    return describe(model, report, elements)


@contextlib.contextmanager
def _remarks(library: Any, found: list[str]) -> Iterator[None]:
    """Collect what MuJoCo would print and append to a file MUJOCO_LOG.TXT in the current folder."""
    before = library.get_mju_user_warning()
    library.set_mju_user_warning(lambda text: found.append(" ".join(text.split())))
    try:
        yield
    finally:
        library.set_mju_user_warning(before)


def describe(model: Any, report: Report, elements: Iterable[Element] = ()) -> Description:
    """The description of an MjModel; ``elements`` of its file tell the lines."""
    if type(model).__name__ != "MjModel":
        raise InputError(f"from_mujoco takes a mujoco.MjModel, got {type(model).__name__}; load reads MJCF files")
    return _Writer(model, report, list(elements)).description()


class _Writer:
    def __init__(self, model: Any, report: Report, elements: list[Element]) -> None:
        self.m, self.report, self.elements = model, report, elements
        self.links = Fresh(())
        self.joints = Fresh(())
        self.of_body = {0: ROOT}
        self.of_site: dict[int, str] = {}
        self.of_joint: dict[int, str] = {}
        self.dropped: dict[str, list[str]] = {}
        self.noted: dict[str, list[str]] = {}
        self.lines = {(e.tag, e.attributes["name"]): e.line for e in elements if "name" in e.attributes}
        # without copies, bodies have the order of the document
        bodies = [e for e in elements if e.tag == "body"]
        names = [self._name("body", k) for k in range(1, model.nbody)]
        same = [e.attributes.get("name", x) for e, x in zip(bodies, names, strict=False)] == names and len(bodies) == len(names)
        self.body_lines = [e.line for e in bodies] if same else []

    def description(self) -> Description:
        m = self.m
        name = bytes(m.names).split(b"\0")[0].decode("utf-8", "replace") or "robot"
        gravity = np.zeros(3) if self._disabled("GRAVITY") else np.array(m.opt.gravity, float)
        d = Description(name, gravity=gravity, source="MJCF")
        d.links.append(self._link(0, self.links.name(ROOT)))
        if d.links[0].shapes:
            names = [printable(self._name("geom", g)) for g in range(m.body_geomnum[0]) if int(m.geom_type[g]) in SHAPES]
            found = f"shapes of the world ({listed(names, every=True)})"
            self.report.note("world-shapes", "model", found, "", f"they are shapes of the link {printable(ROOT)}")
        for body in range(1, m.nbody):
            self._add_body(d, body)
        for site in range(m.nsite):
            self._add_site(d, site)
        for equality in range(m.neq):
            self._add_equality(d, equality)
        d.no_contact = [(self.of_body[int(x) >> 16], self.of_body[int(x) & 0xFFFF]) for x in m.exclude_signature]
        self._tell(d)
        if moving := [joint.name for joint in d.joints if joint.type in ("revolute", "continuous", "prismatic")]:
            self.report.note(
                "velocity-limits", "model", f"MJCF has no velocity limits: {counted(len(moving), 'joint')} without one",
                "give them where they matter, as arguments of trajectories and of excitations, or in a TOML or URDF file",
                "any velocity is within the limits",
            )  # fmt: skip
        if d.closures:
            self.report.warn_of_closures("model", f"loops closed by {counted(len(d.closures), 'equality constraint')}")
        return d

    def _disabled(self, *flags: str) -> bool:
        """Whether <flag> disables one of these."""
        bits = mujoco().mjtDisableBit
        return any(self.m.opt.disableflags & int(getattr(bits, f"mjDSBL_{flag}", 0)) for flag in flags)

    def _name(self, kind: str, number: int) -> str:
        library = mujoco()
        return library.mj_id2name(self.m, getattr(library.mjtObj, f"mjOBJ_{kind.upper()}"), number) or f"{kind}{number}"

    def _add_body(self, d: Description, body: int) -> None:
        m = self.m
        written = self._name("body", body)
        own, line = self.links.name(written), self.lines.get(("body", written))
        line = self.body_lines[body - 1] if self.body_lines else line
        self.of_body[body] = own
        place = Pose(_rotation(m.body_quat[body]), np.array(m.body_pos[body], float))
        numbers = range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body])
        parent = self.of_body[int(m.body_parentid[body])]
        if not numbers:
            d.joints.append(Joint(self.joints.name(f"{own}_fixed"), "fixed", parent, own, place, line=line))
        for j in numbers:
            last = j == numbers[-1]
            child = own if last else self.links.name(f"{own}/{self._name('joint', j)}")
            if not last:
                d.links.append(Link(child))
            d.joints.append(self._joint(j, parent, child, place))
            d.joints[-1].line = self.lines.get(("joint", self._name("joint", j)), line)
            parent, place = child, Pose.identity()
        if m.body_gravcomp[body]:
            self._drop("gravity compensation", own)
        if m.body_mocapid[body] >= 0:
            self._drop("mocap bodies", own)
        d.links.append(self._link(body, own, line))

    def _joint(self, j: int, parent: str, child: str, place: Pose) -> Joint:
        m = self.m
        kind, name = TYPES[int(m.jnt_type[j])], self.joints.name(self._name("joint", j))
        self.of_joint[j] = name
        q = int(m.jnt_qposadr[j])
        anchor, axis = np.array(m.jnt_pos[j], float), np.array(m.jnt_axis[j], float)
        joint = Joint(name, kind, parent, child, axis=axis)
        stiffness = np.zeros(1) if self._disabled("SPRING") else self._coefficients("jnt_stiffness", j)[0]
        joint.drive = self._drive(j, name, {"free": 6, "spherical": 3}.get(kind, 1))
        if kind in ("free", "spherical") and stiffness.any():
            self._drop("springs of free and ball joints", name)
        if kind == "free":  # its position is that of the body in the world
            if (m.qpos0[q : q + 7] != (0, 0, 0, 1, 0, 0, 0)).any():
                x, y, z, w, *vector = (f"{x:.6g}" for x in m.qpos0[q : q + 7])
                self._drop("initial poses of free joints (give them in q0)", f"{name} at [{', '.join((x, y, z, *vector, w))}]")
            return joint
        joint.origin, joint.tail = place @ Pose.translation(anchor), Pose.translation(-anchor)
        if kind == "spherical":
            if m.jnt_limited[j]:
                self._drop("limits of ball joints", name)
            return joint
        if stiffness[1:].any():
            self._drop("nonlinear springs, except for their linear term", name)
        if stiffness.any() and getattr(m, "jnt_plasticadr", -np.ones(m.njnt))[j] >= 0:
            self._drop("yielding of springs", name)
        zero = float(m.qpos0[q])  # the position in which the model is drawn up
        back = Pose.rotation(about_axis(axis, -zero)) if kind == "revolute" else Pose.translation(-zero * axis)
        joint.origin = joint.origin @ back if zero else joint.origin
        joint.drive.stiffness, joint.drive.rest = float(stiffness[0]), float(m.qpos_spring[q])
        limited = bool(m.jnt_limited[j])
        lower, upper = (float(x) for x in m.jnt_range[j]) if limited else (-np.inf, np.inf)
        effort = float(np.abs(m.jnt_actfrcrange[j]).max()) if m.jnt_actfrclimited[j] else np.inf
        if m.jnt_actfrclimited[j] and m.jnt_actfrcrange[j].sum():
            self._drop("smaller bounds of actuatorfrcrange, which differ from the larger", name)
        joint.limits = Limits(lower, upper, effort=effort)
        if kind == "revolute" and not limited:
            joint.type = "continuous"
        return joint

    def _drive(self, j: int, name: str, count: int) -> Drive:
        """Friction and armature of the ``count`` degrees of freedom of a joint, with what actuators add, times gear²."""
        m, dof = self.m, int(self.m.jnt_dofadr[j])
        armature, damping, dry = (self._coefficients(f"dof_{x}", dof, count) for x in ("armature", "damping", "frictionloss"))
        acting = np.isin(m.actuator_trntype, ON_JOINTS) & (m.actuator_trnid[:, 0] == j)
        for k in map(int, np.flatnonzero(acting) if hasattr(m, "actuator_armature") else ()):
            gear = float(m.actuator_gear[m.actuator_outadr[k] if hasattr(m, "actuator_outadr") else k][0])
            armature = armature + gear**2 * self._coefficients("actuator_armature", k)
            damping = damping + gear**2 * self._coefficients("actuator_damping", k)
        damping = 0.0 * damping if self._disabled("DAMPER") else damping
        dry = 0.0 * dry if self._disabled("FRICTIONLOSS", "CONSTRAINT") else dry
        if damping[:, 1:].any():
            self._drop("nonlinear damping, except for its linear term", name)
        # along the axes of the body here, of the world there
        if count == 6 and armature[:3].any():
            self._drop("armature of free joints, except for its part in the mass matrix", name)
        if count == 6 and dry[:3].any():
            self._drop("frictionloss of free joints", name)
            dry = 0.0 * dry
        for what, x in (("armature", armature), ("friction", damping), ("friction", dry)):
            if np.ptp(x[:, 0]):
                self._drop(f"{what} that differs between the axes of a joint, except for the first", name)
        return Drive(viscous=float(damping[0, 0]), coulomb=float(dry[0, 0]), rotor_inertia=float(armature[0, 0]))

    def _coefficients(self, array: str, first: int, count: int = 1) -> Array:
        """Rows of a model's array, with columns for the terms of higher order that recent versions have."""
        more = getattr(self.m, f"{array}poly", np.zeros((first + count, 0)))
        rows = np.asarray(getattr(self.m, array)[first : first + count], float).reshape(count, -1)
        return np.hstack([rows, np.asarray(more[first : first + count], float).reshape(count, -1)])

    def _link(self, body: int, name: str, line: int | None = None) -> Link:
        m = self.m
        link = Link(name, line=line)
        mass, *moments = (
            x if x > SMALLEST_INERTIA else 0.0 for x in (float(m.body_mass[body]), *map(float, m.body_inertia[body]))
        )
        if mass or any(moments):
            R = _rotation(m.body_iquat[body])
            tensor = R @ np.diag(moments) @ R.T
            link.mass_properties = MassProperties(mass, np.array(m.body_ipos[body], float), 0.5 * (tensor + tensor.T))
        for g in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
            kind, size = int(m.geom_type[g]), m.geom_size[g]
            if kind not in SHAPES:
                what = {PLANE: "planes", HEIGHT_FIELD: "height fields", MESH: "meshes"}.get(kind, "shapes")
                self._drop(what, self._name("geom", g))
                continue
            sizes = {"sphere": size[:1], "ellipsoid": size, "box": 2.0 * size}.get(SHAPES[kind], (size[0], 2.0 * size[1]))
            place = Pose(_rotation(m.geom_quat[g]), np.array(m.geom_pos[g], float))
            rgba = tuple(float(x) for x in m.geom_rgba[g])
            collides = m.geom_contype[g] or m.geom_conaffinity[g]
            roles = ["collision"] if collides else []
            roles += ["visual"] if not collides or m.geom_group[g] < HIDDEN_GROUPS else []
            link.shapes += [Shape(role, SHAPES[kind], tuple(float(x) for x in sizes), place, rgba=rgba) for role in roles]
        return link

    def _add_site(self, d: Description, site: int) -> None:
        m = self.m
        name = self.of_site[site] = self.links.name(self._name("site", site))
        place = Pose(_rotation(m.site_quat[site]), np.array(m.site_pos[site], float))
        d.add_link(name, self.of_body[int(m.site_bodyid[site])], origin=place, joint_name=self.joints.name(f"{name}_site"))

    def _add_equality(self, d: Description, k: int) -> None:
        m = self.m
        kind, name = int(m.eq_type[k]), self._name("equality", k)
        first, second, data = int(m.eq_obj1id[k]), int(m.eq_obj2id[k]), np.array(m.eq_data[k], float)
        joints = [j for j in (first, second) if j >= 0]
        scalar = kind == JOINT and all(TYPES[int(m.jnt_type[j])] in ("revolute", "prismatic") for j in joints)
        if not m.eq_active0[k] or self._disabled("EQUALITY", "CONSTRAINT"):
            self._drop("inactive equality constraints", name)
        elif scalar:
            zero = [float(m.qpos0[m.jnt_qposadr[j]]) for j in joints]
            ours = np.polynomial.Polynomial(data[:5] if len(joints) == 2 else data[:1])
            c = [*ours(np.polynomial.Polynomial([-zero[-1], 1.0])).coef.tolist(), 0.0]  # of q itself
            higher = tuple(c[2:5]) if any(c[2:5]) else ()
            other = self.of_joint[second] if len(joints) == 2 else ""
            d.closures.append(LoopClosure("coupled", self.of_joint[first], other, c[1], zero[0] + c[0], higher))
        elif kind in (CONNECT, WELD) and int(m.eq_objtype[k]) == SITE:
            d.closures.append(LoopClosure("point" if kind == CONNECT else "weld", self.of_site[first], self.of_site[second]))
        elif kind == CONNECT:
            ends = [(first, Pose.translation(data[:3])), (second, Pose.translation(data[3:6]))]
            d.closures.append(LoopClosure("point", *self._ends(d, name, ends)))
        elif kind == WELD:
            ends = [(first, Pose(_rotation(data[6:10]), data[3:6])), (second, Pose.translation(data[:3]))]
            d.closures.append(LoopClosure("weld", *self._ends(d, name, ends)))
        else:
            self._drop("equality constraints of other kinds", name)

    def _ends(self, d: Description, name: str, ends: list[tuple[int, Pose]]) -> tuple[str, str]:
        """Frames on two bodies."""
        names: list[str] = []
        for (body, place), letter in zip(ends, "ab", strict=True):
            names.append(self.links.name(f"{name}_{letter}"))
            d.add_link(names[-1], self.of_body[body], origin=place, joint_name=self.joints.name(f"{names[-1]}_fixed"))
        return names[0], names[1]

    def _drop(self, what: str, name: str) -> None:
        self.dropped.setdefault(what, []).append(printable(name))

    def _note(self, what: str, name: str) -> None:
        self.noted.setdefault(what, []).append(printable(name))

    def _tell(self, d: Description) -> None:
        """List what is left aside."""
        m = self.m
        for kinds, leave in ((ASIDE, self._drop), (ASIDE_IN_NOTES, self._note)):
            for count, kind, what in kinds:
                for k in range(int(getattr(m, count, m.nu if count == "nactuator" else 0))):  # nu counts them before version 4
                    leave(what, self._name(kind, k))
        if m.opt.density or m.opt.viscosity or np.any(m.opt.wind):
            self._drop("forces of a fluid", "option")
        self._note_parameters()
        for e in self.elements:
            if e.tag in ("visual", "statistic", "size"):
                self._note("settings of views and sizes", f"<{e.tag}>")
        self.report.warn_aside("model", self.dropped, "bodies, joints, sites and shapes",
                               "model what matters in Python: contacts, actuators and loops")  # fmt: skip
        self.report.note_aside("model", self.noted)
        d.aside = self.dropped | self.noted

    def _note_parameters(self) -> None:
        """List parameters of contacts, constraints and the simulation that differ from MuJoCo's defaults."""
        m, library = self.m, mujoco()
        plain, found = library.MjModel.from_xml_string(PLAIN), dict[str, list[str]]()
        for array, kind, what in PARAMETERS:
            rows = np.array(getattr(m, array, ()), float)
            default = np.asarray(getattr(plain, array, np.zeros((1, 0))), float)[0]
            if kind == "geom" and len(rows):
                rows[(m.geom_contype | m.geom_conaffinity) == 0] = default  # these have no contacts
            for k in map(int, np.flatnonzero((rows != default).reshape(len(rows), default.size).any(axis=1))):
                number = int(m.dof_jntid[k]) if array.startswith("dof") else k
                found.setdefault(what, []).append(self._name(kind, number))
        options = [x for x in dir(plain.opt) if not x.startswith("_") and x not in USED_OPTIONS]
        differ = [x for x in options if np.any(getattr(m.opt, x) != getattr(plain.opt, x))]
        used = sum(int(getattr(library.mjtDisableBit, f"mjDSBL_{flag}", 0)) for flag in USED_FLAGS)
        found["settings of the simulation"] = [*differ, *(["flag"] if m.opt.disableflags & ~used else [])]
        found["user data"] = [x for x in USER_DATA if getattr(m, f"nuser_{x}", 0)]
        for what, names in found.items():
            for name in dict.fromkeys(names):
                self._note(what, name)


def _rotation(quaternion: Any) -> Array:
    """R of MuJoCo's (w, x, y, z)."""
    w, x, y, z = (float(value) for value in quaternion)
    return from_quaternion(np.array([x, y, z, w]))
