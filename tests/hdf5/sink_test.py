#!/usr/bin/env python3
"""hdf5.sink on whole graphs: the file has the same bits as the outputs of the run; killed and failing runs."""
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import ROOT, SLUICE, Checks, call, json

try:
    import h5py
    import numpy
    import xxhash
except ImportError as missing:
    print(f"skipped: {missing}; install python3-h5py and python3-xxhash")
    sys.exit(77)

GRAPH = """\
sluice: 1
include: [{root}/graphs/{base}]
nodes:
  check: null
  write: {{ use: hdf5.sink }}
outputs: {outputs}
"""


def graph(folder, base, outputs):
    path = folder / f"{Path(base).stem}_{len(outputs)}.yaml"
    path.write_text(GRAPH.format(root=ROOT, base=base, outputs=outputs))
    return path


def fields(group):
    """(name, per, values) of each field, in the order of the collection."""
    return [(name, data.attrs["per"], data[:]) for name, data in group.items()]


def event_digest(members, offsets, event):
    """The digest of one event, as defined in docs/testing.md, computed from the file alone."""
    first, last = (int(offsets[event]), int(offsets[event + 1])) if offsets is not None else (0, 0)
    state = xxhash.xxh3_64()
    state.update(numpy.uint32(last - first).tobytes())
    boundaries = None  # boundaries of the group that a field belongs to
    for name, per, values in members:
        if per == "boundary" and name != "offsets":
            boundaries = values
        if per == "event":
            state.update(values[event].tobytes())
        elif per == "item":
            state.update(values[first:last].tobytes())
        elif per == "subitem":
            state.update(values[int(boundaries[first]) : int(boundaries[last])].tobytes())
        elif name != "offsets":
            state.update(numpy.diff(values[first : last + 1]).astype(numpy.uint32).tobytes())
    return state.intdigest()


BASE, PRIME = 0x1C4374EEFD8CD881, 2**61 - 1


def output_digest(file, name):
    members = fields(file[name])
    offsets = next((v for n, per, v in members if n == "offsets"), None)
    events = file["events"]
    total = 0
    for e, (run, number) in enumerate(zip(events["run"][:], events["number"][:])):
        digest = numpy.uint64(event_digest(members, offsets, e))
        named = numpy.uint32(run).tobytes() + numpy.uint64(number).tobytes() + digest.tobytes()
        total = (total * BASE + xxhash.xxh3_64_intdigest(named) % (PRIME - 1) + 1) % PRIME
    return f"{1 + total:016x}"


def whole_file(checks, folder):
    outputs = "[tracks, fit.beamline_states, clusters, counts]"
    path = graph(folder, "velo.yaml", outputs)
    path.write_text(path.read_text().replace("  check: null\n", "  check: null\n  counts: { use: velo.count_tracks }\n"))
    for options in (["--slots", 2], ["--slice-events", 3, "--set", "write.compression=0", "--set", "write.flush_events=50"]):
        target = folder / "whole.h5"
        done = call("run", path, "-n", 120, "-o", target, "--json", "-", "--quiet", "--digest", *options)
        summary = json.loads(done.stdout)
        with h5py.File(target) as file:
            checks.that(file.attrs["complete"] == 1, f"the file is complete {options}")
            checks.that(file.attrs["graph_digest"] == summary["graph_digest"], "the file has the graph digest of the run")
            checks.that("velo 0.2.0 cpu" in file.attrs["plugins"].splitlines(), "the file has the plugins and their versions")
            checks.that("use: velo.kalman_filter" in file.attrs["graph"], "the file has the graph")
            checks.that(file.attrs["graph"] == summary["graph_text"], "file and summary have the same graph")
            program = f"{summary['sluice_version']}, commit {summary['commit']}"
            checks.that(file.attrs["sluice_version"] == program, "the file has the program and its commit")
            for output in summary["outputs"]:
                name = output["port"]
                checks.that(file[name].attrs["items"] == output["items"], f"{name}: file and summary have the same items")
                checks.that(file[name].attrs["digest"] == output["digest"], f"{name}: file and summary have the same digest")
                checks.that(output_digest(file, name) == output["digest"], f"{name}: the values in the file give that digest")
        checks.that(not Path(f"{target}.part").exists(), "no .part file is left")
    with h5py.File(target) as file:
        checks.that(file["tracks/hit_x"].attrs["unit"] == "mm", "a field has its unit")
        checks.that(file["tracks"].attrs["collection"] == "velo_tracks", "a group has its collection")
        checks.that(list(file["tracks"])[:2] == ["offsets", "hit_offsets"], "fields are in the order of the collection")


