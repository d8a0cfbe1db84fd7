#!/usr/bin/env python3
"""The methods of UT decoding that bench/ut_decoding.py measures find equal hits, on the cpu and on the emulator
of a GPU, with warps of 32 and 64 threads, blocks of 64 and 256, and banks of both versions."""
import subprocess
import sys

from common import ROOT, SLUICE, Checks, call, run_simulated

checks = Checks()
WAYS = ["boards", "map", "suppressed", "shared", "sorted", "fetched", "ut.decode"]
EVENTS = 3


def table(*arguments):
    """The rows by method: work, nanoseconds per event, and the digest."""
    done = subprocess.run([sys.executable, "-B", ROOT / "bench/ut_decoding.py", "--sluice", SLUICE, "--events", str(EVENTS), "--distinct",
                           str(EVENTS), "--rounds", "1", "--repeat", "2", *arguments], capture_output=True, text=True)
    checks.that(done.returncode == 0, f"{' '.join(arguments)}: the bench runs {done.stderr}")
    return {row[0]: (float(row[1]), float(row[2]), row[-1]) for row in map(str.split, done.stdout.splitlines()[2:])}


cases = [("--device", "cpu")]
if "simt" in call("--version").stdout:
    cases += [("--device", "simt", "--set", f"simt.warp={warp}", "--set", f"ut_hits.block={block}") for warp, block in ((32, 256), (64, 64))]
for version in ("3", "4"):
    expected = run_simulated("ut_hits.yaml", "-n", EVENTS, "--set", f"raw.ut_version={version}", "--digest")["outputs"][0]["digest"]
    for case in cases:
        rows = table("--version", version, *case)
        checks.that(list(rows) == WAYS and all(row[1] > 0 for row in rows.values()), f"version {version}: each method has a time")
        checks.that({row[2] for row in rows.values()} == {expected}, f"version {version}: all digests equal that of ut.decode, {expected}")
        work = [rows[way][0] for way in ("map", "suppressed", "sorted", "ut.decode")]
        checks.that(work == sorted(work, reverse=True) and work[-1] > 0, f"version {version}: work decreases, {work}")
checks.end()
