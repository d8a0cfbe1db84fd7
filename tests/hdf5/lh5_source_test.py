#!/usr/bin/env python3
"""hdf5.lh5_source: it reads the waveforms and columns that h5py reads, and refuses what cannot be read."""
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BRIEF, DATA, ROOT, SLUICE, Checks, call

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}; install python3-h5py")
    sys.exit(77)

import lh5_files as make

SAMPLES = sorted((DATA / "waveforms").glob("*.lh5"))
GRAPH = """\
sluice: 1
nodes:
  raw: { use: hdf5.lh5_source }
  write: { use: hdf5.sink }
outputs: [raw]
"""


def read(folder, files, *options, expect=0, name="out.h5"):
    """Runs the source over files. Returns the fields of all events, run, number and error, and the messages."""
    graph, target = folder / "graph.yaml", folder / name
    graph.write_text(GRAPH)
    done = call("run", graph, *(part for file in files for part in ("-i", file)), "-o", target, *options, expect=expect)
    if expect:
        return None, done.stderr
    with h5py.File(target) as file:
        fields = {name: data[:] for name, data in [*file["raw"].items(), *file["events"].items()]}
    fields["table"] = [bytes(row).rstrip(b"\0").decode() for row in fields["table"]]
    return fields, done.stderr


def expected(files, column="waveform"):
    """The same from h5py: tables in order, rows in order."""
    found = {name: [] for name in ("value", "baseline", "timestamp", "digitiser_energy", "number", "table", "channel")}
    for path in files:
        with h5py.File(path) as file:
            for table in sorted(file):
                raw = file[table]["raw"]
                rows = len(raw[column]["dt"])
                others = [next((name for name in names if name in raw), None) for names in
                          (("baseline",), ("timestamp",), ("daqenergy", "energy"), ("eventnumber", "ievt"))]
                found["value"].append(raw[column]["values"][:])
                for name, other in zip(("baseline", "timestamp", "digitiser_energy", "number"), others):
                    found[name].append(raw[other][:] if other else numpy.arange(rows) if name == "number" else numpy.zeros(rows))
                found["table"] += rows * [table]
                found["channel"] += rows * [int("0" + table.lstrip("abcdefghijklmnopqrstuvwxyz"))]
    return {name: values if name in ("table", "channel") else numpy.concatenate(values) for name, values in found.items()}


def compare(checks, fields, wanted, text):
    for name, values in wanted.items():
        same = fields[name] == values if name == "table" else numpy.array_equal(fields[name], numpy.asarray(values).astype(fields[name].dtype))
        checks.that(same, f"{text}: {name} of {len(values)} events")
    checks.that(not fields["error"].any() and not fields["run"].any(), f"{text}: no errors, run 0")


def real_files(checks, folder):
    groups = ([SAMPLES[0]], [SAMPLES[1]], SAMPLES[2:4], SAMPLES[4:])
    for files in groups:
        for options in ((), ("--slice-events", 7, "--slots", 2)):
            fields, _ = read(folder, files, *options)
            compare(checks, fields, expected(files), f"{files[0].name} {options}")
    fields, _ = read(folder, SAMPLES[4:], "--set", "raw.tables=ch10*4/raw")
    checks.that(set(fields["table"]) == {"ch1084804"}, "`tables` selects tables")
    _, said = read(folder, SAMPLES, expect=1)
    checks.that("waveforms of 5592 samples" in said and "this run is 6000 samples" in said, "files of other lengths are refused with both numbers")


def recognised(checks, folder):
    """-i chooses the source by the first bytes of the file."""
    graph = folder / "found.yaml"
    graph.write_text("sluice: 1\nnodes:\n  raw: { use: sim.source }\n  see: { use: generic.histogram, set: { of: raw.baseline, bins: 10, upper: 70000 } }\noutputs: [see]\n")
    done = call("run", graph, "-i", SAMPLES[1])
    checks.that("read by hdf5.lh5_source" in done.stdout , "an LH5 file is recognised")


