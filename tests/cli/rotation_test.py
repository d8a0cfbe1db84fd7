"""--rotate: sinks begin new files by size, time and run; together the files are the file of a run without rotation."""
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from common import BRIEF, ROOT, SLUICE, Checks, call

checks = Checks()
GRAPHS = ROOT / "graphs"
MDF = (GRAPHS / "common/raw.yaml", "--with", "write.yaml")
WRITE = "sluice: 1\nnodes: { write: { use: io.mdf_sink } }\n"
BY_SIZE = [("--slice-events", 1), ("--slice-events", 7, "--slots", 3), ("--slice-events", 64)]


def run(*arguments, expect=0):
    done = call("run", *arguments, "--json", "run.json", "--quiet", expect=expect)
    return json.loads(Path("run.json").read_text()), done.stderr


def files(pattern):
    return sorted(Path().glob(pattern))


def bytes_of(paths):
    return b"".join(path.read_bytes() for path in paths)


def removed(pattern):
    for path in files(pattern):
        path.unlink()


def sizes():
    for options in BY_SIZE[:1] if BRIEF else BY_SIZE:
        summary, _ = run(*MDF, "-i", "two.mdf", "-o", "s-%04d.mdf", "--rotate", "300kB", "--digest", *options)
        found = files("s-*.mdf")
        checks.that([path.name for path in found] == [f"s-{i:04d}.mdf" for i in range(len(found))] and len(found) > 1, f"{len(found)} numbered files")
        checks.that(bytes_of(found) == Path("two.mdf").read_bytes(), f"together they are the whole, with {' '.join(map(str, options))}")
        checks.that(all(path.stat().st_size >= 300000 for path in found[:-1]), "all but the last have the size")
        checks.that(summary["rotations"] == len(found) - 1 and summary["events"] == 80, f"the summary counts {summary['rotations']} rotations")
        checks.that(summary["results"]["write"]["bytes"] == Path("two.mdf").stat().st_size, "the sink reports the bytes of all files")
        removed("s-*.mdf")


def runs():
    for options in BY_SIZE:
        summary, _ = run(*MDF, "-i", "first.mdf", "second.mdf", "first.mdf", "-o", "r-%02d.mdf", "--rotate", "run", *options)
        found = [path.read_bytes() for path in files("r-*.mdf")]
        first, second = Path("first.mdf").read_bytes(), Path("second.mdf").read_bytes()
        checks.that(found == [first, second, first], f"one file per run, with {' '.join(map(str, options))}")
        removed("r-*.mdf")
    damaged = bytearray(Path("first.mdf").read_bytes())
    damaged[80:90] = b"\xff" * 10
    Path("damaged.mdf").write_bytes(damaged)
    summary, _ = run(*MDF, "-i", "damaged.mdf", "-o", "r-%02d.mdf", "--rotate", "run", "--set", "write.with_errors=true")
    checks.that(summary["error_events"] == 1 and len(files("r-*.mdf")) == 1, f"the unknown run number of a damaged event begins no file: {summary['error_events']} errors, {len(files('r-*'))} files")
    removed("r-*.mdf")


def times():
    """A producer with a pause: the file that was begun before it is completed during the pause."""
    whole = Path("two.mdf").read_bytes()
    process = subprocess.Popen([SLUICE, "run", *map(str, MDF), "-i", "-", "-o", "t-%Y%m%d-%03d.mdf", "--rotate", "1s", "--quiet"],
                               stdin=subprocess.PIPE)
    size = int.from_bytes(whole[:4], "little")
    process.stdin.write(whole[:size])
    process.stdin.flush()
    name = time.strftime("t-%Y%m%d-000.mdf", time.gmtime())
    until = time.monotonic() + 20
    while not Path(name).exists() and time.monotonic() < until:
        time.sleep(0.05)
    checks.that(Path(name).exists() and Path(name).read_bytes() == whole[:size], "after a second a file is complete while the run waits")
    process.stdin.write(whole[size:])
    process.stdin.close()
    checks.that(process.wait() == 0 and bytes_of(files("t-*.mdf")) == whole, "the others are in the next file")
    sizes = [path.stat().st_size for path in files("t-*")]
    checks.that(len(sizes) > 1 and all(sizes), f"a file without events is not completed before the end: {len(sizes)} files")


