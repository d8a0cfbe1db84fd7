#!/usr/bin/env python3
"""Messages of a run on standard error: when they are printed, above the progress bar, and for any number of slots:
messages_test.py SLUICE"""
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import mdf
from common import ROOT, Checks

VELO = ROOT / "graphs/velo.yaml"
EVENTS, DAMAGED_EVERY, COLUMNS = 400, 5, 80
FAULT = re.compile(r"warning: node raw: \S+/damaged\.mdf: record at byte \d+ \(event \d+\): .*")
checks = Checks()
check = checks.that


def make_damaged(sluice, folder):
    """A file in which every DAMAGED_EVERYth record has a wrong checksum, and the last record is truncated."""
    path = folder / "damaged.mdf"
    subprocess.run([sluice, "run", ROOT / "graphs/simulate.yaml", "-n", str(EVENTS), "-o", path, "--quiet"], check=True)
    records = list(mdf.records(path))
    for record in records[2::DAMAGED_EVERY]:
        record[70] ^= 1
    path.write_bytes(b"".join(records)[:-1])
    return path


def as_they_occur(sluice, damaged):
    """Reads messages while the run continues, then kills it."""
    process = subprocess.Popen([sluice, "run", VELO, "-i", damaged, "--set", "raw.passes=100000", "--slots", "2"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    late = threading.Timer(60, process.kill)
    late.start()
    lines = [process.stderr.readline() for _ in range(20)]
    late.cancel()
    check(process.poll() is None, "messages are printed during the run")
    process.kill()
    process.wait()
    check(all(FAULT.fullmatch(line.rstrip()) for line in lines), f"messages name the events: {lines[0].rstrip()}")
    check("only counted" in lines[-1], "the twentieth message of a kind reports that others are only counted")


def on_screen(text):
    """The final lines on a terminal that is wide enough."""
    lines, column = [""], 0
    for part in re.findall(r"\r|\n|\033\[K|[^\r\n\033]+|\033", text):
        if part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
            column = 0
        elif part == "\033[K":
            lines[-1] = lines[-1][:column]
        else:
            lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part):]
            column += len(part)
    return lines


