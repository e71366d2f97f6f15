"""Choice of friction terms, offsets and coupled motors for a log, by their prediction of held-out blocks of time.

Terms are added one kind at a time, the best first, as long as the held-out residual of weighted least squares falls clearly.
The normal equations of all candidate columns are formed once, by block and joint; a trial solves a part of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.errors import InputError
from dynamis.identification.base_parameters import BaseParameters, base_parameters
from dynamis.identification.equations import Equations, Regressor, equations
from dynamis.identification.estimators.factors import normal_solution
from dynamis.identification.friction_terms import TEMPERATURE
from dynamis.identification.linear_model import LinearModel
from dynamis.identification.load_rotors import rotors_of_file, without_rotors
from dynamis.identification.logs.free_fit import FreeFit
from dynamis.identification.logs.log import LogFinding
from dynamis.identification.logs.motion_summary import summary
from dynamis.identification.samples import Samples
from dynamis.identification.validation.describe import readable
from dynamis.identification.validation.held_out import Folds

Array = npt.NDArray[Any]
FALLS = 0.97  # ratio of the held-out residual with and without a kind of term that is added
COUPLED = 0.8  # the same of the two joints of a coupled motor: other terms lower or raise it by up to a tenth, as blocks lie
AS_WELL = 1.01  # ratio of held-out residuals that are equal
NOTHING_LEFT = 1.0  # percent of the torque: a residual that needs no further terms
FOLDS = 5
SMOOTH = (0.02, 0.05, 0.1)  # rad/s, widths of tanh(v / width)
STRIBECK = 0.1  # rad/s
WARMING = 2.0  # K: change of a joint's temperature in a log from which its friction may depend on it
PRESLIDING = 0.01  # rad


@dataclass(frozen=True)
class Candidate:
    """A kind of term: the words for the note, the columns it adds, and those it replaces."""

    words: str
    settings: dict[str, Any]
    columns: Array
    replaces: Array
    pair: tuple[int, ...] = ()  # the joints of a coupled motor

    def plausible(self, before: Array, after: Array) -> bool:
        """Return whether squared residuals (joints,) fall as they do if the term is real: those of coupled joints clearly."""
        own = list(self.pair)
        return not own or bool(after[own].sum() <= COUPLED**2 * before[own].sum())

    @property
    def loaded(self) -> bool:
        """Whether it is friction that depends on the load."""
        return any(term.endswith("load") for term in self.settings.get("friction", ()))


def better_settings(rows: Equations, guard: float = 0.0) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return the arguments of `LinearModel` that improve the prediction of held-out motion, those without friction that depends
    on the load, and a note; {} if none does.

    Rows within ``guard`` seconds of held-out ones are not fitted, since filters mix them.
    """
    assert isinstance(rows.source, Regressor)
    base = rows.source.base
    robot = base.model.robot
    if robot.nq != robot.n or len(rows) < 10 * base.rank or len(base.model.driven) != robot.n:
        return {}, {}, ""
    terms = _Terms(with_estimated_links(base, rows.source.runs), _reference_temperature(rows.source.runs))
    dry = np.array([k for k, name in enumerate(base.names) if name.endswith(".coulomb")], int)
    try:
        trials = _Trials(rows, terms, base.rank, guard)
    except InputError:  # too short to hold out blocks beyond the reach of the filter
        return {}, {}, ""
    candidates = _candidates(base, terms, dry)
    settings, words, residuals = _added(trials, base.rank, candidates)
    if not settings:
        rows.share(trials.rows)
        return {}, {}, ""
    note = f"terms added to the model because they predict held-out motion better: {', '.join(words)}"
    note += f" (residual {residuals[1]:.3g} % instead of {residuals[0]:.3g} %)"
    unloaded, _, _ = _added(trials, base.rank, [c for c in candidates if not c.loaded])
    return settings, unloaded, note


def _added(
    trials: _Trials, rank: int, candidates: Sequence[Candidate]
) -> tuple[dict[str, Any], list[str], tuple[float, float]]:
    """Return the settings and the words of the candidates that are added, and the residuals [%] before and after."""
    chosen, settings, words = np.arange(rank), dict[str, Any](), list[str]()
    squares = trials.squares(chosen)
    before = trials.percent(squares)
    now, left = before, list(candidates)
    while left and now > NOTHING_LEFT:
        after = [trials.squares(_with(chosen, c)) for c in left]
        results = [trials.percent(x) if c.plausible(squares, x) else np.inf for c, x in zip(left, after, strict=True)]
        if min(results) > FALLS * now:
            break
        # the fewest columns of those that predict as well
        equal = [k for k, x in enumerate(results) if x <= AS_WELL * min(results)]
        k = min(equal, key=lambda k: (len(left[k].columns), results[k]))
        c, now, squares = left.pop(k), results[k], after[k]
        chosen = _with(chosen, c)
        for key, value in c.settings.items():  # friction terms and couplings are added to those before
            adds = key in ("friction", "couplings")
            settings[key] = tuple(dict.fromkeys((*settings.get(key, ()), *value))) if adds else value
        words.append(c.words)
        left = [x for x in left if not (set(x.settings) & set(c.settings) & {"smooth", "offset"})]
    return settings, words, (before, now)