def groups_and_totals(checks, folder):
    """Several groups of subitems in a collection, each with its own boundaries, and sums over the run."""
    path, target = folder / "toy.yaml", folder / "toy.h5"
    path.write_text("""sluice: 1
nodes:
  raw:   { use: toy.source, set: { events: 200, bad_every: 9 } }
  split: { use: toy.split }
  tally: { use: toy.totals }
  write: { use: hdf5.sink }
outputs: [split, tally]
""")
    done = call("run", path, "--plugin-path", Path(SLUICE).parent / "tests/plugins", "-o", target,
                "--json", "-", "--quiet", "--digest", "--slice-events", 7, "--slots", 2)
    summary = json.loads(done.stdout)
    with h5py.File(target) as file:
        checks.that(file["split/digit"].attrs["group"] == "digit_offsets", "a field of subitems has its group")
        checks.that(file["split/copy_half"].attrs["group"] == "copy_offsets", "a field of another group has that group")
        values = file["split/value"][:]
        copies = numpy.repeat(values, values % 3)
        checks.that(numpy.array_equal(file["split/copy"][:], copies), f"{len(copies)} copies of {len(values)} values")
        checks.that(numpy.array_equal(numpy.diff(file["split/copy_offsets"][:]), values % 3), "the copies have the boundaries of the file")
        checks.that(len(file["split/digit"]) == file["split/digit_offsets"][-1] != len(copies), "digits have their own boundaries")
        for name in ("values", "sums", "balance"):
            checks.that(file["tally"][name][:].tolist() == summary["totals"]["tally"][name], f"total {name}")
        checks.that(file["tally/values"][:].sum() == len(values), "each value counts once")
        checks.that(file["tally/sums"][:, 0].sum() == values.sum(), "each value is summed once")
        checks.that(file["tally"].attrs["digest"] == summary["outputs"][1]["digest"], "file and summary have the same digest of the totals")


def names(checks, folder):
    """Entries of totals and values that are indices have the names of event lists, also in the metrics."""
    target, metrics = folder / "names.h5", folder / "names.txt"
    call("run", ROOT / "graphs/decisions.yaml", "--with", ROOT / "graphs/output/hdf5.yaml", "-n", 50, "-o", target, "--quiet", "--metrics", metrics)
    expected = ["luminosity", "no_beam", "one_beam", "colliding"]
    with h5py.File(target) as file:
        decisions, totals = file["decisions.decisions"].attrs, file["decisions.totals"].attrs
        checks.that(list(decisions["names"]) == list(totals["names"]) == expected, "outputs have the names of the lists")
        checks.that(decisions["label"] == totals["label"] == "list" and totals["names_of"] == "entries" and "names_field" not in totals, "totals: names of entries")
        checks.that((decisions["names_of"], decisions["names_field"]) == ("indices", "list"), "decisions: names of indices")
        counts = [int(count) for count in file["decisions.totals/events"][:]]
    found = [f'sluice_output_total{{output="decisions.totals",field="events",list="{name}"}} {count}' for name, count in zip(expected, counts)]
    checks.that(sum(counts) >= 50 and set(found) <= set(metrics.read_text().splitlines()), "and the metrics")


def killed_run(checks, folder):
    """SIGKILL leaves all events up to the last flush."""
    path, target = graph(folder, "velo.yaml", "[tracks]"), folder / "killed.h5"
    part = Path(f"{target}.part")
    command = [SLUICE, "run", path, "-n", "1000000", "-o", target, "--quiet", "--set", "write.flush_events=40"]
    run = subprocess.Popen(list(map(str, command)))
    seen = 0
    for _ in range(1200):
        time.sleep(0.05)
        try:
            with h5py.File(part, "r", swmr=True) as file:
                seen = len(file["events/number"])
        except (OSError, KeyError):
            continue
        if seen >= 120:
            break
    run.send_signal(signal.SIGKILL)
    run.wait()
    checks.that(seen >= 120, f"a file can be read while it is written ({seen} events)")
    checks.that(not target.exists(), "a killed run leaves only the .part file")
    call("run", path, "-n", seen, "-o", folder / "same.h5", "--quiet")
    with h5py.File(part, "r", swmr=True) as file, h5py.File(folder / "same.h5") as same:
        checks.that(file.attrs["complete"] == 0, "the file of a killed run is marked as incomplete")
        checks.that(len(file["events/number"]) >= seen, f"{len(file['events/number'])} events are left")
        checks.that(len(file["tracks/offsets"]) > seen, "the boundaries of these events are left")
        for name, _, values in fields(same["tracks"]):
            checks.that(numpy.array_equal(file["tracks"][name][: len(values)], values), f"{name} is complete for these events")


