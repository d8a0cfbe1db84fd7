"""Sluice from Python: graphs of plugin algorithms over batches of events, with results as NumPy arrays.

    import sluice

    graph = sluice.Graph("velo.yaml", set={"seed": 7})
    for batch in graph.run(n=100):
        print(batch.events.number, batch.tracks.offsets)

See docs/python.md. Needs libsluice: SLUICE_LIBRARY names it where it is not found.
"""
from ._library import devices, version
from ._version import __version__
from .arrays import Arrays
from .batch import Batch, Events
from .collection import Collection, EventList, Field, Group, Schema
from .errors import (
    Diagnostic,
    Error,
    ExpiredError,
    GraphError,
    LibraryError,
    RunError,
    SluiceWarning,
    StaleViewWarning,
)
from .graph import Graph, Node, Port, describe
from .histogram import Axis, Histogram
from .run import Run

__all__ = [
    "Arrays",
    "Axis",
    "Batch",
    "Collection",
    "Diagnostic",
    "Error",
    "EventList",
    "Events",
    "ExpiredError",
    "Field",
    "Graph",
    "GraphError",
    "Group",
    "Histogram",
    "LibraryError",
    "Node",
    "Port",
    "Run",
    "RunError",
    "Schema",
    "SluiceWarning",
    "StaleViewWarning",
    "__version__",
    "describe",
    "devices",
    "version",
]
