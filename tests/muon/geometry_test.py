#!/usr/bin/env python3
"""The muon geometry as files: written files are read back with equal bits, the nominal geometry agrees with the samples,
and invalid files and descriptions are refused with the reason."""
import struct
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, Checks, call

checks = Checks()
WRITE = ROOT / "graphs/geometry.yaml"
NOMINAL = (ROOT / "plugins/muon/include/muon/nominal.muon").read_text()
MAP, TABLES = "muon_geometry.bin", "muon_tables.bin"


def write(folder, *sets, expect=0):
    options = [word for text in sets for word in ("--set", text)]
    done = call("run", WRITE, "-o", folder, "--quiet", *options, expect=expect)
    return done if expect else {name: (folder / name).read_bytes() for name in (MAP, TABLES)}


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def compare_with_samples(nominal):
    """The map is equal. In the tables, strips of two chambers, which the samples rotate around z, differ by up to 0.2 mm;
    other differences are rounding of floats up to 19 m."""
    sample = {name: (GEOMETRY / name).read_bytes() for name in (MAP, TABLES)}
    checks.that(nominal[MAP] == sample[MAP], "the nominal map of channels equals that of the samples byte for byte")
    checks.that(len(nominal[TABLES]) == len(sample[TABLES]), "the nominal tables have the size of those of the samples")
    off = [abs(a - b) for a, b in zip(floats(nominal[TABLES]), floats(sample[TABLES])) if a != b]
    text = f"{len(off)} values of {len(sample[TABLES]) // 4} differ, {sum(d > 0.004 for d in off)} by more than 0.004 mm"
    checks.that(len(off) < 1000 and sum(d > 0.004 for d in off) <= 200 and max(off) < 0.2, f"{text}, at most {max(off):.3f}")
    return sample


def tiles_of(data):
    """The connected tiles of both formats."""
    words = struct.unpack(f"<{len(data) // 4}I", data)
    if words[0] == 3:
        return [t for t in words[-22 * 2 * 24 * 48:] if t]
    tiles, at = [], 3
    while at < len(words):
        count = words[at]
        tiles += [t for t in words[at + 2:at + 2 + count] if t]
        at += 2 + count
    return tiles


def refuse_files(folder, good):
    """Refuses files with changed bytes."""
    def says(name, change, *texts):
        bad = folder / "bad"
        bad.mkdir(exist_ok=True)
        for each, data in good.items():
            changed = bytearray(data)
            (bad / each).write_bytes(change(changed) or changed if each == name else data)
        done = write(folder / "out", f"muon.path={bad}", expect=2)
        lacking = [t for t in (name, *texts) if t not in done.stderr]
        checks.that(not lacking, f"{name}: {texts}" + (f": {lacking} not in {done.stderr}" if lacking else ""))

    def put(at, code, value):
        return lambda data: struct.pack_into(code, data, at, value)

    says(MAP, put(0, "<I", 4), "byte 0", "format is 4", "expected 2 or 3")
    says(MAP, put(4, "<Q", 11), "number of banks is 11", "expected 10")
    says(MAP, put(12, "<Q", 5000), "addresses of a bank", "5000", "4096")
    says(MAP, lambda data: data[:-1], "ends at byte")
    says(MAP, lambda data: data + b"\0\0\0\0", "has 79968 bytes, expected 79964")
    says(MAP, put(20, "<I", 1 << 30), "tile number 0", "expected at most")
    says(MAP, put(20, "<I", 1), "bank 0, channel 0", "0x00000001", "no strip or pad")
    says(TABLES, put(0, "<I", 1), "byte 0", "format is 1")
    says(TABLES, put(4, "<Q", 15), "grids in x is 15", "expected 16")
    says(TABLES, put(12, "<I", 0), "grids in x number 0 is 0")
    says(TABLES, put(12, "<I", 64), "grids in x number 0 is 64", "expected 1 to 63")
    says(TABLES, put(148, "<Q", 5), "half-widths in x is 5", "expected 3072")
    says(TABLES, put(156, "<f", float("nan")), "half-widths in x number 0 is nan")
    at = 4 + 2 * 72 + 2 * (8 + 4 * 3072) + 8
    says(TABLES, put(at + 4, "<I", 4609), "begin at position 4609, expected 4608")
    says(TABLES, put(at + 64, "<Q", 3), "number of stations is 3", "expected 4")
    says(TABLES, put(at + 72, "<Q", 18000), "region 3 of station 0 begins at position 13824 and has 4608, of 18000")
    says(TABLES, put(at + 72, "<Q", 1 << 40), "number of positions is 1099511627776")
    says(TABLES, put(at + 80, "<f", 2e5), "coordinate of a position", "200000")
    says(TABLES, lambda data: data[:1000], "ends at byte 1000")
    for name in (MAP, TABLES):
        lone = folder / f"without_{name}"
        lone.mkdir()
        for each, data in good.items():
            if each != name:
                (lone / each).write_bytes(data)
        done = write(folder / "out", f"muon.path={lone}", expect=2)
        checks.that(f"{name}: there is no such file" in done.stderr, f"a folder without {name} is refused")


