"""The C structs of sluice/sluice.h and sluice/plugin.h that the package reads or fills, member by member.

tests/test_abi.py compares their layout with that of a C compiler. Pointers to anything except text are addresses
(c_void_p); struct_at() and array_at() read what they point to.
"""
from __future__ import annotations

import ctypes
import operator
from ctypes import c_char_p, c_double, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from numbers import Real
from typing import TypeVar

import numpy as np

COUNTED = (1 << 64) - 1  # SL_FEED_COUNTED
ABI_VERSION = 14  # SL_ABI_VERSION

ERRORS = {
    -1: "SL_ENOMEM",
    -2: "SL_EINVAL",
    -3: "SL_EIO",
    -4: "SL_EFORMAT",
    -5: "SL_EGRAPH",
    -6: "SL_EPLUGIN",
    -7: "SL_EDEVICE",
    -8: "SL_ESTRICT",
    -9: "SL_EINTERRUPTED",
}
WRONG_FORMAT, INTERRUPTED = -4, -9
RECORD_UNKNOWN = 2**64 - 1  # SL_RECORD_UNKNOWN
SEVERITIES = ("note", "warning", "error")

# NumPy's names of SL_TYPE_..., by number. Later numbers are types of properties.
TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")

# SL_SHAPE_CODE_...
PER_SLICE, PER_EVENT, OFFSETS, PER_ITEM, ITEM_OFFSETS, PER_SUBITEM, BYTES, ARRAY, TOTAL = range(9)

BATCH_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p)
DIGEST_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_void_p, c_uint64)
PROGRESS_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_uint64, c_uint64, c_double)
EXPLAIN_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p)
RELEASE_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class Diagnostic(ctypes.Structure):
    _fields_ = [
        ("severity", c_uint32),
        ("line", c_uint32),
        ("column", c_uint32),
        ("reserved", c_uint32),
        ("file", c_char_p),
        ("source_line", c_char_p),
        ("node", c_char_p),
        ("message", c_char_p),
        ("hint", c_char_p),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("slots", c_uint32),
        ("slice_events", c_uint32),
        ("repeat", c_uint32),
        ("events", c_uint64),
        ("graph_path", c_char_p),
        ("graph_text", c_char_p),
        ("graph_text_bytes", c_size_t),
        ("device", c_char_p),
        ("input_paths", c_void_p),
        ("input_ranges", c_void_p),
        ("sets", c_void_p),
        ("uses", c_void_p),
        ("with_paths", c_void_p),
        ("plugin_paths", c_void_p),
        ("output_path", c_char_p),
        ("rotate", c_char_p),
        ("checkpoint_path", c_char_p),
        ("resume", c_uint32),
        ("keeps_batches", c_uint32),
        ("trace_path", c_char_p),
        ("metrics_path", c_char_p),
        ("report_path", c_char_p),
        ("command_line", c_void_p),
        ("digest", c_uint32),
        ("profile", c_uint32),
        ("resident", c_uint32),
        ("guard", c_uint32),
        ("try_plugins", c_uint32),
        ("inspect_only", c_uint32),
        ("output_is_optional", c_uint32),
        ("source_threads", c_uint32),
        ("race", c_uint32),
        ("context", c_void_p),
        ("on_batch", BATCH_CALLBACK),
        ("on_event_digest", DIGEST_CALLBACK),
        ("on_progress", PROGRESS_CALLBACK),
        ("on_tick", c_void_p),
        ("feed", c_void_p),
        ("replan", c_uint32),
        ("energy", c_uint32),
        ("memory_bytes", c_uint64),
        ("until_idle", c_double),
        ("senders", c_uint32),
        ("draws", c_uint32),
        ("follow", c_void_p),
        ("server", c_void_p),
        ("explain", c_void_p),
        ("keep_device", c_uint32),
        ("reserved", c_uint32),
    ]


