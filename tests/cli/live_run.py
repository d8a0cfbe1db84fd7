"""Runs that tests talk to while they go on: messages, SIGUSR1, files for a followed folder."""
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from common import SLUICE

SECONDS = 60


def records(data):
    """The records of an MDF file."""
    found, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "little")
        found.append(data[at:at + size])
        at += size
    return found


class Run:
    """A run, and the messages that it has printed."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([SLUICE, "run", *map(str, arguments)], stderr=subprocess.PIPE, **options)
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.decode(errors="replace").rstrip())

    def until(self, condition):
        end = time.monotonic() + SECONDS
        while not condition() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        return condition()

    def answers(self):
        return [line for line in self.lines if re.match(r"note: configuration [0-9a-f]{16} from event|warning: the configuration stays", line)]

    def reload(self):
        """Sends the signal, and returns the answer and the messages before it."""
        before, lines = len(self.answers()), len(self.lines)
        self.process.send_signal(signal.SIGUSR1)
        self.until(lambda: len(self.answers()) > before)
        found = self.answers()
        return (found[-1] if len(found) > before else ""), self.lines[lines:]

    def refused(self):
        """Reloads a configuration that must be refused, and returns the errors."""
        answer, lines = self.reload()
        assert answer.startswith("warning: the configuration stays as it is"), f"refused: {answer}"
        return [line for line in lines if "error: " in line]

    def end(self, number=None):
        if number:
            self.process.send_signal(number)
        status = self.process.wait()
        self.reader.join()
        return status


def arrive(name, data):
    Path("in/.new").write_bytes(data)
    Path("in/.new").rename(Path("in") / name)


def events_in(metrics):
    found = re.search(r"^sluice_events_total (\d+)$", Path(metrics).read_text(), re.M) if Path(metrics).exists() else None
    return int(found[1]) if found else 0
