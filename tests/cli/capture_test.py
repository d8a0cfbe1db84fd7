#!/usr/bin/env python3
"""The transcript of docs/capture.md: capture_test.py SLUICE BUILD. A comparison in a kernel is changed; the documented commands
find the event, capture the node, reduce the case and make a unit test that fails with the changed kernel only. They run with an
installation of the build."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import transcript
from common import ROOT, Checks

checks = Checks()
build = Path(sys.argv[2])
for program in ("cmake", "ninja"):
    if not shutil.which(program):
        print(f"skipped: there is no {program}")
        sys.exit(77)
page = (ROOT / "docs/capture.md").read_text()
blocks = re.findall(r"^```console installed\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
checks.that(len(blocks) >= 5, "docs/capture.md has the transcript")
with tempfile.TemporaryDirectory() as scratch:
    prefix, folder = Path(scratch) / "installed", Path(scratch) / "work"
    folder.mkdir()
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    os.environ["CMAKE_PREFIX_PATH"] = str(prefix)
    steps = [step for block in blocks for step in transcript.read(block)]
    for step, printed in transcript.wrong(steps, folder, prefix / "bin/sluice"):
        checks.that(False, f"`{step.command}` prints what the page shows, not:\n" + "\n".join(printed))
    test = folder / "mine/long_pulse_test.c"
    checks.that(test.is_file() and test.read_text().count("input_numbers_value[] = {0x1.") == 1, "the unit test has one number")
checks.end()
