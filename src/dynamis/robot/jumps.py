"""Where functions that are differentiated jump: dry friction at rest, sign, floor and comparisons of a function of one's own.

A derivative is that of the branch a state is on. It does not exist where the value jumps, and who asks for it there is warned.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler.code import Code, Instruction
from dynamis.compiler.cuda import on_gpu
from dynamis.compiler.kernel import Kernel
from dynamis.errors import ModelWarning, printable
from dynamis.interop.replay import ARITHMETIC, EXPRESSIONS
from dynamis.scalar.program import MEANING

Array = npt.NDArray[Any]
OURS = str(Path(__file__).parents[1]), str(functools.__file__)
NUMBERS: dict[str, Callable[..., Any]] = {**ARITHMETIC, **MEANING}
COMPARISONS = ("lt", "le")  # a function may ask whether a divisor is zero (eq) without a jump of its value
WORDS = {"sign": "sign", "floor": "floor, round or remainder", "lt": "comparison", "le": "comparison"}
LOOKS = 50  # calls of a function whose states are looked at
TRIALS = 3  # states at which a comparison has changed nothing, after which it is left out
MOST_NAMED = 4  # joints or operations
IN_FUNCTIONS = "step = dynamis.optimize.Step(robot, 0.01), and {}(step.continuous, u=step.inputs) for its (q̇, v̇)"


def _warn(text: str) -> None:
    """At the line outside the package that called it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, ModelWarning, stacklevel=level)


def warn_at_rest(robot: Any, function: str, v: Any, cure: str = "") -> None:
    """Warn, once for each robot and function, of a derivative at zero velocity of a joint with dry friction.

    The first calls are looked at: later ones take no time for it.
    """
    evaluator = robot.evaluator
    if function in evaluator.warned or on_gpu(v):
        return
    evaluator.looks[function] += 1
    if not evaluator.dry or evaluator.looks[function] > LOOKS:
        evaluator.warned.add(function)
        return
    try:
        rates = np.asarray(v)
    except (TypeError, ValueError):  # refused by the function itself
        return
    if rates.dtype == object or rates.shape[-1:] != (robot.n,):
        return
    at_rest = [k for k in evaluator.dry if (rates[..., k] == 0.0).any()]
    if at_rest:
        evaluator.warned.add(function)
        _warn(_of_friction(robot, function, at_rest, cure))


def warn_of_dry_friction(robot: Any, function: str, cure: str) -> None:
    """Warn, once for each robot and function, of dry friction in a function whose states are not known."""
    if robot.evaluator.dry and function not in robot.evaluator.warned:
        robot.evaluator.warned.add(function)
        _warn(_of_friction(robot, function, robot.evaluator.dry, cure))


def warn_of_jumps(robot: Any, kernel: Kernel, key: Any, cure: str) -> None:
    """Warn, once for each key, that a function handed to another library contains jumps; comparisons are not counted."""
    found = [x for x in _candidates(kernel.code, range(kernel.code.inputs)) if x[1].op not in COMPARISONS]
    if found and key not in robot.evaluator.warned:
        robot.evaluator.warned.add(key)
        _warn(_text(robot, kernel, found, key, cure))


class Jumps:
    """The jumps of a function by the arguments it is differentiated by; ``warn`` looks whether states are at one."""

    def __init__(self, robot: Any, kernel: Kernel, wrt: Sequence[str], key: Any) -> None:
        self.robot, self.kernel, self.key = robot, kernel, key
        varied: list[int] = []
        place = 0
        for name, size in kernel.arguments:
            varied += range(place, place + size) if name in wrt else ()
            place += size
        self.found = _candidates(kernel.code, varied)
        self._trials, self._looks = [0] * len(self.found), 0

    @functools.cached_property
    def _distances(self) -> Kernel:
        """Of a state from each jump, zero at it."""
        code = self.kernel.code
        needed = _needed(code, [x for _, instruction in self.found for x in instruction.args])

        def distances(*vectors: Array) -> Array:
            values = _values(code, [x for vector in vectors for x in vector], EXPRESSIONS, needed)
            found: list[Any] = []
            for _, (op, args) in self.found:
                operands = [values[x] if isinstance(x, int) else x for x in args]
                if op == "floor":
                    found.append(abs(operands[0] - EXPRESSIONS["floor"](operands[0] + 0.5)))
                else:
                    found.append(abs(operands[0] - operands[1] if op in COMPARISONS else operands[0]))
            return np.array(found)

        return Kernel([distances], self.kernel.arguments, f"{self.kernel.name}_jumps")

    def warn(self, arguments: Sequence[Any]) -> None:
        """Warn, once, if one of the states of the first calls is at a jump that changes the result."""
        if self.key in self.robot.evaluator.warned or self._looks >= LOOKS:
            return
        self._looks += 1
        distances = np.asarray(self._distances(*arguments))
        if np.count_nonzero(distances) == distances.size:
            return
        at = distances == 0.0
        reached = np.flatnonzero(at.reshape(-1, at.shape[-1]).any(axis=0))
        changing = [self.found[k] for k in reached if self._changes(int(k), at, arguments)]
        if changing:
            self.robot.evaluator.warned.add(self.key)
            cure = IN_FUNCTIONS.format("robot.differentiate")
            _warn(_text(self.robot, self.kernel, changing, self.key, cure))

    def _changes(self, k: int, at: Array, arguments: Sequence[Any]) -> bool:
        """Whether the result at the first state at this jump differs beyond it."""
        if self._trials[k] >= TRIALS:
            return False
        self._trials[k] += 1
        where = tuple(np.argwhere(at[..., k])[0])
        inputs = [x for a in arguments for x in np.broadcast_to(a, (*at.shape[:-1], np.shape(a)[-1]))[where]]
        code = self.kernel.code
        with np.errstate(all="ignore"):
            here, beyond = (_results(code, _values(code, inputs, NUMBERS, None, other)) for other in (None, self.found[k][0]))
        both = np.isfinite(here) & np.isfinite(beyond)
        return bool((here[both] != beyond[both]).any())


