"""Conditions: constants that depend on the run number of events. A run over several run numbers has the results of separate runs, each with
the constants of its run number.
"""
import json
import os
import re
import signal
import tempfile
from pathlib import Path

from common import ROOT, Checks, call
from live_run import Run, arrive, events_in, records

HAS_SIMT, HAS_RACE = (os.environ.get(name, "1") == "1" for name in ("SLUICE_SIMT", "SLUICE_RACE"))  # the build has the emulator, and --race
checks = Checks()
NOMINAL = (ROOT / "plugins/velo/include/velo/nominal.velo").read_text()
EVENTS = 24
GRAPH = f"""sluice: 1
include: [{ROOT}/graphs/common/velo_tracks.yaml]
conditions: {{ by: event.run, files: "conditions/%d.velo" }}
nodes:
  geometry: {{ set: {{ path: "${{conditions}}" }} }}
  counts: {{ use: velo.count_tracks }}
  write: {{ use: output.csv_sink, set: {{ output: fit.beamline_states }} }}
outputs: [fit.beamline_states, counts]
"""


def describe(path, corner):
    """A description of the VELO with the first sensor at another place."""
    text, count = re.subn(r"(sensor 0 .*corner +)(\S+)", rf"\g<1>{corner}", NOMINAL)
    assert count == 1, "the nominal description has a sensor 0"
    Path(path).write_text(text)


def run(name, inputs, *arguments, graph="g.yaml", expect=0):
    """Runs the graph; returns the JSON, the lines of the sink, the messages, and the conditions in the table."""
    done = call("run", graph, *(word for path in inputs for word in ("-i", path)), "-o", f"{name}.csv", "--json", f"{name}.json", "--digest", *arguments, expect=expect)
    shown = re.search(r"^conditions +(.*)$", done.stdout, re.M)
    return json.loads(Path(f"{name}.json").read_text()), Path(f"{name}.csv").read_text().splitlines(), done.stderr, shown and shown[1]


def own(number, *inputs):
    """The lines of a run with the constants of one run number."""
    return run(f"own-{number}", inputs or [f"{number}.mdf"], "--set", f"geometry.path=conditions/{number}.velo", graph="plain.yaml")[1]


def parts(data, size):
    found = records(data)
    return [b"".join(found[i:i + size]) for i in range(0, len(found), size)]


def prepare():
    Path("conditions").mkdir()
    Path("g.yaml").write_text(GRAPH)
    Path("plain.yaml").write_text("".join(line for line in GRAPH.splitlines(True) if "conditions" not in line))
    for number, corner in ((7, 12.9), (8, 12.6), (9, 12.3)):
        describe(f"conditions/{number}.velo", corner)
        call("run", ROOT / "graphs/simulate.yaml", "-n", EVENTS, "--set", f"raw.run={number}", "-o", f"{number}.mdf", "--quiet")


def two_runs():
    """Two files, with slices that contain both runs or not."""
    separate = own(7) + own(8)[1:]
    checks.that(own(7)[1:] != own(8, "7.mdf")[1:], "the constants make a difference")
    simt = (("--device", "simt", "-n", 30),) if HAS_SIMT else ()
    for arguments in ((), ("--slots", 1), ("--slots", 3, "--slice-events", 5), ("--slice-events", 1), ("--guard",), *simt):
        summary, lines, _, shown = run("both", ["7.mdf", "8.mdf"], *arguments)
        events = {(7, e) for e in range(EVENTS)} | {(8, e) for e in range(EVENTS if "-n" not in arguments else 6)}
        expected = [separate[0]] + [line for line in separate[1:] if tuple(map(int, line.split(",")[:2])) in events]
        checks.that(lines == expected, f"{' '.join(map(str, arguments))}: the {len(lines)} lines of separate runs")
        found = summary["conditions"]
        checks.that([(c["value"], c["first_event"], c["loads"], c["error"]) for c in found] == [(7, 0, 1, None), (8, EVENTS, 1, None)], f"two values: {found}")
        checks.that(found[0]["checksum"] != found[1]["checksum"] and re.fullmatch("[0-9a-f]{16}", found[0]["checksum"]), "with their checksums")
        checks.that(shown == f"2 runs: 7 from event 0 on, 8 from event {EVENTS} on", f"which the table names: {shown}")
    digests = {run("both", inputs)[0]["graph_digest"] for inputs in (["7.mdf"], ["8.mdf"])}
    checks.that(len(digests) == 1, "the digest of the graph does not depend on the value")
    whole = call("graph", "g.yaml", "--yaml").stdout
    checks.that('files: "conditions/%d.velo"' in whole and 'path: "${conditions}"' in whole, "its text has the pattern")
    call("check", "g.yaml")
    call("plan", "g.yaml")


