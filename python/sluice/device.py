"""Outputs in the memory of the device: arrays for CuPy, PyTorch, JAX and Numba without copies, and their lifetime.

libsluice makes the tensors (struct sl_kept_batch); their deleters are C functions.
"""
from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from ctypes import c_char_p, c_void_p, py_object
from typing import Any

import numpy as np

from . import _abi
from ._library import library
from .collection import Array, CollectionOf, Field, GroupOf, Memory, Schema
from .errors import Error, ExpiredError

Shape = tuple[int, ...]

_TARGETS = {_abi.MEMORY_CUDA: "cuda", _abi.MEMORY_ROCM: "hip"}

_python = ctypes.pythonapi
_NAMES = (b"dltensor", b"dltensor_versioned")  # of capsules that were not taken over
_capsule_new = ctypes.PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _python))
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _python))
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _python))


def _delete(capsule: int) -> None:
    for is_versioned, name in enumerate(_NAMES):
        if _capsule_is_valid(capsule, name):
            library().sl_tensor_delete(_capsule_pointer(capsule, name), is_versioned)


_delete_unused = ctypes.CFUNCTYPE(None, c_void_p)(_delete)
ctypes.PYFUNCTYPE(None, py_object)(("Py_IncRef", _python))(_delete_unused)  # capsules may live longer than this module


class Hold:
    """A holder of a batch: while it is there, the memory of the batch is."""

    def __init__(self, pointer: int) -> None:
        self._pid = os.getpid()
        self.pointer: int | None = pointer

    def share(self) -> Hold:
        """Another holder of the same batch."""
        assert self.pointer
        library().sl_kept_batch_retain(self.pointer)
        return Hold(self.pointer)

    def memory(self) -> _abi.KeptMemory:
        return _abi.struct_at(_abi.KeptMemory, library().sl_kept_batch_memory(self.pointer))

    def release(self) -> None:
        pointer, self.pointer = self.pointer, None
        if pointer and self._pid == os.getpid():  # a forked child must not release what its parent holds
            library().sl_kept_batch_release(pointer)

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.release()


class Holder:
    """The owner of arrays: a batch of the loop, or a kept one."""

    def _share_hold(self) -> Hold:
        """A new holder. ExpiredError if the batch is over or released."""
        raise NotImplementedError


