#!/usr/bin/env python3
"""Time of slices with branches: independent steps that run concurrently on a GPU.

    bench/branches.py [--device cuda] [--graph graphs/selections.yaml] [--branches 1,2,3,4,6,8] [--slices 500,1000,4000]
                      [--slots 1,4] [--rounds 3] [--seconds 1] [--resident] [--samples simulated,six,300]

Runs the graph over slices that are kept, with so many branches (--set runtime.branches=N), which take turns; the first
pass of each run warms up and gives the digests, which must all be the same. Upload, kernels and download are inside the
clock; with --resident the upload is not. Time is the wall time of a slice over the repeats, with several slots the time
from one slice's end to the next one's: median, minimum and maximum of the rounds' stretches. `of one` compares the
median with that of one branch, `spread` is half the range of the stretches with one branch. The arena is that of a slot.
"""
import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import samples
from samples import ROOT

SLICES_A_SLOT = 4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    samples.add_options(parser)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--graph", default=str(ROOT / "graphs/selections.yaml"))
    parser.add_argument("--branches", default="1,2,3,4,6,8")
    parser.add_argument("--slices", default="500,1000,4000")
    parser.add_argument("--slots", default="1,4")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a run's repeats, about")
    parser.add_argument("--resident", action="store_true")
    options = parser.parse_args()
    numbers = [list(map(int, text.split(","))) for text in (options.branches, options.slices, options.slots)]
    with tempfile.TemporaryDirectory() as folder:
        for name in options.samples.split(","):
            measure(options, samples.find(name, options, folder), *numbers)


def measure(options, sample, branches, slices, slots):
    def run(slice_events, slot_count, branch_count, repeat):
        events = slot_count * SLICES_A_SLOT * slice_events
        command = [options.sluice, "run", options.graph, *sample["arguments"], "-n", events, "--set", f"raw.passes={events // sample['distinct'] + 1}",
                   "--set", "raw.checksum=false", "--set", f"runtime.branches={branch_count}", "--slots", slot_count,
                   "--slice-events", slice_events, "--repeat", repeat, "--device", options.device, "--digest", "--quiet", "--json", "-"]
        return samples.run(command + ["--resident"] * options.resident)

    print(f"{Path(options.graph).name}, {sample['name']}, on {options.device}{', resident' if options.resident else ''}; microseconds a slice, "
          f"{options.rounds} rounds of about {options.seconds:g} s")
    print(f"{'events':>7} {'slots':>5} {'branches':>8} {'median':>9} {'min':>9} {'max':>9} {'of one':>7} {'spread':>7} {'arena':>11} "
          f"{'of one':>7}  digest", flush=True)
    for slice_events in slices:
        for slot_count in slots:
            first = run(slice_events, slot_count, 1, 6)
            events = slot_count * SLICES_A_SLOT * slice_events
            repeat = max(6, 1 + round(options.seconds * first["throughput_hz"] / events))
            times, last = {b: [] for b in branches}, {}
            for _ in range(options.rounds):
                for b in branches:
                    last[b] = run(slice_events, slot_count, b, repeat)
                    times[b] += [1e6 * slice_events / hz for hz in last[b]["stretch_hz"]]
            one = times.get(1) or times[branches[0]]
            spread = (max(one) - min(one)) / 2 / statistics.median(one)
            for b in branches:
                us, digests = times[b], {o["digest"] for o in last[b]["outputs"]}
                same = [o["digest"] for o in last[b]["outputs"]] == [o["digest"] for o in first["outputs"]]
                print(f"{slice_events:7d} {slot_count:5d} {b:8d} {statistics.median(us):9.1f} {min(us):9.1f} {max(us):9.1f} "
                      f"{statistics.median(us) / statistics.median(one):7.3f} {spread:7.3f} {last[b]['arena']['bytes']:11d} "
                      f"{last[b]['arena']['bytes'] / first['arena']['bytes']:7.3f}  {len(digests)} digests {'same' if same else 'DIFFERENT'}", flush=True)
                if not same:
                    sys.exit("the digests differ from those of one branch")


if __name__ == "__main__":
    main()
