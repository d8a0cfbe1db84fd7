#!/usr/bin/env python3
"""Luminosity summaries do not depend on slots, slices, block sizes, targets and other events, and equal digests.txt.

Builds with other options (-O0, another compiler) are compared with the same file. To accept an intended change:
digests_test.py --accept
"""
import json
import os
import tempfile
from pathlib import Path

from common import BRIEF, GEOMETRY, MANY, ROOT, Checks, call
from mdf import records

checks = Checks()
found = {}
LUMI = ROOT / "graphs/lumi.yaml"
SIMULATED = ("-n", 150, "--set", "raw.luminosity_fraction=0.4")
REAL = ("-i", MANY, "--set", f"geometry={GEOMETRY}")
PLUGINS = os.environ["SLUICE_TEST_PLUGINS"]  # the folder of every_event.cpu.so
# The whole chain on all events, with the counters on the event list or on all events.
ALL_TRACKS = "sluice: 1\ninclude: [{lumi}]\nnodes: {{ " + ", ".join(
    f"{node}: {{{{ events: [] }}}}" for node in ("clusters", "scifi_hits", "muon_tiles", "calo_cells", "gec")) + ", summaries: {{ events: {events} }} }}\n"


def digests(graph, *arguments):
    done = call("run", graph, "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"]}


def blocks(threads):
    return [word for node in ("odin", "luminosity", "summaries") for word in ("--set", f"{node}.block={threads}")]


has_simt = "simt" in call("--version").stdout
variations = [("--slots", 3), ("--slice-events", 1), ("--slice-events", 64, "--slots", 2), ("--guard",),
              ("--slice-events", 50, "--set", "search.candidates_per_event=1", "--set", "tracks.hits_per_event=1")]
if has_simt:
    variations += [("--device", "simt", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}", *blocks(32 * seed), "-n", 60)
                   for seed in (1, 2, 3) for warp in (32, 64)]
if BRIEF:
    variations = [variation for variation in variations if "simt" in variation][:1]
samples = {"simulated": SIMULATED}
if MANY.exists() and GEOMETRY.exists():
    samples["minbias_300.mdf"] = REAL
else:
    print(f"skipped: {MANY} or {GEOMETRY} is absent; set SLUICE_DATA to the folder of the samples")
with tempfile.TemporaryDirectory() as folder:
    listed, unlisted = Path(folder) / "listed.yaml", Path(folder) / "unlisted.yaml"
    listed.write_text(ALL_TRACKS.format(lumi=LUMI, events="luminosity"))
    unlisted.write_text(ALL_TRACKS.format(lumi=LUMI, events="[]"))
    every_event = ("--use", "summaries=every_event.summarize_every_event", "--plugin-path", PLUGINS)
    for name, arguments in samples.items():
        reference, fewer = digests(LUMI, *arguments), digests(LUMI, *arguments, "-n", 60)
        for port, digest in reference.items():
            found[f"{name} {port}"] = digest
        for variation in variations:
            expected = fewer if "simt" in variation else reference
            checks.that(digests(LUMI, *arguments, *variation) == expected, f"{name} {' '.join(map(str, variation))}")
        if BRIEF:
            continue
        checks.that(digests(listed, *arguments) == reference, f"{name}: equal with tracks of all events")
        checks.that(digests(unlisted, *arguments, *every_event) == reference, f"{name}: equal with a block for each event")
        if has_simt:
            checks.that(digests(unlisted, *arguments, *every_event, "--device", "simt", "-n", 60) == fewer, f"{name}: equal with a block for each event on simt")


# The order of events, and the table.
def the_order_does_not_matter(folder):
    table, shuffled_table, shuffled = (Path(folder) / n for n in ("a.csv", "b.csv", "shuffled.mdf"))
    events = Path(folder) / "events.mdf"
    call("run", ROOT / "graphs/copy.yaml", *SIMULATED, "-o", events, "--quiet")
    all_records = list(records(events))
    shuffled.write_bytes(b"".join(all_records[i * 77 % len(all_records)] for i in range(len(all_records))))
    results = []
    for source, path, options in ((events, table, ()), (shuffled, shuffled_table, ("--slots", 2, "--slice-events", 7))):
        summary = json.loads(call("run", LUMI, "-i", source, "-o", path, "--quiet", "--json", "-", *options).stdout)
        results.append([sink["counters"] for sink in summary["results"].values() if "counters" in sink])
    rows = table.read_text().splitlines()
    numbers = [int(row.split(",")[1]) for row in rows[1:]]
    moved = shuffled_table.read_text().splitlines()
    checks.that(len(numbers) > 40 and numbers == sorted(numbers), f"a table of {len(numbers)} events, in the order of the input")
    checks.that(moved != rows and sorted(moved) == sorted(rows), "events in another order give equal rows in this order")
    checks.that(results[0] == results[1], "events in another order give equal means, bit for bit")


if not BRIEF:
    with tempfile.TemporaryDirectory() as folder:
        the_order_does_not_matter(folder)

checks.golden(Path(__file__).with_name("digests.txt"), found, exactly=False)
checks.end()
