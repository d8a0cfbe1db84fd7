#!/usr/bin/env python3
"""seeding.match on the seeds and VELO tracks that LHCb's first-level trigger found in six events, against its matches."""
import ctypes
import json
import lzma
import sys

from algorithm import Algorithm
from common import DATA, GEOMETRY, Checks

reference = DATA / "lhcb/reference.json.xz"
if not reference.exists() or not GEOMETRY.exists():
    print(f"skipped: {reference} is absent")
    sys.exit(77)

checks = Checks()


def selected_tracks(tracks, without):
    """The tracks selected as in the graphs, except those in `without`."""
    select = Algorithm("ut", "select_velo_tracks")
    select.give_states("beamline_states", [track["beamline_state"] for track in tracks])
    select.give("beamline_states", "backward", [track["backward"] for track in tracks], ctypes.c_uint8)
    select.run()
    count = select.get("selected", "offsets", ctypes.c_uint32)[1]
    return [track for track in select.get("selected", "track", ctypes.c_uint32)[:count] if track not in without]


constant = Algorithm("seeding", "matching_constants")
constant.set_text("path", GEOMETRY)
constant.run()
constants = constant.get("matching", "constants")


def matches(tracks, selected, seeds):
    match = Algorithm("seeding", "match")
    match.give_states("seeds", [seed["state"] for seed in seeds], "x y tx ty")
    match.give("seeds", "hit_offsets", list(range(len(seeds) + 1)), ctypes.c_uint32)
    match.give("selected", "offsets", [0, len(selected)], ctypes.c_uint32)
    match.give("selected", "track", selected, ctypes.c_uint32)
    match.give_states("end_states", [track["endvelo_state"] for track in tracks])
    match.give("matching", "constants", constants)
    match.give("magnet", "sign", [-1])
    match.set("y_scale", 1.02)  # y of its seeds is for a stereo angle of 0.086
    match.run()
    count = match.get("matches", "offsets", ctypes.c_uint32)[1]
    columns = match.get("matches", "velo_track", ctypes.c_uint32), match.get("matches", "seed", ctypes.c_uint32), match.get("matches", "qop")
    return {(track, seed): qop for track, seed, qop in list(zip(*columns))[:count]}


sequences = json.load(lzma.open(reference))["sequences"]
alone, after = sequences["hlt1_pp_matching"]["events"], sequences["hlt1_pp_forward_then_matching_no_gec"]["events"]
for name, events in (("all seeds", alone), ("seeds not used by forward tracks", after)):
    found = 0
    for event, velo in zip(events, sequences["hlt1_pp_default"]["events"]):
        used = {velo["ut_tracks"][track["ut_index"]]["velo_index"] for track in event.get("forward_tracks", [])}
        ours = matches(velo["velo_tracks"], selected_tracks(velo["velo_tracks"], used), event["seeds"])
        theirs = {(track["velo_index"], track["seed_index"]): track["qop"] for track in event["matched_tracks"]}
        checks.that(ours.keys() == theirs.keys(), f"{name}, event {event['event']}: {len(theirs)} matches; only here {ours.keys() - theirs.keys()}, only in the record {theirs.keys() - ours.keys()}")
        off = max((abs(ours[pair] / theirs[pair] - 1) for pair in ours.keys() & theirs.keys()), default=1)
        checks.that(off < 1e-6, f"{name}, event {event['event']}: q/p agrees to {off:.1e}")
        found += len(ours)
    checks.that(found == {"all seeds": 238, "seeds not used by forward tracks": 91}[name], f"{name}: {found} matches")
checks.end()
