#!/usr/bin/env python3
"""scripts/train_matching: equal pairs give equal networks; seeding.match accepts the network; trained on a few events it gives
fewer ghosts than chi2."""
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, SLUICE, Checks, category, run_simulated

if subprocess.run(["/usr/bin/python3", "-c", "import numpy"], capture_output=True).returncode != 0:
    print("skipped: numpy is absent; install Debian's python3-numpy")
    sys.exit(77)

checks = Checks()
with tempfile.TemporaryDirectory() as folder:
    few = subprocess.run([ROOT / "scripts/train_matching", "-n", "1", "--figures", "0", "--sluice", SLUICE, "--work", folder, "-o",
                          Path(folder) / "few.network"], capture_output=True, text=True)
    checks.that(few.returncode == 1 and "too few to train with" in few.stderr, f"one event is not enough: {few.stdout}{few.stderr}".strip())
    checks.that(not (Path(folder) / "few.network").exists(), "no network is written for one event")
with tempfile.TemporaryDirectory() as folder:
    files = [Path(folder) / name for name in ("first.network", "second.network")]
    for file in files:
        done = subprocess.run([ROOT / "scripts/train_matching", "-n", "100", "--figures", "0", "--sluice", SLUICE, "--work", folder, "-o", file],
                              capture_output=True, text=True)
        checks.that(done.returncode == 0, f"{done.stdout}{done.stderr}".strip())
    checks.that(files[0].read_bytes() == files[1].read_bytes(), "two trainings give equal networks")
    found = {name: run_simulated("matching_no_ut.yaml", "-n", 100, "--set", f"matching_constants.network={name}", *cut)["results"]["long_check"]
             for name, cut in (("none", ()), (files[0], ("--set", "matches.max_ghost=0.9")))}
by_chi2, by_network = found["none"], found[files[0]]
long_by_chi2, long_by_network = (category(result, "long")["reconstructed"] for result in (by_chi2, by_network))
checks.that(by_network["ghosts"] < 0.8 * by_chi2["ghosts"], f"ghosts: {by_network['ghosts']} with this network, {by_chi2['ghosts']} by chi2")
checks.that(long_by_network > 0.98 * long_by_chi2, f"long tracks: {long_by_network} with this network, {long_by_chi2} by chi2")
checks.end()