def layouts(checks, folder):
    """Chunks of all shapes, filters, codes and types give the same events."""
    path, values = folder / "made.lh5", make.waveforms(50, 300)
    others = {"baseline": numpy.arange(50, dtype="u2"), "timestamp": numpy.arange(50) / 8, "eventnumber": numpy.arange(50, dtype="i4") + 7}
    codes = [make.encode(row) for row in values]

    def zstd(shape, **how):
        return lambda group, name, data: make.add_zstd(group, name, data, shape[: data.ndim] if data.ndim < 2 else shape, **how)

    def filtered(**how):
        return lambda group, name, data: group.create_dataset(name, data=data, **{k: v[: data.ndim] if k == "chunks" else v for k, v in how.items()})

    ways = {
        "contiguous": make.add_plain,
        "chunks": filtered(chunks=(13, 70)),
        "chunks of a row": filtered(chunks=(1, 300)),
        "shuffle": filtered(chunks=(13, 70), shuffle=True),
        "deflate": filtered(chunks=(13, 70), compression="gzip", shuffle=True),
        "deflate and checksums": filtered(chunks=(7, 300), compression="gzip", shuffle=True, fletcher32=True),
        "Zstandard": zstd((13, 70)),
        "Zstandard, whole rows": zstd((60, 300)),
        "Zstandard without shuffle": zstd((3, 400), is_shuffled=False),
        "Zstandard, chunks without it": zstd((13, 70), masked=(0, 3)),
    }
    for text, add in ways.items():
        for is_encoded in (0, 1):
            with h5py.File(path, "w") as file:
                def encoded(group):
                    make.add_encoded(group, codes, 300, add)
                    return 50
                make.add_table(file, "ch12", "waveform", encoded if is_encoded else values, 8.0, 40.0, add, **others)
            fields, _ = read(folder, [path], "--use", "raw=hdf5.lh5_source", "--set", "raw.period_ns=8", "--set", "raw.begin_ns=40")
            wanted = {"value": values, "baseline": others["baseline"], "timestamp": others["timestamp"], "number": others["eventnumber"],
                      "channel": 50 * [12], "table": 50 * ["ch12"]}
            compare(checks, fields, wanted, text + ", encoded" * is_encoded)
    with h5py.File(path, "w") as file:
        make.add_table(file, "a", "waveform", values.astype(">u2"))
        make.add_table(file, "b", "waveform", (values % 256).astype("u1"))
        make.add_table(file, "c", "waveform", values[:0])
    fields, _ = read(folder, [path])
    checks.that(numpy.array_equal(fields["value"], numpy.concatenate([values, values % 256])), "other byte order, bytes, a table without rows")
    checks.that(fields["number"].tolist() == 2 * list(range(50)) and fields["table"][50] == "b", "without event numbers, events have the number of their row")


def columns(checks, folder):
    """Two columns of waveforms with different lengths and periods."""
    path, wide, fine = folder / "two.lh5", make.waveforms(9, 80), make.waveforms(9, 140, 2)
    with h5py.File(path, "w") as file:
        make.add_table(file, "ch1", "waveform_presummed", wide, 128)
        make.add_table(file, "ch1", "waveform_windowed", fine, 16, 42000, runid=numpy.full(9, 5))
    shape = ["--set", "raw.column=waveform_windowed", "--set", "raw.samples=140", "--set", "raw.period_ns=16", "--set", "raw.begin_ns=42000"]
    fields, _ = read(folder, [path], *shape)
    checks.that(numpy.array_equal(fields["value"], fine) and set(fields["run"]) == {5}, "`column` selects waveforms; the run is that of the file")
    _, said = read(folder, [path], expect=1)
    checks.that("no column `waveform`; its columns of waveforms: waveform_presummed, waveform_windowed" in said, "a missing column is refused with the columns of the table")
    _, said = read(folder, [path], "--set", "raw.column=waveform_windowed", "--set", "raw.samples=80", expect=1)
    for text in ("waveforms of 140 samples, but `samples` of this run is 80", "first sample at 42000 ns, but `begin_ns` of this run is 0 ns"):
        checks.that(text in said, f"other waveforms are refused: {text}")


def trial(checks, folder):
    """`sluice test` finds nothing wrong with the source and the sink."""
    path, rows = folder / "trial.lh5", 20
    with h5py.File(path, "w") as file:
        make.add_table(file, "ch1", "waveform", make.waveforms(rows, 300), baseline=numpy.full(rows, 9, "u2"), daqenergy=numpy.arange(rows, dtype="u2"))
    done = call("test", "hdf5.lh5_source", "hdf5.lh5_sink", "--strict", "--graph", ROOT / "examples/lh5_columns.yaml", "-i", path)
    checks.that(" 0 wrong, 0 not run" in done.stdout, f"sluice test: {done.stdout.splitlines()[-1]}")


