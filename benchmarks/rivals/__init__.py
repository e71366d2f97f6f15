"""The other libraries, one a file; each is imported only when it is measured."""

from __future__ import annotations

from benchmarks.offers import Rival
from benchmarks.rivals import adam, dynibo, frax, mujoco, pinocchio, robotics_toolbox

RIVALS: dict[str, Rival] = {
    "pinocchio": Rival("Pinocchio", ("pin",), pinocchio.offers),
    "mujoco": Rival("MuJoCo", ("mujoco",), mujoco.offers),
    "dynibo": Rival("dynibo", ("dynibo",), dynibo.offers),
    "robotics_toolbox": Rival("Robotics Toolbox", ("roboticstoolbox-python",), robotics_toolbox.offers),
    "adam_casadi": Rival("adam, CasADi", ("adam-robotics", "casadi"), adam.casadi_offers),
    "adam_jax": Rival("adam, JAX", ("adam-robotics", "jax"), adam.jax_offers),
    "frax": Rival("frax, JAX", ("frax", "jax"), frax.offers),
}
