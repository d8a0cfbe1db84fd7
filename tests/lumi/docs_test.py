#!/usr/bin/env python3
"""The commands of docs/event-lists.md run, and print what the page says (but for rates and memory)."""
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from common import ROOT, SLUICE, Checks

checks = Checks()
page = (ROOT / "docs/event-lists.md").read_text()
with tempfile.TemporaryDirectory() as folder:
    os.symlink(ROOT / "graphs", Path(folder) / "graphs")
    for commands, shown in re.findall(r"^```sh\n(.*?)^```\n(?:```\n(.*?)^```$)?", page, re.MULTILINE | re.DOTALL):
        said = ""
        for command in commands.splitlines():
            words = shlex.split(command)
            done = subprocess.run([SLUICE, *words[1:]], cwd=folder, capture_output=True, text=True)
            said += done.stdout
            checks.that(words[0] == "sluice" and done.returncode == 0, f"{command}{done.stderr if done.returncode else ''}")
        for line in filter(None, shown.splitlines()):
            checks.that(line in said.splitlines(), f"prints: {line}" + ("" if line in said.splitlines() else f"\nbut:\n{said}"))
    files = {path.name for path in Path(folder).iterdir()}
    checks.that({"lumi.csv", "events.mdf", "colliding.csv"} <= files, f"files are written: {sorted(files)}")
checks.end()