def stopped():
    process = subprocess.Popen([SLUICE, "run", *map(str, MDF), "-n", "100000000", "-o", "k-%04d.mdf", "--rotate", "500kB", "--quiet"],
                               stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(files("k-*.mdf")) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    text = process.communicate()[1]
    checks.that(process.returncode == 143 and not files("k-*.part"), f"a stopped run completes its last file: {text.strip()}")
    events = run(GRAPHS / "common/raw.yaml", "-i", *files("k-*.mdf"))[0]
    checks.that(events["error_events"] == 0 and events["events"] > 0, f"{events['events']} whole events")
    removed("k-*.mdf")


def full_disk():
    """The limit of a file's size stands for the full disk."""
    done = subprocess.run([SLUICE, "run", *map(str, MDF), "-i", "two.mdf", "-o", "f-%04d.mdf", "--rotate", "500kB", "--quiet", "--slice-events", "2"],
                          capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400000, 400000)))
    checks.that(done.returncode == 1 and done.stderr.count("error: ") == 1 and "f-0000.mdf.part: cannot write" in done.stderr, f"it is one error: {done.stderr.strip()}")
    summary = run(GRAPHS / "common/raw.yaml", "-i", *files("f-*"))[0]
    checks.that(summary["error_events"] == 0 and 0 < summary["events"] < 80, f"{summary['events']} whole events are left")
    removed("f-*")


def other_sinks():
    numbers = (GRAPHS / "decisions.yaml", "-n", 90, "--slice-events", 8)
    csv = ("--with", "csv.yaml")
    Path("csv.yaml").write_text("sluice: 1\nnodes: { write: { use: output.csv_sink, set: { output: decisions.decisions } } }\n")
    run(*numbers, *csv, "-o", "all.csv")
    run(*numbers, *csv, "-o", "c-%02d.csv", "--rotate", "200B")
    head, *rows = Path("all.csv").read_text().splitlines()
    parts = [path.read_text().splitlines() for path in files("c-*.csv")]
    checks.that(len(parts) > 2 and all(part[0] == head for part in parts), f"{len(parts)} tables, each with a header")
    checks.that([row for part in parts for row in part[1:]] == rows, "with the rows of one table")

    mep = ("--with", "mep.yaml")
    Path("mep.yaml").write_text("sluice: 1\nnodes: { write: { use: io.mep_sink, set: { events: 8 } } }\n")
    run(GRAPHS / "common/raw.yaml", *mep, "-i", "two.mdf", "-o", "m-%02d.mep", "--rotate", "500kB")
    digest = run(GRAPHS / "velo.yaml", "-i", "two.mdf", "--digest")[0]["outputs"]
    found = files("m-*.mep")
    checks.that(len(found) > 2 and run(GRAPHS / "velo.yaml", "-i", *found, "--digest")[0]["outputs"] == digest, f"{len(found)} files of packets have the events")

    Path("lists.yaml").write_text("""sluice: 1
nodes:
  busy:  { use: generic.filter, set: { of: counts.tracks, minimum: 100 } }
  lists: { use: generic.gather_lists, in: { lists: [busy] } }
outputs: [..., lists.totals]
""")
    histograms = (GRAPHS / "velo_histograms.yaml", "--with", "lists.yaml", "-i", "two.mdf", "--slice-events", 16, "--digest")
    whole = run(*histograms, "-o", "whole.json")[0]
    rotated = run(*histograms, "-o", "h-%01d.json", "--rotate", "run")[0]
    parts = [json.loads(path.read_text())["histograms"] for path in files("h-*.json")]
    counts = [[sum(column) for column in zip(*(flat(part[i]["counts"]) for part in parts))] for i in range(len(parts[0]))]
    expected = [flat(histogram["counts"]) for histogram in json.loads(Path("whole.json").read_text())["histograms"]]
    checks.that(len(parts) == 2 and counts == expected and counts[-2][0] > 0, f"{len(parts)} files of histograms add up to the whole")
    checks.that(rotated["outputs"] == whole["outputs"] and rotated["totals"] == whole["totals"], "the summary has the whole run")


def luminosity():
    """Tables of luminosity counters: each has its heads and a description; together they have the rows of one table."""
    graph = (GRAPHS / "lumi.yaml", "--with", GRAPHS / "output/luminosity.yaml", "-n", 90, "--slice-events", 8, "--set", "raw.luminosity_fraction=0.6")
    whole, _ = run(*graph, "-o", "lumi.csv", "--set", "table.schema_path=lumi.json")
    rotated, _ = run(*graph, "-o", "l-%02d.csv", "--set", "table.schema_path=l-%02d.json", "--rotate", "4kB")
    head, *rows = Path("lumi.csv").read_text().splitlines()
    parts = [path.read_text().splitlines() for path in files("l-*.csv")]
    checks.that(len(parts) > 2 and all(part[0] == head for part in parts), f"{len(parts)} tables of counters, each with its heads")
    checks.that([row for part in parts for row in part[1:]] == rows and rows, f"with the {len(rows)} rows of one table")
    schemas = [path.read_bytes() for path in files("l-*.json")]
    checks.that(schemas == [Path("lumi.json").read_bytes()] * len(parts), "each table has its description")
    of_whole, of_rotated = ({**summary["results"]["table"], "path": ""} for summary in (whole, rotated))
    checks.that(of_whole == of_rotated and of_whole["events"] == len(rows), "the sink reports the means of all tables")


