"""The gradient of ½ ‖v̇‖² with respect to the torques in CasADi, JAX, PyTorch and Numba.

Shows: how each library gets its functions, and that all gradients are the same. A library that is not installed is named with
the command that installs it.
"""

import sys
import time

import numpy as np

import dynamis as dy
from dynamis.drawing import INK, new_figure, save, tidy

robot = dy.load("ur5e").replace(friction=0)
n, q, (v, tau) = robot.n, robot.random(0), np.random.default_rng(0).normal(size=(2, robot.n))


def casadi(ca):
    f, x = robot.casadi("forward_dynamics"), ca.SX.sym("tau", n)
    gradient = ca.Function("gradient", [x], [ca.gradient(ca.sumsqr(f(q, v, x)) / 2, x)])
    return lambda x: gradient(x).toarray()


def jax(jax):
    jax.config.update("jax_enable_x64", True)
    f = robot.jax("forward_dynamics")
    return jax.jit(jax.grad(lambda x: (f(q, v, x) ** 2).sum() / 2))


def torch(torch):
    f, x, at, rate = robot.torch("forward_dynamics"), *(torch.tensor(x) for x in (tau, q, v))
    return lambda _: torch.autograd.grad((f(at, rate, x.requires_grad_()) ** 2).sum() / 2, x)[0]


def numba(numba):
    f, inverse = robot.numba("forward_dynamics"), robot.numba("mass_matrix_inverse")
    return numba.njit(lambda x: inverse(q) @ f(q, v, x))


expected, times = robot.mass_matrix_inverse(q) @ robot.forward_dynamics(q, v, tau), {}
for library in (casadi, jax, torch, numba):
    name = library.__name__
    try:
        gradient = library(__import__(name))
    except ImportError:
        print(f"{name}: not installed (pip install 'dynamis[{name}]')")
        continue
    error = np.abs(np.ravel(gradient(tau)) - expected).max() / np.abs(expected).max()
    began = [(gradient(tau), time.perf_counter())[1] for _ in range(301)]
    times[name] = 1e6 * np.median(np.diff(began[100:]))
    print(f"{name}: relative difference {error:.0e}, {times[name]:.0f} µs per gradient of one state, called from Python")

figure = new_figure(7.5, 4.7)
axes = figure.subplots()
axes.barh([*times, ""], [*times.values(), 0.0], color="#4d7ea8", height=0.5)
tidy(axes)
axes.set(xlabel="µs per gradient of one state, called from Python", ylim=(len(times) - 0.5, -0.5), xscale="log")
axes.set_title("Gradient of ½ ‖v̇‖² of a UR5e in other libraries", loc="left", fontsize=15, color=INK)
save(figure, f"{sys.argv[1] if len(sys.argv) > 1 else '.'}/25_gradients_elsewhere.png")
