"""Excitation trajectory: the motion, its condition number, and its use of the limits."""

from __future__ import annotations

import io
import json
import math
import os
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.display import as_call, as_table, excitation_card, plotted
from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.identification.excitation.basis import Basis, Fourier, Splines
from dynamis.identification.excitation.log_information import ExpectedErrors
from dynamis.identification.samples import Samples
from dynamis.robot import Robot
from dynamis.trajectories.motion import Motion, State
from dynamis.trajectories.validate import positive

Array = npt.NDArray[Any]
PEAK_POINTS = 4001  # times at which peak values are computed


@dataclass(frozen=True, repr=False)
class Use:
    """Range of one quantity of a joint, a frame or a constraint. Bounds include the margin; ``limit`` does not.

    ``share`` is the fraction of the limit that is used; None without a reference for 100 %. ``assumed`` marks bounds that
    neither the robot nor the caller gave.
    """

    kind: str
    name: str
    lowest: float
    highest: float
    lower: float
    upper: float
    share: float | None
    limit: float | None = None
    assumed: bool = False

    __repr__ = as_call
    _repr_html_ = as_table


@dataclass(frozen=True, eq=False, repr=False)
class Excitation:
    """An excitation trajectory q(t) = q₀ + Φ(t) c, within its limits at every time.

    ``condition`` is the condition number of its regressor with normalized columns; ``condition_before`` that of the best random
    motion the search started from. ``history`` is the criterion (exponentiated if logarithmic) at each iteration. ``uses`` is
    the range of the motion for every limit. ``robot`` may be None after `load`; then torques are not available. ``expected``
    are the standard errors of a motion designed after logs; they are not written to files.
    """

    basis: Basis
    q0: Array
    coefficients: Array
    joint_names: tuple[str, ...]
    criterion: str
    condition: float
    condition_before: float
    parameters: int
    uses: tuple[Use, ...] = ()
    history: tuple[float, ...] = ()
    margin: float = 0.0
    seed: int = 0
    status: str = ""
    robot_name: str = ""
    robot: Robot | None = None
    expected: ExpectedErrors | None = None

    @property
    def duration(self) -> float:
        return self.basis.duration

    @property
    def kind(self) -> str:
        """ "fourier" or "spline"."""
        return self.basis.kind

    @property
    def start(self) -> Array:
        """The start configuration."""
        return np.asarray(self.q0 + (self.basis.derivative([0.0]) @ self.coefficients)[0])

    @cached_property
    def motion(self) -> Motion:
        """The motion, for controllers and `dynamis.simulate`."""
        return self.basis.motion(self.q0, self.coefficients, self.status)

    def at(self, t: Any) -> State:
        """Return (q, v, a) at one or many times; at rest before the start and after the end."""
        return self.motion.at(t)

    def sample(self, rate: float = 1000.0, *, repeats: int = 1) -> tuple[Array, Array, Array, Array]:
        """Return (t, q, v, a) sampled at ``rate`` Hz from start to end, repeated ``repeats`` times."""
        rate = positive(rate, "rate")
        if not isinstance(repeats, int | np.integer) or repeats < 1:
            raise InputError(f"repeats must be an integer above zero, got {repeats!r}")
        if repeats > 1 and np.abs(np.subtract(*self.at(np.array([0.0, self.duration]))[0])).max() > 1e-9:
            raise InputError("this motion does not end at its start configuration: it cannot be repeated")
        count = int(np.ceil(self.duration * repeats * rate - 1e-9))
        t = np.arange(count + 1) / rate
        turn = np.minimum(np.floor(t / self.duration), repeats - 1)
        return (t, *self.at(t - turn * self.duration))

    def samples(self, rate: float = 1000.0, *, repeats: int = 1) -> Samples:
        """Return samples with the torques of the prior robot model."""
        t, q, v, a = self.sample(rate, repeats=repeats)
        tau = self._believed("torques").inverse_dynamics(q, v, a)
        return Samples.of(q, v, a, tau, t=t, period=1.0 / rate, source=f"excitation of {self.robot_name}")

    def _believed(self, what: str) -> Robot:
        if self.robot is None:
            raise InputError(f"{what} need the robot: Excitation.load(path, robot=dynamis.load({self.robot_name!r}))")
        return self.robot

    @cached_property
    def peaks(self) -> dict[str, Array]:
        """Return {"velocity": (n,), "acceleration": (n,)}: the largest magnitudes over the motion, on a fine grid."""
        _, v, a = self.at(np.linspace(0.0, self.duration, PEAK_POINTS))
        return {"velocity": np.abs(v).max(axis=0), "acceleration": np.abs(a).max(axis=0)}

    @cached_property
    def used(self) -> dict[str, dict[str, float]]:
        """Return {kind: {name: percent}} of the limits with a reference for 100 %."""
        table: dict[str, dict[str, float]] = {}
        for use in self.uses:
            if use.share is not None:
                table.setdefault(use.kind, {})[use.name] = 100.0 * use.share
        return table

    def write(self, path: str | os.PathLike[str], *, rate: float = 1000.0, repeats: int = 1) -> Path:
        """Write .csv or .npz with t, q, v, a at a rate, or .json or .toml with the coefficients (.npz contains both)."""
        check_name(path)
        target = path_of(path)
        match target.suffix:
            case ".csv":
                data = _csv(self, rate, repeats)
            case ".npz":
                t, q, v, a = self.sample(rate, repeats=repeats)
                file, note = io.BytesIO(), np.array(json.dumps(self.as_dict(), ensure_ascii=False))
                np.savez_compressed(file, t=t, q=q, v=v, a=a, note=note)
                data = file.getvalue()
            case ".json":
                data = (json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()
            case _:
                data = _toml(self.as_dict()).encode()
        return write_file(target, data)

    @staticmethod
    def load(path: str | os.PathLike[str], robot: Robot | None = None) -> Excitation:
        """Read a .json, .toml or .npz file written by `write`."""
        return read(path, robot)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Plot positions, velocities and torques relative to their limits, and the convergence of the criterion."""
        return plotted("excitation", self, path)

    def as_dict(self) -> dict[str, Any]:
        """Return everything except the robot and the expected errors as plain values."""
        uses = [{key: _plain(x) for key, x in vars(use).items()} for use in self.uses]
        return {
            "format": "dynamis excitation 1", "robot": self.robot_name, "joints": list(self.joint_names),
            "criterion": self.criterion, "condition": _plain(self.condition),
            "condition_before": _plain(self.condition_before), "parameters": self.parameters, "margin": self.margin,
            "seed": self.seed, "status": self.status, "basis": self.basis.as_dict(), "q0": self.q0.tolist(),
            "coefficients": self.coefficients.tolist(), "history": [_plain(x) for x in self.history], "uses": uses,
        }  # fmt: skip

    def __repr__(self) -> str:
        what = f"{self.kind}, {self.duration:g} s, condition number {self.condition:.4g}"
        return f"<Excitation of {printable(self.robot_name)}: {what}; {self.status}>"

    def _repr_html_(self) -> str:
        return excitation_card(self)


def _plain(x: Any) -> Any:
    """Return None for numbers that JSON cannot represent."""
    return None if isinstance(x, float) and not np.isfinite(x) else x


FORMAT = "dynamis excitation 1"
MOST_BYTES = 1 << 28
SUFFIXES = (".csv", ".npz", ".json", ".toml")


def check_name(path: str | os.PathLike[str]) -> None:
    """Reject a file name with an unsupported suffix."""
    if Path(path).suffix not in SUFFIXES:
        name = printable(Path(path).name)
        raise InputError(f"{name}: the file name must end in .csv or .npz (samples), .json or .toml (coefficients)")


def read(path: str | os.PathLike[str], robot: Robot | None) -> Excitation:
    """Read coefficients and rebuild the motion."""
    source = path_of(path)
    where = printable(str(source), 400)
    if source.suffix == ".csv":
        raise InputError(f"{where} contains samples only: load the .json, .toml or .npz file of the motion")
    if source.suffix not in (".json", ".toml", ".npz"):
        raise InputError(f"{where}: an excitation must be a .json, .toml or .npz file")
    try:
        if source.stat().st_size > MOST_BYTES:
            raise InputError(f"{where} is too large for an excitation")
        found = _document(source)
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError) as error:
        raise InputError(f"{where} is not an excitation: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{where} is not an excitation: its format is not {FORMAT!r}")
    try:
        made = _excitation(found, robot)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} is corrupt: {type(error).__name__} {error}") from None
    if robot is not None and robot.coordinate_names != made.joint_names:
        raise InputError(f"{where} has the joints {', '.join(made.joint_names)}, not those of robot {printable(robot.name)}")
    return made


def _document(source: Path) -> Any:
    if source.suffix == ".npz":
        with np.load(source, allow_pickle=False) as archive:
            return json.loads(str(archive["note"]))
    text = source.read_text(encoding="utf-8")
    return json.loads(text) if source.suffix == ".json" else tomllib.loads(text)


def _excitation(found: dict[str, Any], robot: Robot | None) -> Excitation:
    facts = dict(found["basis"])
    basis = {"fourier": Fourier, "spline": Splines}[facts.pop("kind")](**facts)
    q0, c = np.array(found["q0"], float), np.array(found["coefficients"], float)
    names = tuple(map(str, found["joints"]))
    if q0.shape != (len(names),) or c.shape != (basis.size, len(names)) or not (np.isfinite(q0).all() and np.isfinite(c).all()):
        raise ValueError(f"expected {len(names)} × {basis.size} finite coefficients (joints × functions)")
    uses = tuple(
        Use(**{**use, "lower": _number(use.get("lower"), -math.inf), "upper": _number(use.get("upper"), math.inf)})
        for use in ({"share": None, **use} for use in found.get("uses", ()))
    )
    return Excitation(
        basis, q0, c, names, str(found["criterion"]), _number(found.get("condition"), math.inf),
        _number(found.get("condition_before"), math.inf), int(found["parameters"]), uses,
        tuple(_number(x, math.inf) for x in found.get("history", ())), float(found["margin"]), int(found["seed"]),
        str(found["status"]), str(found["robot"]), robot,
    )  # fmt: skip


def _number(x: Any, missing: float) -> float:
    return missing if x is None else float(x)


def _csv(excitation: Excitation, rate: float, repeats: int) -> bytes:
    t, *state = excitation.sample(rate, repeats=repeats)
    names = ["t", *(f"{letter}.{name}" for letter in "qva" for name in excitation.joint_names)]
    quoted = [f'"{name.replace(chr(34), chr(34) * 2)}"' if set(name) & set(',"\r\n') else name for name in names]
    text = io.StringIO()
    text.write(",".join(quoted) + "\n")
    np.savetxt(text, np.column_stack([t, *state]), fmt="%.12g", delimiter=",")
    return text.getvalue().encode()


def _toml(facts: dict[str, Any]) -> str:
    """Return scalar values first, then tables; None is omitted."""
    plain = [f"{key} = {_value(x)}" for key, x in facts.items() if x is not None and key not in ("basis", "uses")]
    lines = [*plain, "", "[basis]", *(f"{key} = {_value(x)}" for key, x in facts["basis"].items())]
    for use in facts["uses"]:
        lines += ["", "[[uses]]", *(f"{key} = {_value(x)}" for key, x in use.items() if x is not None)]
    return "\n".join(lines) + "\n"


def _value(x: Any) -> str:
    if isinstance(x, list):
        return "[" + ", ".join(_value(e) for e in x if e is not None) + "]"
    return json.dumps(x, ensure_ascii=False) if isinstance(x, str | bool) else repr(x)
