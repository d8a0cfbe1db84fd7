#!/usr/bin/env python3
"""Matched tracks of six sample events, alone and together with forward tracks, with chi2 and with the network, compared with Monte
Carlo truth, with an independent implementation of the matching with chi2, and with the record of LHCb's trigger."""
import csv
import json
import lzma
import tempfile
from pathlib import Path

from common import DATA, GEOMETRY, ROOT, SIX, Checks, by_event, call, category, need_data, run, run_simulated, velo_track

need_data()
checks = Checks()
BY_CHI2 = ("--set", "matching_network.network=none")
CATEGORIES = ("long", "long, p > 5 GeV", "long, p > 3 GeV, pt > 0.5 GeV", "long, p > 5 GeV, pt > 1 GeV", "long electrons")


def figures(results):
    result = results["long_check"]
    return (result["tracks"], result["ghosts"], category(result, "long")["reconstructed"], category(result, "long, p > 5 GeV")["reconstructed"])


# Tracks, ghosts, matched long tracks and matched long tracks of p > 5 GeV. The second tuple is from the independent
# implementation, with seeds for a stereo angle of 0.086 and stereo hits up to 2 mm away.
EXPECTED = [((84, 5, 74, 67), (84, 12, 66, 59)),
            ((16, 0, 15, 9), (15, 0, 14, 8)),
            ((34, 1, 30, 25), (32, 1, 28, 24)),
            ((49, 5, 41, 38), (47, 5, 39, 36)),
            ((65, 4, 55, 49), (64, 6, 54, 47)),
            ((17, 2, 15, 9), (16, 2, 14, 9))]
for event, (found, (ours, other)) in enumerate(zip(by_event("matching_no_ut.yaml", figures, *BY_CHI2), EXPECTED, strict=True)):
    checks.that(found == ours, f"event {event}: {found} (expected {ours}; elsewhere {other})")
    checks.that(found[1] <= other[1] and found[2] >= other[2] - 1 and found[3] >= other[3] - 1, f"event {event}: at most one long track fewer, and not more ghosts than {other}")

# Tracks, ghosts, and reconstructed particles by category, with chi2 and with the network. With the UT,
# matches with less than two UT hits are rejected; forward tracks always have UT hits.
ALL = "--set=ut_matches.min_hits=0"
RUNS = (("matching_no_ut.yaml", (), (265, 17, (230, 197, 104, 37, 10)), (266, 13, (234, 200, 103, 36, 10))),
        ("matching.yaml", (ALL,), (265, 17, (230, 197, 104, 37, 10)), (266, 13, (234, 200, 103, 36, 10))),
        ("matching.yaml", (), (262, 15, (229, 196, 103, 36, 10)), (266, 13, (234, 200, 103, 36, 10))),
        ("forward_then_matching.yaml", (ALL,), (291, 19, (249, 203, 111, 40, 13)), (293, 16, (253, 206, 110, 39, 13))),
        ("forward_then_matching.yaml", (), (288, 17, (248, 202, 110, 39, 13)), (293, 16, (253, 206, 110, 39, 13))))


def check_run(graph, arguments, tracks, ghosts, reconstructed):
    """Compares a run with expected figures; returns the results of long_check."""
    six, name = run(graph, SIX, *arguments)["results"]["long_check"], " ".join((graph, *arguments))
    checks.that((six["tracks"], six["ghosts"]) == (tracks, ghosts), f"{name}: tracks and ghosts {six['tracks']}, {six['ghosts']}")
    checks.that(six["hits_in_truth"] >= 0.998 * six["hits"], f"{name}: {six['hits_in_truth']} of {six['hits']} SciFi hits are true")
    checks.that(six["tracks_with_duplicate_hits"] == 0, f"{name}: no track has a hit twice")
    for kind, found, of in zip(CATEGORIES, reconstructed, (342, 223, 120, 42, 28)):
        c = category(six, kind)
        checks.that((c["reconstructed"], c["reconstructible"]) == (found, of), f"{name}, {kind}: {c['reconstructed']} / {c['reconstructible']} (expected {found} / {of})")
    every = next(m for m in six["momentum"] if m["name"] == "all")
    checks.that(every["width"] <= 0.009 and abs(every["median"]) < 0.003 and every["right_charge"] == 1,
                f"{name}, q/p: width {every['width']:.4f}, median {every['median']:.4f}, charge right {every['right_charge']:.4f}")
    return six