def flat(counts):
    return [value for row in counts for value in row] if isinstance(counts[0], list) else counts


def several_sinks():
    Path("both.yaml").write_text("sluice: 1\nnodes:\n  write: { use: io.mdf_sink, set: { path: b-%02d.mdf } }\n"
                                 "  other: { use: io.mep_sink, set: { path: b-%02d.mep } }\n")
    summary, _ = run(GRAPHS / "common/raw.yaml", "--with", "both.yaml", "-i", "two.mdf", "--rotate", "400kB,1h", "--slice-events", 4)
    pairs = [[run(GRAPHS / "common/raw.yaml", "-i", path)[0]["events"] for path in files(f"b-*.{kind}")] for kind in ("mdf", "mep")]
    checks.that(pairs[0] == pairs[1] and len(pairs[0]) == summary["rotations"] + 1 > 2, f"both sinks rotate at the same events: {pairs[0]}")


def refusals():
    for option, message in (("1GiBB", "`1GiBB`: a size"), ("0s", "`0s`: at least 1s"), ("10", "`10`: a size"), ("", "``: a size"), ("run,run", "`run`: is given twice"),
                            ("1s,2min", "`2min`: a second time"), ("1B,2B", "`2B`: a second size"), ("1B,", "``: a size"), ("-1s", "`-1s`: a size"), ("1e300GB", "at least 1B"), ("nanB", "`nanB`")):
        done = call("run", *MDF, "-n", 3, "-o", "x-%04d.mdf", f"--rotate={option}", expect=2)
        checks.that(done.stderr.count("error: ") == 1 and message in done.stderr, f"refused: {done.stderr.splitlines()[0]}")
    for path, message in (("x.mdf", "needs %04d"), ("x-%d.mdf", "needs %04d"), ("x-%q-%04d.mdf", "% is followed by"), ("x-%04d.mdf%", "% is followed by"), ("x-%00d.mdf", "% is followed by")):
        done = call("run", *MDF, "-n", 3, "-o", path, "--rotate", "run", expect=2)
        checks.that(done.stderr.count("error: ") == 1 and message in done.stderr, f"refused: {done.stderr.splitlines()[0]}")
    done = call("run", *MDF, "-n", 3, "--rotate", "run", "--set", "write.path=x.mdf", expect=2)
    checks.that("node write: path: x.mdf" in done.stderr, "a path of a property is a pattern too")
    Path("x-0000.mdf").touch()
    done = call("run", *MDF, "-n", 3, "-o", "x-%04d.mdf", "--rotate", "run", expect=2)
    checks.that(done.stderr.count("error: ") == 1 and "x-0000.mdf exists" in done.stderr, "no file is replaced")
    done = call("run", GRAPHS / "velo.yaml", "-n", 3, "--rotate", "run", expect=2)
    checks.that("--rotate has no effect: no sink of this run writes a file" in done.stderr, "a run without sinks")
    done = call("run", GRAPHS / "velo_picture.yaml", "-n", 3, "-o", "x-%04d.svg", "--rotate", "run", expect=2)
    checks.that(done.stderr.count("error: ") == 1 and "node picture: this sink cannot begin new files" in done.stderr, "a sink that cannot rotate")
    checks.that(not files("x-*.part"), "nothing is left")
    call("run", *MDF, "-n", 3, "-o", "y-100%%-%01d.mdf", "--rotate", "run", "--quiet")
    checks.that(Path("y-100%-0.mdf").exists(), "%% is %")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    Path("write.yaml").write_text(WRITE)
    for name, number in (("first", 11), ("second", 12)):
        call("run", *MDF, "-n", 40, "-o", f"{name}.mdf", "--set", f"raw.run={number}", "--set", f"raw.seed={number}", "--quiet")
    Path("two.mdf").write_bytes(bytes_of([Path("first.mdf"), Path("second.mdf")]))
    for part in (sizes, runs, times, stopped, full_disk, other_sinks, luminosity, several_sinks, refusals):
        part()
    os.chdir("/")
checks.end()
