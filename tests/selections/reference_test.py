#!/usr/bin/env python3
"""The algorithms of selections, each alone, on input that LHCb's first-level trigger recorded for six events in four
sequences. Compared with its recorded results: states of long tracks at the beam line, their primary vertices and impact
parameters, pairs with their vertices, responses of the network, and decisions of lines over tracks and events."""
import csv
import ctypes
import json
import lzma
import math
import re
import statistics
import sys
import tempfile
from pathlib import Path

from algorithm import Algorithm
from common import DATA, GEOMETRY, ROOT, SIX, Checks, call

path = DATA / "lhcb/reference.json.xz"
for needed in (path, GEOMETRY, SIX):
    if not needed.exists():
        print(f"skipped: {needed} is absent")
        sys.exit(77)

checks = Checks()
sequences = {name: found["events"] for name, found in json.load(lzma.open(path))["sequences"].items()}
EVENTS = 6
UINT = ctypes.c_uint32
STATE = "x y z tx ty qop c00 c20 c22 c11 c31 c33 chi2".split()

constant = Algorithm("velo", "geometry")
constant.set_text("path", GEOMETRY)
constant.run()
beam = constant.get("geometry", "beam")


def places(graph):
    """{event number: {LHCbID: position of the VELO hit}}"""
    with tempfile.TemporaryDirectory() as folder:
        hits, table = Path(folder) / "hits.yaml", Path(folder) / "hits.csv"
        hits.write_text(f"sluice: 1\ndescription: a table of hits\ninclude: [{ROOT / 'graphs' / graph}]\nnodes:\n"
                        f"  write: {{ use: output.csv_sink, set: {{ output: clusters, path: {table} }} }}\noutputs: [clusters]\n")
        call("run", hits, "-i", SIX, "--set", f"geometry={GEOMETRY}", "--quiet")
        by_event = {}
        for row in csv.DictReader(table.open()):
            by_event.setdefault(int(row["event"]), {})[int(row["id"])] = tuple(float(row[name]) for name in "xyz")
    return by_event


def offsets_of(lists):
    return [sum(map(len, lists[:i])) for i in range(len(lists) + 1)]


def velo_of(name):
    """The events with VELO tracks and vertices of a sequence: its own if they are recorded, otherwise those of the default one."""
    return sequences[name if "velo_tracks" in sequences[name][0] else "hlt1_pp_default"]


def long_tracks(name, k):
    """VELO track and q/p of each long track of an event: forward tracks, then matched ones."""
    event, velo = sequences[name][k], velo_of(name)[k]
    found = [(velo["ut_tracks"][track["ut_index"]]["velo_index"], track["qop"]) for track in event.get("forward_tracks", [])]
    found += [(track["velo_index"], track["qop"]) for track in event.get("matched_tracks", [])]
    if [qop for _, qop in found] != [track["best_qop"] for track in event["long_tracks"]]:
        sys.exit(f"{name}, event {event['event']}: the long tracks do not agree with the record")
    return found


def give_tracks(to, name, with_qop):
    found = [long_tracks(name, k) for k in range(EVENTS)]
    to.give("tracks", "offsets", offsets_of(found), UINT)
    to.give("tracks", "velo_track", [velo for of_event in found for velo, _ in of_event], UINT)
    if with_qop:
        to.give("tracks", "qop", [qop for of_event in found for _, qop in of_event])
    else:
        to.give("tracks", "ghost", [0 for of_event in found for _ in of_event])


