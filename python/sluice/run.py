"""A run: the library in threads of its own, and a loop over its batches in the caller's thread.

A thread of the run passes each batch to the functions of on_batch, then to the loop, and waits until the loop asks for
the next one. There is one batch at a time, and its memory stays valid meanwhile. A source in Python is iterated over in
another thread. The threads and the loop share an Exchange only and do not keep the Run alive: a loop that is left
early drops the Run, which stops the run.
"""
from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, NoReturn

from . import _abi
from ._exchange import Bar, Check, Exchange, Progress, queue_of, run_session, run_source
from ._feed import Given, Pushed
from ._session import GraphOfRun, Session, Settings
from .batch import Batch
from .collection import Schema
from .errors import (
    CheckError,
    Diagnostic,
    Finding,
    RunError,
    SluiceWarning,
    StaleViewWarning,
    StateError,
    failure,
    warn,
)
from .histogram import Histogram
from .totals import Totals
from .source import Entry

_PATIENCE_S = 1.0  # wait for a blocked source after the end of the run
_PATIENCE_AFTER_INTERRUPT_S = 0.5  # wait for slices in flight after Ctrl-C; the run ends in its threads


def _is_current_thread(thread: threading.Thread | None) -> bool:
    """Whether this thread is the caller's. threading.current_thread() would register threads of the library."""
    return thread is not None and thread.ident == threading.get_ident()


