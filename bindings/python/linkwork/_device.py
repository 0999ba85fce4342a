"""Many instances of one model in one launch, on a GPU or on the processor."""
from __future__ import annotations

import importlib.util
import os
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._errors import ArgumentError, check, make_error, path_bytes, text_of
from ._model import Model, Path, load, made_model
from ._native import ffi, lib
from ._options import make_options
from ._workspace import dlpack_new, dlpack_read

CPU, CUDA = 1, 2  # kinds of devices of DLPack
_DEFAULT_STREAM = 1  # of CUDA, as DLPack numbers it
_CODES = {"i": 0, "f": 2}


def _nvrtc() -> Optional[str]:
    """The library of the packages nvidia-cuda-nvrtc (CUDA 13) or nvidia-cuda-nvrtc-cu12, which the loader of the system does
    not search."""
    for package in ("nvidia.cu13", "nvidia.cuda_nvrtc"):
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            return None  # no package of nvidia
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for name in ("libnvrtc.so.13", "libnvrtc.so.12"):
                if os.path.exists(os.path.join(folder, "lib", name)):
                    return os.path.join(folder, "lib", name)
    return None


class _Foreign:
    """An array that another library has on the device; kept while it is used."""

    def __init__(self, array: Any, kind: int, number: int, dtype: Any, shape: Tuple[int, ...], what: str) -> None:
        on = tuple(int(n) for n in array.__dlpack_device__())
        if on != (kind, number):
            raise ArgumentError(f"{what}: on device {on} of DLPack, expected {(kind, number)}")
        stream = {"stream": _DEFAULT_STREAM} if kind == CUDA else {}
        try:
            self.capsule = array.__dlpack__(max_version=(1, 0), **stream)
        except TypeError:  # of the time before versions, without a flag
            self.capsule = array.__dlpack__(**stream)
        self.address, found, strides, code, bits, lanes, _, _, self.read_only = dlpack_read(self.capsule)
        expected = (_CODES[dtype.kind], 8 * dtype.itemsize, 1)
        if found != shape or (code, bits, lanes) != expected:
            raise ArgumentError(f"{what}: shape {found}, type {(code, bits, lanes)} of DLPack, expected {shape}, {dtype}")
        full = tuple(int(np.prod(shape[i + 1:])) for i in range(len(shape)))
        if strides is not None and any(s != f for s, f, n in zip(strides, full, shape) if n > 1):
            raise ArgumentError(f"{what}: strides {strides}, expected an array in C order")


class DeviceArray:
    """An array of a :class:`DeviceBatch`, [rows, instances], in the memory of its device.

    ``torch.from_dlpack(array)``, ``jax.dlpack.from_dlpack(array)`` and, on the processor, ``numpy.from_dlpack(array)``
    are the same memory, without a copy; it is kept as long as they exist.
    """

    def __init__(self, batch: DeviceBatch, which: int) -> None:
        view = ffi.new("lw_device_view *")
        check(lib.lw_device_batch_view(batch._handle, which, view))
        self._batch, self._which = batch, which
        self._address = int(ffi.cast("uintptr_t", view.data))
        self.shape = (int(view.rows), int(view.instances))
        self.dtype: Any = np.dtype(f"{'i' if view.integers else 'f'}{view.bits // 8}")
        self._device = (int(view.kind), int(view.number))

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._device

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        """No stream has to wait: calls of the batch return when the device has ended."""
        if copy or (dl_device is not None and tuple(dl_device) != self._device):
            raise BufferError("the array is not copied: use numpy()")
        versioned = max_version is not None and max_version[0] >= 1
        return dlpack_new(self._address, *self.shape, _CODES[self.dtype.kind], 8 * self.dtype.itemsize,
                          *self._device, versioned, self)

    def numpy(self) -> Any:
        """A copy in the memory of the processor."""
        values = np.empty(self.shape, self.dtype)
        if values.size:
            self._batch._check(lib.lw_device_batch_read(self._batch._handle, self._which,
                                                        ffi.from_buffer(values)))
        return values

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if copy is False:
            raise ValueError("numpy arrays of an array on a device are copies")
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def set(self, values: Any) -> None:
        """Copies values into it: of an array of DLPack on the same device, or numbers that have its shape or that numpy
        repeats to it, [rows, 1] for example."""
        if hasattr(values, "__dlpack_device__") and not isinstance(values, np.ndarray):
            foreign = _Foreign(values, *self._device, self.dtype, self.shape, "values")
            pointer, on_device = ffi.cast("void *", foreign.address), True
        else:
            try:
                array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), self.shape))
            except ValueError as error:
                raise ArgumentError(f"values: {error}") from None
            pointer, on_device = ffi.from_buffer(array), False
        if 0 not in self.shape:
            self._batch._check(lib.lw_device_batch_write(self._batch._handle, self._which, pointer, on_device))

    def __repr__(self) -> str:
        return f"<linkwork.DeviceArray: {self.shape[0]} x {self.shape[1]}, {self.dtype}, device {self._device}>"


