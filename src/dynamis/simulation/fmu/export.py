"""``write_fmu``: a robot as a Functional Mock-up Unit for other simulators."""

from __future__ import annotations

import hashlib
import io
import os
import re
import uuid
import zipfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.algorithms.configuration_rate import moved
from dynamis.compiler import c_text
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import check_place, write_file
from dynamis.files.paths import path_of
from dynamis.robot import Robot
from dynamis.robot.checks import check_numeric, warn_of_open_loops
from dynamis.scalar import directional
from dynamis.simulation.actuators import Actuator, actuators_of
from dynamis.simulation.fixed_step import Flow
from dynamis.simulation.fmu.build import binary_place, shared_library
from dynamis.simulation.fmu.description import build_description, model_description
from dynamis.simulation.fmu.stable_step import LONGEST, stable_step
from dynamis.simulation.fmu.variables import variables_of
from dynamis.simulation.friction import Smooth, StickingLaw, in_words, laws_of
from dynamis.simulation.motion import EquationsOfMotion
from dynamis.simulation.sources import Command

Array = npt.NDArray[Any]
SHARED = ("plant.h", "interface.h")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first instant of a ZIP archive: the same robot gives the same bytes


def write_fmu(
    robot: Robot, path: str | os.PathLike[str], *, version: int = 3, friction: Any = "smooth",
    actuators: Mapping[str, Actuator] | None = None, frame: str | None = None, wrench: str | None = None,
    gravity: bool = False, step: float | None = None, derivatives: bool = True, binary: bool = True,
) -> Path:  # fmt: skip
    """Write the forward dynamics as a Functional Mock-up Unit (FMI ``version`` 2 or 3), for model exchange and co-simulation.

    States are ``q.JOINT`` and ``v.JOINT``, with the home configuration at rest as their start values, and the states of
    friction and drives; inputs are ``tau.JOINT``, and ``wrench.fx`` … ``wrench.mz`` on the frame ``wrench``, in world axes;
    outputs are q, v, the accelerations ``a.JOINT``, and ``position.x`` and ``rotation.xx`` … of ``frame`` (default: the tip, if
    there is one). Quaternions are x, y, z, w. With ``gravity``, ``gravity.x`` … are parameters. ``friction`` and ``actuators``
    are those of `simulate`; dry friction must not stick. Co-simulation takes Runge–Kutta steps of fourth order, none longer
    than the parameter ``internal_step``, by default ``step``, or without it 1 ms, less where the equations linearised at the
    start values need shorter steps, as with strong friction of light links. Unless ``derivatives`` is False, the unit provides
    directional derivatives of rates and outputs with respect to states, inputs and parameters.

    The archive has the C sources and, unless ``binary`` is False, a library for this machine, made by the compiler $CC, cc, gcc
    or clang. Without a compiler it has the sources only, and a warning says so. A singular mass matrix and diverged states are
    answered with an error and a logged message.

    >>> import dynamis as dy, tempfile
    >>> arm = dy.load("planar_2r_melchiorri")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = dy.write_fmu(arm, f"{folder}/arm.fmu", binary=False)
    >>> path.name
    'arm.fmu'
    """
    target = path_of(path)
    if target.suffix != ".fmu":
        raise InputError(f"{printable(target.name)}: the name of the file must end in .fmu")
    check_place(target)
    if version not in (2, 3) or isinstance(version, bool):
        raise InputError(f"version must be 2 or 3, got {version!r}")
    if step is not None and not (isinstance(step, int | float | np.number) and 0.0 < step < np.inf):
        raise InputError(f"step must be a positive number of seconds, got {step!r}")
    check_numeric(robot)
    if not robot.n:
        raise InputError(f"robot {printable(robot.name)} has no moving joints")
    warn_of_open_loops(robot, "the unit", closed="dynamis.constrained(robot).simulate(…)")
    unit = _Unit(robot, friction, actuators, frame, wrench, gravity, step, derivatives)
    return write_file(target, unit.archive(version, _identifier(target.stem), binary, target.name))


