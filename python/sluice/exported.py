"""Outputs in the formats of other tools: Arrow, Awkward, pandas, Polars, Parquet and ROOT."""
from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._arrow import Arrow
from .nested import Array, Lists, Node, Record, Values, copied, to_awkward


def needed(package: str, what: str, module: str = "") -> Any:
    """An optional package. ImportError with the command that installs it if it is missing."""
    try:
        return importlib.import_module(module or package)
    except ImportError:
        raise ImportError(f"{what} need the package {package}: pip install {package}") from None


@contextlib.contextmanager
def completed(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name FILE.part under which the file is written; it gets its own name when it is complete."""
    part = os.fspath(path) + ".part"
    yield part
    os.replace(part, path)


class Exported:
    """An output, or all outputs, one record for each event; see nested.py."""

    def _nested(self) -> Record:
        raise NotImplementedError

    def arrow(self, copy: bool = False) -> Arrow:
        """Arrow data with a record for each event: its fields per event, and `items`, a list of records, one for each item;
        each group of subitems is a list in its item. pyarrow.table(), polars.DataFrame() and others take it.

        Without a copy: of a batch, it is valid as long as arrays of the batch are. copy: in memory of its own.
        """
        if not copy:
            return Arrow(self._nested)
        record = copied(self._nested())
        return Arrow(lambda: record)

    def awkward(self) -> Any:
        """A copy as an Awkward array, in the form of arrow(). ImportError without the package awkward."""
        return needed("awkward", "Awkward arrays").Array(to_awkward(copied(self._nested())))

    def polars(self) -> Any:
        """A copy as a Polars DataFrame, in the form of arrow(). ImportError without the package polars."""
        return needed("polars", "DataFrames of Polars").DataFrame(self.arrow(copy=True))

    def parquet(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes a Parquet file in the form of arrow(), with units and doc strings. options: those of
        pyarrow.parquet.write_table. ImportError without the package pyarrow.
        """
        writer = needed("pyarrow", "Parquet files", "pyarrow.parquet")
        table = needed("pyarrow", "Parquet files").table(self.arrow())
        with completed(path) as part:
            writer.write_table(table, part, **options)

    def root(self, path: str | os.PathLike[str], *, rntuple: bool = False) -> None:
        """Writes a ROOT file with the TTree `events`: branches `tracks_x` with a value for each event, or for each item,
        counted by `ntracks`. rntuple: an RNTuple in the form of arrow() instead.

        ValueError for a TTree of subitems, or of items with arrays, which it cannot hold. ImportError without the package uproot.
        """
        uproot = needed("uproot", "ROOT files")
        needed("awkward", "ROOT files")
        record = copied(self._nested())
        branches = None if rntuple else _branches(record)
        with completed(path) as part:
            with uproot.recreate(part) as file:
                if branches is None:
                    file.mkrntuple("events", _array(record))
                else:
                    file.mktree("events", branches)


def _array(node: Node) -> Any:
    return needed("awkward", "ROOT files").Array(to_awkward(node))


def _branches(record: Record) -> dict[str, Any]:
    """The branches of a TTree. ValueError for what it cannot hold."""
    branches: dict[str, Any] = {}
    output = record.about.get("output", "").replace(".", "_")
    for name, member in record.members.items():
        if isinstance(member, Record):
            branches |= _branches(member)
        elif isinstance(member, Values):
            branches[f"{output}_{name}" if output else name] = member.array
        else:
            _must_be_flat(record.about.get("output", ""), member)
            branches[output] = _array(member)
    return branches


def _must_be_flat(output: str, items: Lists) -> None:
    assert isinstance(items.content, Record)
    for name, member in items.content.members.items():
        if isinstance(member, Lists):
            why = f"a list of {name} for each item: lists in the lists of events"
        elif isinstance(member, Values) and member.array.ndim > 1:
            why = f"an array {name} for each item"
        else:
            continue
        raise ValueError(f"{output} has {why}, which a TTree cannot hold: write an RNTuple, root(path, rntuple=True), or parquet(path)")


def places(offsets: Array) -> tuple[Array, Array]:
    """For each entry of lists: the index of its list, and its own index in the list."""
    begins = offsets.astype(np.int64)
    counts: Array = begins[1:] - begins[:-1]
    of = np.repeat(np.arange(len(counts)), counts)
    return of, np.arange(len(of)) - np.repeat(begins[:-1], counts)


def frame(columns: Mapping[str, Array], index: Mapping[str, Array]) -> Any:
    """A pandas DataFrame. Arrays with several values per row become several columns. ImportError without the package pandas."""
    pandas = needed("pandas", "DataFrames")
    flat: dict[str, Array] = {}
    for name, array in columns.items():
        if array.ndim == 1:
            flat[name] = array
            continue
        for at in np.ndindex(*array.shape[1:]):
            flat["_".join([name, *map(str, at)])] = array[(slice(None),) + at]
    rows = pandas.MultiIndex.from_arrays(list(index.values()), names=list(index))
    if len(index) == 1:
        rows = pandas.Index(next(iter(index.values())), name=next(iter(index)))
    return pandas.DataFrame(flat, index=rows, copy=True)
