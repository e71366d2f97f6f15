"""What there is to reach, and what was reached: one figure each, from the sections measured."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.closed_forms.cases import CASES
from benchmarks.integrators import NOMINAL
from benchmarks.threads import BUSY

# one place each; the two small arms and the two humanoids share theirs
MEAN_OVER = (("ur5e",), ("panda",), ("xarm7",), ("kuka_iiwa14",), ("puma560", "stanford"), ("go2",), ("g1", "talos"))
DERIVATIVES = (
    ("∂τ", "inverse_dynamics_derivatives", {"ur5e": 18, "panda": 14, "xarm7": 10, "go2": 12, "g1": 8}),
    ("∂v̇", "forward_dynamics_derivatives", {"ur5e": 15, "panda": 12, "xarm7": 9, "go2": 10, "g1": 7}),
)
Sections = Mapping[str, Any]


@dataclass(frozen=True)
class Goal:
    what: str
    unit: str
    wanted: float
    at_least: bool
    figure: Callable[[Sections], float | None]

    def outcome(self, sections: Sections) -> dict[str, Any]:
        found = self.figure(sections)
        reached = None if found is None else found >= self.wanted if self.at_least else found <= self.wanted
        return {"what": self.what, "wanted": self.wanted, "unit": self.unit, "at_least": self.at_least, "found": found,
                "reached": reached}  # fmt: skip


def outcomes(sections: Sections) -> list[dict[str, Any]]:
    return [goal.outcome(sections) for goal in GOALS]


def missing(sections: Sections) -> list[str]:
    """The robots of ``MEAN_OVER`` that some section over robots does not have."""
    measured = [
        {row["robot"] for row in sections[name]["rows"]} for name in ("throughput", "latency", "threads") if name in sections
    ]
    return [name for names in MEAN_OVER for name in names if any(name not in robots for robots in measured)]


def disturbed(sections: Sections) -> int:
    """How many timings say less than they should, as the machine had something else to do."""
    return sum(len(row.get("disturbed", [])) for section in sections.values() for row in section["rows"])


def geometric_mean(values: Iterable[float]) -> float | None:
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


def mean_over_robots(rows: Iterable[dict[str, Any]], figure: Callable[[dict[str, Any]], float | None]) -> float | None:
    """The geometric mean over the places of ``MEAN_OVER`` of the geometric mean within each."""
    found: dict[str, list[float]] = {}
    for row in rows:
        value = figure(row)
        if value is not None:
            found.setdefault(row["robot"], []).append(value)
    places = [[value for name in names for value in found.get(name, [])] for names in MEAN_OVER]
    means = [geometric_mean(values) for values in places if values]
    return geometric_mean(mean for mean in means if mean is not None)


def _rows(sections: Sections, name: str, **wanted: Any) -> list[dict[str, Any]]:
    rows = sections.get(name, {}).get("rows", [])
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def _against_pinocchio(function: str) -> Callable[[Sections], float | None]:
    def figure(sections: Sections) -> float | None:
        rows = _rows(sections, "throughput", function=function)
        return mean_over_robots(rows, lambda row: row["rivals"].get("pinocchio", {}).get("ratio"))

    return figure


def _float32_gain(sections: Sections) -> float | None:
    return mean_over_robots(_rows(sections, "throughput"), lambda row: row["float32_gain"])


def _latency(*functions: str) -> Callable[[Sections], float | None]:
    """Of the robot's method, over all robots."""

    def figure(sections: Sections) -> float | None:
        rows = [row["us"] for function in functions for row in _rows(sections, "latency", function=function)]
        return geometric_mean(us["facade"] / us["pinocchio"] for us in rows if "pinocchio" in us)

    return figure


def _late_calls(sections: Sections) -> float | None:
    spread = sections.get("latency", {}).get("spread", [])
    return max((found["p999_us"] / found["median_us"] for found in spread), default=None)


def _over_ufunc(key: str) -> Callable[[Sections], float | None]:
    def figure(sections: Sections) -> float | None:
        return mean_over_robots(_rows(sections, "throughput"), lambda row: row["ours_ns"][key] / row["ours_ns"]["float64"])

    return figure


def _first_call(key: str, robot: str) -> Callable[[Sections], float | None]:
    """The slowest of the robot's functions."""
    return lambda sections: max((row[key] for row in _rows(sections, "first-call", robot=robot)), default=None)


def _long_chain(function: str) -> Callable[[Sections], float | None]:
    def figure(sections: Sections) -> float | None:
        rows = {row["links"]: row["ours_ns_per_link"] for row in _rows(sections, "growth", function=function)}
        return rows[1000] / rows[100] if {100, 1000} <= rows.keys() else None

    return figure


