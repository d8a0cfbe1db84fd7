#!/usr/bin/env python3
"""The benchmarks run over events that they simulate, and find the tracks in them that a graph over the simulation finds.

What they measure here says nothing. bench/gpu_throughput.py is only compiled: its slices are too large for a CPU."""
import py_compile
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, SLUICE, Checks, run_simulated

checks = Checks()


def bench(*arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "bench/throughput.py", "--sluice", SLUICE, *arguments],
                          capture_output=True, text=True)


done = bench("--stretches", "1", "--seconds", "0.05", "--slots", "1")
checks.that(done.returncode == 0, f"bench/throughput.py runs {done.stderr}")
rows = [line.split() for line in done.stdout.splitlines() if line.startswith("simulated ")]
checks.that(len(rows) == 1 and float(rows[0][3]) > 0, "it prints a rate of simulated events")
direct = run_simulated("velo.yaml", "-n", 1200, "--digest")["outputs"][0]["digest"]
checks.that(rows and rows[0][-1] == direct, f"its tracks have the digest of the simulation's, {direct}")
checks.that("there is no sample seven" in bench("--samples", "seven").stderr, "an unknown sample is said")
said = bench("--samples", "six", "--data", "/nonexistent").stderr
checks.that("/nonexistent/lhcb/minbias.mdf is absent" in said, "and one that is not there")
done = subprocess.run([sys.executable, "-B", ROOT / "bench/muon_study.py", "-n", "20"], capture_output=True, text=True)
rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
checks.that(done.returncode == 0 and len(rows) == 8 and rows[2].startswith("| muons, J/psi |"), f"bench/muon_study.py prints its table {done.stderr}")
with tempfile.TemporaryDirectory() as folder:
    checks.that(py_compile.compile(ROOT / "bench/gpu_throughput.py", cfile=Path(folder) / "compiled"),
                "bench/gpu_throughput.py compiles")
checks.end()
