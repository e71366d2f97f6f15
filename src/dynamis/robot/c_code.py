"""Functions of a robot and their Jacobians as C99."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamis.compiler import c_text
from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError
from dynamis.robot.compilation import algorithm_named
from dynamis.robot.differentiation import Derivatives, Differentiation
from dynamis.robot.inputs import CONFIGURATIONS
from dynamis.scalar import Node

Array = npt.NDArray[Any]


class CCode(Differentiation):
    """Methods of a robot that write C."""

    def write_c(
        self, function: Callable[..., Any] | str, folder: str | os.PathLike[str], *, name: str | None = None,
        precision: str = "double", frame: str | None = None, states: int = 20, jacobian: bool = False, order: str = "row",
        parameters: Sequence[Node] = (), **sizes: int,
    ) -> list[Path]:  # fmt: skip
        """Write a function as dependency-free C99: header and source with a self-test.

        ``function`` is a method such as "inverse_dynamics", a function of your own, with ``parameters`` and ``sizes`` as for
        `compile`, or what `compile` makes of it. The C function and both files are named ``name``, by default
        dynamis_FUNCTION. Its arguments are named as here, then come the results. Existing files are replaced atomically.

        With ``jacobian`` a second pair of files, NAME_jacobian, has the derivatives by all arguments, side by side; those by q
        are along v, as those of `differentiate`. ``order`` is "row" or "column": the storage of matrices, by rows, or by
        columns as in MATLAB, Fortran and Eigen.

        >>> import dynamis as dy, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     robot = dy.load("planar_2r_melchiorri")
        ...     files = robot.write_c("forward_dynamics", folder, name="arm", jacobian=True, order="column")
        >>> [path.name for path in files]
        ['arm.h', 'arm.c', 'arm_jacobian.h', 'arm_jacobian.c']
        """
        algorithm = algorithm_named(function) if isinstance(function, str) else None
        kernel = self._kernel_of(function, frame, parameters, sizes)
        if not (isinstance(states, int | np.integer) and states > 0):
            raise InputError(f"states= is the number of states of the self-test, an integer of at least 1, got {states!r}")
        if algorithm is not None and not parameters:  # raises where it is defined nowhere
            given = {
                x: (value, len(value)) for (x, _), value in zip(kernel.arguments, self._states_of(kernel, 1)()[0], strict=True)
            }
            self.evaluator.evaluate(algorithm, given, self._options_of(algorithm, frame))
        called = re.sub(r"\W", "_", kernel.name.lower()).strip("_") or "function"
        identifier = f"dynamis_{called}" if name is None else name
        results = [] if algorithm is None else [algorithm.result]
        parts = [(identifier, kernel, f"{kernel.name} of {self.name}", results)]
        if jacobian:
            slopes = self.differentiate(function, None, frame=frame, parameters=parameters, **sizes)
            about = f"Jacobian of {kernel.name} by {self._columns_of(slopes)}, of {self.name}"
            parts.append((f"{identifier}_jacobian", slopes.jacobian_kernel, about, ["jacobian"]))
        texts = {}
        for own, made, about, out in parts:
            tests = c_text.finite_states(made.code, self._states_of(kernel, states), states)
            texts[own] = c_text.render(made.code, own, precision, about, tests, out, order)
        return [path for x, pair in texts.items() for path in c_text.write_pair(folder, x, pair)]

    def _states_of(self, kernel: Kernel, count: int) -> Callable[[], list[list[Array]]]:
        """A function that draws values of the arguments."""
        rng = np.random.default_rng(0)

        def draw() -> list[list[Array]]:
            batches = [
                self.random(rng, count) if x in CONFIGURATIONS and size == self.nq else rng.uniform(-1.0, 1.0, (count, size))
                for x, size in kernel.arguments
            ]
            return [[batch[s] for batch in batches] for s in range(count)]

        return draw

    def _columns_of(self, slopes: Derivatives) -> str:
        """The arguments with their columns of the Jacobian."""
        along = dict.fromkeys(CONFIGURATIONS, ", along v") if self.nq != self.n else {}
        return ", ".join(
            f"{name} (columns {place.start} to {place.stop - 1}{along.get(name, '')})" for name, place in slopes.places.items()
        )