def with_estimated_links(base: BaseParameters, runs: Sequence[Samples], repeated: int = 1) -> BaseParameters:
    """Return the base parameters with the load of friction from links fitted to the runs: those of the file may be wrong."""
    motion, _ = summary(runs)
    own = base.model.is_inertial[base.independent]
    links, rotors = np.zeros(len(base.model.link_parameters)), rotors_of_file(base)
    for _ in range(repeated):
        links[base.independent[own]] = FreeFit(base).parameters(motion)[own]
        base = replace(base, model=base.model.with_links(links, rotors))
    return base


def with_balancers(base: BaseParameters, caps: list[LogFinding], notes: list[str]) -> tuple[BaseParameters, list[LogFinding]]:
    """Return the base parameters with the balancers that were found, which are noted, and the other findings."""
    found = [finding for finding in caps if finding.balanced]
    if not found:
        return base, caps
    notes += [f"{finding.text}; it is identified, too" for finding in found]
    harmonics = sorted({pair for finding in found for pair in finding.balanced})  # of several logs the larger number
    model = LinearModel(base.model.robot, balancer=dict(harmonics))
    return base_parameters(model), [finding for finding in caps if not finding.balanced]


def with_terms(
    base: BaseParameters, runs: Sequence[Samples], notes: list[str], reach: float, *, given: bool
) -> tuple[Equations, Equations | None, Array | None]:
    """Return the equations of runs, with the terms that predict held-out motion better unless the model is ``given``; those
    without friction that depends on the load, if there is any, for mistakes of positions, which change the load; and the
    covariance of the parameters due to that of the load. ``reach`` is half the duration of the filter of the equations [s]."""
    model, rows = base.model, equations(base, runs)
    plain: dict[str, Any] = dict(model.settings)
    if base.model.is_loaded:
        terms = (plain["friction"],) if isinstance(plain["friction"], str) else plain["friction"]
        plain["friction"] = [term for term in terms if not term.endswith("load")]
    if not given:
        settings, other, note = better_settings(rows, reach)
        if settings:
            plain = {"balancer": model.settings["balancer"], **other}
            notes.append(note)
            # which terms have an effect is judged by the load of the log, as the file may lack masses
            links = with_estimated_links(base, runs).model
            settings["balancer"] = plain["balancer"]
            wider = LinearModel(model.robot, **settings)
            base = base_parameters(wider.with_links(links.link_parameters, links.load_rotors))
            rows = equations(base, runs)
    if not base.model.is_loaded:
        return rows, None, None
    base, unsure = without_rotors(with_estimated_links(base, runs, repeated=2), runs)
    return equations(base, runs), equations(base_parameters(LinearModel(model.robot, **plain)), runs), unsure


def _candidates(base: BaseParameters, terms: _Terms, dry: Array) -> list[Candidate]:
    names, none, at = base.model.robot.coordinate_names, np.array([], int), terms.at
    usual = base.model.friction
    found = [
        Candidate("offsets", {"offset": True}, at["offset"], none),
        Candidate(f"presliding over {PRESLIDING:g} rad", {"presliding": PRESLIDING}, at["presliding"], none),
    ]
    found += [Candidate(f"tanh(v / {speed:g}) for sign v", {"smooth": speed}, at[f"smooth {speed:g}"], dry) for speed in SMOOTH]
    for term in ("stribeck", "quadratic", "power", "load"):
        settings: dict[str, Any] = {"friction": (*usual, term)}
        if term == "stribeck":
            settings["stribeck_speed"] = STRIBECK
        kind = readable(term)
        found.append(Candidate(kind, settings, at[term], none))
        for k, name in enumerate(names):
            one = {**settings, "friction": (*usual, f"{name}.{term}")}
            found.append(Candidate(f"{kind} of {name}", one, at[term][[k]], none))
    if terms.reference is not None:
        for some in (TEMPERATURE, *((term,) for term in TEMPERATURE)):
            settings = {"friction": (*usual, *some), "reference_temperature": terms.reference}
            kind = " and ".join(readable(term) for term in some)
            kind += f" relative to {terms.reference:g} °C"
            found.append(Candidate(kind, settings, np.concatenate([at[term] for term in some]), none))
    for k in range(len(names) - 1):
        pair = (names[k], names[k + 1])
        words = f"coupling of {pair[0]} and {pair[1]}"
        found.append(Candidate(words, {"couplings": (pair,)}, at[f"coupling {k}"], none, (k, k + 1)))
    return found


def _with(chosen: Array, c: Candidate) -> Array:
    return np.union1d(np.setdiff1d(chosen, c.replaces), c.columns)