class InputRange(ctypes.Structure):
    _fields_ = [("first_byte", c_uint64), ("bytes", c_uint64), ("first_record", c_uint64)]


class Part(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("range", InputRange), ("events", c_uint64), ("bad_records", c_uint64)]


class OptionsOfAnySize(ctypes.Structure):
    """Buffer for the result of sl_options_default() of a library with a larger struct sl_options."""

    _fields_ = [("size", c_uint32), ("rest", ctypes.c_char * 8188)]


class Field(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_uint32),
        ("shape", c_uint32),
        ("width", c_uint32),
        ("reserved", c_uint32),
        ("dimensions", c_char_p),
        ("unit", c_char_p),
        ("doc", c_char_p),
    ]


class Dimension(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("doc", c_char_p),
        ("size", c_uint32),
        ("reserved", c_uint32),
    ]


class Collection(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("doc", c_char_p),
        ("fields", c_void_p),
        ("field_count", c_uint32),
        ("dimension_count", c_uint32),
        ("trait", c_void_p),
        ("dimensions", c_void_p),
    ]


class Event(ctypes.Structure):
    _fields_ = [
        ("number", c_uint64),
        ("offset", c_uint64),
        ("run", c_uint32),
        ("file", c_uint32),
        ("error", c_uint32),
        ("reserved", c_uint32),
    ]


class OutputView(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("collection", c_void_p), ("fields", c_void_p)]


class Constant(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("collection", c_void_p), ("fields", c_void_p), ("counts", c_void_p)]


class Batch(ctypes.Structure):
    _fields_ = [
        ("event_count", c_uint32),
        ("output_count", c_uint32),
        ("events", c_void_p),
        ("outputs", c_void_p),
        ("selected", c_void_p),
        ("selected_count", c_uint32),
        ("configuration", c_uint32),
    ]


AXIS_NONE = 0  # SL_AXIS_NONE
AXIS_BESIDE = 3  # SL_AXIS_BESIDE


class Axis(ctypes.Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("bins", c_uint32),
        ("label", c_char_p),
        ("unit", c_char_p),
        ("doc", c_char_p),
        ("lower", c_double),
        ("upper", c_double),
        ("names", c_void_p),
    ]


class Histogram(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("title", c_char_p),
        ("unit", c_char_p),
        ("x", Axis),
        ("y", Axis),
        ("counts", c_void_p),
    ]


class RunOutput(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("collection", c_void_p),
        ("items", c_uint64),
        ("digest", c_uint64),
        ("totals", c_void_p),
        ("histograms", c_void_p),
        ("histogram_count", c_uint32),
        ("name_count", c_uint32),
        ("names", c_void_p),
        ("naming", c_void_p),
    ]


class Names(ctypes.Structure):
    _fields_ = [
        ("port", c_char_p),
        ("label", c_char_p),
        ("field", c_char_p),
        ("kind", c_uint32),
        ("reserved", c_uint32),
    ]


class Run(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("plugin_count", c_uint32),
        ("output_count", c_uint32),
        ("is_interrupted", c_uint32),
        ("sluice_version", c_char_p),
        ("device", c_char_p),
        ("graph_text", c_char_p),
        ("graph_digest", c_uint64),
        ("plugins", c_void_p),
        ("outputs", c_void_p),
    ]


class FeedOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("entries_max", c_uint32),
        ("context", c_void_p),
        ("on_release", RELEASE_CALLBACK),
        ("is_arrays", c_uint32),
        ("reserved", c_uint32),
    ]


class FeedBlock(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("bytes", c_uint32),
        ("source_id", c_uint16),
        ("type", c_uint8),
        ("version", c_uint8),
    ]


class FeedEvent(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("block_count", c_uint32),
        ("blocks", c_void_p),
        ("number", c_uint64),
        ("run", c_uint32),
        ("reserved", c_uint32),
        ("owner", c_void_p),
    ]


