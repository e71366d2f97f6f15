"""The figures as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from benchmarks.cells import VERDICTS, empty_table, quantity, remark, shown
from benchmarks.closed_forms.tables import print_closed_forms
from benchmarks.rivals import RIVALS
from benchmarks.threads import BUSY

Row = Mapping[str, Any]


def print_section(console: Console, name: str, section: Row) -> None:
    printers = {
        "throughput": _throughput, "latency": _latency, "first-call": _first_call, "growth": _growth, "threads": _threads,
        "closed-form": print_closed_forms, "rollouts": _rollouts, "integrators": _integrators, "gpu": _gpu,
        "task-space": _task_space, "inverse-kinematics": _inverse_kinematics, "optimal-control": _optimal_control,
        "optimizers": _optimizers,
        "contact": _contact, "derivatives": _derivatives, "generated-c": _generated_c,
        "identification": _identification,
    }  # fmt: skip
    printers[name](console, section)
    for robot, why in section.get("robots_left_out", {}).items():
        remark(console, f"[bold]{robot}[/bold] is left out: {escape(why)}")
    console.print()


def print_goals(console: Console, outcomes: list[dict[str, Any]], missing: list[str], disturbed: int) -> None:
    table = empty_table("To reach", "figure", "wanted", "measured", "")
    for outcome in outcomes:
        wanted = f"{'≥' if outcome['at_least'] else '≤'} {quantity(outcome['wanted'], outcome['unit'])}"
        found = "–" if outcome["found"] is None else quantity(outcome["found"], outcome["unit"])
        table.add_row(outcome["what"], wanted, found, VERDICTS[outcome["reached"]])
    console.print(table)
    if disturbed:
        remark(
            console, f"{disturbed} timings were interrupted by other programs (~ in the tables): repeat them on a quiet machine"
        )
    if missing:
        remark(console, f"Not measured, so not in the means: {', '.join(missing)}")


def _words(function: str) -> str:
    return function.replace("_", " ")


def _ratio(value: float) -> str:
    return f"{value:.0f}×" if value >= 99.5 else f"{value:.1f}×"


def _throughput(console: Console, section: Row) -> None:
    rows = section["rows"]
    rivals = [key for key in RIVALS if any(key in row["rivals"] or key in row["left_out"] for row in rows)]
    title = (
        f"Time per state in a batch of {section['batch']}: ours in nanoseconds, rivals as multiples of ours (float64, one core)"
    )
    names = [RIVALS[key].name for key in rivals]
    headings = ("method, out=", "method", "bare ufunc", "float32", "2 threads", "float32, 2 threads")
    table = empty_table(title, "robot", "function", *headings, *names, names=2)
    for row in rows:
        ns, theirs = row["ours_ns"], row["rivals"]
        columns = ("method, out", "method", "float64", "float32", "float64, 2 threads", "float32, 2 threads")
        own = [shown(row, key, f"{ns[key]:.0f}" if key in ns else None) for key in columns]
        ratios = [shown(row, key, _ratio(theirs[key]["ratio"]) if key in theirs else None) for key in rivals]
        table.add_row(row["robot"], _words(row["function"]), *own, *ratios, end_section=row["function"] == "mass_matrix")
    console.print(table)
    _print_how(console, rows)
    _print_left_out(console, rows)


def _print_how(console: Console, rows: list[Row]) -> None:
    """How each rival was called, and for which functions where it is not for all."""
    how: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        for key, rival in row["rivals"].items():
            functions = how.setdefault(key, {}).setdefault(rival["how"], [])
            if _words(row["function"]) not in functions:
                functions.append(_words(row["function"]))
    for key, ways in how.items():
        lines = [way if len(functions) == 3 else f"{way} ({', '.join(functions)})" for way, functions in ways.items()]
        remark(console, f"[bold]{RIVALS[key].name}[/bold]  {escape('; '.join(lines))}", style="dim")


def _print_left_out(console: Console, rows: list[Row]) -> None:
    """Each reason once, with the robots it holds for."""
    robots: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for key, why in row["left_out"].items():
            held = robots.setdefault((key, why), [])
            if row["robot"] not in held:
                held.append(row["robot"])
    for (key, why), names in robots.items():
        remark(console, f"[bold]{RIVALS[key].name}[/bold]  left out for {', '.join(names)}: {escape(why)}")


def _latency(console: Console, section: Row) -> None:
    rows = section["rows"]
    rivals = [key for key in RIVALS if any(key in row["us"] for row in rows)]
    names = [RIVALS[key].name for key in rivals]
    table = empty_table(
        "One call from Python, microseconds", "robot", "function", "method", "kernel", "bare ufunc", *names, names=2
    )
    for row in rows:
        us = row["us"]
        columns = ("facade", "kernel", "bare", *rivals)
        times = [shown(row, key, f"{us[key]:.2f}" if key in us else None) for key in columns]
        table.add_row(row["robot"], _words(row["function"]), *times, end_section=row["function"] == "difference")
    console.print(table)
    for found in section.get("spread", []):
        remark(
            console,
            f"[bold]{found['robot']}[/bold]  inverse dynamics, {found['calls']} calls timed one by one: median "
            f"{found['median_us']:.2f} µs, 99.9th percentile {found['p999_us']:.2f} µs; copying a NumPy array in the same loop "
            f"{found['copy_median_us']:.2f} and {found['copy_p999_us']:.2f} µs",
            style="dim",
        )
    _print_left_out(console, rows)


def _first_call(console: Console, section: Row) -> None:
    title = f"First result in a fresh process, best of {section['fresh_starts']}"
    table = empty_table(
        title, "robot", "function", "nothing on disk", "code on disk", "optimised after", "import", "load", names=2
    )
    for row in section["rows"]:
        times = [quantity(row[key], "s") for key in ("cold_s", "cached_s", "optimised_s", "import_s", "load_s")]
        table.add_row(row["robot"], _words(row["function"]), *times)
    console.print(table)


def _growth(console: Console, section: Row) -> None:
    headings = ("links", "function", "ours", "Pinocchio", "ratio", "states", "first call", "optimised", "per link")
    table = empty_table("Chains: nanoseconds per link and state, one core; then compiling", *headings, names=2)
    for row in section["rows"]:
        ours, theirs = row["ours_ns_per_link"], row.get("pinocchio_ns_per_link")
        table.add_row(
            str(row["links"]),
            _words(row["function"]),
            shown(row, "ours", f"{ours:.1f}"),
            shown(row, "pinocchio", None if theirs is None else f"{theirs:.1f}"),
            shown(row, "", None if theirs is None else _ratio(theirs / ours)),
            str(row["states"]),
            *(quantity(row[key], "s") for key in ("first_call_s", "optimised_s")),
            f"{row['compile_ms_per_link']:.1f} ms",
        )
    console.print(table)
    for row in section["rows"]:
        if "left_out" in row:
            what = f"{row['links']} links, {_words(row['function'])}"
            remark(console, f"[bold]Pinocchio[/bold]  left out for {what}: {escape(row['left_out'])}")


def _rollouts(console: Console, section: Row) -> None:
    title = f"A step of a millisecond, per state: ours with a computed-torque law (batch of {section['batch']}, one core)"
    table = empty_table(title, "robot", "method", "ours, ns", "MuJoCo without a law, ns", "times", names=2)
    for row in section["rows"]:
        theirs = f"{row['ns']['mujoco']:.0f}" if "mujoco" in row["ns"] else row["why"] or "–"
        gain = "–" if row["times_faster"] is None else _ratio(row["times_faster"])
        table.add_row(
            row["robot"], row["method"], f"{row['ns']['ours']:.0f}", theirs, gain, end_section=row["method"] == "euler"
        )
    console.print(table)
    table = empty_table(
        "Puma 560, half a second of free fall with Coulomb friction", "from", "time", "first time", "starts, stops"
    )
    for name, fall in section["puma"].items():
        table.add_row(
            name, f"{1e3 * fall['seconds']:.0f} ms", f"{1e3 * fall['first']:.0f} ms", "; ".join(fall["events"]) or "none"
        )
    console.print(table)


def _integrators(console: Console, section: Row) -> None:
    keys = ("thrown_rk4", "thrown_DOP853", "falling_rk4", "falling_DOP853", "falling_mujoco")
    headings = ("thrown, RK4 1 ms", "DOP853 1e-10", "falling, RK4 1 ms", "DOP853 1e-10", "MuJoCo's RK4 1 ms", "rad/s")
    table = empty_table("Energy over 10 s: largest error, of the largest kinetic energy", "robot", *headings)
    for row in section["rows"]:
        drifts = [f"{row[key]:.1e}" if key in row else "–" for key in keys]
        table.add_row(row["robot"], *drifts, f"{row['falling_speed']:.0f}")
    console.print(table)
    title = "An hour by the implicit midpoint rule, 1 ms"
    table = empty_table(title, "robot", "how", "largest error", "trend per second", "±", names=2)
    for hour in section["hours"]:
        table.add_row(hour["robot"], hour["how"], *(f"{hour[key]:.1e}" for key in ("largest", "slope", "slope_error")))
    console.print(table)
    orders = ", ".join(f"{method} {order:.2f}" for method, order in section["orders"].items())
    remark(console, f"Orders by Richardson: {orders}", style="dim")


def _task_space(console: Console, section: Row) -> None:
    title = f"The space of a pose task, nanoseconds per state: ours in a batch of {section['batch']}, one core"
    table = empty_table(title, "robot", "function", "ours", "Pinocchio and NumPy, looped", "times", "off by", names=2)
    names = {"inertia": "Λ", "bias": "μ + p", "law": "torque of least ½ τᵀM⁻²τ"}
    for row in section["rows"]:
        theirs = f"{row['ns']['pinocchio']:.0f}" if "pinocchio" in row["ns"] else row["why"]
        gain = None if row["times_faster"] is None else _ratio(row["times_faster"])
        off = "–" if row["difference"] is None else f"{row['difference']:.0e}"
        table.add_row(
            row["robot"], names[row["function"]], shown(row, "ours", f"{row['ns']['ours']:.0f}"),
            shown(row, "pinocchio", theirs), shown(row, "", gain), off, end_section=row["function"] == "law",
        )  # fmt: skip
    console.print(table)


def _contact(console: Console, section: Row) -> None:
    _beside_calls(console, section, "Momentum, M⁻¹ and contacts")


def _derivatives(console: Console, section: Row) -> None:
    _beside_calls(console, section, "Derivatives of the dynamics")
    for row in section["ready"]:
        remark(console, f"{row['robot']}, {_words(row['function'])}: optimised after {row['optimised']:.1f} s, nothing on disk")


def _beside_calls(console: Console, section: Row, what: str) -> None:
    title = f"{what}, nanoseconds per state: ours in a batch of {section['batch']} and one call, one core"
    table = empty_table(title, "robot", "function", "batch", "call", "Pinocchio's call", "batch, times", "call, part", names=2)
    for row, following in zip(section["rows"], [*section["rows"][1:], None], strict=True):
        ns = row["ns"]
        theirs = f"{ns['pinocchio']:.0f}" if "pinocchio" in ns else row["why"]
        table.add_row(
            row["robot"], _words(row["function"]), shown(row, "ours", f"{ns['ours']:.0f}"),
            shown(row, "single", f"{ns['single']:.0f}"), shown(row, "pinocchio", theirs),
            "–" if row["times_faster"] is None else _ratio(row["times_faster"]),
            "–" if row["single_ratio"] is None else f"{row['single_ratio']:.2f}",
            end_section=following is None or following["robot"] != row["robot"],
        )  # fmt: skip
    console.print(table)


def _generated_c(console: Console, section: Row) -> None:
    compilers = list(section["flags"])
    table = empty_table("Exported C, nanoseconds per call, one core", "robot", "function", "operations", *compilers, names=2)
    for row in section["rows"]:
        times = [f"{row['ns'][x]:.0f}" if x in row["ns"] else "–" for x in compilers]
        table.add_row(row["robot"], _words(row["function"]), str(row["operations"]), *times)
    console.print(table)


def _inverse_kinematics(console: Console, section: Row) -> None:
    title = "Inverse kinematics of random poses, microseconds of processor time per target"
    table = empty_table(
        title,
        "robot",
        "ours, one",
        "ours, batch",
        "Pinocchio and NumPy, looped",
        "one: times",
        "batch: times",
        "solved",
        names=1,
    )
    for row in section["rows"]:
        theirs = f"{row['us']['pinocchio']:.0f}" if "pinocchio" in row["us"] else row["why"]
        gains = [None if row["times_faster"] is None else _ratio(row["times_faster"][x]) for x in ("one", "batch")]
        table.add_row(
            row["robot"], f"{row['us']['one']:.0f}", f"{row['us']['batch']:.1f}", theirs, *(gain or "–" for gain in gains), f"{row['solved']} of {row['targets']}",
        )  # fmt: skip
    console.print(table)


def _optimal_control(console: Console, section: Row) -> None:
    title = f"UR5e from hanging to upright in {section['nodes']} steps, processor time to convergence"
    table = empty_table(title, "solver", "ms", "iterations", "cost", "goal missed by", names=1)
    for row in section["rows"]:
        table.add_row(
            row["solver"], f"{row['ms']:.0f}", str(row["iterations"]), f"{row['cost']:.5f}", f"{row['goal_error']:.1g}"
        )
    if section["why"]:
        table.add_row("crocoddyl", section["why"], "–", "–", "–")
    console.print(table)


def _optimizers(console: Console, section: Row) -> None:
    table = empty_table("Panda in CasADi and JAX, processor time", "tool", "library", "ms", "value", names=2)
    for row in section["rows"]:
        table.add_row(row["tool"], row["library"], f"{row['ms']:.1f}", f"{row['value']:.8g}")
    for name, why in section["why"].items():
        table.add_row(name, "", why, "–")
    console.print(table)


def _identification(console: Console, section: Row) -> None:
    title = f"A log of {section['file_gb']:.1f} GB to parameters and standard errors, all cores, microseconds a sample"
    table = empty_table(title, "robot", "rows", "samples", "ours", "Pinocchio's regressor, looped", "times", "memory", names=2)
    for row in section["rows"]:
        theirs = row["why"] if row["rival_us"] is None else f"{row['rival_us']:.2f}"
        gain = "–" if row["times_faster"] is None else _ratio(row["times_faster"])
        table.add_row(
            row["robot"], row["way"], f"{row['samples']:.0e}", f"{row['us']:.3f}", theirs, gain, f"{row['peak_mb']:.0f} MB"
        )
    console.print(table)


def _gpu(console: Console, section: Row) -> None:
    if not section["rows"]:
        remark(console, f"[bold]gpu[/bold]  {escape(section['why'])}")
        return
    title = f"{section['gpu']}: {section['batch']} arms under a computed-torque law, steps of a millisecond"
    table = empty_table(
        title, "robot", "method", "precision", "10⁹ steps a second", "times MJX", "first call", "off by", names=3
    )
    for row in section["rows"]:
        figures = (f"{1e-9 * row['steps_per_s']:.2f}", _ratio(row["times_mjx"]), quantity(row["first_call_s"], "s"))
        last = (row["method"], row["precision"]) == ("rk4", "float64")
        table.add_row(row["robot"], row["method"], row["precision"], *figures, f"{row['difference']:.0e}", end_section=last)
    console.print(table)


def _threads(console: Console, section: Row) -> None:
    title = f"What a second thread gains, batch of {section['batch']}"
    longer = f"ours, {section['long_batch']}"
    table = empty_table(title, "robot", "function", "ours", longer, "Pinocchio", "plain hashing", names=2)
    for row in section["rows"]:
        keys = ("gain", "long_gain", "pinocchio_gain", "hashing_gain")
        gains = [f"{row[key]:.2f}×" if key in row else "–" for key in keys]
        table.add_row(row["robot"], _words(row["function"]), *gains, end_section=row["function"] == "mass_matrix")
    console.print(table)
    if any(row["hashing_gain"] < BUSY for row in section["rows"]):
        remark(console, "Hashing gained less than it can: the machine was busy with something else; repeat this on a quiet one")
