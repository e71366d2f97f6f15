"""Advice in messages of the Python interface, rewritten as options of the command that runs."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable

import click

PAIR = re.compile(r"[^(),]+,[^(),]+")
# phrases that name Python calls, and what a command line has instead
PHRASES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"(?:give them(?: values first)?(?: with|:|,|, as in) )?"
     r"(?:(?:dynamis\.|dy\.)?load\((?:…|name), |robot\.replace\()parameters=(?:\{[^}]*\}|…)\)"
     r"(?:, on the command line --set NAME=VALUE)?", lambda match: f"give each a number with {_settings(match[0])}"),
    (r"load it with base='fixed'", "leave out --floating"),
    (r"load with base=['\"]?floating['\"]?", "use --floating"),
    (r"base=['\"]floating['\"]", "--floating"),
    (r"xacro_args= goes with xacro files; the values of a \.toml robot are given with parameters=",
     "--arg goes with xacro files; the values of a .toml robot are given with --set"),
    (r"xacro_args= goes with", "--arg goes with"),
    (r"parameters= (?:goes|go) with", "--set goes with"),
    (r"(?:robot\.)?replace\(gravity=[^)]*\)\)?", "--no-gravity"),
    (r"robot\.reduced\(\{(.*?)\}\)", lambda match: _locks(match[1])),
    (r"compliant stops \(joint_stops\)", "--stops compliant"),
    (r"LinearModel\(rotor=False\)(?:, or replace\(rotors='reflected'\) first)?", "--no-rotor"),
    (r"\bin a mapping\b(?!, a)", "in a mapping (--mapping FILE.toml)"),
    (r"pass transmission=Transmission\.of\(ratios\)", "state the gear ratios in the --mapping file"),
    (r"position=\(lower, upper\)", "--lower and --upper"),
    (r"a smaller margin of the scene or fewer obstacles", "a smaller --clearance, no --above"),
    (r"leave_out=\[?((?:\([^)]*\),?)+)\]?", lambda match: " ".join(f"--leave-out {x}" for x in PAIR.findall(match[1]))),
    (r"set offset=True", "add --offset"),
    (r"set rotor=True", "leave out --no-rotor"),
    (r"couplings=\[\('([^']+)', '([^']+)'\)\]", r"--couple \1,\2"),
    (r"balancer=\[([^\]]*)\]", lambda match: _balancers(match[1])),
    (r"add friction '(\w+)'", r"add \1 to --friction"),
    (r"use kind='position', or exclude directions with zeros in weights=", "omit --rpy or --quaternion"),
    (r"; exclude directions with zeros in weights=", ""),
    (r"a solution exists: increase restarts=", "a solution exists: start from another --q0"),
    (r"dynamis\.linearize\(robot, q, friction_velocity=([\d.]+)\)", r"--friction-velocity \1"),
    (r", or set outliers=True", ", or leave out --no-outliers"),
)  # fmt: skip


def _balancers(names: str) -> str:
    """The options for balancer=['shoulder', …]."""
    return " ".join(f"--balancer {shlex.quote(name)}" for name in ast.literal_eval(f"[{names}]"))


def _settings(call: str) -> str:
    """The options for replace(parameters={'m1': …}): one for each name, where the message has them."""
    names = re.findall(r"'([^']+)': …", call)
    return " ".join(f"--set {name}=VALUE" for name in names) or "--set NAME=VALUE"


def _locks(pairs: str) -> str:
    """The options for robot.reduced({'finger': 0.02})."""
    found = re.findall(r"'([^']+)': ([^,]+)", pairs)
    return " ".join(f"--lock {name}={'VALUE' if value == '…' else value}" for name, value in found)


# arguments of the Python interface under another name than the option's
RENAMED = {
    "stribeck_speed": "stribeck", "reference_temperature": "temperature",
    "torque_limits": "limits", "joint_stiffness": "springs", "letters": "letters", "q": "q",
    "wrenches": "wrenches", "frame": "frame", "base_compliance": "base", "null_space": "null_damping", "block_seconds": "block",
}  # fmt: skip
REPEATED = re.compile(r", on the command line (--[a-z-]+)(?: [A-Z=]+)?")  # once the option itself is named
ARGUMENT = re.compile(r"(?<![\w.{(\-])(?<!--set )(?P<name>[a-z]\w*)=(?P<value>'[^']*'(?: or '[^']*')*|\([^()]*\)|-?[\w.]+|…)?")


def for_command_line(message: str, command: click.Command | None = None) -> str:
    """The message with ``method='rk4'`` as ``--method rk4``, for options that the command has."""
    for pattern, phrase in PHRASES:
        message = re.sub(pattern, phrase, message)
    if command is None:
        context = click.get_current_context(silent=True)
        command = None if context is None else context.command
    if command is None:
        return message
    given = [p for p in command.params if isinstance(p, click.Option) and p.name is not None]
    options = {word.lstrip("-").replace("-", "_"): p for p in given for word in p.opts} | {str(p.name): p for p in given}
    return REPEATED.sub("", ARGUMENT.sub(lambda match: _option(match, options), message))


def _option(match: re.Match[str], options: dict[str, click.Option]) -> str:
    name, value = RENAMED.get(match["name"], match["name"]), match["value"] or ""
    option, negated = options.get(name), options.get(f"no_{name}")
    if negated is not None and value in ("True", "False"):
        return negated.opts[0] if value == "False" else f"leave out {negated.opts[0]}"
    if option is None:
        return match[0]
    if option.is_flag:
        return option.opts[0]
    plain = re.sub(r"[()'\s]", "", value) if value.startswith("(") else value.replace("'", "")
    plain = (option.metavar or "…") if plain == "…" else plain
    return f"{option.opts[0]} {plain}".rstrip()
