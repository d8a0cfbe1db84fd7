#!/usr/bin/env python3
"""Events that are written to a file and read back have the digests of the sample: MDF, compressed MDF, MEP, and conversions
between them; with several slots, and after an interrupted run."""
import json
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from common import MANY, ROOT, SIX, SLUICE, Checks, call, need_data, run

need_data()
checks = Checks()
COPY = ROOT / "graphs/copy.yaml"
MEP_SOURCE = ("--use", "raw=io.mep_source")
MEP_SINK = ("--use", "write=io.mep_sink")


def digests(graph, sample, *arguments):
    return {o["port"]: o["digest"] for o in run(graph, sample, "--digest", *arguments)["outputs"]}


def copy(sample, to, *arguments):
    done = call("run", COPY, "-i", sample, "-o", to, *arguments)
    checks.that(not Path(f"{to}.part").exists(), f"{to.name}: {to.name}.part does not remain")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    mdf, mep, back = (Path(folder) / name for name in ("copy.mdf", "copy.mep", "back.mdf"))
    for graph, sample in (("velo.yaml", SIX), ("velo_superpixels.yaml", SIX), ("velo.yaml", MANY)):
        reference = digests(graph, sample)
        text = f"{graph} {sample.name}"
        table = copy(sample, mdf, "--slots", 3)
        checks.that(f"bytes, to {mdf}" in table, f"{text}: the table reports the written file")
        checks.that(digests(graph, mdf) == reference, f"{text}: MDF")
        for codec in ("zstd", "lz4", "zlib"):
            copy(sample, mdf, "--set", f"write.codec={codec}", "--set", "write.compression=1")
            checks.that(digests(graph, mdf) == reference, f"{text}: {codec}")
        for events in (1, 4, 1000):
            copy(sample, mep, *MEP_SINK, "--set", f"write.events={events}", "--slots", 2)
            for slice_events in (3, 100):
                checks.that(digests(graph, mep, *MEP_SOURCE, "--slice-events", slice_events, "--slots", 2) == reference,
                            f"{text}: packets of {events} in slices of {slice_events}")
        copy(mep, back, *MEP_SOURCE)
        checks.that(digests(graph, back) == reference, f"{text}: MEP back to MDF")
    for sample in (SIX, MANY):
        checks.that(copy(sample, back, "--slots", 2) and back.read_bytes() == sample.read_bytes(), f"{sample.name}: a copy has identical bytes")
        copy(sample, mep, *MEP_SINK)
        copy(mep, back)
        checks.that(back.read_bytes() == sample.read_bytes(), f"{sample.name}: a copy by way of packets has identical bytes")

    # An interrupted run finishes its file after the slices in flight, but does not rename it from .part.
    process = subprocess.Popen([SLUICE, "run", COPY, "-i", MANY, "-o", back, "--set", "raw.passes=1000000", "--quiet"])
    part = Path(f"{back}.part")
    while process.poll() is None and not (part.exists() and part.stat().st_size > 0):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    checks.that(process.wait(60) == 130, "an interrupted run has the exit status 130")
    checks.that(back.read_bytes() == MANY.read_bytes(), "the previous file is unchanged")
    events = json.loads(call("run", COPY, "-i", part, "-o", Path(folder) / "again.mdf", "--json", "-", "--quiet").stdout)
    checks.that(events["events"] > 0 and events["error_events"] == 0, "the .part file has complete events")
checks.end()