class DeviceBatch:
    """Instances of a model by kernels that are generated for it: all steps between two calls are one launch.

    :param instances: their number; all are at the start of the model at first
    :param device: "cuda", "cuda:1": a GPU, with NVIDIA's driver and NVRTC; "cpu": the processor, with its C compiler
    :param precision: "double" or "single"
    :param measure: what :attr:`measures` has: entries of (q, v, x, mass centres of the bodies)
    :param nvrtc: path of the library; None: that of the package nvidia-cuda-nvrtc, or as the loader finds it
    :param options: of the run: the integrator "dopri54" (auto) with rtol, atol, max_steps, or "rk4" with step

    Not bit for bit equal to a :class:`Batch`, but to the tolerance (docs/batch.md). Used by one thread at a time.
    """

    def __init__(self, model: Union[Model, Path], instances: int, *, device: str = "cuda", precision: str = "double",
                 measure: Sequence[int] = (), nvrtc: Optional[Path] = None, **options: Any) -> None:
        self.model = made_model(load(model) if not isinstance(model, Model) else model)
        if precision not in ("double", "single"):
            raise ArgumentError(f"precision: '{precision}', expected double or single")
        path = path_bytes(nvrtc) if nvrtc is not None else (_nvrtc() or "").encode()
        # the description has their addresses only
        name, library = ffi.new("char[]", device.encode()), ffi.new("char[]", path) if path else ffi.NULL
        entries, run = ffi.new("int[]", [int(i) for i in measure] or [0]), make_options(self.model._options, options)
        desc = ffi.new("lw_device_batch_desc *", {
            "device": name, "instances": int(instances), "single_precision": precision == "single", "options": run,
            "nmeasure": len(measure), "measure": entries, "nvrtc": library})
        batch, error = ffi.new("lw_device_batch **"), ffi.new("lw_error *")
        check(lib.lw_device_batch_create(self.model._handle, desc, batch, error), error)
        self._handle = ffi.gc(batch[0], lib.lw_device_batch_destroy)
        self._instances = int(instances)

    def _check(self, status: int) -> None:
        if status < 0:
            raise make_error(status, lib.lw_device_batch_error(self._handle))

    def __len__(self) -> int:
        return self._instances

    @property
    def name(self) -> str:
        """Of the device."""
        return text_of(lib.lw_device_batch_name(self._handle))

    @property
    def time(self) -> float:
        """Of all instances that have not failed [s]."""
        return float(lib.lw_device_batch_time(self._handle))

    @property
    def state(self) -> DeviceArray:
        """Coordinates, speeds of the tree, states of signals [nq + nv + nstate, instances]."""
        return DeviceArray(self, lib.LW_DEVICE_STATE)

    @property
    def inputs(self) -> DeviceArray:
        """Inputs of the model [inputs, instances], for :meth:`step`."""
        return DeviceArray(self, lib.LW_DEVICE_INPUTS)

    @property
    def efforts(self) -> DeviceArray:
        """Efforts of the speeds of the tree [nv, instances], for :meth:`step`."""
        return DeviceArray(self, lib.LW_DEVICE_EFFORTS)

    @property
    def end(self) -> DeviceArray:
        """Time of each instance's state [1, instances]."""
        return DeviceArray(self, lib.LW_DEVICE_END)

    @property
    def status(self) -> DeviceArray:
        """0, or why an instance makes no more steps [1, instances] (docs/codegen.md)."""
        return DeviceArray(self, lib.LW_DEVICE_STATUS)

    @property
    def steps(self) -> DeviceArray:
        """Steps so far [1, instances]."""
        return DeviceArray(self, lib.LW_DEVICE_STEPS)

    @property
    def measures(self) -> DeviceArray:
        """Minimum, maximum and integral over time of what is measured [3 len(measure), instances]."""
        return DeviceArray(self, lib.LW_DEVICE_MEASURE)

    def close(self) -> None:
        """Changes the dependent coordinates and speeds of all states so that they satisfy the loops."""
        self._check(lib.lw_device_batch_close(self._handle))

    def step(self, until: float) -> None:
        """Integrates all instances to a time. Those that fail have a :attr:`status`, which raises nothing."""
        self._check(lib.lw_device_batch_step(self._handle, until))

    def run(self, intervals: int, length: float, *, inputs: Any = None, efforts: Any = None, out: Any = None) -> Any:
        """Many intervals of `length` seconds in one launch, with other inputs in each.

        :param inputs, efforts: [intervals, inputs or nv, instances] of DLPack on the same device; None: zeros
        :param out: [intervals, state, instances] likewise: gets the states at the ends of the intervals
        :return: `out`
        """
        pointers, kept = [], []
        for given, like, what in ((inputs, self.inputs, "inputs"), (efforts, self.efforts, "efforts"),
                                  (out, self.state, "out")):
            if given is None:
                pointers.append(ffi.NULL)
                continue
            if not hasattr(given, "__dlpack_device__"):
                raise ArgumentError(f"{what}: expected an array of DLPack on the device, got {type(given).__name__}")
            kept.append(_Foreign(given, *like._device, like.dtype, (int(intervals), *like.shape), what))
            if what == "out" and kept[-1].read_only:
                raise ArgumentError("out: the array is read-only, expected one that can be written")
            pointers.append(ffi.cast("void *", kept[-1].address))
        self._check(lib.lw_device_batch_run(self._handle, int(intervals), length, *pointers))
        return out

    def __repr__(self) -> str:
        return f"<linkwork.DeviceBatch: {self._instances} instances on {self.name}, t = {self.time:g}>"


__all__ = ["DeviceArray", "DeviceBatch"]
