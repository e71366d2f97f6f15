"""Pinocchio: its C++ batch calls; for the mass matrix it has none, so a Python loop."""

from __future__ import annotations

import functools
import importlib
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.offers import NotOfferedError, Offer
from benchmarks.subjects import States, Subject

Array = npt.NDArray[Any]

SHARE_OF_MEMORY = 0.4  # the most its work space may take


class Model:
    """The robot in Pinocchio, with the places of our coordinates in its vectors (it orders siblings by name)."""

    def __init__(self, subject: Subject) -> None:
        self.pin: Any = importlib.import_module("pinocchio")
        root = (self.pin.JointModelFreeFlyer(),) if subject.floating else ()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(subject.urdf, encoding="utf-8")
            self.model: Any = self.pin.buildModelFromUrdf(str(path), *root)
        _require_memory(self.model.nv)
        names = [*(["root_joint"] if subject.floating else []), *subject.actuated]
        joints = [self.model.joints[self.model.getJointId(name)] for name in names]
        self.q = np.concatenate([np.arange(j.idx_q, j.idx_q + j.nq) for j in joints])
        self.v = np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for j in joints])
        self._pools: dict[int, Any] = {}
        self.model.gravity.linear = np.asarray(subject.description.gravity, dtype=float)

    @functools.cached_property
    def data(self) -> Any:
        return self.model.createData()

    def pool(self, threads: int) -> Any:
        if threads not in self._pools:
            self._pools[threads] = self.pin.ModelPool(self.model, threads)
        return self._pools[threads]

    def columns(self, rows: Array, places: Array) -> Array:
        """Our rows as its columns, each state contiguous."""
        result = np.empty((rows.shape[1], len(rows)), order="F")
        result[places] = rows.T
        return result


def _require_memory(n: int) -> None:
    """Its work space holds four n × n × n tensors, whether they are used or not, and is copied once while it is made."""
    needed, there = 2 * 4 * 8 * n**3, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > SHARE_OF_MEMORY * there:
        raise NotOfferedError(f"its work space would take {needed / 1e9:.0f} GB")


def batch_call(model: Model, function: str, states: States, threads: int = 1) -> Offer:
    """rneaInParallel or abaInParallel."""
    batch = model.pin.rneaInParallel if function == "inverse_dynamics" else model.pin.abaInParallel
    given = _columns(model, function, states)
    out = np.zeros(given[1].shape, order="F")
    run = functools.partial(batch, threads, model.pool(threads), *given, out)
    return Offer(run, lambda: out.T[:, model.v], len(states), "C++ batch call")


def single_call(model: Model, function: str, states: States) -> Callable[[], object]:
    """rnea or aba at the first state."""
    single = model.pin.rnea if function == "inverse_dynamics" else model.pin.aba
    return functools.partial(single, model.model, model.data, *(x[:, 0].copy() for x in _columns(model, function, states)))


def manifold_call(model: Model, function: str, states: States) -> Callable[[], object]:
    """integrate or difference at the first state."""
    q = np.ascontiguousarray(model.columns(states.q, model.q).T)
    second = np.ascontiguousarray(model.columns(states.v, model.v)[:, 0]) if function == "integrate" else q[-1].copy()
    return functools.partial(getattr(model.pin, function), model.model, q[0].copy(), second)


def _columns(model: Model, function: str, states: States) -> tuple[Array, Array, Array]:
    last = states.a if function == "inverse_dynamics" else states.tau
    return model.columns(states.q, model.q), model.columns(states.v, model.v), model.columns(last, model.v)


def mass_matrix(model: Model, states: States) -> Offer:
    """crba state by state; the matrices are left where Pinocchio puts them, one over the other."""
    crba, data = model.pin.crba, model.data
    rows = list(np.ascontiguousarray(model.columns(states.q, model.q).T))

    def run() -> None:
        for row in rows:
            crba(model.model, data, row)

    def results() -> Array:
        upper = np.array([np.triu(crba(model.model, data, row)) for row in rows])
        full = upper + np.triu(upper, 1).transpose(0, 2, 1)
        return full[:, model.v[:, None], model.v[None, :]]

    return Offer(run, results, len(states), "Python loop over crba", functools.partial(crba, model.model, data, rows[0]))


def offers(subject: Subject, states: States) -> Mapping[str, Callable[[], Offer]]:
    model = Model(subject)

    def both(function: str) -> Offer:
        return replace(batch_call(model, function, states), single=single_call(model, function, states))

    return {
        "inverse_dynamics": lambda: both("inverse_dynamics"),
        "forward_dynamics": lambda: both("forward_dynamics"),
        "mass_matrix": lambda: mass_matrix(model, states),
    }