def fitted(name, at):
    fit = Algorithm("selections", "fit", EVENTS)
    tracks = [event["velo_tracks"] for event in velo_of(name)]
    hits = [[at[event["event"]][lhcb_id] for lhcb_id in track["lhcbids"]] for event in velo_of(name) for track in event["velo_tracks"]]
    give_tracks(fit, name, True)
    fit.give("velo_tracks", "offsets", offsets_of(tracks), UINT)
    fit.give("velo_tracks", "hit_offsets", offsets_of(hits), UINT)
    for i, axis in enumerate("xyz"):
        fit.give("velo_tracks", f"hit_{axis}", [hit[i] for track in hits for hit in track])
    fit.give("geometry", "beam", beam)
    fit.run()
    columns = {field: fit.get("states", field) for field in STATE}
    columns["ndof"] = fit.get("states", "ndof", UINT)
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def compare_states(name, ours):
    theirs = [track["kalman_velo_only"] for event in sequences[name] for track in event["long_tracks"]]
    checks.that([state["ndof"] for state in ours[:len(theirs)]] == [state["ndof"] for state in theirs], f"{name}: {len(theirs)} states, degrees of freedom as recorded")
    errors = {"x": "c00", "tx": "c22", "y": "c11", "ty": "c33"}
    off = [abs(mine[field] - other[field]) / other[error] ** 0.5 for mine, other in zip(ours, theirs) for field, error in errors.items()]
    checks.that(max(off) < 0.02 and statistics.median(off) < 2e-4, f"{name}: positions and slopes differ by at most {max(off):.2g} of their errors, median {statistics.median(off):.1g}")
    z = max(abs(mine["z"] - other["z"]) for mine, other in zip(ours, theirs))
    checks.that(z < 0.04, f"{name}: z differs by at most {z:.2g} mm")
    for field, limit in (("c00", 5e-3), ("c20", 5e-3), ("c22", 5e-3), ("c11", 5e-3), ("c31", 5e-3), ("c33", 5e-3), ("chi2", 0.07), ("qop", 1e-7)):
        off = max(abs(mine[field] / other[field] - 1) for mine, other in zip(ours, theirs))
        checks.that(off < limit, f"{name}: {field} differs by at most {off:.2g} (relative)")


VERTEX = {"x": "x", "y": "y", "z": "z", "c_xx": "cov00", "c_xy": "cov10", "c_yy": "cov11", "c_xz": "cov20", "c_yz": "cov21", "c_zz": "cov22"}


def particles(name):
    """Runs `particles` on the recorded states. Returns columns, recorded tracks, recorded vertices by event."""
    long = [event["long_tracks"] for event in sequences[name]]
    tracks, vertices = [track for of_event in long for track in of_event], [event["pvs"] for event in velo_of(name)]
    make = Algorithm("selections", "particles", EVENTS)
    give_tracks(make, name, False)
    make.give("states", "offsets", offsets_of(long), UINT)
    for field in STATE:
        make.give("states", field, [track["kalman_velo_only"][field] for track in tracks])
    make.give("states", "ndof", [track["kalman_velo_only"]["ndof"] for track in tracks], UINT)
    make.give("vertices", "offsets", offsets_of(vertices), UINT)
    for field, recorded in VERTEX.items():
        make.give("vertices", field, [vertex[recorded] for of_event in vertices for vertex in of_event])
    make.give("muons", "is_muon", [track["is_muon"] for track in tracks], ctypes.c_uint8)
    make.give("electrons", "is_electron", [track["is_electron"] for track in tracks], ctypes.c_uint8)
    make.give("electrons", "score", [1 for _ in tracks])
    make.run()
    kinds = {"vertex": UINT, "leptons": ctypes.c_uint8, "charge": ctypes.c_int8}
    fields = "vertex vertex_z z tx ty ip ip_chi2 chi2_ndof p pt eta charge leptons ghost nn nn_e chi2corr".split()
    return {field: make.get("particles", field, kinds.get(field, ctypes.c_float))[:len(tracks)] for field in fields}, tracks, vertices


def ip_and_chi2(state, vertex):
    """Impact parameter and its chi2 with respect to a vertex, in double precision."""
    dz = vertex["z"] - state["z"]
    tx, ty = state["tx"], state["ty"]
    dx, dy = state["x"] + tx * dz - vertex["x"], state["y"] + ty * dz - vertex["y"]
    xx = vertex["cov00"] + state["c00"] + dz * dz * state["c22"] + 2 * dz * state["c20"] + tx * tx * vertex["cov22"] - 2 * tx * vertex["cov20"]
    yy = vertex["cov11"] + state["c11"] + dz * dz * state["c33"] + 2 * dz * state["c31"] + ty * ty * vertex["cov22"] - 2 * ty * vertex["cov21"]
    xy = vertex["cov10"] + tx * ty * vertex["cov22"] - ty * vertex["cov20"] - tx * vertex["cov21"]
    return ((dx * dx + dy * dy) / (1 + tx * tx + ty * ty)) ** 0.5, (dx * dx * yy - 2 * dx * dy * xy + dy * dy * xx) / (xx * yy - xy * xy)


