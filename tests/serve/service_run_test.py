"""A service that runs for half an hour (at a push one minute) and is fed by a producer with pauses, bursts, damaged files and
files of another kind; it is killed and continued, its configuration changes twice, the run number changes once, and with it the
conditions; five clients poll its page and a browser shows it. Every event is accounted for, page and browser follow all the time, and
memory does not grow: service_run_test.py SLUICE.
"""
import json
import os
import random
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from common import BRIEF, ROOT, SLUICE, Checks, call
from page_checks import browser, need_browser, open_page, screenshot, text_of

need_browser()
checks = Checks()
draw = random.Random(46)
SECONDS = 60 if BRIEF else 1800
CHANGED_AFTER = [SECONDS * 0.2, SECONDS * 0.7]  # seconds
KILLED_AFTER, SECOND_RUN_AFTER = SECONDS * 0.4, SECONDS * 0.55
RUNS = (7, 8)
GRAPH = ("graph.yaml", "--with", "write.yaml")


def write_graph(block):
    """Graphs that differ in a setting without influence on results."""
    Path(".graph").write_text(f"""sluice: 1
include: [{ROOT}/graphs/decisions.yaml, {ROOT}/graphs/common/velo_tracks.yaml]
conditions: {{ by: event.run, files: "conditions/%d.velo" }}
nodes:
  decisions: {{ block: {block} }}
  geometry: {{ set: {{ path: "${{conditions}}" }} }}
  count: {{ use: velo.count_tracks }}
outputs: [decisions.decisions, decisions.totals, count]
""")
    Path(".graph").rename("graph.yaml")


def damaged(data):
    """The first record with a wrong bank in it."""
    data = bytearray(data)
    data[80:88] = b"\xff" * 8
    return bytes(data)


class Producer(threading.Thread):
    """Writes files into the folder `in`, complete when they are renamed; keeps the files that can be read in `sent`.
    samples: by run number."""

    def __init__(self, samples):
        super().__init__()
        self.samples, self.begin = samples, time.monotonic()
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
        while time.monotonic() < self.begin + SECONDS:
            for _ in range(draw.choice((1, 1, 1, 2, 15))):  # sometimes a burst
                kind = draw.random()
                data = draw.choice(self.samples[RUNS[time.monotonic() > self.begin + SECOND_RUN_AFTER]])
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
    """Polls the page of the service; `longest` is the longest time without an answer while it runs."""

    def __init__(self, url, paths):
        super().__init__(daemon=True)
        self.url, self.paths, self.ends = url, paths, False
        self.answers, self.longest, self.since = 0, 0.0, None

    def run(self):
        while not self.ends:
            try:
                self.ask()
                self.answers += 1
                self.since = time.monotonic()
            except OSError:
                pass
            if self.since:
                self.longest = max(self.longest, time.monotonic() - self.since)
            time.sleep(0.3)

    def ask(self):
        for path in self.paths:
            with urllib.request.urlopen(self.url + path, timeout=20) as answer:
                answer.read()

    def pause(self):
        self.since = None


class Browser(Client):
    """Has the page open, which is loaded once: an answer is a change of the time that it shows. events: the numbers shown."""

    def __init__(self, url):
        super().__init__(url, [])
        self.driver, self.before, self.events = None, "", []

    def run(self):
        with browser() as self.driver:
            open_page(self.driver, self.url)
            super().run()
            screenshot(self.driver, "service")

    def ask(self):
        shown = text_of(self.driver, "#duration")
        if shown == self.before:
            raise OSError
        self.before = shown
        self.events.append(int(re.sub("[^0-9]", "", text_of(self.driver, "#events"))))


