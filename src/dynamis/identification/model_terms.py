"""Choice of friction terms, offsets and coupled motors for a log, by their prediction of held-out blocks of time.

Terms are added one kind at a time, the best first, as long as the held-out residual of weighted least squares falls clearly.
The normal equations of all candidate columns are formed once, by block and joint; a trial solves a part of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.identification.base_parameters import BaseParameters
from dynamis.identification.equations import Equations, equations, filter_of
from dynamis.identification.linear_model import LinearModel, Past
from dynamis.identification.samples import Samples
from dynamis.identification.validation.held_out import clear_of

Array = npt.NDArray[Any]
FALLS = 0.97  # ratio of the held-out residual with and without a kind of term that is added
NOTHING_LEFT = 1.0  # percent of the torque: a residual that needs no further terms
BLOCKS, FOLDS = 20, 5
SMOOTH = (0.02, 0.05, 0.1)  # rad/s, widths of tanh(v / width)
STRIBECK = 0.1  # rad/s
PRESLIDING = 0.01  # rad


@dataclass(frozen=True)
class Candidate:
    """A kind of term: the words for the note, the columns it adds, and those it replaces."""

    words: str
    settings: dict[str, Any]
    columns: Array
    replaces: Array


def better_settings(base: BaseParameters, runs: Sequence[Samples], guard: float = 0.0) -> tuple[dict[str, Any], str]:
    """Return the arguments of `LinearModel` that improve the prediction of held-out motion, and a note; {} if none does.

    Rows within ``guard`` seconds of held-out ones are not fitted, since filters mix them.
    """
    rows = equations(base, runs)
    robot = base.model.robot
    if robot.nq != robot.n or len(rows) < 10 * base.rank or len(base.model.driven) != robot.n:
        return {}, ""
    sticking = LinearModel(robot, presliding=PRESLIDING)
    parts = [_columns(run, robot.n, Past(sticking).advance(run.q)) for run in runs]
    names = list(parts[0])
    extra = {name: np.concatenate([part[name] for part in parts]) for name in names}
    Z = np.hstack([rows.X, *extra.values()])
    ends = np.cumsum([base.rank, *(x.shape[1] for x in extra.values())])
    at = {name: np.arange(first, last) for name, first, last in zip(names, ends[:-1], ends[1:], strict=True)}
    dry = np.array([k for k, name in enumerate(base.names) if name.endswith(".coulomb")], int)
    trials = _Trials(rows, Z, base.rank, guard)
    chosen, settings, words = np.arange(base.rank), dict[str, Any](), list[str]()
    before = trials.residual(chosen)
    now, left = before, _candidates(base, at, dry)
    while left and now > NOTHING_LEFT:
        results = [(trials.residual(_with(chosen, c)), k) for k, c in enumerate(left)]
        best, k = min(results)
        if best > FALLS * now:
            break
        c = left.pop(k)
        chosen, now = _with(chosen, c), best
        settings = _merged(settings, c.settings)
        words.append(c.words)
        left = [x for x in left if not (set(x.settings) & set(c.settings) & {"smooth", "offset"})]
    if not settings:
        return {}, ""
    note = f"terms added to the model because they predict held-out motion better: {', '.join(words)}"
    return settings, f"{note} (residual {now:.3g} % instead of {before:.3g} %)"


def _merged(settings: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return both settings; friction terms and couplings are added."""
    merged = settings | new
    for key in ("friction", "couplings"):
        if key in settings and key in new:
            merged[key] = tuple(dict.fromkeys((*settings[key], *new[key])))
    return merged


def _candidates(base: BaseParameters, at: dict[str, Array], dry: Array) -> list[Candidate]:
    names, none = base.model.robot.coordinate_names, np.array([], int)
    usual = base.model.friction
    found = [
        Candidate("offsets", {"offset": True}, at["offset"], none),
        Candidate(f"presliding over {PRESLIDING:g} rad", {"presliding": PRESLIDING}, at["presliding"], none),
    ]
    found += [Candidate(f"tanh(v / {speed:g}) for sign v", {"smooth": speed}, at[f"smooth {speed:g}"], dry) for speed in SMOOTH]
    for term in ("stribeck", "quadratic", "power"):
        settings: dict[str, Any] = {"friction": (*usual, term)}
        if term == "stribeck":
            settings["stribeck_speed"] = STRIBECK
        found.append(Candidate(f"{term} friction", settings, at[term], none))
    for k in range(len(names) - 1):
        pair = (names[k], names[k + 1])
        found.append(Candidate(f"coupling of {pair[0]} and {pair[1]}", {"couplings": (pair,)}, at[f"coupling {k}"], none))
    return found


def _with(chosen: Array, c: Candidate) -> Array:
    return np.union1d(np.setdiff1d(chosen, c.replaces), c.columns)


