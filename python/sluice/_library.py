"""Finds libsluice, checks that it fits this package, and declares its functions.

Search order: the file that the environment variable SLUICE_LIBRARY names; the package's own folder; its folder
`prefix/lib` (in a wheel); the library folders of the prefix that the package, then Python, is installed in;
libsluice.so.0 as the loader finds it.
"""
from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import re
import sys
import sysconfig
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_int32, c_size_t, c_uint64, c_void_p
from typing import Any

from . import _abi
from ._version import __version__
from .errors import Diagnostic, LibraryError

NAME = "libsluice.so.0"

libc = ctypes.CDLL(None, use_errno=True)
libc.open_memstream.argtypes = [POINTER(c_void_p), POINTER(c_size_t)]
libc.open_memstream.restype = c_void_p
libc.fclose.argtypes = [c_void_p]
libc.free.argtypes = [c_void_p]

# Name, result, arguments.
_FUNCTIONS: list[tuple[str, Any, list[Any]]] = [
    ("sl_diagnostics_new", c_void_p, []),
    ("sl_diagnostics_free", None, [c_void_p]),
    ("sl_diagnostics_count", c_size_t, [c_void_p]),
    ("sl_diagnostics_at", c_void_p, [c_void_p, c_size_t]),
    ("sl_diagnostic_print", None, [c_void_p, c_void_p]),
    ("sl_diagnostics_print_dropped", None, [c_void_p, c_void_p]),
    ("sl_session_open", c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    ("sl_session_run", c_int, [c_void_p]),
    ("sl_session_stop", None, [c_void_p]),
    ("sl_session_reload", c_int, [c_void_p, c_void_p, c_void_p]),
    ("sl_session_release_batches", None, [c_void_p]),
    ("sl_session_close", None, [c_void_p]),
    ("sl_session_keep_batch", c_int, [c_void_p, POINTER(c_void_p)]),
    ("sl_kept_batch_memory", c_void_p, [c_void_p]),
    ("sl_kept_batch_retain", None, [c_void_p]),
    ("sl_kept_batch_release", None, [c_void_p]),
    ("sl_kept_batch_download", c_int, [c_void_p, c_void_p, c_void_p, c_uint64]),
    ("sl_kept_batch_tensor", c_void_p, [c_void_p, c_void_p]),
    ("sl_tensor_delete", None, [c_void_p, ctypes.c_uint32]),
    ("sl_device_download", c_int, [ctypes.c_uint32, c_void_p, c_void_p, c_uint64, c_void_p]),
    ("sl_session_identity", c_void_p, [c_void_p]),
    ("sl_session_constants", c_void_p, [c_void_p, POINTER(ctypes.c_uint32)]),
    ("sl_session_write_json", c_int, [c_void_p, c_void_p]),
    ("sl_session_write_table", None, [c_void_p, c_int, c_void_p]),
    ("sl_session_write_wiring", None, [c_void_p, c_void_p]),
    ("sl_session_write_graph", c_int, [c_void_p, c_int, c_void_p]),
    ("sl_session_write_plan", None, [c_void_p, c_void_p]),
    ("sl_session_write_drawing", c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    ("sl_feed_new", c_void_p, [c_void_p]),
    ("sl_feed_free", None, [c_void_p]),
    ("sl_feed_give_event", c_int, [c_void_p, c_void_p, c_int32, c_void_p]),
    ("sl_feed_give_packet", c_int, [c_void_p, c_void_p, c_uint64, c_void_p, c_int32, c_void_p]),
    ("sl_feed_give_arrays", c_int, [c_void_p, c_void_p, c_int32, c_void_p]),
    ("sl_feed_end", None, [c_void_p]),
    ("sl_feed_wait", c_int, [c_void_p, c_uint64, c_int32]),
    ("sl_follow_new", c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    ("sl_follow_continue", c_int, [c_void_p, c_char_p, c_void_p, c_void_p]),
    ("sl_follow_wait", c_int, [c_void_p, c_int32]),
    ("sl_follow_free", None, [c_void_p]),
    ("sl_server_new", c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    ("sl_server_url", c_char_p, [c_void_p]),
    ("sl_server_free", None, [c_void_p]),
    ("sl_index_ranges", c_int, [c_void_p, c_void_p, c_void_p, ctypes.c_uint64, c_void_p, POINTER(c_void_p)]),
    ("sl_index_parts", c_void_p, [c_void_p, POINTER(ctypes.c_uint64)]),
    ("sl_index_close", None, [c_void_p]),
    ("sl_digest_join", ctypes.c_uint64, [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64]),
    ("sl_digest_totals", ctypes.c_uint64, [c_void_p, ctypes.c_uint64]),
    ("sl_write_description_json", c_int, [c_void_p, c_char_p, c_void_p, c_void_p]),
    ("sl_commit", c_char_p, []),
    ("sl_devices", c_char_p, []),
]


def text_of(write: Callable[[int], object]) -> str:
    """The text that `write` writes to the FILE * that it is called with."""
    memory, size = c_void_p(), c_size_t()
    stream = libc.open_memstream(ctypes.byref(memory), ctypes.byref(size))
    if not stream:
        raise MemoryError("open_memstream")
    try:
        write(stream)
    finally:
        closed = libc.fclose(stream)
        text = ctypes.string_at(memory.value, size.value) if memory.value else b""
        libc.free(memory)
    if closed != 0:
        raise MemoryError("open_memstream")
    return _abi.decode(text)


def _library_paths() -> list[str]:
    named = os.environ.get("SLUICE_LIBRARY")
    if named:
        return [named]
    here = pathlib.Path(__file__).resolve().parent
    # PREFIX/lib/python3.x/site-packages/sluice
    prefixes = [here.parents[3]] if len(here.parents) > 3 and here.parents[0].name.endswith("-packages") else []
    prefixes.append(pathlib.Path(sys.prefix))
    folders = ["lib", "lib64"]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    if multiarch:
        folders.append(f"lib/{multiarch}")
    files = [here / NAME, here / "prefix/lib" / NAME, *(prefix / folder / NAME for prefix in prefixes for folder in folders)]
    return [*(str(file) for file in files if file.exists()), NAME]


def _mismatch(path: str, version: str, why: str) -> LibraryError:
    return LibraryError(
        f"{path}: libsluice {version} does not fit the Python package {__version__}: {why}; "
        "install both from the same sources, or name the right library in SLUICE_LIBRARY"
    )


def _missing_instructions(library: ctypes.CDLL) -> str:
    """Names of instructions that the library needs and the processor lacks; "": none. Must be the first call."""
    function = getattr(library, "sl_processor_lacks", None)
    if function is None:
        return ""
    function.restype = c_char_p
    return _abi.decode(function())


def refuse_processor() -> None:
    """ImportError if the library needs instructions that the processor lacks."""
    path = _library_paths()[0]
    try:
        loaded = ctypes.CDLL(path)
    except OSError:
        return  # library() says why
    if lacks := _missing_instructions(loaded):
        raise ImportError(f"{path}: {lacks}")


def _check(library: ctypes.CDLL, path: str) -> str:
    """The library's version. LibraryError if it does not fit this package. Checks versions before struct sizes, and
    calls nothing else of a library that does not fit.
    """
    if lacks := _missing_instructions(library):
        raise LibraryError(f"{path}: {lacks}")
    try:
        library.sl_version.restype = c_char_p
        version = _abi.decode(library.sl_version())
        library.sl_options_default.restype = _abi.OptionsOfAnySize
    except AttributeError as missing:
        raise LibraryError(f"{path} is no libsluice: {missing}") from None
    # Before 1.0 a minor version may change interfaces.
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise _mismatch(path, version, "the versions differ")
    there, here = library.sl_options_default().size, ctypes.sizeof(_abi.Options)
    if there != here:
        raise _mismatch(path, version, f"struct sl_options has {there} bytes there and {here} here")
    library.sl_write_version.argtypes = [c_void_p]
    library.sl_write_version.restype = None
    found = re.search(r"interface (\d+)", text_of(library.sl_write_version))
    interface = found.group(1) if found else "unknown"
    if interface != str(_abi.ABI_VERSION):
        why = f"the interface of plugins is version {interface} there and {_abi.ABI_VERSION} here"
        raise _mismatch(path, version, why)
    for name, result, arguments in _FUNCTIONS:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise _mismatch(path, version, f"it has no function {name}") from None
        function.restype, function.argtypes = result, arguments
    library.sl_options_default.restype = _abi.Options
    return version


@functools.cache
def library() -> ctypes.CDLL:
    """libsluice, loaded once. LibraryError if it is not found or does not fit."""
    path = _library_paths()[0]
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(
            f"libsluice cannot be loaded: {error}; install Sluice, or name its library ({NAME}) in SLUICE_LIBRARY"
        ) from None
    _check(loaded, path)
    return loaded


def _diagnostic(address: int) -> Diagnostic:
    from_c = _abi.struct_at(_abi.Diagnostic, address)
    return Diagnostic(
        severity=_abi.SEVERITIES[min(from_c.severity, 2)],
        message=_abi.decode(from_c.message),
        file=_abi.decode(from_c.file),
        line=from_c.line,
        column=from_c.column,
        node=_abi.decode(from_c.node),
        hint=_abi.decode(from_c.hint),
        text=text_of(lambda stream: library().sl_diagnostic_print(address, stream)).rstrip("\n"),
    )


class Diagnostics:
    """A struct sl_diagnostics: the library's list of messages."""

    def __init__(self) -> None:
        self.pointer: int | None = library().sl_diagnostics_new()
        if not self.pointer:
            raise MemoryError("sl_diagnostics_new")

    def read(self, first: int = 0) -> list[Diagnostic]:
        """All messages from number `first` on. Must not be called while a run adds messages."""
        count = library().sl_diagnostics_count(self.pointer)
        return [_diagnostic(library().sl_diagnostics_at(self.pointer, i)) for i in range(first, count)]

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            library().sl_diagnostics_free(self.pointer)
            self.pointer = None


def version() -> str:
    """The library's version: "0.2.0, commit 4717563d1e0a"."""
    return f"{_abi.decode(library().sl_version())}, commit {_abi.decode(library().sl_commit())}"


def devices() -> list[str]:
    """Targets with a backend in the library: ["cpu", "simt", "cuda"]. The machine may still have no GPU."""
    return _abi.decode(library().sl_devices()).split()
