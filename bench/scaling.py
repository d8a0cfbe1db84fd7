#!/usr/bin/env python3
"""Task length of sluice.distributed, from the cost of a worker, a task and the scheduler.

    bench/scaling.py measure [--graph hlt1_pp_default.yaml] [--events 1600] [--tasks 10000] [-o scaling.json]
    bench/scaling.py table scaling.json                                # for docs/distributed.md
    bench/scaling.py plot scaling.json docs/figures/scaling.svg        # needs Debian's python3-matplotlib

`measure` runs the graph over simulated events with one worker and with two, in tasks of two sizes: the smaller one
shows the cost of a task besides its events. It also sends the scheduler, a separate process, this many empty tasks.
Needs SLUICE_LIBRARY, and the package on PYTHONPATH. Workers have one thread each.

`table` and `plot` simulate a cluster: a worker asks for a task, waits until the scheduler, which serves one at a time,
has served it, is busy with the task, and asks for the next one. The lengths of tasks vary as measured. Busy is the time that all workers spend on events, out of the time from the begin of the run to the end of its last
task. A run is one that keeps all workers busy for an hour, but of a million tasks at most.
"""
import argparse
import heapq
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOUR = 3600.0
TASKS_MAX = 1_000_000
SECONDS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
WORKERS = (10, 100, 1000)
ROUNDS = 3


# ------------------------------------------------------------------------------------------------- measured