def full_disk(checks, folder):
    """The file has as many events as the message reports, for disks of several sizes."""
    path, target = graph(folder, "velo.yaml", "[tracks]"), folder / "full.h5"
    part = Path(f"{target}.part")
    call("run", path, "-n", 200, "-o", folder / "same.h5", "--quiet")
    for size in (10000, 200000, 300000, 450000, 610000, 800000):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        command = [SLUICE, "run", path, "-n", "200", "-o", target, "--quiet", "--set", "write.flush_events=10"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, preexec_fn=limit)
        checks.that(done.returncode == 1 and f"{part}: cannot" in done.stderr, f"a full disk ends the run with an error: {done.stderr.splitlines()[:1]}")
        checks.that(not target.exists(), "a full disk leaves only the .part file")
        if "the file was removed" in done.stderr:
            checks.that(size < 300000 and not part.exists(), f"{size} bytes: no file is kept")
            continue
        safe = int(re.search(r"it keeps the first (\d+) events", done.stderr)[1])
        with h5py.File(part, "r", swmr=True) as file, h5py.File(folder / "same.h5") as same:
            there = len(file["events/number"])
            checks.that(file.attrs["complete"] == 0 and there >= safe > 0, f"{size} bytes: {safe} events are safe, {there} can be read")
            items = same["tracks/offsets"][safe]
            checks.that(numpy.array_equal(file["tracks/offsets"][: safe + 1], same["tracks/offsets"][: safe + 1]), "these events have their boundaries")
            checks.that(numpy.array_equal(file["tracks/hit_offsets"][: items + 1], same["tracks/hit_offsets"][: items + 1]), "their hits have boundaries")
            hits = same["tracks/hit_offsets"][items]
            checks.that(numpy.array_equal(file["tracks/hit_x"][:hits], same["tracks/hit_x"][:hits]), "their hits are in the file")
        part.unlink()


def stopped_run(checks, folder):
    """SIGINT and SIGTERM leave a file that is marked as incomplete."""
    path = graph(folder, "velo.yaml", "[tracks]")
    for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        target, summary = folder / f"{sent.name}.h5", folder / f"{sent.name}.json"
        part = Path(f"{target}.part")
        command = [SLUICE, "run", path, "-n", "1000000", "-o", target, "--json", summary]
        run = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while run.poll() is None and not (part.exists() and part.stat().st_size > 0):
            time.sleep(0.02)
        time.sleep(0.3)
        run.send_signal(sent)
        said = run.communicate()[1]
        events = json.loads(summary.read_text())["events"]
        checks.that(run.returncode == status and not target.exists(), f"{sent.name}: only the .part file is left")
        checks.that(f"it has the first {events} events" in said, f"{sent.name}: the message reports {events} events")
        checks.that(json.loads(summary.read_text())["interrupted"] is True, f"{sent.name}: the JSON reports the interruption")
        with h5py.File(part) as file:
            checks.that(file.attrs["complete"] == 0, f"{sent.name}: complete is 0")
            checks.that(len(file["events/number"]) == events > 0, f"{sent.name}: the file has all {events} events")


def mistakes(checks, folder):
    path = graph(folder, "velo.yaml", "[]")
    done = call("check", path, expect=2)
    checks.that("hdf5.sink writes the outputs of the graph, but the graph has none" in done.stdout + done.stderr, "no outputs are an error of the graph")
    path = graph(folder, "velo.yaml", "[tracks]")
    for target, status, text in ((folder / "no/such/x.h5", 2, "no/such: No such file or directory"), ("/dev/null", 2, "not a regular file"),
                                 ("-", 2, "not a regular file"), (None, 2, "no output file is given")):
        done = call("run", path, "-n", 1, *(["-o", target] if target else []), expect=status)
        checks.that(text in done.stderr, f"-o {target}: {text}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole_file(checks, folder)
        groups_and_totals(checks, folder)
        names(checks, folder)
        killed_run(checks, folder)
        full_disk(checks, folder)
        stopped_run(checks, folder)
        mistakes(checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
