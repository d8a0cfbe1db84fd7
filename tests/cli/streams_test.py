#!/usr/bin/env python3
"""Events from pipes equal those from a file, in pieces of any size: streams_test.py SLUICE"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from common import BRIEF, ROOT, Checks

COUNTS, COPY, SIMULATE = (ROOT / "graphs" / name for name in ("velo_counts.yaml", "copy.yaml", "simulate.yaml"))
EVENTS, SEED = 60 if BRIEF else 150, 1
checks = Checks()
check = checks.that


def run(sluice, *arguments, expect=0, **options):
    done = subprocess.run([sluice, "run", *map(str, arguments)], capture_output=True, timeout=100, **options)
    check(done.returncode == expect, f"sluice run {' '.join(map(str, arguments))}: status {done.returncode}"
          + ("" if done.returncode == expect else f"\n{done.stderr.decode()}"))
    return done


def read(sluice, pieces, *arguments, pause=0.0, expect=0):
    """Summary and messages of a run with these pieces on standard input."""
    process = subprocess.Popen([sluice, "run", str(COUNTS), "--digest", "--json", "-", "--quiet", "-i", *map(str, arguments)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for piece in pieces:
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(pause)
        process.stdin.close()
    except BrokenPipeError:
        pass
    summary, said = process.stdout.read(), process.stderr.read().decode()
    check(process.wait() == expect, f"status {process.returncode}: {said}")
    return json.loads(summary), said


def facts(summary, name):
    """The parts of a summary that do not depend on the kind of input."""
    messages = [m["message"].replace(name, "INPUT") for m in summary["messages"]]
    errors = [{**e, "first": {**e["first"], "file": ""}} for e in summary["errors"]]
    return summary["events"], summary["error_events"], summary["outputs"], messages, errors


def cut(data, sizes):
    at = 0
    while at < len(data):
        size = next(sizes)
        yield data[at:at + size]
        at += size


def of_file(sluice, path, *arguments, expect=0):
    done = run(sluice, COUNTS, "-i", path, "--digest", "--json", "-", "--quiet", *arguments, expect=expect)
    return facts(json.loads(done.stdout), str(path))


def same_as_a_file(sluice, folder, draw):
    path, packets = folder / "events.mdf", folder / "events.mep"
    run(sluice, SIMULATE, "-n", EVENTS, "-o", path, "--quiet")
    run(sluice, COPY, "-i", path, "-o", packets, "--use", "write=io.mep_sink", "--set", "write.events=20", "--quiet")
    data, whole = path.read_bytes(), of_file(sluice, path)
    check(whole[:2] == (EVENTS, 0), "a file with all events and no error")
    for what, sizes in (("at once", iter([len(data)])), ("in small pieces", iter(lambda: draw.randrange(1, 5000), None)),
                        ("in large ones", iter(lambda: draw.randrange(50000, 500000), None))):
        for arguments in (("-",), ("/dev/stdin", "--slots", 3, "--slice-events", 7), ("-", "--repeat", 3)):
            if what != "at once" or arguments == ("-",):
                pieces = cut(data, sizes) if what != "at once" else [data]
                check(facts(read(sluice, pieces, *arguments)[0], "/dev/stdin") == whole, f"{what}, {' '.join(map(str, arguments))}: the same")
    check(facts(read(sluice, cut(data, iter(lambda: len(data) // 3 + 1, None)), "-", pause=0.8)[0], "/dev/stdin") == whole, "with pauses")
    with open(path, "rb") as file:
        done = run(sluice, COUNTS, "-i", "-", "--digest", "--json", "-", "--quiet", stdin=file)
    check(facts(json.loads(done.stdout), "/dev/stdin") == whole, "standard input may be a file")
    with_mep = ("--use", "raw=io.mep_source")
    check(facts(read(sluice, cut(packets.read_bytes(), iter(lambda: 30000, None)), "-", *with_mep)[0], "/dev/stdin")[:3]
          == of_file(sluice, packets)[:3], "packets from a pipe are read if --use names their source")
    check(facts(read(sluice, [packets.read_bytes()], "-")[0], "/dev/stdin")[:3] == of_file(sluice, packets)[:3],
          "packets from a pipe are recognised by their first bytes")
    _, said = read(sluice, [b"no events are in here\n" * 100], "-", expect=1)
    check("no record header in the first 2200 bytes of this pipe" in said, "a pipe without records is reported")
    two = subprocess.run(["bash", "-c", f"'{sluice}' run '{COUNTS}' -i <(cat '{path}') '{path}' <(cat '{path}') --digest --json - --quiet"],
                         capture_output=True, timeout=100)
    check(json.loads(two.stdout)["events"] == 3 * EVENTS, "several pipes and files are read in sequence")
    copy = folder / "copy.mdf"
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        run(sluice, COPY, "-i", "-", "-o", copy, "--quiet", stdin=cat.stdout)
    check(copy.read_bytes() == data, "a copy has equal bytes")
    return data


def damaged(sluice, folder, data, draw):
    """Changed, missing and added bytes, and a truncated end."""
    path = folder / "damaged.mdf"
    for round_ in range(4 if BRIEF else 12):
        broken = bytearray(data)
        for _ in range(draw.randrange(1, 8)):
            at, what = draw.randrange(len(broken)), draw.randrange(4)
            if what == 0:
                del broken[at:at + draw.randrange(1, 70000)]
            elif what == 1:
                broken[at:at] = draw.randbytes(draw.randrange(1, 70000))
            elif what == 2:
                broken[at:at + 40] = bytes(40)
            else:
                broken[at] ^= 255
        broken = bytes(broken[:draw.randrange(len(broken) // 2, len(broken))])
        path.write_bytes(broken)
        expected = of_file(sluice, path)
        pieces = cut(broken, iter(lambda: draw.randrange(1, 90000), None))
        got = facts(read(sluice, pieces, "-")[0], "/dev/stdin")
        check(got == expected, f"damage {round_}: {expected[:2]} events and errors" + ("" if got == expected else f", from the pipe {got}\n{expected}"))


def refused(sluice, folder, data):
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    begin = time.monotonic()
    said = run(sluice, COUNTS, "-i", fifo, expect=1).stderr.decode()
    check(f"{fifo}: is a pipe without a writer" in said and time.monotonic() - begin < 5, "a pipe without a writer is refused")
    check("can be read only once" in read(sluice, [data], "-", "-", expect=1)[1], "standard input cannot be read twice")
    check("can be read only once" in read(sluice, [data], "-", "--set", "raw.passes=2", expect=1)[1], "standard input cannot be read in two passes")
    summary, said = read(sluice, [], "-", expect=1)
    check("all input files are empty" in said, "an empty pipe is an error")


def stopped(sluice, folder, data):
    """A signal ends a run that waits for input."""
    report = folder / "stopped.json"
    for slots in (1, 3):
        process = subprocess.Popen([sluice, "run", str(COUNTS), "-i", "-", "--json", report, "--quiet", "--slots", str(slots)],
                                   stdin=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        process.stdin.write(data[:len(data) // 2])
        process.stdin.flush()
        time.sleep(1.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        status = process.wait(30)
        summary = json.loads(report.read_text())
        check(status == 130 and time.monotonic() - begin < 5 and summary["status"] == "interrupted", f"{slots} slots: stopped while it waits: {status}")
        check(summary["events"] > EVENTS // 4 and summary["error_events"] == 0, f"a stopped run has the {summary['events']} events that were complete")
        process.stdin.close()


def memory(sluice, data):
    little = read(sluice, [data], "-")[0]["peak_rss_bytes"]
    much = read(sluice, [data] * 15, "-")[0]
    check(much["events"] == 15 * EVENTS and much["peak_rss_bytes"] < little + (16 << 20),
          f"{15 * len(data) >> 20} MiB pass through {much['peak_rss_bytes'] >> 20} MiB; the first {len(data) >> 20} need {little >> 20}")


def main():
    sluice, draw = sys.argv[1], random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = same_as_a_file(sluice, folder, draw)
        damaged(sluice, folder, data, draw)
        refused(sluice, folder, data)
        stopped(sluice, folder, data)
        memory(sluice, data)
    checks.end()


if __name__ == "__main__":
    main()
