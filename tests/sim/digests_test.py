#!/usr/bin/env python3
"""Simulated events do not depend on slots and slices, and have the digests of digests.txt for each seed.

Builds with other options (-O0, another compiler) are compared with the same file. To accept an intended change:
digests_test.py --accept
"""
import json
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

checks = Checks()
found = {}


def digests(graph, *arguments):
    done = call("run", ROOT / "graphs" / graph, "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"]}


cases = [("velo.yaml", ("-n", 60, "--set", "seed=1")), ("velo.yaml", ("-n", 60, "--set", "seed=18446744073709551615")),
         ("velo_superpixels.yaml", ("-n", 60, "--set", "seed=1")), ("forward.yaml", ("-n", 30, "--set", "seed=1")),
         ("forward_no_ut.yaml", ("-n", 30, "--set", "seed=2")), ("seeding.yaml", ("-n", 30, "--set", "seed=3")),
         ("calo.yaml", ("-n", 30, "--set", "seed=4")),
         ("calo_clusters.yaml", ("-n", 60, "--set", "seed=5", "--set", "raw.calo_version=4")),
         ("matching.yaml", ("-n", 30, "--set", "seed=4")), ("matching_no_ut.yaml", ("-n", 30, "--set", "seed=5")),
         ("forward_then_matching.yaml", ("-n", 30, "--set", "seed=6")), ("particles.yaml", ("-n", 30, "--set", "seed=7")),
         ("secondary_vertices.yaml", ("-n", 30, "--set", "seed=8")), ("selections.yaml", ("-n", 30, "--set", "seed=9")),
         ("velo.yaml", ("-n", 40, "--set", "raw.signal=Bs_phiphi", "--set", "raw.cluster_version=4"))]
for graph, arguments in cases:
    reference = digests(graph, *arguments)
    for port, digest in reference.items():
        found[f"{graph} {' '.join(map(str, arguments))} {port}"] = digest
    for variation in () if BRIEF else (("--slots", 3), ("--slice-events", 1), ("--slice-events", 64, "--slots", 2)):
        checks.that(digests(graph, *arguments, *variation) == reference, f"{graph} {arguments} {variation}")
checks.that(len(set(found.values())) == len(found), "all digests differ")

checks.golden(Path(__file__).with_name("digests.txt"), found)
checks.end()