for graph, arguments, by_chi2, by_network in RUNS:
    before, now = check_run(graph, (*arguments, *BY_CHI2), *by_chi2), check_run(graph, arguments, *by_network)
    lost = max(a["reconstructed"] - b["reconstructed"] for a, b in zip(before["categories"], now["categories"]))
    name = " ".join((graph, *arguments))
    checks.that(lost <= 1 and now["ghosts"] < before["ghosts"], f"{name}: the network rejects ghosts and loses at most one particle of a category ({lost})")

# UT hits of matches: few are noise, and nearly all belong to the particle of the track.
ut = run("matching.yaml", SIX)["results"]["ut_check"]
hits = category(ut, "long")
checks.that((ut["tracks"], hits["reconstructed"]) == (266, 226), f"matches with hits in the UT: {ut['tracks']}, long particles with correct hits: {hits['reconstructed']}")
checks.that(hits["purity"] > 0.985 and hits["hit_efficiency"] > 0.98, f"hits in the UT: purity {hits['purity']:.4f}, hit efficiency {hits['hit_efficiency']:.4f}")

# Together with forward tracks: forward tracks come first and are unchanged, no VELO track is in two tracks, and the UT track of
# each track has the same VELO track.
def tables(graph, outputs, *arguments):
    """The rows of each of the outputs for the six events."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.yaml"
        writers = "\n".join(f"  write_{i}: {{ use: output.csv_sink, set: {{ output: {output}, path: {folder}/{i}.csv }} }}" for i, output in enumerate(outputs))
        path.write_text(f"sluice: 1\ndescription: tables of tracks\ninclude: [{ROOT / 'graphs' / graph}]\nnodes:\n{writers}\noutputs: [{', '.join(outputs)}]\n")
        call("run", path, "-i", SIX, "--set", f"geometry={GEOMETRY}", "--quiet", *arguments)
        return [list(csv.DictReader((Path(folder) / f"{i}.csv").open())) for i in range(len(outputs))]


tables_of = tables("forward_then_matching.yaml", ("forward_tracks", "long_tracks", "long_ut_tracks"))
events = {row["event"] for row in tables_of[1]}
matched = 0
for event in sorted(events):
    forward, tracks, ut_tracks = ([{k: v for k, v in row.items() if k != "index"} for row in table if row["event"] == event] for table in tables_of)
    checks.that(tracks[:len(forward)] == forward, f"event {event}: {len(tracks)} tracks begin with the {len(forward)} forward tracks")
    checks.that(len({track["velo_track"] for track in tracks}) == len(tracks), f"event {event}: each track has a VELO track of its own")
    checks.that(all(ut_tracks[int(track["ut_track"])]["velo_track"] == track["velo_track"] for track in tracks), f"event {event}: the UT track of each track has its VELO track")
    matched += len(tracks) - len(forward)
checks.that(len(events) == 6 and matched == 95, f"{len(events)} events, {matched} matches in addition to forward tracks")

LHCB = ("--with", ROOT / "graphs/variants/lhcb_matching.yaml")
reference = DATA / "lhcb/reference.json.xz"


def compare(graph):
    """Common matches with equal VELO track and seed, as (difference of slopes, relative difference of q/p); matches with equal VELO
    track and another seed; matches only in the record; matches only here."""
    states, tracks = tables(graph, ("fit.end_states", "matched_tracks"), *LHCB)
    sequences = json.load(lzma.open(reference))["sequences"]
    same, other_seed, theirs, ours = [], [], [], []
    for event, velo in zip(sequences["hlt1_pp_matching"]["events"], sequences["hlt1_pp_default"]["events"]):
        number, taken = event["event"], set()
        of_event = [tuple(float(row[name]) for name in ("x", "y", "tx", "ty")) for row in states if int(row["event"]) == number]
        found = {int(row["velo_track"]): row for row in tracks if int(row["event"]) == number}
        for track in event["matched_tracks"]:
            distance, slopes, which = velo_track(of_event, velo["velo_tracks"][track["velo_index"]]["endvelo_state"], taken)
            if distance > 1 or which not in found:
                theirs.append((number, which))
                continue
            taken.add(which)
            mine, seed = found[which], event["seeds"][track["seed_index"]]["state"]
            if max(abs(float(mine[name]) - seed[name]) for name in ("x", "y")) > 0.02:
                other_seed.append((number, which))
            else:
                same.append((slopes, abs(float(mine["qop"]) / track["qop"] - 1)))
        ours += [(number, which) for which in set(found) - taken]
    return same, sorted(other_seed), sorted(theirs), sorted(ours)


if not reference.exists():
    print(f"skipped: {reference} is absent, and with it the comparison track by track")
else:
    # In the first event the trigger leaves out triplets of hits and has other seeds. Only here: thirty matches with seeds that it
    # lacks, and two with other VELO tracks. Only in the record, or with another seed: two with seeds that are not here, one
    # seed with other stereo hits, and one VELO track with a better seed here that the trigger lacks. In the fourth event the
    # trigger has a seed near y = 0, from a hit beyond the range of y.
    same, other_seed, theirs, ours = compare("matching_no_ut.yaml")
    checks.that((len(same), other_seed, theirs) == (233, [(6001, 212), (6001, 337)], [(6001, 198), (6001, 235), (6004, 183)]),
                f"common matches: {len(same)}; with another seed {other_seed}; only in the record {theirs}")
    checks.that(len(ours) == 32 and all(event == 6001 for event, _ in ours), f"only here: {len(ours)}, in events {sorted({event for event, _ in ours})}")
    of_same_velo = [qop for slopes, qop in same if slopes < 1e-6]
    checks.that(len(of_same_velo) == 147 and max(of_same_velo) < 2e-5 and max(qop for _, qop in same) < 7e-3,
                f"q/p differs by at most {max(qop for _, qop in same):.2g}; {max(of_same_velo):.2g} for {len(of_same_velo)} matches with equal slopes in the VELO")
    # With UT hits, which this sequence of the trigger does not use: only matches with less than two UT hits are rejected.
    with_ut, other_seed_ut, theirs_ut, ours_ut = compare("matching.yaml")
    left_out = sorted(set(theirs_ut) - set(theirs))
    checks.that((len(with_ut), left_out) == (228, [(6001, 169), (6001, 216), (6004, 104), (6005, 150), (6005, 214)]) and set(ours_ut) < set(ours),
                f"common matches with UT hits: {len(with_ut)}; rejected without UT hits: {left_out}")
    checks.that(other_seed_ut == other_seed and set(theirs) < set(theirs_ut), "UT hits do not change the seed of a match")

# Simulated events with both magnet polarities.
for arguments in ((), ("--set", "raw.polarity=up", "--set", "magnet.polarity=up")):
    results, alone = (run_simulated(graph, "-n", 100, *arguments)["results"] for graph in ("matching.yaml", "matching_no_ut.yaml"))
    found, before = (category(r["long_check"], "long, p > 5 GeV") for r in (results, alone))
    ghosts, ghosts_before, text = results["long_check"]["ghosts"], alone["long_check"]["ghosts"], " ".join(arguments) or "simulated"
    checks.that(before["reconstructed"] > 2000 and found["reconstructed"] >= 0.985 * before["reconstructed"],
                f"{text}: {found['reconstructed']} long tracks of p > 5 GeV, {before['reconstructed']} without UT")
    checks.that(ghosts < 0.87 * ghosts_before, f"{text}: {ghosts} ghosts, {ghosts_before} without UT")
    hits = category(results["ut_check"], "long")
    checks.that(hits["purity"] > 0.975 and hits["hit_efficiency"] > 0.95, f"{text}: hits in the UT: purity {hits['purity']:.4f}, hit efficiency {hits['hit_efficiency']:.4f}")
checks.end()
