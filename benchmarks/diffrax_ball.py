"""diffrax's side of `gradients.py`, run by its own interpreter: a ball on a spring and a dashpot, differentiated by JAX.

A job on stdin, the answer on stdout, both JSON.
"""

import json
import sys
import time

import diffrax
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def final_state(theta, job):
    """Height and speed at t_end; theta: stiffness, damping, drop height, gravity."""
    stiffness, damping, height, gravity = theta

    def rhs(t, y, args):
        depth = jnp.maximum(-y[0], 0.0)
        force = jnp.where(y[0] < 0.0, jnp.maximum(stiffness * depth - damping * y[1], 0.0), 0.0)
        return jnp.array([y[1], force / job["mass"] - gravity])

    start = jnp.array([height, 0.0 * height])
    controller = diffrax.PIDController(rtol=job["rtol"], atol=1e-3 * job["rtol"])
    solution = diffrax.diffeqsolve(diffrax.ODETerm(rhs), diffrax.Dopri8(), 0.0, job["t_end"], 1e-4, start,
                                   stepsize_controller=controller, max_steps=20_000)  # fmt: skip
    return solution.ys[-1]


def main():
    job = json.loads(sys.stdin.read())
    theta = jnp.array(job["theta"])
    run = jax.jit(lambda x: final_state(x, job))
    slopes = jax.jit(jax.jacrev(lambda x: final_state(x, job)))
    run(theta).block_until_ready(), slopes(theta).block_until_ready()

    def fastest(function):
        taken = []
        for _ in range(job["repeat"]):
            began = time.perf_counter()
            function(theta).block_until_ready()
            taken.append(time.perf_counter() - began)
        return min(taken)

    answer = {"version": diffrax.__version__, "slopes": slopes(theta).tolist(), "run_s": fastest(run), "slopes_s": fastest(slopes)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
