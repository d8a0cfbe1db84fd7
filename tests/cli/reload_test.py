"""SIGUSR1: a run reads its graph again and goes on. Each event, file and result belongs to one configuration: that of a run of the
same graph over the same events.
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
from pathlib import Path

from common import BRIEF, ROOT, Checks, call
from live_run import Run, arrive, events_in, records

checks = Checks()
SEED = int(os.environ.get("SLUICE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
draw = random.Random(SEED)
FRACTIONS = (1, 0.5, 0)


def graph(fraction=1.0, more=""):
    """A graph that writes a part of the events."""
    return f"""sluice: 1
include: [{ROOT}/graphs/decisions.yaml]
nodes:
  part: {{ use: odin.prescale, set: {{ fraction: {fraction} }} }}
  decisions: {{ in: {{ lists: {{ part: part }} }} }}
  write: {{ use: io.mdf_sink, events: part }}
{more}"""


def separate(graph_text, data, *arguments):
    """A run of its own over some events: the JSON, and the file that it writes."""
    Path("own.yaml").write_text(graph_text)
    Path("own.mdf").write_bytes(data)
    call("run", "own.yaml", "-i", "own.mdf", "-o", "own-out.mdf", "--digest", "--json", "own.json", "--quiet", *arguments)
    return json.loads(Path("own.json").read_text()), Path("own-out.mdf").read_bytes()


def list_of(summary):
    """The configurations; the last one with the results of the top level."""
    last = {key: summary[key] for key in ("outputs", "totals", "results")}
    return [*summary["configurations"][:-1], {**summary["configurations"][-1], **last}]


def is_equal(configuration, own):
    return all(configuration[key] == own[key] for key in ("graph_digest", "events", "error_events", "outputs", "totals"))


def a_followed_folder():
    """Two changes, and a wrong graph between them."""
    Path("in").mkdir()
    more = '  table: { use: output.csv_sink, set: { output: decisions.decisions, path: "f-%03d.csv" } }\n'
    texts = [graph(1, more), graph(0.5, more), graph(1, more + "  luminosity: { set: { event_types: 255 } }\n")]
    run = Run("g.yaml", "--follow", "in", "-o", "f-%03d.mdf", "--rotate", "1h", "--digest", "--json", "f.json", "--metrics", "f.prom", "--slots", 2)
    Path("g.yaml").write_text(texts[0])
    arrive("a.mdf", b"".join(SAMPLE[:100]))
    checks.that(run.until(lambda: events_in("f.prom") == 100), "100 events are delivered")

    Path("g.yaml").write_text(texts[1].replace("fraction", "fractions"))
    found = run.refused()
    checks.that(len(found) == 1 and re.match(r"g.yaml:4:\d+: error: node part: .*fractions", found[0]), f"a wrong property: {found}")
    Path("g.yaml").write_text("sluice: 1\nnodes: [\n")
    found = run.refused()
    checks.that(len(found) == 1 and re.match(r"g.yaml:\d+:\d+: error: ", found[0]), f"no YAML: {found}")
    Path("g.yaml").unlink()
    checks.that("g.yaml" in "".join(run.refused()), "a graph that is gone")

    Path("g.yaml").write_text(texts[1])
    answer, _ = run.reload()
    checks.that(re.search(r"from event 100 on: 1 setting has changed$", answer), f"the first change: {answer}")
    arrive("b.mdf", b"".join(SAMPLE[100:250]))
    checks.that(run.until(lambda: events_in("f.prom") == 250), "250 events are delivered")
    metrics = Path("f.prom").read_text()
    checks.that("sluice_configurations_total 2\n" in metrics and f'graph_digest="{answer.split()[2]}"' in metrics, "the metrics have the new digest")
    Path("g.yaml").write_text(texts[2])
    answer, _ = run.reload()
    checks.that(re.search(r"from event 250 on: 2 settings have changed$", answer), f"the second change: {answer}")
    arrive("c.mdf", b"".join(SAMPLE[250:]))
    run.until(lambda: events_in("f.prom") == len(SAMPLE))
    checks.that(run.end(signal.SIGTERM) == 143, "the run is stopped")

    summary = json.loads(Path("f.json").read_text())
    found = list_of(summary)
    checks.that(summary["events"] == len(SAMPLE) and [c["first_event"] for c in found] == [0, 100, 250], "three configurations")
    checks.that([c["changes"] for c in found] == [[], ["part.fraction: 1 -> 0.5"], [found[2]["changes"][0], "part.fraction: 0.5 -> 1"]]
                and found[2]["changes"][0].startswith("luminosity.event_types: "), f"their differences: {[c['changes'] for c in found]}")
    ends = [100, 250, len(SAMPLE)]
    for i, text in enumerate(texts):
        own, data = separate(text.replace("f-%03d.csv", "own.csv"), b"".join(SAMPLE[found[i]["first_event"]:ends[i]]))
        own["graph_digest"] = found[i]["graph_digest"]  # the other path of the table is part of the graph
        checks.that(is_equal(found[i], own), f"configuration {i} has the results of a run of its own")
        checks.that(Path(f"f-{i:03d}.mdf").read_bytes() == data, f"its file has the same {len(data)} bytes")
        checks.that(Path(f"f-{i:03d}.csv").read_bytes() == Path("own.csv").read_bytes(), "its table too")
        checks.that(found[i]["results"]["write"]["path"] == f"f-{i:03d}.mdf" and found[i]["results"]["write"]["bytes"] == len(data), "its results name the file")
    checks.that(len({c["graph_digest"] for c in found}) == 3 and summary["graph_digest"] == found[-1]["graph_digest"], "each has a digest")
    checks.that(not list(Path().glob("f-*.part")), "no file is unfinished")


def refusals():
    """All reasons against a change are reported, and the run goes on."""
    whole = graph()
    Path("g.yaml").write_text(whole)
    run = Run("g.yaml", "-i", "-", "-o", "r-%02d.mdf", "--rotate", "1h", "--json", "r.json", "--metrics", "r.prom", "--memory", 1000000, stdin=subprocess.PIPE)
    run.process.stdin.write(b"".join(SAMPLE[:50]))
    run.process.stdin.flush()
    run.until(lambda: events_in("r.prom") == 50)
    cases = (
        ("  raw: { set: { strict: true } }\n", r"the source cannot change while the run goes on: raw.strict: false -> true"),
        ("  write: { set: { with_errors: true } }\n", r"sinks cannot change while the run goes on: write.with_errors: false -> true"),
        ("  other: { use: io.mep_sink, set: { path: o-%02d.mep } }\n", r"sinks cannot change while the run goes on: other: new, io.mep_sink"),
        ("budgets: { events: 7 }\n", r"the slice size cannot change while the run goes on: budgets.events is 7 instead of 0"),
    )
    for more, message in cases:
        Path("g.yaml").write_text(whole.replace("  write: { use: io.mdf_sink, events: part }\n", "  write: { use: io.mdf_sink, events: part, set: { with_errors: true } }\n")
                                  if "with_errors" in more else whole + more)
        found = run.refused()
        checks.that(len(found) == 1 and re.search(message, found[0]), f"one reason: {found}")
    Path("g.yaml").write_text(whole + "".join(more for more, _ in cases if "with_errors" not in more))
    found = run.refused()
    checks.that(len(found) == 3 and all(any(re.search(message, line) for line in found) for more, message in cases if "with_errors" not in more), f"all reasons: {found}")
    Path("g.yaml").write_text(whole.replace("  write: { use: io.mdf_sink, events: part }\n", ""))
    found = run.refused()
    checks.that(len(found) == 1 and "write: removed" in found[0], f"a sink less: {found}")
    Path("g.yaml").write_text(whole.replace("include: [", f"include: [{ROOT}/graphs/velo_counts.yaml, ") + "outputs: [decisions.totals, counts]\n")
    found = run.refused()
    checks.that(len(found) == 2 and "the graph that the run began with does not read raw.velo_clusters" in found[0] and "the new configuration needs" in found[1]
                and "the limit of the run is" in found[1], f"further outputs of the source, and more memory than --memory: {found}")
    Path("g.yaml").write_text(whole)
    answer, _ = run.reload()
    checks.that("from event 50 on: 0 settings have changed" in answer, f"the same graph again: {answer}")
    run.process.stdin.write(b"".join(SAMPLE[50:]))
    run.process.stdin.close()
    checks.that(run.end() == 0, "the run ends well")
    summary = json.loads(Path("r.json").read_text())
    checks.that(summary["events"] == len(SAMPLE) and len(summary["configurations"]) == 2, "after all of its events")
    written = b"".join(path.read_bytes() for path in sorted(Path().glob("r-*.mdf")))
    checks.that(written == separate(whole, b"".join(SAMPLE))[1], "which are in the files")

    run = Run("g.yaml", "-i", "-", "-o", "single.mdf", "--quiet", "--metrics", "s.prom", stdin=subprocess.PIPE)
    run.process.stdin.write(SAMPLE[0])
    run.process.stdin.flush()
    run.until(lambda: events_in("s.prom") == 1)
    run.process.send_signal(signal.SIGUSR1)
    run.until(lambda: any("error: " in line for line in run.lines))
    checks.that(len(run.lines) == 2 and "the configuration cannot change while a sink writes single.mdf" in run.lines[0], f"a file without --rotate: {run.lines}")
    run.process.stdin.write(b"".join(SAMPLE[1:]))
    run.process.stdin.close()
    checks.that(run.end() == 0 and Path("single.mdf").read_bytes() == written, "its file is whole")
    run = Run(ROOT / "graphs/velo_counts.yaml", "-n", 10, "--repeat", 100000)
    time.sleep(0.5)
    run.process.send_signal(signal.SIGUSR1)
    time.sleep(0.5)
    checks.that(run.process.poll() is None and run.end(signal.SIGTERM) == 143 and not run.answers(), "repeats are not disturbed")


def streams():
    """The receiver of a stream sees the events of both configurations, and one end."""
    texts = [graph(1), graph(0.5)]
    Path("g.yaml").write_text(texts[0])
    os.mkfifo("pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_bytes()))
    reader.start()
    run = Run("g.yaml", "-i", "-", "-o", "pipe", "--json", "p.json", "--metrics", "p.prom", stdin=subprocess.PIPE)
    for i, part in enumerate((SAMPLE[:60], SAMPLE[60:90], SAMPLE[90:])):
        Path("g.yaml").write_text(texts[i % 2])
        if i > 0:
            run.reload()
        run.process.stdin.write(b"".join(part))
        run.process.stdin.flush()
        run.until(lambda: events_in("p.prom") == (60, 90, len(SAMPLE))[i])
    run.process.stdin.close()
    checks.that(run.end() == 0, f"the run ends well: {run.lines}")
    reader.join()
    expected = [separate(texts[i % 2], b"".join(part))[1] for i, part in enumerate((SAMPLE[:60], SAMPLE[60:90], SAMPLE[90:]))]
    checks.that(received == [b"".join(expected)] and len(expected[1]) < len(b"".join(SAMPLE[60:90])), "a pipe carries the events of all configurations")
    checks.that([c["events"] for c in json.loads(Path("p.json").read_text())["configurations"]] == [60, 30, len(SAMPLE) - 90], "and they are counted")


def messages():
    """A receiver by ZeroMQ sees one sender, without an end before the last event."""
    if "no ZeroMQ" in call("--version").stdout:
        print("skipped: there is no ZeroMQ")
        return
    end = f"zmq:ipc://{os.getcwd()}/socket"
    texts = [graph(1), graph(0.5)]
    receiver = Run(ROOT / "graphs/copy.yaml", "-i", end, "-o", "z-received.mdf", "--senders", 1, "--json", "z.json", "--quiet")
    Path("g.yaml").write_text(texts[0])
    sender = Run("g.yaml", "-i", "-", "-o", end, "--metrics", "z.prom", "--json", "z-sender.json", "--quiet", stdin=subprocess.PIPE)
    for i, part in enumerate((SAMPLE[:100], SAMPLE[100:200], SAMPLE[200:])):
        if i > 0:
            Path("g.yaml").write_text(texts[i % 2])
            sender.process.send_signal(signal.SIGUSR1)
            checks.that(sender.until(lambda: f"sluice_configurations_total {i + 1}\n" in Path("z.prom").read_text()), f"change {i}")
        sender.process.stdin.write(b"".join(part))
        sender.process.stdin.flush()
        sender.until(lambda: events_in("z.prom") == 100 * (i + 1))
    sender.process.stdin.close()
    checks.that(sender.end() == 0 and receiver.end() == 0, "both runs end well")
    link = json.loads(Path("z.json").read_text())["zmq"][0]
    expected = b"".join(separate(texts[i % 2], b"".join(SAMPLE[100 * i:100 * i + 100]))[1] for i in range(3))
    checks.that(Path("z-received.mdf").read_bytes() == expected, "the receiver has the events of all configurations")
    checks.that((link["senders"], link["ended"], link["lost"], link["missing"]) == (1, 1, 0, 0), f"of one sender: {link}")
    sent = json.loads(Path("z-sender.json").read_text())
    checks.that(len([link for link in sent["zmq"] if link["direction"] == "out"]) == 1, "by one socket")


def a_storm():
    """Reloads at any time, also while one takes effect."""
    reloads, texts = 12 if BRIEF else 50, [graph(fraction) for fraction in FRACTIONS]
    Path("g.yaml").write_text(texts[0])
    run = Run("g.yaml", "-i", "-", "-o", "s-%03d.mdf", "--rotate", "1h", "--digest", "--json", "s.json", "--slots", 3, "--slice-events", 7, stdin=subprocess.PIPE)
    written = threading.Event()

    def write():
        for record in ALL:
            run.process.stdin.write(record)
            run.process.stdin.flush()
            time.sleep(draw.choice((0, 0, 0, 0.001, 0.01)) if not done.is_set() else 0)
        run.process.stdin.close()
        written.set()

    done = threading.Event()
    writer = threading.Thread(target=write)
    writer.start()
    run.until(lambda: Path("s-000.mdf.part").exists())  # before, SIGUSR1 would end the process
    for i in range(reloads):
        Path("new.yaml").write_text(texts[draw.randrange(len(texts))])
        Path("new.yaml").rename("g.yaml")
        run.process.send_signal(signal.SIGUSR1)
        time.sleep(draw.choice((0, 0.001, 0.01, 0.05, 0.1)))
    done.set()
    writer.join()
    status = run.end()
    checks.that(status == 0, f"a run with {reloads} signals ends well: {status} {run.lines[-3:]}")
    summary = json.loads(Path("s.json").read_text())
    found = list_of(summary)
    checks.that(summary["events"] == len(ALL) and sum(c["events"] for c in found) == len(ALL), f"{len(ALL)} events in {len(found)} configurations")
    checks.that(all(b["first_event"] == a["first_event"] + a["events"] for a, b in zip(found, found[1:])), "one after another")
    digests = {separate(text, b"".join(ALL[:1]))[0]["graph_digest"]: text for text in texts}
    wrong = []
    for i, c in enumerate(found):
        if c["events"] == 0:
            wrong += [i] * (Path(c["results"]["write"]["path"]).stat().st_size > 0)
            continue
        own, data = separate(digests[c["graph_digest"]], b"".join(ALL[c["first_event"]:c["first_event"] + c["events"]]))
        if not is_equal(c, own) or Path(c["results"]["write"]["path"]).read_bytes() != data:
            wrong.append(i)
    checks.that(not wrong and len(found) > 2, f"each has the results and the bytes of a run of its own: wrong are {wrong} (seed {SEED})")


def resume():
    """A run that was killed after a change continues with the changed graph, and with no other."""
    texts = [graph(1), graph(0.5)]
    Path("ins").mkdir()
    Path("ins/a.mdf").write_bytes(b"".join(SAMPLE[:100]))
    Path("g.yaml").write_text(texts[0])
    command = ("g.yaml", "--follow", "ins", "-o", "k-%02d.mdf", "--rotate", "1h", "--checkpoint", "k", "--resume", "--digest", "--json", "k.json", "--metrics", "k.prom")
    run = Run(*command)
    run.until(lambda: events_in("k.prom") == 100)
    Path("g.yaml").write_text(texts[1])
    answer, _ = run.reload()
    Path("ins/b.mdf").write_bytes(b"".join(SAMPLE[100:200]))
    run.until(lambda: events_in("k.prom") == 200)
    run.process.kill()
    run.end()
    checks.that([path.name for path in sorted(Path().glob("k-*.mdf"))] == ["k-00.mdf"], "the file of the first configuration is complete")
    Path("g.yaml").write_text(texts[0])
    done = call("run", *command, "--until-idle", 1, expect=2)
    checks.that(f"of a run of another graph: its last configuration is {answer.split()[2]}" in done.stderr, f"another graph is refused: {done.stderr.splitlines()[0]}")
    Path("g.yaml").write_text(texts[1])
    Path("ins/c.mdf").write_bytes(b"".join(SAMPLE[200:]))
    run = Run(*command, "--until-idle", 1)
    checks.that(run.end() == 0, f"the changed graph continues: {run.lines}")
    summary = json.loads(Path("k.json").read_text())
    found = list_of(summary)
    checks.that([(c["first_event"], c["events"], c["changes"]) for c in found] == [(0, 100, []), (100, len(SAMPLE) - 100, ["part.fraction: 1 -> 0.5"])],
                f"both configurations are known: {[(c['first_event'], c['events']) for c in found]}")
    for c, text in zip(found, texts):
        own, data = separate(text, b"".join(SAMPLE[c["first_event"]:c["first_event"] + c["events"]]))
        checks.that(is_equal(c, own), "with the results of a run of its own")
    checks.that(Path("k-01.mdf").read_bytes() == data, "and its file")
    checks.that(summary["events_before"] == 100 and "events_before" not in summary["results"]["write"], "which the sink reports as the events of its configuration")
    run = Run(*command, "--until-idle", 0.2)
    status, without = run.end(), json.loads(Path("k.json").read_text())
    found[-1]["results"] = None
    checks.that(status == 0 and "nodes" not in without and list_of({**without, "results": None}) == found,
                f"without a new file, the summary has both configurations of the checkpoint: {run.lines[-1:]}")


def resident(pid):
    return next(int(line.split()[1]) * 1024 for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))


def memory():
    """Memory is flat over many changes."""
    reloads = 60 if BRIEF else 200
    Path("g.yaml").write_text(graph())
    run = Run("g.yaml", "-i", "-", "-o", "m-%03d.mdf", "--rotate", "1h", stdin=subprocess.PIPE)
    run.process.stdin.write(SAMPLE[0])
    run.process.stdin.flush()
    run.until(lambda: any("m-000" in path.name for path in Path().glob("m-*")))
    sizes = []
    for i in range(reloads):
        Path("g.yaml").write_text(graph((0.5, 1)[i % 2]))
        answer, _ = run.reload()
        if not answer.startswith("note: "):
            break
        sizes.append(resident(run.process.pid))
    run.process.stdin.close()
    checks.that(run.end() == 0 and len(sizes) == reloads, f"{len(sizes)} changes")
    quarter = reloads // 4
    checks.that(max(sizes[-quarter:]) < max(sizes[quarter:2 * quarter]) + 3e6, f"memory: {max(sizes[quarter:2 * quarter])} bytes in the second quarter, {max(sizes[-quarter:])} in the last")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    print(f"seed {SEED}; SLUICE_TEST_SEED repeats it")
    call("run", ROOT / "graphs/simulate.yaml", "-n", 300, "-o", "sample.mdf", "--quiet")
    SAMPLE = records(Path("sample.mdf").read_bytes())
    ALL = SAMPLE * (2 if BRIEF else 6)
    for part in (a_followed_folder, refusals, streams, messages, a_storm, resume, memory):
        print(part.__name__)
        part()
        for path in Path().glob("?-*"):
            path.unlink()
    os.chdir("/")
checks.end()
