"""Arrays of other libraries as NumPy arrays: without a copy from host memory, with one from the memory of a GPU."""
from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from ._library import Diagnostics, library
from .errors import Error, failure

_python = ctypes.pythonapi
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", _python))
_KINDS = {0: "i", 1: "u", 2: "f"}  # DLPack's type codes that fields can have


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


def host_array(name: str, given: Any) -> tuple[npt.ArrayLike, int]:
    """`given` for np.asarray, and the number of bytes that were copied from the memory of a GPU."""
    if isinstance(given, np.ndarray):
        return given, 0
    if hasattr(given, "__dlpack_device__"):
        kind = int(given.__dlpack_device__()[0])
        if kind in (_abi.MEMORY_CUDA, _abi.MEMORY_ROCM):
            return _downloaded_tensor(name, given, kind)
        if kind != _abi.MEMORY_HOST:
            raise TypeError(f"{name} is in memory of DLPack's kind {kind}: give an array in host memory, or of a GPU")
        return (given if hasattr(given, "__array_interface__") else np.from_dlpack(given)), 0
    if hasattr(given, "__cuda_array_interface__"):
        return _downloaded_interface(name, given.__cuda_array_interface__)
    return given, 0


def _downloaded_tensor(name: str, given: Any, kind: int) -> tuple[npt.ArrayLike, int]:
    capsule = given.__dlpack__()  # of version 0; its deleter is called by the capsule, which is not taken over
    tensor = _abi.struct_at(_DLTensor, _capsule_pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    if tensor.lanes != 1 or tensor.code not in _KINDS:
        raise TypeError(f"{name} has DLPack's type {tensor.code} of {tensor.lanes} lanes; fields are integers and floats")
    dtype = np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")
    if tensor.strides:
        _must_be_contiguous(name, shape, tuple(tensor.strides[axis] for axis in range(tensor.ndim)), 1)
    return _downloaded(name, kind, (tensor.data or 0) + tensor.byte_offset, dtype, shape)


def _downloaded_interface(name: str, described: dict[str, Any]) -> tuple[npt.ArrayLike, int]:
    if described.get("mask") is not None:
        raise TypeError(f"{name} has a mask, which would be lost: give an array without it")
    dtype, shape = np.dtype(described["typestr"]), tuple(int(length) for length in described["shape"])
    if described.get("strides") is not None:
        _must_be_contiguous(name, shape, tuple(described["strides"]), dtype.itemsize)
    return _downloaded(name, _abi.MEMORY_CUDA, int(described["data"][0] or 0), dtype, shape)


def _must_be_contiguous(name: str, shape: tuple[int, ...], strides: tuple[int, ...], unit: int) -> None:
    expected = unit
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length > 1 and stride != expected:
            raise ValueError(f"{name} does not lie in one piece on the device: give a contiguous copy")
        expected *= length


def _downloaded(
    name: str, kind: int, address: int, dtype: np.dtype[Any], shape: tuple[int, ...]
) -> tuple[npt.ArrayLike, int]:
    array = np.empty(shape, dtype)
    if array.size == 0:
        return array, 0
    diagnostics = Diagnostics()
    status = library().sl_device_download(
        kind, array.ctypes.data, address, array.nbytes, diagnostics.pointer
    )
    if status < 0:
        messages = diagnostics.read()
        text = failure(f"{name} could not be copied", messages)
        raise Error(text, messages, _abi.ERRORS.get(status, str(status)))
    return array, array.nbytes
