#!/usr/bin/env python3
"""Sinks on event lists: each sink writes or checks only the luminosity events of simulated events, with the results that it has
for these events alone."""
import csv
import json
import tempfile
from pathlib import Path

from common import ROOT, Checks, call

EVENTS = 120
SINKS = """
  states:  {{ use: output.csv_sink, {events} set: {{ output: fit.beamline_states, path: "{name}.states.csv" }} }}
  lists:   {{ use: output.csv_sink, {events} set: {{ output: luminosity, path: "{name}.lists.csv" }} }}
  packets: {{ use: io.mep_sink, {events} set: {{ path: "{name}.mep" }} }}
  write:   {{ use: io.mdf_sink, {events} set: {{ path: "{name}.mdf" }} }}
"""
HDF5 = '  tables:  {{ use: hdf5.sink, {events} set: {{ path: "{name}.h5" }} }}\n'
GRAPH = """sluice: 1
include: [{root}/graphs/velo_pv.yaml]
nodes:
  distributions: {{ use: truth.distributions, {events} in: {{ hits: clusters }} }}
{sinks}{checks}
outputs: [tracks, fit.beamline_states, summaries, luminosity]
"""
CHECKS = "  check: { events: luminosity }\n  pv_check: { events: luminosity }\n  table: { events: luminosity }\n"


def run(folder, graph, *arguments):
    return json.loads(call("run", graph, "--json", "-", "--quiet", "--set", "raw.luminosity_fraction=0.05", *arguments, cwd=folder).stdout)


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def events_of(path):
    return [(row["run"], row["event"]) for row in rows(path)]


checks = Checks()
has_hdf5 = "hdf5.sink" in call("list", "--algorithms").stdout
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    summaries = {}
    for kind, events, on_list in (("all", "", ""), ("some", "events: luminosity,", CHECKS)):
        sinks = (SINKS + HDF5 * has_hdf5).format(events=events, name=kind)
        graph = folder / f"{kind}.yaml"
        graph.write_text(GRAPH.format(root=ROOT, sinks=sinks, checks=on_list, events=events))
        for slots in (1, 3):
            summary = run(folder, graph, "-n", EVENTS, "--slots", slots)
            again = summaries.setdefault(kind, summary)
            checks.that(summary["results"] == again["results"], f"{kind} events: the sinks report the same with {slots} slots")
    whole, some = summaries["all"], summaries["some"]
    listed = events_of(folder / "all.lists.csv")
    checks.that(0 < len(listed) < EVENTS / 5, f"{len(listed)} of {EVENTS} events are on the list")
    checks.that(events_of(folder / "some.lists.csv") == listed, "output.csv_sink: writes the list of its events")
    expected = [row for row in rows(folder / "all.states.csv") if (row["run"], row["event"]) in set(listed)]
    checks.that(expected and rows(folder / "some.states.csv") == expected, f"output.csv_sink: writes the {len(expected)} rows of its events")
    for sink in ("states", "lists", "packets", "write", "check", "pv_check", "distributions") + ("tables",) * has_hdf5:
        result = some["results"][sink]
        checks.that(result["events"] == len(listed), f"{sink} reports {result['events']} events")
        checks.that(whole["results"][sink]["events"] == EVENTS, f"{sink} without a list: {whole['results'][sink]['events']}")
    for sink in ("packets", "write"):
        left, none = some["results"][sink]["omitted"], whole["results"][sink]["omitted"]
        checks.that(none == [] and {entry["reason"] for entry in left} == {"not_listed"}, f"{sink} reports the banks that it leaves out, and the reason")
        odin = [entry["banks"] for entry in left if entry["type"] == 16]
        checks.that(odin == [EVENTS - len(listed)], f"{sink}: leaves out the ODIN banks of all other events")
    file_bytes = sum(entry["bytes"] + 3 * entry["banks"] for entry in some["results"]["write"]["omitted"]) + some["results"]["write"]["bytes"] + 48 * (EVENTS - len(listed))
    checks.that(0 <= file_bytes - whole["results"]["write"]["bytes"] <= 3 * sum(entry["banks"] for entry in some["results"]["write"]["omitted"]),
                "the file is shorter by the bytes of the banks that are left out, except padding")
    checks.that(some["results"]["table"] == whole["results"]["table"], "lumi.csv_sink: all summaries belong to events on the list")

    # The written events alone give the same results.
    (folder / "numbers.yaml").write_text(
        f"sluice: 1\ninclude: [{ROOT}/graphs/velo_pv.yaml]\nnodes:\n"
        "  distributions: { use: truth.distributions, in: { hits: clusters } }\n"
        '  lists: { use: output.csv_sink, set: { output: luminosity, path: "again.csv" } }\noutputs: [luminosity]\n')
    for form in ("mdf", "mep"):
        call("run", folder / "numbers.yaml", "-i", folder / f"some.{form}", "--json", folder / "again.json", "--quiet", cwd=folder)
        again = json.loads((folder / "again.json").read_text())["results"]
        checks.that(events_of(folder / "again.csv") == listed, f"some.{form} has the events of the list")
        for check in ("check", "pv_check", "distributions"):
            checks.that(again[check] == some["results"][check], f"{check}: results for some.{form} equal those for the list")
    if has_hdf5:
        try:
            import h5py
        except ImportError:
            print("skipped: the check of some.h5; there is no h5py")
        else:
            with h5py.File(folder / "all.h5") as x, h5py.File(folder / "some.h5") as y:
                selected = {int(event) for _, event in listed}
                places = [i for i, number in enumerate(x["events/number"]) if int(number) in selected]
                checks.that(list(y["events/number"]) == [x["events/number"][i] for i in places], "hdf5.sink: /events has the events of the list")
                checks.that(list(y["luminosity/numbers"]) == list(range(len(places))), "hdf5.sink: the list in the file has all events")
                a, b = x["fit.beamline_states"], y["fit.beamline_states"]
                cut = [list(a["x"][a["offsets"][i]:a["offsets"][i + 1]]) for i in places]
                found = [list(b["x"][b["offsets"][i]:b["offsets"][i + 1]]) for i in range(len(places))]
                checks.that(cut == found, "hdf5.sink: states of the events")
                a, b = x["tracks"], y["tracks"]
                hits = [a["hit_id"][a["hit_offsets"][a["offsets"][i]]:a["hit_offsets"][a["offsets"][i + 1]]].tolist() for i in places]
                seen = [b["hit_id"][b["hit_offsets"][b["offsets"][i]]:b["hit_offsets"][b["offsets"][i + 1]]].tolist() for i in range(len(places))]
                checks.that(hits == seen, "hdf5.sink: hits of the tracks")
                checks.that(b.attrs["items"] == len(b["hit_offsets"]) - 1 and "digest" not in b.attrs, "hdf5.sink: number of items, and no digest")
checks.end()
