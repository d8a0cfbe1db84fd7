#!/usr/bin/env python3
"""Upload rate of the VELO chain on a GPU, by the protocol of docs/performance.md.

    bench/gpu_throughput.py [--device cuda] [--slices 500,1000,2000,8000] [--slots 1,2,4,8,16] [--seconds 2]
                            [--samples simulated,six,300] [--download counts|tracks|vertices] [--best SLICE,SLOTS]
                            [--alone] [--profile] [--set NODE.PROPERTY=VALUE]... [--use NODE=PLUGIN.ALGORITHM]...

Events are simulated unless --samples asks for others (samples.py).

--device cuda:0,1 or cuda:all measures several GPUs of one process, with --slots of all together; --alone also each of
them alone, with its share of the slots, in turn.

Slices are read and packed into pinned memory first; the first pass warms up and gives the digest; the passes after it
are timed in five stretches. Upload of inputs, all kernels and the download of the outputs are inside the clock.
`counts`: graphs/velo_counts.yaml, 12 bytes an event come back; `tracks`: all tracks with hits and both states;
`vertices`: graphs/pv.yaml, primary vertices, by the finder that --use names (pv=pv.annealing). The time of its nodes:

    bench/gpu_throughput.py --download vertices --slices 1000,4000 --slots 1 --samples 300 --profile
"""
import argparse
import statistics
import tempfile
from pathlib import Path

import samples
from samples import ROOT

NO_CHECK = "sluice: 1\ninclude: [{root}/graphs/velo.yaml]\nnodes: {{ check: null }}\n"


def compare_alone(together, rates, run):
    """Rate of each device alone, with its slots, and the rate of all devices as a fraction of the sum."""
    total = 0
    for device in together["devices"]:
        alone = run(device["name"], device["slots"], together["repeat"])["stretch_hz"]
        total += statistics.median(alone)
        print(f"{device['name']:>24} alone {statistics.median(alone) / 1e6:9.3f} {min(alone) / 1e6:6.3f} {max(alone) / 1e6:6.3f}; "
              f"{device['slices']} of {together['slices']} slices when together", flush=True)
    print(f"all together: {100 * statistics.median(rates) / total:.0f} % of the sum", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    samples.add_options(parser)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--slices", default="500,1000,2000,8000")
    parser.add_argument("--slots", default="1,2,4,8,16")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--download", default="counts")
    parser.add_argument("--best", help="SLICE,SLOTS: also the resident and the file rate there")
    parser.add_argument("--alone", action="store_true", help="of several devices also each alone")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--use", action="append", default=[])
    options = parser.parse_args()
    graphs = {"counts": ROOT / "graphs/velo_counts.yaml", "vertices": ROOT / "graphs/pv.yaml"}
    with tempfile.TemporaryDirectory() as folder:
        graphs["tracks"] = Path(folder) / "velo_tracks.yaml"
        graphs["tracks"].write_text(NO_CHECK.format(root=ROOT))
        chosen = {name: samples.find(name, options, folder) for name in options.samples.split(",")}

        def run(sample, slots, slice_events, repeat, *more, device=options.device):
            events = max(slice_events * slots * 2, 20000)
            events -= events % slice_events
            command = [options.sluice, "run", graphs[options.download], *chosen[sample]["arguments"], "-n", events, "--repeat", repeat,
                       "--slots", slots, "--slice-events", slice_events, "--device", device, "--quiet", "--digest",
                       "--json", "-", "--set", "raw.checksum=false", "--set", f"raw.passes={events // chosen[sample]['distinct'] + 1}", *more]
            for setting in options.set:
                command += ["--set", setting]
            for use in options.use:
                command += ["--use", use]
            return samples.run(command)

        print(f"{options.download} downloaded, {options.device}; five stretches of about {options.seconds:g} s")
        print(f"{'sample':9} {'slice':>6} {'slots':>5} {'Mevents/s':>9} {'min':>6} {'max':>6} {'Gclusters/s':>11} {'B up':>7} {'B down':>7} digest")
        rate = 2e6  # a guess, then what was measured last: only the length of the stretches follows from it
        for sample in chosen:
            for slice_events in map(int, options.slices.split(",")):
                for slots in map(int, options.slots.split(",")):
                    events = max(slice_events * slots * 2, 20000)
                    r = run(sample, slots, slice_events, max(6, 1 + round(5 * options.seconds * rate / events)))
                    rate = r["throughput_hz"]
                    rates = r["stretch_hz"]
                    passes = r["events"] * r["repeat"]
                    print(f"{sample:9} {slice_events:6d} {slots:5d} {statistics.median(rates) / 1e6:9.3f} {min(rates) / 1e6:6.3f} "
                          f"{max(rates) / 1e6:6.3f} {statistics.median(rates) * chosen[sample]['hits'] / 1e9:11.3f} "
                          f"{r['bytes_up'] / passes:7.0f} {r['bytes_down'] / passes:7.0f} {r['outputs'][0]['digest']}", flush=True)
                    if options.alone and len(r["devices"]) > 1:
                        compare_alone(r, rates, lambda device, slots, repeat: run(sample, slots, slice_events, repeat, device=device))
            if options.best:
                slice_events, slots = map(int, options.best.split(","))
                first = run(sample, slots, slice_events, 6, "--resident")
                r = run(sample, slots, slice_events, max(6, 1 + round(5 * options.seconds * first["throughput_hz"] / first["events"])), "--resident")
                rates = r["stretch_hz"]
                print(f"resident, slices of {slice_events}, {slots} slots: median {statistics.median(rates) / 1e6:.3f}, min {min(rates) / 1e6:.3f}, "
                      f"max {max(rates) / 1e6:.3f} million events/s")
                r = run(sample, slots, slice_events, 1)
                print(f"file, the same: {r['wall_hz'] / 1e6:.3f} million events/s in all, {r['source_hz'] / 1e6:.3f} from the source, "
                      f"{r['events']} events, no checksums")
            if options.profile:
                for slice_events in map(int, options.slices.split(",")):
                    r = run(sample, 1, slice_events, 20, "--profile")
                    print(f"time per node, {sample}, one slot, slices of {slice_events}, without the captured graph")
                    for node in r["nodes"]:
                        print(f"  {node['name']:12} {node['microseconds'] / node['calls']:9.1f} us/slice {1000 * node['microseconds'] / node['events']:8.1f} ns/event")


if __name__ == "__main__":
    main()
