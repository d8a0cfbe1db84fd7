#!/usr/bin/env python3
"""Nodes of the trigger, each captured, replayed on both targets, and written as a unit test that is compiled and run:
replay_nodes_test.py SLUICE COMPILER. There are constants, list ports, a family, field references, event lists and raw data."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

checks = Checks()
library = Path(os.environ["SLUICE_COMMAND"]).resolve().parent
NODES = {
    "hlt1_pp_default.yaml": ["decide", "Hlt1TwoTrackMVA", "geometry", "clusters", "ut_search", "search", "forward_tracks", "muon_hits", "magnet", "calo_clusters", "gec", "Hlt1D2KPi"],
    "velo_histograms.yaml": ["vertex_z", "vertex_xy"],
}
if subprocess.run(["pkg-config", "--exists", "cmocka"], check=False).returncode:
    print("skipped: there is no cmocka")
    sys.exit(77)


def unit_test(compiler, name, folder):
    """The exit status of the unit test that is made from case.slc."""
    printed = call("replay", "case.slc", "--as-test", name, cwd=folder).stdout
    plugin = re.search(r"_test.c: (\w+)\.", printed)[1]
    subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/runtime/include", f"{name}_test.c", "-o", name,
                    f'-D{plugin.upper()}_PLUGIN="{library}/plugins/{plugin}.cpu.so"', f'-DCASE="{folder}/{name}.slc"',
                    f"-L{library}", "-lsluice", "-lcmocka", f"-Wl,-rpath,{library}"], cwd=folder, check=True)
    return subprocess.run([folder / name], cwd=folder, capture_output=True, check=False).returncode


for graph, nodes in NODES.items():
    for node in nodes[:4] if BRIEF else nodes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            call("capture", ROOT / "graphs" / graph, "--node", node, "--slice-events", 3, "-o", folder / "case.slc")
            said = call("replay", "case.slc", cwd=folder).stdout
            checks.that(said.endswith("on cpu: equal to the case\n"), f"{graph}, {node}: {said.strip()}")
            if ", 0 events" not in said and os.environ.get("SLUICE_SIMT") != "0":
                said = call("replay", "case.slc", "--device", "simt", cwd=folder).stdout
                checks.that(said.endswith("on simt: equal to the case\n"), f"{graph}, {node}: {said.strip()}")
            checks.that(unit_test(sys.argv[2], "made", folder) == 0, f"{graph}, {node}: its unit test passes")
checks.end()
