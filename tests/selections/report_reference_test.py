#!/usr/bin/env python3
"""Routing bits and selection reports for six events that LHCb's first-level trigger recorded in four sequences: decisions and
routing bits equal the recorded ones, and reports have the recorded sizes. The accepted candidates are selected here from
recorded tracks and vertices, with the requirements of the lines that passed, and read back with scripts/decode_reports.
"""
import ctypes
import importlib.machinery
import importlib.util
import json
import lzma
import math
import sys

from algorithm import Algorithm
from common import DATA, ROOT, Checks

path = DATA / "lhcb/reference.json.xz"
if not path.exists():
    print(f"skipped: {path} is absent")
    sys.exit(77)

loader = importlib.machinery.SourceFileLoader("decode_reports", str(ROOT / "scripts/decode_reports"))
decode = importlib.util.module_from_spec(importlib.util.spec_from_loader("decode_reports", loader))
loader.exec_module(decode)

checks = Checks()
sequences = json.load(lzma.open(path))["sequences"]
EVENTS = 6
BYTE, HALF, UINT, ULONG = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
NONE = 0xFFFFFFFF
CONTAINERS = {"dihadron": 11, "dilepton": 12, "v0": 13}  # containers of vertices and their made_by
PARTICLES = 10
PION, KAON, D0 = 139.57039, 493.677, 1864.84


# ------------------------------------------------------------------------------------------- accepted candidates

def momentum(track):
    state = track["kalman_velo_only"]
    p, slopes = 1 / abs(state["qop"]), (state["tx"], state["ty"], 1)
    return [p * s / math.hypot(*slopes) for s in slopes]


def mass(vertex, event, first, second):
    p = [momentum(event["long_tracks"][vertex[k]]) for k in ("trk1", "trk2")]
    energy = sum(math.hypot(*one, m) for one, m in zip(p, (first, second)))
    return math.sqrt(energy ** 2 - sum((a + b) ** 2 for a, b in zip(*p)))


def pt(track):
    return math.hypot(*momentum(track)[:2])


def charm(v, event):
    masses = mass(v, event, KAON, PION), mass(v, event, PION, KAON)
    near = min(abs(m - D0) for m in masses) < 100 or min(masses) < 1830
    cut = 0.7 if math.hypot(v["px"], v["py"]) < 1500 else 0.92385
    return near and v["chi2"] < 20 and v["minpt"] > 250 and min(v["p1"], v["p2"]) > 2000 and v["doca"] < 0.2 and \
        v["minipchi2"] > 4 and v["z"] >= -341 and v["two_track_mva_2021model"] > cut


def two_tracks(v, event):
    return v["minpt"] > 200 and 2 < v["eta"] < 5 and v["mcor"] > 1000 and math.hypot(v["px"], v["py"]) > 1000 and \
        v["chi2"] < 20 and v["doca"] < 0.2 and v["minipchi2"] > 4 and v["z"] >= -341 and v["two_track_mva_2021model"] > 0.9569


def kaon(v, event):
    charges = [event["long_tracks"][v[k]]["best_qop"] > 0 for k in ("trk1", "trk2")]
    return charges[0] != charges[1] and v["minipchi2"] > 100 and v["chi2"] < 10 and v["vertex_ip"] < 0.3 and \
        400 < mass(v, event, PION, PION) < 600 and v["z"] >= -341


def one_track(track, event):
    s, chi2 = pt(track) - 296, track["ipChi2"]
    if track["chi2"] / track["ndof"] >= 2.5 or s <= 2000:
        return False
    return chi2 > 7.4 if s > 26000 else math.log(chi2) > 1e6 / (s - 2000) ** 2 + 1.248 / 26000 * (26000 - s) + math.log(7.4)


def muon(track, event):
    return track["is_muon"] and track["ip"] >= 4 and track["ipChi2"] >= 7.4 and pt(track) >= 80 and track["chi2"] / track["ndof"] <= 100


ACCEPTS = {"Hlt1TwoTrackMVACharmXSec": ("dihadron", charm), "Hlt1TwoTrackMVA": ("dihadron", two_tracks), "Hlt1KsToPiPi": ("v0", kaon),
           "Hlt1TrackMVA": ("tracks", one_track), "Hlt1LowPtMuon": ("tracks", muon)}


