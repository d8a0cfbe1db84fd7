#!/usr/bin/env python3
"""The UT geometry and tables are written to files and read back with equal bits; the nominal geometry equals that
of the samples."""
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, Checks, call

checks = Checks()
WRITE = ROOT / "graphs/geometry.yaml"
FILES = {"ut_geometry.bin": 41924, "ut_boards.bin": 47048}
TABLES = {"ut_tables.bin": 15544}


def read(folder, names=FILES):
    return {name: (folder / name).read_bytes() for name in names}


def write(folder, path="", node="ut", names=FILES):
    call("run", WRITE, "-o", folder, "--set", f"{node}.path={path}", "--quiet")
    return read(folder, names)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    nominal = write(folder / "nominal")
    checks.that({name: len(data) for name, data in nominal.items()} == FILES, "the files have the sizes of the format")
    checks.that(write(folder / "again", folder / "nominal") == nominal,
                "the nominal geometry, read back and written again, is equal")
    moved = folder / "moved.ut"
    moved.write_text((ROOT / "plugins/ut/include/ut/nominal.ut").read_text().replace("z 2327.5", "z 2327.75"))
    other = write(folder / "other", moved)
    checks.that(other["ut_geometry.bin"] != nominal["ut_geometry.bin"], "another description gives another file")
    checks.that(other["ut_boards.bin"] == nominal["ut_boards.bin"], "another description gives equal boards")
    nominal_tables = write(folder / "tables", "", "ut_tables", TABLES)
    checks.that({name: len(data) for name, data in nominal_tables.items()} == TABLES, "the tables have the size of the format")
    checks.that(write(folder / "tables_again", folder / "tables", "ut_tables", TABLES) == nominal_tables,
                "the nominal tables, read back and written again, are equal")
    lhcb = ROOT / "plugins/calibration/include/calibration/lhcb.calibration"
    of_lhcb = write(folder / "lhcb", lhcb, "ut_tables", TABLES)
    checks.that(of_lhcb != nominal_tables, "another calibration gives other tables")
    if GEOMETRY.exists():
        sample = read(GEOMETRY)
        checks.that(nominal == sample, "the nominal geometry equals that of the samples byte for byte")
        checks.that(write(folder / "sample", GEOMETRY) == sample,
                    "the files of the sample, read and written, have equal bytes")
        checks.that(write(folder / "sample_tables", GEOMETRY, "ut_tables", TABLES) == read(GEOMETRY, TABLES),
                    "the tables of the sample, read and written, have equal bytes")
    else:
        print(f"skipped: {GEOMETRY} is absent")
checks.end()
