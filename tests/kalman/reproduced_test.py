#!/usr/bin/env python3
"""nominal.kalman and closure.md in the repository equal the output of the program byte for byte.

After an intended change, `scripts/calibrate kalman` updates them.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks

checks = Checks()
program = sys.argv[1]
constants = ROOT / "plugins/kalman/include/kalman/nominal.kalman"

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    if not BRIEF:
        closure = subprocess.run([program, "kalman", folder / "nominal.kalman"], check=True, capture_output=True).stdout
        checks.that((folder / "nominal.kalman").read_bytes() == constants.read_bytes(),
                    "nominal.kalman equals the output of scripts/calibrate")
        checks.that(closure == (ROOT / "plugins/kalman/closure.md").read_bytes(), "closure.md equals the output of scripts/calibrate")
    for again in ("one", "two"):
        subprocess.run([program, "kalman", folder / again, "2000"], check=True, capture_output=True)
    checks.that((folder / "one").read_bytes() == (folder / "two").read_bytes(), "the same tracks give the same bytes")
    checks.that((folder / "one").read_bytes() != constants.read_bytes(), "fewer tracks give other constants")

    # A map with a uniform field: tracks bend as circles.
    points = "field 0 -0.5 0\n" * (6 * 6 * 6)
    uniform = folder / "uniform.map"
    uniform.write_text(f"field_map 1\naxis x -4000 4000 6\naxis y -3000 3000 6\naxis z 0 10000 6\nsymmetry none\n{points}")
    subprocess.run([program, "kalman", folder / "uniform", "2000", "--field", uniform], check=True, capture_output=True)
    first = (folder / "uniform").read_text().splitlines()
    term = next(line for line in first if line.startswith("term ") and line.endswith(" 0 0 0 0 1"))
    shift = 0.5 * 0.299792458 / 2500 * 0.5 * (2327.5 - 770) ** 2  # mm at phi = 1, for small slopes
    checks.that(abs(float(term.split()[1]) / shift - 1) < 0.01, "a uniform field bends tracks as expected")

    wrong = folder / "wrong.map"
    wrong.write_text(uniform.read_text().replace("axis y", "axis u"))
    done = subprocess.run([program, "kalman", folder / "none", "2000", "--field", wrong], capture_output=True, text=True)
    checks.that(done.returncode != 0 and f'{wrong}:3: axis is "u", expected x, y or z' in done.stderr, "a wrong map is refused")
    checks.that(not (folder / "none").exists(), "a wrong map gives no constants")

for arguments in ([], ["/dev/null", "12"], ["/nowhere/file", "1500"], ["/dev/null", "1500", "--field"],
                  ["/dev/null", "1500", "--field", "/nowhere/map"], ["/dev/null", "1500", "1500"]):
    done = subprocess.run([program, "kalman", *arguments], capture_output=True, text=True)
    checks.that(done.returncode != 0 and done.stderr != "", f"refused: {arguments}")
checks.end()