class FeedArray(ctypes.Structure):
    _fields_ = [
        ("port", c_char_p),
        ("field", c_char_p),
        ("values", c_void_p),
        ("count", c_uint64),
        ("type", c_uint32),
        ("reserved", c_uint32),
    ]


class FeedArrays(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("array_count", c_uint32),
        ("arrays", c_void_p),
        ("event_count", c_uint64),
        ("number", c_uint64),
        ("run", c_uint32),
        ("reserved", c_uint32),
        ("owner", c_void_p),
    ]


MEMORY_HOST, MEMORY_CUDA, MEMORY_ROCM = 1, 2, 10  # SL_MEMORY_...
TENSOR_AXES_MAX = 8


class KeptMemory(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("kind", c_uint32),
        ("device", c_uint32),
        ("event_count", c_uint32),
        ("first_event", c_uint64),
        ("events", c_void_p),
        ("outputs", c_void_p),
        ("output_count", c_uint32),
        ("reserved", c_uint32),
    ]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("type", c_uint32),
        ("axis_count", c_uint32),
        ("is_versioned", c_uint32),
        ("values", c_void_p),
        ("shape", ctypes.c_int64 * TENSOR_AXES_MAX),
    ]


class FollowOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("complete", c_uint32),
        ("folder", c_char_p),
        ("pattern", c_char_p),
        ("done", c_char_p),
        ("until_idle_seconds", c_double),
    ]


class ServerOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("reserved", c_uint32),
        ("address", c_char_p),
        ("token_path", c_char_p),
        ("reference_paths", c_void_p),
        ("alarms", c_void_p),
    ]


class Reload(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("reserved", c_uint32),
        ("graph_path", c_char_p),
        ("graph_text", c_char_p),
        ("graph_text_bytes", c_size_t),
        ("sets", c_void_p),
        ("uses", c_void_p),
        ("with_paths", c_void_p),
    ]


class Requirement(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("comparison", c_char_p),
        ("limit_name", c_char_p),
        ("value", c_double),
        ("limit", c_double),
        ("is_met", c_uint32),
        ("role", c_uint32),
    ]


class ExplainedRow(ctypes.Structure):
    _fields_ = [("requirement", Requirement), ("unit", c_char_p), ("doc", c_char_p)]


class ExplainedCandidate(ctypes.Structure):
    _fields_ = [
        ("index", c_uint32),
        ("is_accepted", c_uint32),
        ("unmet", c_uint32),
        ("row_count", c_uint32),
        ("rows", c_void_p),
    ]


class ExplainedNode(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("algorithm", c_char_p),
        ("candidates", c_char_p),
        ("has_run", c_uint32),
        ("is_accepted", c_uint32),
        ("total", c_uint32),
        ("accepted", c_uint32),
        ("candidate_count", c_uint32),
        ("row_count", c_uint32),
        ("unmet", c_uint32),
        ("best", c_uint32),
        ("at", c_void_p),
        ("rows", c_void_p),
        ("missing", c_void_p),
    ]


class ExplainedEvent(ctypes.Structure):
    _fields_ = [
        ("event", c_void_p),
        ("error_node", c_char_p),
        ("error", c_char_p),
        ("nodes", c_void_p),
        ("lists", c_void_p),
        ("node_count", c_uint32),
        ("list_count", c_uint32),
    ]


class EventId(ctypes.Structure):
    _fields_ = [("number", c_uint64), ("run", c_uint32), ("any_run", c_uint32)]


class Explain(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("all_candidates", c_uint32),
        ("events", c_void_p),
        ("event_count", c_uint64),
        ("nodes", c_void_p),
        ("on_event", EXPLAIN_CALLBACK),
        ("context", c_void_p),
    ]


