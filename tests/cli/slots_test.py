#!/usr/bin/env python3
"""Each graph of graphs/, with all output files, gives equal results in one slot and in several: slots_test.py SLUICE

The runs are small, so that they can also run under ThreadSanitizer."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from common import BRIEF, ROOT, Checks

EVENTS = 12 if BRIEF else 24
WRITE = {"copy", "geometry", "long_matches", "lumi", "lumi_banks", "electron_examples", "match_examples", "simulate", "spectrometer_picture", "velo_histograms", "velo_matches",
         "velo_picture", "velo_sample"}  # graphs that write the file or folder of -o
checks = Checks()
check = checks.that


def run(sluice, graph, folder, slots, *arguments):
    """Digests, and the bytes of the file or folder that a sink wrote."""
    output = folder / "out" / "output"
    output.parent.mkdir()
    to_file = ["-o", output] if graph.stem in WRITE else []
    command = [sluice, "run", graph, "-n", EVENTS, "--slots", slots, "--slice-events", 3, "--digest", *to_file,
               "--trace", folder / "trace.json", "--metrics", folder / "metrics.prom", "--json", folder / "summary.json"]
    done = subprocess.run([str(word) for word in [*command, *arguments]], capture_output=True, text=True)
    check(done.returncode == 0, f"{graph.name} in {slots} slots" + (f": {done.stderr}" if done.returncode else ""))
    digests = [line for line in done.stdout.splitlines() if line.startswith("output ")]
    content = b"".join(path.read_bytes() for path in sorted(output.parent.rglob("*")) if path.is_file())
    shutil.rmtree(output.parent)
    return digests, content


def main():
    sluice = sys.argv[1]
    written = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        events = folder / "events.mdf"
        subprocess.run([sluice, "run", ROOT / "graphs/simulate.yaml", "-n", str(EVENTS), "-o", events, "--quiet"], check=True)
        for graph in sorted((ROOT / "graphs").glob("*.yaml")):
            if graph.stem.startswith("hlt1_pp_") and (graph.stem.endswith("_validation") or BRIEF and graph.stem != "hlt1_pp_default"):
                continue  # repeats the checks of other graphs, or uses track finders that have their own graphs
            inputs = ["-i", events] if graph.stem == "copy" else []
            together = run(sluice, graph, folder, 4, *inputs)
            if not BRIEF:
                alone = run(sluice, graph, folder, 1, *inputs)
                check(alone == together, f"{graph.name}: {len(alone[0])} outputs and {len(alone[1])} bytes written are equal")
            written += len(together[1]) > 0
    check(written == len(WRITE), f"{written} graphs write a file")
    checks.end()


if __name__ == "__main__":
    main()
