#!/usr/bin/env python3
"""A thread that cannot be started is reported with the reason: threads_test.py SLUICE FAIL_NTH.so"""
import os
import subprocess
import sys
from pathlib import Path

GRAPHS = Path(__file__).resolve().parents[2] / "graphs"
REASON = os.strerror(11)  # EAGAIN, which the preloaded library makes pthread_create return; errno is not set
faults = 0


def run(number, *words):
    environment = {**os.environ, "LD_PRELOAD": sys.argv[2], "SLUICE_FAIL": f"thread:{number}", "LC_ALL": "C"}
    done = subprocess.run([sys.argv[1], "run", *map(str, words), "--quiet"], env=environment, capture_output=True, text=True)
    if done.returncode == 77:
        print("skipped: system calls cannot be caught here (seccomp)")
        sys.exit(77)
    return done


# The first thread waits for SIGUSR1; the next one flushes files, if there are any; the next threads are slots.
for number, status, expected, words in (
    (1, 0, f"warning: no thread could be started for SIGUSR1, which has no effect: {REASON}", (GRAPHS / "velo_counts.yaml", "-n", 4, "--source-threads", 1)),
    (3, 1, f"error: slot 1: no thread could be started: {REASON}", (GRAPHS / "velo.yaml", "-n", 4, "--slots", 3, "--slice-events", 1, "--source-threads", 1)),
    (2, 1, f"error: no thread could be started: {REASON}", (GRAPHS / "velo_counts.yaml", "-n", 4, "--metrics", os.devnull, "--source-threads", 1)),
):
    done = run(number, *words)
    if expected not in done.stderr or done.returncode != status:
        faults += 1
        print(f"FAILED: status {done.returncode}, {status} expected; no '{expected}' in:\n{done.stderr}")
print("ok" if not faults else f"{faults} failed")
sys.exit(1 if faults else 0)
