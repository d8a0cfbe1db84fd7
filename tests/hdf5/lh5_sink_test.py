#!/usr/bin/env python3
"""hdf5.lh5_sink: tables, columns, units and missing values, as h5py reads them; killed and failing runs."""
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import SLUICE, Checks, call, json

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}; install python3-h5py")
    sys.exit(77)

import lh5_files as make

GRAPH = """\
sluice: 1
nodes:
  raw: {{ use: hdf5.lh5_source }}
  m: {{ use: measures.measure }}
  write:
    use: hdf5.lh5_sink
    set:
      period_ns: ${{raw.period_ns}}
      begin_ns: ${{raw.begin_ns}}
      columns: {columns}
outputs: [raw, m.point, m.extremes, m.pulses]
"""
COLUMNS = """>-
        tp = m.point.index ns, at = m.point.index, place = m.point.index as integer,
        low = m.extremes.minimum, high = m.extremes.maximum keV as f64, high_tp = m.extremes.first_maximum ns,
        energies = m.pulses.energy ADC, trigger_pos = m.pulses.index ns, wave = raw.value as integer,
        baseline = traces.baseline as integer, time = traces.timestamp s as f64, bits = m.extremes.valid as integer,
"""
PLUGINS = Path(SLUICE).parent / "tests/plugins"


def inputs(folder, count=3):
    """Files with the same tables, as a run of a detector has them; and all waveforms of each table."""
    paths, tables = [], {"ch1": [], "ch2": [], "ch30": []}
    for number in range(count):
        path = folder / f"in{number}.lh5"
        with h5py.File(path, "w") as file:
            for index, table in enumerate(tables):
                values = make.waveforms(40, 8, 10 * number + index)
                make.add_table(file, table, "waveform", values, 16, 100, baseline=values[:, 0], timestamp=numpy.arange(40) / 7)
                tables[table].append(values)
        paths.append(path)
    return paths, {table: numpy.concatenate(values) for table, values in tables.items()}


def run(folder, paths, *options, columns=COLUMNS, expect=0, target="out.lh5"):
    graph = folder / "graph.yaml"
    graph.write_text(GRAPH.format(columns=columns))
    return call("run", graph, "--plugin-path", PLUGINS, *(part for path in paths for part in ("-i", path)), "-o", folder / target, *options, expect=expect)


def expected(values):
    """Columns that measures.measure and the sink make of waveforms; NaN where there is no value."""
    s = values.astype(int)
    missing = s[:, 4] % 16 == 0  # refused events
    index = numpy.where(s[:, 1] % 2 | missing, -1, s[:, 0] % 100)
    counts = numpy.where(missing, 0, s[:, 0] % 4)
    valid = (s[:, 2] % 2 == 0) | (s[:, 3] % 2 == 0) << 1 | 4 | (s[:, 1] % 3 != 0) << 3

    def where(condition, numbers):
        return numpy.where(condition & ~missing, numbers, numpy.nan)

    items = [(row, i) for row, count in enumerate(counts) for i in range(count)]
    return {
        "tp": (where(index >= 0, index * 16.0 + 100), "f4", "ns"), "at": (where(index >= 0, index), "f4", "samples"), "place": (index, "i4", "samples"),
        "low": (where(s[:, 2] % 2 == 0, s[:, 2] / 4), "f4", "ADC"), "high": (where(s[:, 3] % 2 == 0, s[:, 3] / 4), "f8", "keV"),
        "high_tp": (where(s[:, 1] % 3 != 0, s[:, 0] % 11 * 16 + 100), "f4", "ns"), "wave": (numpy.where(missing[:, None], 0, values), "u2", "ADC"),
        "energies": (numpy.array([s[row, i] / 2 for row, i in items]), "f4", "ADC"),
        "trigger_pos": (numpy.array([i * 16 + 100 for _, i in items]), "f4", "ns"), "baseline": (values[:, 0], "u2", "ADC"),
        "bits": (numpy.where(missing, 0, valid), "u4", None),
    }, numpy.cumsum(counts)


