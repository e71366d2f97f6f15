"""Other libraries that compute the same functions, where they are installed: for ``dynamis bench``."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import InputError, MissingExtraError, printable
from dynamis.model.description import Drive
from dynamis.model.model import Model
from dynamis.robot import Robot

NAMES = ("pinocchio", "mujoco")


@dataclass(frozen=True, eq=False)
class Rival:
    """A function of another library: a call that computes the batch, how it does so, and one result to compare with ours."""

    run: Callable[[], object]
    how: str
    check: Callable[[], Any] | None = None


def bare(robot: Robot) -> Robot:
    """The robot without friction, rotors, springs and shapes, which other libraries model differently or not at all."""
    d = robot.description
    for joint in d.joints:
        joint.drive, joint.actuator = Drive(), None
        joint.type = "revolute" if joint.type == "continuous" else joint.type
    for link in d.links:
        link.shapes = []
    return Robot(d, _quiet=True)


def rivals(name: str, robot: Robot, states: dict[str, Any]) -> dict[str, Rival]:
    """The functions of the library of this name, by the names of ours."""
    if importlib.util.find_spec(name) is None:
        raise MissingExtraError(f"--against {name} needs {name}: pip install 'dynamis[oracles]'")
    plain = all(type(body.motion).__name__ in ("Revolute", "Prismatic") and body.ratio == 1.0 for _, body in robot.model.moving)
    if not plain or (isinstance(robot.model, Model) and robot.nq != robot.n):
        raise InputError(
            f"--against compares fixed-base robots with revolute and prismatic joints; {printable(robot.name)} is not one"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        robot.write(path)
        try:
            return _pinocchio(robot, path, states) if name == "pinocchio" else _mujoco(robot, path, states)
        except (ValueError, RuntimeError) as error:  # such as a link without mass
            raise InputError(f"{name} cannot read {printable(robot.name)}: {str(error).splitlines()[0]}") from None


def _pinocchio(robot: Robot, path: Path, states: dict[str, Any]) -> dict[str, Rival]:
    pin: Any = importlib.import_module("pinocchio")
    model = pin.buildModelFromUrdf(str(path))
    model.gravity.linear = np.asarray(robot.model.gravity, dtype=float)
    place = np.array([model.joints[model.getJointId(name)].idx_v for name in robot.joint_names])
    rows = {letter: np.zeros_like(x) for letter, x in states.items()}
    for letter, x in states.items():
        rows[letter][:, place] = x
    columns = {letter: np.asfortranarray(x.T) for letter, x in rows.items()}
    data, pool = model.createData(), pin.ModelPool(model, 1)
    out = np.zeros_like(columns["v"])
    found: dict[str, Rival] = {}
    for name, call, last in (("inverse_dynamics", pin.rneaInParallel, "a"), ("forward_dynamics", pin.abaInParallel, "tau")):
        run = functools.partial(call, 1, pool, columns["q"], columns["v"], columns[last], out)
        found[name] = Rival(run, "C++ batch call", lambda run=run: (run(), out.T[0][place])[1])  # type: ignore[misc]  # run is bound
    loops = {
        "mass_matrix": (pin.crba, ("q",)),
        "inverse_dynamics_derivatives": (pin.computeRNEADerivatives, ("q", "v", "a")),
        "forward_dynamics_derivatives": (pin.computeABADerivatives, ("q", "v", "tau")),
    }
    for name, (call, letters) in loops.items():
        given = list(zip(*(rows[letter] for letter in letters), strict=True))
        found[name] = Rival(functools.partial(_each, functools.partial(call, model, data), given), "Python loop")
    return found


def _mujoco(robot: Robot, path: Path, states: dict[str, Any]) -> dict[str, Rival]:
    mujoco: Any = importlib.import_module("mujoco")
    spec = mujoco.MjSpec.from_string(path.read_text(encoding="utf-8"))
    spec.compiler.balanceinertia = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.option.gravity = np.asarray(robot.model.gravity, dtype=float)
    model = spec.compile()
    for bit in ("CONTACT", "CONSTRAINT", "LIMIT", "SPRING", "DAMPER", "FRICTIONLOSS", "ACTUATION"):
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{bit}"))
    data = mujoco.MjData(model)
    place = np.array([model.joint(name).dofadr[0] for name in robot.joint_names])
    rows = {letter: np.zeros_like(x) for letter, x in states.items()}
    for letter, x in states.items():
        rows[letter][:, place] = x

    def inverse(q: Any, v: Any, a: Any) -> Any:
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse

    def forward(q: Any, v: Any, tau: Any) -> Any:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        return data.qacc

    found = {}
    for name, call, last in (("inverse_dynamics", inverse, "a"), ("forward_dynamics", forward, "tau")):
        given = list(zip(rows["q"], rows["v"], rows[last], strict=True))
        check = functools.partial(lambda call, state: call(*state)[place].copy(), call, given[0])
        found[name] = Rival(functools.partial(_each, call, given), "Python loop", check)
    return found


def _each(call: Callable[..., object], states: list[tuple[Any, ...]]) -> None:
    for state in states:
        call(*state)