def on_terminal(command, also_stdout=False, **environment):
    """Output of a command on a terminal with COLUMNS columns, by default without colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    process = subprocess.Popen(command, stdout=slave if also_stdout else subprocess.DEVNULL, stderr=slave,
                               env={**os.environ, "TERM": "dumb", "NO_COLOR": "", **environment})
    os.close(slave)
    content = b""
    try:
        while block := os.read(master, 65536):
            content += block
    except OSError:  # end of the terminal
        pass
    process.wait()
    os.close(master)
    return content.decode()


BAR = re.compile(r"\r\033\[K\[[#-]+\] +\d+ %  \d+ events, \d+/s, [\d:]+ left")


def above_the_bar(sluice, damaged):
    text = on_terminal([sluice, "run", VELO, "-i", damaged, "--set", "raw.passes=12", "--slots", "3", "--slice-events", "4"])
    bars = BAR.findall(text)
    check(len(bars) >= 2, f"the bar is drawn: {len(bars)} times")
    lines = [line for line in on_screen(text) if line.strip()]
    wrong = [line for line in lines if not FAULT.fullmatch(line) and " more like " not in line]
    check(len(lines) >= 21 and not wrong, f"each of {len(lines)} messages has its own line: {wrong[:2]}")
    check(re.search(r"\]  ? ?\d+ %.*\r\033\[Kwarning", text) is not None, "some messages are printed while the bar is shown")


def no_bar_among_results(sluice, damaged):
    command = [sluice, "run", VELO, "-i", damaged, "--slice-events", "4"]
    check("\033[K" in on_terminal(command, also_stdout=True), "a bar is drawn if both outputs are a terminal")
    text = on_terminal([*command, "--digest=events"], also_stdout=True)
    check("\033" not in text and text.count("digest ") >= EVENTS, "no bar is drawn between digests of events")


def colours(sluice):
    command = [sluice, "check", VELO, "--set", "sed=1"]
    plain = "--set sed=1: error: the graph has no parameter `sed`"
    text = on_terminal(command, TERM="xterm")
    check("--set sed=1: \033[1;31merror:\033[0m the graph" in text, "a terminal gets colours")
    check(text.count("\033") == 2, "only the severity has a colour")
    check("\033[1;31merror:\033[0m there is no command" in on_terminal([sluice, "rnu"], TERM="xterm"), "errors of the command line have colours")
    forged = on_terminal([sluice, "check", VELO, "--set", "\033[31m=1"], TERM="xterm")
    check("\\x1b[31m=1: \033[1;31merror:\033[0m" in forged, "escape codes in arguments are shown as text")
    for why, environment in (("NO_COLOR", {"TERM": "xterm", "NO_COLOR": "1"}), ("a dumb terminal", {"TERM": "dumb"})):
        text = on_terminal(command, **environment)
        check("\033" not in text and plain in text, f"{why}: no colours")
    text = on_terminal([*command, "--diagnostics", "json"], TERM="xterm")
    check("\033" not in text and json.loads(text)["hint"] == "did you mean seed?", "JSON has no colours")
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TERM": "xterm"})
    check("\033" not in done.stderr and plain in done.stderr, "a pipe gets no colours")


LOG_LINE = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|note|warning|error) (.*)")


def kept_in_a_log(sluice, damaged, folder):
    """Two concurrent runs with several threads write complete lines to one log, when they occur."""
    log = folder / "runs.log"
    command = [sluice, "run", VELO, "-i", damaged, "--slots", "3", "--slice-events", "4", "--quiet", "--log", log]
    runs = [subprocess.Popen(command) for _ in range(2)]
    check([run.wait() for run in runs] == [0, 0], "two runs share a log")
    lines = [LOG_LINE.fullmatch(line) for line in log.read_text().splitlines()]
    check(all(lines), f"all {len(lines)} lines of the log are complete")
    check(sum(line[1] == "warning" and FAULT.fullmatch(f"warning: {line[2]}") is not None for line in lines) == 42,
          "the log has messages that --quiet suppresses")
    ends = [line[2] for line in lines if line[2].startswith("ends: ok, exit status 0, 400 events, 81 with errors, ")]
    check(len(ends) == 2, "the log has the end of both runs")
    log.unlink()
    process = subprocess.Popen([*command, "--set", "raw.passes=100000"], stderr=subprocess.DEVNULL)
    late = time.monotonic() + 60
    while time.monotonic() < late and (not log.exists() or log.read_text().count("warning") < 20):
        time.sleep(0.01)
    check(process.poll() is None, "the log is written during the run")
    process.send_signal(signal.SIGTERM)
    check(process.wait() == 143 and ": interrupted, exit status 143," in log.read_text(), "the log reports a signal")


def the_same_for_all_slots(sluice, damaged):
    outputs = set()
    for slots, slice_events, threads in ((1, 8, 1), (1, 8, 3), (2, 8, 2), (4, 1, 8), (3, 1000, 2)):
        done = subprocess.run([sluice, "run", VELO, "-i", damaged, "--slots", str(slots), "--slice-events", str(slice_events),
                               "--source-threads", str(threads)],
                              capture_output=True, text=True)
        check(done.returncode == 0, f"{slots} slots, {slice_events} events a slice, {threads} source threads")
        outputs.add("\n".join(sorted(done.stderr.splitlines())))
    check(len(outputs) == 1, "all runs print the same messages")


def counted_by_reason(sluice, damaged, folder):
    corrupt = len([n for n in range(EVENTS) if n % DAMAGED_EVERY == 2])
    command = [sluice, "run", VELO, "-i", damaged, "--json", folder / "s.json", "--metrics", folder / "m.prom"]
    done = subprocess.run(command, capture_output=True, text=True)
    check(f"error        node raw: corrupt: {corrupt} events\n" in done.stdout, "the table has the reason")
    check("error        node raw: truncated: 1 event\n" in done.stdout, "the table has the second reason")
    check(f"{corrupt - 20} more like" in done.stderr, "the number of messages that were only counted is printed at the end")
    summary = json.loads((folder / "s.json").read_text())
    first = [error.pop("first") for error in summary["errors"]]
    check(summary["errors"] == [{"node": "raw", "reason": "corrupt", "count": corrupt},
                                {"node": "raw", "reason": "truncated", "count": 1}], f"JSON: {summary['errors']}")
    check([(e["event"], e["file"]) for e in first] == [(2, str(damaged)), (EVENTS - 1, str(damaged))], f"JSON has the first event of each reason: {first}")
    said = [m["message"] for m in summary["messages"]]
    check(len(said) == 22 and said[-1].startswith(f"{corrupt - 20} more like"), f"JSON has the messages: {len(said)}")
    check(done.stdout.endswith(f"\n{corrupt + 1} of {EVENTS} events have an error.\n"), "the last line of the table has the number of errors")
    check(sum(e["count"] for e in summary["errors"]) == summary["error_events"], "counts of reasons add up")
    metrics = (folder / "m.prom").read_text()
    check(f'sluice_errors_total{{node="raw",reason="corrupt"}} {corrupt}\n' in metrics, "the metrics have the reason")


def quiet(sluice, damaged):
    done = subprocess.run([sluice, "run", VELO, "-i", damaged, "--quiet"], capture_output=True, text=True)
    check(done.stderr == done.stdout == "", "--quiet suppresses warnings")
    done = subprocess.run([sluice, "run", VELO, "-i", damaged, "--quiet", "--set", "raw.strict=true"], capture_output=True, text=True)
    check("error: node raw: " in done.stderr and "warning" not in done.stderr, f"--quiet does not suppress errors: {done.stderr}")


def main():
    sluice = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        damaged = make_damaged(sluice, folder)
        as_they_occur(sluice, damaged)
        above_the_bar(sluice, damaged)
        no_bar_among_results(sluice, damaged)
        the_same_for_all_slots(sluice, damaged)
        counted_by_reason(sluice, damaged, folder)
        quiet(sluice, damaged)
        colours(sluice)
        kept_in_a_log(sluice, damaged, folder)
    checks.end()


if __name__ == "__main__":
    main()
