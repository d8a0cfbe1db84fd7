#!/usr/bin/env python3
"""The benchmarks run over events that they simulate, and find the same tracks as a graph over simulated events.

The rates measured here mean nothing. bench/gpu_throughput.py is only compiled: its slices are too large for a CPU."""
import json
import os
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
checks.that(len(rows) == 1 and float(rows[0][3]) > 0, "the benchmark prints a rate of simulated events")
direct = run_simulated("velo.yaml", "-n", 1200, "--digest")["outputs"][0]["digest"]
checks.that(rows and rows[0][-1] == direct, f"tracks have the digest of the graph, {direct}")
done = subprocess.run([sys.executable, "-B", ROOT / "bench/source_threads.py", "--sluice", SLUICE, "--samples", "", "--threads", "1,2", "--rounds", "1",
                       "--events", "400"], capture_output=True, text=True)
checks.that(done.returncode == 0 and done.stdout.count("the same digest") == 1, f"bench/source_threads.py runs {done.stdout}{done.stderr}")
checks.that("there is no sample seven" in bench("--samples", "seven").stderr, "an unknown sample is reported")
errors = bench("--samples", "six", "--data", "/nonexistent").stderr
checks.that("/nonexistent/lhcb/minbias.mdf is absent" in errors, "an absent sample is reported")
done = subprocess.run([sys.executable, "-B", ROOT / "bench/muon_study.py", "-n", "20"], capture_output=True, text=True)
rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
checks.that(done.returncode == 0 and len(rows) == 8 and rows[2].startswith("| muons, J/psi |"), f"bench/muon_study.py prints its table {done.stderr}")
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([sys.executable, "-B", ROOT / "bench/selections_study.py", "run", "--samples", "minimum_bias,B0_Kpi", "--events", "40",
                           "--minimum-bias", "11", "--jobs", "2", "--work", folder, "--sluice", SLUICE], capture_output=True, text=True)
    checks.that(done.returncode == 0, f"bench/selections_study.py runs {done.stderr}")
    found = {name: json.loads((Path(folder) / f"{name}.json").read_text()) for name in ("minimum_bias", "B0_Kpi")}
    passed = found["minimum_bias"]["lines"]["any line"]["passed"]
    checks.that(found["minimum_bias"]["events"] == 11 and f"\n| any line | {passed} |" in done.stdout, f"{passed} of 11 events, run in two parts, pass")
    signal = found["B0_Kpi"]
    two = signal["lines"]["TwoTrackMVA"]["passed_by_signal"]
    checks.that(40 > signal["reconstructible"] >= signal["found"] >= two > 0,
                f"of 40 decays {signal['reconstructible']} are reconstructible, {signal['found']} found, {two} pass by the signal")
    checks.that("the graph has no line" not in done.stdout, "the graph has the lines for the signals")
    checks.that(py_compile.compile(ROOT / "bench/selection_plots.py", cfile=Path(folder) / "compiled"), "bench/selection_plots.py compiles")
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([sys.executable, "-B", ROOT / "bench/selections_study.py", "run", "--menu", "2026", "--samples",
                           "minimum_bias,minimum_bias_unscaled,Ks_pipi,Jpsi_mumu_gas", "--events", "16", "--minimum-bias", "6", "--work", folder,
                           "--sluice", SLUICE], capture_output=True, text=True)
    checks.that(done.returncode == 0, f"bench/selections_study.py runs with the lines of 2026 {done.stderr}")
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    passthrough = [row.split(" | ") for row in rows if row.startswith("| Passthrough |")]
    checks.that(passthrough and passthrough[0][1] == "0" and passthrough[0][4] == "6", f"a line with a scale passes all without it {passthrough}")
    checks.that(any(row.startswith("| Jpsi_mumu_gas |") for row in rows), "there is a signal in gas")
    checks.that("the graph has no line" not in done.stdout, "the graph has the lines of 2026 for the signals")
with tempfile.TemporaryDirectory() as folder:
    mdf, mep = Path(folder) / "events.mdf", Path(folder) / "events.mep"
    for arguments in (["-n", "30", "-o", mdf], ["-i", mdf, "-o", mep, "--use", "write=io.mep_sink"]):
        subprocess.run([SLUICE, "run", ROOT / "graphs/copy.yaml", "--quiet", *arguments], check=True)
    done = subprocess.run([os.environ["SLUICE_BENCH_FEED"], "-r", "1", "-w", "0.01", ROOT / "bench/feed.yaml", mdf, mep],
                          capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    checks.that(done.returncode == 0 and [row[0] for row in rows] == ["repeat", "events", "packets", "file"]
                and all(float(row[1]) > 0 for row in rows), f"bench/feed.c prints a rate for each way of feeding {done.stdout}{done.stderr}")
with tempfile.TemporaryDirectory() as folder:
    checks.that(py_compile.compile(ROOT / "bench/gpu_throughput.py", cfile=Path(folder) / "compiled"),
                "bench/gpu_throughput.py compiles")
checks.end()
