#!/usr/bin/env python3
"""Errors are reported with their location and the right exit status: 2 for the command line and the graph, 1 for the run."""
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from common import GEOMETRY, MANY, ROOT, SIX, SLUICE, Checks, call, need_data

need_data()
checks = Checks()
velo = ROOT / "graphs/velo.yaml"
geometry = ("--set", f"geometry={GEOMETRY}")


def says(text, status, *arguments):
    done = call(*arguments, expect=status)
    checks.that(text in done.stderr, f"sluice {' '.join(map(str, arguments))[:90]}: '{text}'" + ("" if text in done.stderr else f" is not in:\n{done.stderr}"))


says("Usage: sluice", 2)
says("there is no command 'fly'", 2, "fly")
says("needs a graph", 2, "run")
says("has no option '--speed'", 2, "run", velo, "--speed")
says("--slots needs a number", 2, "run", velo, "--slots", "many")
says("no_such_graph.yaml", 2, "run", "no_such_graph.yaml")
says("there is no '='", 2, "run", velo, "--set", "geometry")
says("there is no device 'abacus'", 2, "run", velo, "--device", "abacus")
says("velo.decode_retina", 2, "run", velo, "--use", "clusters=velo.decode_retinal")
says("max_scatter", 2, "run", velo, "--set", "search.max_scater=1")
says("/nowhere", 2, "run", velo, "-i", SIX, "--set", "geometry=/nowhere")
says("no.mdf", 1, "run", velo, "-i", "no.mdf", *geometry)
says("--follow takes the files of a folder", 2, "run", velo, "-i", "/tmp", *geometry)
says("did you mean", 2, "describe", "velo.decode_retine")
checks.that("velo.search_by_triplet" in call("list", "velo").stdout, "list shows velo.search_by_triplet")
checks.that("phi_tolerance" in call("describe", "velo.search_by_triplet").stdout, "describe shows a property")
checks.that("PER_ITEM" in call("describe", "velo_hits").stdout, "describe shows a collection")
checks.that("clusters.hits" in call("check", velo, *geometry).stdout, "check shows the wiring")
checks.that("ratio 1.0000" in call("plan", velo, *geometry).stdout, "plan shows the ratio")

with tempfile.TemporaryDirectory() as folder:
    cut = Path(folder) / "cut.mdf"
    cut.write_bytes(SIX.read_bytes()[:700000])
    done = call("run", velo, "-i", cut, *geometry)
    checks.that("cut.mdf" in done.stderr and "1 with an error" in done.stdout, "a truncated file: complete events are delivered, the truncated one is counted")
    damaged = bytearray(SIX.read_bytes())
    damaged[5000] ^= 1
    cut.write_bytes(damaged)
    done = call("run", velo, "-i", cut, *geometry)
    checks.that("checksum" in done.stderr and "events       6, 1 with an error" in done.stdout, "a damaged event is counted and reported")
    done = call("run", velo, "-i", cut, *geometry, "--set", "raw.strict=true", expect=1)
    checks.that("strict" in done.stderr, "with strict a damaged event is fatal")

for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
    process = subprocess.Popen([SLUICE, "run", str(velo), "-i", str(MANY), *geometry, "--set", "raw.passes=100000", "--slots", "2"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(1.0)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    checks.that(process.returncode == status and "events" in out, f"signal {number}: status {process.returncode}, and the table is printed")
checks.end()
