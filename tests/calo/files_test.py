#!/usr/bin/env python3
"""The geometry of the calorimeter, written and read back, has equal bits in both formats."""
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
                    f"format {version}, read back and written again, is equal")
    checks.that(nominal[3][4:] == nominal[4][4:SIZES[3]], "the formats differ only at the end")
    checks.that(write(folder / "3 of 4", folder / "4", "--set", "write_calo.format=3") == nominal[3],
                "format 3 can be made from a file of format 4")
    done = call("run", WRITE, "-o", folder / "none", "--set", f"calo.path={folder / '3'}", "--set", "write_calo.format=4", "--quiet", expect=1)
    checks.that("needs the sources of banks of type 77" in done.stderr, "format 4 cannot be made from a file of format 3")
    done = call("run", WRITE, "-o", folder / "none", "--set", "write_calo.format=2", "--quiet", expect=2)
    checks.that("format: 2, expected 0, 3 or 4" in done.stderr, "there is no format 2")
    if GEOMETRY.exists():
        sample = (GEOMETRY / "ecal_geometry.bin").read_bytes()
        checks.that(write(folder / "sample", GEOMETRY) == sample, "the file of the sample, read and written, has equal bytes")
        checks.that(nominal[3] == sample, "the nominal detector equals the file of the sample byte for byte")
    else:
        print(f"skipped: {GEOMETRY} is absent")
checks.end()