def _second_core(sections: Sections, gain: str = "gain") -> float | None:
    """Only where the machine had a second core to give at that time."""
    return mean_over_robots(_rows(sections, "threads"), lambda row: row[gain] if row["hashing_gain"] >= BUSY else None)


def _second_core_long(sections: Sections) -> float | None:
    return _second_core(sections, "long_gain")


def _derived(case: str) -> Callable[[Sections], float | None]:
    return lambda sections: next((row["seconds"] for row in _rows(sections, "closed-form", case=case)), None)


def _operations(case: str) -> Callable[[Sections], float | None]:
    rows = functools.partial(_rows, name="closed-form", case=case)
    return lambda sections: next((row.get("operations", {}).get("M") for row in rows(sections)), None)


def _rollouts(method: str) -> Callable[[Sections], float | None]:
    """The least over the arms: the goal is for each."""
    return lambda sections: min(
        (row["times_faster"] for row in _rows(sections, "rollouts", method=method) if row["times_faster"]), default=None
    )


def _contact(key: str, best: Callable[..., float | None]) -> Callable[[Sections], float | None]:
    """The worst over robots and functions: the goal is for each."""
    return lambda sections: best((row[key] for row in _rows(sections, "contact") if row[key]), default=None)


def _derivative(robot: str, function: str, key: str = "times_faster") -> Callable[[Sections], float | None]:
    def found(sections: Sections) -> float | None:
        named = (row for row in _rows(sections, "derivatives") if (row["robot"], row["function"]) == (robot, function))
        return next((row[key] for row in named), None)

    return found


def _ready(function: str) -> Callable[[Sections], float | None]:
    def found(sections: Sections) -> float | None:
        rows = sections.get("derivatives", {}).get("ready", ())
        return next((row["optimised"] for row in rows if row["function"] == function), None)

    return found


def _inverse_kinematics(how: str) -> Callable[[Sections], float | None]:
    """µs per target, the most over the arms."""
    return lambda sections: max((row["us"][how] for row in _rows(sections, "inverse-kinematics")), default=None)


def _optimizers(tool: str) -> Callable[[Sections], float | None]:
    def found(sections: Sections) -> float | None:
        rows = {row["library"]: row["ms"] for row in _rows(sections, "optimizers") if row["tool"].startswith(tool)}
        theirs = [ms for library, ms in rows.items() if library != "ours"]
        return theirs[0] / rows["ours"] if theirs and "ours" in rows else None

    return found


def _optimal_control(sections: Sections) -> float | None:
    return next((row["ms"] for row in _rows(sections, "optimal-control") if row["solver"] == "ours"), None)


def _task_space(sections: Sections) -> float | None:
    """The least over arms and functions: the goal is for each."""
    return min((row["times_faster"] for row in _rows(sections, "task-space") if row["times_faster"]), default=None)


def _long_log(key: str) -> Callable[[Sections], float | None]:
    """Of the usual way, where regressor and torque are low-passed alike."""
    return lambda sections: next((row[key] for row in _rows(sections, "identification") if "low-passed" in row["way"]), None)


def _puma(sections: Sections) -> float | None:
    falls = sections.get("rollouts", {}).get("puma", {})
    return max((fall["seconds"] for fall in falls.values()), default=None)


def _on_gpu(method: str) -> Callable[[Sections], float | None]:
    """The UR5e in single precision, as the rival computes."""
    rows = functools.partial(_rows, name="gpu", robot="ur5e", method=method, precision="float32")
    return lambda sections: next((row["times_mjx"] for row in rows(sections)), None)


def _drift(key: str) -> Callable[[Sections], float | None]:
    return lambda sections: max((row[key] for row in _rows(sections, "integrators") if key in row), default=None)


def _trend(sections: Sections) -> float | None:
    hours = sections.get("integrators", {}).get("hours", [])
    return max((abs(hour["slope"]) for hour in hours if hour["how"] == "swinging"), default=None)


def _orders(sections: Sections) -> float | None:
    found = sections.get("integrators", {}).get("orders", {})
    return max((abs(order - NOMINAL[method]) for method, order in found.items()), default=None)


