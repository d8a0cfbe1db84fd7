#!/usr/bin/env python3
"""Upload rate of graphs/velo.yaml, by the protocol of docs/performance.md.

Slices are read and packed first; the first pass over them warms up and gives the digests; the passes after it are
timed, in at least five stretches of about two seconds for each configuration. The configurations take turns, so that
what else the machine does hits all of them alike. Prints median, minimum and maximum.

    bench/throughput.py [--sluice build/cpu-release/sluice] [--data ../shared/data] [--slots 1,2] [--slice-events 0]
                        [--stretches 5] [--seconds 2] [--set NODE.PROPERTY=VALUE]...
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(options, graph, sample, events, repeat, slots, slice_events, digest=True):
    command = [options.sluice, "run", str(graph), "-i", str(sample["file"]), "-n", str(events), "--repeat", str(repeat),
               "--slots", str(slots), "--quiet", "--json", "-", "--set", f"geometry={options.data}/lhcb/geometry",
               "--set", f"raw.passes={sample['passes']}"]
    if slice_events:
        command += ["--slice-events", str(slice_events)]
    if digest:
        command += ["--digest"]
    for setting in options.set:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=str(ROOT / "build/cpu-release/sluice"))
    parser.add_argument("--data", default=os.environ.get("SLUICE_DATA", str(ROOT.parent / "shared/data")))
    parser.add_argument("--slots", default="1,2")
    parser.add_argument("--slice-events", default="0")
    parser.add_argument("--stretches", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()

    samples = [
        {"name": "six events", "file": f"{options.data}/lhcb/minbias.mdf", "distinct": 6, "passes": 200},
        {"name": "300 events", "file": f"{options.data}/velo/minbias_300.mdf", "distinct": 300, "passes": 4},
    ]
    for sample in samples:
        if not os.path.exists(sample["file"]):
            sys.exit(f"{sample['file']} is absent: set SLUICE_DATA or --data to the folder of the samples")
        sample["events"] = sample["distinct"] * sample["passes"]
        counts = run(options, ROOT / "bench/hits.yaml", sample, sample["distinct"], 1, 1, 0)
        sample["hits"] = counts["outputs"][0]["items"] / counts["events"]

    configurations = []
    for sample in samples:
        for slots in map(int, options.slots.split(",")):
            for slice_events in map(int, options.slice_events.split(",")):
                first = run(options, ROOT / "graphs/velo.yaml", sample, sample["events"], 3, slots, slice_events)
                repeat = max(2, 1 + round(options.seconds * first["throughput_hz"] / sample["events"]))
                configurations.append({"sample": sample, "slots": slots, "slice_events": slice_events, "repeat": repeat,
                                       "rates": [], "last": first})
    for _ in range(options.stretches):
        for c in configurations:
            c["last"] = run(options, ROOT / "graphs/velo.yaml", c["sample"], c["sample"]["events"], c["repeat"], c["slots"],
                            c["slice_events"])
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
