"""The part of a run that its threads share with the loop: it hands over batches, and keeps the results."""
from __future__ import annotations

import functools
import json
import operator
import os
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterable
from typing import Any, Union

from . import _abi
from ._feed import Given, Pushed, Queue
from ._session import Session
from .batch import Batch
from .collection import Schema
from .errors import Diagnostic, Finding, add_note
from .histogram import Histogram, read_histograms
from .totals import Totals, read_totals
from .source import Entry, Event

Progress = Callable[[int, int, int, float], None]
Check = Callable[[Batch], Union[Iterable[tuple[int, str]], None]]

ENTRIES_MAX = 512  # entries that a source may be ahead of the run


class Bar:
    """A tqdm progress bar, for progress=True."""

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


class _Configuration:
    """The owner of the views of the batches of one configuration: while it is there, their memory is."""

    def __init__(self, session: Session) -> None:
        self.session = session


class Exchange:
    """State shared by the loop and the threads of the run."""

    def __init__(self, progress: Progress | None, checks: list[Check], keep: bool = False) -> None:
        self.changed = threading.Condition()
        self.progress = progress
        self.checks = checks
        self.keep = keep  # batches can be kept on the device
        self.findings: list[Finding] = []
        self.kept_by_checks = ""  # name of an array that a function of on_batch kept
        self.has_loop = True  # a loop takes the batches
        self.session: weakref.ref[Session] | None = None
        self.schemas: dict[str, Schema] = {}  # of the configuration of the last batch
        self.configuration = 0  # its number
        self.owner: weakref.ref[_Configuration] | None = None
        self.replaced: weakref.WeakSet[_Configuration] = weakref.WeakSet()  # earlier ones, with views
        self.has_replaced = False  # the library may have memory of earlier configurations
        self.batch: Batch | None = None
        self.events = 0  # in the batches so far
        self.is_closed = False  # the run was closed: no more batches are requested
        self.callbacks: set[int] = set()  # threads of the run that are in a callback
        self.failed: BaseException | None = None  # first exception in a callback or source
        self.status: int | None = None  # status of the run; None until it is over
        self.messages: list[Diagnostic] = []
        self.summary: dict[str, Any] = {}
        self.table = ""
        self.totals: dict[str, Totals] = {}
        self.histograms: dict[str, Histogram] = {}
        self.pid = os.getpid()

    def _end_child(self) -> None:
        """Ends the process if it is a forked child in which a function of the run has returned: the run cannot continue
        there without the parent's threads.
        """
        if self.pid != os.getpid():
            sys.stderr.write("sluice: a function that a run called has forked, and returned in the child, which ends\n")
            sys.stderr.flush()
            os._exit(1)

    def _leave_callback(self, thread: int) -> None:
        self._end_child()
        self.callbacks.discard(thread)

    def offer(self, address: int) -> int:
        """The library's on_batch, in a thread of the run: 0, or an error after an exception, which ends the run and is
        raised by the loop.
        """
        thread = threading.get_ident()
        batch: Batch | None = None
        try:
            self.callbacks.add(thread)
            session = self.session() if self.session else None
            if self.is_closed or session is None:
                return 0
            owner = self._adopt(address, session)
            batch = Batch(address, self.events, self.schemas, owner, session.keep_batch if self.keep else None)
            self.events += batch.event_count
            self._check(batch)
            self._hand_over(batch)
            return 0
        except BaseException as error:
            self.failed = self.failed or error
            return _abi.INTERRUPTED
        finally:
            if batch is not None:
                batch._expire(self.is_closed)
            self._leave_callback(thread)

    def _adopt(self, address: int, session: Session) -> _Configuration:
        """The configuration of a batch. Memory of earlier ones is freed when the program has no views of it any more."""
        number = _abi.struct_at(_abi.Batch, address).configuration
        owner = self.owner() if self.owner else None
        if number != self.configuration:
            self.configuration, self.schemas, self.has_replaced = number, session.schemas(), True
            if owner is not None:
                self.replaced.add(owner)
            owner = None
        if self.has_replaced and not self.replaced:
            session.release_batches()
            self.has_replaced = False
        if owner is None:
            owner = _Configuration(session)
            self.owner = weakref.ref(owner)
        return owner

    def _hand_over(self, batch: Batch) -> None:
        """Gives the batch to the loop, if there is one, and waits until the loop is done with it."""
        with self.changed:
            if self.has_loop and not self.is_closed:
                self.batch = batch
                self.changed.notify_all()
            while self.batch is batch and self.has_loop and not self.is_closed:
                self.changed.wait()
            self.batch = None

    def _check(self, batch: Batch) -> None:
        for check in self.checks:
            name = getattr(check, "__name__", type(check).__name__)
            try:
                found = check(batch)
                self._end_child()
                for index, message in () if found is None else found:
                    at = _index_of_event(index, batch)
                    run, number = batch.events.run[at], batch.events.number[at]
                    self.findings.append(Finding(name, int(run), int(number), batch.first + at, str(message)))
            except BaseException as error:
                add_note(error, f"in {name}, called by on_batch with {_events_of(batch)}")
                raise
        if self.checks and not self.has_loop:
            batch._forget()
            self.kept_by_checks = self.kept_by_checks or next(iter(batch._still_there()), "")

    def release(self, on_release: Callable[[Entry], None], entry: Entry) -> None:
        thread = threading.get_ident()
        try:
            self.callbacks.add(thread)
            on_release(entry)
        except BaseException as error:
            self.fail(error)
        finally:
            self._leave_callback(thread)

    def fail(self, error: BaseException) -> None:
        """Stops the run because of an exception in a thread of the run or of the source; the loop raises it."""
        self.failed = self.failed or error
        session = self.session() if self.session else None
        if session is not None:
            session.stop()

    def report_progress(self, events: int, done: int, total: int, seconds: float) -> None:
        thread = threading.get_ident()
        try:
            self.callbacks.add(thread)
            if self.progress is not None and not self.is_closed and not self.failed:
                self.progress(events, done, total, seconds)
        except BaseException as error:
            self.fail(error)
        finally:
            self._leave_callback(thread)

    def finish(self, session: Session, status: int) -> None:
        try:
            self.messages = session.messages()
            self.summary = json.loads(session.json())
            self.table = session.table()
            self.schemas = session.schemas()
            for output in session.outputs():
                if self.schemas[_abi.decode(output.name)].is_totals:
                    self.totals[_abi.decode(output.name)] = read_totals(output)
                self.histograms.update((histogram.name, histogram) for histogram in read_histograms(output))
            if isinstance(self.progress, Bar):
                self.progress.close(self.events)
        except BaseException as error:
            self.failed = self.failed or error
        with self.changed:
            self.status = status
            self.changed.notify_all()