def candidates(event, kind):
    return event["long_tracks"] if kind == "tracks" else event[f"sv_{kind}"]


def accepted(name, events):
    kind, is_one = ACCEPTS[name]
    return [[int(bool(is_one(c, event))) for c in candidates(event, kind)] for event in events]


# ------------------------------------------------------------------------------------------------ long tracks

def velo_of(name):
    return sequences[name if "velo_tracks" in sequences[name]["events"][0] else "hlt1_pp_default"]["events"]


def long_tracks(event, velo):
    """(VELO track, number of UT hits, number of SciFi hits) of each long track."""
    found = []
    for track in event.get("forward_tracks", []):
        upstream = velo["ut_tracks"][track["ut_index"]]
        found.append((upstream["velo_index"], upstream["n_ut_hits"], track["n_scifi_hits"]))
    for track in event.get("matched_tracks", []):
        found.append((track["velo_index"], track.get("n_ut_hits", 0), event["seeds"][track["seed_index"]]["n_scifi_hits"]))
    return found


def offsets_of(lists):
    return [sum(map(len, lists[:i])) for i in range(len(lists) + 1)]


def flat(lists):
    return [one for of_event in lists for one in of_event]


def ids(detector, counts):
    """Unique numbers in place of LHCbIDs, which are not all recorded."""
    return [detector << 28 | i for i in range(sum(counts))]


def give_hits(to, port, lists, detector):
    """`lists`: for each event, the numbers of hits of its tracks."""
    counts = flat(lists)
    to.give(port, "offsets", offsets_of(lists), UINT)
    to.give(port, "hit_offsets", [sum(counts[:i]) for i in range(len(counts) + 1)], UINT)
    to.give(port, "hit_id", ids(detector, counts), UINT)


def give_tracks(to, name):
    events, velo = sequences[name]["events"], velo_of(name)
    long = [long_tracks(event, of) for event, of in zip(events, velo)]
    checks.that(list(map(len, long)) == [len(event["long_tracks"]) for event in events], f"{name}: {len(flat(long))} long tracks")
    give_hits(to, "velo_tracks", [[len(track["lhcbids"]) for track in event["velo_tracks"]] for event in velo], 2)
    give_hits(to, "ut_tracks", [[ut for _, ut, _ in of] for of in long], 3)  # one UT track per long track
    give_hits(to, "tracks", [[scifi for _, _, scifi in of] for of in long], 5)
    to.give("tracks", "velo_track", [track for track, _, _ in flat(long)], UINT)
    to.give("tracks", "ut_track", [i if ut else NONE for of in long for i, (_, ut, _) in enumerate(of)], UINT)
    tracks = flat([event["long_tracks"] for event in events])
    for port in ("particles", "states"):
        to.give(port, "offsets", offsets_of(long), UINT)
    to.give("particles", "made_by", [PARTICLES], ULONG)
    to.give("particles", "chi2_ndof", [track["chi2"] / track["ndof"] for track in tracks])
    for field in "x y z tx ty qop".split():
        to.give("states", field, [track["kalman_velo_only"][field] for track in tracks])
    to.give("states", "ndof", [track["ndof"] for track in tracks], UINT)


# --------------------------------------------------------------------------------------------- the algorithms

def decide(name):
    """Names of the lines, words of the decisions of all events, and the key."""
    lines, events = sequences[name]["lines"], sequences[name]["events"]
    node = Algorithm("selections", "decide", EVENTS)
    for line in lines:
        node.give_list_input("lines", line, "passed", [3 * (line in event["decisions"]) for event in events], BYTE)
    node.run()
    count = node.get("passed", "count", UINT)[0]
    passed = node.get("passed", "numbers", UINT)[:count]
    checks.that(passed == [k for k, event in enumerate(events) if event["global_decision"]], f"{name}: {count} events pass one of {len(lines)} lines")
    width = (len(lines) + 31) // 32
    return lines, node.get("decisions", "passed", UINT)[:EVENTS * width], node.get("decisions", "key", UINT)[0]


