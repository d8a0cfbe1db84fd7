#!/usr/bin/env python3
"""Event lists of graphs/common/filters.yaml on simulated events with other ODIN data and error banks: each list compared with the
same conditions in Python, from ODIN words, bank headers, tracks, vertices and clusters. Both sides of the event cut, the
variants, lists that combine, and the sequences."""
import csv
import json
import struct
import tempfile
from pathlib import Path

from common import BRIEF, DATA, GEOMETRY, ROOT, SIX, Checks, call

import mdf

EVENTS = 60 if BRIEF else 240
ERROR_TYPES = (29, 50, 67, 68, 78, 81, 86, 88)
OTHER_TYPES = (30, 49, 66, 69, 76, 82, 85, 87)  # beside them
BANK_RETINA, BANK_SCIFI = 73, 64
checks = Checks()
GRAPH = """sluice: 1
include: [{root}/graphs/common/velo_tracks.yaml, {root}/graphs/calo_clusters.yaml, {root}/graphs/common/filters.yaml]
nodes:
  clusters:   {{ events: gec }}
  calo_cells: {{ events: gec }}
  pv:         {{ use: pv.beamline }}
  smog_tae:   {{ use: odin.filter, events: [smog, tae] }}
  smog_or_tae: {{ use: odin.filter, events: {{ any: [smog, tae] }} }}
  cylinder:   {{ use: generic.filter_where, events: beam_gas, set: {{ where: "pv: tracks >= 3 and z >= -537.5 mm and z < 300 mm and x^2 + y^2 < 9 mm2" }} }}
  ecal_energy: {{ use: generic.filter_where, events: bgi, set: {{ where: "calo_sums.energy < 20000000000000" }} }}
  orbits:     {{ use: odin.filter, events: no_errors, set: {{ orbit_period: 3, orbit_phase: 1 }} }}
  utfull:     {{ use: generic.filter_where, events: [], set: {{ where: "raw.error_banks: type == 67" }} }}
  lists:      {{ use: generic.gather_lists, in: {{ lists: {{ {lists} }} }} }}
{sinks}outputs: [lists.decisions, fit.beamline_states, pv, calo_clusters, calo_sums, odin]
"""
TABLES = ("fit.beamline_states", "pv", "calo_clusters", "calo_sums", "odin")
OWN = ("smog_tae", "smog_or_tae", "cylinder", "ecal_energy", "orbits", "utfull")


def names_of_lists():
    """Names of the lists of filters.yaml, in its order."""
    lines = (ROOT / "graphs/common/filters.yaml").read_text().split("nodes:")[1].splitlines()
    return [line.split(":")[0].strip() for line in lines if line[:3].strip() and line.startswith("  ") and not line.startswith("   ")
            and not line.strip().startswith("#")]


def word_6(word, number):
    """ODIN's word of flags, place in a TAE window and trigger type, with other values for some events."""
    tae = number % 6 if number % 2 else 0
    word &= ~(1 << 14 | 1 << 15 | 0x3F << 16 | 15 << 23)
    return word | (number % 8 == 3) << 14 | (tae == 3) << 15 | tae << 16 | (7 if number % 9 == 2 else number % 7) << 23