MIRRORED: dict[str, type[ctypes.Structure]] = {
    "sl_reload": Reload,
    "sl_diagnostic": Diagnostic,
    "sl_options": Options,
    "sl_input_range": InputRange,
    "sl_part": Part,
    "sl_field": Field,
    "sl_dimension": Dimension,
    "sl_feed_array": FeedArray,
    "sl_feed_arrays": FeedArrays,
    "sl_collection": Collection,
    "sl_event": Event,
    "sl_output_view": OutputView,
    "sl_constant": Constant,
    "sl_batch": Batch,
    "sl_axis": Axis,
    "sl_histogram": Histogram,
    "sl_run_output": RunOutput,
    "sl_names": Names,
    "sl_run": Run,
    "sl_feed_options": FeedOptions,
    "sl_feed_block": FeedBlock,
    "sl_feed_event": FeedEvent,
    "sl_kept_memory": KeptMemory,
    "sl_tensor": Tensor,
    "sl_follow_options": FollowOptions,
    "sl_server_options": ServerOptions,
    "sl_requirement": Requirement,
    "sl_explained_row": ExplainedRow,
    "sl_explained_candidate": ExplainedCandidate,
    "sl_explained_node": ExplainedNode,
    "sl_explained_event": ExplainedEvent,
    "sl_event_id": EventId,
    "sl_explain": Explain,
}

S = TypeVar("S", bound=ctypes.Structure)


def struct_at(kind: type[S], address: int) -> S:
    return kind.from_address(address)


def array_at(kind: type[S], address: int | None, count: int) -> list[S]:
    """The structs of a C array, without a copy; [] for NULL."""
    size = ctypes.sizeof(kind)
    return [kind.from_address(address + i * size) for i in range(count)] if address else []


def addresses_at(address: int, count: int) -> list[int]:
    """The pointers of a C array of pointers; 0 for NULL."""
    return [value or 0 for value in (c_void_p * count).from_address(address)]


def decode(text: bytes | None) -> str:
    """Text of the library; "" for NULL. Bytes that are not UTF-8 (file names) are decoded as by os.fsdecode."""
    return text.decode("utf-8", "surrogateescape") if text else ""


def texts_at(address: int | None, count: int) -> tuple[str, ...]:
    """The texts of an array of pointers; () for NULL."""
    return tuple(decode(text) for text in (c_char_p * count).from_address(address)) if address else ()


def count(name: str, value: int, bits: int, least: int = 0) -> int:
    """`value` as an integer in [least, 2^bits). TypeError if it is not an integer (a bool or a float), ValueError if it
    is out of range; both name the argument, as the command does.
    """
    needed = f"{name} needs a number from {least} to {(1 << bits) - 1}, not "
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{needed}{value}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{needed}{value!r}") from None
    if not least <= number < 1 << bits:
        raise ValueError(f"{needed}{number}")
    return number


def keep(value: str | None) -> bool:
    """Whether batches can be kept on the device; ValueError if `value` is neither None nor "device"."""
    if value not in (None, "device"):
        raise ValueError(f'keep is "device" or None, not {value!r}')
    return value is not None


COMPLETE = {"rename": 0, "close": 1}
REPLAN = {"on": 0, "grow": 1, "off": 2}


def replan(value: str | None) -> str:
    """The mode of new plans; ValueError if there is none of that name."""
    if value is None:
        return "on"
    if value not in REPLAN:
        raise ValueError(f"replan is on, grow or off, not {value!r}")
    return value


def count_or_default(name: str, value: int | None, bits: int) -> int:
    """The number for an option with the default 0 in C: None gives 0, other values must be 1 or more."""
    return 0 if value is None else count(name, value, bits, 1)


def seconds(name: str, value: float | None) -> float | None:
    """A timeout in seconds; None: no limit. TypeError if it is not a number, ValueError if it is negative or NaN."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} needs seconds, or None, not {value!r}")
    if not value >= 0:
        raise ValueError(f"{name} needs seconds, 0 or more, not {value}")
    return float(value)


def strings(texts: list[bytes]) -> ctypes.Array[c_char_p]:
    """A NULL-terminated array. The caller must keep it alive as long as C may read it."""
    return (c_char_p * (len(texts) + 1))(*texts, None)