class Cluster:
    """A scheduler and workers as processes of their own, as on a cluster."""

    def __init__(self, folder, workers):
        self.file = Path(folder) / f"scheduler{workers}.json"
        quiet = {**os.environ, "DASK_LOGGING__DISTRIBUTED": "critical"}
        file = ["--scheduler-file", str(self.file)]
        self.scheduler = subprocess.Popen(["dask", "scheduler", *file, "--port", "0", "--no-dashboard"], env=quiet)
        self.workers = [
            subprocess.Popen(
                ["dask", "worker", *file, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0",
                 "--local-directory", str(folder)], env=quiet,
            )
            for _ in range(workers)
        ]

    def __enter__(self):
        import distributed

        self.client = distributed.Client(scheduler_file=str(self.file), timeout=60)
        self.client.wait_for_workers(len(self.workers), timeout=60)
        return self

    def __exit__(self, *error):
        self.client.shutdown()
        for process in [*self.workers, self.scheduler]:
            process.wait()

    def scheduler_seconds(self):
        """Processor time so far."""
        fields = Path(f"/proc/{self.scheduler.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def nothing(number):
    return number


def measure_scheduler(folder, tasks):
    """Seconds a task: of the whole, and of the scheduler's processor alone."""
    with Cluster(folder, 2) as cluster:
        cluster.client.gather(cluster.client.map(nothing, range(100), pure=False))
        begin, busy = time.perf_counter(), cluster.scheduler_seconds()
        futures = cluster.client.map(nothing, range(tasks), pure=False)
        results = cluster.client.gather(futures)
        seconds, busy = time.perf_counter() - begin, cluster.scheduler_seconds() - busy
        if results != list(range(tasks)):
            sys.exit("error: empty tasks came back wrong")
    return {"tasks": tasks, "seconds_a_task": seconds / tasks, "scheduler_seconds_a_task": busy / tasks}


def run_once(cluster, graph, file, events_per_task):
    import sluice.distributed

    with tempfile.TemporaryDirectory() as out:
        begin = time.perf_counter()
        job = sluice.distributed.submit(
            graph, file, cluster.client, out=out, events_per_task=events_per_task, slots=1, source_threads=1
        )
        result = job.result()
        seconds = time.perf_counter() - begin
    first = min(task["begin"] for task in result.tasks)
    last = max(task["end"] for task in result.tasks)
    return {
        "events": result.events,
        "events_per_task": events_per_task,
        "digest": next(iter(result.digests.values())),
        "wall_seconds": seconds,
        "hz": result.events / (last - first),
        "task_seconds": [task["end"] - task["begin"] for task in result.tasks],
        "task_events": [task["events"] for task in result.tasks],
    }


def measure_workers(folder, options):
    import sluice

    graph = sluice.Graph(options.graph)
    file = Path(folder) / "events.mdf"
    for _ in sluice.Graph("simulate.yaml").run(n=options.events, output=file):
        pass
    small, large = max(1, options.events // 160), options.events // 8
    runs = {"1": [], "2": [], "small": []}
    for _ in range(ROUNDS):
        for workers in (1, 2):
            with Cluster(folder, workers) as cluster:
                run_once(cluster, graph, file, large)  # pages of the file and of the library
                runs[str(workers)].append(run_once(cluster, graph, file, large))
                if workers == 1:
                    runs["small"].append(run_once(cluster, graph, file, small))
    if len({run["digest"] for kind in runs.values() for run in kind}) != 1:
        sys.exit("error: digests differ")
    return runs


def measure(options):
    import sluice

    with tempfile.TemporaryDirectory() as folder:
        measured = {
            "sluice_version": sluice.version(),
            "graph": options.graph,
            "scheduler": [measure_scheduler(folder, options.tasks) for _ in range(ROUNDS)],
            "runs": measure_workers(folder, options),
        }
    options.output.write_text(json.dumps(measured, indent=1))


# ------------------------------------------------------------------------------------------------ simulated


def parameters(measured):
    """Parameters of the simulation: seconds per task besides its events, seconds of the scheduler, the spread of tasks of
    one size (medians of the rounds), and the rate of a worker."""
    scheduler = statistics.median(run["seconds_a_task"] for run in measured["scheduler"])
    busy = statistics.median(run["scheduler_seconds_a_task"] for run in measured["scheduler"])

    def mean_task(kind):
        of_full = [
            [s for s, e in zip(run["task_seconds"], run["task_events"]) if e == run["events_per_task"]]
            for run in measured["runs"][kind]
        ]
        return statistics.median(statistics.mean(seconds) for seconds in of_full), of_full

    large, of_large = mean_task("1")
    small, _ = mean_task("small")
    events = [measured["runs"][kind][0]["events_per_task"] for kind in ("1", "small")]
    an_event = (large - small) / (events[0] - events[1])
    spread = statistics.median(statistics.stdev(seconds) / statistics.mean(seconds) for seconds in of_large)
    return {
        "scheduler": scheduler, "scheduler_busy": busy, "overhead": max(0.0, small - events[1] * an_event),
        "event": an_event, "spread": spread,
    }


def simulate(workers, seconds, scheduler, overhead, spread, seed=1):
    """The share of their time that workers spend on events."""
    draw = random.Random(seed)
    tasks = int(min(workers * HOUR / seconds, TASKS_MAX))
    asks = [(0.0, worker) for worker in range(workers)]  # when a worker asks for a task
    free = end = useful = 0.0
    for _ in range(tasks):
        asked, worker = heapq.heappop(asks)
        free = max(free, asked) + scheduler
        work = seconds * max(0.1, draw.gauss(1, spread))
        useful += work
        over = free + overhead + work
        end = max(end, over)
        heapq.heappush(asks, (over, worker))
    return useful / (workers * end)


def simulated(found):
    arguments = (found["scheduler"], found["overhead"], found["spread"])
    return {workers: [simulate(workers, seconds, *arguments) for seconds in SECONDS] for workers in WORKERS}


def window(shares, least=0.95):
    """The task lengths, of those looked at, within which workers are that busy."""
    good = [seconds for seconds, share in zip(SECONDS, shares) if share >= least]
    return (good[0], good[-1]) if good else None


def table(options):
    measured = json.loads(options.json.read_text())
    found = parameters(measured)
    rates = {kind: [run["hz"] for run in runs] for kind, runs in measured["runs"].items()}
    print(f"{measured['graph']}, Sluice {measured['sluice_version']}, {ROUNDS} rounds: median (least to most)\n")
    print("| | |\n| --- | --- |")
    for kind, what in (("1", "one worker"), ("2", "two workers")):
        low, middle, high = min(rates[kind]), statistics.median(rates[kind]), max(rates[kind])
        print(f"| {what} | {middle:.0f} ({low:.0f} to {high:.0f}) events/s |")
    print(f"| a task, beside its events | {found['overhead'] * 1e3:.0f} ms |")
    print(f"| an event | {found['event'] * 1e3:.2f} ms |")
    print(f"| spread of tasks of one size | {found['spread'] * 100:.1f} % |")
    print(f"| an empty task, of {measured['scheduler'][0]['tasks']} | {found['scheduler'] * 1e3:.2f} ms |")
    print(f"| of these the scheduler's processor | {found['scheduler_busy'] * 1e3:.2f} ms |")
    print("\n| workers | " + " | ".join(f"{s:g} s" for s in SECONDS) + " | 95 % busy |")
    print("| --- " * (len(SECONDS) + 2) + "|")
    for workers, shares in simulated(found).items():
        within = window(shares)
        said = f"{within[0]:g} to {within[1]:g} s" if within else "never"
        print(f"| {workers} | " + " | ".join(f"{100 * share:.0f}" for share in shares) + f" | {said} |")


def plot(options):
    import figures
    import matplotlib.pyplot as plt
    figures.prepare("scaling")
    found = parameters(json.loads(options.json.read_text()))
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for (workers, shares), style in zip(simulated(found).items(), ("o-", "s-", "^-")):
        percent = [100 * share for share in shares]
        axes.plot(SECONDS, percent, style, markersize=3, linewidth=1.2, label=f"{workers} workers")
    axes.axhline(95, color="0.4", linewidth=0.8, linestyle="--")
    axes.text(SECONDS[-1], 94, "95 %", ha="right", va="top", color="0.4")
    axes.set(xscale="log", ylim=(0, 101))
    axes.set(xlabel="time on the events of a task (s)", ylabel="workers busy with events (%)")
    axes.legend(loc="lower center")
    figure.savefig(options.svg, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("measure")
    command.add_argument("--graph", default="hlt1_pp_default.yaml")
    command.add_argument("--events", type=int, default=1600)
    command.add_argument("--tasks", type=int, default=10000)
    command.add_argument("-o", "--output", type=Path, default=Path("scaling.json"))
    command.set_defaults(call=measure)
    command = commands.add_parser("table")
    command.add_argument("json", type=Path)
    command.set_defaults(call=table)
    command = commands.add_parser("plot")
    command.add_argument("json", type=Path)
    command.add_argument("svg", type=Path)
    command.set_defaults(call=plot)
    options = parser.parse_args()
    if "svg" in options and os.path.exists(options.svg) and os.path.samefile(options.json, options.svg):
        parser.error(f"{options.svg} is the file that is read")
    options.call(options)


if __name__ == "__main__":
    main()
