#!/usr/bin/env python3
"""The constants and the closure report in the repository equal the output of the program byte for byte.

After an intended change, scripts/calibrate updates them.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks

checks = Checks()
program = sys.argv[1]
constants = ROOT / "plugins/calibration/include/calibration"

with tempfile.TemporaryDirectory() as folder:
    if not BRIEF:
        made = Path(folder) / "nominal.calibration"
        subprocess.run([program, "derive", made], check=True)
        checks.that(made.read_bytes() == (constants / "nominal.calibration").read_bytes(),
                    "nominal.calibration equals the output of scripts/calibrate")
    again = Path(folder) / "again.calibration"
    subprocess.run([program, "derive", again, "1500"], check=True)
    checks.that(again.read_bytes() != (constants / "nominal.calibration").read_bytes(), "fewer tracks give other constants")

if not BRIEF:
    closure = subprocess.run([program, "closure", constants / "nominal.calibration", constants / "lhcb.calibration"],
                             check=True, capture_output=True).stdout
    checks.that(closure == (ROOT / "plugins/calibration/closure.md").read_bytes(), "closure.md equals the output of scripts/calibrate")

for arguments in ([], ["derive"], ["derive", "/nowhere/file", "1500"], ["derive", "/dev/null", "12"],
                  ["closure", "/nowhere", "/nowhere"]):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    checks.that(done.returncode != 0 and done.stderr != "", f"refused: {arguments}")
checks.end()
