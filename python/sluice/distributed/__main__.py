"""python3 -m sluice.distributed: a run over the workers of a cluster, from a shell."""
from __future__ import annotations

import argparse
import sys
from typing import Any

from ..errors import Error
from ..graph import Graph
from ._dask import distributed
from ._run import submit


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m sluice.distributed",
        description="Run a graph over files on the workers of a Dask cluster. The same command goes on with a run that "
        "ended early. Exit status: 0 all is well, 1 tasks failed, 2 the graph, a file or the command line is wrong.",
    )
    cluster = parser.add_mutually_exclusive_group(required=True)
    cluster.add_argument("--scheduler-file", metavar="FILE", help="as given to `dask scheduler`")
    cluster.add_argument("--scheduler", metavar="ADDRESS", help="such as tcp://node1:8786")
    cluster.add_argument("--local", type=int, metavar="N", help="N workers on this machine, for this run")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="the run's folder, which all workers share")
    parser.add_argument("--events-per-task", type=int, default=10000, metavar="N", help="%(default)s if not given")
    parser.add_argument(
        "--name", type=_pair, action="append", default=[], metavar="NODE=FILE", help="the name of a sink's files"
    )
    parser.add_argument("--set", type=_pair, action="append", default=[], metavar="NAME=VALUE", help="as of sluice run")
    parser.add_argument("--use", type=_pair, action="append", default=[], metavar="NODE=NAME", help="as of sluice run")
    parser.add_argument("--with", action="append", default=[], dest="with_", metavar="FILE", help="as of sluice run")
    parser.add_argument("--plugin-path", action="append", default=[], metavar="FOLDER", help="as of sluice run")
    parser.add_argument("--device", metavar="DEVICE", help="of each task: cpu, cuda, ...")
    parser.add_argument("--slots", type=int, metavar="N", help="of each task")
    parser.add_argument("--slice-events", type=int, metavar="N", help="of each task")
    parser.add_argument("--source-threads", type=int, metavar="N", help="of each task")
    parser.add_argument("--retries", type=int, default=2, metavar="N", help="of a task that fails; %(default)s")
    parser.add_argument("graph", metavar="GRAPH")
    parser.add_argument("files", metavar="FILE", nargs="+")
    return parser


def _client(options: argparse.Namespace) -> Any:
    if options.local is not None:
        return distributed().Client(n_workers=options.local, threads_per_worker=1, dashboard_address=":0")
    return distributed().Client(options.scheduler, scheduler_file=options.scheduler_file)


def _run(options: argparse.Namespace) -> int:
    graph = Graph(
        options.graph,
        with_=options.with_,
        use=dict(options.use),
        set=dict(options.set),
        plugin_paths=options.plugin_path,
    )
    with _client(options) as client:
        try:
            job = submit(
                graph,
                options.files,
                client,
                out=options.out,
                events_per_task=options.events_per_task,
                names=dict(options.name),
                device=options.device,
                slots=options.slots,
                slice_events=options.slice_events,
                source_threads=options.source_threads,
                retries=options.retries,
            )
        except (Error, OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        print(f"{len(job.futures)} tasks, and {job.resumed} that were done before", file=sys.stderr)
        if sys.stderr.isatty():
            distributed().progress(job.futures, notebook=False)
        try:
            print(job.result())
        except Error as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(_run(_parser().parse_args()))
