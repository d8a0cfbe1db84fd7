"""Feed: a run of a graph over events that the program puts into it."""
from __future__ import annotations

import threading
from types import TracebackType

from . import _abi
from ._session import GraphOfRun
from .run import Run
from .source import Entry


class Feed:
    """A run of a graph over the events that are put into it: `with graph.feed(on_batch=f) as feed: feed.put(event)`.

    The run has threads of its own. Results go to the functions of on_batch and to sinks; `run` has totals and summary
    at the end. The end of the block waits until all entries have gone through; an exception in the block stops the run.
    """

    def __init__(self, run: Run) -> None:
        assert run._queue
        self.run = run
        self._queue = run._queue
        self._put = -1  # the last entry's number
        self._lock = threading.Lock()  # of _put: several threads may put
        run._begin_alone()

    def put(self, entry: Entry, timeout: float | None = None) -> int:
        """Hands an Event or a Packet to the run and returns its number, from 0. Several threads may put.

        Waits for room, at most `timeout` seconds (None: no limit), then TimeoutError; in functions of on_batch it does
        not wait. If the run is over, raises its error, or StateError. The entry's memory is kept alive and must not
        change until it is in a slice: after wait(), on_release, or end().
        """
        self.run._must_be_of_this_process()
        patience = _abi.seconds("timeout", timeout)
        index = self._queue.give(entry, 0 if self.run._is_in_callback() else patience)
        if index is None:
            self.run._raise_end("it takes no more events")
        with self._lock:
            self._put = max(self._put, index)
        return index

    def wait(self, index: int | None = None, timeout: float | None = None) -> None:
        """Waits until entry `index` (0 or more; None: the last entry that was put) and all entries before it have gone
        through sinks and on_batch. TimeoutError after `timeout` seconds; if the run ended before, its error. StateError
        from a function that the run calls.
        """
        self.run._must_not_wait("wait for results")
        patience = _abi.seconds("timeout", timeout)
        last = self._put if index is None else _abi.count("index", index, 64)
        if last >= 0 and not self._queue.wait(last, patience):
            self.run._raise_end(f"entry {last} did not go through it")

    def reload(self, graph: GraphOfRun) -> None:
        """Changes the graph of the run; see Run.reload(). Entries that were put before may go through either graph."""
        self.run.reload(graph)

    def end(self) -> Run:
        """Ends the feed, waits until all entries have gone through, and returns the run. Raises the run's error. A
        second call does nothing.
        """
        self.run._must_not_wait("wait for the run's end")
        self._queue.end()
        return self.run.finish()

    def close(self) -> None:
        """Stops the run; see Run.close()."""
        self.run.close()

    def __enter__(self) -> Feed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.close()
        elif not self.run._exchange.is_closed:  # a run that was closed in the block has ended
            self.end()