def edited(record, number):
    body = b""
    for kind, version, source, _, payload in mdf.banks(record):
        if kind == mdf.BANK_ODIN:
            words = list(struct.unpack("<10I", payload))
            words[1] = words[1] & 0xFFFF7FFE | (number % 7 == 4) | (number % 5 == 1) << 15
            words[6], words[8], words[9] = word_6(words[6], number), number, 0
            payload = struct.pack("<10I", *words)
        body += mdf.bank_bytes(kind, version, source, payload)
    if number % 10 == 6:
        body += mdf.bank_bytes(ERROR_TYPES[number // 10 % 8], 1, 9, b"\1\2\3")
    if number % 3 == 0:
        body += mdf.bank_bytes(OTHER_TYPES[number // 3 % 8], 1, 9, b"\1\2\3\4")
    return mdf.with_body(record, body)


def make_events(folder):
    """Collisions, beam gas and empty crossings with few and many tracks. Returns the path."""
    parts = []
    for seed, options in ((1, {"mu": 2, "gas_mu": 1, "beam_gas_fraction": 0.5, "empty_fraction": 0.1}), (2, {"mu": 0.2, "gas_mu": 0.1, "beam_gas_fraction": 0.5}),
                          (3, {"mu": 6, "beam_gas_fraction": 0.1, "gas_mu": 4})):
        path = folder / f"{seed}.mdf"
        settings = [text for key, value in options.items() for text in ("--set", f"raw.{key}={value}")]
        call("run", ROOT / "graphs/simulate.yaml", "-n", EVENTS // 3, "-o", path, "--set", f"seed={seed}", *settings, "--quiet")
        parts += mdf.records(path)
    path = folder / "events.mdf"
    path.write_bytes(b"".join(edited(record, number) for number, record in enumerate(parts)))
    return path


def write_graph(folder, lists):
    sinks = "".join(f"  write_{t.replace('.', '_')}: {{ use: output.csv_sink, set: {{ output: {t}, path: {folder}/{t}.csv }} }}\n" for t in TABLES)
    sinks += f"  write_lists: {{ use: output.csv_sink, set: {{ output: lists.decisions, path: {folder}/lists.csv }} }}\n"
    path = folder / "lists.yaml"
    path.write_text(GRAPH.format(root=ROOT, lists=", ".join(f"{name}: {name}" for name in lists), sinks=sinks))
    return path


def rows(folder, table, count):
    """The rows of each event."""
    found = [[] for _ in range(count)]
    for row in csv.DictReader((folder / f"{table}.csv").open()):
        if row.get("index", "0"):
            found[int(row["event"])].append(row)
    return found


class Event:
    """ODIN words, sizes of banks and items, which the conditions read."""

    def __init__(self, record, items):
        words = struct.unpack("<10I", next(b[4] for b in mdf.banks(record) if b[0] == mdf.BANK_ODIN))
        self.event_type, self.orbit = words[1] & 0xFFFF, words[7]
        self.crossing, self.tae, self.trigger = words[6] >> 12 & 3, words[6] >> 16 & 63, words[6] >> 23 & 15
        self.is_nzs, self.is_central = words[6] >> 14 & 1, words[6] >> 15 & 1
        self.types = {b[0] for b in mdf.banks(record)}
        self.scifi = sum(len(b[4]) for b in mdf.banks(record) if b[0] == BANK_SCIFI) // 2 - 2
        self.velo = sum(struct.unpack_from("<I", b[4])[0] for b in mdf.banks(record) if b[0] == BANK_RETINA and len(b[4]) >= 4)
        self.tracks = [tuple(float(r[k]) for k in "xyz") for r in items["fit.beamline_states"]]
        self.vertices = [(*(float(r[k]) for k in "xyz"), int(r["tracks"])) for r in items["pv"]]
        self.clusters = len(items["calo_clusters"])
        self.energy = int(items["calo_sums"][0]["energy"]) if items["calo_sums"] else 0

    def near_axis(self, low, high):
        return sum(low <= z < high and x * x + y * y < 9 for x, y, z in self.tracks)


def lists_of(e, max_scifi, max_velo, has_gec=True, needs_closed=True):
    """The lists that contain an event."""
    passes = {"no_errors": True, "error_banks": any(t in e.types for t in ERROR_TYPES), "utfull": 67 in e.types}
    passes["velo_closed"] = not e.event_type & 1 or not needs_closed
    passes["velo_open"] = e.event_type & 1
    passes["tae"], passes["tae_central"] = e.tae > 0, e.tae > 0 and e.is_central
    passes["not_zero_suppressed"], passes["calibration"], passes["orbits"] = e.is_nzs, e.trigger == 7, e.orbit % 3 == 1
    closed = passes["velo_closed"]
    passes["luminosity"], passes["far_from_activity"] = closed and e.event_type & 8, closed and e.event_type & 0x8000
    passes["beam_1_no_bias"] = closed and e.crossing == 1
    gec = passes["gec"] = e.scifi <= max_scifi and e.velo <= max_velo or not has_gec
    passes["velo_micro_bias"] = gec and len(e.tracks) >= 1
    passes["velo_micro_bias_open"] = passes["velo_micro_bias"] and e.event_type & 1
    bgi = passes["bgi"] = gec and closed
    for name, crossing in (("no_beam", 0), ("beam_gas", 1), ("beam_2", 2), ("collisions", 3)):
        passes[name] = bgi and e.crossing == crossing
    passes["smog"] = bgi and any(-537.5 <= v[2] < -337.5 for v in e.vertices)
    passes["smog_tae"] = passes["smog"] and passes["tae"]
    passes["smog_or_tae"] = passes["smog"] or passes["tae"]
    passes["cylinder"] = passes["beam_gas"] and any(n >= 3 and -537.5 <= z < 300 and x * x + y * y < 9 for x, y, z, n in e.vertices)
    passes["ecal_energy"] = bgi and e.energy < 20000000000000
    passes["few_tracks"] = bgi and 1 <= len(e.tracks) <= 5
    passes["beam_gas_few_tracks"] = passes["beam_gas"] and 1 <= len(e.tracks) <= 3
    passes["beam_gas_few_clusters"] = passes["beam_gas_few_tracks"] and 1 <= e.clusters <= 10
    for name, on, low, high, tracks in (("no_beam", "no_beam", -3000, 3000, 10), ("beam_1", "beam_gas", -3000, 3000, 10), ("beam_2", "beam_2", -3000, 3000, 10),
                                        ("upstream", "collisions", -3000, -250, 10), ("downstream", "collisions", 250, 3000, 10),
                                        ("interaction_region", "collisions", -250, 250, 28)):
        passes["pseudo_vertex_" + name] = passes[on] and e.near_axis(low, high) >= tracks
    return {name for name, value in passes.items() if value}


def run(folder, graph, path, count, lists, *arguments):
    """The lists and the items of each event."""
    summary = json.loads(call("run", graph, "-i", path, "--json", "-", "--quiet", *arguments).stdout)
    tables = {t: rows(folder, t, count) for t in (*TABLES, "lists")}
    found = [{lists[int(row["list"])] for row in event} for event in tables["lists"]]
    return found, [{t: tables[t][i] for t in TABLES} for i in range(count)], {node["name"]: node["events"] for node in summary["nodes"]}


def compare(name, found, events, lists, **settings):
    sums = {}
    for key in lists:
        expected = [key in lists_of(e, **settings) for e in events]
        sums[key] = sum(expected)
        if [key in f for f in found] != expected:
            checks.that(False, f"{name}: list {key}: {sum(key in f for f in found)} events, expected {sums[key]}")
    checks.that(all(({k for k in f} == lists_of(e, **settings) & set(lists)) for f, e in zip(found, events)), f"{name}: {sums}")
    return sums


def check_lists(folder):
    lists = [*names_of_lists(), *OWN]
    graph, path = write_graph(folder, lists), make_events(folder)
    records = list(mdf.records(path))
    count = len(records)
    found, items, evaluated = run(folder, graph, path, count, lists)
    events = [Event(record, i) for record, i in zip(records, items)]
    sums = compare("default limits", found, events, lists, max_scifi=20000, max_velo=35000)
    often = [name for name in lists if 0 < sums[name] < count]
    never = {name for name in lists if sums[name] == 0}
    checks.that(len(often) >= 22 and never <= {"beam_2", "pseudo_vertex_beam_2", "pseudo_vertex_no_beam", "pseudo_vertex_downstream", "pseudo_vertex_upstream"},
                f"{len(often)} of {len(lists)} lists have some but not all events; none in {sorted(never)}")
    # Filters see the events of their list only.
    before = {"gec": "no_errors", "collisions": "bgi", "smog": "bgi", "far_from_activity": "velo_closed", "tae_central": "tae",
              "beam_gas_few_tracks": "beam_gas", "beam_gas_few_clusters": "beam_gas_few_tracks", "pseudo_vertex_upstream": "collisions"}
    sums["no_errors"] = count
    checks.that(all(evaluated[name] == sums[base] for name, base in before.items()), f"events that filters test: { {n: evaluated[n] for n in before} }")
    tracks, gas = {len(e.tracks) for e in events}, {len(e.tracks) for e in events if e.crossing == 1}
    checks.that({0, 1, 5, 6} <= tracks and {0, 1, 3, 4} <= gas, "events on both sides of the limits of low multiplicity")
    # Both sides of both limits of the event cut.
    scifi, velo = sorted(e.scifi for e in events)[count // 2], sorted(e.velo for e in events)[2 * count // 3]
    for limits in ((scifi, 35000), (scifi - 1, 35000), (20000, velo), (20000, velo - 1), (scifi, velo)):
        other, other_items, _ = run(folder, graph, path, count, lists, "--set", f"gec.max_scifi={limits[0]}", "--set", f"gec.max_velo={limits[1]}")
        own = [Event(record, i) for record, i in zip(records, other_items)]
        compare(f"limits {limits}", other, own, lists, max_scifi=limits[0], max_velo=limits[1])
    cut = ("--set", f"gec.max_scifi={scifi}")
    closing, items, _ = run(folder, graph, path, count, lists, *cut, "--with", ROOT / "graphs/variants/velo_closing.yaml")
    own = [Event(record, i) for record, i in zip(records, items)]
    compare("velo_closing.yaml", closing, own, lists, max_scifi=scifi, max_velo=35000, needs_closed=False)
    everything, items, _ = run(folder, graph, path, count, lists, "--with", ROOT / "graphs/common/no_gec.yaml")
    own = [Event(record, i) for record, i in zip(records, items)]
    compare("no_gec.yaml", everything, own, lists, max_scifi=0, max_velo=0, has_gec=False)
    return graph, path


def check_digests(graph, path):
    def digests(*arguments):
        return [o["digest"] for o in json.loads(call("run", graph, "-i", path, "--digest", "--json", "-", "--quiet", *arguments).stdout)["outputs"]]

    reference = digests()
    for arguments in (("--slots", 3, "--slice-events", 7), ("--slice-events", 1), ("--guard",)):
        checks.that(digests(*arguments) == reference, f"equal lists with {arguments}")
    expected = digests("-n", 12)
    checks.that(digests("-n", 12, "--device", "simt") == expected, "equal lists on simt")


def check_budget(folder):
    """More error banks than an event may have make an event with an error, not a list without it."""
    path = folder / "many.mdf"
    record = next(mdf.records(folder / "events.mdf"))
    body = b"".join(mdf.bank_bytes(kind, version, source, payload) for kind, version, source, _, payload in mdf.banks(record))
    many = b"".join(mdf.bank_bytes(88, 1, n, b"") for n in range(5000))
    path.write_bytes(mdf.with_body(record, body) + mdf.with_body(record, body + many))
    graph = folder / "errors.yaml"
    graph.write_text(f"sluice: 1\ninclude: [{ROOT}/graphs/common/raw.yaml]\nnodes:\n  errors: {{ use: selections.error_banks }}\noutputs: [errors]\n")
    done = call("run", graph, "-i", path)
    checks.that("events       2, 1 with an error" in done.stdout + done.stderr and "has 5000 banks of error_banks, an event may have 4096" in done.stdout + done.stderr,
                "an event with too many error banks is reported")


def check_sequences(folder):
    """The lists beside the lines of each sequence, chosen by name; a graph without VELO banks in the cut is refused."""
    part = folder / "menu.yaml"
    part.write_text(f"""sluice: 1
include: [{ROOT}/graphs/common/filters.yaml]
nodes:
  Hlt1TrackMVA:      {{ events: collisions }}
  Hlt1BeamGas:       {{ events: beam_gas }}
  Hlt1VeloMicroBias: {{ events: velo_micro_bias }}
  Hlt1PassthroughPVinSMOG2: {{ use: selections.passthrough, events: smog }}
  Hlt1ErrorBank:     {{ use: selections.passthrough, events: error_banks }}
""")
    for name in ("default", "no_ut", "matching", "matching_no_ut", "forward_then_matching"):
        summary = json.loads(call("run", ROOT / f"graphs/hlt1_pp_{name}.yaml", "--with", part, "-n", 30, "--json", "-", "--quiet",
                                  "--set", "raw.beam_gas_fraction=0.4", "--set", "raw.gas_mu=1").stdout)
        lines = summary["totals"]["decide.totals"]
        checks.that(lines["Hlt1PassthroughPVinSMOG2"]["passed"] > 0 and lines["Hlt1ErrorBank"]["passed"] == 0, f"{name}: lines on lists, by name")
    done = call("check", ROOT / "graphs/hlt1_pp_default.yaml", "--with", part, "--set", "gec.max_ut=9000", expect=2)
    checks.that("max_ut: UT hits are not counted, since `ut_banks` is not connected" in done.stderr + done.stdout, "a limit without its input is refused")


def check_samples():
    """Six recorded events pass; the counts of the cut."""
    if not (DATA.exists() and SIX.exists() and GEOMETRY.exists()):
        return
    totals = json.loads(call("run", ROOT / "graphs/hlt1_pp_default.yaml", "--with", ROOT / "graphs/common/filters.yaml", "-i", SIX, "--set", f"geometry={GEOMETRY}",
                             "--with", SAMPLE, "--json", "-", "--quiet").stdout)["totals"]["lists.totals"]
    checks.that(totals["bgi"]["events"] == totals["collisions"]["events"] == 6, "six recorded collisions pass")


with tempfile.TemporaryDirectory() as temporary:
    own_folder = Path(temporary)
    SAMPLE = own_folder / "sample.yaml"
    SAMPLE.write_text("sluice: 1\nnodes:\n  lists: { use: generic.gather_lists, in: { lists: { bgi: bgi, collisions: collisions } } }\noutputs: [lists.totals]\n")
    check_digests(*check_lists(own_folder))
    check_budget(own_folder)
    check_sequences(own_folder)
    check_samples()
checks.end()
