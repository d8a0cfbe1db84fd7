#!/usr/bin/env python3
"""Events with damaged banks in whole graphs: refused events, their messages and the results of all other events are equal for
slices of 1, 3, 8 and 1000 events, with two slots, in guarded memory and on the emulator. An event that was not damaged has
the results that it has among undamaged events.

    damaged_events_test.py [--rounds N] [--seed S] [--keep FOLDER]

Round i has the seed S + i, which determines the damage. If a round fails, the damage is reduced event by event while it still
fails, and the file is kept: `--seed SEED --rounds 1` repeats the round."""
import argparse
import json
import random
import subprocess
import tempfile
from pathlib import Path

import damage
import mdf
from common import ROOT, SLUICE, Checks, call

EVENTS = 24
# Graphs and their options; the graphs without tracks test event lists.
GRAPHS = {"velo_pv": ["velo_pv.yaml"], "annealing": ["velo_pv.yaml", "--use", "pv=pv.annealing"],
          "superpixels": ["velo_superpixels.yaml"], "muon": ["muon_hits.yaml"], "scifi": ["scifi_hits.yaml"], "calo": ["calo_clusters.yaml"],
          "lumi": ["lumi.yaml"], "decisions": ["decisions.yaml"]}
WAYS = {"slices of 1": ["--slice-events", 1], "slices of 3": ["--slice-events", 3], "slices of 8": ["--slice-events", 8],
        "slices of 1000": ["--slice-events", 1000], "two slots": ["--slots", 2, "--slice-events", 5], "guard": ["--guard"],
        "simt": ["--device", "simt", "--slice-events", 8]}
# Parts of the summary that must not depend on the options of the run.
RESULTS = ("events", "error_events", "errors", "outputs", "results", "totals")


# A file of packets cannot have all kinds of damage of a record; bytes of the file are damaged instead.
PACKETS = ["velo_pv.yaml"]
PIECE_BYTES = 256


class Outcome:
    """Results, digests and messages of a run."""

    def __init__(self, path, graph, way):
        command = [SLUICE, "run", ROOT / "graphs" / graph[0], "-i", path, "--digest=events", "--json", str(path) + ".json", *graph[1:], *way]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", timeout=300)
        all_refused = done.returncode == 1 and "events have an error" in done.stderr  # the run fails, as it should
        self.fault = f"exit status {done.returncode}\n{done.stderr[-3000:]}" if done.returncode and not all_refused else ""
        self.digests = sorted(line for line in done.stdout.splitlines() if line.startswith("digest "))
        self.refused = sorted(line for line in done.stderr.splitlines() if " event " in line)
        summary = {} if self.fault else json.loads(Path(str(path) + ".json").read_text())
        self.results = {key: summary[key] for key in RESULTS if key in summary}

    def difference(self, other):
        """The first difference to another outcome, or ""."""
        if self.fault or other.fault:
            return self.fault or other.fault
        for what in ("results", "digests", "refused"):
            mine, others = getattr(self, what), getattr(other, what)
            if what == "results":
                mine, others = ([f"{key} {json.dumps(value)}" for key, value in found.items()] for found in (mine, others))
            if mine != others:
                first = next((pair for pair in zip(mine + [""], others + [""]) if pair[0] != pair[1]), ("", ""))
                return f"{what} differ:\n  {first[0][:1500]}\n  {first[1][:1500]}"
        return ""


def sound_events(folder):
    """Simulated events; every third is a luminosity event, so that event lists are neither empty nor full."""
    path = folder / "simulated.mdf"
    call("run", ROOT / "graphs/simulate.yaml", "-n", EVENTS, "-o", path, "--quiet")
    return [damage.with_event_type(record, 8) if i % 3 == 0 else bytes(record) for i, record in enumerate(mdf.records(path))]


def packets_of(path):
    """Writes the events as a file of packets; returns pieces of the file."""
    packed = path.with_suffix(".mep")
    call("run", ROOT / "graphs/copy.yaml", "-i", path, "-o", packed, "--use", "write=io.mep_sink", "--set", "write.events=5", "--quiet")
    data = packed.read_bytes()
    return [data[at:at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]


def find_fault(path, sound, damaged, graph, ways, expected):
    """Runs a graph over a file of the pieces `damaged`; returns the first error, or "". If `expected` is given, pieces are events
    and undamaged events must have the expected digests."""
    path.write_bytes(b"".join(damaged))
    first = None
    for name, way in ways.items():
        outcome = Outcome(path, graph, way)
        first = first or outcome
        if difference := first.difference(outcome):
            return f"{name}: {difference}"
    found = set(first.digests)
    for index, record in enumerate(damaged):
        if expected and record == sound[index]:
            run, number = mdf.odin(record)[:2]
            for line in expected.digests:
                if line.split()[2:4] == [str(run), str(number)] and line not in found:
                    return f"an undamaged event has another digest: expected {line}"
    return ""


def reduced(path, sound, damaged, *rest):
    """Removes damage event by event while the fault remains."""
    for index in range(len(damaged)):
        fewer = damaged[:index] + [sound[index]] + damaged[index + 1:]
        if damaged[index] != sound[index] and find_fault(path, sound, fewer, *rest):
            damaged = fewer
    return damaged


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", type=Path, default=Path.cwd())
    options = options.parse_args()
    ways = {name: way for name, way in WAYS.items() if name != "simt" or "simt" in call("--version").stdout}
    checks = Checks()
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        sound = sound_events(folder)
        (folder / "sound.mdf").write_bytes(b"".join(sound))
        expected = {name: Outcome(folder / "sound.mdf", graph, WAYS["slices of 8"]) for name, graph in GRAPHS.items()}
        for name, outcome in expected.items():
            checks.that(not outcome.fault and outcome.results["error_events"] == 0, f"{name}: undamaged events have no errors {outcome.fault}")
        packets = packets_of(folder / "sound.mdf")
        for seed in range(options.seed, options.seed + options.rounds):
            events, pieces = damage.of_some(random.Random(seed), sound), damage.of_bytes(random.Random(seed), packets)
            cases = [(name, "mdf", sound, events, graph, ways, expected[name]) for name, graph in GRAPHS.items()]
            cases.append(("packets", "mep", packets, pieces, PACKETS, ways, None))
            for name, ending, *case in cases:
                path = folder / f"damaged-{seed}-{name}.{ending}"
                fault = find_fault(path, *case)
                checks.that(not fault, f"seed {seed}, {name}: {len(ways)} runs agree {fault}")
                if fault:
                    kept = options.keep / path.name
                    kept.write_bytes(b"".join(reduced(path, *case)))
                    print(f"        kept as {kept}")
                else:
                    refused += json.loads(Path(str(path) + ".json").read_text())["error_events"]
    checks.that(0 < refused < options.rounds * (len(GRAPHS) + 1) * EVENTS, f"{refused} events are refused, others are not")
    checks.end()


main()