def refuse_descriptions(folder):
    def says(old, new, text, count=1):
        path = folder / "bad.muon"
        checks.that(old in NOMINAL, f"the description has {old!r}")
        path.write_text(NOMINAL.replace(old, new, count))
        done = write(folder / "out", f"muon.path={path}", expect=2)
        checks.that(text in done.stderr and "bad.muon:" in done.stderr, f"{new!r}: {text}: {done.stderr.splitlines()[0]}")

    says("station M2", "station M6", 'station is "M6", expected M2, M3, M4 or M5')
    says("station M2 z 15270", "station M2 z 5", "z is 5, expected 10000 to 30000")
    says("layers M3 -142.7 -58.7", "layers M3 -142.7 -158.7", "layers do not ascend")
    says("station M3", "station M2", "station M2 a second time")
    says("region M2 R1 width", "region M2 R5 width", 'region is "R5", expected R1, R2, R3 or R4')
    says("pads 48 8 x_strips 48 1", "pads 48 8 x_strips 24 1", "x_strips are as many in x")
    says("columns M2 R1 A 158.2", "columns M2 R1 A -158.2", "on the other side")
    says("moved M5 R2 A 1 0 y -1", "moved M5 R2 A 1 4 y -1", "row is 4, expected -4 to 3")
    says("moved M5 R2 A 1 0 y -1", "moved M5 R2 A 1 0 x -1", "expected y or roll")
    says("sector short y0", "sector short z0", 'found "z0"')
    says("order M2 R1 high 4.0", "order M2 R1 higher 4.0", 'no sector "higher"')
    says("order M2 R1 high 4.0", "order M2 R1 high 0.0", "sector 0.0 is not in the region")
    says("order M2 R1 high 4.0", "order M2 R1 high 4.x", 'found "4.x"')
    says("batches 384", "batches 385", "the batches have 1537 addresses, the quarters 1536")
    says("quarters 3 2", "quarters 3 5", 'expected one or two quarters, found "5"')
    says("tell40s M2 10", "tell40s M2 11", "23 Tell40s, expected at most 22")
    says("bank 9", "#", "without bank 9")
    says("rows M5 4", "# rows M5 4", "without rows M5 4")
    says("columns M5 R4 C", "# columns M5 R4 C", "without columns M5 R4 C")
    few = folder / "few.muon"
    few.write_text(NOMINAL.replace("tell40s M2 10", "tell40s M2 5"))
    done = write(folder / "out", f"muon.path={few}", "muon.format=3", expect=2)
    checks.that("few.muon: a station has more links" in done.stderr, "too few Tell40s for format 3 are refused")


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    nominal = {f: write(folder / f"nominal{f}", f"muon.format={f}") for f in (2, 3)}
    for f in (2, 3):
        checks.that(write(folder / "again", f"muon.path={folder / f'nominal{f}'}") == nominal[f],
                    f"the nominal geometry of format {f}, read back and written again, is equal")
        tiles = tiles_of(nominal[f][MAP])
        checks.that(len(tiles) == len(set(tiles)) == {2: 16704, 3: 23904}[f], f"format {f}: {len(tiles)} tiles without duplicates")
    other = folder / "other.muon"
    other.write_text(NOMINAL.replace("station M4 z 17670", "station M4 z 17671"))
    checks.that(write(folder / "other", f"muon.path={other}")[TABLES] != nominal[2][TABLES],
                "another description gives other tables")
    refuse_files(folder, nominal[2])
    refuse_descriptions(folder)
    if GEOMETRY.exists():
        sample = compare_with_samples(nominal[2])
        checks.that(write(folder / "sample", f"muon.path={GEOMETRY}") == sample,
                    "the files of the samples, read and written, have equal bytes")
    else:
        print(f"skipped: {GEOMETRY} is absent")
checks.end()
