#!/usr/bin/env python3
"""The default trigger for ten minutes on a CPU: resident memory does not grow, each event has the digests of a single pass over the
file, and items, errors and run totals are those of one pass times the number of passes.

    long_run_test.py [--seconds 600] [--events 400]

Half of the time goes to a run that prints digests, half to one that writes a summary: a summary that has the digests of the events
holds them in memory. One event in fifty cannot be read, so that errors occur all the time. Twenty seconds are enough for a quick test.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from itertools import cycle
from pathlib import Path

import mdf
from common import ROOT, SLUICE, Checks, call

GRAPH = ROOT / "graphs/hlt1_pp_default.yaml"
BAD_EVERY, SLOTS = 50, 2
GROWTH_MAX_BYTES = 4 << 20  # slots and readers still allocate in the first half of a minute
SAMPLES_A_RUN = 400


def anonymous_bytes(pid):
    """Anonymous resident memory of the process; None after it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:")), None)


class Memory(threading.Thread):
    """Samples of a process's memory, until it ends."""

    def __init__(self, pid, interval_s):
        super().__init__(daemon=True)
        self.pid, self.interval_s, self.samples = pid, interval_s, []
        self.start()

    def run(self):
        while (found := anonymous_bytes(self.pid)) is not None:
            self.samples.append(found)
            time.sleep(self.interval_s)


def make_events(path, count):
    call("run", ROOT / "graphs/simulate.yaml", "-n", count, "-o", path, "--quiet", "--set", "raw.signal=Jpsi_mumu")
    records = list(mdf.records(path))
    for record in records[BAD_EVERY // 2::BAD_EVERY]:
        record[70] ^= 1  # the checksum becomes wrong
    path.write_bytes(b"".join(records))


def one_pass(events, report):
    """The lines of digests, the summary, and the seconds of a run."""
    before = time.monotonic()
    done = call("run", GRAPH, "-i", events, "--slots", SLOTS, "--digest=events", "--quiet", "--json", report)
    return done.stdout.splitlines(), json.loads(report.read_text()), time.monotonic() - before


def many_passes(events, passes, arguments, interval_s, take=None):
    """Runs the graph over the file, `passes` times, and hands each line that it prints to `take`. Returns samples of memory."""
    command = [SLUICE, "run", GRAPH, "-i", events, "--set", f"raw.passes={passes}", "--slots", SLOTS, "--quiet", *arguments]
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=messages, text=True)
        memory = Memory(process.pid, interval_s)
        for line in process.stdout:
            if take:
                take(line.rstrip("\n"))
        status = process.wait()
        memory.join()
        if status != 0:
            messages.seek(0)
            sys.exit(f"status {status}\n{messages.read()[-2000:]}")
    return memory.samples


class Comparison:
    """Counts lines, and keeps a message about the first that is not as expected."""

    def __init__(self, expected):
        self.expected, self.count, self.wrong = cycle(expected), 0, None

    def take(self, line):
        expected = next(self.expected)
        if line != expected and not self.wrong:
            self.wrong = f"line {self.count} is '{line}', not '{expected}'"
        self.count += 1


def check_memory(checks, samples, run):
    middle, end = samples[len(samples) // 4:len(samples) // 2], samples[len(samples) // 2:]
    checks.that(len(middle) >= 10, f"{len(samples)} samples of memory in the {run}")
    print("maximum in each tenth of the run:", *(max(samples[len(samples) * i // 10:len(samples) * (i + 1) // 10]) for i in range(10)))
    growth = max(end) - max(middle)
    checks.that(growth <= GROWTH_MAX_BYTES, f"resident memory, {max(end)} bytes, grows by {growth} from the second quarter to the second half")


def times(value, factor):
    """Numbers of a JSON value, times the factor."""
    if isinstance(value, dict):
        return {key: times(part, factor) for key, part in value.items()}
    if isinstance(value, list):
        return [times(part, factor) for part in value]
    return value * factor if type(value) is int else value


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seconds", type=float, default=600)
parser.add_argument("--events", type=int, default=400, help="number of events in the file, which is read repeatedly")
options = parser.parse_args()
checks = Checks()
with tempfile.TemporaryDirectory() as folder:
    events, report = Path(folder) / "events.mdf", Path(folder) / "report.json"
    make_events(events, options.events)
    one_pass(events, report)
    lines, once, seconds = one_pass(events, report)
    passes = max(8, round(options.seconds / 2 / seconds))
    print(f"{passes} passes over {once['events']} events, {once['error_events']} of them in error, {seconds:.2f} s per pass", flush=True)
    interval_s = min(1, options.seconds / 2 / SAMPLES_A_RUN)
    checks.that(len(lines) > 4 * once["events"] and len(set(lines)) > options.events, f"{len(lines)} digests per pass, of several outputs")
    digests = Comparison(lines)
    samples = many_passes(events, passes, ["--digest=events"], interval_s, digests.take)
    checks.that(digests.count == passes * len(lines) and not digests.wrong,
                f"{digests.count} digests of events are those of one pass" + (f": {digests.wrong}" if digests.wrong else ""))
    check_memory(checks, samples, "run with digests")
    samples = many_passes(events, passes, ["--json", report], interval_s)
    summary = json.loads(report.read_text())
    print(f"{summary['events']} events in {summary['seconds']:.0f} s")
    for key in ("events", "error_events"):
        checks.that(summary[key] == passes * once[key] > 0, f"{summary[key]} {key}")
    items = [{output["port"]: output["items"] for output in each["outputs"] if output["port"] != "decide.totals"} for each in (once, summary)]
    checks.that(items[1] == times(items[0], passes), f"items of the outputs are those of a pass, times {passes}: {items[1]}")
    checks.that(once["totals"] and summary["totals"] == times(once["totals"], passes), "run totals are those of a pass, times the passes")
    check_memory(checks, samples, "run with a summary")
checks.end()
