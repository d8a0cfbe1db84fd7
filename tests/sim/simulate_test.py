#!/usr/bin/env python3
"""A file written by graphs/simulate.yaml gives the digests of the simulation when it is read back; progress is shown on a
terminal only."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
from pathlib import Path

from common import BRIEF, ROOT, SLUICE, Checks, call

checks = Checks()
GRAPHS = ROOT / "graphs"


def digests(graph, *arguments):
    done = call("run", GRAPHS / graph, "--digest", "--json", "-", "--quiet", *arguments)
    return {o["port"]: o["digest"] for o in json.loads(done.stdout)["outputs"]}


def on_terminal(*arguments, columns=100):
    """Exit status and what a run writes to a terminal of that width, standard error only."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([SLUICE, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=child)
    os.close(child)
    text = b""
    try:
        while chunk := os.read(parent, 4096):
            text += chunk
    except OSError:  # the other end is closed
        pass
    os.close(parent)
    return process.wait(), text.decode()


with tempfile.TemporaryDirectory() as folder:
    simulate = GRAPHS / "simulate.yaml"
    for seed, sink, name in ((1, "io.mdf_sink", "events.mdf"), (5, "io.mep_sink", "events.mep")):
        path = Path(folder) / name
        said = call("run", simulate, "-n", 50, "--set", f"seed={seed}", "-o", path, "--use", f"write={sink}")
        checks.that(f"wrote 50 events, {path.stat().st_size} bytes, to {path}" in said.stdout, f"{name}: the table has the events and bytes written")
        checks.that(said.stderr == "", f"{name}: nothing is written to standard error if it is not a terminal")
        for graph in ("velo.yaml", "velo_superpixels.yaml"):
            direct = digests(graph, "-n", 50, "--set", f"seed={seed}")
            checks.that(digests(graph, "-i", path) == direct, f"{name}: {graph} gives the digests of the simulation")
    checks.that(digests("velo.yaml", "-n", 50, "--set", "seed=2") != digests("velo.yaml", "-n", 50), "another seed gives other digests")
    without = call("run", simulate, "-n", 1, expect=2)
    checks.that("no output file is given: use -o" in without.stderr, "without -o, the missing option is reported")

    # Long enough for several lines: one every 0.2 s.
    short_run = ("run", simulate, "-n", 100, "-o", Path(folder) / "short.mdf")
    long_events = 300 if BRIEF else 1500
    long_run = ("run", simulate, "-n", long_events, "-o", Path(folder) / "long.mdf")
    status, text = on_terminal(*long_run)
    lines = [line for line in text.replace("\x1b[K", "").split("\r") if line]
    pattern = re.compile(r"\[(#*)(-*)\] +(\d+) %  (\d+) events, \d+/s, \d+:\d\d left")
    found = [pattern.fullmatch(line) for line in lines]
    checks.that(status == 0 and len(lines) >= 2 and all(found), f"{len(lines)} lines of progress, of one form: {lines[:2]}")
    events = [int(m.group(4)) for m in found if m]
    checks.that(events == sorted(events) and 0 < events[-1] <= long_events, "the number of events never decreases")
    bars = {len(m.group(1) + m.group(2)) for m in found if m}
    checks.that(bars == {40}, f"the bar has 40 columns: {bars}")
    fitting = [m for m in found if m and abs(int(m.group(3)) - 100 * int(m.group(4)) / long_events) <= 1]
    checks.that(len(fitting) == len(lines), "the share is that of the events")
    checks.that(text.endswith("\r\x1b[K"), "the bar is removed at the end")
    status, text = on_terminal(*short_run, columns=40)
    checks.that(status == 0 and text and "#" not in text and all(len(x) < 40 for x in text.replace("\x1b[K", "").split("\r")),
                "a narrow terminal shows the text only")
    status, text = on_terminal(*short_run, "--quiet")
    checks.that((status, text) == (0, ""), "--quiet shows nothing")
checks.end()