def alternating():
    """Values alternate within slices: each set is made once. A third value needs the place of another one."""
    pieces = [parts(Path(f"{number}.mdf").read_bytes(), 4) for number in (7, 8, 9)]
    Path("abab.mdf").write_bytes(b"".join(a + b for a, b in zip(pieces[0], pieces[1])))
    rows = {number: own(number)[1:] for number in (7, 8, 9)}

    def of(number, first, last):
        return [line for line in rows[number] if first <= int(line.split(",")[1]) < last]
    expected = [line for i in range(0, EVENTS, 4) for number in (7, 8) for line in of(number, i, i + 4)]
    for arguments in ((), ("--slots", 3, "--slice-events", 3)):
        summary, lines, *_ = run("abab", ["abab.mdf"], *arguments)
        checks.that(lines[1:] == expected, f"A B A B: the {len(expected)} lines of separate runs")
        checks.that([(c["value"], c["first_event"], c["loads"]) for c in summary["conditions"]] == [(7, 0, 1), (8, 4, 1)], f"made once: {summary['conditions']}")
    Path("abcab.mdf").write_bytes(b"".join(pieces[n][i] for n, i in ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1))))
    summary, lines, *_ = run("abcab", ["abcab.mdf"])
    checks.that(lines[1:] == of(7, 0, 4) + of(8, 0, 4) + of(9, 0, 4) + of(7, 4, 8) + of(8, 4, 8), "A B C A B: the lines of separate runs")
    checks.that([(c["value"], c["loads"]) for c in summary["conditions"]] == [(7, 2), (8, 2), (9, 1)], f"two sets are kept: {summary['conditions']}")


def errors():
    """Missing and wrong files are errors of the events that need them."""
    Path("9.kept").write_bytes(Path("conditions/9.velo").read_bytes())
    Path("conditions/9.velo").unlink()
    Path("mixed.mdf").write_bytes(b"".join(Path(f"{number}.mdf").read_bytes() for number in (7, 9, 8)))
    good = own(7) + own(8)[1:]
    cases = (("missing", r"no conditions for run 9: conditions/9\.velo: No such file or directory"), ("wrong", r"no conditions for run 9: .*conditions/9\.velo.*"))
    for what, reason in cases:
        if what == "wrong":
            Path("conditions/9.velo").write_text("module 0 left z here\n")
        for arguments in (("--slice-events", 5, "--slots", 2, "--metrics", "m.prom"), ()):
            summary, lines, messages, shown = run("mixed", ["mixed.mdf"], *arguments)
            checks.that([line for line in lines if not line.startswith("9,")] == good, f"{what}: the other runs have their results")
            found = summary["errors"]
            checks.that(summary["error_events"] == EVENTS and len(found) == 1 and found[0]["node"] == "geometry" and found[0]["count"] == EVENTS
                        and re.fullmatch(reason, found[0]["reason"]), f"{what}: errors {found}")
            checks.that((found[0]["first"]["run"], found[0]["first"]["event"]) == (9, 0), f"with the first event: {found[0]['first']}")
            value = [c for c in summary["conditions"] if c["value"] == 9]
            checks.that(len(value) == 1 and value[0]["checksum"] is None and re.fullmatch(reason, value[0]["error"]), f"{what}: {value}")
            checks.that(shown.startswith("3 runs: 7 from event 0 on, none for 9 from event "), f"{what}: the table: {shown}")
            checks.that("--metrics" not in arguments or "\nsluice_conditions_run 8\n" in Path("m.prom").read_text(), f"{what}: the metrics have the last one")
            checks.that(len(re.findall(r"warning: node geometry: no conditions for run 9", messages)) == 1, f"{what}: one warning")
            if what == "missing" and arguments:
                checks.that(f"sluice_error_events_total {EVENTS}\n" in Path("m.prom").read_text(), "the metrics count them")
    Path("conditions/6.velo").write_text("module 0 left z here\n")
    summary, lines, *_ = run("mixed", ["7.mdf"])
    checks.that(lines == own(7), "a wrong file that is not needed")
    Path("conditions/6.velo").unlink()
    done = call("run", "g.yaml", "-i", "7.mdf", "-i", "8.mdf", "--repeat", 3, "--quiet", "-o", "none.csv", expect=1)
    checks.that("--repeat runs all events with the same conditions, but there are events of run 7 and of run 8" in done.stderr, f"--repeat: {done.stderr}")
    summary, *_ = run("repeated", ["8.mdf"], "--repeat", 3)
    checks.that(summary["error_events"] == 0 and [c["value"] for c in summary["conditions"]] == [8], "--repeat of one run")
    Path("conditions/9.velo").write_bytes(Path("9.kept").read_bytes())


