#!/usr/bin/env python3
"""Plugins compiled for AVX-512 are used on processors with AVX-512 only, and give identical bits.

A processor without AVX-512 is emulated (qemu-user).
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

from common import ROOT, SLUICE, Checks, run_simulated

LEVEL = "x86-64-v4"
NEEDED = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
has_level = any(line.startswith("flags") and NEEDED <= set(line.split())
                for line in Path("/proc/cpuinfo").read_text().splitlines())
plugins = Path(SLUICE).resolve().parent / "plugins"
made = {path.name for path in (plugins / LEVEL).glob("*.so")}
checks = Checks()


def of_level(summary):
    """Names of the plugins loaded from the folder of the level, and of plugins of this folder that were loaded from
    elsewhere."""
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
    checks.that(of_level(named) == (set(), taken), f"{graph}: a folder given with --plugin-path is used as it is")
    checks.that(digests(named) == digests(found), f"{graph}: identical bits from both folders")

def without_level(*arguments):
    """The command on a processor with AVX2 and no AVX-512."""
    return subprocess.run([EMULATOR, "-cpu", "Haswell", SLUICE, *map(str, arguments)], capture_output=True, text=True)


EMULATOR = shutil.which("qemu-x86_64")
if EMULATOR:
    few = ROOT / "graphs/velo_pv.yaml", "-n", 4, "--digest", "--quiet", "--json", "-"
    found = json.loads(without_level("run", *few).stdout)
    checks.that(of_level(found)[0] == set(), "a processor without AVX-512 loads no plugin that needs it")
    checks.that(digests(found) == digests(run_simulated("velo_pv.yaml", "-n", 4, "--digest")), "a processor without AVX-512 gives identical results")
    listed = without_level("list", "--plugin-path", plugins / LEVEL).stdout
    refused = f"refused: {plugins / LEVEL}/velo.cpu.so"
    checks.that(refused in listed and "CPU ISA level is lower than required" in listed, "plugins for AVX-512 given with --plugin-path are refused")
else:
    print("not checked: a processor without AVX-512; qemu-x86_64 is missing (Debian: qemu-user)")
if not has_level and not checks.failed:
    print(f"skipped: the processor has no AVX-512, so that plugins for {LEVEL} cannot run")
    sys.exit(77)
checks.end()
