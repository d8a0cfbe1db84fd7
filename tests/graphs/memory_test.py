#!/usr/bin/env python3
"""Memory: plans have the minimum size, and a long run needs no more memory than a short one."""
from common import BRIEF, SIX, Checks, need_data, run

need_data()
checks = Checks()
for graph in ("velo.yaml", "velo_superpixels.yaml"):
    for slice_events in (1, 8, 1000):
        arena = run(graph, SIX, "--slice-events", slice_events)["arena"]
        checks.that(arena["ratio"] == 1.0, f"{graph}, slices of {slice_events}: arena {arena['bytes']} bytes, minimum {arena['live_bytes_max']}")

# The first events of both slots touch all memory of a run.
short = run("velo.yaml", SIX, "--set", "raw.passes=100", "--set", "raw.checksum=false", "--slots", 2)
passes = 400 if BRIEF else 2000
long_run = run("velo.yaml", SIX, "--set", f"raw.passes={passes}", "--set", "raw.checksum=false", "--slots", 2)
checks.that(long_run["events"] == 6 * passes, f"{long_run['events']} events")
growth = long_run["peak_rss_bytes"] - short["peak_rss_bytes"]
checks.that(growth < 2 << 20, f"peak resident memory grows by {growth} bytes from {short['events']} to {long_run['events']} events")
checks.end()
