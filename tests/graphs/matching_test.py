#!/usr/bin/env python3
"""Matched tracks of six real events, alone and beside forward tracks, against Monte-Carlo truth, and against figures of an
independent implementation of the same method."""
from common import SIX, Checks, by_event, category, need_data, run

need_data()
checks = Checks()
CATEGORIES = ("long", "long, p > 5 GeV", "long, p > 3 GeV, pt > 0.5 GeV", "long, p > 5 GeV, pt > 1 GeV", "long electrons")


def figures(results):
    result = results["long_check"]
    return (result["tracks"], result["ghosts"], category(result, "long")["reconstructed"], category(result, "long, p > 5 GeV")["reconstructed"])


# Tracks, ghosts, matched long ones and those of p > 5 GeV. What stands second has the independent implementation, whose
# seeds have y for a stereo angle of 0.086, and stereo hits up to 2 mm away.
EXPECTED = [((83, 7, 71, 64), (84, 12, 66, 59)),
            ((15, 0, 14, 8), (15, 0, 14, 8)),
            ((33, 1, 29, 24), (32, 1, 28, 24)),
            ((46, 5, 38, 35), (47, 5, 39, 36)),
            ((62, 4, 53, 47), (64, 6, 54, 47)),
            ((16, 2, 14, 9), (16, 2, 14, 9))]
for event, (found, (ours, other)) in enumerate(zip(by_event("matching_no_ut.yaml", figures), EXPECTED, strict=True)):
    checks.that(found == ours, f"event {event}: {found} (expected {ours}; elsewhere {other})")
    checks.that(found[1] <= other[1] and found[2] >= other[2] - 1 and found[3] >= other[3] - 1, f"event {event}: at most one long track less, and no more ghosts than {other}")

for graph, tracks, ghosts, reconstructed in (("matching_no_ut.yaml", 255, 19, (219, 187, 104, 37, 10)), ("forward_then_matching.yaml", 283, 23, (237, 194, 110, 40, 13))):
    six = run(graph, SIX)["results"]["long_check"]
    checks.that((six["tracks"], six["ghosts"]) == (tracks, ghosts), f"{graph}: tracks and ghosts {six['tracks']}, {six['ghosts']}")
    checks.that(six["hits_in_truth"] >= 0.998 * six["hits"], f"{graph}: {six['hits_in_truth']} of {six['hits']} SciFi hits are true")
    checks.that(six["tracks_with_a_hit_twice"] == 0, f"{graph}: no track has a hit twice")
    for name, found, of in zip(CATEGORIES, reconstructed, (342, 223, 120, 42, 28)):
        c = category(six, name)
        checks.that((c["reconstructed"], c["reconstructible"]) == (found, of), f"{graph}, {name}: {c['reconstructed']} / {c['reconstructible']} (expected {found} / {of})")
    every = next(m for m in six["momentum"] if m["name"] == "all")
    checks.that(every["width"] <= 0.009 and abs(every["median"]) < 0.003 and every["right_charge"] == 1,
                f"{graph}, q/p: width {every['width']:.4f}, median {every['median']:.4f}, charge right {every['right_charge']:.4f}")
checks.end()
