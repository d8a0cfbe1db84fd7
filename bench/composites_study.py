#!/usr/bin/env python3
"""Efficiencies of the containers of graphs/composites.yaml on simulated signals, and their sizes and costs on minimum bias:
the tables of docs/lab/composites.md.

    bench/composites_study.py [--events 2000] [--minimum-bias 1000] [--sluice build/cpu-release/sluice] [--signals Dst_D0pi,...]

An event is found if a long track matches each charged daughter of the signal, by the rule of truth.match_long. It is in a
container if the tracks of a candidate match all daughters.
"""
import argparse
import csv
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_PARTICLE = 2**32 - 1
IS_SIGNAL = 1 << 8  # bit of flags
CHARGED = {11, 13, 211, 321, 2212}
CONTAINERS = ("lambda_track", "ks_track", "v0_track", "v0_two_track", "dstar", "phi_track", "three_body", "v0_hh")
PAIRS = ("dihadron", "hadron_noip", "prompt", "dilepton", "dilepton_nopt", "v0", "v0_pairs")

# Per signal: number of charged daughters, and the containers that are meant for it.
SIGNALS = {
    "Dst_D0pi": (3, ("dstar",)), "tau_PhiMu": (3, ("phi_track",)), "Kplus_3pi": (3, ("three_body",)),
    "Xi_LambdaPi": (3, ("v0_track",)), "Omega_LambdaK": (3, ("v0_track",)), "D0_KsPiPi": (4, ("v0_hh",)),
    "D0_Kpi": (2, ("dihadron",)), "Ks_pipi": (2, ("v0",)), "Lambda_ppi": (2, ("v0",)),
}

GRAPH = """sluice: 1
description: containers and the true particles of their tracks
include: [{root}/graphs/composites.yaml]
nodes:
  check: null
  pv_check: null
  ut_check: null
  long_check: null
  muon_check: null
  electron_check: null
  truth: {{ use: truth.particles }}
  long_truth: {{ use: truth.match_long, in: {{ ut_tracks: ut_tracks }} }}
{sinks}
outputs: [{outputs}]
"""


def run(sluice, *arguments):
    done = subprocess.run([sluice, "run", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(done.args)}: {done.stderr}")
    return done.stdout


def rows_by_event(path):
    """The rows of a table, as integers where they are, by (run, event)."""
    events = {}
    for row in csv.DictReader(path.open()):
        events.setdefault((row["run"], row["event"]), []).append(row)
    return events


def daughters_of(particles):
    """Keys of the charged daughters of the signal that do not come from another one in flight."""
    signal = {p["key"] for p in particles if int(p["flags"]) & IS_SIGNAL and abs(int(p["pdg"])) in CHARGED}
    return {p["key"] for p in particles if p["key"] in signal and (p["mother_key"] not in signal or p["mother_key"] == p["key"])}


def tracks_of(name, tables, event):
    """For each candidate of an event the indices of its tracks."""
    rows = tables[name].get(event, [])
    if name == "v0_hh":
        both = [(tables["v0"][event][int(r["first"])], tables["dihadron"][event][int(r["second"])]) for r in rows]
        return [{int(one[child]) for one in pair for child in ("first", "second")} for pair in both]
    columns = ("first", "second", "third", "fourth")
    return [{int(r[c]) for c in columns if c in r and int(r[c]) != NO_PARTICLE} for r in rows]


def efficiency(options, signal):
    daughters, names = SIGNALS[signal]
    with tempfile.TemporaryDirectory() as folder:
        outputs = sorted({"truth", "long_truth", "v0", "dihadron", *names})
        sinks = "\n".join(f"  write_{o}: {{ use: output.csv_sink, set: {{ output: {o}, path: {folder}/{o}.csv }} }}" for o in outputs)
        graph = Path(folder) / "graph.yaml"
        graph.write_text(GRAPH.format(root=ROOT, sinks=sinks, outputs=", ".join(outputs)))
        run(options.sluice, graph, "-n", options.events, "--set", f"raw.signal={signal}", "--quiet")
        tables = {o: rows_by_event(Path(folder) / f"{o}.csv") for o in outputs}
    found, accepted = 0, dict.fromkeys(names, 0)
    for event, particles in tables["truth"].items():
        wanted = daughters_of(particles)
        matched = [int(m["particle"]) for m in tables["long_truth"].get(event, [])]
        keys = [particles[i]["key"] if i != NO_PARTICLE else None for i in matched]
        if len(wanted) != daughters or not wanted <= set(keys):
            continue
        found += 1
        for name in names:
            accepted[name] += any({keys[i] for i in tracks} == wanted for tracks in tracks_of(name, tables, event))
    for name in names:
        part = accepted[name] / found if found else 0
        error = math.sqrt(part * (1 - part) / found) if found else 0
        print(f"| {signal} | {name} | {options.events} | {found} | {accepted[name]} | {100 * part:.1f} +- {100 * error:.1f} % |", flush=True)


def minimum_bias(options):
    text = run(options.sluice, ROOT / "graphs/composites.yaml", "-n", options.minimum_bias, "--json", "-", "--quiet")
    items = {o["port"].split(".")[0]: o["items"] for o in json.loads(text)["outputs"]}
    text = run(options.sluice, ROOT / "graphs/composites.yaml", "-n", options.minimum_bias, "--profile")
    cost = {n: float(us) for n, us in re.findall(r"^\s+(\w+)\s+selections\.\w+\s+\d+\s+\d+\s+([0-9.]+)", text, re.M)}
    print("\n| container | candidates per event | us per event |\n| --- | --- | --- |")
    for name in (*PAIRS, *CONTAINERS):
        print(f"| {name} | {items[name] / options.minimum_bias:.3f} | {cost.get(name, float('nan')):.2f} |")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--events", type=int, default=2000)
parser.add_argument("--minimum-bias", type=int, default=1000)
parser.add_argument("--sluice", type=Path, default=ROOT / "build/cpu-release/sluice")
parser.add_argument("--signals", default=",".join(SIGNALS))
options = parser.parse_args()
print("| signal | container | events | found | in the container | efficiency |\n| --- | --- | --- | --- | --- | --- |")
for one in options.signals.split(","):
    efficiency(options, one)
minimum_bias(options)
