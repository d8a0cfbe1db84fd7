#!/usr/bin/env python3
"""The GPU emulator gives the digests of the CPU: six sample events and thirty of the 300, three seeds, both warp sizes."""
from common import BRIEF, MANY, ROOT, SIX, Checks, call, need_data, run

need_data()
checks = Checks()


def digests(graph, sample, *arguments):
    return [o["digest"] for o in run(graph, sample, "--digest", *arguments)["outputs"]]


if "simt" not in call("--version").stdout:
    print("skipped: this build has no emulator")
    raise SystemExit(77)
ANNEALING = ("--use", "pv=pv.annealing")
cases = [("calo.yaml", SIX, 2, ()), ("calo_clusters.yaml", SIX, 6, ()), ("velo.yaml", SIX, 6, ()), ("velo_superpixels.yaml", SIX, 6, ()), ("velo.yaml", MANY, 30, ()), ("pv.yaml", SIX, 6, ()),
         ("pv.yaml", MANY, 30, ()), ("pv.yaml", SIX, 6, ANNEALING), ("pv.yaml", MANY, 30, ANNEALING), ("forward.yaml", SIX, 2, ()),
         ("forward_no_ut.yaml", SIX, 2, ()), ("matching_no_ut.yaml", SIX, 2, ()), ("matching.yaml", SIX, 2, ()), ("forward_then_matching.yaml", SIX, 2, ()),
         ("selections.yaml", SIX, 2, ()), ("hlt1_pp_default.yaml", SIX, 2, ()), ("kalman.yaml", SIX, 2, ()), ("kalman_residuals.yaml", SIX, 2, ()),
         ("hlt1_pp_default.yaml", SIX, 2, ("--with", ROOT / "graphs/variants/kalman_forward.yaml"))]
for graph, sample, events, arguments in cases:
    expected = digests(graph, sample, "-n", events, *arguments)
    for seed in (1,) if BRIEF else (1, 2, 3):
        for warp in (32, 64):
            found = digests(graph, sample, "-n", events, *arguments, "--device", "simt", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}",
                            "--slots", 2, "--slice-events", 5)
            checks.that(found == expected, f"{' '.join(map(str, (graph, *arguments)))} {sample.name}, {events} events: seed {seed}, warps of {warp}")
message = call("run", ROOT / "graphs/velo.yaml", "--device", "simt", "--set", "simt.warp=48", expect=2).stderr
checks.that("simt.warp=48" in message, "a warp of 48 is refused")
checks.end()
