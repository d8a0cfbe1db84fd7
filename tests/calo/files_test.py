#!/usr/bin/env python3
"""The written geometry of the calorimeter is read back to the same bits, in both formats."""
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, Checks, call

checks = Checks()
WRITE = ROOT / "graphs/geometry.yaml"
SIZES = {3: 194788, 4: 194788 + 2 * 4 * (1 + 750)}


def write(folder, geometry="", *arguments):
    call("run", WRITE, "-o", folder, "--set", f"calo.path={geometry}", "--quiet", *arguments)
    return (folder / "ecal_geometry.bin").read_bytes()


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    nominal = {3: write(folder / "3"), 4: write(folder / "4", "", "--set", "write_calo.format=4")}
    for version, data in nominal.items():
        checks.that(len(data) == SIZES[version] and data[0] == version, f"format {version} has the size of the format")
        checks.that(write(folder / "again", folder / str(version)) == data,
                    f"format {version}, written, read and written again, is the same")
    checks.that(nominal[3][4:] == nominal[4][4:SIZES[3]], "the formats differ in their ends alone")
    checks.that(write(folder / "3 of 4", folder / "4", "--set", "write_calo.format=3") == nominal[3],
                "format 3 is made of a file of format 4")
    done = call("run", WRITE, "-o", folder / "none", "--set", f"calo.path={folder / '3'}", "--set", "write_calo.format=4", "--quiet", expect=1)
    checks.that("needs the sources of banks of type 77" in done.stderr, "format 4 is not made of a file of format 3")
    done = call("run", WRITE, "-o", folder / "none", "--set", "write_calo.format=2", "--quiet", expect=2)
    checks.that("format: 2, expected 0, 3 or 4" in done.stderr, "there is no format 2")
    if GEOMETRY.exists():
        sample = (GEOMETRY / "ecal_geometry.bin").read_bytes()
        checks.that(write(folder / "sample", GEOMETRY) == sample, "the sample's file, read and written, is the same bytes")
        checks.that(nominal[3] == sample, "and the nominal detector, which follows from rules, is the same bytes")
    else:
        print(f"skipped: {GEOMETRY} is absent")
checks.end()
