#!/usr/bin/env python3
"""Output files of a run: ownership, special files, and partial files after failures: output_test.py SLUICE PLUGINS"""
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time

from common import ROOT, Checks

COPY, LUMI, VELO = (ROOT / "graphs" / name for name in ("copy.yaml", "lumi.yaml", "velo.yaml"))
SLUICE, PLUGINS = sys.argv[1:3]
checks = Checks()
check = checks.that

TOY = """sluice: 1
nodes:
  raw:   { use: toy.source, set: { events: 1000000 } }
  split: { use: toy.split }
  write: { use: output.csv_sink }
outputs: [split]
"""
TWO = """sluice: 1
include: [%s]
nodes:
  again: { use: io.mdf_sink, set: { path: "%s" } }
"""


def command(*arguments):
    return [SLUICE, "run", *map(str, arguments)]


def run(*arguments, expect=0, **options):
    done = subprocess.run(command(*arguments), capture_output=True, text=options.pop("text", True), timeout=100, **options)
    check(done.returncode == expect, f"sluice run {' '.join(map(str, arguments))}: status {done.returncode}"
          + ("" if done.returncode == expect else f"\n{done.stderr}"))
    return done


def start(*arguments):
    return subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def wait_for(path, process, bytes_min=1):
    for _ in range(1000):
        if process.poll() is not None or (path.exists() and path.stat().st_size >= bytes_min):
            return
        time.sleep(0.02)


