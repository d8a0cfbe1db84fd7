"""A run: the library in a thread of its own, and a loop over its batches in the caller's.

A thread of the run hands over a batch, and waits until the loop asks for the next one; so there is one batch at a
time, and its memory stays. The two sides share an _Exchange and nothing else: the run's side never keeps the Run
alive, so that a loop that is left early drops it, which stops the run.
"""
from __future__ import annotations

import atexit
import json
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from . import _abi
from ._session import Session, Settings
from .batch import Batch
from .collection import Array, Schema, read_schema
from .errors import Diagnostic, Error, RunError, SluiceWarning, StaleViewWarning, failure, warn
from .histogram import Histogram, read_histogram, read_totals

Progress = Callable[[int, int, int, float], None]


class _Exchange:
    """Between the loop and the threads of the run."""

    def __init__(self, progress: Progress | None) -> None:
        self.changed = threading.Condition()
        self.progress = progress
        self.session: weakref.ref[Session] | None = None
        self.schemas: dict[str, Schema] = {}
        self.batch: Batch | None = None
        self.events = 0  # of batches so far
        self.left = False  # nobody asks for more
        self.callbacks: set[int] = set()  # threads of the run that are in a callback
        self.failed: BaseException | None = None  # in a callback
        self.status: int | None = None  # of the run, once it is over
        self.said: list[Diagnostic] = []
        self.summary: dict[str, Any] = {}
        self.table = ""
        self.totals: dict[str, dict[str, Array]] = {}
        self.histograms: dict[str, Histogram] = {}

    def offer(self, address: int) -> int:
        """on_batch, in some thread of the run. An exception would only be printed: it goes to the loop, and ends the
        run.
        """
        thread = threading.get_ident()
        try:
            with self.changed:
                self.callbacks.add(thread)
                session = self.session() if self.session else None
                if self.left or session is None:
                    return 0
                batch = self.batch = Batch(address, self.events, self.schemas, session)
                self.events += batch.event_count
                self.changed.notify_all()
                while self.batch is batch and not self.left:
                    self.changed.wait()
                self.batch = None
                batch._expire()
            return 0
        except BaseException as error:
            self.failed = error
            return _abi.INTERRUPTED
        finally:
            self.callbacks.discard(thread)

    def tell(self, events: int, done: int, total: int, seconds: float) -> None:
        thread = threading.get_ident()
        try:
            self.callbacks.add(thread)
            if self.progress and not self.left and not self.failed:
                self.progress(events, done, total, seconds)
        except BaseException as error:
            self.failed = error
            session = self.session() if self.session else None
            if session:
                session.stop()
        finally:
            self.callbacks.discard(thread)

    def finish(self, session: Session, status: int) -> None:
        try:
            self.said = session.said()
            self.summary = json.loads(session.json())
            self.table = session.table()
            for output in session.outputs():
                if self.schemas[_abi.decode(output.name)].is_totals:
                    self.totals[_abi.decode(output.name)] = read_totals(output)
                histogram = read_histogram(output)
                if histogram:
                    self.histograms[histogram.name] = histogram
            if isinstance(self.progress, _Bar):
                self.progress.close(self.events)
        except BaseException as error:
            self.failed = self.failed or error
        with self.changed:
            self.status = status
            self.changed.notify_all()


def _drive(session: Session, exchange: _Exchange) -> None:
    """The thread that runs the session."""
    status = session.run()
    exchange.finish(session, status)


_open: weakref.WeakSet[Run] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """A run that is still open when Python ends is stopped: its threads must not wait for a loop that is gone, nor go
    on without Python, as those could for which a second Ctrl-C did not wait.
    """
    for run in list(_open):
        run.close()
    for thread in list(_threads):
        thread.join()


class _Bar:
    """A bar of tqdm, where progress=True asks for one."""

    def __init__(self) -> None:
        try:
            import tqdm.auto
        except ImportError:
            raise ImportError("progress=True needs the package tqdm: pip install tqdm; or give a function") from None
        self._bar: Any = tqdm.auto.tqdm(unit=" events")

    def __call__(self, events: int, done: int, total: int, seconds: float) -> None:
        self._bar.total = round(events * total / done) if total and done else None
        self._bar.update(events - self._bar.n)

    def close(self, events: int) -> None:
        self._bar.update(events - self._bar.n)
        self._bar.close()


