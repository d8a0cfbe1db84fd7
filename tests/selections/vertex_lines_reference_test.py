#!/usr/bin/env python3
"""The lines of graphs/menus/2023.yaml over pairs of particles, each alone, on the pairs that LHCb's first-level
trigger recorded for six events in four sequences: decisions are compared with the recorded decisions."""
import ctypes
import json
import lzma
import math
import sys

from common import DATA, Checks
from recorded_lines import PASSED, default_line, default_lines

path = DATA / "lhcb/reference.json.xz"
if not path.exists():
    print(f"skipped: {path} is absent")
    sys.exit(77)

UINT, UINT64, BYTE, SIGNED = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint8, ctypes.c_int8
CONTAINERS = {"dihadron": "sv_dihadron", "dilepton": "sv_dilepton", "v0": "sv_v0", "v0_pairs": "sv_v0"}
checks = Checks()


def offsets_of(lists):
    return [sum(map(len, lists[:i])) for i in range(len(lists) + 1)]


def direction(track):
    """Unit vector along a track, in double precision, and its momentum."""
    state = track["kalman_velo_only"]
    norm = math.sqrt(1 + state["tx"] ** 2 + state["ty"] ** 2)
    return [state["tx"] / norm, state["ty"] / norm, 1 / norm], 1 / abs(state["qop"])


def opening(one, other):
    """1 - cos of the angle, computed from the sine: for small angles the recorded cosine has no correct digits."""
    (ax, ay, az), (bx, by, bz) = direction(one)[0], direction(other)[0]
    sin2 = (ay * bz - az * by) ** 2 + (az * bx - ax * bz) ** 2 + (ax * by - ay * bx) ** 2
    return sin2 / (1 + math.sqrt(1 - sin2))


def particle(track):
    (x, y, z), p = direction(track)
    pt = p * math.hypot(x, y)
    return {"p": p, "pt": pt, "pt_corrected": pt, "eta": math.asinh(z / math.hypot(x, y)), "ip": track["ip"],
            "ip_chi2": track["ipChi2"], "chi2_ndof": track["chi2"] / track["ndof"]}


def pair(recorded, tracks):
    """The columns of a recorded vertex. All recorded pairs have a primary vertex."""
    first, second = tracks[recorded["trk1"]], tracks[recorded["trk2"]]
    charges = [1 if track["best_qop"] > 0 else -1 for track in (first, second)]
    found = {field: recorded[field] for field in "x y z chi2 doca dz dira eta".split()}
    found |= {ours: recorded[theirs] for ours, theirs in (("sum_pt", "sumpt"), ("ip", "vertex_ip"), ("fd_chi2", "fdchi2"),
              ("m_corrected", "mcor"), ("min_pt", "minpt"), ("min_ip", "minip"), ("min_ip_chi2", "minipchi2"), ("first", "trk1"), ("second", "trk2"))}
    momentum = [recorded[f"p{axis}"] for axis in "xyz"]
    found |= {"p": math.hypot(*momentum), "pt": math.hypot(*momentum[:2]), "min_p": min(recorded["p1"], recorded["p2"]),
              "opening": opening(first, second), "vertex_z": recorded["z"] - recorded["dz"], "vertex": 0,
              "rho": abs(recorded["dz"] / math.sinh(recorded["eta"])) if recorded["eta"] else 0, "charge": sum(charges)}
    both = lambda flag: first[flag] and second[flag]
    found |= {"leptons": both("is_muon") + 2 * both("is_electron"), "shared_muon_hits": 0}
    return found


def logit(response):
    """Responses are recorded in single precision: some are 0 or 1."""
    return math.log(max(response, 1e-30) / max(1 - response, 1e-30))


KINDS = {"first": UINT, "second": UINT, "vertex": UINT, "charge": SIGNED, "leptons": BYTE, "shared_muon_hits": BYTE}


def give(to, port, lists, fields=None):
    """Gives the columns of the items of each event to a port."""
    flat = [one for of_event in lists for one in of_event]
    to.give(port, "offsets", offsets_of(lists), UINT)
    for field in fields or (flat[0] if flat else ()):
        to.give(port, field, [one[field] for one in flat], KINDS.get(field, ctypes.c_float))


def run(name, events, algorithm, candidates):
    """Runs a line; returns its decision for each event."""
    line = default_line(name, events)
    recorded = [event[CONTAINERS[candidates]] for event in events]
    pairs = [[pair(one, event["long_tracks"]) for one in of_event] for event, of_event in zip(events, recorded)]
    over = "candidates"
    if candidates == "v0_pairs":
        over = "secondary_vertices"
        unused = dict.fromkeys(("doca", "opening", "p", "pt"), 0.0)
        apart = [[{"first": i, "second": k, **unused} for k, b in enumerate(of_event) for i, a in enumerate(of_event[:k])
                  if not {a["trk1"], a["trk2"]} & {b["trk1"], b["trk2"]}] for of_event in recorded]
        give(line, "candidates", apart, ("first", "second", *unused))
    give(line, over, pairs)
    line.give(over, "made_by", [1], UINT64)
    if algorithm != "two_track_mva":
        give(line, "particles", [[particle(track) for track in event["long_tracks"]] for event in events])
    if algorithm.startswith("two_track_") and algorithm != "two_track_ks":
        line.give("scores", "offsets", offsets_of(recorded), UINT)
        line.give("scores", "logit", [logit(one["two_track_mva_2021model"]) for of_event in recorded for one in of_event])
    line.run()
    return line.get("decisions", "passed", BYTE)[:len(events)]


lines = {name: line[:2] for name, line in default_lines().items() if line[1] in CONTAINERS}
checks.that(len(lines) == 42, f"{len(lines)} lines over pairs")
fired, scaled = set(), set()
for sequence, found in json.load(lzma.open(path))["sequences"].items():
    different, count = [], 0
    for name, line in lines.items():
        for event, passed in zip(found["events"], run(name, found["events"], *line)):
            count += 1
            if bool(passed & PASSED) != (name in event["decisions"]):
                different.append(f"{name} of {event['event']}")
            if passed:
                (fired if passed & PASSED else scaled).add(name)
    checks.that(set(lines) <= set(found["lines"]), f"{sequence}: the record has these lines")
    checks.that(not different, f"{sequence}: {count} decisions equal the recorded ones{'; different: ' if different else ''}{', '.join(different)}")
checks.that(fired == {"Hlt1TwoTrackMVACharmXSec", "Hlt1TwoTrackMVA", "Hlt1KsToPiPi"}, f"lines that passed an event: {sorted(fired)}")
checks.that(not scaled, f"lines that would have passed without their scale: {sorted(scaled)}")
checks.end()
