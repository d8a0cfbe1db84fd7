"""Sluice from Python: graphs of plugin algorithms over batches of events, with results as NumPy arrays.

    import sluice

    graph = sluice.Graph("velo.yaml", set={"seed": 7})
    for batch in graph.run(n=100):
        print(batch.events.number, batch.tracks.offsets)

See docs/python.md. Needs libsluice; the variable SLUICE_LIBRARY names it if it is not found.
"""
from ._library import devices, refuse_processor, version
from ._version import __version__
from ._arrow import Arrow
from .arrays import Arrays
from .arrow_file import ArrowFile
from .batch import Batch, Events, KeptBatch
from .collection import Collection, EventList, Field, Group, Schema
from .device import DeviceArray, DeviceCollection, DeviceGroup
from .errors import (
    CheckError,
    Diagnostic,
    Error,
    ExpiredError,
    Finding,
    GraphError,
    LibraryError,
    RunError,
    SluiceWarning,
    StaleViewWarning,
    StateError,
)
from .constant import Constant
from .explanation import Explanation
from .feed import Feed
from .follow import Follow
from .graph import Graph, Node, Port, describe
from .histogram import Axis, Histogram
from .parts import NO_EVENTS, Part, digest_of_totals, index, join_digests
from .run import Run
from .serve import Serve
from .source import Bank, Banks, Event, Inputs, Packet
from .totals import Totals

__all__ = [
    "Arrays",
    "Arrow",
    "ArrowFile",
    "Axis",
    "Bank",
    "Banks",
    "Batch",
    "CheckError",
    "Collection",
    "Constant",
    "DeviceArray",
    "DeviceCollection",
    "DeviceGroup",
    "Diagnostic",
    "Error",
    "Event",
    "EventList",
    "Events",
    "ExpiredError",
    "Explanation",
    "Feed",
    "Field",
    "Finding",
    "Follow",
    "Graph",
    "GraphError",
    "Group",
    "Histogram",
    "Inputs",
    "KeptBatch",
    "LibraryError",
    "NO_EVENTS",
    "Node",
    "Packet",
    "Part",
    "Port",
    "Run",
    "RunError",
    "Schema",
    "Serve",
    "SluiceWarning",
    "StaleViewWarning",
    "StateError",
    "Totals",
    "__version__",
    "describe",
    "devices",
    "digest_of_totals",
    "index",
    "join_digests",
    "version",
]

refuse_processor()