_open: weakref.WeakSet[Run] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Stops runs that are still open when Python ends, and joins their threads, which must not run without Python or
    wait for a loop that is gone.
    """
    for run in list(_open):
        run.close()
    for thread in list(_threads):
        thread.join()


os.register_at_fork(after_in_child=_threads.clear)


class Run(Iterator[Batch]):
    """A run of a graph: an iterator over its batches. A second loop over a finished run is a StateError.

    The run starts when the first batch is requested. Leaving the loop early, an exception in it, or KeyboardInterrupt
    stops the run when nothing refers to it any more; close(), or the end of `with graph.run(...) as run:`, stop it at
    once. close() may be called from any thread and from functions of the run; the loop then ends. Slices in flight are
    finished, and files of sinks keep the name FILE.part. In a forked child, each call except close() is a StateError.

    Errors: RunError after the batches before a failure; CheckError at the end if there are findings; exceptions of
    functions and sources are raised by the loop. After the end: summary, totals, histograms, findings, diagnostics.
    """

    def __init__(
        self,
        settings: Settings,
        progress: bool | Progress | None = None,
        warns: bool = True,
        on_batch: Check | Iterable[Check] | None = None,
        source: Iterable[Entry] | Pushed | Given | None = None,
        entries_max: int | None = None,
    ) -> None:
        self._warns = warns
        self._settings = settings
        self._pid = os.getpid()
        checks = [on_batch] if callable(on_batch) else [] if on_batch is None else list(on_batch)
        shown: Progress | None = None
        if progress is not None and progress is not False:
            shown = Bar() if progress is True else progress
        self._exchange = exchange = Exchange(shown, checks, settings.keep)
        self._n = settings.events
        self._source = None if isinstance(source, Pushed) else source.inputs if isinstance(source, Given) else source
        self._queue = queue = None if source is None else queue_of(source, entries_max, exchange)
        report_progress = None if shown is None else exchange.report_progress
        self._session: Session | None = Session(settings, exchange.offer, report_progress, queue)
        exchange.session = weakref.ref(self._session)
        self._url = self._session.url
        exchange.schemas = self._session.schemas()
        self._thread: threading.Thread | None = None
        self._source_thread: threading.Thread | None = None
        self._over = False
        self._ending = threading.Lock()  # guards diagnostics, which the loop and close() in another thread complete
        self._loop: int | None = None  # the thread of the loop
        self._batch: Batch | None = None  # the loop's current batch
        self._before: Batch | None = None  # the loop's previous batch
        self._warned_of_views = False
        self.diagnostics: list[Diagnostic] = []
        self.diagnostics += self._session.messages()
        self._warn_of(self.diagnostics)
        _open.add(self)

    @property
    def url(self) -> str | None:
        """The address of the page, "http://127.0.0.1:8080/"; None without serve=."""
        return self._url

    @property
    def schemas(self) -> dict[str, Schema]:
        """The collections of the graph's outputs, by output; known before the run starts. After reload() those of the
        newest batch.
        """
        return dict(self._exchange.schemas)

    def __iter__(self) -> Run:
        self._must_be_of_this_process()
        if self._over:
            raise StateError(f"{self._how_it_ended()}: its batches are gone; graph.run() makes another run")
        return self

    def __next__(self) -> Batch:
        self._must_not_wait("ask for batches")
        if self._over:
            raise StopIteration
        try:
            batch = self._take()
        except KeyboardInterrupt:
            self._close(_PATIENCE_AFTER_INTERRUPT_S)
            raise
        except BaseException:
            self.close()
            raise
        if batch is None:
            self._end()
            raise StopIteration
        return batch

    def _how_it_ended(self) -> str:
        return "the run was closed" if self._exchange.is_closed else "the run is over"

    def _raise_end(self, consequence: str) -> NoReturn:
        """Raises the error of the run, or a StateError with the consequence if it ended without one."""
        if not self._over:
            self._run_to_end()
        raise StateError(f"{self._how_it_ended()}: {consequence}")

    def _must_be_of_this_process(self) -> None:
        if self._pid != os.getpid():
            raise StateError(
                f"this run belongs to process {self._pid}, which was forked: a run cannot go on in a child; make"
                " another one there"
            )

    def _must_not_wait(self, what: str) -> None:
        """StateError in functions of the run and in forked children, where a wait for the run would never end."""
        self._must_be_of_this_process()
        if self._is_in_callback() or _is_current_thread(self._source_thread):
            raise StateError(f"a function that the run calls cannot {what}")

    def _take(self) -> Batch | None:
        """Gives the current batch back and waits for the next one; None at the end of the run."""
        exchange = self._exchange
        self._loop = threading.get_ident()
        self._begin()
        with exchange.changed:
            # Only the batch that the loop had: exchange.batch may be the next one already.
            last, self._batch = self._batch, None
            if last is not None and exchange.batch is last:
                exchange.batch = None
                exchange.changed.notify_all()
            while exchange.batch is None and exchange.status is None:
                exchange.changed.wait()
            batch = self._batch = exchange.batch
        self._warn_of_old_views(last)
        return batch

    def _begin(self) -> None:
        if self._thread:
            return
        # A daemon thread: _close_all() ends the run before the program ends.
        self._thread = threading.Thread(
            target=run_session, args=(self._session, self._exchange), name="sluice run", daemon=True
        )
        _threads.add(self._thread)
        self._thread.start()
        if self._source is not None:
            assert self._queue
            self._source_thread = threading.Thread(
                target=run_source,
                args=(self._source, self._n, self._queue, self._exchange),
                name="sluice source",
                daemon=True,
            )
            self._source_thread.start()

    def _begin_alone(self) -> None:
        """Starts or continues the run without a loop."""
        with self._exchange.changed:
            self._exchange.has_loop = False
            self._exchange.changed.notify_all()
        self._batch = None
        self._begin()

    def _is_in_callback(self) -> bool:
        return threading.get_ident() in self._exchange.callbacks

    def reload(self, graph: GraphOfRun) -> None:
        """Changes the graph of the run, at the next slice boundary: batches before are of the old one, later ones of
        the new one; outputs may differ. Everything is checked first: GraphError with all reasons, and nothing has changed.

        Source, sinks, device and slots stay the same. May be called from any thread, but not with a batch of the loop,
        which the run waits for, and not from functions of the run: StateError; also before the run has started, and if it
        has read all its input.
        """
        self._must_not_wait("change its configuration")
        if self._thread is None:
            raise StateError("the run has not started: open it with the other graph")
        if self._batch is not None and self._loop == threading.get_ident():
            raise StateError("the run waits for the loop's batch: call reload() in another thread, or use graph.feed()")
        session, status = self._session, _abi.INTERRUPTED
        while session is not None and status == _abi.INTERRUPTED and self._exchange.status is None:
            status = graph._open(Settings(serve=self._settings.serve), session.reload)
            if status == _abi.INTERRUPTED:  # it has not begun to read, or has read everything
                time.sleep(0.001)
        if status == _abi.INTERRUPTED:
            raise StateError(f"{self._how_it_ended()}: its configuration stays")

    def finish(self) -> Run:
        """Runs to the end without a loop; remaining batches go to on_batch and sinks only. Returns the run. Raises the
        errors of the run, and StateError if it was closed.
        """
        self._must_not_wait("wait for the run's end")
        if not self._over:
            self._run_to_end()
        if self._exchange.is_closed:
            raise StateError("the run was closed before its end")
        return self

    def _run_to_end(self) -> None:
        exchange = self._exchange
        try:
            self._begin_alone()
            with exchange.changed:
                while exchange.status is None:
                    exchange.changed.wait()
        except KeyboardInterrupt:
            self._close(_PATIENCE_AFTER_INTERRUPT_S)
            raise
        except BaseException:
            self.close()
            raise
        self._end()

    def _warn_of_old_views(self, last: Batch | None) -> None:
        """Warns of arrays of the batch before the last one. Arrays of the last batch may still be in the loop's
        variables.
        """
        kept = self._before._still_there() if self._before else []
        self._before = last
        if kept:
            self._warn_of_view(kept[0])

    def _warn_of_view(self, kept: str) -> None:
        if self._warns and not self._warned_of_views:
            self._warned_of_views = True
            warn(
                f"an array of an earlier batch is still there: {kept}; its memory holds other events by now: keep "
                "array.copy() or arrow(copy=True), or take arrays() of the whole run",
                StaleViewWarning,
            )

    def _end(self) -> None:
        """Ends the loop after the run has ended or was closed elsewhere; raises the run's error."""
        self._over = True
        self._join(None)
        exchange = self._exchange
        self._session = None
        failed = bool(exchange.status and exchange.status < 0)
        messages = self._complete_diagnostics()
        if exchange.failed:
            raise exchange.failed
        if exchange.is_closed:
            return
        self._warn_of(messages, failed)
        if exchange.kept_by_checks:
            self._warn_of_view(exchange.kept_by_checks)
        if failed:
            assert exchange.status is not None
            name = _abi.ERRORS.get(exchange.status, str(exchange.status))
            raise RunError(failure("the run failed", exchange.messages), exchange.messages, name)
        if exchange.findings:
            raise CheckError(exchange.findings, exchange.messages)

    def _join(self, patience_s: float | None) -> None:
        """Waits for the threads of the run, at most `patience_s` seconds each (None: for the run without limit). The
        thread of a blocked source ends when the source continues, or with the program.
        """
        if self._is_in_callback() or patience_s == 0:
            return
        if self._thread is not None and not _is_current_thread(self._thread):
            self._thread.join(patience_s)
        if self._source_thread is not None and not _is_current_thread(self._source_thread):
            self._source_thread.join(_PATIENCE_S if patience_s is None else patience_s)

    def _complete_diagnostics(self) -> list[Diagnostic]:
        """Appends the new messages of the run to diagnostics, and returns them."""
        with self._ending:
            messages = self._exchange.messages[len(self.diagnostics) :]
            self.diagnostics += messages
            return messages

    def _warn_of(self, messages: list[Diagnostic], failed: bool = False) -> None:
        """Issues messages as warnings: warnings, and errors of a run that did not fail, such as bad events. Errors of
        a failed run are in its exception.
        """
        for diagnostic in messages:
            if self._warns and (diagnostic.severity == "warning" or (diagnostic.severity == "error" and not failed)):
                warn(diagnostic.text, SluiceWarning)

    def close(self) -> None:
        """Stops the run, waits for its end, and releases its memory. May be called from any thread; in a function that
        the run calls it does not wait. A second call, and a call in a forked child, do nothing.
        """
        self._close(None)

    def _close(self, patience_s: float | None) -> None:
        if self._over or self._pid != os.getpid():
            return
        exchange = self._exchange
        session = self._session
        if session is not None:
            session.stop()
        with exchange.changed:
            exchange.is_closed = True
            exchange.changed.notify_all()
        self._join(patience_s)
        self._over = True
        self._session = None
        self._complete_diagnostics()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if "_over" in self.__dict__ and not sys.is_finalizing():
            # Any thread may collect garbage, including a thread of the library that this run would wait for.
            own = threading.get_ident()
            self._close(None if any(thread.ident == own for thread in threading.enumerate()) else 0)

    def _finished(self) -> Exchange:
        if self._exchange.status is None:
            raise StateError("the run is not over: this is known at its end")
        return self._exchange

    @property
    def findings(self) -> list[Finding]:
        """The findings of functions of on_batch so far."""
        return list(self._exchange.findings)

    @property
    def summary(self) -> dict[str, Any]:
        """The JSON summary of the run, as of `sluice run --json`: "events", "error_events", "results", ..."""
        return self._finished().summary

    @property
    def table(self) -> str:
        """The table of the run, as the command prints it."""
        return self._finished().table

    @property
    def totals(self) -> dict[str, Totals]:
        """Totals by output: `totals["decide.totals"]["passed"]` is an array with an integer per entry; if the entries have names,
        `totals["decide.totals"]["Hlt1TrackMVA"]` is the dict of one entry.
        """
        return self._finished().totals

    @property
    def histograms(self) -> dict[str, Histogram]:
        """Histograms by name: the outputs of generic.histogram and generic.histogram_2d, and "OUTPUT.FIELD" for each field of
        totals with named entries, with an axis of categories.
        """
        return self._finished().histograms
