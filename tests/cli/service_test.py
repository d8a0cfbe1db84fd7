"""The messages for systemd (sd_notify): readiness, watchdog, status, end; and the unit file."""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from common import ROOT, SLUICE, Checks, call

checks = Checks()
COUNTS = ROOT / "graphs/velo_counts.yaml"


def messages_of(name, seconds, *arguments, stop=None, at=()):
    """Runs the command with a socket of this name; returns its exit status and the (time, message) it has sent. `at`: functions that
    are called with the process after one second, two and so on."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service:
        service.bind(name.replace("@", "\0", 1))
        service.settimeout(0.1)
        process = subprocess.Popen([SLUICE, "run", *map(str, arguments), "--quiet"], env={**os.environ, "NOTIFY_SOCKET": name}, stderr=subprocess.PIPE, text=True)
        found, begin, is_stopped = [], time.monotonic(), False
        left = list(at)
        while process.poll() is None and time.monotonic() - begin < 60:
            if left and time.monotonic() - begin > 1 + len(at) - len(left):
                left.pop(0)(process)
            if stop and not is_stopped and time.monotonic() - begin > seconds:
                is_stopped = True
                process.send_signal(stop)
            try:
                found.append((time.monotonic() - begin, service.recv(4096).decode()))
            except TimeoutError:
                pass
        service.settimeout(0)
        try:
            while True:
                found.append((time.monotonic() - begin, service.recv(4096).decode()))
        except BlockingIOError:
            pass
        return process.wait(), found, process.communicate()[1]


def reloaded(name, graph, *arguments):
    """messages_of a run with two requests to reload, the second with a wrong graph."""
    def spoil(process):
        Path(graph).write_text(Path(graph).read_text() + "wrong: 1\n")
        process.send_signal(signal.SIGUSR1)
    return messages_of(name, 5, graph, *arguments, stop=signal.SIGTERM, at=(lambda process: None, lambda process: process.send_signal(signal.SIGUSR1), spoil))


def is_watched(found, seconds):
    """There is a message for the watchdog at least every two seconds."""
    times = [0.0] + [at for at, text in found if "WATCHDOG=1" in text]
    return len(times) > seconds and max(b - a for a, b in zip(times, times[1:])) < 2 + 0.5 * seconds


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    call("run", ROOT / "graphs/simulate.yaml", "-n", 20, "-o", "events.mdf", "--quiet")
    Path("in").mkdir()
    status, found, text = messages_of(f"{folder}/socket", 3, COUNTS, "--follow", "in", "--pattern", "*.mdf", stop=signal.SIGTERM)
    checks.that(status == 143 and found and found[0][1].startswith("READY=1\n") and "waiting for the first file" in found[0][1], f"a service without a file is ready: {found[:1]}")
    checks.that(is_watched(found, 2), f"and alive: {[round(at, 1) for at, _ in found]}")

    shutil.copy("events.mdf", "in/events.mdf")
    status, found, text = messages_of("@sluice-test-%d" % os.getpid(), 4, COUNTS, "--follow", "in", "--pattern", "*.mdf", stop=signal.SIGTERM)
    texts = [text for _, text in found]
    checks.that(status == 143 and any("20 events, 0 with errors" in text for text in texts), f"the status counts events: {texts[-3:]}")
    checks.that(is_watched(found, 3), "an idle run is alive")
    checks.that(texts[-1].startswith("STOPPING=1\n") and "interrupted" in texts[-1], f"the end is announced: {texts[-1:]}")

    Path("counts.yaml").write_text(f"sluice: 1\ninclude: [{COUNTS}]\n")
    status, found, text = reloaded(f"{folder}/again", "counts.yaml", "--follow", "in", "--pattern", "*.mdf")
    texts = [text for _, text in found]
    begins = [i for i, text in enumerate(texts) if text.startswith("RELOADING=1\nMONOTONIC_USEC=")]
    ends = [i for i, text in enumerate(texts) if text.startswith("READY=1\n") and i > 0]
    checks.that(status == 143 and len(begins) == 2 and all(any(b < e for e in ends) for b in begins), f"each reload is announced, and its end: {texts}")
    checks.that(all(0 <= time.monotonic() - int(texts[i].split("MONOTONIC_USEC=")[1].split()[0]) / 1e6 < 60 for i in begins), "with the time of its begin")
    checks.that(any("refused" in text for text in texts) and "counts.yaml:3:1: error:" in text, f"a wrong graph is refused: {text}")

    status, found, text = messages_of(f"{folder}/other", 0, COUNTS, "-i", "events.mdf")
    checks.that(status == 0 and found[0][1].startswith("READY=1") and found[-1][1] == "STOPPING=1\nSTATUS=ok", "a run over files")
    for name, reason in ((f"{folder}/none", "No such file"), ("relative", "Invalid argument"), ("/" + 120 * "x", "Invalid argument")):
        done = call("run", COUNTS, "-i", "events.mdf", "--quiet", env={**os.environ, "NOTIFY_SOCKET": name})
        checks.that(done.stderr.count("warning: ") == 1 and reason in done.stderr, f"a socket that is not there is one warning: {done.stderr.strip()[:100]}")
    os.chdir("/")

unit = (ROOT / "packaging/sluice@.service").read_text()
command = re.search(r"^ExecStart=/usr/bin/sluice (.*)$", unit, re.M)[1]
options = set(re.findall(r"--[a-z-]+", command + " " + re.search(r"SLUICE_ARGUMENTS=(.*)", unit)[1]))
helped = call("run", "--help").stdout
checks.that(len(options) > 6 and all(option in helped for option in options), f"the unit uses options that exist: {sorted(options)}")
if shutil.which("systemd-analyze"):
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", ROOT / "packaging/sluice@.service"], capture_output=True, text=True)
    faults = [line for line in done.stderr.splitlines() if "sluice@" in line and "not executable" not in line]
    checks.that(not faults, f"systemd accepts the unit: {faults}")
checks.end()