def _candidates(code: Code, varied: Sequence[int]) -> list[tuple[int, Instruction]]:
    """The values that jump where these inputs vary, with their instructions."""
    jumping = ("sign", "floor", *COMPARISONS)
    if not any(instruction.op in jumping for instruction in code.instructions):
        return []
    depends, found = set(varied), []
    for k, instruction in enumerate(code.instructions, code.inputs):
        if any(isinstance(x, int) and x in depends for x in instruction.args):
            depends.add(k)
            if instruction.op in jumping:
                found.append((k, instruction))
    return found


def _needed(code: Code, wanted: Sequence[Any]) -> set[int]:
    """These values and all that they are computed from."""
    needed, stack = set(), [x for x in wanted if isinstance(x, int)]
    while stack:
        k = stack.pop()
        if k not in needed:
            needed.add(k)
            if k >= code.inputs:
                stack += [x for x in code.instructions[k - code.inputs].args if isinstance(x, int)]
    return needed


def _values(
    code: Code, inputs: Sequence[Any], operations: Any, needed: set[int] | None = None, other: int | None = None
) -> list[Any]:
    """Inputs and the values of all instructions, or of those needed; ``other`` is taken from beyond its jump."""
    values = list(inputs)
    for k, (op, args) in enumerate(code.instructions, code.inputs):
        if needed is not None and k not in needed:
            values.append(None)
            continue
        value = operations[op](*(values[x] if isinstance(x, int) else x for x in args))
        if k == other:
            value = {"sign": 1.0, "floor": value - 1.0}.get(op, 1.0 - value)
        values.append(value)
    return values


def _results(code: Code, values: list[Any]) -> Array:
    return np.array([values[x] if isinstance(x, int) else x for flat in code.outputs for x in flat], float)


def _text(robot: Any, kernel: Kernel, found: Sequence[tuple[int, Instruction]], key: Any, cure: str) -> str:
    """The warning of a function; the key of a method of the robot is its name."""
    places = [(name, k) for name, size in kernel.arguments for k in range(size)]
    dry, words = [], []
    for _, (op, args) in found:
        name, k = places[args[0]] if isinstance(args[0], int) and args[0] < len(places) else ("", 0)
        words.append(WORDS[op] + (f" of {name}[{k}]" if name and op not in COMPARISONS else ""))
        if op == "sign" and name == "v" and k in robot.evaluator.dry:
            dry.append(k)
    if dry and isinstance(key, str):
        return _of_friction(robot, kernel.name, dry, cure)
    words = list(dict.fromkeys(words))
    listed = ", ".join(words[:MOST_NAMED]) + (f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else "")
    friction = f"; the dry friction of {_names(robot, dry)} jumps as well, and has a smooth form: {cure}" if dry else ""
    return (
        f"{kernel.name} jumps ({listed}): its derivative is that of the branch of the state and does not exist at the jump. "
        f"numpy.tanh(x / 0.05) is a smooth form of numpy.sign(x){friction}"
    )


def _of_friction(robot: Any, function: str, joints: Sequence[int], cure: str) -> str:
    return (
        f"the dry friction of {_names(robot, joints)} jumps at zero velocity: the derivative of {function} is that of sliding "
        "joints, where dry friction is constant, and does not exist at rest. With smooth friction, coulomb · tanh(v / 0.05): "
        + (cure or IN_FUNCTIONS.format("robot.differentiate"))
    )


def _names(robot: Any, joints: Sequence[int]) -> str:
    names = [printable(robot.coordinate_names[k]) for k in joints]
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
