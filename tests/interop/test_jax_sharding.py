"""JAX functions on several devices: derivatives inside and outside of shard_map. The devices are made when JAX starts."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax", reason="JAX is not installed: pip install jax")

SCRIPT = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

import dynamis as dy

jax.config.update("jax_enable_x64", True)
try:
    from jax import shard_map
except ImportError:  # before JAX 0.6
    from jax.experimental.shard_map import shard_map

robot = dy.load("planar_2r_melchiorri")
function = robot.jax("forward_dynamics")
rng = np.random.default_rng(0)
q, v, tau = rng.normal(size=(3, 8, 2))
assert len(jax.devices()) == 2
split, same = PartitionSpec("x"), PartitionSpec()


def sharded(of, *specs, out=split):
    return shard_map(of, mesh=Mesh(np.array(jax.devices()), ("x",)), in_specs=specs, out_specs=out)


def loss(f):
    return lambda *state: (f(*state) ** 2).sum()


def gradients(f):
    return jax.grad(loss(f), (0, 1, 2))


def along(f):
    return lambda *state: jax.jvp(f, state, state)[1]


def pulled(f):
    return lambda *state: jax.vjp(f, *state)[1](state[2])


def second(f):
    return jax.grad(lambda *state: sum(jnp.sin(x).sum() for x in gradients(f)(*state)), (0, 1, 2))


def check(found, expected):
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * float(abs(b).max()))


three = (split, split, split)
for transform in TRANSFORMS:
    expected = transform(function)(q, v, tau)
    check(transform(sharded(function, *three))(q, v, tau), expected)
    check(jax.jit(sharded(transform(jax.vmap(function)), *three))(q, v, tau), expected)
expected = gradients(function)(q[0], v, tau)  # one configuration for all devices: its gradient is the sum over them
check(jax.jit(sharded(gradients(function), same, split, split, out=(same, split, split)))(q[0], v, tau), expected)
print("done")
"""


CALLBACKS = "import dynamis.interop.jax_functions as m\nm.thread_count, m.WORTH_A_THREAD = lambda: 2, 1\n"


@pytest.mark.parametrize(("before", "transforms"), [("", "(along, pulled, gradients, second)"), (CALLBACKS, "(gradients,)")])
def test_derivatives_inside_and_outside_of_shard_map(before, transforms):
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    script = before + SCRIPT.replace("TRANSFORMS", transforms)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=500)
    assert done.stdout.strip() == "done", done.stderr[-2000:]
