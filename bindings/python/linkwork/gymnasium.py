"""Environments of Gymnasium for reinforcement learning: ``import linkwork.gymnasium`` (needs gymnasium).

::

    import numpy as np
    import linkwork as lw, linkwork.gymnasium

    envs = lw.gymnasium.VectorEnv("cart_arm.yaml", 1024, step=0.02, low=-20, high=20,
                                  reward=lambda before, actions, after: np.cos(after.joint("elbow")[0][:, 0]),
                                  max_episode_steps=500)
    observations, infos = envs.reset(seed=1)
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

All environments are instances of one :class:`linkwork.Batch`: any model, loops included, in lanes and threads, each bit for bit
what a :class:`linkwork.Simulation` computes.
"""
from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._batch import Batch as _Batch
from ._errors import ArgumentError as _ArgumentError
from ._errors import Error as _Error
from ._memory import Array as _Array
from ._model import Joint as _Joint
from ._model import Model as _Model
from ._model import Path as _Path

_gymnasium: Any = importlib.import_module("gymnasium")
_seeding: Any = importlib.import_module("gymnasium.utils.seeding")
_vector: Any = importlib.import_module("gymnasium.vector")


class States:
    """The present states of all environments."""

    def __init__(self, model: _Model, time: float, q: _Array, qd: _Array) -> None:
        self.model = model
        self.time = time  #: of the batch [s], not of the episodes
        self.q = q  #: coordinates of all joints [environments, ``model.nq``]
        self.qd = qd  #: speeds [environments, ``model.nv``]

    def joint(self, joint: Union[str, _Joint]) -> Tuple[_Array, _Array]:
        """Coordinates and speeds of one joint, [environments, its number of them]."""
        found = self.model.joint(joint) if isinstance(joint, str) else joint
        return self.q[:, found.q], self.qd[:, found.v]


Seed = Union[None, int, Sequence[Optional[int]]]
Start = Callable[[np.random.Generator, int], Tuple[ArrayLike, ArrayLike]]
Reward = Callable[[States, _Array, States], ArrayLike]


def _checked(seed: Any, what: str) -> int:
    if isinstance(seed, (int, np.integer)) and seed >= 0:
        return int(seed)
    raise _ArgumentError(f"{what} is {seed!r}, expected an integer from 0 on")


def _default_observation(states: States) -> _Array:
    return np.concatenate((states.q, states.qd), axis=1)


