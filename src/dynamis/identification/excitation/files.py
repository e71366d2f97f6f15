"""Files of excitation trajectories: tables for controllers, coefficients for loading. Files are written atomically."""

from __future__ import annotations

import io
import json
import math
import os
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.errors import InputError, printable
from dynamis.files.atomic_write import write_file
from dynamis.identification.excitation.basis import Basis
from dynamis.identification.excitation.excitation import Excitation, Use
from dynamis.identification.excitation.fourier import Fourier
from dynamis.identification.excitation.splines import Splines
from dynamis.robot import Robot

FORMAT = "dynamis excitation 1"
MOST_BYTES = 1 << 28
SUFFIXES = (".csv", ".npz", ".json", ".toml")


def check_name(path: str | os.PathLike[str]) -> None:
    """Reject a file name with an unsupported suffix."""
    if Path(path).suffix not in SUFFIXES:
        name = printable(Path(path).name)
        raise InputError(f"{name}: the file name must end in .csv or .npz (samples), .json or .toml (coefficients)")


def write(excitation: Excitation, path: str | os.PathLike[str], rate: float, repeats: int) -> Path:
    """Write in the format given by the suffix."""
    check_name(path)
    target = Path(path)
    match target.suffix:
        case ".csv":
            data = _csv(excitation, rate, repeats)
        case ".npz":
            t, q, v, a = excitation.sample(rate, repeats=repeats)
            file = io.BytesIO()
            np.savez_compressed(file, t=t, q=q, v=v, a=a, note=np.array(json.dumps(excitation.as_dict(), ensure_ascii=False)))
            data = file.getvalue()
        case ".json":
            data = (json.dumps(excitation.as_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()
        case _:
            data = _toml(excitation.as_dict()).encode()
    return write_file(target, data)


def read(path: str | os.PathLike[str], robot: Robot | None) -> Excitation:
    """Read coefficients and rebuild the motion."""
    source = Path(path)
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
    basis = _basis(dict(found["basis"]))
    q0, c = np.array(found["q0"], float), np.array(found["coefficients"], float)
    names = tuple(map(str, found["joints"]))
    if q0.shape != (len(names),) or c.shape != (basis.size, len(names)) or not (np.isfinite(q0).all() and np.isfinite(c).all()):
        raise ValueError(f"expected {len(names)} × {basis.size} finite coefficients (joints × functions)")
    uses = tuple(_use(dict(use)) for use in found.get("uses", ()))
    return Excitation(
        basis, q0, c, names, str(found["criterion"]), _number(found.get("condition"), math.inf),
        _number(found.get("condition_before"), math.inf), int(found["parameters"]), uses,
        tuple(_number(x, math.inf) for x in found.get("history", ())), float(found["margin"]), int(found["seed"]),
        str(found["status"]), str(found["robot"]), robot,
    )  # fmt: skip


def _basis(facts: dict[str, Any]) -> Basis:
    kind = facts.pop("kind")
    makers: dict[str, Any] = {"fourier": Fourier, "spline": Splines}
    made: Basis = makers[kind](**facts)
    return made


def _use(facts: dict[str, Any]) -> Use:
    return Use(
        str(facts["kind"]), str(facts["name"]), float(facts["lowest"]), float(facts["highest"]),
        _number(facts.get("lower"), -math.inf), _number(facts.get("upper"), math.inf), facts.get("share"), facts.get("limit"),
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
