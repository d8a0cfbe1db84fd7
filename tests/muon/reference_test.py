#!/usr/bin/env python3
"""Each muon algorithm alone, on the inputs of LHCb's first-level trigger in six events, against the outputs of the
trigger: hits by station, muon flags of long tracks, and stand-alone muons."""
import ctypes
import json
import lzma
import struct
import sys

from algorithm import Algorithm
from common import DATA, GEOMETRY, SIX, Checks

import mdf

path = DATA / "lhcb/reference.json.xz"
for needed in (path, GEOMETRY, SIX):
    if not needed.exists():
        print(f"skipped: {needed} is absent")
        sys.exit(77)

checks = Checks()
sequences = {name: found["events"] for name, found in json.load(lzma.open(path))["sequences"].items()}
BANKS, EVENTS = 13, 6
FLOAT, UINT, USHORT, BYTE = ctypes.c_float, ctypes.c_uint32, ctypes.c_uint16, ctypes.c_uint8
GEOMETRY_FIELDS = {field: FLOAT if field in ("x", "y", "z", "half_x", "half_y") else UINT for field in
                   "format channel_first tiles tell40_links grid offset position_first x y z width_first half_x half_y".split()}
HIT_FIELDS = {"offsets": UINT, "first": USHORT, "tile": UINT, **{field: FLOAT for field in ("x", "y", "z", "half_x", "half_y")}}

constant = Algorithm("muon", "geometry")
constant.set_text("path", GEOMETRY)
constant.run()
geometry = {field: constant.get("geometry", field, kind) for field, kind in GEOMETRY_FIELDS.items()}


def algorithm(name, fields):
    made = Algorithm("muon", name, EVENTS)
    for field in fields.split():
        made.give("geometry", field, geometry[field], GEOMETRY_FIELDS[field])
    return made


def give(to, port, columns, kinds):
    for field, kind in kinds.items():
        to.give(port, field, columns[field], kind)


def get(test, port, kinds):
    """Fields by name; fields per item without entries after the last one."""
    columns = {field: test.get(port, field, kind) for field, kind in kinds.items()}
    items = columns["offsets"][-1]
    return {field: values if field in ("offsets", "first") else values[:items] for field, values in columns.items()}


def decoded():
    kinds = {"offsets": UINT, "source_id": USHORT, "version": BYTE, "size_bytes": USHORT, "first_word": UINT}
    banks, payload = {field: [] for field in kinds}, b""
    banks["offsets"].append(0)
    for record in mdf.records(SIX):
        for kind, version, source, _, data in mdf.banks(record):
            if kind != BANKS:
                continue
            for field, value in (("source_id", source), ("version", version), ("size_bytes", len(data)), ("first_word", len(payload) // 4)):
                banks[field].append(value)
            payload += data + bytes(-len(data) % 4)
        banks["offsets"].append(len(banks["version"]))
    decode = algorithm("decode", "format channel_first tiles tell40_links grid")
    give(decode, "banks", banks, kinds)
    decode.give("banks", "payload", struct.unpack(f"<{len(payload) // 4}I", payload), UINT)
    decode.run()
    return get(decode, "tiles", {"offsets": UINT, "first": USHORT, "tile": UINT, "time": BYTE})


def crossed(tiles):
    cross = algorithm("cross", "grid offset position_first x y z width_first half_x half_y")
    give(cross, "tiles", tiles, {"offsets": UINT, "first": USHORT, "tile": UINT, "time": BYTE})
    cross.run()
    return get(cross, "hits", {**HIT_FIELDS, "is_crossed": BYTE})


tiles = decoded()
hits = crossed(tiles)
checks.that(tiles["offsets"][-1] == 1421, f"{tiles['offsets'][-1]} tiles in six events")


def by_station(event):
    first = hits["first"][17 * event:17 * event + 17]
    return [first[4 * station + 4] - first[4 * station] for station in range(4)]


for name, events in sequences.items():
    for event, recorded in enumerate(events):
        count = hits["offsets"][event + 1] - hits["offsets"][event]
        checks.that(count == recorded["n_muon_hits"], f"{name}, event {recorded['event']}: {count} hits")
        checks.that(by_station(event) == recorded["muon_hits_per_station"], f"{name}, event {recorded['event']}: by station {by_station(event)}")
share = sum(hits["is_crossed"]) / hits["offsets"][-1]
checks.that(0.8 < share < 0.95, f"{100 * share:.0f} % of the hits are crossings")


# Muon flags of long tracks: the state downstream of the SciFi, and q/p, are taken from the forward track or the seed.
def long_tracks(event):
    forward = [(track["qop"], track["scifi_state"]) for track in event.get("forward_tracks", [])]
    matched = [(track["qop"], event["seeds"][track["seed_index"]]["state"]) for track in event.get("matched_tracks", [])]
    for (qop, _), recorded in zip(forward + matched, event["long_tracks"]):
        if abs(qop - recorded["best_qop"]) > 1e-6 * abs(qop):
            sys.exit("q/p of the long tracks differs from the recorded one")
    return forward + matched


def muons(events, **settings):
    tracks = [long_tracks(event) for event in events]
    offsets = [sum(map(len, tracks[:i])) for i in range(EVENTS + 1)]
    is_muon = Algorithm("muon", "is_muon", EVENTS)
    is_muon.give("tracks", "offsets", offsets, UINT)
    is_muon.give("tracks", "qop", [qop for of_event in tracks for qop, _ in of_event])
    for field in ("x", "y", "tx", "ty"):
        is_muon.give("tracks", field, [state[field] for of_event in tracks for _, state in of_event])
    give(is_muon, "hits", hits, {field: HIT_FIELDS[field] for field in ("offsets", "first", "x", "y", "z", "half_x", "half_y")})
    for name, value in settings.items():
        is_muon.set(name, value)
    is_muon.run()
    return is_muon.get("flags", "is_muon", BYTE)[:offsets[-1]]


changed = {0.9: 0, 1.02: 0}
for name, events in sequences.items():
    theirs = [track["is_muon"] for event in events for track in event["long_tracks"]]
    ours = muons(events)
    checks.that(ours == theirs, f"{name}: {sum(ours)} of {len(ours)} long tracks are muons, {sum(theirs)} in the reference; differences {[i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]]}")
    for scale in changed:
        changed[scale] += sum(a != b for a, b in zip(muons(events, factor=1.2 * scale), ours))
checks.that(all(changed.values()), f"windows of another size change some flags: {changed}")

stubs = Algorithm("muon", "stubs", EVENTS)
give(stubs, "hits", hits, HIT_FIELDS)
stubs.run()
offsets = stubs.get("stubs", "offsets", UINT)
counts = [end - begin for begin, end in zip(offsets, offsets[1:])]
for name, events in sequences.items():
    recorded = [event["n_muon_stubs"] for event in events]
    checks.that(counts == recorded, f"{name}: stubs per event {counts}, reference {recorded}")
checks.end()
