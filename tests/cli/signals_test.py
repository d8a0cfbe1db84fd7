#!/usr/bin/env python3
"""Signals that end a command: signals_test.py SLUICE

Each signal stops a run like SIGTERM: slices in flight are delivered, the JSON is complete, the status is 128 + signal.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, Checks

STOPPING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR2, signal.SIGXCPU)
SECONDS = 60
checks = Checks()
check = checks.that


def start(*arguments, ignored=()):
    """Starts a command with default actions of all signals except those in `ignored`."""
    def prepare():
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    return subprocess.Popen([sys.argv[1], *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, preexec_fn=prepare)


def until(condition, process):
    begin = time.monotonic()
    while not condition() and process.poll() is None and time.monotonic() - begin < SECONDS:
        time.sleep(0.02)
    return condition()


def start_run(folder, name, ignored=()):
    """Starts an endless run, and waits until it has written events."""
    out, summary = folder / f"{name}.mdf", folder / f"{name}.json"
    part = Path(f"{out}.part")
    process = start("run", ROOT / "graphs/simulate.yaml", "-n", 100000000, "--slots", 2, "-o", out, "--json", summary, ignored=ignored)
    until(lambda: part.exists() and part.stat().st_size > 0, process)
    return process, part, summary


def end(process):
    try:
        said = process.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        said = f"it did not end: {process.communicate()[1]}"
    return process.returncode, said


def summary_of(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        return {"error": str(error)}


def each_signal_stops_a_run(folder):
    for number in STOPPING:
        process, part, path = start_run(folder, number.name)
        process.send_signal(number)
        status, said = end(process)
        check(status == 128 + number, f"{number.name}: status {status}")
        summary = summary_of(path)
        check(summary.get("interrupted") is True and summary.get("exit") == 128 + number, f"{number.name}: the JSON is complete: {summary.get('error')}")
        check(f"the run was stopped by {number.name} before its end, after {summary.get('events')} events" in said, f"{number.name} is reported: {said}")
        check(part.stat().st_size > 0 and not part.with_suffix("").exists(), f"{number.name}: the file keeps its name .part")


def repeated_signals_of_the_system_do_not_kill_a_run(folder):
    process, _, path = start_run(folder, "repeated")
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGXCPU, signal.SIGHUP, signal.SIGXCPU):
        process.send_signal(number)
        time.sleep(0.002)
    status, said = end(process)
    # Signals that are pending together are handled in any order: a busy machine may take SIGXCPU first.
    check(status in (129, 152) and summary_of(path).get("interrupted") is True, f"repeated SIGHUP and SIGXCPU change nothing: {status} {said}")


def a_second_signal_ends_at_once(folder):
    """Stops a run that waits for a reader that does not read."""
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    for numbers in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGHUP, signal.SIGHUP, signal.SIGINT), (signal.SIGUSR2, signal.SIGINT)):
        process = start("run", ROOT / "graphs/simulate.yaml", "-n", 100000000, "-o", fifo)
        time.sleep(0.7)
        for number in numbers:
            check(process.poll() is None, f"{numbers}: the run waits for the reader before signal {number.name}")
            process.send_signal(number)
            time.sleep(0.1)
        status, said = end(process)
        check(status == -numbers[-1], f"{[n.name for n in numbers]}: the last one ends the process: {status} {said}")
    os.close(reader)


def ignored_signals_stay_ignored(folder):
    ignored = (signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
    process, part, path = start_run(folder, "ignored", ignored)
    for number in ignored:
        process.send_signal(number)
    size = part.stat().st_size
    check(until(lambda: part.stat().st_size > size, process), "ignored signals do not stop a run")
    process.terminate()
    status, said = end(process)
    check(status == 143 and summary_of(path).get("interrupted") is True, f"SIGTERM stops the run: {status} {said}")


def tune_prints_what_it_measured(folder):
    overlay = folder / "tuned.yaml"
    for number, seconds in ((signal.SIGHUP, 2.5), (signal.SIGTERM, 0)):
        process = start("tune", ROOT / "graphs/velo_counts.yaml", "-n", 20, "--slots", "1,2", "--rounds", 99, "--seconds", "0.05" if seconds else "60", "-o", overlay)
        time.sleep(seconds or 0.5)
        process.send_signal(number)
        out, said = process.communicate(timeout=SECONDS)
        check(process.returncode == 128 + number, f"tune: {number.name}: status {process.returncode}")
        check(f"warning: stopped by signal {int(number)} " in said and f"nothing is written to {overlay}" in said, f"tune reports the signal: {said}")
        whole = int(said.split(" whole rounds")[0].split()[-1]) if "whole rounds" in said else None
        check((f"median of {whole} rounds" in out) if whole else out == "", f"tune: the times of {whole} rounds are printed: {out}")
        check(not overlay.exists(), "tune: there is no overlay")
    check(whole == 0, "tune: even the first run of a variant is stopped")


def main():
    with tempfile.TemporaryDirectory() as name:
        for case in (each_signal_stops_a_run, repeated_signals_of_the_system_do_not_kill_a_run, a_second_signal_ends_at_once,
                     ignored_signals_stay_ignored, tune_prints_what_it_measured):
            case(Path(name))
    checks.end()


if __name__ == "__main__":
    main()
