"""Whether a robot that is written and read again is the same."""

from __future__ import annotations

import numpy as np

import dynamis as dy
from dynamis.algorithms.dynamics import gravity
from dynamis.algorithms.kinematics import relative_poses, world_poses
from dynamis.algorithms.mass_matrix import crba
from dynamis.model.build import build
from dynamis.model.load import read
from dynamis.model.writers.toml import write_toml
from dynamis.model.writers.urdf import urdf_document, write_urdf

FORMS = ("urdf", "edited urdf", "link", "dh", "mdh", "poe")


def round_trips(description, model, path):
    written = []
    for form in FORMS:
        target = path.with_name(f"again.{'urdf' if 'urdf' in form else 'toml'}")
        try:
            if form == "urdf":
                data = write_urdf(description).encode()
            elif form == "edited urdf":
                data = urdf_document(description)
            else:
                data = write_toml(description, form).encode()
        except dy.ConversionError:
            continue
        target.write_bytes(data)
        again, report = read(target)
        if again is None or not report.ok:
            return f"{form} is written and then refused: {report.errors[0]}", ()
        different = difference(model, build(again))
        if different:
            return f"{form} reads back with another {different}", ()
        written.append(form)
    return "", tuple(written)


def difference(one, other, tolerance=1e-7):
    if one.symbolic or other.symbolic:
        return "" if one.symbolic == other.symbolic else "kind: symbols"
    if one.nq != other.nq or [c.joint for c in one.coordinates] != [c.joint for c in other.coordinates]:
        return "set of coordinates" if len(one.coordinates) != len(other.coordinates) else ""
    q = np.concatenate([np.zeros(0), *([_at(one, b, k) for k, (_, b) in enumerate(one.moving) if _own(one, b)])])
    if q.shape != (one.nq,):
        return ""
    poses, weights = world_poses(one, relative_poses(one, q)), []
    for (_, body), X in zip(one.moving, poses[1:], strict=True):
        p = body.inertia.seen_from(X).parameters
        weights.append((abs(p[0]), np.abs(p[1:4]).max(), np.abs(p[4:]).max()))
    reach = max(
        [1.0, *(float(np.abs(X.p).max()) for X in poses), *(float(np.abs(f.pose.p).max()) for f in one.frames.values())]
    )
    heavy = max([w[2] + w[1] * reach + w[0] * reach**2 for w in weights], default=0.0)
    M, N = (crba(model, q) + np.diag(model.rotor) for model in (one, other))
    slope = max([1.0, *(float(np.abs(b.S).max()) for _, b in one.moving)]) ** 2
    heavy += max([w[0] for w in weights], default=0.0) * any(not c.revolute for c in one.coordinates)
    if np.abs(M - N).max(initial=0.0) > tolerance * max(heavy * slope, np.abs(one.rotor).max(initial=0.0), 1e-300):
        return "mass matrix"
    pull = max(float(np.abs(one.gravity).max()), 1e-300) * max([w[1] + w[0] * reach for w in weights], default=0.0) * slope
    if np.abs(gravity(one, q) - gravity(other, q)).max(initial=0.0) > tolerance * max(pull, 1e-300):
        return "gravity"
    if one.tip is not None:
        if other.tip is None:
            return "tip: none"
        a, b = one.frames[one.tip], other.frames[other.tip]
        A = (poses[a.body] @ a.pose).matrix()
        B = (world_poses(other, relative_poses(other, q))[b.body] @ b.pose).matrix()
        if np.abs(A - B).max() > tolerance * reach:
            return f"tip pose: {one.tip} {other.tip}"
    return ""


def _own(model, body):
    """Whether the body has coordinates of its own: not a rotor, not a follower of another joint."""
    return not body.is_rotor and model.coordinates[body.dof[0]].joint is not None and _first(model, body)


def _first(model, body):
    return next(b for _, b in model.moving if b.q_index == body.q_index) is body


def _at(model, body, k):
    if body.motion.nq > 1:
        return body.motion.neutral()
    scale = (
        1.0 if model.coordinates[body.dof[0]].revolute else max(float(np.abs(f.pose.p).max()) for f in model.frames.values())
    )
    return np.array([(0.3 + 0.2 * k) * min(scale, 1.0)])