class Run(Iterator[Batch]):
    """A run of a graph, and an iterator over its batches, once.

    Begins with the first batch that is asked for. Leaving the loop early, an exception in it, or KeyboardInterrupt
    stops the run as soon as nothing refers to it any more; `with graph.run(...) as run:` or close() do so at once.
    Slices in flight are finished, and files that sinks write do not get their names.

    After the end: summary, totals, histograms, diagnostics.
    """

    def __init__(self, settings: Settings, progress: bool | Progress | None = None, warns: bool = True) -> None:
        self._warns = warns
        self._exchange = exchange = _Exchange((_Bar() if progress is True else progress) or None)
        self._session: Session | None = Session(settings, exchange.offer, exchange.tell if exchange.progress else None)
        exchange.session = weakref.ref(self._session)
        for output in self._session.outputs():
            name = _abi.decode(output.name)
            exchange.schemas[name] = read_schema(name, output.collection)
        self._thread: threading.Thread | None = None
        self._over = False
        self._batch: Batch | None = None  # that the loop has
        self._before: Batch | None = None  # and had before
        self._warned_of_views = False
        self.diagnostics: list[Diagnostic] = []
        self._tell(self._session.said())
        _open.add(self)

    @property
    def schemas(self) -> dict[str, Schema]:
        """The collections of the graph's outputs, known before anything runs."""
        return dict(self._exchange.schemas)

    def __iter__(self) -> Run:
        return self

    def __next__(self) -> Batch:
        if self._over:
            raise StopIteration
        try:
            batch = self._take()
        except BaseException:
            self.close()
            raise
        if batch is None:
            self._end()
            raise StopIteration
        return batch

    def _take(self) -> Batch | None:
        """Hands the last batch back, and waits for the next one."""
        exchange = self._exchange
        if self._thread is None:
            # It ends with the program, which closes it first (_close_all).
            self._thread = threading.Thread(
                target=_drive, args=(self._session, exchange), name="sluice run", daemon=True
            )
            _threads.add(self._thread)
            self._thread.start()
        with exchange.changed:
            # Only the one that the loop had: the next may be there already.
            last, self._batch = self._batch, None
            if last is not None and exchange.batch is last:
                exchange.batch = None
                exchange.changed.notify_all()
            while exchange.batch is None and exchange.status is None:
                exchange.changed.wait()
            batch = self._batch = exchange.batch
        self._look_for_views(last)
        return batch

    def _look_for_views(self, last: Batch | None) -> None:
        """Of the batch before the last one: a loop has replaced what it uses anew in each of its rounds."""
        kept = self._before._still_there() if self._before else []
        self._before = last
        if kept and self._warns and not self._warned_of_views:
            self._warned_of_views = True
            warn(
                f"an array of an earlier batch is still there: {kept[0]}; its memory holds other events by now: keep "
                "array.copy(), or take arrays() of the whole run",
                StaleViewWarning,
            )

    def _end(self) -> None:
        """The run is over by itself."""
        self._over = True
        self._join()
        exchange = self._exchange
        self._session = None
        failed = bool(exchange.status and exchange.status < 0)
        self._tell(exchange.said[len(self.diagnostics) :], failed)
        if exchange.failed:
            raise exchange.failed
        if failed:
            assert exchange.status is not None
            name = _abi.ERRORS.get(exchange.status, str(exchange.status))
            raise RunError(failure("the run failed", exchange.said), exchange.said, name)

    def _join(self) -> None:
        thread = self._thread
        if thread and threading.get_ident() not in {*self._exchange.callbacks, thread.ident}:
            thread.join()

    def _tell(self, said: list[Diagnostic], failed: bool = False) -> None:
        """Errors of a run that did not fail, such as bad events, are warnings; those of one that did are its
        exception.
        """
        self.diagnostics += said
        for diagnostic in said:
            if self._warns and (diagnostic.severity == "warning" or (diagnostic.severity == "error" and not failed)):
                warn(diagnostic.text, SluiceWarning)

    def close(self) -> None:
        """Stops the run where it is, waits for it, and gives back its memory. A second call does nothing."""
        if self._over:
            return
        exchange = self._exchange
        if self._session:
            self._session.stop()
        with exchange.changed:
            exchange.left = True
            exchange.changed.notify_all()
        self._join()
        self._over = True
        self._session = None
        self.diagnostics += exchange.said[len(self.diagnostics) :]

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if "_over" in self.__dict__ and not sys.is_finalizing():
            self.close()

    def _finished(self) -> _Exchange:
        if self._exchange.status is None:
            raise Error("the run is not over: this is known at its end")
        return self._exchange

    @property
    def summary(self) -> dict[str, Any]:
        """The figures of the run, as `sluice run --json` writes them: "events", "error_events", "results", ..."""
        return self._finished().summary

    @property
    def table(self) -> str:
        """The same as the table that the command prints."""
        return self._finished().table

    @property
    def totals(self) -> dict[str, dict[str, Array]]:
        """Sums over the run, of each output that holds some: its fields, a 64-bit entry each (or rows of several)."""
        return self._finished().totals

    @property
    def histograms(self) -> dict[str, Histogram]:
        """Those among the outputs that are of generic.histogram or generic.histogram_2d."""
        return self._finished().histograms
