#!/usr/bin/env python3
"""Simulated waveforms and the results of the SiPM chain do not depend on slots, slices and targets, and have the digests of
digests.txt.

Builds with other options (-O0, another compiler) are compared with the same file. To accept an intended change:
digests_test.py --accept
"""
import json
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

checks = Checks()
found = {}
EVERYTHING = ("--set", "raw.energy=lines", "--set", "raw.parallel=0.5", "--set", "raw.pile_up=3", "--set", "raw.samples=1001",
              "--set", "raw.pulse_begin_min=100.5", "--set", "raw.pulse_begin_max=900", "--set", "raw.seed=18446744073709551615")


def digests(graph, *arguments):
    done = call("run", ROOT / "graphs/waveforms" / graph, "-n", 40, "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"]}


has_simt = "simt" in call("--version").stdout
simt = [("--device", "simt", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}") for seed in (1, 2) for warp in (32, 64)]
for name, graph, arguments in (("a line", "simulate.yaml", ()), ("all parts", "simulate.yaml", EVERYTHING),
                               ("uniform energies", "simulate.yaml", ("--set", "raw.energy=uniform")), ("sipm", "sipm.yaml", ())):
    reference = digests(graph, *arguments)
    for port, digest in reference.items():
        found[f"{name} {port}"] = digest
    variations = [("--slots", 3), ("--slice-events", 1), ("--slice-events", 7, "--slots", 2), ("--guard",)]
    variations += simt if has_simt and graph == "sipm.yaml" else []
    for variation in variations[2:3] if BRIEF else variations:
        checks.that(digests(graph, *arguments, *variation) == reference, f"{name}: {' '.join(map(str, variation))}")
checks.that(len(set(found.values())) == len(found), "all digests differ")

# Wrong properties are refused by name.
for settings, text in ((("raw.rise_max_ns=50",), "rise_min_ns: it is 80, more than rise_max_ns, 50"),
                       (("raw.pulse_begin_min=2961",), "pulse_begin_min: it is 2961, more than pulse_begin_max, 2960"),
                       (("raw.energy_min=3000",), "energy_min: it is 3000, more than energy_max, 2700"),
                       (("raw.samples=2960",), "pulse_begin_max: it is 2960, expected less than the 2960 samples"),
                       (("raw.rise_max_ns=439368",), "rise_max_ns: it is 439368, expected less than decay_ns, 439368"),
                       (("raw.energy=lines", "raw.intensities=[0,0,0,0,0,0]"), "intensities: all are 0")):
    options = [option for setting in settings for option in ("--set", setting)]
    done = call("check", ROOT / "graphs/waveforms/simulate.yaml", *options, expect=2)
    checks.that(text in done.stderr, f"refused: {text}")

checks.golden(Path(__file__).with_name("digests.txt"), found)
checks.end()