class _Terms:
    """The candidate terms of a robot with n joints, further columns of its `Regressor`: of diagonal terms, one for each joint,
    then three of each coupling. ``at`` are the indices of each kind among all columns, behind those of the base parameters;
    terms of temperature have a ``reference`` in °C."""

    def __init__(self, base: BaseParameters, reference: float | None) -> None:
        self.n, self.reference, robot = base.model.robot.n, reference, base.model.robot
        self.warming = () if reference is None else TEMPERATURE
        terms = LinearModel(robot, presliding=PRESLIDING, friction=("load", *self.warming), reference_temperature=reference)
        self.sample_states = terms.with_links(base.model.link_parameters, base.model.load_rotors).sample_states
        self.kinds = ("offset", *(f"smooth {speed:g}" for speed in SMOOTH), "stribeck", "quadratic", "power", "load")
        self.kinds += (*self.warming, "presliding")
        first, n = base.rank, self.n
        self.at = {kind: first + n * k + np.arange(n) for k, kind in enumerate(self.kinds)}
        first += n * len(self.kinds)
        self.at |= {f"coupling {k}": first + 3 * k + np.arange(3) for k in range(n - 1)}
        self.count = n * len(self.kinds) + 3 * (n - 1)

    def columns(self, part: Samples, states: Array) -> list[Array]:
        """Return the terms (N, k) of samples with these states: diagonal ones of all joints, then the signs of the velocities
        of pairs of joints, and the accelerations and velocities of all joints."""
        v, a = part.v, part.a
        s, size = np.sign(v), np.abs(v)
        z, *warmer, load = np.split(states, states.shape[1] // self.n, axis=1)
        terms = [np.ones_like(v), *(np.tanh(v / speed) for speed in SMOOTH), s * np.exp(-((v / STRIBECK) ** 2))]
        terms += [v * size, s * np.sqrt(size), s * np.abs(load)]
        terms += [x * dT for dT in warmer for x in (v, s)]
        return [*terms, z, np.sign(v[:, :-1] + v[:, 1:]), a, v]

    def of_joint(self, j: int, filtered: Array) -> tuple[Array, Array]:
        """Return the indices (c,) of the terms in a joint's torque, behind the base parameters, and their values (N, c)."""
        n, kinds = self.n, len(self.kinds)
        own, places = [filtered[:, k * n + j] for k in range(kinds)], [k * n + j for k in range(kinds)]
        signs, a, v = np.split(filtered[:, kinds * n :], [n - 1, 2 * n - 1], axis=1)
        for pair, other in ((j, j + 1), (j - 1, j - 1)):
            if 0 <= pair < n - 1:
                own += [a[:, other], v[:, other], signs[:, pair]]
                places += [kinds * n + 3 * pair + k for k in range(3)]
        return np.array(places), np.stack(own, axis=1)


def _reference_temperature(runs: Sequence[Samples]) -> float | None:
    """Return the mean temperature of all joints in °C, rounded, if the runs have temperatures and one of them changes."""
    known = [run.temperature for run in runs if run.temperature is not None]
    if len(known) < len(runs) or max(float(np.ptp(x, axis=0).max()) for x in known) < WARMING:
        return None
    return float(round(float(np.mean([x.mean() for x in known]))))


class _Trials:
    """Residuals on held-out blocks from normal equations by fold."""

    def __init__(self, rows: Equations, terms: _Terms, rank: int, guard: float) -> None:
        assert isinstance(rows.source, Regressor)
        names = (*rows.names, *(f"term {k}" for k in range(terms.count)))
        self.rows = replace(rows, names=names, source=replace(rows.source, more=terms))
        groups = Folds(self.rows, FOLDS, guard=guard).groups
        # [X, y]ᵀ [X, y] of the rows of each joint in each group
        grams = np.array([[F.T @ F for F in own] for own in groups.factors.R])
        # weights of the joints from the residuals of the first model
        weight, first = np.ones(len(rows.joints)), np.append(np.arange(rank), len(names))
        total = grams.sum(axis=0)[:, first][:, :, first]
        for _ in range(2):
            beta = np.append(normal_solution(np.tensordot(weight, total, 1)), -1.0)
            left = np.einsum("k,jkl,l->j", beta, total, beta)
            weight = groups.factors.counts.sum(axis=0) / np.maximum(left, 1e-12 * total[:, -1, -1].sum() + 1e-300)
        weighted = np.einsum("j,gjkl->gkl", weight, grams)
        self.fitted = [weighted[own].sum(axis=0) for own in groups.fitted]
        self.held = [grams[groups.fold == f].sum(axis=0) for f in range(FOLDS)]
        self.torque = max(float(sum(held[:, -1, -1].sum() for held in self.held)), 1e-300)

    def percent(self, squares: Array) -> float:
        """Return residuals with this sum of squares of each joint in percent of the torque."""
        return 100.0 * float(np.sqrt(squares.sum() / self.torque))

    def squares(self, chosen: Array) -> Array:
        """Return the sums of squared residuals (joints,) on held-out blocks."""
        rows, columns = np.ix_(*2 * [np.append(chosen, -1)])
        left = np.zeros(len(self.held[0]))
        for fitted, held in zip(self.fitted, self.held, strict=True):
            beta = np.append(normal_solution(fitted[rows, columns]), -1.0)
            left += np.maximum(np.einsum("k,jkl,l->j", beta, held[:, rows, columns], beta), 0.0)
        return left