class DeviceArray:
    """A field of a batch in the memory of the device, as CuPy, PyTorch, JAX and Numba take it without a copy:
    `cupy.from_dlpack(array)`, `torch.from_dlpack(array)`, `numba.cuda.as_cuda_array(array)`; on a target without a memory
    of its own `numpy.from_dlpack(array)`.

    Their arrays hold the batch until they are deleted. The memory is complete when the batch is delivered, on any stream;
    it may be written to. ExpiredError from an array of a batch that is over or released.
    """

    def __init__(self, holder: Holder, output: int, index: int, name: str, field: Field, shape: Shape) -> None:
        self._holder, self._output, self._index = holder, output, index
        self.name = name
        self.dtype: np.dtype[Any] = field.dtype
        self.shape = shape
        self._exported: Hold | None = None  # by __cuda_array_interface__

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.name}: {self.dtype} of shape {self.shape} in the memory of the device>"

    def _address(self, memory: _abi.KeptMemory) -> int:
        views = _abi.array_at(_abi.OutputView, memory.outputs, memory.output_count)
        return _abi.addresses_at(views[self._output].fields, self._index + 1)[self._index]

    @property
    def address(self) -> int:
        """The address of the first value."""
        return self._address(self._holder._share_hold().memory())

    @property
    def device(self) -> str:
        """ "cpu", "cuda:0", "hip:0"."""
        kind, number = self.__dlpack_device__()
        return f"{_TARGETS[kind]}:{number}" if kind in _TARGETS else "cpu"

    def copy(self) -> Array:
        """A copy in host memory."""
        hold = self._holder._share_hold()
        array = np.empty(self.shape, self.dtype)
        status = library().sl_kept_batch_download(
            hold.pointer, array.ctypes.data, self._address(hold.memory()), array.nbytes
        )
        if status < 0:
            name = _abi.ERRORS.get(status, str(status))
            raise Error(f"{self.name} could not be copied from the device: {name}", (), name)
        return array

    def __dlpack_device__(self) -> tuple[int, int]:
        memory = self._holder._share_hold().memory()
        return memory.kind, memory.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule with a DLPack tensor. dl_device (1, 0) and copy=True give a copy in host memory. `stream` needs no
        wait, because the memory is complete. BufferError if the tensor is requested on another device.
        """
        hold = self._holder._share_hold()
        memory = hold.memory()
        own = (int(memory.kind), int(memory.device))
        _check_stream(self.name, own[0], stream)
        wanted = own if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        if wanted not in (own, _HOST) or (copy and wanted != _HOST):
            where = "a copy" if wanted == own else f"device {wanted}"
            raise BufferError(f"{self.name} is on device {own} and cannot be given as {where}: copy what it gives")
        if copy or wanted != own:
            if copy is False:
                raise BufferError(f"{self.name} is on device {own}: host memory needs a copy, but copy is False")
            return self.copy().__dlpack__()
        is_versioned = max_version is not None and max_version[0] >= 1
        shape = (ctypes.c_int64 * _abi.TENSOR_AXES_MAX)(*self.shape)
        kind = _abi.TYPES.index(self.dtype.str[1:])
        address = self._address(memory) if self.size else None
        tensor = _abi.Tensor(ctypes.sizeof(_abi.Tensor), kind, self.ndim, is_versioned, address, shape)
        pointer = library().sl_kept_batch_tensor(hold.pointer, ctypes.byref(tensor))
        if not pointer:
            raise MemoryError("sl_kept_batch_tensor")
        return _capsule_new(pointer, _NAMES[is_versioned], ctypes.cast(_delete_unused, c_void_p))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3. The array holds the batch from then on, until it is deleted."""
        hold = self._exported or self._holder._share_hold()
        memory = hold.memory()
        if memory.kind not in _TARGETS:
            raise AttributeError(f"{self.name} is in host memory: take it by numpy.from_dlpack")
        self._exported = hold
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._address(memory) if self.size else 0, False),
            "version": 3,
            "strides": None,
            "stream": None,  # the memory is complete
        }

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """For NumPy: the memory itself, if it is host memory; TypeError otherwise."""
        hold = self._holder._share_hold()
        memory = hold.memory()
        if memory.kind in _TARGETS:
            raise TypeError(f"{self.name} is in the memory of {self.device}: copy() makes an array in host memory")
        view = Memory(self._address(memory), self.dtype, self.shape, hold, is_read_only=False)
        array = np.asarray(view) if self.size else np.zeros(self.shape, self.dtype)
        converted: Array = array if dtype is None else array.astype(dtype, copy=False)
        return converted.copy() if copy else converted


_HOST = (_abi.MEMORY_HOST, 0)


def _check_stream(name: str, kind: int, stream: int | None) -> None:
    """ValueError if the stream is none that the device can have; see the array API standard."""
    if stream is None or (kind in _TARGETS and isinstance(stream, int) and stream >= -1):
        if not (kind == _abi.MEMORY_CUDA and stream == 0):
            return
    allowed = {
        _abi.MEMORY_CUDA: "None, -1 (no wait), 1 (legacy default), 2 (default per thread) or the address of a stream",
        _abi.MEMORY_ROCM: "None, -1 (no wait), 0 (default) or the address of a stream",
    }.get(kind, "None, because host memory has no streams")
    raise ValueError(f"{name}: stream is {stream!r}; it must be {allowed}")


class DeviceGroup(GroupOf[DeviceArray]):
    """The subitems of a collection's items, as sluice.Group."""


class DeviceCollection(CollectionOf[DeviceArray]):
    """An output of the graph in the memory of the device: `tracks.x`, `tracks["x"]` are DeviceArrays.

    Event e has the items [offsets[e], offsets[e + 1]) of the arrays, which begin with entry 0. offsets[0] is 0 except in a
    part of a slice, where the arrays may begin with items of earlier events. An event list has `numbers` and `count`.
    """

    def __init__(self, holder: Holder, output: int, schema: Schema, events: int, shapes: Mapping[str, Shape]) -> None:
        super().__init__(schema, events)
        self._holder, self._output, self._shapes = holder, output, shapes
        self.groups: dict[str, DeviceGroup] = {name: DeviceGroup(self, name) for name in schema.groups}

    def __getitem__(self, name: str) -> DeviceArray:
        if name not in self.schema.fields:
            raise KeyError(f"{self.schema.output} has no field {name!r}; it has {', '.join(self.schema.fields)}")
        what, field = f"{self.schema.output}.{name}", self.schema.fields[name]
        return DeviceArray(self._holder, self._output, list(self.fields).index(name), what, field, self._shapes[name])

    def __repr__(self) -> str:
        return f"<{self.schema.output}: {self.schema.collection}, {self.event_count} events, in the memory of the device>"