def give_decisions(to, decided):
    lines, words, key = decided
    width = len(words) // EVENTS
    to.give("decisions", "offsets", [width * i for i in range(EVENTS + 1)], UINT)
    to.give("decisions", "key", [key], UINT)
    to.give("decisions", "line_count", [len(lines)], UINT)
    to.give("decisions", "passed", words, UINT)


def routing_bits(name, decided):
    node = Algorithm("selections", "routing_bits", EVENTS)
    give_decisions(node, decided)
    for line in decided[0]:
        node.give_list_input("lines", line, "made_by", [0], ULONG)
    node.run()
    words = node.get("banks", "word", UINT)
    expected = flat([event["routing_bits"] for event in sequences[name]["events"]])
    checks.that(words[:len(expected)] == expected and sum(expected) > 0, f"{name}: routing bits")


def give_vertices(to, kind, events):
    found = flat([event[f"sv_{kind}"] for event in events])
    to.give_list_input("vertices", kind, "made_by", [CONTAINERS[kind]], ULONG)
    to.give_list_input("vertices", kind, "offsets", offsets_of([event[f"sv_{kind}"] for event in events]), UINT)
    to.give_list_input("vertices", kind, "first", [v["trk1"] for v in found], UINT)
    to.give_list_input("vertices", kind, "second", [v["trk2"] for v in found], UINT)
    for field in "x y z chi2".split():
        to.give_list_input("vertices", kind, field, [v[field] for v in found])


def give_line(to, name, events):
    kind = ACCEPTS[name][0] if name in ACCEPTS else None
    of = accepted(name, events) if kind else [[] for _ in events]
    to.give_list_input("lines", name, "offsets", offsets_of(of), UINT)
    to.give_list_input("lines", name, "made_by", [CONTAINERS.get(kind, PARTICLES) if kind else 0], ULONG)
    to.give_list_input("lines", name, "accepted", flat(of), BYTE)


def sel_reports(name, decided):
    events = sequences[name]["events"]
    node = Algorithm("selections", "sel_reports", EVENTS)
    give_decisions(node, decided)
    give_tracks(node, name)
    for kind in CONTAINERS:
        give_vertices(node, kind, events)
    for line in decided[0]:
        give_line(node, line, events)
    node.run()
    begin, words, sizes = (node.get("reports", field, kind) for field, kind in (("offsets", UINT), ("word", UINT), ("size_bytes", HALF)))
    at = node.get("reports", "word_offsets", UINT)
    fired = [event for event in events if event["decisions"]]
    checks.that(begin == offsets_of([[event] if event["decisions"] else [] for event in events]), f"{name}: banks of {len(fired)} events")
    checks.that([size // 4 for size in sizes[:len(fired)]] == [event["selrep_words"] for event in fired], f"{name}: their sizes, {[event['selrep_words'] for event in fired]} words")
    for i, event in enumerate(fired):
        passed = [k + 1 for k, line in enumerate(decided[0]) if line in event["decisions"]]
        check_contents(name, event, decode.read_selections(words[at[i]:at[i + 1]], passed), decided[0])


def check_contents(name, event, found, lines):
    """Compares the candidates of each line in a report with the accepted ones, by type and momenta."""
    same = True
    for line, inside in found["lines"].items():
        kind, is_one = ACCEPTS[lines[line - 1]]
        expected = [c for c in candidates(event, kind) if is_one(c, event)]
        same &= len(inside) == len(expected) > 0
        for (of, i), candidate in zip(inside, expected):
            tracks = found["vertices"][i]["tracks"] if of == "vertex" else [i]
            theirs = [event["long_tracks"][candidate[k]] for k in ("trk1", "trk2")] if of == "vertex" else [candidate]
            same &= of == ("track" if kind == "tracks" else "vertex")
            same &= [found["tracks"][t]["qop"] for t in tracks] == [ctypes.c_float(t["kalman_velo_only"]["qop"]).value for t in theirs]
    checks.that(same, f"{name}: event {event['event']}: {sum(map(len, found['lines'].values()))} candidates of {len(found['lines'])} lines are those accepted")


for name in sequences:
    decided = decide(name)
    routing_bits(name, decided)
    sel_reports(name, decided)
checks.end()