# The recorded vertex of a track is identified by the recorded impact parameter.
def compare_particles(name):
    """Compares the particles of a sequence; returns the number of tracks with a nearer vertex."""
    ours, tracks, vertices = particles(name)
    of_track = [vertices[k] for k, event in enumerate(sequences[name]) for _ in event["long_tracks"]]
    same = others = 0
    for vertex, track, found in zip(ours["vertex"], tracks, of_track):
        by_vertex = [ip_and_chi2(track["kalman_velo_only"], one) for one in found]
        theirs = [i for i, (ip, chi2) in enumerate(by_vertex) if abs(ip - track["ip"]) < 1e-4 + 1e-4 * ip and abs(chi2 - track["ipChi2"]) < 1e-2 * (1 + chi2)]
        same += theirs == [vertex]
        others += min(range(len(found)), key=lambda i: by_vertex[i][0]) != vertex
    checks.that(same == len(tracks), f"{name}: {same} of {len(tracks)} tracks have the recorded vertex")
    ip = max(abs(mine - track["ip"]) for mine, track in zip(ours["ip"], tracks))
    chi2 = [abs(mine / track["ipChi2"] - 1) for mine, track in zip(ours["ip_chi2"], tracks)]
    checks.that(ip < 5e-6, f"{name}: impact parameters differ by at most {ip:.2g} mm")
    checks.that(max(chi2) < 1e-5 and statistics.median(chi2) < 5e-7, f"{name}: chi2 of impact parameters differ by at most {max(chi2):.2g} (relative), median {statistics.median(chi2):.1g}")
    p = max(abs(mine * abs(track["kalman_velo_only"]["qop"]) - 1) for mine, track in zip(ours["p"], tracks))
    checks.that(p < 3e-7, f"{name}: p differs by at most {p:.1g} (relative)")
    checks.that(ours["leptons"] == [track["is_muon"] + 2 * track["is_electron"] for track in tracks], f"{name}: {sum(map(bool, ours['leptons']))} leptons")
    checks.that(ours["charge"] == [1 if track["best_qop"] > 0 else -1 for track in tracks], f"{name}: charges")
    return others


NETWORK_READS = {"fd_chi2": "fdchi2", "sum_pt": "sumpt", "chi2": "chi2", "min_ip_chi2": "minipchi2"}


def is_clone_like(event, vertex):
    """Whether the tracks are so nearly parallel (sin^2 of the angle below 1e-6) that the recorded numbers are rounding errors."""
    (ax, ay), (bx, by) = ((track["kalman_velo_only"]["tx"], track["kalman_velo_only"]["ty"]) for track in (event["long_tracks"][vertex[i]] for i in ("trk1", "trk2")))
    return ((ax - bx) ** 2 + (ay - by) ** 2 + (ax * by - ay * bx) ** 2) / ((1 + ax * ax + ay * ay) * (1 + bx * bx + by * by)) < 1e-6


def compare_scores(name):
    """Compares the responses of the network to recorded pairs; returns the number of compared pairs."""
    found = [event["sv_dihadron"] for event in sequences[name]]
    pairs = [(event, vertex) for event, of_event in zip(sequences[name], found) for vertex in of_event]
    network = Algorithm("network", "weights")
    network.set_text("network", "two_track")
    network.run()
    score = Algorithm("selections", "two_track_score", EVENTS)
    score.give("vertices", "offsets", offsets_of(found), UINT)
    for field, recorded in NETWORK_READS.items():
        score.give("vertices", field, [vertex[recorded] for _, vertex in pairs])
    for field, kind in (("shape", UINT), ("names", ctypes.c_uint8), ("numbers", ctypes.c_float)):
        score.give("network", field, network.get("weights", field, kind), kind)
    score.run()
    off = [abs(1 / (1 + math.exp(-max(logit, -700))) - vertex["two_track_mva_2021model"])
           for logit, (event, vertex) in zip(score.get("scores", "logit"), pairs) if not is_clone_like(event, vertex)]
    checks.that(max(off) < 1e-5, f"{name}: responses of the network to {len(off)} of {len(pairs)} pairs differ by at most {max(off):.2g}")
    return len(off)