def refused(checks, folder):
    path, values = folder / "wrong.lh5", make.waveforms(4, 20)

    def case(text, change, status=2, options=()):
        with h5py.File(path, "w") as file:
            change(file)
        _, said = read(folder, [path], *options, expect=status)
        checks.that(text in said, f"refused: {text}")

    def with_filter(file):
        raw = make.add_table(file, "a", "waveform", values)
        del raw["waveform/values"]
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((4, 20))
        properties.set_filter(32001, h5py.h5z.FLAG_OPTIONAL, ())
        h5py.h5d.create(raw["waveform"].id, b"values", h5py.h5t.NATIVE_UINT16, h5py.h5s.create_simple((4, 20)), properties)

    def with_codec(codec):
        def change(file):
            make.add_table(file, "a", "waveform", lambda group: len(make.add_encoded(group, [b"\0"] * 4, 1, make.add_plain, codec)) and 4)
        return change

    def with_unit(file):
        make.add_table(file, "a", "waveform", values)["waveform/dt"].attrs["units"] = "us"

    case("the codec `radware_sigcompress`; only uleb128_zigzag_diff can be read", with_codec("radware_sigcompress"))
    case("compressed by filter 32001, which the HDF5 library lacks", with_filter)
    case("has signed values of 4 bytes, expected unsigned integers of at most 2 bytes", lambda f: make.add_table(f, "a", "waveform", values.astype("i4")))
    case("`dt` has the unit us, expected ns", with_unit)
    case("`baseline` has 3 rows, but there are 4 waveforms", lambda f: make.add_table(f, "a", "waveform", values, baseline=numpy.zeros(3)), 1)
    for chunks, text in ((None, "`values` has 1000000 rows, but 0 bytes"), ((5, 20), "`values` has 0 of 200000 chunks")):
        case(text, lambda f: make.add_table(f, "a", "waveform", lambda group: group.create_dataset("values", (1000000, 20), "u2", chunks=chunks) and 4))
    case("the name of the table has 33 bytes", lambda f: make.add_table(f, 33 * "x", "waveform", values))
    case("no table CHANNEL/raw that matches `*`; its tables: none", lambda f: f.create_group("a"), 1)
    case("matches `b*`; its tables: a/raw", lambda f: make.add_table(f, "a", "waveform", values), 1, ["--set", "raw.tables=b*"])
    path.write_bytes(SAMPLES[0].read_bytes()[:-1] if SAMPLES else b"\x89HDF\r\n\x1a\n")
    checks.that("truncated file" in read(folder, [path], "--use", "raw=hdf5.lh5_source", expect=2)[1] or not SAMPLES, "a truncated file is refused")
    path.write_bytes(b"")
    checks.that("cannot read" in read(folder, [path], "--use", "raw=hdf5.lh5_source", expect=2)[1], "an empty file is refused")


def damaged_rows(checks, folder):
    """A row that cannot be read is an event with an error, and the run goes on."""
    path, values = folder / "rows.lh5", make.waveforms(40, 30)
    codes = [make.encode(row) for row in values]
    codes[3], codes[5], codes[8], codes[9] = codes[3][:-1], codes[5] + b"\0", b"\1" + codes[8][1:], b"\xff" * len(codes[9])
    period = numpy.full(40, 16.0)
    period[30] = 8
    with h5py.File(path, "w") as file:
        make.add_table(file, "a", "waveform", lambda group: len(make.add_encoded(group, codes, 30, make.add_plain)) and 40, period, eventnumber=numpy.arange(40) + 100)
    fields, said = read(folder, [path])
    checks.that(numpy.flatnonzero(fields["error"]).tolist() == [3, 5, 8, 9, 30], "five of 40 rows are refused")
    good = fields["error"] == 0
    checks.that(numpy.array_equal(fields["value"][good], values[good]) and not fields["value"][~good].any(), "the others are read; these are 0")
    for text in ("rows.lh5: table a/raw, row 3 (event 103): the codes end at sample 29 of 30", "row 5 (event 105): codes are left after sample 30",
                 "row 8 (event 108): sample 0 is not in 0 to 65535", "row 9 (event 109): sample 0 is not in 0 to 65535",
                 "row 30 (event 130): it has a sampling period of 8 ns, expected 16 ns"):
        checks.that(text in said, f"message: {text}")
    _, said = read(folder, [path], "--set", "raw.strict=true", expect=1)
    checks.that("the run ends here, since the source is strict" in said, "a strict source ends the run")
    for way in (dict(compression="gzip"), dict(fletcher32=True)):
        with h5py.File(path, "w") as file:
            raw = make.add_table(file, "a", "waveform", values, add=lambda g, n, v: g.create_dataset(n, data=v, chunks=(5, 30)[: v.ndim], **way))
            at = raw["waveform/values"].id.get_chunk_info(2)
        data = bytearray(path.read_bytes())
        data[at.byte_offset + 9] ^= 0x55
        path.write_bytes(data)
        fields, said = read(folder, [path])
        checks.that(numpy.flatnonzero(fields["error"]).tolist() == list(range(10, 15)), f"{way}: the rows of a damaged chunk are refused, and no others")
    with h5py.File(path, "w") as file:
        raw = make.add_table(file, "a", "waveform", lambda group: len(make.add_zstd(group, "values", values, (5, 30))))
        at = raw["waveform/values"].id.get_chunk_info(2)
    data = bytearray(path.read_bytes())
    data[at.byte_offset : at.byte_offset + 4] = b"none"
    path.write_bytes(data)
    fields, said = read(folder, [path])
    checks.that(numpy.flatnonzero(fields["error"]).tolist() == list(range(10, 15)) and "Zstandard: Unknown frame descriptor" in said, "Zstandard: so too")


