"""Dynamics as functions of JAX, with exact gradients: ``import linkwork.jax`` (needs jax with 64-bit numbers).

::

    import jax
    jax.config.update("jax_enable_x64", True)
    import linkwork as lw, linkwork.jax

    roll = lw.jax.rollout(lw.load("arm.yaml"), h=0.01)
    gradient = jax.grad(lambda tau: roll(q, v, tau)[0][-1, 0])(tau)     # tau [steps, nv]

Functions work under ``jit``, ``grad`` and ``vmap``; the evaluations are those of :class:`linkwork.Data` on the host. Second
derivatives and forward mode are not available.
"""
from __future__ import annotations

import importlib
from typing import Any, Callable, Tuple

from ._bridge import Dynamics as _Dynamics
from ._errors import UnsupportedError as _UnsupportedError
from ._model import Model as _Model

_jax: Any = importlib.import_module("jax")
_jnp: Any = importlib.import_module("jax.numpy")


def _stack(parts: Any) -> Any:
    return _jnp.stack(parts, axis=-1)


def _made(model: _Model) -> Tuple[_Dynamics, Callable[..., Any]]:
    if not _jax.config.jax_enable_x64:
        raise _UnsupportedError('JAX has 32-bit numbers: expected jax.config.update("jax_enable_x64", True) before')
    dynamics = _Dynamics(model)
    nq, nv = dynamics.nq, dynamics.nv

    def shapes(*arrays: Any) -> Tuple[int, ...]:
        for array, size, name in zip(arrays, (nq, nv, nv), ("q", "v", "tau")):
            if _jnp.ndim(array) < 1 or array.shape[-1] != size:
                raise ValueError(f"{name}: shape {_jnp.shape(array)}, expected [..., {size}]")
        batch: Tuple[int, ...] = _jnp.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        return batch

    def result(*shape: int) -> Any:
        return _jax.ShapeDtypeStruct(shape, _jnp.float64)

    def value(q: Any, v: Any, tau: Any) -> Any:
        return _jax.pure_callback(dynamics.value, result(*shapes(q, v, tau), nv), q, v, tau, vmap_method="broadcast_all")

    def forward(q: Any, v: Any, tau: Any) -> Any:
        batch = shapes(q, v, tau)
        outputs = (result(*batch, nv), result(*batch, nv, nq), result(*batch, nv, nv), result(*batch, nv, nv))
        vdot, *jacobians = _jax.pure_callback(dynamics.linearized, outputs, q, v, tau, vmap_method="broadcast_all")
        return vdot, tuple(jacobians)

    def backward(jacobians: Any, bar: Any) -> Any:
        return tuple(_jnp.einsum("...i,...ij->...j", bar, J) for J in jacobians)

    evaluate: Any = _jax.custom_vjp(value)
    evaluate.defvjp(forward, backward)

    def forward_dynamics(q: Any, v: Any, tau: Any) -> Any:
        arrays = [_jnp.asarray(a, dtype=_jnp.float64) for a in (q, v, tau)]
        batch = shapes(*arrays)  # equal, so that gradients of what is broadcast are sums by JAX
        return evaluate(*(_jnp.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays))

    return dynamics, forward_dynamics


def forward_dynamics(model: _Model) -> Callable[[Any, Any, Any], Any]:
    """The function (q, v, tau) -> vdot [..., nv], as :meth:`linkwork.Data.forward_dynamics`, with its gradient."""
    return _made(model)[1]


def step(model: _Model, h: float) -> Callable[[Any, Any, Any], Tuple[Any, Any]]:
    """The function (q, v, tau) -> (q, v) after a step of h seconds of the classical Runge-Kutta method, tau constant."""
    dynamics, f = _made(model)

    def one(q: Any, v: Any, tau: Any) -> Tuple[Any, Any]:
        q, v, tau = (_jnp.asarray(a, dtype=_jnp.float64) for a in (q, v, tau))
        return dynamics.step(f, q, v, tau, h, _stack)

    return one


def rollout(model: _Model, h: float) -> Callable[[Any, Any, Any], Tuple[Any, Any]]:
    """The function (q, v, tau [steps, ..., nv]) -> (q, v) [steps, ..., n] after each step."""
    one = step(model, h)

    def roll(q: Any, v: Any, tau: Any) -> Tuple[Any, Any]:
        def body(state: Any, effort: Any) -> Any:
            after = one(state[0], state[1], effort)
            return after, after

        start = tuple(_jnp.asarray(a, dtype=_jnp.float64) for a in (q, v))
        after: Tuple[Any, Any] = _jax.lax.scan(body, start, _jnp.asarray(tau, dtype=_jnp.float64))[1]
        return after

    return roll


__all__ = ["forward_dynamics", "rollout", "step"]