def compare(checks, path, tables, text):
    names = re.findall(r"(\w+) =", COLUMNS)
    with h5py.File(path) as file:
        checks.that(file.attrs["complete"] == 1 and sorted(file) == sorted(tables), f"{text}: the file is complete and has the tables")
        for table, values in tables.items():
            wanted, ends = expected(values)
            dsp, wrong = file[table]["dsp"], []
            for name, (numbers, kind, unit) in wanted.items():
                is_list = isinstance(dsp[name], h5py.Group)
                data = dsp[name]["flattened_data"] if is_list else dsp[name]
                same = data.dtype == kind and numpy.array_equal(data[:], numbers.astype(kind), equal_nan=numpy.dtype(kind).kind == "f")
                same &= data.attrs.get("units") == unit and data.attrs["datatype"] == ("array_of_equalsized_arrays<1,1>{real}" if name == "wave" else "array<1>{real}")
                same &= not is_list or (numpy.array_equal(dsp[name]["cumulative_length"][:], ends) and dsp[name].attrs["datatype"] == "array<1>{array<1>{real}}")
                wrong += [] if same else [name]
            checks.that(not wrong, f"{text}: the columns of {table} have values, types and attributes; wrong: {wrong}")
            checks.that(numpy.array_equal(dsp["time"][:], numpy.tile(numpy.arange(40) / 7, len(values) // 40)), f"{text}: an input of the sink as a column")
            checks.that(dsp.attrs["datatype"] == f"table{{{','.join(names)}}}" and file[table].attrs["datatype"] == "struct{dsp}", f"{text}: attributes of {table}")


def whole_file(checks, folder, paths, tables):
    for options in ((), ("--slice-events", 7, "--slots", 2), ("--set", "write.compression=0", "--set", "write.flush_events=20")):
        done = run(folder, paths, *options)
        compare(checks, folder / "out.lh5", tables, f"{options}")
    checks.that("360 rows, 3 tables, 12 columns" in done.stdout, "the report counts rows, tables and columns")
    checks.that(any((values[:, 4] % 16 == 0).any() for values in tables.values()), "some events are refused: their rows have no values")


def new_files(checks, folder, paths, tables):
    """--rotate: the rows of all files together are those of one file."""
    run(folder, paths, "--rotate", "20kB", "--slice-events", 20, "--quiet", target="part-%04d.lh5")
    parts = sorted(folder.glob("part-*.lh5"))
    checks.that(len(parts) > 1, f"{len(parts)} files")
    with h5py.File(folder / "out.lh5") as whole:
        for table in tables:
            found = []
            for part in parts:
                with h5py.File(part) as file:
                    found += file[f"{table}/dsp/tp"][:].tolist() if table in file else []
            checks.that(numpy.array_equal(found, whole[f"{table}/dsp/tp"][:], equal_nan=True), f"the rows of {table}")


def no_events(checks, folder):
    path = folder / "empty.lh5"
    with h5py.File(path, "w") as file:
        make.add_table(file, "ch1", "waveform", make.waveforms(1, 8)[:0])
    done = run(folder, [path], "--set", "raw.samples=8", "--json", "-", "--quiet", target="none.lh5")
    with h5py.File(folder / "none.lh5") as file:
        checks.that(list(file) == [] and file.attrs["complete"] == 1 and json.loads(done.stdout)["results"]["write"]["events"] == 0, "a run without events has no tables")


def full_disk(checks, folder, paths, tables):
    """The file has as many rows as the message reports."""
    target = folder / "full.lh5"
    for size in (12000, 60000, 120000, 180000):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        command = [SLUICE, "run", folder / "graph.yaml", "--plugin-path", PLUGINS, *(part for path in paths for part in ("-i", path)), "-o", target,
                   "--quiet", "--set", "write.flush_events=10", "--set", "write.compression=0", "--slice-events", "10"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, preexec_fn=limit)
        checks.that(done.returncode == 1 and "full.lh5.part: cannot" in done.stderr and not target.exists(), f"{size} bytes: a full disk is an error: {done.stderr.splitlines()[:1]}")
        if "the file was removed" in done.stderr:
            continue
        safe = int(re.search(r"it keeps the first (\d+) events", done.stderr)[1])
        with h5py.File(f"{target}.part", "r", swmr=True) as file:
            rows = {table: min(len(data) for data in file[f"{table}/dsp"].values() if isinstance(data, h5py.Dataset)) for table in file}
            checks.that(sum(rows.values()) >= safe > 0 and file.attrs["complete"] == 0, f"{size} bytes: {safe} rows are safe, {rows} can be read")
            with h5py.File(folder / "out.lh5") as whole:
                checks.that(all(numpy.array_equal(file[f"{table}/dsp/tp"][:count], whole[f"{table}/dsp/tp"][:count], equal_nan=True) for table, count in rows.items()), "they are those of the whole file")
        Path(f"{target}.part").unlink()


def killed_run(checks, folder):
    """SIGKILL leaves the rows up to the last flush, although tables are added while the run goes on."""
    path, target = folder / "long.lh5", folder / "killed.lh5"
    with h5py.File(path, "w") as file:
        for table in range(60):
            values = make.waveforms(20000, 8, table)
            make.add_table(file, f"ch{table:02}", "waveform", values, 16, 100, timestamp=numpy.arange(20000.0))
    graph = folder / "graph.yaml"
    command = [SLUICE, "run", graph, "--plugin-path", PLUGINS, "-i", path, "-o", target, "--quiet", "--set", "write.flush_events=5000"]
    run = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL)
    part, seen = Path(f"{target}.part"), 0
    for _ in range(1200):
        time.sleep(0.02)
        try:
            with h5py.File(part, "r", swmr=True) as file:
                seen = len(file)
        except (OSError, KeyError):
            continue
        if seen >= 3:
            break
    run.send_signal(signal.SIGKILL)
    run.wait()
    checks.that(seen >= 3 and not target.exists(), f"a file can be read while it is written ({seen} tables)")
    with h5py.File(part, "r", swmr=True) as file:
        rows = [len(file[f"{table}/dsp/tp"]) for table in file]
        checks.that(file.attrs["complete"] == 0 and len(rows) >= seen and rows[0] == 20000, f"{rows} rows are left")


def mistakes(checks, folder, paths):
    def case(columns, position, text):
        done = run(folder, paths[:1], columns=f"'{columns}'", expect=2)
        at = re.search(r"graph.yaml:\d+:(\d+): error: node write: columns: (.*)", done.stderr)
        column = len("      columns: '") + 1
        checks.that(at is not None and int(at[1]) == column + position and text in at[2], f"`{columns}`: {text}; found {done.stderr.strip()}")

    case("", 0, "no column, expected, for example, trapEmax = trap.value ADC")
    case("a", 1, "expected `=` and OUTPUT.FIELD after `a`")
    case("a = b", 4, "expected OUTPUT.FIELD, found `b`")
    case("a = b.c", 4, "the graph has no output `b`, expected raw, m.point, m.extremes, m.pulses, traces")
    case("a = m.point.x", 12, "the output has no field `x`, expected index")
    case("a = m.pulses.offsets", 13, "not so `offsets`, expected index, energy")
    case("a = traces.value", 11, "not so `value`, expected baseline, channel, timestamp, digitiser_energy")
    case("a = m.point.index, a = m.point.index", 19, "there are two columns `a`")
    case("a-b = m.point.index", 0, "expected the name of a column: letters, digits and _; found `a-b`")
    case("a = m.point.index ns f64", 21, "expected a comma or `as`, found `f64`")
    case("a = m.point.index ns as int", 24, "the type of a column is f32, f64 or integer, not `int`")
    case("a = m.point.index ns as integer", 24, "times in ns are f32 or f64, not `integer`")
    case("a = m.extremes.minimum as integer", 26, "the values of the field are not `integer`")
    case("a = m.point.index ns as f32 b", 28, "expected a comma, found `b`")
    done = run(folder, paths[:1], "--set", "write.period_ns=0", expect=2)
    checks.that("period_ns: column `tp` is a time in ns; set the sampling period" in done.stderr, "times need a period")
    with h5py.File(folder / "named.lh5", "w") as file:
        make.add_table(file, "..x", "waveform", make.waveforms(2, 8))
    done = run(folder, [folder / "named.lh5"], expect=1)
    checks.that("event 0 has no name of a table, as /NAME/dsp: `..x`" in done.stderr, "a name that is no name of a group is refused")


def main():
    checks = Checks(says_passed=False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths, tables = inputs(folder)
        whole_file(checks, folder, paths, tables)
        new_files(checks, folder, paths, tables)
        no_events(checks, folder)
        full_disk(checks, folder, paths, tables)
        killed_run(checks, folder)
        mistakes(checks, folder, paths)
    checks.end()


if __name__ == "__main__":
    main()
