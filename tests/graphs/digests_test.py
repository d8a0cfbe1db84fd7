#!/usr/bin/env python3
"""Digests do not depend on slots, slice sizes, budgets, guard, event order and variants, and equal those in digests.txt.

Builds with other options (-O0, another compiler) run this test with the same file. To accept an intended change:
digests_test.py --accept
"""
import tempfile
from pathlib import Path

import mdf
from common import BRIEF, MANY, ROOT, SIX, Checks, GEOMETRY, call, need_data, run

need_data()
checks = Checks()
found = {}


def digests(graph, sample, *arguments):
    return {o["port"]: o["digest"] for o in run(graph, sample, "--digest", *arguments)["outputs"]}


def event_digests(graph, sample, *arguments):
    """{(output, event number): digest}"""
    done = call("run", ROOT / "graphs" / graph, "-i", sample, "--set", f"geometry={GEOMETRY}", "--digest=events", "--quiet", *arguments)
    words = [line.split() for line in done.stdout.splitlines() if line.startswith("digest ")]
    return {(w[1], w[3]): w[4] for w in words}


def listed(graph, *arguments):
    """The lines that --digest=events prints."""
    done = call("run", ROOT / "graphs" / graph, "-i", MANY, "--set", f"geometry={GEOMETRY}", "--digest=events", "--quiet", *arguments)
    return [line for line in done.stdout.splitlines() if line.startswith("digest ")]


cases = [("calo.yaml", SIX, ()), ("velo.yaml", SIX, ()), ("velo_superpixels.yaml", SIX, ()), ("velo.yaml", MANY, ()), ("velo_ut.yaml", SIX, ()), ("scifi_hits.yaml", SIX, ()),
         ("forward.yaml", SIX, ()), ("forward_no_ut.yaml", SIX, ()), ("seeding.yaml", SIX, ()), ("matching_no_ut.yaml", SIX, ()),
         ("matching.yaml", SIX, ()),
         ("forward_then_matching.yaml", SIX, ()), ("muon.yaml", SIX, ()), ("particles.yaml", SIX, ()), ("secondary_vertices.yaml", SIX, ()), ("selections.yaml", SIX, ()),
         ("pv.yaml", SIX, ()),
         ("kalman.yaml", SIX, ()), ("kalman_residuals.yaml", SIX, ()),
         ("hlt1_pp_default.yaml", SIX, ("--with", "graphs/variants/kalman_forward.yaml")),
         ("hlt1_2026.yaml", SIX, ()),
         ("pv.yaml", MANY, ()), ("pv.yaml", SIX, ("--use", "pv=pv.annealing")), ("pv.yaml", MANY, ("--use", "pv=pv.annealing"))]
for graph, sample, arguments in cases:
    name = " ".join((graph, *arguments))
    arguments = [ROOT / a if a.endswith(".yaml") else a for a in arguments]
    reference = digests(graph, sample, *arguments)
    for port, digest in reference.items():
        found[f"{name} {sample.name} {port}"] = digest
    variations = [("--slots", s) for s in (2, 3, 4)] + [("--slice-events", s) for s in (1, 2, 5, 100, 1000)]
    variations += [("--guard",), ("--slots", 3, "--slice-events", 7)]
    if BRIEF:
        variations = []
    if graph == "velo.yaml":
        variations += [("--set", "search.variant=shared"), ("--set", "clusters.variant=shared")]
    if graph in ("forward.yaml", "forward_no_ut.yaml"):
        variations += [("--set", f"{node}.variant=shared") for node in ("scifi_hits", "forward_triplets")]
    if graph == "seeding.yaml":
        variations += [("--set", "xz_candidates.variant=shared"), ("--set", "seed_stereo.variant=shared")]
    if graph == "matching.yaml":
        variations += [("--set", "ut_matches.variant=shared")]
    if sample == MANY:
        variations = [v for v in variations if v[0] != "--guard"]
    for variation in variations:
        checks.that(digests(graph, sample, *arguments, *variation) == reference, f"{name} {sample.name} {' '.join(map(str, variation))}")

# budgets that are so low that slices are run again in parts
reference = digests("velo.yaml", MANY)
tight = run("velo.yaml", MANY, "--digest", "--slice-events", 100, "--set", "search.candidates_per_event=1", "--set",
            "tracks.hits_per_event=1")
checks.that(tight["retries"] > 0, f"tight budgets: {tight['retries']} slices run again in parts")
checks.that(tight["error_events"] == 0, "tight budgets: no event lost")
checks.that({o["port"]: o["digest"] for o in tight["outputs"]} == reference, "tight budgets: same digests")

# the order of events
reference = event_digests("velo.yaml", MANY)
checks.that(len(reference) == 900, f"300 events with three outputs have {len(reference)} digests")
lines = listed("velo.yaml")
checks.that([int(line.split()[3]) for line in lines] == [e for e in sorted({int(line.split()[3]) for line in lines}) for _ in range(3)],
            "--digest=events prints all outputs of an event together")
for way in (("--slice-events", 1), ("--slice-events", 100, "--slots", 2),
            ("--slice-events", 100, "--set", "search.candidates_per_event=1", "--set", "tracks.hits_per_event=1")):
    checks.that(listed("velo.yaml", *way) == lines, f"--digest=events prints equal lines with {' '.join(map(str, way))}")
all_records = list(mdf.records(MANY))
with tempfile.TemporaryDirectory() as folder:
    shuffled = Path(folder) / "shuffled.mdf"
    order = sorted(range(len(all_records)), key=lambda i: i * 7919 % 300)
    shuffled.write_bytes(b"".join(all_records[i] for i in order))
    checks.that(event_digests("velo.yaml", shuffled, "--slots", 2) == reference, "digests do not depend on the order of events")

checks.golden(Path(__file__).with_name("digests.txt"), found)
checks.end()