class _Unit:
    """The sources of one robot, and the archive of one version."""

    def __init__(
        self, robot: Robot, friction: Any, actuators: Mapping[str, Actuator] | None, frame: str | None, wrench: str | None,
        gravity: bool, step: float | None, derivatives: bool,
    ) -> None:  # fmt: skip
        laws = laws_of(robot.model, friction)
        if any(isinstance(law, StickingLaw) for law in laws.values()):
            raise InputError("a joint of an FMU does not stick: use friction='smooth' or 'none', or Smooth and LuGre laws")
        frame = robot.model.tip if frame is None else frame
        for named in (frame, wrench):
            if named is not None:
                robot.model.frame(named)  # refuses an unknown name
        plant, drives = actuators_of(robot, actuators)
        self.robot = plant

        def motion_of(plant: Robot, u: Array) -> EquationsOfMotion:
            wrenches = {} if wrench is None else {wrench: lambda _t, _q, _v: u[plant.n :]}
            return EquationsOfMotion(plant, laws, Command.of(lambda _t, _q, _v: u[: plant.n]), wrenches, drives)

        def rates(plant: Robot, x: Array, u: Array, p: Array) -> Array:
            if gravity:
                plant = plant.replace(gravity=p[1:4])
            flow = Flow(motion_of(plant, u), work=False)
            q, v, z = flow.split(x)
            q = moved(plant.model, q, 0.0 * q)  # an importer's integrator does not keep the norm of quaternions
            found = [*flow.rates(0.0, q, v, z)]
            if frame is not None:
                pose = plant.pose(q, frame)
                found += [pose[:3, 3], pose[:3, :3].ravel()]
            return np.concatenate(found)

        self.motion = motion = motion_of(plant, np.zeros(plant.n + 6))
        motion.smooth.forward_dynamics(plant.home(), np.zeros(plant.n), np.zeros(plant.n))  # refuses a singular mass matrix
        self.sizes = {"x": plant.nq + plant.n + motion.states, "u": plant.n + 6 * (wrench is not None), "p": 1 + 3 * gravity}
        if step is None:
            starts = [v.start for v in variables_of(plant, motion, frame, wrench, gravity, LONGEST)[1:]]
            x, u, p = np.split(np.array(starts[: sum(self.sizes.values())]), np.cumsum([*self.sizes.values()])[:2])
            width = min((law.width for law in laws.values() if isinstance(law, Smooth)), default=1.0)
            step = stable_step(lambda x: np.asarray(rates(plant, x, u, p), float)[: self.sizes["x"]], x, width)
        self.step = float(step)
        self.variables = variables_of(plant, motion, frame, wrench, gravity, self.step)
        self.about = f"Forward dynamics of {robot.name}, {in_words(laws, robot.coordinate_names)}"
        self.codes = {"rates": plant.compile(rates, parameters=(), identity=None, **self.sizes).code}
        if derivatives:

            def slopes(plant: Robot, x: Array, u: Array, p: Array, dx: Array, du: Array, dp: Array) -> Array:
                return directional(rates(plant, x, u, p), [*x, *u, *p], [*dx, *du, *dp])

            directions = {f"d{name}": size for name, size in self.sizes.items()}
            self.codes["slopes"] = plant.compile(slopes, parameters=(), identity=None, **self.sizes, **directions).code

    def archive(self, version: int, identifier: str, binary: bool, name: str) -> bytes:
        own: dict[str, str] = {}
        for what, code in self.codes.items():
            file, about = f"dynamis_{what}", f"{what.capitalize()} of {self.robot.name}"
            own[f"{file}.h"], own[f"{file}.c"] = c_text.render(code, file, "double", about, [], [what])
        listing = repr((version, own, self.variables))
        token = f"{{{uuid.UUID(hashlib.sha256(listing.encode()).hexdigest()[:32])}}}"
        own["model.h"] = self._constants(token)
        here = resources.files("dynamis.simulation.fmu")
        main = f"fmi{version}.c"
        sources = {file: here.joinpath(file).read_bytes() for file in (*SHARED, main)}
        sources |= {file: text.encode("ascii") for file, text in own.items()}
        units = (main, *(f"dynamis_{what}.c" for what in self.codes))
        files = {f"sources/{file}": data for file, data in sources.items()}
        files["modelDescription.xml"] = model_description(
            version, self.robot.name, identifier, token, self.variables, units, self.about, "slopes" in self.codes
        )
        if version == 3:
            files["sources/buildDescription.xml"] = build_description(identifier, units)
        if binary and (library := shared_library(sources, units, name)) is not None:
            folder, suffix = binary_place(version)
            files[f"binaries/{folder}/{identifier}{suffix}"] = library
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for file in sorted(files, key=lambda x: (x != "modelDescription.xml", x)):
                entry = zipfile.ZipInfo(file, EPOCH)
                entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
                entry.external_attr = (0o755 if file.startswith("binaries/") else 0o644) << 16
                archive.writestr(entry, files[file])
        return stream.getvalue()

    def _constants(self, token: str) -> str:
        """model.h: numbers of variables, start values of states, inputs and parameters, places of quaternions."""
        nx, nu, np_ = self.sizes.values()
        starts = [repr(x.start) for x in self.variables[1 : 1 + nx + nu + np_]]
        model = self.robot.model
        places = [body.q_index.stop - 4 for _, body in model.moving if body.motion.nq > body.motion.nv]
        lines = ["/* Sizes and start values. */", "#ifndef MODEL_H", "#define MODEL_H", f'#define TOKEN "{token}"']
        lines += [f"#define N{letter} {size}" for letter, size in zip("XUP", (nx, nu, np_), strict=True)]
        lines.append(f"#define NY {len(self.variables) - 1 - 2 * nx - nu - np_}")
        lines += ["#define WITH_SLOPES"] * ("slopes" in self.codes)
        lines.append(f"static const double start_values[] = {{{', '.join(starts)}}};")
        pairs = [place for pair in self._followers() for place in pair]
        lines.append(f"static const int followers[] = {{{', '.join(map(str, [*pairs, -1]))}}};")
        lines.append(f"static const int quaternions[] = {{{', '.join(map(str, [*places, -1]))}}};")
        return "\n".join([*lines, "#endif", ""])

    def _followers(self) -> list[tuple[int, int]]:
        """(place of a drive's state among the states, place of the position or velocity of its joint at which it begins)."""
        robot, rng = self.robot, np.random.default_rng(0)
        x = np.concatenate([robot.random(rng), rng.uniform(0.1, 1.0, robot.n)])
        z = self.motion.start_inside(x[: robot.nq], x[robot.nq :])
        return [(len(x) + k, int(place)) for k, value in enumerate(z) for place in np.flatnonzero(x == value)[:1] if value]


def _identifier(stem: str) -> str:
    """A C identifier, which names the library."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)[:60]
    return name if re.match(r"[A-Za-z]", name) else f"fmu_{name}"
