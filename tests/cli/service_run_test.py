"""A service that runs for half an hour (at a push one minute) and is fed by a producer with pauses, bursts, damaged files and
files of another kind; it is killed and continued, its configuration changes twice, and five clients poll its page. Every event is
accounted for, the page answers all the time, and memory does not grow.
"""
import json
import os
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from common import BRIEF, ROOT, SLUICE, Checks, call

checks = Checks()
draw = random.Random(46)
SECONDS = 60 if BRIEF else 1800
KILLED_AFTER = SECONDS * 0.4  # seconds
CHANGED_AFTER = [SECONDS * 0.2, SECONDS * 0.7]
GRAPH = ("graph.yaml", "--with", "write.yaml")


def write_graph(block):
    """Graphs that differ in a setting without influence on results."""
    Path(".graph").write_text(f"sluice: 1\ninclude: [{ROOT}/graphs/decisions.yaml]\nnodes: {{ decisions: {{ block: {block} }} }}\n")
    Path(".graph").rename("graph.yaml")


def damaged(data):
    """The first record with a wrong bank in it."""
    data = bytearray(data)
    data[80:88] = b"\xff" * 8
    return bytes(data)


class Producer(threading.Thread):
    """Writes files into the folder `in`, complete when they are renamed; keeps the files that can be read in `sent`."""

    def __init__(self, samples, until):
        super().__init__()
        self.samples, self.until = samples, until
        self.sent, self.broken, self.count = [], 0, 0

    def write(self, data, is_readable):
        name = f"f{self.count:06d}.mdf"
        self.count += 1
        Path("in/.new").write_bytes(data)
        if is_readable:
            os.link("in/.new", Path("sent") / name)
            self.sent.append(name)
        Path("in/.new").rename(Path("in") / name)

    def run(self):
        while time.monotonic() < self.until:
            for _ in range(draw.choice((1, 1, 1, 2, 15))):  # sometimes a burst
                kind = draw.random()
                data = draw.choice(self.samples)
                if kind < 0.05:
                    self.broken += 1
                    self.write(b"not a file of events" * 100, False)
                else:
                    self.write(damaged(data) if kind < 0.2 else data, True)
            time.sleep(draw.choice((0.05, 0.2, 0.5, 2 if BRIEF else 8)))


