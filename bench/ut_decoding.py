#!/usr/bin/env python3
"""Cost of ways to assign UT banks to threads: ut.decode and the variants of bench/ut_decoding.

    bench/ut_decoding.py [--device cpu|cuda|simt] [--samples simulated,six] [--events 20000] [--slice-events 0]
                         [--repeat 4] [--rounds 5] [--distinct 1200] [--version 3] [--set NODE.PROPERTY=VALUE]...

The variants are interleaved. Time is that of the node ut_hits in nanoseconds per event, median of the rounds with minimum
and maximum: on a cpu from the clock around it, on a GPU between two GPU events, without a captured graph. `work` is the
work per event of lanes that share a program counter: if a lane takes banks, the sum over chunks of 32 lanes of the hits of
the longest bank; if it takes hits, the number of chunks. `ideal` is hits / 32. With --rounds 0 only `work` is printed.

Events are simulated; `six` are sample events, in the folder of the samples. A build with tests has the variants:
build/cpu-release/tests/plugins.
"""
import argparse
import os
import statistics
import struct
import sys
import tempfile
from pathlib import Path

import samples
from samples import ROOT

sys.path.insert(0, str(ROOT / "tests/graphs"))
import mdf  # noqa: E402

# Way, whether lanes take banks, and their order: the event's, without empty ones, large ones first.
WAYS = (("boards", "event"), ("map", "event"), ("suppressed", "no empty ones"), ("shared", "no empty ones"), ("sorted", "by size"),
        ("fetched", "by size"), ("ut.decode", "hits"))
LANES, UT_BANK, V4_EMPTY_BYTES = 32, 66, 24


def hits_of_banks(path):
    """Hits of each UT bank of each event of a file without compressed bodies."""
    for record in mdf.records(path):
        banks = []
        for kind, version, _, _, payload in mdf.banks(record):
            if kind == UT_BANK and version == 4:
                banks.append(sum(payload[i] for i in (0, 1, 4, 5, 6, 7)) if len(payload) >= V4_EMPTY_BYTES else 0)
            elif kind == UT_BANK:
                banks.append(struct.unpack_from("<H", payload)[0])
        yield banks


def work(banks, order):
    if order == "hits":
        return -(-sum(banks) // LANES)
    if order != "event":
        banks = [hits for hits in banks if hits > 0]
    if order == "by size":
        banks = sorted(banks, reverse=True)
    return sum(max(banks[i:i + LANES]) for i in range(0, len(banks), LANES))


def make_sample(name, options, folder):
    """Its events as a file without compression, and the arguments that read it."""
    path, arguments = Path(folder) / f"{name}.mdf", []
    if name == "six":
        arguments = ["-i", Path(options.data) / samples.FILES["six"][1]]
        if not arguments[1].exists():
            sys.exit(f"{arguments[1]} is absent: set SLUICE_DATA or --data to the folder of the samples")
    elif name == "simulated":
        arguments = ["-n", options.distinct, "--set", f"raw.ut_version={options.version}"]
    else:
        sys.exit(f"there is no sample {name}: simulated, six")
    samples.run([options.sluice, "run", ROOT / "graphs/copy.yaml", *arguments, "-o", path, "--quiet", "--set", "write.compression=0"])
    geometry = ["--set", f"geometry={options.data}/lhcb/geometry"] if name == "six" else []
    return path, ["-i", path, *geometry]


def measure(way, arguments, events, distinct, options):
    """Nanoseconds an event, and the digest."""
    other = ["--use", "ut_hits=ut_decoding.decode", "--set", f"ut_hits.deal={way}"] if way != "ut.decode" else []
    plugins = Path(options.sluice).resolve().parent / "tests/plugins"
    command = [options.sluice, "run", ROOT / "graphs/ut_hits.yaml", *arguments, "-n", events, "--set", f"raw.passes={events // distinct + 1}",
               "--plugin-path", plugins, "--device", options.device, "--slots", 1, "--repeat", options.repeat, "--profile", "--digest",
               "--quiet", "--json", "-", *other]
    if options.slice_events:
        command += ["--slice-events", options.slice_events]
    for setting in options.set:
        command += ["--set", setting]
    result = samples.run(command)
    node = next(n for n in result["nodes"] if n["name"] == "ut_hits")
    return 1000 * node["microseconds"] / node["events"], result["outputs"][0]["digest"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    samples.add_options(parser)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--events", type=int, default=20000)
    parser.add_argument("--slice-events", type=int, default=0, help="default: 8 on cpu, 4000 on a GPU")
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--distinct", type=int, default=samples.SIMULATED, help="simulated events")
    parser.add_argument("--version", type=int, default=3, help="of simulated banks, 3 or 4")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    options.slice_events = options.slice_events or (4000 if options.device.startswith("cuda") else 0)
    differ = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.samples.split(","):
            path, arguments = make_sample(name, options, folder)
            banks = list(hits_of_banks(path))
            measured = {way: [] for way, _ in WAYS}
            for _ in range(options.rounds):
                for way in measured:
                    measured[way].append(measure(way, arguments, options.events, len(banks), options))
            print(f"{name}, {len(banks)} distinct events of {sum(map(sum, banks)) / len(banks):.0f} hits, {options.device}; {options.rounds} rounds of "
                  f"{options.events} events {options.repeat} times; ideal work {sum(map(sum, banks)) / LANES / len(banks):.1f} an event")
            print(f"{'way':10} {'work':>7} {'ns/event':>9} {'min':>8} {'max':>8}  digest")
            for way, order in WAYS:
                times, digests = [m[0] for m in measured[way]], {m[1] for m in measured[way]}
                clock = f"{statistics.median(times):9.1f} {min(times):8.1f} {max(times):8.1f}  {' '.join(digests)}" if times else ""
                print(f"{way:10} {sum(work(b, order) for b in banks) / len(banks):7.1f} {clock}".rstrip(), flush=True)
            if len({digest for rows in measured.values() for _, digest in rows}) > 1:
                differ.append(name)
    if differ:
        sys.exit(f"the ways' digests differ: {', '.join(differ)}")


if __name__ == "__main__":
    main()