def race():
    """The memory of new sets is known to the check."""
    _, lines, *_ = run("race", ["abab.mdf"], "-n", 8, "--device", "simt", "--race")
    checks.that(lines == run("abab", ["abab.mdf"], "-n", 8)[1], "--race: the same lines, and no finding")


def resume():
    """A run that was killed continues with the conditions of the next event."""
    interrupted = ("-i", "abab.mdf", "-o", "k-%04d.csv", "--rotate", "2kB", "--checkpoint", "c", "--resume", "--slots", 1, "--slice-events", 1, "--quiet")
    killed = Run("g.yaml", *interrupted)
    killed.until(lambda: len(list(Path().glob("k-*.csv"))) > 2)
    killed.end(signal.SIGKILL)
    call("run", "g.yaml", *interrupted, "--json", "k.json")
    lines = [line for path in sorted(Path().glob("k-*.csv")) for line in path.read_text().splitlines()[1:]]
    checks.that(lines == run("abab", ["abab.mdf"])[1][1:], f"--resume: {len(lines)} lines, those of an undisturbed run")


def graphs():
    """Errors of the graph, and the graph of the documentation."""
    Path("conditions/0000007").mkdir()
    Path("conditions/0000007/velo.txt").write_text(NOMINAL)
    call("check", ROOT / "tests/cli/files/conditions.yaml")
    cases = (
        ('by: event.run, files: "other/%d"', r"g\.yaml:3:\d+: error: no file or folder matches `other/%d`"),
        ('by: event.number, files: "conditions/%d.velo"', r"g\.yaml:3:\d+: error: conditions cannot depend on event.number"),
        ('by: event.rum, files: "conditions/%d.velo"', r"g\.yaml:3:\d+: error: events have no identity field `event.rum`"),
        ('by: event.run, files: "conditions/%s.velo"', r"g\.yaml:3:\d+: error: `files` must contain one %d"),
        ("by: event.run", r"g\.yaml:3:\d+: error: `conditions` has no `files`"),
    )
    for section, message in cases:
        Path("bad").mkdir(exist_ok=True)
        Path("bad/g.yaml").write_text(GRAPH.replace('by: event.run, files: "conditions/%d.velo"', section))
        done = call("check", "bad/g.yaml", expect=2)
        checks.that(len(re.findall("error: ", done.stderr)) == 1 and re.search(message, done.stderr), f"{section}: {done.stderr}")


def rotation_and_reload():
    """Files of one run each; SIGUSR1 reads the files of the present conditions again."""
    Path("in").mkdir()
    table = Run("g.yaml", "--follow", "in", "-o", "f-%03d.csv", "--rotate", "1h", "--json", "f.json", "--metrics", "f.prom")
    before = own(7)
    arrive("a.mdf", Path("7.mdf").read_bytes())
    checks.that(table.until(lambda: events_in("f.prom") == EVENTS), "the first file is delivered")
    describe("conditions/7.velo", 12)
    answer, _ = table.reload()
    checks.that("0 settings have changed" in answer, f"reload: {answer}")
    arrive("b.mdf", Path("7.mdf").read_bytes())
    checks.that(table.until(lambda: events_in("f.prom") == 2 * EVENTS), "the second file is delivered")
    Path("conditions/9.velo").unlink()
    arrive("c.mdf", Path("9.mdf").read_bytes())
    checks.that(table.until(lambda: events_in("f.prom") == 3 * EVENTS), "the third file is delivered")
    Path("conditions/9.velo").write_bytes(Path("9.kept").read_bytes())
    table.reload()
    arrive("d.mdf", Path("9.mdf").read_bytes())
    checks.that(table.until(lambda: events_in("f.prom") == 4 * EVENTS), "the fourth file is delivered")
    checks.that(table.end(signal.SIGTERM) == 143, "the run is stopped")
    after = own(7)
    checks.that(Path("f-000.csv").read_text().splitlines() == before, "the old constants before the reload")
    second = Path("f-001.csv").read_text().splitlines()
    checks.that([line for line in second if not line.startswith("9,")] == after and after != before, "the new ones after it")
    checks.that(Path("f-002.csv").read_text().splitlines() == own(9), "files that were missing are there after a reload")
    summary = json.loads(Path("f.json").read_text())
    checks.that(summary["error_events"] == EVENTS and [(c["value"], c["loads"]) for c in summary["conditions"]] == [(7, 2), (9, 1)], f"{summary['conditions']}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        two_runs()
        alternating()
        if HAS_RACE:
            race()
        resume()
        errors()
        graphs()
        rotation_and_reload()
    checks.end()
