"""Bounds of the second derivatives of trigonometric polynomials, from their Fourier coefficients.

The entries of M, C and g are sums of products of sines and cosines of the revolute joints' angles and powers of the
prismatic joints' positions. Of such a function, f = Σ_κ A_κ Π_k b_κk(q_k) with b = exp(i κ q) or a power, a few values per
joint give all coefficients, and |∂²f/∂q_k ∂q_l| ≤ Σ_κ |A_κ| sup|b'_κk| sup|b'_κl|: tighter than intervals, which ignore the
dependence of sine and cosine of one angle, and equal for every part of the box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynamis.scalar import Node, Program, topological
from dynamis.tolerances import UNIT_ROUNDOFF

Array = npt.NDArray[Any]

MAX_GRID_VALUES = 6_000_000  # of all functions at all points of the grid
MAX_POWER = 4


class Harmonics(NamedTuple):
    """For m functions of d variables: mean, bound of the deviation from it, and bounds of the second derivatives."""

    mean: Array  # (m,)
    range: Array  # (m,)
    curvature: Array  # (m, d, d)


def harmonics(
    outputs: Sequence[Any], variables: Sequence[Node], lower: Array, upper: Array, size: Array, error: Array
) -> Harmonics | None:
    """The harmonics of functions over a box; None if they are not such polynomials, or too large.

    ``size`` (m,) bounds the functions over the box and ``error`` (m,) the rounding of their values.
    """
    degrees = _degrees(outputs, variables)
    if degrees is None:
        return None
    m, d = len(outputs), len(variables)
    turning, power = degrees
    points = np.where(turning > 0, 2 * turning + 1, power + 1)
    if (
        ((turning > 0) & (power > 0)).any()
        or power.max(initial=0) > MAX_POWER
        or math.prod(points.tolist()) * m > MAX_GRID_VALUES
    ):
        return None
    middle, half = 0.5 * (lower + upper), np.maximum(0.5 * (upper - lower), 1e-9)
    nodes = [
        np.arange(points[k]) * (2.0 * np.pi / points[k]) if turning[k] else middle[k] + half[k] * np.linspace(-1, 1, points[k])
        for k in range(d)
    ]
    grid = np.meshgrid(*nodes, indexing="ij")
    A: Array = Program(variables, np.array(list(outputs), dtype=object))(*grid)
    first, second = [], []
    for k in range(d):
        if turning[k]:
            A = np.fft.fft(A, axis=k) / points[k]
            order = np.abs(np.fft.fftfreq(points[k]) * points[k])
            first.append(order)
            second.append(order**2)
        else:
            solve = np.linalg.inv(np.vander(np.linspace(-1, 1, points[k]), increasing=True))
            A = np.moveaxis(np.tensordot(solve, A, (1, k)), 0, k)
            order = np.arange(float(points[k]))
            first.append(order / half[k])
            second.append(order * (order - 1.0) / half[k] ** 2)
    # rounding of the values, of the places where they are taken and of the transforms, each linear in the functions
    rounding = 1000 * max(d, 1) * UNIT_ROUNDOFF * size + 8.0 * error
    sizes = np.abs(A) + rounding
    mean = A[(0,) * d].real
    curvature = np.empty((m, d, d))
    for k in range(d):
        for l in range(k, d):
            weights = {k: second[k]} if k == l else {k: first[k], l: first[l]}
            curvature[:, k, l] = curvature[:, l, k] = _weighted_sum(sizes, weights)
    total = _weighted_sum(sizes, {}) - sizes[(0,) * d] + rounding
    return Harmonics(mean, total, curvature)


def _weighted_sum(sizes: Array, weights: dict[int, Array]) -> Array:
    """Σ over all axes but the last, each entry times the weights of its places on some of them."""
    for axis in range(sizes.ndim - 2, -1, -1):
        weight = weights.get(axis)
        sizes = sizes.sum(axis=axis) if weight is None else np.tensordot(sizes, weight, (axis, 0))
    return sizes


def _degrees(outputs: Sequence[Any], variables: Sequence[Node]) -> tuple[Array, Array] | None:
    """For each variable the highest harmonic and the highest power in the outputs, from their expressions."""
    none = np.zeros(len(variables), dtype=int)
    units = np.eye(len(variables), dtype=int)
    known: dict[int, tuple[Array, Array]] = {id(x): (none, unit) for x, unit in zip(variables, units, strict=True)}
    multiples: dict[int, Array] = {id(x): 1.0 * unit for x, unit in zip(variables, units, strict=True)}
    for node in topological(outputs):
        if id(node) in known:
            continue
        args = [known[id(a)] if isinstance(a, Node) else (none, none) for a in node.args]
        linear = _multiple(node, multiples, len(variables))
        if linear is not None:
            multiples[id(node)] = linear
        if node.op in ("add", "sub", "neg"):
            known[id(node)] = np.max([a[0] for a in args], axis=0), np.max([a[1] for a in args], axis=0)
        elif node.op == "mul" or (node.op == "div" and not isinstance(node.args[1], Node)):
            known[id(node)] = np.sum([a[0] for a in args], axis=0), np.sum([a[1] for a in args], axis=0)
        elif node.op in ("sin", "cos") and id(node.args[0]) in multiples:
            times = np.abs(multiples[id(node.args[0])])
            if (times != np.round(times)).any():
                return None
            known[id(node)] = times.astype(int), none
        else:
            return None
    ends = [known[id(x)] for x in outputs if isinstance(x, Node)] or [(none, none)]
    return np.max([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)


def _multiple(node: Node, multiples: dict[int, Array], d: int) -> Array | None:
    """The coefficients of the variables, if the node is an affine function of them."""
    parts: list[Array] = []
    for a in node.args:
        if isinstance(a, Node) and id(a) not in multiples:
            return None
        parts.append(multiples[id(a)] if isinstance(a, Node) else np.zeros(d))
    match node.op:
        case "neg":
            return -parts[0]
        case "add":
            return parts[0] + parts[1]
        case "sub":
            return parts[0] - parts[1]
        case "mul" if isinstance(node.args[0], float):
            return np.asarray(node.args[0] * parts[1])
    return None
