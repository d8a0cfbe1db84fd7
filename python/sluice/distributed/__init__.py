"""Graphs on many machines, by Dask: files are cut at event boundaries, tasks run on a dask.distributed cluster, and
their results are combined in input order.

    import distributed
    import sluice.distributed

    client = distributed.Client(scheduler_file="scheduler.json")
    result = sluice.distributed.run(sluice.Graph("velo_counts.yaml"), "/data/*.mdf", client, out="/data/counts")
    print(result)

See docs/distributed.md. Needs the package distributed (Debian: python3-distributed).
"""
from ._result import Result
from ._run import Job, TasksFailedError, run, submit

__all__ = ["Job", "Result", "TasksFailedError", "run", "submit"]