def _columns(run: Samples, n: int, past: Array) -> dict[str, Array]:
    """Return the columns (rows, k) of each kind of term, filtered like the equations of a run; ``past`` for presliding."""
    v, a, s = run.v, run.a, np.sign(run.v)
    diagonal = {
        "offset": np.ones_like(v),
        **{f"smooth {speed:g}": np.tanh(v / speed) for speed in SMOOTH},
        "stribeck": s * np.exp(-((v / STRIBECK) ** 2)),
        "quadratic": v * np.abs(v),
        "power": s * np.sqrt(np.abs(v)),
        "presliding": past,
    }
    keep = filter_of(run)
    used = run.use[keep.centres(len(run))].reshape(-1)
    found = {}
    for name, x in diagonal.items():
        y = keep.of(x)
        found[name] = (y[:, :, None] * np.eye(n)).reshape(-1, n)[used]
    for k in range(n - 1):
        both = np.sign(v[:, k] + v[:, k + 1])
        block = np.zeros((len(v), n, 3))
        block[:, k] = np.stack([a[:, k + 1], v[:, k + 1], both], axis=1)
        block[:, k + 1] = np.stack([a[:, k], v[:, k], both], axis=1)
        found[f"coupling {k}"] = keep.of(block.reshape(len(v), -1)).reshape(-1, 3)[used]
    return found


class _Trials:
    """Residuals on held-out blocks from normal equations by fold and joint."""

    def __init__(self, rows: Equations, Z: Array, rank: int, guard: float) -> None:
        seconds = sum(float(np.ptp(rows.t[rows.run == run])) for run in np.unique(rows.run)) / BLOCKS
        fold = rows.blocks(max(seconds, 1e-9)) % FOLDS
        n = len(rows.joints)
        self.scale = np.linalg.norm(Z, axis=0)
        self.scale[self.scale == 0.0] = 1.0
        W = Z / self.scale
        masks = [[(fold == f) & (rows.joint == j) for j in range(n)] for f in range(FOLDS)]
        self.G = np.array([[W[m].T @ W[m] for m in row] for row in masks])
        self.b = np.array([[W[m].T @ rows.y[m] for m in row] for row in masks])
        self.yy = np.array([[rows.y[m] @ rows.y[m] for m in row] for row in masks])
        clear = [clear_of(rows.t, fold == f, guard, run=rows.run) for f in range(FOLDS)]
        near = [[~keep & (fold != f) & (rows.joint == j) for j in range(n)] for f, keep in enumerate(clear)]
        self.near_G = np.array([[W[m].T @ W[m] for m in row] for row in near])
        self.near_b = np.array([[W[m].T @ rows.y[m] for m in row] for row in near])
        count = np.array([[m.sum() for m in row] for row in masks])
        # weights of the joints from the residuals of the first model
        weight = np.ones(n)
        chosen = np.arange(rank)
        for _ in range(2):
            beta = self._solved(self.G.sum(0), self.b.sum(0), weight, chosen)
            left = self._left(self.G.sum(0), self.b.sum(0), self.yy.sum(0), beta, chosen)
            weight = count.sum(0) / np.maximum(left, 1e-12 * self.yy.sum() + 1e-300)
        self.weight = weight

    def residual(self, chosen: Array) -> float:
        """Return the residual on held-out blocks in percent of the torque."""
        total = 0.0
        for f in range(FOLDS):
            G, b = self.G.sum(0) - self.G[f] - self.near_G[f], self.b.sum(0) - self.b[f] - self.near_b[f]
            beta = self._solved(G, b, self.weight, chosen)
            total += float(self._left(self.G[f], self.b[f], self.yy[f], beta, chosen).sum())
        return 100.0 * float(np.sqrt(max(total, 0.0) / max(float(self.yy.sum()), 1e-300)))

    @staticmethod
    def _solved(G: Array, b: Array, weight: Array, chosen: Array) -> Array:
        A = np.einsum("j,jkl->kl", weight, G[:, chosen][:, :, chosen])
        scale = np.sqrt(np.maximum(np.diag(A), 1e-300))
        solution = np.linalg.pinv(A / np.outer(scale, scale), rcond=1e-9, hermitian=True) @ ((weight @ b[:, chosen]) / scale)
        return np.asarray(solution / scale)

    @staticmethod
    def _left(G: Array, b: Array, yy: Array, beta: Array, chosen: Array) -> Array:
        """Return the sums (n,) of the squared residuals of each joint."""
        quadratic = np.einsum("k,jkl,l->j", beta, G[:, chosen][:, :, chosen], beta)
        return np.asarray(np.maximum(yy - 2.0 * b[:, chosen] @ beta + quadratic, 0.0))