def settings(node):
    """{property: value} of a node of graphs/common/pairs.yaml"""
    text = re.search(rf"\n  {node}:(.*?)(?=\n  \w|\n\w)", (ROOT / "graphs/common/pairs.yaml").read_text(), re.S)[1]
    found = re.search(r"set: \{(.*?)\}", text, re.S)
    return dict(re.findall(r"(\w+): ([-\w.]+)", found[1])) if found else {}


PAIR = "x y z chi2 doca opening p pt sum_pt ip dz fd_chi2 dira eta m_corrected min_p min_pt min_ip min_ip_chi2".split()


def pairs(name, node):
    """Runs `pairs` on recorded states, impact parameters and vertices; returns one dictionary per pair, by event."""
    ours, tracks, vertices = particles(name)
    make = Algorithm("selections", "pairs", EVENTS)
    make.give("particles", "offsets", offsets_of([event["long_tracks"] for event in sequences[name]]), UINT)
    make.give("particles", "ip", [track["ip"] for track in tracks])
    make.give("particles", "ip_chi2", [track["ipChi2"] for track in tracks])
    for field, kind in (("vertex", UINT), ("charge", ctypes.c_int8), ("leptons", ctypes.c_uint8), ("chi2_ndof", ctypes.c_float), ("p", ctypes.c_float), ("pt", ctypes.c_float)):
        make.give("particles", field, ours[field], kind)
    for field in "x y z tx ty c00 c20 c22 c11 c31 c33".split():
        make.give("states", field, [track["kalman_velo_only"][field] for track in tracks])
    make.give("vertices", "offsets", offsets_of(vertices), UINT)
    for field, recorded in VERTEX.items():
        make.give("vertices", field, [vertex[recorded] for of_event in vertices for vertex in of_event])
    for setting, value in settings(node).items():
        if setting == "leptons":
            make.set_text(setting, value)
        else:
            make.set(setting, {"false": 0, "true": 1}[value] if value in ("false", "true") else float(value))
    make.run()
    offsets = make.get("pairs", "offsets", UINT)
    columns = {field: make.get("pairs", field, UINT if field in ("first", "second") else ctypes.c_float) for field in ["first", "second"] + PAIR}
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    return [rows[offsets[k]:offsets[k + 1]] for k in range(EVENTS)]


def sine2(one, other):
    """Squared sine of the angle between two states."""
    x, y = one["tx"] - other["tx"], one["ty"] - other["ty"]
    turn = one["tx"] * other["ty"] - one["ty"] * other["tx"]
    return (x * x + y * y + turn * turn) / ((1 + one["tx"]**2 + one["ty"]**2) * (1 + other["tx"]**2 + other["ty"]**2))


def off_by(mine, theirs):
    """Differences by column: positions in units of their errors, DOCA in mm, angles absolute, everything else relative."""
    pt = math.hypot(theirs["px"], theirs["py"])
    found = {axis: abs(mine[axis] - theirs[axis]) / theirs[error] ** 0.5 for axis, error in (("x", "cov00"), ("y", "cov11"), ("z", "cov22"))}
    found |= {"doca": abs(mine["doca"] - theirs["doca"]), "dira": abs(mine["dira"] - theirs["dira"]), "opening": abs(1 - mine["opening"] - theirs["cos"])}
    expected = {"chi2": theirs["chi2"], "p": math.hypot(pt, theirs["pz"]), "pt": pt, "sum_pt": theirs["sumpt"], "ip": theirs["vertex_ip"], "dz": theirs["dz"],
                "fd_chi2": theirs["fdchi2"], "eta": theirs["eta"], "m_corrected": theirs["mcor"], "min_p": min(theirs["p1"], theirs["p2"]), "min_pt": theirs["minpt"],
                "min_ip": theirs["minip"], "min_ip_chi2": theirs["minipchi2"]}
    return found | {field: abs(mine[field] / value - 1) for field, value in expected.items()}