def _index_of_event(index: Any, batch: Batch) -> int:
    """The event index of a finding. TypeError if it is not an integer, IndexError if it is out of range (also -1)."""
    if isinstance(index, bool):
        raise TypeError(f"a finding names event {index}; it must be an index")
    at = operator.index(index)
    if not 0 <= at < len(batch):
        raise IndexError(f"a finding names event {at} of a batch of {len(batch)} events; indices begin at 0")
    return at


def _events_of(batch: Batch) -> str:
    events = batch.events
    first, last = (f"event {events.number[index]} of run {events.run[index]}" for index in (0, -1))
    return first if len(batch) == 1 else f"{len(batch)} events, {first} to {last}"


def run_session(session: Session, exchange: Exchange) -> None:
    """Body of the thread that runs the session."""
    status = session.run()
    exchange.finish(session, status)


def queue_of(source: Iterable[Entry] | Pushed | Given, entries_max: int | None, exchange: Exchange) -> Queue:
    release = source.on_release if isinstance(source, Pushed) else None
    count = _abi.count("entries_max", ENTRIES_MAX if entries_max is None else entries_max, 32, 1)
    is_arrays = isinstance(source, Given) or (isinstance(source, Pushed) and source.is_arrays)
    return Queue(count, None if release is None else functools.partial(exchange.release, release), is_arrays)


def run_source(source: Iterable[Entry], events: int, queue: Queue, exchange: Exchange) -> None:
    """Body of the thread that iterates over a source. Requests at most `events` Events (0: all)."""
    last: int | None = None
    given = 0
    try:
        entries = iter(source)
        for entry in entries:
            index = queue.give(entry, None)
            if index is None:  # the run is over
                break
            last = index
            given += isinstance(entry, Event)
            if given == events > 0:
                break
    except BaseException as error:
        # Entries before the exception go through the graph first, whatever the slices. If the run ends before that, the
        # failing entry was not requested.
        if last is None or queue.wait(last, None):
            exchange.fail(error)
        return
    try:
        if isinstance(entries, Generator):
            entries.close()
    except BaseException as error:
        exchange.fail(error)
    queue.end()
