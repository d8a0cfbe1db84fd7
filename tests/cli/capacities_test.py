#!/usr/bin/env python3
"""Capacities are 64 bits: capacities_test.py SLUICE. A plan has room for any number of scratch values. More items than the
offsets of a port can count are an error, which names the largest possible slice."""
import re
import subprocess
import sys
from pathlib import Path

GRAPH = Path(__file__).resolve().parents[2] / "graphs/velo.yaml"


def sluice(command, events, *options, expect=0):
    done = subprocess.run([sys.argv[1], command, GRAPH, "--slice-events", str(events), *options], capture_output=True, text=True)
    assert done.returncode == expect, (command, events, done)
    return done


def field_bytes(plan, name):
    return int(re.search(rf"^{re.escape(name)} +(\d+) ", plan, re.MULTILINE)[1])


plan = sluice("plan", 80000).stdout
hits = field_bytes(plan, "search.used.flag")  # one byte each
assert field_bytes(plan, "search.track_hits (scratch)") == 2 * 26 * hits > 2 * 2**32, plan

wide = ("--set", "raw.velo_clusters_words=65536")
refused = sluice("check", 100000, *wide, expect=2).stderr
assert "raw.yaml:" in refused and "100000 events" in refused and "4294967294" in refused, refused
largest = int(re.search(r"the largest slice size that works is --slice-events (\d+)", refused)[1])
sluice("check", largest, *wide)
assert f"{largest + 1} events" in sluice("plan", largest + 1, *wide, expect=2).stderr
print(f"the largest slice has {largest} events")