def resident(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


class Client(threading.Thread):
    """Polls the page of the service; `longest` is the longest time without an answer."""

    def __init__(self, paths):
        super().__init__(daemon=True)
        self.paths, self.url, self.ends = paths, None, False
        self.answers, self.longest, self.since = 0, 0.0, None

    def run(self):
        while not self.ends:
            url = self.url
            try:
                for path in self.paths if url else ():
                    with urllib.request.urlopen(url + path, timeout=20) as answer:
                        answer.read()
                    self.answers += 1
                self.since = time.monotonic()
            except OSError:
                pass
            if url and self.since:
                self.longest = max(self.longest, time.monotonic() - self.since)
            time.sleep(0.3)

    def follow(self, url):
        self.url, self.since = url, None


def start(clients):
    log = open("page.log", "w+")
    process = subprocess.Popen([SLUICE, "run", *map(str, GRAPH), "--follow", "in", "--pattern", "*.mdf", "--done", "done", "--rotate", "2MB,5s",
                                "--checkpoint", "c", "--resume", "-o", "out-%04d.mdf", "--json", "c.json", "--metrics", "c.prom", "--serve", "0", "--log", "run.log"],
                               stdout=subprocess.DEVNULL, stderr=log)
    while process.poll() is None and "the page is at" not in Path("page.log").read_text():
        time.sleep(0.1)
    for client in clients:
        client.follow(re.search(r"the page is at (\S+)", Path("page.log").read_text())[1])
    return process


def serve(producer, clients):
    """Runs the service until the producer has ended and everything is processed. Returns resident memory by second."""
    process, memory, kills, changes = start(clients), [], 0, 0
    begin = time.monotonic()
    while producer.is_alive() or len(list(Path("in").glob("*.mdf"))) > producer.broken:
        time.sleep(0.5)
        now = time.monotonic() - begin
        if changes < len(CHANGED_AFTER) and now > CHANGED_AFTER[changes]:
            changes += 1
            write_graph(64 if changes % 2 else 128)
            process.send_signal(signal.SIGUSR1)
        if kills == 0 and now > KILLED_AFTER:
            for client in clients:
                client.follow(None)
            process.kill()
            process.wait()
            kills, process, memory = 1, start(clients), []
            continue
        if process.poll() is not None or now > 2 * SECONDS + 120:
            break
        memory.append(resident(process.pid))
    has_ended = process.poll() is not None
    for client in clients:
        client.follow(None)
    process.send_signal(signal.SIGTERM)
    return process.wait(), has_ended, memory, kills


def sum_totals(configurations):
    """Totals of all configurations: {output: {name: {field: count}}}."""
    sums = {}
    for configuration in configurations:
        for output, names in configuration["totals"].items():
            for name, fields in names.items():
                for field, count in fields.items():
                    of_name = sums.setdefault(output, {}).setdefault(name, {})
                    of_name[field] = of_name.get(field, 0) + count
    return sums


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name in ("in", "done", "sent"):
        Path(name).mkdir()
    Path("write.yaml").write_text("sluice: 1\nnodes: { write: { use: io.mdf_sink, set: { with_errors: true } } }\n")
    for seed in range(6):
        call("run", ROOT / "graphs/simulate.yaml", "-n", 1 + 3 * seed, "--set", f"seed={seed}", "-o", f"sample{seed}.mdf", "--quiet")
    producer = Producer([Path(f"sample{seed}.mdf").read_bytes() for seed in range(6)], time.monotonic() + SECONDS)
    write_graph(128)
    producer.start()
    clients = [Client(paths) for paths in (["status.json"], ["status.json", "histograms.json"], ["metrics"], ["", "status.json"], ["config.yaml"])]
    for client in clients:
        client.start()
    status, has_ended, memory, kills = serve(producer, clients)
    producer.join()
    for client in clients:
        client.ends = True
        client.join()
    checks.that(status == 143 and not has_ended and kills == 1, f"the service ran until it was stopped, with {kills} kill: status {status}")
    summary = json.loads(Path("c.json").read_text())
    call("run", *GRAPH, "-i", *[Path("sent") / name for name in producer.sent], "-o", "whole.mdf", "--json", "whole.json", "--quiet")
    whole = json.loads(Path("whole.json").read_text())
    outputs = sorted(Path().glob("out-*.mdf"))
    data = b"".join(path.read_bytes() for path in outputs)
    checks.that(data == Path("whole.mdf").read_bytes(), f"{len(outputs)} files have the {len(data)} bytes of a run over the {len(producer.sent)} files")
    checks.that(all(summary[key] == whole[key] for key in ("events", "error_events")) and summary["error_events"] > 0,
                f"{summary['events']} events are accounted for, {summary['error_events']} of them with errors")
    ended = summary["configurations"]
    checks.that(len(ended) == 1 + len(CHANGED_AFTER) and ended[0]["graph_digest"] == ended[2]["graph_digest"] != ended[1]["graph_digest"]
                and all(c["events"] > 0 for c in ended) and sum(c["events"] for c in ended) == summary["events"], "the configurations have all events")
    checks.that(sum_totals([*ended[:-1], summary]) == whole["totals"], "and their totals add up")
    checks.that(all(c.answers > SECONDS for c in clients) and max(c.longest for c in clients) < 5,
                f"the page gave {sum(c.answers for c in clients)} answers, each within {max(c.longest for c in clients):.1f} s")
    checks.that(sorted(path.name for path in Path("done").iterdir()) == producer.sent, "processed files were moved")
    checks.that(len(list(Path("in").glob("*.mdf"))) == producer.broken > 0, f"{producer.broken} files of another kind are left")
    checks.that(not list(Path().glob("*.part*")), "no temporary file is left")
    early, late = max(memory[4 : len(memory) // 2]), max(memory[len(memory) // 2 :])
    checks.that(late < 1.1 * early + 2e6, f"memory is flat: at most {early} bytes in the first half after the kill, {late} in the second")
    os.chdir("/")
checks.end()
