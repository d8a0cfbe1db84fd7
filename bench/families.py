#!/usr/bin/env python3
"""Cost of many small nodes per slice: as a family in one launch, and in separate launches.

    bench/families.py [--device cuda] [--nodes 64] [--slice-events 1000,4000] [--slots 1,4] [--repeat 200] [--rounds 3]

Makes a graph with so many odin.filter nodes over simulated events, written to a file first, and a node that gathers
their lists by event, and runs it over slices that are kept, without uploads (--resident), from a captured graph on a
GPU: families on (`family`), families off (`one by one`), and with the first node only (`one node`): what decoding,
gathering and the download of the results cost without them. The three take turns. Time is the wall time of a slice over the repeats, with
several slots the time from one slice's end to the next one's: median of the rounds' stretches, minimum and maximum. The
results of the first two must have the same digest.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from samples import ROOT, SIMULATED, run as run_quietly

SLICES_A_SLOT = 4


def graph_of(nodes):
    lines = ["sluice: 1", "nodes:", "  raw: { use: sim.source }", "  odin: { use: odin.decode }"]
    for n in range(nodes):
        lines.append(f"  line_{n}: {{ use: odin.filter, set: {{ orbit_period: {1 + n % 16}, orbit_phase: {n}, crossing_types: {15 - n % 7} }} }}")
    return "\n".join(lines + ["  decisions: { use: generic.gather_lists, in: { lists: all } }", "outputs: [decisions.decisions]", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--slice-events", default="1000,4000")
    parser.add_argument("--slots", default="1,4")
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    def run(graph, events, slice_events, slots, *more):
        count = slots * SLICES_A_SLOT * slice_events
        command = [options.sluice, "run", graph, "-i", events, "--set", f"raw.passes={1 + count // SIMULATED}", "-n", count,
                   "--device", options.device, "--slots", slots, "--slice-events", slice_events, "--repeat", options.repeat,
                   "--digest", "--quiet", "--json", "-", *more]
        if options.device.startswith(("cuda", "hip")):
            command.append("--resident")
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        result = json.loads(done.stdout)
        return ([1e6 * slice_events / hz for hz in result["stretch_hz"]], result["outputs"][0]["digest"])

    with tempfile.TemporaryDirectory() as folder:
        many, one, events = (Path(folder) / name for name in ("many.yaml", "one.yaml", "events.mdf"))
        run_quietly([options.sluice, "run", ROOT / "graphs/copy.yaml", "-n", SIMULATED, "-o", events, "--quiet"])
        many.write_text(graph_of(options.nodes))
        one.write_text(graph_of(1))
        variants = {"family": (many,), "one by one": (many, "--set", "runtime.families=off"), "one node": (one,)}
        print(f"{options.nodes} odin.filter nodes and a gather on {options.device}; microseconds a slice: median, minimum, maximum of "
              f"{options.rounds} rounds")
        print(f"{'events':>7} {'slots':>5}  {'variant':12} {'median':>9} {'min':>9} {'max':>9}  digest")
        for slice_events in map(int, options.slice_events.split(",")):
            for slots in map(int, options.slots.split(",")):
                times, digests = {v: [] for v in variants}, {}
                for _ in range(options.rounds):
                    for variant, (graph, *more) in variants.items():
                        measured, digests[variant] = run(graph, events, slice_events, slots, *more)
                        times[variant] += measured
                for variant, us in times.items():
                    print(f"{slice_events:7d} {slots:5d}  {variant:12} {statistics.median(us):9.2f} {min(us):9.2f} {max(us):9.2f}  {digests[variant]}")
                if digests["family"] != digests["one by one"]:
                    sys.exit("a family's digest differs from that of its nodes one by one")


if __name__ == "__main__":
    main()
