"""Compiled functions of a robot: the user's own, those of its methods, and their reports."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from dynamis.algorithms.registry import ALGORITHMS, Algorithm
from dynamis.compiler.kernel import Kernel
from dynamis.compiler.lowering import trace
from dynamis.errors import InputError, printable, unknown_name
from dynamis.model.model import fingerprint
from dynamis.robot.configurations import Configurations
from dynamis.robot.evaluation import MAX_INSTRUCTIONS
from dynamis.robot.inputs import CONFIGURATIONS, STATES
from dynamis.robot.kernel_report import KernelReport, kernel_report
from dynamis.robot.replacement import replace_symbols
from dynamis.scalar import Node, call_with_symbols


class Compilation(Configurations):
    """Methods of a robot that compile functions and describe the compiled code."""

    def compile(
        self,
        function: Callable[..., Any] | str,
        /,
        *,
        parameters: Sequence[Node] = (),
        identity: str | None = None,
        **sizes: int,
    ) -> Kernel:
        """Compile a function of this robot, written for one state, for batches of states.

        ``function(robot, q, v, …)`` takes vectors and returns an array; the lengths of arguments other than q, v, a and tau
        are given as keywords. Branches on its arguments, np.where, np.clip and their like are recorded. It may modify the
        robot with its arguments, as in ``robot.replace(gravity=g)``: gravity is then an input.

        A name such as "inverse_dynamics" compiles that method. Symbols of the robot are listed in ``parameters``; their
        values are the last argument, batched like the others.

        Calls refuse states (q, v, a, tau) and parameters that are not finite, and quaternions of another norm than 1; with a
        name also results that are not finite. Other arguments and the results of a function of your own may be anything.

        Compiled code is cached on disk under a key obtained by tracing the function. ``identity``, a string that identifies
        the function, replaces the tracing; it must change whenever the function changes.

        >>> import dynamis as dy, numpy as np
        >>> robot = dy.load("planar_2r_melchiorri")
        >>> def law(robot, q, v, goal):
        ...     return 100.0 * (goal - q) - 20.0 * v + robot.gravity(q)
        >>> control = robot.compile(law, goal=2)
        >>> control(np.zeros((1000, 2)), np.zeros((1000, 2)), np.ones(2)).shape
        (1000, 2)
        >>> m = dy.symbol("m")
        >>> loaded = robot.replace(payload=dy.solids.sphere(0.05, mass=m))
        >>> torques = loaded.compile("gravity", parameters=[m])
        >>> torques(np.zeros(2), [[0.0], [1.0], [2.0]]).shape
        (3, 2)
        """
        if isinstance(function, str):
            names = algorithm_named(function).arguments
            label, traced = function, lambda robot, *arrays: getattr(robot, label)(*arrays)
            only: Collection[str] | None = None
        elif not callable(function):
            raise InputError(f"expected the name of a method or a function of (robot, q, …), got {type(function).__name__}")
        else:
            label, traced = getattr(function, "__name__", "function"), function
            only = ()  # functions of the package are given checked values
            if not str(getattr(function, "__module__", "")).startswith("dynamis."):
                traced, only = functools.partial(call_with_symbols, function), (*STATES, *CONFIGURATIONS, "parameters")
            names = _arguments_of(function)
        if unknown := [name for name in sizes if name not in names]:
            raise InputError(
                f"{label} has no argument {unknown[0]!r}; its arguments are {', '.join(names)}. Options such as axes= are "
                "given in a function of your own: compile(lambda robot, q: robot.jacobian(q, axes='local'))"
            )
        for name, size in sizes.items():
            if not isinstance(size, numbers.Integral) or isinstance(size, bool) or size < 0:
                raise InputError(f"{name} must be the number of entries of this argument, such as {name}=3, got {size!r}")
        parameters = checked_symbols(parameters)
        known = {"q": self.nq, "v": self.n, "a": self.n, "tau": self.n, **{name: int(size) for name, size in sizes.items()}}
        for name in names:
            if name not in known:
                raise InputError(
                    f"the length of the argument {name!r} is unknown; give it with compile(function, {name}=LENGTH)"
                )
        robot = type(self)(self._description, _tracing=True)
        whose = None if identity is None else f"{fingerprint(self.model)} {list(parameters)!r} {identity}"
        arguments = [(name, known[name]) for name in names]
        given = [*arguments, *([("parameters", len(parameters))] if parameters else [])]
        checks = self.evaluator.checks(dict(given), only)

        def plain(*values: Any) -> Any:
            if not parameters:
                return getattr(self, label)(*values)
            numbers = dict(zip(map(str, parameters), values[-1], strict=True))
            return getattr(type(self)(replace_symbols(self._description, numbers), _quiet=True), label)(*values[:-1])

        refuse = functools.partial(self.evaluator.refuse, given, plain if only is None else None, only=only)
        checked = (checks, refuse) if checks.inputs != () else ()
        return Kernel([functools.partial(traced, robot)], arguments, label, whose, parameters, *checked)

    def kernel(self, name: str, *, frame: str | None = None) -> Kernel:
        """The compiled function of a method such as "inverse_dynamics", with its listing, NumPy ufunc and operation counts.

        ``frame`` is that of a pose, a velocity or a Jacobian; by default the tip.

        >>> import dynamis as dy
        >>> dy.load("ur5e").kernel("mass_matrix").arguments
        (('q', 6),)
        >>> dy.load("ur5e").kernel("jacobian", frame="forearm_link").arguments
        (('q', 6),)
        """
        algorithm = algorithm_named(name)
        if self.model.symbolic or not self.evaluator.can_be_compiled(algorithm):
            why = self._why_not_compiled(algorithm)
            raise InputError(f"{name} of robot {printable(self.name)} cannot be compiled: {why}")
        return self.evaluator.kernel(algorithm, dict(self._sizes(algorithm)), self._options_of(algorithm, frame))

    def _why_not_compiled(self, algorithm: Algorithm) -> str:
        """The reason and the cure."""
        if self.model.symbolic:
            names = self._description.symbol_names()
            some = ", ".join([*(f"{name!r}: …" for name in names[:4]), *(["…"] if len(names) > 4 else [])])
            return (
                f"the robot has parameters without values; give them, robot.replace(parameters={{{some}}}), "
                "or compile a function of them by robot.compile(…, parameters=[…])"
            )
        if not self.model.n:
            return "the robot has no joints that move, so there is nothing to compute; check the types of its joints"
        return (
            f"its code would have some {self.evaluator.expected_instructions(algorithm)} instructions, more than "
            f"{MAX_INSTRUCTIONS}; lock joints by robot.reduced({{…}}), or compile inverse_dynamics or forward_dynamics, whose "
            "code grows only with the number of joints"
        )

    def explain(self, name: str, *, frame: str | None = None) -> str:
        """Describe the compiled code of a method such as "forward_dynamics": algorithm, operation counts, optimisations.

        >>> import dynamis as dy
        >>> print(dy.load("ur5e").explain("gravity").splitlines()[0])
        gravity of 'UR5e'
        """
        algorithm, kernel = algorithm_named(name), self.kernel(name, frame=frame)
        options, arguments = self._options_of(algorithm, frame), self._sizes(algorithm)
        methods, counts = algorithm.compared(self.model), [len(kernel.code.instructions)]
        if len(methods) > 1:
            lean = [self.evaluator.lean(algorithm, options, method.invariance) for method in methods]
            functions = [functools.partial(m.function, model, **options) for m, model in zip(methods, lean, strict=True)]
            counts = [len(trace(function, arguments).instructions) for function in functions]
        plain = trace(functools.partial(methods[0].function, self.model, **options), arguments)
        ways = [(method.title, count) for method, count in zip(methods, counts, strict=True)]
        return KernelReport(kernel_report(name, kernel, printable(self.name), ways, plain))

    def _sizes(self, algorithm: Algorithm) -> list[tuple[str, int]]:
        return [(argument, self.evaluator.sizes[argument]) for argument in algorithm.arguments]

    def cost(self, name: str) -> dict[str, int]:
        """Operation counts of a compiled method such as "forward_dynamics", per operation and in total.

        >>> import dynamis as dy
        >>> dy.load("ur5e").cost("inverse_dynamics")["total"] < 400
        True
        """
        counts = self.kernel(name).code.cost()
        return {**counts, "total": sum(counts.values())}


def _arguments_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments after the robot, which are given by place."""
    parameters = inspect.signature(function).parameters.values()
    by_place = [x.name for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    if not by_place or by_place[0] in ("q", "v", "a", "tau"):
        first = next((str(x.replace(annotation=x.empty)) for x in parameters), "")
        raise InputError(f"compile takes a function of (robot, q, …), not of ({first}, …)")
    for x in parameters:
        if x.kind == x.KEYWORD_ONLY and x.default is x.empty:
            raise InputError(f"the argument {x.name!r} can only be given by name: write it before the *, or give it a default")
    return tuple(by_place[1:])


def checked_symbols(given: Any) -> tuple[Node, ...]:
    """Parameters of a function: a symbol or several, each once."""
    symbols = tuple(given) if np.iterable(given) else (given,)
    for one in symbols:
        if not isinstance(one, Node) or one.op != "symbol":
            raise InputError(f"parameters= must be symbols, such as [dynamis.symbol('m')], got {one!r}")
    twice = [str(one) for one, count in Counter(symbols).items() if count > 1]
    if twice:
        raise InputError(f"parameters= has a symbol twice: {printable(twice[0])}; name each once")
    return symbols


def algorithm_named(name: str) -> Algorithm:
    """The algorithm of a method that can be compiled by name."""
    if name not in COMPILED:
        raise unknown_name("compiled function", name, COMPILED)
    return ALGORITHMS[name]


# methods whose arguments have the same lengths for all functions of a robot
COMPILED = [name for name, row in ALGORITHMS.items() if not any(x.startswith("theta") for x in row.arguments)]