# Limits for values that the trigger computes less accurately; EXACT for all other values. The trigger computes DOCA from
# 1 - cos^2 of an angle in single precision, which is noise for sin^2 below 1e-6: these pairs, of tracks with nearly the same
# hits, are not compared. One pair has a less accurate vertex and a chi2 of 1070: its tracks are 1 mm apart.
LIMITS = {"x": 2e-3, "y": 3e-3, "z": 1e-3, "chi2": 1e-2, "doca": 5e-3, "dira": 2e-6, "opening": 5e-7, "ip": 2e-3, "dz": 1e-4, "fd_chi2": 1e-2, "eta": 2e-3, "m_corrected": 2e-3}
EXACT = 1e-6
CLONES_SINE2, FAR_CHI2, FAR_X = 1e-6, 1000, 0.05


def compare_pairs(name):
    """Compares pairs; returns the numbers of pairs, of nearly parallel pairs, and of pairs with a less accurate vertex."""
    found, clones, far = [], 0, 0
    for node in ("dihadron", "dilepton", "v0"):
        ours, theirs = pairs(name, node), [event[f"sv_{node}"] for event in sequences[name]]
        same = [[(pair["first"], pair["second"]) for pair in of_event] for of_event in ours] == [[(pair["trk1"], pair["trk2"]) for pair in of_event] for of_event in theirs]
        checks.that(same, f"{name}: {node}: {sum(map(len, theirs))} pairs, as recorded and in the recorded order")
        if not same:
            continue
        for event, mine, recorded in zip(sequences[name], ours, theirs):
            for one, other in zip(mine, recorded):
                states = [event["long_tracks"][one[which]]["kalman_velo_only"] for which in ("first", "second")]
                if sine2(*states) < CLONES_SINE2:
                    clones += 1
                    checks.that(one["doca"] < 0.01 and one["fd_chi2"] >= 0, f"{name}: {node}: nearly parallel, DOCA {one['doca']:.2g} mm, recorded {other['doca']:.2g}")
                    continue
                found.append(off_by(one, other))
                if found[-1]["x"] > LIMITS["x"]:
                    far += 1
                    x = found[-1].pop("x")
                    checks.that(x < FAR_X and other["chi2"] > FAR_CHI2, f"{name}: {node}: pair with chi2 {other['chi2']:.0f}: x differs by {x:.2g} of its error")
    for field in PAIR:
        values = [one[field] for one in found if field in one]
        checks.that(max(values) < LIMITS.get(field, EXACT) and statistics.median(values) < 1e-5, f"{name}: {field} differs by at most {max(values):.2g}, median {statistics.median(values):.1g}")
    return len(found) + clones, clones, far


from track_lines_reference import TrackLines  # noqa: E402: reads the samples

positions = {"hlt1_pp_veloSP": places("velo_superpixels.yaml")}
retina = places("velo.yaml")
counts = {"hlt1_pp_default": 188, "hlt1_pp_veloSP": 189, "hlt1_pp_matching": 238, "hlt1_pp_forward_then_matching_no_gec": 279}
for name, events in sequences.items():
    checks.that(sum(len(event["long_tracks"]) for event in events) == counts[name], f"{name}: {counts[name]} long tracks")
    compare_states(name, fitted(name, positions.get(name, retina)))
others = {name: compare_particles(name) for name in sequences}
checks.that(sum(others.values()) > 0, f"tracks with another vertex nearer than the one with the least chi2: {others}")
scores = {name: compare_scores(name) for name in sequences}
checks.that(sum(scores.values()) == 237, f"237 of 240 pairs are compared: {scores}")
expected = {"hlt1_pp_default": (57, 3, 1), "hlt1_pp_veloSP": (61, 3, 1), "hlt1_pp_matching": (99, 0, 1), "hlt1_pp_forward_then_matching_no_gec": (128, 4, 1)}
for name in sequences:
    found = compare_pairs(name)
    checks.that(found == expected[name], f"{name}: {found[0]} pairs, {found[1]} of them nearly parallel, {found[2]} with a less accurate vertex")
lines, fired = TrackLines(beam), {}
for name, events in sequences.items():
    fired[name] = lines.compare(checks, name, events, velo_of(name), particles(name)[0], [[velo for velo, _ in long_tracks(name, k)] for k in range(EVENTS)])
checks.that(all(found == ["Hlt1TrackMVA"] * (name == "hlt1_pp_matching") + ["Hlt1LowPtMuon"] for name, found in fired.items()), f"lines that pass events: {fired}")
checks.end()