def stored_bytes(file):
    """Positions of all bytes of the chunks of a file."""
    spans = []

    def visit(_, data):
        if isinstance(data, h5py.Dataset) and data.chunks:
            chunks = (data.id.get_chunk_info(i) for i in range(data.id.get_num_chunks()))
            spans.extend((chunk.byte_offset, chunk.size) for chunk in chunks)

    file.visititems(visit)
    return [first + i for first, size in spans for i in range(size)]


def changed_bytes(checks, folder):
    """Chunks and codes with changed bytes give events, or events with an error. The structure of files is left alone, because the
    HDF5 library reads it, which may loop if it is damaged (1.10.8: a global heap)."""
    path, values = folder / "whole.lh5", make.waveforms(40, 100)
    codes = [make.encode(row) for row in values]
    ways = [lambda group, name, data: make.add_zstd(group, name, data, (16, 100)[: data.ndim]),
            lambda group, name, data: group.create_dataset(name, data=data, chunks=(16, 100)[: data.ndim])]
    graph, other, statuses = folder / "only.yaml", folder / "changed.lh5", {}
    graph.write_text("sluice: 1\nnodes:\n  raw: { use: hdf5.lh5_source }\noutputs: [raw]\n")
    count, seed = 12 if BRIEF else 200, random.randrange(1 << 30)
    print(f"seed {seed}")
    dice = random.Random(seed)
    for add in ways:
        with h5py.File(path, "w") as file:
            make.add_table(file, "a", "waveform", lambda group: len(make.add_encoded(group, codes, 100, add)) and 40, add=add, eventnumber=numpy.arange(40))
            make.add_table(file, "b", "waveform", values, add=add)
            places = stored_bytes(file)
        whole = path.read_bytes()
        for _ in range(count):
            data = bytearray(whole)
            for _ in range(dice.choice((1, 4, 30))):
                data[dice.choice(places)] = dice.choice((0, 255, dice.randrange(256)))
            other.write_bytes(data)
            options = ("--set", "raw.samples=100", "--set", "raw.period_ns=16", "--set", "raw.begin_ns=0")
            done = subprocess.run([SLUICE, "run", graph, "-i", other, "--use", "raw=hdf5.lh5_source", *options], capture_output=True, text=True, timeout=60)
            statuses[done.returncode] = statuses.get(done.returncode, 0) + 1
            if done.returncode not in (0, 1, 2) or "Sanitizer" in done.stderr or "runtime error" in done.stderr:
                checks.that(False, f"status {done.returncode} {done.stderr[-2000:]}")
                return
    checks.that(sum(statuses.values()) == 2 * count and 0 in statuses, f"{2 * count} files with changed bytes: {statuses}")


def main():
    checks = Checks(says_passed=False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if SAMPLES:
            real_files(checks, folder)
            recognised(checks, folder)
        else:
            print(f"skipped: no files in {DATA / 'waveforms'}; set SLUICE_DATA to the folder of the samples")
        layouts(checks, folder)
        columns(checks, folder)
        trial(checks, folder)
        refused(checks, folder)
        damaged_rows(checks, folder)
        changed_bytes(checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