def devices_stay(folder):
    node = folder / "null"
    try:
        os.mknod(node, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        node.write_bytes(b"")
    except OSError as reason:
        print(f"        (cannot make a device here: {reason}; only FIFOs are tested)")
        return
    for arguments in ((LUMI, "-n", 5, "-o", node), (VELO, "-n", 5, "--metrics", node), (VELO, "-n", 5, "--json", node),
                      (VELO, "-n", 5, "--trace", node), (COPY, "-n", 5, "-o", node),
                      (LUMI, "-n", 5, "-o", node, "--json", node, "--metrics", node)):
        run(*arguments, "--quiet")
        check(stat.S_ISCHR(node.lstat().st_mode), "a device stays a device")
    subprocess.run([SLUICE, "plan", VELO, "--svg", node], capture_output=True)
    check(stat.S_ISCHR(node.lstat().st_mode), "a device stays a device after a drawing")
    check(sorted(folder.iterdir()) == [node], "no other file is written next to a device")


def streams(folder):
    """A FIFO and standard output get the bytes of a file; a reader that closes early is an error."""
    whole, fifo = folder / "whole", folder / "fifo"
    os.mkfifo(fifo)
    for sink in ("io.mdf_sink", "io.mep_sink"):
        run(COPY, "-n", 30, "-o", whole, "--use", f"write={sink}", "--quiet")
        with open(folder / "read", "wb") as out:
            reader = subprocess.Popen(["cat", str(fifo)], stdout=out)
        run(COPY, "-n", 30, "-o", fifo, "--use", f"write={sink}", "--quiet")
        reader.wait(60)
        check((folder / "read").read_bytes() == whole.read_bytes(), f"{sink}: a FIFO gets the bytes of a file")
        check(stat.S_ISFIFO(fifo.lstat().st_mode), "a FIFO stays a FIFO")
        done = run(COPY, "-n", 30, "-o", "-", "--use", f"write={sink}", text=False)
        check(done.stdout == whole.read_bytes(), f"{sink}: -o - writes the same bytes, and nothing else")
        check(b"wrote 30 events" in done.stderr, "the table goes to standard error")
    run(LUMI, "-n", 30, "-o", whole, "--quiet")
    for name in ("-", "/dev/stdout"):
        check(run(LUMI, "-n", 30, "-o", name).stdout == whole.read_text(), f"lumi.csv_sink: {name} gets the bytes of a file")
    reader = subprocess.Popen(["head", "-c", "10"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    done = subprocess.run(command(COPY, "-n", 3000, "-o", "-"), stdout=reader.stdin, stderr=subprocess.PIPE, text=True)
    reader.stdin.close()
    reader.stdout.close()
    reader.wait(60)
    check(done.returncode == 1 and "-: cannot write after" in done.stderr and "Broken pipe" in done.stderr,
          "a reader that closes early is reported as an error")


def seconds_of_children():
    """Processor time of the programs that have ended; other programs on the machine do not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def refused_at_the_start(folder):
    a, b, linked, pointing = (folder / name for name in ("a.mdf", "b.mdf", "linked.mdf", "pointing.mdf"))
    graph = folder / "two.yaml"
    run(COPY, "-n", 20, "-o", a, "--quiet")
    before = a.read_bytes()
    os.link(a, linked)
    pointing.symlink_to("a.mdf")
    graph.write_text(TWO % (COPY, b))

    def refused(text, *arguments):
        begin = seconds_of_children()
        done = run(*arguments, "--quiet", expect=2)
        check(text in done.stderr, text + ("" if text in done.stderr else f"; printed:\n{done.stderr}"))
        check(seconds_of_children() - begin < 1, "an output that cannot be written is refused at once")
        check(a.read_bytes() == before and not b.exists() and not list(folder.glob("*.part*")), "a refused run writes no file")

    for target in (a, linked, pointing, folder / "." / "a.mdf"):
        refused(f"{target}: the same file as {a}, an input of this run", COPY, "-i", a, "-o", target)
        refused(f"{target}: the same file as {a}, an input of this run", VELO, "-i", a, "--json", target)
        refused(f"{target}: the same file as {a}, an input of this run", COPY, "-i", a, "--set", f"write.path={target}")
    refused(f"the same file as {graph}, the graph", graph, "-o", graph)
    part = folder / "part.yaml"
    part.write_text("sluice: 1\n")
    refused(f"the same file as {part}, a file of the graph", graph, "--with", part, "-o", part)
    refused("-o", COPY, "-o", b, "--json", b)
    refused("-o", COPY, "-o", "-", "--json", "-")
    refused(f"the same file as {b}, the file of --trace", VELO, "--trace", b, "--metrics", b)
    refused(f"{b}: the same file as {b}, which the node ", graph, "-o", b, "-n", 5)
    refused("No such file or directory", COPY, "-o", folder / "none" / "b.mdf")
    refused("No such file or directory", COPY, "-o", b, "--json", folder / "none" / "j")
    # A run is refused at the start if a file cannot be written, for all writers.
    histograms = ROOT / "graphs" / "velo_histograms.yaml"
    for target, reason in ((folder / "none" / "b.svg", "No such file or directory"), (a / "b.svg", "Not a directory"),
                           (folder / ("b" * 252 + ".svg"), "File name too long"), (folder, "Is a directory")):
        refused(reason, COPY, "-o", target)
        refused(reason, COPY, "--set", f"write.path={target}")
        refused(reason, VELO, "--trace", target)
        refused("" if target == folder else reason, histograms, "-n", 2, "-o", target)
    refused("does not end in", histograms, "-n", 2, "-o", folder / "b.png")
    for arguments in (["plan", VELO, "--svg"], ["tune", VELO, "--slots", 1, "-o"]):
        done = subprocess.run([SLUICE, *map(str, arguments), str(folder / "none" / "b")], capture_output=True, text=True)
        check(done.returncode == 2 and done.stderr.count("error:") == 1 and not done.stdout, f"{arguments[0]}: {done.stderr}")
    with open(b, "wb") as out:
        done = subprocess.run(command(COPY, "-i", a, "-o", "-", "--json", b), stdout=out, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 2 and "the file of --json" in done.stderr, "the file on standard output counts as an output, too")
    b.unlink()
    # A file with the name of a temporary file is treated like any other file.
    source = folder / "b.mdf.part"
    source.write_bytes(before)
    run(COPY, "-i", source, "-o", b, "--quiet")
    check(source.read_bytes() == before == b.read_bytes(), "an input with the name of a temporary file is not changed")


def two_runs_for_one_file(folder):
    target, part = folder / "t.csv", folder / "t.csv.part"
    first = start(LUMI, "-n", 1000000, "-o", target)
    wait_for(part, first)
    done = run(LUMI, "-n", 20, "-o", target, expect=2)
    check(f"{target}: process {first.pid} is writing it, as {part}" in done.stderr, "the second run names the process that writes the file")
    first.send_signal(signal.SIGKILL)
    first.communicate()
    left = part.read_bytes()
    run(LUMI, "-n", 20, "-o", target, "--quiet")
    check(len(target.read_text().splitlines()) > 1 and part.read_bytes() == left, "the file of a killed run stays, and other runs can write the output")


def killed(folder):
    """After SIGKILL, files contain events that were delivered more than a second earlier, even if no more events come."""
    target, part, trace = folder / "t.csv", folder / "t.csv.part", folder / "t.json"
    graph = folder / "toy.yaml"
    graph.write_text(TOY)
    process = start(graph, "--plugin-path", PLUGINS, "--set", "raw.stall_after=300", "--slice-events", 100, "-o", target,
                    "--trace", trace, "--metrics", folder / "t.prom")
    wait_for(part, process, 2000)
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    check(not target.exists() and not trace.exists(), "a killed run leaves only .part files")
    rows = part.read_text()
    numbers = {int(row.split(",")[1]) for row in rows.splitlines()[1:]}
    check(rows.endswith("\n") and max(numbers) >= 298, f"rows of all delivered events are in the file: up to {max(numbers)}")
    spans = json.loads((folder / "t.json.part").read_text() + "]")
    check(sum(s.get("args", {}).get("events", 0) for s in spans if s["name"] == "fill") == 300, "the trace has the spans of all delivered events")
    check("sluice_events_total 300\n" in (folder / "t.prom").read_text(), "the metrics count all delivered events")
    process = start(LUMI, "-n", 1000000, "--set", "raw.luminosity_fraction=1", "-o", folder / "l.csv")
    wait_for(folder / "l.csv.part", process, 4000)  # the head has 1800
    process.send_signal(signal.SIGKILL)
    process.communicate()
    rows = (folder / "l.csv.part").read_text().splitlines()
    check(len(rows) > 2 and rows[0].count(",") == rows[-2].count(","), f"rows of the luminosity table are written continuously: {len(rows)}")


def full_disk(folder):
    target, part = folder / "t.csv", folder / "t.csv.part"
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000000, 4000000))}
    run(COPY, "-n", 100, "-o", folder / "in.mdf", "--quiet")
    done = run(COPY, "-i", folder / "in.mdf", "-o", folder / "out.mdf", expect=1, **limits)
    check("out.mdf.part: cannot write after 4000000 bytes: File too large; it keeps the first " in done.stderr
          and 3500000 < (folder / "out.mdf.part").stat().st_size <= 4000000, "the complete events of the first buffer are kept")
    graph = folder / "toy.yaml"
    graph.write_text(TOY)
    process = start(graph, "--plugin-path", PLUGINS, "--set", "raw.stall_after=300", "--slice-events", 100, "-o", target)
    wait_for(part, process, 2000)
    size = part.stat().st_size
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[1]
    check("it keeps the first 300 events" in said and part.stat().st_size == size, "events that were flushed stay if the disk is full")
    # The message has the number of events in the file.
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000000, 20000000))}
    done = run(graph, "--plugin-path", PLUGINS, "-o", folder / "f.csv", expect=1, **limits)
    kept = int(re.search(r"it keeps the first (\d+) events", done.stderr)[1])
    rows = (folder / "f.csv.part").read_text()
    numbers = [int(row.split(",")[1]) for row in rows.splitlines()[1:]]
    check(rows.endswith("\n") and kept - 13 <= max(numbers) < kept, f"the message reports {kept} events, and the last row is of event {max(numbers)}")
    # Each writer keeps the complete events in the file, or removes the file if there are none.
    whole = folder / "whole"
    for name, room, step, arguments in (
            ("a.mdf", 1500000, 1, (COPY, "-i", folder / "in.mdf")),
            ("a.mep", 1500000, 3, (COPY, "-i", folder / "in.mdf", "--use", "write=io.mep_sink", "--set", "write.events=3")),
            ("a.csv", 100000, 20, (graph, "--plugin-path", PLUGINS)),
            ("l.csv", 20000, 1, (LUMI, "-n", 120, "--set", "raw.luminosity_fraction=1"))):
        done = run(*arguments, "-o", folder / name, expect=1,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
        said = re.findall(rf"{name}.part: cannot write after {room} bytes: File too large; it keeps the first (\d+) events", done.stderr)
        check(len(said) == 1, f"{name}: one message reports the events that are kept{'' if len(said) == 1 else done.stderr}")
        kept = int(said[0])
        run(*arguments, "-n", kept, "-o", whole, "--quiet")
        check((folder / f"{name}.part").read_bytes() == whole.read_bytes(), f"{name}: {kept} complete events are kept")
        run(*arguments, "-n", kept + step, "-o", whole, "--quiet")
        check(whole.stat().st_size > room, f"{name}: one more step of events does not fit")
    none = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))}
    for arguments in ((VELO, "-n", 2, "--trace"), (ROOT / "graphs/velo_histograms.yaml", "-n", 2, "-o")):
        done = run(*arguments, folder / "x.svg", expect=1, **none)
        check("cannot write after 300 bytes: File too large" in done.stderr, f"{arguments[-1]}: a full disk is reported")
    done = subprocess.run([SLUICE, "plan", VELO, "--svg", folder / "x.svg"], capture_output=True, text=True, **none)
    check(done.returncode == 1 and "cannot write after 300 bytes" in done.stderr and not (folder / "x.svg").exists(), "a drawing on a full disk is reported and removed")
    # If the JSON does not fit, the old file stays.
    report = folder / "report.json"
    report.write_text("old")
    done = run(VELO, "-n", 5, "--json", report, "--quiet", expect=1,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    check("report.json.part: cannot write after 100 bytes: File too large" in done.stderr and report.read_text() == "old",
          "an old JSON stays if a new one does not fit")
    check(not list(folder.glob("report.json.part*")), "no .part file of the JSON is left")


def permissions(folder):
    """A file that replaces another keeps its permissions, for all writers."""
    hdf5 = "hdf5.sink" in subprocess.run([SLUICE, "list", "--algorithms"], capture_output=True, text=True).stdout
    (folder / "p.csv").write_text("id,lower,upper,size\n0,0,2,16\n")
    writers = {"-o": [COPY, "-n", 1, "-o"], "table": [LUMI, "-n", 1, "-o"], "--json": [VELO, "-n", 1, "--json"],
               "--trace": [VELO, "-n", 1, "--trace"], "--metrics": [VELO, "-n", 1, "--metrics"],
               "histograms": [ROOT / "graphs/velo_histograms.yaml", "-n", 1, "--set", "draw.format=svg", "-o"],
               "--svg": ["plan", VELO, "--svg"], "--offsets": ["plan", "--csv", folder / "p.csv", "--offsets"]}
    if hdf5:
        writers["HDF5"] = [VELO, "-n", 1, "--with", ROOT / "graphs/output/hdf5.yaml", "-o"]
    for name, arguments in writers.items():
        target = folder / "target"
        for mode in (0o600, 0o640):
            target.write_bytes(b"")
            target.chmod(mode)
            first = [] if arguments[0] == "plan" else ["run"]
            done = subprocess.run([SLUICE, *first, *map(str, arguments), str(target)], capture_output=True, text=True, umask=0o022)
            found = target.stat().st_mode & 0o7777
            check(done.returncode == 0 and target.stat().st_size > 0 and found == mode, f"{name}: {found:o}, {mode:o} before {done.stderr}")
        target.unlink()
    target.write_bytes(b"")
    if os.geteuid() == 0:
        os.chown(target, 1234, 4321)
        run(COPY, "-n", 1, "-o", target, "--quiet")
        check((target.stat().st_uid, target.stat().st_gid) == (1234, 4321), "a file written by root keeps its owner and group")


def long_names(folder):
    for length in (250, 251, 255):
        for option, ending in (("-o", ".mdf"), ("--json", ".json"), ("--metrics", ".prom"), ("--trace", ".json")):
            target = folder / ("n" * (length - len(ending)) + ending)
            run(COPY, "-n", 1, *([] if option == "-o" else ["-o", "/dev/null"]), option, target, "--quiet")
            check([path.name for path in folder.iterdir()] == [target.name], f"{option} with a name of {length} bytes")
            target.unlink()


def stopped(folder):
    """After SIGINT and SIGTERM no file looks complete."""
    for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        table, report, trace, metrics = (folder / f"{sent.name}.{end}" for end in ("csv", "json", "trace", "prom"))
        table.write_text("old")
        process = start(LUMI, "-n", 1000000, "-o", table, "--json", report, "--trace", trace, "--metrics", metrics)
        wait_for(metrics, process)
        time.sleep(0.5)
        process.send_signal(sent)
        said = process.communicate()[1]
        part = folder / f"{table.name}.part"
        rows = part.read_text().splitlines()[1:]
        check(process.returncode == status and table.read_text() == "old", f"{sent.name}: the old table stays")
        check(f"{part}: the run was stopped before its end; it has the first {len(rows)} events" in said,
              f"{sent.name}: the message reports {len(rows)} events")
        summary = json.loads(report.read_text())
        check(summary["interrupted"] is True and summary["failed"] is False, f"{sent.name}: the JSON reports the interruption")
        check(not trace.exists() and json.loads((folder / f"{trace.name}.part").read_text()), f"{sent.name}: the trace is valid JSON")
        check("\nsluice_interrupted 1\n" in metrics.read_text(), f"{sent.name}: the metrics report the interruption")
    done = json.loads(run(LUMI, "-n", 5, "--json", "-", "--quiet").stdout)
    check(done["interrupted"] is False and done["failed"] is False, "the JSON of a complete run reports no interruption")


def fifo_without_reader(folder):
    """A run waits for the reader of a FIFO, reports it, and can be stopped."""
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        for option in ("-o", "--trace", "--json"):
            process = start(COPY, "-n", 30, *([] if option == "-o" else ["-o", "/dev/null"]), option, fifo)
            line = process.stderr.readline()
            check(f"{fifo}: this pipe has no reader; waiting for one" in line, f"{option} FIFO: {line.strip()}")
            process.send_signal(sent)
            said = process.communicate(timeout=60)[1]
            check(process.returncode == status, f"{sent.name} ends the wait: {process.returncode}")
            check(f"{fifo}: the run was stopped before a reader opened the pipe" in said and "error" not in said,
                  f"the message reports that there was no reader: {said.strip()}")
    process = start(COPY, "-n", 30, "-o", fifo)
    check("has no reader; waiting for one" in process.stderr.readline(), "the run waits for a reader")
    check(len(fifo.read_bytes()) > 10000 and process.wait(60) == 0, "a late reader gets the events")
    process.communicate()


def main():
    for case in (devices_stay, streams, fifo_without_reader, refused_at_the_start, two_runs_for_one_file, killed, full_disk, permissions,
                 long_names, stopped):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            case(pathlib.Path(name))
        print(f"        {case.__name__}: {time.monotonic() - begin:.1f} s")
    checks.end()


if __name__ == "__main__":
    main()
