"""MuJoCo with contacts, limits and everything else but the smooth dynamics switched off."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.offers import Offer
from benchmarks.subjects import States, Subject, plain_urdf, root_name
from benchmarks.world_axes import WorldAxes
from dynamis.model.description import Joint, Link

Array = npt.NDArray[Any]

SWITCHED_OFF = (
    "ACTUATION", "AUTORESET", "CONSTRAINT", "CONTACT", "DAMPER", "EQUALITY", "EULERDAMP", "FRICTIONLOSS", "LIMIT", "SENSOR",
    "SPRING", "WARMSTART",
)  # fmt: skip


class Model:
    """The robot in MuJoCo, our states in its conventions, and the places of our coordinates in its vectors."""

    def __init__(self, subject: Subject, states: States) -> None:
        self.mujoco: Any = importlib.import_module("mujoco")
        self.model = self._compiled(subject)
        self.data: Any = self.mujoco.MjData(self.model)
        self.axes = WorldAxes(states, floating=subject.floating)
        joints = [self.model.joint(name) for name in subject.actuated]
        free = np.arange(6 if subject.floating else 0)
        self.place = np.concatenate([free, [j.dofadr[0] for j in joints]]).astype(int)
        free_q = np.arange(7 if subject.floating else 0)
        place_q = np.concatenate([free_q, [j.qposadr[0] for j in joints]]).astype(int)
        self.q = np.empty_like(self.axes.q)
        self.q[:, place_q] = self.axes.q
        self.v, self.a, self.tau = map(self._placed, (self.axes.v, self.axes.a, self.axes.tau))

    def _placed(self, rows: Array) -> Array:
        result = np.empty_like(rows)
        result[:, self.place] = rows
        return result

    def _compiled(self, subject: Subject) -> Any:
        description = subject.description.copy()
        if subject.floating:
            # the root of a URDF is merged with their world; one link more keeps it a body of its own, to be freed
            root = root_name(description)
            description.links.insert(0, Link("world"))
            description.joints.insert(0, Joint("on_the_world", "fixed", "world", root))
        spec = self.mujoco.MjSpec.from_string(plain_urdf(description))
        spec.compiler.fusestatic = False
        spec.compiler.balanceinertia = False
        spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
        if subject.floating:
            spec.body(root).add_freejoint()
        spec.option.gravity = subject.description.gravity
        spec.option.timestep = 1.0  # one step then changes the velocity by the acceleration
        model = spec.compile()
        flags = 0
        for name in SWITCHED_OFF:
            flags |= int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{name}"))
        model.opt.disableflags = flags
        return model


def inverse_dynamics(m: Model) -> Offer:
    """mj_inverse state by state; torques are left where MuJoCo puts them, one over the other."""
    mj_inverse, model, data = m.mujoco.mj_inverse, m.model, m.data
    q, v, a, torque = data.qpos, data.qvel, data.qacc, data.qfrc_inverse
    rows = list(zip(m.q, m.v, m.a, strict=True))

    def one(state: tuple[Array, Array, Array]) -> Array:
        q[:], v[:], a[:] = state
        mj_inverse(model, data)
        return torque

    def run() -> None:
        for state in rows:
            q[:], v[:], a[:] = state
            mj_inverse(model, data)

    def results() -> Array:
        return m.axes.our_forces(np.array([one(state).copy() for state in rows])[:, m.place])

    return Offer(run, results, len(rows), "Python loop over mj_inverse", lambda: one(rows[0]))


def forward_dynamics(m: Model) -> Offer:
    """One step of a second from each state, in C++: the velocity grows by the acceleration."""
    rollout: Any = importlib.import_module("mujoco.rollout")
    applied = m.mujoco.mjtState.mjSTATE_QFRC_APPLIED.value
    count, size = len(m.q), m.mujoco.mj_stateSize(m.model, m.mujoco.mjtState.mjSTATE_FULLPHYSICS)
    velocities = slice(1 + m.model.nq, 1 + m.model.nq + m.model.nv)  # after the time and the configuration
    start, end, sensors = np.zeros((count, size)), np.zeros((count, 1, size)), np.zeros((count, 1, 0))
    start[:, 1 : 1 + m.model.nq], start[:, velocities] = m.q, m.v
    models, torques = [m.model] * count, np.ascontiguousarray(m.tau[:, None])
    mj_forward, data = m.mujoco.mj_forward, m.data
    q, v, torque, acceleration = data.qpos, data.qvel, data.qfrc_applied, data.qacc

    def run() -> None:
        rollout.rollout(
            models, [data], start, torques, control_spec=applied, skip_checks=True, nstep=1, state=end, sensordata=sensors
        )

    def results() -> Array:
        return m.axes.our_accelerations((end[:, 0, velocities] - m.v)[:, m.place])

    def single() -> Array:
        q[:], v[:], torque[:] = m.q[0], m.v[0], m.tau[0]
        mj_forward(m.model, data)
        return acceleration

    return Offer(run, results, count, "C++ rollout of one step", single)


def mass_matrix(m: Model) -> Offer:
    """Kinematics, composite bodies and the full matrix, state by state."""
    mujoco, model, data = m.mujoco, m.model, m.data
    kinematics, com, composite, full = mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_crb, mujoco.mj_fullM
    q, rows = data.qpos, list(m.q)
    out = np.zeros((len(rows), model.nv, model.nv))

    def one(row: Array, M: Array) -> None:
        q[:] = row
        kinematics(model, data)
        com(model, data)
        composite(model, data)
        full(model, data, M)

    def run() -> None:
        for row, M in zip(rows, out, strict=True):
            one(row, M)

    def results() -> Array:
        return m.axes.our_matrices(out[:, m.place[:, None], m.place[None, :]])

    return Offer(run, results, len(rows), "Python loop over mj_crb", lambda: one(rows[0], out[0]))


def offers(subject: Subject, states: States) -> Mapping[str, Callable[[], Offer]]:
    model = Model(subject, states)
    return {
        "inverse_dynamics": lambda: inverse_dynamics(model),
        "forward_dynamics": lambda: forward_dynamics(model),
        "mass_matrix": lambda: mass_matrix(model),
    }
