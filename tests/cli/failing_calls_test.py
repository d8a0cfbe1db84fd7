#!/usr/bin/env python3
"""Each system call on files of a run fails, alone and with all later calls: the run must not crash, must report the error,
must not leave an incomplete file under the final name, and keeps as many events as it reports:
failing_calls_test.py SLUICE LIBRARY"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from common import ROOT, Checks

try:
    import h5py
except ImportError:
    h5py = None

SLUICE = sys.argv[1]
links = tempfile.TemporaryDirectory()  # a path in LD_PRELOAD ends at a space
LIBRARY = os.path.join(links.name, "library.so")
os.symlink(os.path.abspath(sys.argv[2]), LIBRARY)
CSV = "sluice: 1\ninclude: [%s]\nnodes:\n  check: null\n  write: { use: output.csv_sink }\noutputs: [tracks]\n"
HDF5 = "sluice: 1\ninclude: [%s]\nnodes:\n  check: null\n  write: { use: hdf5.sink, set: { flush_events: 4 } }\noutputs: [tracks]\n"
checks = Checks(says_passed=False)
check = checks.that


def csv_events(path):
    rows = path.read_text()
    numbers = [int(row.split(",")[1]) for row in rows.splitlines()[1:]]
    return max(numbers) + 1 if rows.endswith("\n") else -1


def hdf5_is_complete(path):
    if path.read_bytes()[:4] != b"\x89HDF" or not h5py:
        return path.read_bytes()[:4] == b"\x89HDF"
    with h5py.File(path) as file:
        return file.attrs["complete"] == 1 and len(file["events/number"]) == 12


def hdf5_events(path):
    """(number of events that can be read, or -1; reason), for a file that was closed or not."""
    reasons = []
    for options in ({}, {"swmr": True}):
        try:
            with h5py.File(path, "r", **options) as file:
                return min(len(file[name]) for name in ("events/number", "events/run", "tracks/offsets")), ""
        except (OSError, KeyError) as reason:
            reasons.append(str(reason))
    return -1, reasons


def run(arguments, at, on, folder):
    environment = {**os.environ, "LD_PRELOAD": LIBRARY, "FAIL_UNDER": str(folder), "FAIL_AT": str(at)}
    if on:
        environment["FAIL_ON"] = "1"
    return subprocess.run([SLUICE, "run", *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=60)


def try_all(name, arguments, target, is_whole):
    """Makes each call fail in turn, until a run makes fewer calls."""
    seen, at = set(), 0
    folder = target.parent
    for on in (False, True):
        for at in range(1, 500):
            for left in folder.iterdir():
                left.unlink()
            target.write_text("old")
            done = run(arguments, at, on, folder)
            failing = re.search(r"failing call: (\w+) (\S+)", done.stderr)
            if not failing:
                check(done.returncode == 0 and is_whole(target), f"{name}: a run without a failing call is complete\n{done.stderr}")
                break
            seen.add(failing[1])
            where = f"{name}, call {at} ({failing[1]} {pathlib.Path(failing[2]).name}{', and all after it' if on else ''})"
            said = done.stderr.replace(failing[0], "")
            check(done.returncode in (0, 1, 2), f"{where}: status {done.returncode}\n{said}")
            whole = target.exists() and is_whole(target)
            check(whole or target.read_text() == "old", f"{where}: the file is complete or the old one")
            check(whole if done.returncode == 0 else "error: " in said, f"{where}: the error is reported\n{said}")
            kept = re.search(r"it keeps the first (\d+) events", said)
            parts = list(folder.glob(f"{target.name}.part*"))
            if kept and name == "csv":
                check(csv_events(parts[0]) <= int(kept[1]) <= csv_events(parts[0]) + 1, f"{where}: {kept[0]}")
            if kept and name == "hdf5" and h5py:
                there, reason = hdf5_events(parts[0])
                check(there >= int(kept[1]), f"{where}: {kept[0]}, and {there} can be read: {reason}")
            if "the file was removed" in said and not on:
                check(not parts, f"{where}: the file was removed: {parts}")
        else:
            check(False, f"{name}: fewer than 500 calls")
    print(f"        {name}: {at} calls: {' '.join(sorted(seen))}")
    return seen


def main():
    has_hdf5 = "hdf5.sink" in subprocess.run([SLUICE, "list", "--algorithms"], capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as name:
        graphs, folder = pathlib.Path(name) / "graphs", pathlib.Path(name) / "files"
        graphs.mkdir()
        folder.mkdir()
        (graphs / "csv.yaml").write_text(CSV % (ROOT / "graphs/velo.yaml"))
        (graphs / "hdf5.yaml").write_text(HDF5 % (ROOT / "graphs/velo.yaml"))
        target = folder / "file"

        def equals(path):
            return lambda file: file.read_bytes() == path.read_bytes()

        cases = [("csv", [graphs / "csv.yaml", "-n", 12]),
                 ("mdf", [ROOT / "graphs/copy.yaml", "-n", 12]),
                 ("mep", [ROOT / "graphs/copy.yaml", "-n", 12, "--use", "write=io.mep_sink"]),
                 ("lumi", [ROOT / "graphs/lumi.yaml", "-n", 12]),
                 ("picture", [ROOT / "graphs/velo_picture.yaml", "-n", 2])]
        for case, arguments in cases:
            whole = pathlib.Path(name) / "whole"
            subprocess.run([SLUICE, "run", *map(str, arguments), "-o", whole, "--quiet"], check=True, capture_output=True)
            seen = try_all(case, [*arguments, "-o", target], target, equals(whole))
            check({"open", "write", "fsync", "rename", "close"} <= seen, f"{case}: all kinds of calls were tried: {seen}")
        velo = [ROOT / "graphs/velo.yaml", "-n", 2]
        try_all("json", [*velo, "--json", target], target, lambda file: file.read_text().endswith("}\n"))
        try_all("trace", [*velo, "--trace", target], target, lambda file: file.read_text().endswith("\n]\n"))
        if has_hdf5:
            seen = try_all("hdf5", [graphs / "hdf5.yaml", "-n", 12, "--slice-events", 4, "-o", target], target,
                           hdf5_is_complete)
            check({"pwrite", "fsync", "rename"} <= seen, f"hdf5: all kinds of calls were tried: {seen}")
    checks.end()


if __name__ == "__main__":
    main()
