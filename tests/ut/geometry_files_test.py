#!/usr/bin/env python3
"""The UT's geometry and tables are written as the files that they can be read from: what is read back is the same, to
the last bit, and the nominal geometry is that of the samples."""
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, Checks, call

checks = Checks()
WRITE = ROOT / "graphs/geometry.yaml"
FILES = {"ut_geometry.bin": 41924, "ut_boards.bin": 47048}
TABLES = """sluice: 1
description: the magnet's tables, from a folder to a folder
parameters: { geometry: "" }
nodes:
  raw: { use: sim.source, set: { events: 1 } }
  tables: { use: ut.magnet_tables, set: { path: "${geometry}" } }
  write: { use: ut.magnet_tables_sink }
"""


def read(folder, names=tuple(FILES)):
    return {name: (folder / name).read_bytes() for name in names}


def write(folder, path="", graph=WRITE, names=tuple(FILES)):
    node = "ut" if graph == WRITE else "tables"
    call("run", graph, "-o", folder, "--set", f"{node}.path={path}", "--quiet")
    return read(folder, names)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    nominal = write(folder / "nominal")
    checks.that({name: len(data) for name, data in nominal.items()} == FILES, "the files have the sizes of the format")
    checks.that(write(folder / "again", folder / "nominal") == nominal,
                "the nominal geometry, written, read and written again, is the same")
    moved = folder / "moved.ut"
    moved.write_text((ROOT / "plugins/ut/include/ut/nominal.ut").read_text().replace("z 2327.5", "z 2327.75"))
    other = write(folder / "other", moved)
    checks.that(other["ut_geometry.bin"] != nominal["ut_geometry.bin"], "another description gives another file")
    checks.that(other["ut_boards.bin"] == nominal["ut_boards.bin"], "and the same boards")
    graph = folder / "tables.yaml"
    graph.write_text(TABLES)
    tables = ("ut_tables.bin",)
    nominal_tables = write(folder / "tables", "", graph, tables)
    checks.that(write(folder / "tables_again", folder / "tables", graph, tables) == nominal_tables,
                "the nominal tables, written, read and written again, are the same")
    lhcb = ROOT / "plugins/calibration/include/calibration/lhcb.calibration"
    of_lhcb = write(folder / "lhcb", lhcb, graph, tables)
    checks.that(of_lhcb != nominal_tables, "another calibration gives other tables")
    if GEOMETRY.exists():
        sample = read(GEOMETRY)
        checks.that(nominal == sample, "the nominal geometry is that of the samples, byte for byte")
        checks.that(write(folder / "sample", GEOMETRY) == sample,
                    "the sample's files, read and written, are the same bytes")
        checks.that(write(folder / "sample_tables", GEOMETRY, graph, tables) == read(GEOMETRY, tables),
                    "the sample's tables, read and written, are the same bytes")
    else:
        print(f"skipped: {GEOMETRY} is absent")
checks.end()
