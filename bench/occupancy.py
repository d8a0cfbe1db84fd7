#!/usr/bin/env python3
"""Cost per event as a function of the number of collisions and of the slice size.

    bench/occupancy.py measure [--device cuda] [--collisions 1,2,5,10,15,20] [--slices 250,500,1000,2000,4000,8000]
                               [--slice-events 1000] [--slots 4] [--events 2000] [--seconds 1] [-o occupancy.json]
    bench/occupancy.py plot occupancy.json docs/figures/occupancy.svg     # needs Debian's python3-matplotlib

Events are simulated with these mean numbers of collisions and run through the whole trigger, with the global event cut (default)
and without one (forward_then_matching), in slices of --slice-events; by slice size with 5.3 collisions. Slices are read first, and
repeated; upload, kernels and download of decisions are inside the clock. Printed are median, minimum and maximum of five repetitions.
A slice ends early when its memory is full, as with large events; the mean number of events per slice is recorded too.
"""
import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path

import samples
from samples import ROOT

SEQUENCES = ("default", "forward_then_matching")
AVERAGE = 5.3


def run(options, sequence, path, events, slice_events, slots, mu, repeat):
    command = [options.sluice, "run", ROOT / f"graphs/hlt1_pp_{sequence}.yaml", "--with", ROOT / "graphs/output/decisions.yaml", "-i", path,
               "-n", events, "--set", f"raw.passes={events // options.events + 1}", "--slice-events", slice_events, "--slots", slots,
               "--repeat", repeat, "--device", options.device, "--quiet", "--json", "-",
               "--set", f"search.candidates_per_event={max(400, round(80 * mu))}"]  # the graph's own are enough for some eight collisions
    return samples.run(command)


def rate(options, sequence, path, slice_events, slots, mu):
    events = max(options.events, 2 * slots * slice_events)
    first = run(options, sequence, path, events, slice_events, slots, mu, 6)
    repeat = max(6, 1 + round(options.seconds * first["throughput_hz"] / events))
    r = run(options, sequence, path, events, slice_events, slots, mu, repeat)
    return {"rates": r["stretch_hz"], "retries": r["retries"], "events_a_slice": r["events"] * r["repeat"] / r["slices"]}


def measure(options):
    rows, slices = [], []
    with tempfile.TemporaryDirectory() as folder:
        for mu in [*map(float, options.collisions.split(",")), AVERAGE]:
            path = Path(folder) / f"{mu}.mdf"
            samples.run([options.sluice, "run", ROOT / "graphs/copy.yaml", "-n", options.events, "--set", f"raw.mu={mu}", "-o", path, "--quiet"])
            counts = samples.run([options.sluice, "run", ROOT / "bench/hits.yaml", "-i", path, "--quiet", "--json", "-"])
            clusters = counts["outputs"][0]["items"] / counts["events"]
            for sequence in SEQUENCES:
                rows.append({"collisions": mu, "clusters": clusters, "sequence": sequence, **rate(options, sequence, path, options.slice_events, options.slots, mu)})
                tell(rows[-1])
            for size in map(int, options.slices.split(",")) if mu == AVERAGE else ():
                for slots in sorted({1, options.slots}):
                    slices.append({"slice": size, "slots": slots, **rate(options, SEQUENCES[0], path, size, slots, mu)})
                    tell(slices[-1])
            path.unlink()
    rows.sort(key=lambda row: row["clusters"])
    Path(options.output).write_text(json.dumps({"device": options.device, "slots": options.slots, "occupancy": rows, "slices": slices}, indent=1))


def tell(row):
    rates = row["rates"]
    print(*(f"{key} {value:g}" if isinstance(value, (int, float)) else value for key, value in row.items() if key != "rates"),
          f"events/s {statistics.median(rates):.0f} ({min(rates):.0f} to {max(rates):.0f})", flush=True)


def plot(options):
    import figures
    import matplotlib.pyplot as plt
    figures.prepare("occupancy")
    found = json.loads(Path(options.json).read_text())
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    names = {"default": "default, with the event cut", "forward_then_matching": "forward then matching, no cut"}
    for sequence, marker in zip(SEQUENCES, "os"):
        rows = [row for row in found["occupancy"] if row["sequence"] == sequence]
        axes[0].plot([row["clusters"] for row in rows], [1e6 / statistics.median(row["rates"]) for row in rows], marker=marker, label=names[sequence])
    for row in (row for row in found["occupancy"] if row["sequence"] == SEQUENCES[1] and row["collisions"] != AVERAGE):
        axes[0].annotate(f"{row['collisions']:g}", (row["clusters"], 1e6 / statistics.median(row["rates"])), xytext=(-5, 3),
                         textcoords="offset points", ha="right", color="#555555")
    axes[0].set(xlabel="VELO clusters an event (beside points: collisions a crossing)", ylabel="us an event", xlim=(0, None), ylim=(0, None))
    axes[0].legend(loc="upper left")
    for slots, marker in zip(sorted({row["slots"] for row in found["slices"]}), "os"):
        rows = [row for row in found["slices"] if row["slots"] == slots]
        axes[1].plot([row["slice"] for row in rows], [statistics.median(row["rates"]) / 1e3 for row in rows], marker=marker,
                     label=f"{slots} slot{'s' if slots > 1 else ''}")
    axes[1].set(xlabel="events a slice", ylabel="thousand events/s, default", xscale="log",
                ylim=(0, 1.1e-3 * max(statistics.median(row["rates"]) for row in found["slices"])))
    axes[1].xaxis.set_major_formatter("{x:g}")
    axes[1].set_xticks([row["slice"] for row in found["slices"] if row["slots"] == 1], minor=False)
    axes[1].xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes[1].legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(options.svg, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    samples.add_options(one)
    one.add_argument("--device", default="cuda")
    one.add_argument("--collisions", default="1,2,5,10,15,20")
    one.add_argument("--slices", default="250,500,1000,2000,4000,8000")
    one.add_argument("--slice-events", type=int, default=1000)
    one.add_argument("--slots", type=int, default=4)
    one.add_argument("--events", type=int, default=2000)
    one.add_argument("--seconds", type=float, default=1.0)
    one.add_argument("-o", "--output", default="occupancy.json")
    one.set_defaults(call=measure)
    two = commands.add_parser("plot")
    two.add_argument("json")
    two.add_argument("svg")
    two.set_defaults(call=plot)
    options = parser.parse_args()
    if "svg" in options and os.path.exists(options.svg) and os.path.samefile(options.json, options.svg):
        parser.error(f"{options.svg} is the file that is read")
    options.call(options)


if __name__ == "__main__":
    main()
