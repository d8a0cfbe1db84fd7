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
# The trigger of 2026 with each of its variants, on events with a decay to J/psi K and collisions with gas.
VARIANTS = ("variants/kalman_2026", "variants/superpixels", "variants/no_gas", "variants/velo_missing_modules", "thresholds/2026_1000kHz")
SIGNAL = ("-n", 60, "--set", "seed=10", "--set", "raw.signal=Bplus_JpsiK", "--set", "raw.gas_mu=0.5")
cases += [("hlt1_2026.yaml", (*SIGNAL, *part)) for part in ((), *(("--with", f"graphs/{name}.yaml") for name in VARIANTS))]
for graph, arguments in cases:
    name = f"{graph} {' '.join(map(str, arguments))}"
    arguments = [ROOT / argument if str(argument).endswith(".yaml") else argument for argument in arguments]
    reference = digests(graph, *arguments)
    if graph == "hlt1_2026.yaml":
        reference = {"sel_reports": reference["sel_reports"]}
    for port, digest in reference.items():
        found[f"{name} {port}"] = digest
    for variation in () if BRIEF else (("--slots", 3), ("--slice-events", 1), ("--slice-events", 64, "--slots", 2)):
        checks.that(digests(graph, *arguments, *variation).items() >= reference.items(), f"{name} {variation}")
checks.that(len(set(found.values())) == len(found), "all digests differ")

checks.golden(Path(__file__).with_name("digests.txt"), found)
checks.end()
