#!/usr/bin/env python3
"""Cost of luminosity counters, with an event list and without.

    bench/lumi_cost.py [--device cpu|cuda] [--events 10000] [--fractions 0,0.01,1] [--slice-events 0] [--repeat 5]
                       [--stretches 5] [--graph graphs/velo_pv.yaml]

Simulates events with each fraction of luminosity events, finds tracks and vertices in all of them, and makes luminosity summaries
two ways: `list`, lumi.summarize on the list of luminosity events, and `every event`, a block for every event that looks
whether it is one (tests/lumi/every_event), as is done where there are no event lists. The two take turns. Time is that
of the node alone, for all events once, the median of the stretches with their minimum and maximum: on a cpu by the clock
around it, on a GPU between two of its events, without a captured graph. `filter` is the time of the node that makes the
list, `chain` that of all nodes; `of full` compares with the same variant where every event is a luminosity event.

A build with tests has the variant: build/cpu-release/tests/plugins.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRAPH = """sluice: 1
include: [{graph}]
nodes:
  check:     null
  table:     null
  summaries: {{ use: {algorithm}, events: {events} }}
outputs: [summaries, luminosity]
"""
VARIANTS = {"list": ("lumi.summarize", "luminosity"), "every event": ("every_event.summarize_every_event", "[]")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    parser.add_argument("--plugins", help="the folder with every_event.*.so; default: tests/plugins beside the command")
    parser.add_argument("--graph", default=str(ROOT / "graphs/velo_pv.yaml"), help="with the nodes check, table, luminosity and summaries")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--events", type=int, default=10000)
    parser.add_argument("--fractions", default="0,0.01,1")
    parser.add_argument("--slice-events", type=int, default=0, help="default: 8 on cpu, all events on a GPU")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--stretches", type=int, default=5)
    options = parser.parse_args()
    plugins = options.plugins or str(Path(options.sluice).resolve().parent / "tests/plugins")
    slice_events = options.slice_events or (8 if options.device == "cpu" else options.events)

    def sluice(*arguments):
        done = subprocess.run([options.sluice, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"sluice {' '.join(map(str, arguments))}\n{done.stderr}")
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        graphs = {}
        for variant, (algorithm, events) in VARIANTS.items():
            graphs[variant] = Path(folder) / f"{algorithm}.yaml"
            graphs[variant].write_text(GRAPH.format(graph=Path(options.graph).resolve(), algorithm=algorithm, events=events))
        fractions = options.fractions.split(",")
        samples = {}
        for fraction in fractions:
            samples[fraction] = Path(folder) / f"{fraction}.mdf"
            sluice("run", ROOT / "graphs/copy.yaml", "-n", options.events, "-o", samples[fraction], "--quiet",
                   "--set", f"raw.luminosity_fraction={fraction}")

        def measure(fraction, variant):
            text = sluice("run", graphs[variant], "-i", samples[fraction], "--plugin-path", plugins, "--device", options.device,
                          "--slots", 1, "--slice-events", slice_events, "--repeat", options.repeat, "--profile", "--digest",
                          "--quiet", "--json", "-")
            result = json.loads(text)
            time = {n["name"]: n["microseconds"] / options.repeat for n in result["nodes"]}
            outputs = {o["port"]: o for o in result["outputs"]}
            return {"node": time["summaries"], "filter": time["luminosity"], "chain": sum(time.values()),
                    "luminosity": outputs["luminosity"]["items"], "digest": outputs["summaries"]["digest"]}

        rows = {(f, v): [] for f in fractions for v in VARIANTS}
        for _ in range(options.stretches):
            for row, measured in rows.items():
                measured.append(measure(*row))

    print(f"{options.events} simulated events, {options.device}, one slot, slices of {slice_events}; {options.stretches} stretches of "
          f"{options.repeat} passes; microseconds for all events once")
    print(f"{'fraction':>8} {'luminosity':>10} {'variant':12} {'counters':>10} {'min':>10} {'max':>10} {'of full':>8} {'filter':>8} "
          f"{'chain':>10}  digest")
    for (fraction, variant), measured in rows.items():
        times = [m["node"] for m in measured]
        full = rows.get(("1", variant))
        share = f"{100 * statistics.median(times) / statistics.median(m['node'] for m in full):7.2f}%" if full else ""
        print(f"{fraction:>8} {measured[0]['luminosity']:10d} {variant:12} {statistics.median(times):10.1f} {min(times):10.1f} "
              f"{max(times):10.1f} {share:>8} {statistics.median(m['filter'] for m in measured):8.1f} "
              f"{statistics.median(m['chain'] for m in measured):10.0f}  {measured[0]['digest']}")
    different = [f for f in fractions if len({m["digest"] for v in VARIANTS for m in rows[(f, v)]}) != 1]
    if different:
        sys.exit(f"the variants' digests differ at fractions {', '.join(different)}")


if __name__ == "__main__":
    main()
