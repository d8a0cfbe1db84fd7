#!/usr/bin/env python3
"""Upload rate of graphs/velo.yaml, by the protocol of docs/performance.md.

Slices are read and packed first; the first pass over them warms up and gives the digests; the passes after it are
timed, in at least five stretches of about two seconds for each configuration. The configurations take turns, so that
what else the machine does hits all of them alike. Prints median, minimum and maximum.

    bench/throughput.py [--sluice build/cpu-release/sluice] [--samples simulated,six,300] [--data ../shared/data]
                        [--slots 1,2] [--slice-events 0] [--stretches 5] [--seconds 2] [--set NODE.PROPERTY=VALUE]...

Events are simulated unless --samples asks for others (samples.py).
"""
import argparse
import os
import platform
import statistics
import tempfile
from pathlib import Path

import samples

EVENTS = 1200  # of a sample in memory: those of small ones many times over


def measure(options, sample, repeat, slots, slice_events):
    command = [options.sluice, "run", samples.ROOT / "graphs/velo.yaml", *sample["arguments"], "-n", sample["events"],
               "--repeat", repeat, "--slots", slots, "--quiet", "--json", "-", "--digest", "--set", f"raw.passes={sample['passes']}"]
    if slice_events:
        command += ["--slice-events", slice_events]
    for setting in options.set:
        command += ["--set", setting]
    return samples.run(command)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    samples.add_options(parser)
    parser.add_argument("--slots", default="1,2")
    parser.add_argument("--slice-events", default="0")
    parser.add_argument("--stretches", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        benchmark(options, [samples.find(name, options, folder) for name in options.samples.split(",")])


def benchmark(options, chosen):
    for sample in chosen:
        sample["passes"] = max(1, EVENTS // sample["distinct"])
        sample["events"] = sample["distinct"] * sample["passes"]

    configurations = []
    for sample in chosen:
        for slots in map(int, options.slots.split(",")):
            for slice_events in map(int, options.slice_events.split(",")):
                first = measure(options, sample, 3, slots, slice_events)
                repeat = max(2, 1 + round(options.seconds * first["throughput_hz"] / sample["events"]))
                configurations.append({"sample": sample, "slots": slots, "slice_events": slice_events, "repeat": repeat,
                                       "rates": [], "last": first})
    for _ in range(options.stretches):
        for c in configurations:
            c["last"] = measure(options, c["sample"], c["repeat"], c["slots"], c["slice_events"])
            c["rates"].append(c["last"]["throughput_hz"])

    print(f"{processor()}, {os.cpu_count()} cores; {options.stretches} stretches of about {options.seconds:g} s each")
    print(f"{'sample':12} {'slots':>5} {'slice':>6} {'events/s':>9} {'min':>8} {'max':>8} {'Mclusters/s':>11} "
          f"{'us/event':>8} {'arena/KiB':>9}  digest")
    for c in configurations:
        median = statistics.median(c["rates"])
        print(f"{c['sample']['name']:12} {c['slots']:5d} {c['last']['slice_events']:6d} {median:9.0f} {min(c['rates']):8.0f} "
              f"{max(c['rates']):8.0f} {median * c['sample']['hits'] / 1e6:11.2f} {c['slots'] * 1e6 / median:8.1f} "
              f"{c['last']['arena']['bytes'] / 1024:9.0f}  {c['last']['outputs'][0]['digest']}")
    for c in configurations:
        if c["slots"] != 1:
            continue
        print(f"\ntime per node, {c['sample']['name']}, one slot")
        for node in c["last"]["nodes"]:
            print(f"  {node['name']:12} {node['microseconds'] / node['events']:8.2f} us/event {100 * node['share']:5.1f} %")


if __name__ == "__main__":
    main()