class VectorEnv(_vector.VectorEnv):  # type: ignore[misc]
    """Environments that are stepped together: actions are the inputs of the model, constant over a step.

    :param model: a model with inputs, or its file
    :param num_envs: how many
    :param step: length of a step of the environment [s], in which the integrator makes its own
    :param low, high: bounds of the actions, one number or one for each of ``model.inputs``; actions are clipped
    :param start: of an episode: called with the random generator of :meth:`reset` and a number n, returns coordinates [n,
        ``model.nq``] and speeds [n, ``model.nv``]; with loops such as close them (``Model.assemble``).  None: the start of the
        model
    :param observe: :class:`States` to observations [environments, ...]; None: coordinates and speeds of all joints
    :param reward: called with the states before, actions and states after a step; returns [environments]; None: zeros
    :param terminated: states to [environments] of bool: these episodes have ended; None: none does
    :param max_episode_steps: an episode of so many steps is truncated; 0: never
    :param options: of :class:`linkwork.Batch`

    An episode that has ended starts again in the next step, which ignores its action and has reward 0
    (``AutoresetMode.NEXT_STEP``).  Where the integrator fails an episode is terminated, with the observation of its last
    state and the reason in ``infos["failure"]``.  Episodes begin at the time of the batch, so that functions of time go on.
    """

    def __init__(self, model: Union[_Model, _Path], num_envs: int, *, step: float, low: ArrayLike = -1, high: ArrayLike = 1,
                 start: Optional[Start] = None, observe: Optional[Callable[[States], _Array]] = None,
                 reward: Optional[Reward] = None, terminated: Optional[Callable[[States], ArrayLike]] = None,
                 max_episode_steps: int = 0, **options: Any) -> None:
        self.batch = _Batch(model, instances=num_envs, **options)
        self.model = self.batch.model
        self.num_envs, self.max_episode_steps = num_envs, max_episode_steps
        if not step > 0:
            raise _ArgumentError(f"step: {step}, expected a positive number [s]")
        if not self.model.inputs:
            raise _ArgumentError("the model has no inputs, which are the actions: expected `inputs` in its file")
        self._step, self._start, self._observe = step, start, observe or _default_observation
        self._reward, self._terminated = reward, terminated
        self._generators: Optional[List[np.random.Generator]] = None  # of each environment; None: np_random of all
        self._count = 0
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._done = np.zeros(num_envs, dtype=bool)
        self._first = tuple(array[0].copy() for array in self.batch.joints())
        self._states = self._read(None)
        self._spaces(low, high)
        self.metadata = {"autoreset_mode": _vector.AutoresetMode.NEXT_STEP}

    def _spaces(self, low: ArrayLike, high: ArrayLike) -> None:
        shape = (len(self.model.inputs),)
        bounds = [np.broadcast_to(np.asarray(b, dtype=np.float64), shape) for b in (low, high)]
        if not np.all(bounds[0] < bounds[1]):
            raise _ArgumentError("low, high: expected lower bounds below the upper ones")
        self._low, self._high = bounds
        seen = np.asarray(self._observe(self._states))
        if seen.shape[:1] != (self.num_envs,):
            raise _ArgumentError(f"observe: shape {seen.shape}, expected [{self.num_envs}, ...]")
        space, batched = _gymnasium.spaces.Box, _vector.utils.batch_space
        self.single_action_space = space(*bounds, dtype=np.float64)
        self.single_observation_space = space(-np.inf, np.inf, seen.shape[1:], seen.dtype)
        self.action_space = batched(self.single_action_space, self.num_envs)
        self.observation_space = batched(self.single_observation_space, self.num_envs)

    @property
    def time(self) -> float:
        """Of the batch [s]."""
        return self._count * self._step

    def _read(self, last: Optional[States]) -> States:
        """Of environments that have failed the last states."""
        q, qd = (None, None) if last is None else (last.q.copy(), last.qd.copy())
        return States(self.model, self.time, *self.batch.joints(q, qd))

    def _starts(self, random: np.random.Generator, n: int) -> Tuple[_Array, _Array]:
        q, qd = self._first if self._start is None else self._start(random, n)
        return (np.broadcast_to(np.asarray(q, dtype=np.float64), (n, self.model.nq)),
                np.broadcast_to(np.asarray(qd, dtype=np.float64), (n, self.model.nv)))

    def _restart(self, which: _Array, time: float) -> None:
        environments = np.flatnonzero(which)
        if self._generators is None:
            states = list(zip(*self._starts(self.np_random, len(environments))))
        else:
            states = [tuple(x[0] for x in self._starts(self._generators[i], 1)) for i in environments]
        for i, (q, qd) in zip(environments, states):
            self.batch.set_joints(int(i), q, qd, time)
        self._steps[which] = 0

    def _seed(self, seed: Seed, which: _Array) -> None:
        if seed is None:
            return
        if isinstance(seed, (int, np.integer)) or not hasattr(seed, "__len__"):
            self._np_random, self._np_random_seed = _seeding.np_random(_checked(seed, "seed"))
            self._generators = None
            return
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise _ArgumentError(f"seed: got {len(seeds)}, expected one number, or {self.num_envs}: one, or None, for each "
                                 "environment")
        numbers = [None if s is None else _checked(s, f"seed[{i}]") for i, s in enumerate(seeds)]
        if self._generators is None:
            self._generators = [_seeding.np_random(None)[0] for _ in seeds]
        for i in np.flatnonzero(which):
            if numbers[i] is not None:
                self._generators[i] = _seeding.np_random(numbers[i])[0]

    def reset(self, *, seed: Seed = None,
              options: Optional[Dict[str, Any]] = None) -> Tuple[_Array, Dict[str, Any]]:
        """All episodes start again, or those of ``options["reset_mask"]`` [environments] of bool.

        :param seed: of the random generator of all environments; or a list, for each environment the seed of a generator of its
            own, None: the one it has. ``start`` is then called for one environment at a time. None: generators go on
        """
        which = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if which.shape != (self.num_envs,) or which.dtype != bool:
            raise _ArgumentError(f"reset_mask: expected {self.num_envs} of bool, got {which.dtype} {which.shape}")
        self._seed(seed, which)
        self._done[which] = False
        self._restart(which, self.time)
        self._states = self._read(self._states)
        return self._observe(self._states), {}

    def _advance(self, until: float) -> Tuple[_Array, Dict[str, Any]]:
        """Which environments have failed, and why."""
        try:
            self.batch.step(until)
        except _Error:
            failures = self.batch.failures
            failed = np.array([bool(f) for f in failures])
            if not failed.any():
                raise
            return failed, {"failure": np.array(failures, dtype=object), "_failure": failed}
        return np.zeros(self.num_envs, dtype=bool), {}

    def step(self, actions: ArrayLike) -> Tuple[_Array, _Array, _Array, _Array, Dict[str, Any]]:
        """Observations, rewards, terminations, truncations, infos."""
        shape = (self.num_envs, len(self.model.inputs))
        given = np.clip(np.asarray(actions, dtype=np.float64).reshape(shape), self._low, self._high)
        before, again = self._states, self._done
        self._count += 1
        if again.any():
            self._restart(again, self.time)
        self.batch.set_inputs(given)
        failed, infos = self._advance(self.time)
        after = self._states = self._read(before)
        self._steps[~again] += 1
        rewards = np.zeros(self.num_envs)
        if self._reward is not None:
            rewards = np.where(again, 0.0, np.asarray(self._reward(before, given, after), dtype=np.float64))
        ended = failed if self._terminated is None else failed | np.asarray(self._terminated(after), dtype=bool)
        ended = ended & ~again
        cut = ~ended & ~again & (self._steps >= self.max_episode_steps) & (self.max_episode_steps > 0)
        self._done = ended | cut
        return self._observe(after), rewards, ended, cut, infos


__all__ = ["VectorEnv", "States"]