GOALS = (
    Goal("One call, inverse dynamics, of Pinocchio's time", "×", 0.25, False, _latency("inverse_dynamics")),
    Goal("Its 99.9th percentile, of its median", "×", 2, False, _late_calls),
    Goal("One call, integrate and difference, of Pinocchio's time", "×", 0.3, False, _latency("integrate", "difference")),
    Goal("Inverse dynamics, batch, against Pinocchio", "×", 14, True, _against_pinocchio("inverse_dynamics")),
    Goal("Forward dynamics, batch, against Pinocchio", "×", 13, True, _against_pinocchio("forward_dynamics")),
    Goal("Mass matrix, batch, against Pinocchio in a loop", "×", 16, True, _against_pinocchio("mass_matrix")),
    Goal("Method into an existing array, of the bare ufunc's time", "×", 1.03, False, _over_ufunc("method, out")),
    Goal("Method that makes its array, likewise", "×", 1.1, False, _over_ufunc("method")),
    Goal("Single precision against double", "×", 1.9, True, _float32_gain),
    Goal("First result, Panda, nothing on disk", "s", 0.1, False, _first_call("cold_s", "panda")),
    Goal("First result, Panda, code on disk", "s", 0.015, False, _first_call("cached_s", "panda")),
    Goal("Optimised forward dynamics of G1 ready", "s", 3, False, _first_call("optimised_s", "g1")),
    Goal("Inverse dynamics per link, 1000 against 100", "×", 1.15, False, _long_chain("inverse_dynamics")),
    Goal("Forward dynamics per link, 1000 against 100", "×", 1.3, False, _long_chain("forward_dynamics")),
    Goal("Second core, batch of 4096", "×", 1.9, True, _second_core),
    Goal("Second core, 16 times as many", "×", 1.9, True, _second_core_long),
    Goal("RK4 with a computed-torque law against MuJoCo's without any", "×", 15, True, _rollouts("rk4")),
    Goal("Semi-implicit Euler, likewise", "×", 12, True, _rollouts("euler")),
    Goal("Λ, μ + p and a law of redundancy, each, against Pinocchio and NumPy in a loop", "×", 10, True, _task_space),
    Goal("Swing-up of a UR5e in 100 steps, by iLQR to convergence", "ms", 30, False, _optimal_control),
    Goal("CasADi: optimal control of a Panda by inverse dynamics, against adam", "×", 6, True, _optimizers("CasADi, inverse")),
    Goal("JAX: gradients of 4096 forward dynamics, against frax", "×", 5, True, _optimizers("JAX")),
    Goal("Inverse kinematics of one target", "µs", 800, False, _inverse_kinematics("one")),
    Goal("Inverse kinematics in a batch of 10,000 targets, each", "µs", 100, False, _inverse_kinematics("batch")),
    Goal(
        "A_g, J_c, M⁻¹ and rigid contacts, each, batch of 1024 against Pinocchio in a loop",
        "×",
        8,
        True,
        _contact("times_faster", min),
    ),
    *(
        Goal(f"{symbol} of {robot}, batch of 1024 against Pinocchio in a loop", "×", wanted, True, _derivative(robot, function))
        for symbol, function, goals in DERIVATIVES
        for robot, wanted in goals.items()
    ),
    Goal("∂τ of ur5e, one call, against Pinocchio's", "×", 0.4, False, _derivative("ur5e", DERIVATIVES[0][1], "single_ratio")),
    Goal("∂τ of g1, optimised", "s", 4, False, _ready(DERIVATIVES[0][1])),
    Goal("∂v̇ of g1, optimised", "s", 6, False, _ready(DERIVATIVES[1][1])),
    Goal("One call of them, against Pinocchio's call", "×", 0.5, False, _contact("single_ratio", max)),
    Goal(
        "Identification from a log of ten million samples, against Pinocchio's regressor alone",
        "×",
        15,
        True,
        _long_log("times_faster"),
    ),
    Goal("Its memory", "MB", 1000, False, _long_log("peak_mb")),
    Goal("UR5e on one H200, semi-implicit Euler with a law, against MJX's forward dynamics", "×", 100, True, _on_gpu("euler")),
    Goal("UR5e on one H200, RK4 with a law, likewise", "×", 100, True, _on_gpu("rk4")),
    Goal("Energy over 10 s, thrown, RK4 1 ms, worst of 20 robots", "", 1e-7, False, _drift("thrown_rk4")),
    Goal("Energy over 10 s, thrown, DOP853 1e-10, worst of 20 robots", "", 1e-9, False, _drift("thrown_DOP853")),
    Goal("Energy over 10 s, falling, RK4 1 ms, worst of 20 robots", "", 1e-7, False, _drift("falling_rk4")),
    Goal("Energy over 10 s, falling, DOP853 1e-10, worst of 20 robots", "", 1e-9, False, _drift("falling_DOP853")),
    Goal("Energy over an hour, swinging, midpoint 1 ms, trend per second", "", 1e-12, False, _trend),
    Goal("Order of the integrators, farthest from nominal", "", 0.15, False, _orders),
    Goal("Puma 560, 0.5 s of free fall with friction that sticks", "s", 0.1, False, _puma),
    *(Goal(f"{case.title}: {case.what}", "s", case.wanted_s, False, _derived(key)) for key, case in CASES.items()),
    *(
        Goal(f"{case.title}: operations in M", "", case.wanted_operations, False, _operations(key))
        for key, case in CASES.items()
        if case.wanted_operations is not None
    ),
)
