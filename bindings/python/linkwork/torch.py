"""Dynamics as functions of PyTorch, with exact gradients: ``import linkwork.torch`` (needs torch).

::

    import torch
    import linkwork as lw, linkwork.torch

    roll = lw.torch.rollout(lw.load("arm.yaml"), h=0.01)
    q_all, v_all = roll(q, v, tau)     # tau [steps, batch, nv], requires_grad; all [steps, batch, n]
    q_all[-1].sum().backward()

Tensors are of 64-bit numbers on the processor; batches are leading dimensions. Second derivatives are not available.
"""
from __future__ import annotations

import importlib
from typing import Any, Callable, List, Tuple

from ._bridge import Dynamics as _Dynamics
from ._model import Model as _Model

_torch: Any = importlib.import_module("torch")


def _stack(parts: List[Any]) -> Any:
    return _torch.stack(parts, dim=-1)


def _numbers(tensor: Any) -> Any:
    return tensor.detach().numpy()


class _Evaluate(_torch.autograd.Function):  # type: ignore[misc]
    """Accelerations of equal batches."""

    @staticmethod
    def forward(ctx: Any, dynamics: _Dynamics, q: Any, v: Any, tau: Any) -> Any:
        given = [_numbers(tensor) for tensor in (q, v, tau)]
        if not any(ctx.needs_input_grad):
            return _torch.from_numpy(dynamics.value(*given))
        vdot, *jacobians = dynamics.linearized(*given)
        ctx.save_for_backward(*(_torch.from_numpy(J) for J in jacobians))
        return _torch.from_numpy(vdot)

    @staticmethod
    @_torch.autograd.function.once_differentiable  # type: ignore
    def backward(ctx: Any, bar: Any) -> Any:
        return (None, *(_torch.einsum("...i,...ij->...j", bar, J) for J in ctx.saved_tensors))


def _made(model: _Model) -> Tuple[_Dynamics, Callable[[Any, Any, Any], Any]]:
    dynamics = _Dynamics(model)

    def evaluate(q: Any, v: Any, tau: Any) -> Any:
        tensors = (q, v, tau)
        for tensor, size, name in zip(tensors, (dynamics.nq, dynamics.nv, dynamics.nv), ("q", "v", "tau")):
            if tensor.dtype != _torch.float64 or tensor.device.type != "cpu" or tensor.shape[-1:] != (size,):
                raise ValueError(f"{name}: {tensor.dtype} on {tensor.device}, shape {tuple(tensor.shape)}; expected "
                                 f"torch.float64 on cpu, [..., {size}]")
        batch = _torch.broadcast_shapes(*(tensor.shape[:-1] for tensor in tensors))
        return _Evaluate.apply(dynamics, *(tensor.expand(*batch, tensor.shape[-1]) for tensor in tensors))

    return dynamics, evaluate


def forward_dynamics(model: _Model) -> Callable[[Any, Any, Any], Any]:
    """The function (q, v, tau) -> vdot [..., nv], as :meth:`linkwork.Data.forward_dynamics`, with its gradient."""
    return _made(model)[1]


def step(model: _Model, h: float) -> Callable[[Any, Any, Any], Tuple[Any, Any]]:
    """The function (q, v, tau) -> (q, v) after a step of h seconds of the classical Runge-Kutta method, tau constant."""
    dynamics, f = _made(model)
    return lambda q, v, tau: dynamics.step(f, q, v, tau, h, _stack)


def rollout(model: _Model, h: float) -> Callable[[Any, Any, Any], Tuple[Any, Any]]:
    """The function (q, v, tau [steps, ..., nv]) -> (q, v) [steps, ..., n] after each step."""
    one = step(model, h)

    def roll(q: Any, v: Any, tau: Any) -> Tuple[Any, Any]:
        states = []
        for effort in tau:
            q, v = one(q, v, effort)
            states.append((q, v))
        return _torch.stack([s[0] for s in states]), _torch.stack([s[1] for s in states])

    return roll


__all__ = ["forward_dynamics", "rollout", "step"]
