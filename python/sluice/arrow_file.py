"""Files of Arrow data that are written batch by batch."""
from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from ._arrow import Arrow
from .batch import Batch
from .errors import StateError
from .exported import needed


class ArrowFile:
    """A file to which batches are written while the run goes on, one record batch each: an Arrow IPC file or, if its name ends
    with ".parquet", a Parquet file. It has the form of batch.arrow().

        with sluice.ArrowFile("tracks.arrow", outputs=["tracks"]) as file:
            graph.run(on_batch=file).finish()

    write(batch) does the same in a loop. outputs: only these (None: all). compression: None, "lz4", "zstd", or another one of
    the format (of Parquet: default "snappy"). While it is written it is FILE.part, also after an exception. ImportError without
    the package pyarrow; StateError if the outputs change during the run, and for batches after close().
    """

    def __init__(
        self, path: str | os.PathLike[str], *, outputs: Iterable[str] | None = None, compression: str | None = None
    ) -> None:
        self._arrow = needed("pyarrow", "Arrow files")
        self.path = os.fspath(path)
        self.events = 0  # written so far
        self._outputs = None if outputs is None else list(outputs)
        self._is_parquet = self.path.endswith(".parquet")
        self._compression = compression
        self._writer: Any = None
        self._schema: Any = None
        self._is_open = True

    def _open(self, schema: Any) -> None:
        part, self._schema = self.path + ".part", schema
        if self._is_parquet:
            parquet = needed("pyarrow", "Parquet files", "pyarrow.parquet")
            self._writer = parquet.ParquetWriter(part, schema, compression=self._compression or "snappy")
        else:
            ipc = needed("pyarrow", "Arrow files", "pyarrow.ipc")
            self._writer = ipc.new_file(part, schema, options=ipc.IpcWriteOptions(compression=self._compression))

    def write(self, batch: Batch) -> None:
        """Writes the events of a batch."""
        if not self._is_open:
            raise StateError(f"{self.path} is closed")
        record = batch._nested(self._outputs)
        written = self._arrow.record_batch(Arrow(lambda: record))
        if self._schema is None:
            self._open(written.schema)
        elif not written.schema.equals(self._schema):
            raise StateError(f"the outputs have changed at event {batch.first}, and {self.path} cannot hold both: begin another file")
        self._writer.write_batch(written)
        self.events += len(batch)

    def __call__(self, batch: Batch) -> None:
        """As a function of on_batch."""
        self.write(batch)

    def close(self) -> None:
        """Completes the file, also without a batch. A second call does nothing."""
        if not self._is_open:
            return
        if self._writer is None:
            self._open(self._arrow.schema([]))
        self._abandon()
        os.replace(self.path + ".part", self.path)

    def _abandon(self) -> None:
        """Closes the file, which keeps the name FILE.part."""
        self._is_open = False
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> ArrowFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._abandon()

    def __repr__(self) -> str:
        return f"<{self.path}: {self.events} events{'' if self._is_open else ', closed'}>"