def start(port, clients):
    with open("page.log", "w") as log:
        process = subprocess.Popen([SLUICE, "run", *map(str, GRAPH), "--follow", "in", "--pattern", "*.mdf", "--done", "done", "--rotate", "2MB,5s",
                                    "--checkpoint", "c", "--resume", "-o", "out-%04d.mdf", "--json", "c.json", "--metrics", "c.prom", "--serve", str(port),
                                    "--log", "run.log"], stdout=subprocess.DEVNULL, stderr=log)
    while process.poll() is None and "the page is at" not in Path("page.log").read_text():
        time.sleep(0.1)
    for client in clients:
        client.pause()
    return process


def serve(port, producer, clients):
    """Runs the service until the producer has ended and everything is processed. Returns resident memory by second."""
    process, memory, kills, changes = start(port, clients), [], 0, 0
    for client in clients:
        client.start()
    while producer.is_alive() or len(list(Path("in").glob("*.mdf"))) > producer.broken:
        time.sleep(0.5)
        now = time.monotonic() - producer.begin
        if changes < len(CHANGED_AFTER) and now > CHANGED_AFTER[changes]:
            changes += 1
            write_graph(64 if changes % 2 else 128)
            process.send_signal(signal.SIGUSR1)
        if kills == 0 and now > KILLED_AFTER:
            process.kill()
            process.wait()
            kills, process, memory = 1, start(port, clients), []
            continue
        if process.poll() is not None or now > 2 * SECONDS + 120:
            break
        memory.append(resident(process.pid))
    has_ended = process.poll() is not None
    for client in clients:
        client.ends = True
        client.join()
    process.send_signal(signal.SIGTERM)
    return process.wait(), has_ended, memory, kills


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def make_samples():
    """Files of 1 to 16 events by run number, and the conditions of these runs."""
    Path("conditions").mkdir()
    samples = {}
    for run in RUNS:
        nominal = (ROOT / "plugins/velo/include/velo/nominal.velo").read_text()
        Path(f"conditions/{run}.velo").write_text(re.sub(r"(sensor 0 .*corner +)(\S+)", rf"\g<1>{12 + run / 10}", nominal))
        for seed in range(6):
            call("run", ROOT / "graphs/simulate.yaml", "-n", 1 + 3 * seed, "--set", f"seed={seed}", "--set", f"raw.run={run}", "-o", "sample.mdf", "--quiet")
            samples.setdefault(run, []).append(Path("sample.mdf").read_bytes())
    return samples


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
    write_graph(128)
    producer, port = Producer(make_samples()), free_port()
    url = f"http://127.0.0.1:{port}/"
    page = Browser(url)
    clients = [Client(url, paths) for paths in (["status.json"], ["status.json", "histograms.json"], ["metrics"], ["", "status.json"], ["config.yaml"])]
    producer.begin = time.monotonic()
    producer.start()
    status, has_ended, memory, kills = serve(port, producer, [*clients, page])
    producer.join()
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
    checks.that(page.answers > SECONDS / 3 and page.longest < 15 and page.events[-1] > page.events[len(page.events) // 2] > page.events[0],
                f"the page in the browser changed {page.answers} times, at least every {page.longest:.1f} s: events {page.events[:2]} to {page.events[-2:]}")
    values = [(c["value"], c["error"], c["checksum"]) for c in whole["conditions"]]
    checks.that([v[:2] for v in values] == [(run, None) for run in RUNS] and values[0][2] != values[1][2], f"each run has its conditions: {values}")
    checks.that({c["value"]: c["checksum"] for c in summary["conditions"]} == {v[0]: v[2] for v in values}, "which the service had too")
    checks.that(sorted(path.name for path in Path("done").iterdir()) == producer.sent, "processed files were moved")
    checks.that(len(list(Path("in").glob("*.mdf"))) == producer.broken > 0, f"{producer.broken} files of another kind are left")
    checks.that(not list(Path().glob("*.part*")), "no temporary file is left")
    early, late = max(memory[4 : len(memory) // 2]), max(memory[len(memory) // 2 :])
    checks.that(late < 1.1 * early + 2e6, f"memory is flat: at most {early} bytes in the first half after the kill, {late} in the second")
    os.chdir("/")
checks.end()
