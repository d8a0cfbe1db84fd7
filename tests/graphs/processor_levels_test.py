#!/usr/bin/env python3
"""Plugins compiled for AVX-512 are taken by processors that have it, and by no others; they give the same bits."""
import sys
from pathlib import Path

from common import SLUICE, Checks, run_simulated

LEVEL = "x86-64-v4"
NEEDED = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
has_level = any(line.startswith("flags") and NEEDED <= set(line.split())
                for line in Path("/proc/cpuinfo").read_text().splitlines())
plugins = Path(SLUICE).resolve().parent / "plugins"
made = {path.name for path in (plugins / LEVEL).glob("*.so")}
checks = Checks()


def of_level(summary):
    """Names of the files of the level that a run took, and of those of theirs that it took from elsewhere."""
    paths = [Path(plugin["path"]) for plugin in summary["plugins"]]
    return ({path.name for path in paths if path.parent.name == LEVEL},
            {path.name for path in paths if path.parent.name != LEVEL and path.name in made})


def digests(summary):
    return {o["port"]: o["digest"] for o in summary["outputs"]}


checks.that("velo.cpu.so" in made, f"{len(made)} plugins are made for {LEVEL}")
for graph, events in (("hlt1_pp_default.yaml", 96), ("hlt1_pp_matching.yaml", 96), ("velo_pv.yaml", 200)):
    found = run_simulated(graph, "-n", events, "--digest")
    taken, others = of_level(found)
    checks.that(others == set() if has_level else taken == set(),
                f"{graph}: {len(taken)} of {len(taken) + len(others)} plugins for {LEVEL}")
    if not has_level:
        continue
    named = run_simulated(graph, "-n", events, "--digest", "--plugin-path", plugins)
    checks.that(of_level(named) == (set(), taken), f"{graph}: a folder that is named is taken as it is")
    checks.that(digests(named) == digests(found), f"{graph}: the same bits from both")
if not has_level and not checks.failed:
    print(f"skipped: the processor has no AVX-512, so that plugins for {LEVEL} cannot run")
    sys.exit(77)
checks.end()
