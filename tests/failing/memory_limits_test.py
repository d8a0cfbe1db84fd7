#!/usr/bin/env python3
"""A run that needs more memory than available is refused with a message: limits of the process, of a control group (with
files in a folder of the test), of the machine. Defaults are reduced to fit; results do not change.

    memory_limits_test.py SLUICE FAIL_NTH.so
"""
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sluice = os.path.abspath(sys.argv[1])
links = tempfile.TemporaryDirectory()  # a path in LD_PRELOAD ends at a space
library = os.path.join(links.name, "library.so")
os.symlink(os.path.abspath(sys.argv[2]), library)
faults = 0


def call(*words, limit=None, value=0, files=None):
    environment = dict(os.environ)
    if files:
        environment.update(LD_PRELOAD=library, SLUICE_FAIL_FILES=str(files))
    return subprocess.run([sluice, *map(str, words)], env=environment, capture_output=True, text=True,
                          preexec_fn=(lambda: resource.setrlimit(limit, (value, value))) if limit else None)


def that(holds, text, done):
    global faults
    if not holds:
        faults += 1
        print(f"FAILED: {text}\n  status {done.returncode}\n  {done.stderr}")


def refused(done, *texts):
    that(done.returncode == 2 and all(re.search(text, done.stderr) for text in texts), f"refused with {texts}", done)


def digests(done):
    return re.findall(r"digest (\w+)", done.stdout)


pv = ROOT / "graphs/pv.yaml"
usual = call("run", pv, "-n", 40, "--digest")
that(usual.returncode == 0 and len(digests(usual)) > 0 and usual.stderr == "", "without a limit nothing is reported", usual)

for limit, name in ((resource.RLIMIT_AS, "RLIMIT_AS"), (resource.RLIMIT_DATA, "RLIMIT_DATA")):
    asked = call("run", pv, "-n", 40, "--slice-events", 1000, "--slots", 2, limit=limit, value=300 << 20)
    refused(asked, r"error: 2 slots of 1000 events need 1\.\d+ GB of memory, and there is \d+ MB left \(" + name, r"hint: --slice-events \d+ fits")
    events = re.search(r"--slice-events (\d+) fits", asked.stderr)
    if events:
        hinted = call("run", pv, "-n", 40, "--digest", "--slice-events", events[1], "--slots", 2, limit=limit, value=300 << 20)
        that(hinted.returncode == 0 and digests(hinted) == digests(usual), f"{name}: the slice size of the hint fits", hinted)

huge = call("run", pv, "-n", 40, "--slice-events", 100000, "--slots", 200)
refused(huge, r"error: 200 slots of 100000 events need \d+\.\d+ TB of memory", "MemAvailable|control group", "hint: ")

# `plan` allocates no buffers, so that it shows plans for larger machines.
planned = call("plan", pv, "--slice-events", 100000, limit=resource.RLIMIT_AS, value=300 << 20)
that(planned.returncode == 0, "a plan of any size is shown", planned)

with tempfile.TemporaryDirectory() as folder:
    group = Path(folder) / "sys/fs/cgroup/job"
    (Path(folder) / "proc/self").mkdir(parents=True)
    group.mkdir(parents=True)
    (Path(folder) / "proc/self/cgroup").write_text("0::/job\n")
    (group / "memory.max").write_text(f"{12 << 20}\n")
    (group / "memory.current").write_text(f"{3 << 20}\n")
    small = call("run", pv, "-n", 40, "--digest", "--device", "cpu", "--set", "raw.seed=0", files=folder)
    if small.returncode == 77:
        print("skipped: system calls cannot be caught here (seccomp)")
        sys.exit(77)
    asked = call("run", pv, "-n", 40, "--slice-events", 60, files=folder)
    refused(asked, "the limit of the control group", r"hint: --slice-events \d+ fits")
    kept = call("run", pv, "-n", 100000, "--repeat", 2, limit=resource.RLIMIT_DATA, value=100 << 20)
    that(kept.returncode == 1 and re.search(r"--repeat keeps all slices, and after \d+ events there is memory for", kept.stderr), "slices kept for --repeat are refused before memory runs out", kept)

print("ok" if not faults else f"{faults} failed")
sys.exit(1 if faults else 0)
