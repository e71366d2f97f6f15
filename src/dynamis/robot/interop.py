"""Functions and models of a robot for CasADi, JAX, PyTorch, Numba, SymPy and Crocoddyl."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dynamis.algorithms.registry import ALGORITHMS
from dynamis.compiler import c_text
from dynamis.compiler.c_casadi import render_casadi, stored_entries
from dynamis.compiler.kernel import Kernel
from dynamis.errors import InputError
from dynamis.files.atomic_write import write_file
from dynamis.files.paths import path_of
from dynamis.interop.casadi_functions import casadi_function
from dynamis.interop.differentiable import Differentiable
from dynamis.robot.compilation import Compilation
from dynamis.robot.dry_friction import SmoothedRobot
from dynamis.robot.jumps import IN_FUNCTIONS, warn_of_dry_friction, warn_of_jumps
from dynamis.scalar import Node

if TYPE_CHECKING:
    from dynamis.interop.sympy_functions import SympyFunction


def _torque_jacobian(robot: Any, q: Any, v: Any, a: Any) -> Any:
    return np.hstack(robot.inverse_dynamics_derivatives(q, v, a))


def _acceleration_jacobian(robot: Any, q: Any, v: Any, tau: Any) -> Any:
    return np.hstack(robot.forward_dynamics_derivatives(q, v, tau))


# Jacobians with recursions of their own, which are shorter than differentiated code
JACOBIANS = {"inverse_dynamics": _torque_jacobian, "forward_dynamics": _acceleration_jacobian}


class Interop(Compilation):
    """Methods of a robot that make functions of other libraries.

    Each takes the name of a method, such as "forward_dynamics", or a function of your own, as `compile` does.
    """

    def casadi(
        self, function: Callable[..., Any] | str, /, *, frame: str | None = None, parameters: Sequence[Node] = (),
        name: str | None = None, **sizes: int,
    ) -> Any:  # fmt: skip
        """A CasADi function: SX expressions with named arguments, which CasADi differentiates, maps and writes as C.

        ``frame`` is that of a pose, a velocity or a Jacobian, by default the tip; ``parameters`` and ``sizes`` are those of
        `compile`. Coordinates are columns, matrices have their shape; derivatives come as three matrices. Quaternions are not
        normalised.

        >>> import dynamis as dy
        >>> robot = dy.load("planar_2r_melchiorri")
        >>> dynamics = robot.casadi("forward_dynamics")  # doctest: +SKIP
        >>> dynamics  # doctest: +SKIP
        Function(forward_dynamics:(q[2],v[2],tau[2])->(a[2]) SXFunction)
        """
        kernel = self._kernel_of(function, frame, parameters, sizes)
        results = [ALGORITHMS[function].result] if isinstance(function, str) else []
        warn_of_jumps(self, kernel, function if isinstance(function, str) else kernel, IN_FUNCTIONS.format("robot.casadi"))
        own = f"{function}_derivatives" if self._has_jacobian(function, parameters) else None
        return casadi_function(kernel.code, results, name, self.kernel(own).code if own else None)

    def write_casadi(
        self, function: Callable[..., Any] | str, folder: str | os.PathLike[str], /, *, name: str | None = None,
        frame: str | None = None, hessian: bool = False, parameters: Sequence[Node] = (), **sizes: int,
    ) -> list[Path]:  # fmt: skip
        """Write a function with one result, and its Jacobian, as C with the function interface of CasADi and acados.

        Compiled alone, the first file, ``name``.c, is a library for ``casadi.external(name, …)``, whose Jacobian is ours. It
        includes the others. Matrices are stored by columns without entries that are always zero. With ``hessian`` it also has
        gradients of weighted results and their derivatives, of which solvers make exact Hessians.

        >>> import dynamis as dy, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = dy.load("planar_2r_melchiorri").write_casadi("gravity", folder)
        >>> [path.name for path in files][:2]
        ['gravity.c', 'gravity_values.h']
        """
        found = self._differentiable(function, frame, parameters, sizes, "casadi")
        code, jacobian = found.kernel.code, found.jacobian.kernel.code
        own = re.sub(r"\W", "_", found.name.lower()).strip("_") or "function" if name is None else name
        c_text.check_name(own)
        about = f"{found.name} of {self.name}"
        if len(found.shape) > 2:
            raise InputError(f"{found.name} returns an array of shape {found.shape}: return a vector or a matrix")
        result = (ALGORITHMS[function].result if isinstance(function, str) else "") or "out"
        label = result if re.fullmatch(r"[A-Za-z]\w*", result, re.ASCII) else "out"
        parts = {"values": code, "jacobian": jacobian}
        if hessian:
            product = found.adjoint(stored_entries(code), f"adj_{label}")
            parts |= {"adjoint": product.kernel.code, "hessian": product.jacobian.kernel.code}
        texts = {part: c_text.render(x, f"{own}_{part}", "double", about, [], [part]) for part, x in parts.items()}
        paths = [path for part, pair in texts.items() for path in c_text.write_pair(folder, f"{own}_{part}", pair)]
        text = render_casadi(code, jacobian, list(parts.values())[2:], own, c_text.plain(about), label)
        return [write_file(path_of(folder) / f"{own}.c", text.encode("ascii")), *paths]

    def jax(
        self, function: Callable[..., Any] | str, /, *, frame: str | None = None, parameters: Sequence[Node] = (), **sizes: int
    ) -> Any:
        """A function of JAX arrays, with derivatives of any order, for ``jit``, ``grad``, ``jvp``, ``vjp`` and ``vmap``.

        Compiled code on the processor computes values and Jacobians; leading axes are batches. In single precision unless
        JAX's ``jax_enable_x64`` is set.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> dynamics = robot.jax("forward_dynamics")  # doctest: +SKIP
        """
        from dynamis.interop.jax_functions import jax_function

        return jax_function(self._differentiable(function, frame, parameters, sizes, "jax"))

    def torch(
        self, function: Callable[..., Any] | str, /, *, frame: str | None = None, parameters: Sequence[Node] = (), **sizes: int
    ) -> Any:
        """A function of PyTorch tensors on the processor, differentiable any number of times; leading axes are batches.

        The result has the type of the tensors; half precision is computed in single precision. Functions of methods can be
        pickled, and modules that have them saved.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> dynamics = robot.torch("forward_dynamics")  # doctest: +SKIP
        """
        from dynamis.interop.torch_functions import torch_function

        again = (_torch_again, (self, function, frame, parameters)) if isinstance(function, str) else None
        return torch_function(self._differentiable(function, frame, parameters, sizes, "torch"), again)

    def sympy(
        self, function: Callable[..., Any] | str, /, *, frame: str | None = None, parameters: Sequence[Node] = (), **sizes: int
    ) -> SympyFunction:
        """A function as expressions of SymPy, in the symbols q1, …, qd1, …, qdd1, … and tau1, … of closed forms.

        Nothing is expanded or simplified, so that the functions of large robots take seconds; `closed_form` gives formulas to
        read. Numbers are exact. Piecewise functions and dry friction are such in SymPy as well.

        >>> import dynamis as dy
        >>> robot = dy.load("planar_2r_melchiorri")
        >>> dynamics = robot.sympy("forward_dynamics")  # doctest: +SKIP
        >>> slope = dynamics.result.diff(dynamics.arguments["q"][1])  # doctest: +SKIP
        """
        from dynamis.interop.sympy_functions import sympy_function
        from dynamis.symbolic.sympy_form import load_sympy, safe_name, sympy_number, sympy_operations

        library, kernel = load_sympy(), self._kernel_of(function, frame, parameters, sizes)
        names = [safe_name(str(x)) for x in parameters]
        return sympy_function(kernel.code, names, library, sympy_operations(), sympy_number)

    def numba(
        self, function: Callable[..., Any] | str, /, *, frame: str | None = None, parameters: Sequence[Node] = (), **sizes: int
    ) -> Any:
        """A function of one state that can be called in functions compiled by ``@numba.njit``, also in parallel loops.

        It takes vectors and returns a new array, or a number, in double precision. Only lengths are checked: values that are
        not finite give results that are not finite.

        >>> import dynamis as dy
        >>> robot = dy.load("ur5e")
        >>> torques = robot.numba("inverse_dynamics")  # doctest: +SKIP
        """
        from dynamis.interop.numba_functions import numba_function

        return numba_function(self._kernel_of(function, frame, parameters, sizes))

    def crocoddyl(self, costs: Any, *, actuated: Any = "joints", friction_velocity: float | None = None) -> Any:
        """A differential action model of Crocoddyl: the forward dynamics of this robot, with its derivatives, and costs.

        ``costs`` is a `crocoddyl.CostModelSum` of states (q, v) and of the torques of the ``actuated`` coordinates, by default
        all but those of a free base. States are a `crocoddyl.StateVector` of 2n entries, or a `crocoddyl.StateMultibody` of
        ``robot.to_pinocchio()``, for robots with quaternions and for residuals of frames. Torques are bounded by their limits.

        Dry friction jumps at rest, where it has no derivative: with ``friction_velocity``, such as 0.05 rad/s, it is
        coulomb_bias + coulomb · tanh(v / friction_velocity). With feet on the ground or closed loops the model is
        ``dy.constrained(robot, …).crocoddyl(costs)``.

        >>> import dynamis as dy
        >>> robot = dy.load("planar_2r_melchiorri")
        >>> import crocoddyl  # doctest: +SKIP
        >>> costs = crocoddyl.CostModelSum(crocoddyl.StateVector(4), 2)  # doctest: +SKIP
        >>> step = crocoddyl.IntegratedActionModelEuler(robot.crocoddyl(costs), 0.01)  # doctest: +SKIP
        """
        dynamics: Any = self if friction_velocity is None else SmoothedRobot(self, friction_velocity)
        model = crocoddyl_model(self, costs, actuated, dynamics)
        if friction_velocity is None:
            warn_of_dry_friction(self, "forward_dynamics", "robot.crocoddyl(costs, friction_velocity=0.05)")
        return model

    def _kernel_of(
        self, function: Callable[..., Any] | str, frame: str | None, parameters: Sequence[Node], sizes: dict[str, Any]
    ) -> Kernel:
        if isinstance(function, str) and not parameters and not sizes:
            return self.kernel(function, frame=frame)
        if isinstance(function, Kernel) and (parameters or sizes):
            raise InputError("a compiled function has its parameters and the lengths of its arguments already")
        if frame is not None:
            raise InputError(
                "frame= applies to methods given by name, without parameters=; a function of your own has its frame inside"
            )
        return function if isinstance(function, Kernel) else self.compile(function, parameters=parameters, **sizes)

    def _differentiable(
        self, function: Callable[..., Any] | str, frame: str | None, parameters: Sequence[Node], sizes: dict[str, Any],
        library: str,
    ) -> Differentiable:  # fmt: skip
        kernel = self._kernel_of(function, frame, parameters, sizes)

        def warn() -> None:
            key = function if isinstance(function, str) else kernel
            warn_of_jumps(self, kernel, key, IN_FUNCTIONS.format(f"robot.{library}"))

        if not self._has_jacobian(function, parameters):
            return Differentiable(kernel, warn=warn)
        return Differentiable(kernel, lambda: self.compile(JACOBIANS[str(function)]), warn)

    def _has_jacobian(self, function: Callable[..., Any] | str, parameters: Sequence[Node]) -> bool:
        """Derivatives are along v: only where q has no quaternions are they those with respect to q."""
        return isinstance(function, str) and function in JACOBIANS and self.nq == self.n and not parameters


def _torch_again(robot: Interop, function: str, frame: str | None, parameters: Sequence[Node]) -> Any:
    return robot.torch(function, frame=frame, parameters=parameters)


def crocoddyl_model(robot: Any, costs: Any, actuated: Any, dynamics: Any) -> Any:
    """A differential action model of Crocoddyl with the forward dynamics and derivatives of ``dynamics``."""
    from dynamis.interop.crocoddyl_models import crocoddyl_model as made

    return made(robot, costs, robot.inputs.actuated(actuated), dynamics)
