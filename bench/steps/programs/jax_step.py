"""A training step of a perceptron with layer norms in JAX, compiled by XLA."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0")
import common
import jax
import jax.numpy as jnp
import numpy

SIZES = 1024, 4096, 4096, 1024
keys = jax.random.split(jax.random.PRNGKey(1), len(SIZES))
start = [jax.random.normal(k, (a, b)) / a**0.5 for k, a, b in zip(keys, SIZES, SIZES[1:], strict=False)]
inputs = jax.random.normal(keys[-1], (2048, SIZES[0]))


def loss(weights, x):
    y = x
    for w in weights:
        y = jax.nn.gelu(y @ w)
        y = (y - y.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + 1e-5)
    return ((y - x) ** 2).mean()


@jax.jit
def train(weights, x):
    return [w - 1e-3 * g for w, g in zip(weights, jax.grad(loss)(weights, x), strict=True)]


state = {"weights": start}


def step():
    state["weights"] = train(state["weights"], inputs)


common.run(step, lambda: jax.block_until_ready(state["weights"]), lambda: [numpy.asarray(w) for w in state["weights"]])
