#!/usr/bin/env python3
"""The results of the chain for germanium detectors do not depend on slots, slices and targets, and have the digests of
icpc_digests.txt; filters that are computed from sums find the same as sums of all products; wrong properties are refused where
the graph sets them. To accept an intended change: icpc_test.py --accept
"""
import json
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

checks = Checks()
GRAPHS = ROOT / "graphs/waveforms"


def digests(graph, *arguments):
    done = call("run", GRAPHS / graph, "-n", 12, "--set", "raw.energy=lines", "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"]}


found = digests("icpc.yaml")
variations = [("--slice-events", 7, "--slots", 2), ("--slots", 3), ("--slice-events", 1), ("--guard",)]
if "simt" in call("--version").stdout:
    variations += [("--device", "simt", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}") for seed in (1, 2) for warp in (32, 64)]
for variation in variations[:1] if BRIEF else variations:
    checks.that(digests("icpc.yaml", *variation) == found, " ".join(map(str, variation)))
convolved = digests("icpc_convolutions.yaml")
checks.that({port for port in found if found[port] != convolved[port]} <= {"cusp_max", "cusp_pick", "zac_max", "zac_pick"},
            "time points, and all values but those of the last bit of the cusp filters, are those of all products")

with tempfile.TemporaryDirectory() as folder:
    graph = Path(folder) / "wrong.yaml"
    for node, text in (("samples: { in: { traces: null } }", "one of the inputs `traces` and `series` is expected; none is connected"),
                       ("tp_99: { in: { fits: baseline } }", "the inputs `values` and `fits` are both connected"),
                       ("trap_max: { set: { rise: 5000 } }", "5:28: error: node trap_max: rise: rise, flat and fall have 10188 samples"),
                       ("tail: { set: { begin: 9000 } }", "5:25: error: node tail: begin: the window begins at sample 9000; a waveform has 8192"),
                       ("baseline: { set: { length: 9000 } }", "5:30: error: node baseline: length: the window ends at sample 9000"),
                       ("smooth: { set: { passes: left rigt } }", "5:33: error: node smooth: passes: `left` or `right` is expected"),
                       ("cusp: { set: { skip: 8000 } }", "node cusp: length: the kernel has -108 taps")):
        graph.write_text(f"sluice: 1\ninclude: [{GRAPHS}/icpc.yaml]\n# \nnodes:\n  {node}\n")
        done = call("check", graph, expect=2)
        checks.that(text in done.stderr and done.stderr.count("error:") == 1, f"refused: {text}: {done.stderr}")

checks.golden(Path(__file__).with_name("icpc_digests.txt"), found)
checks.end()
