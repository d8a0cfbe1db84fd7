#!/usr/bin/env python3
"""`sluice tune` and `sluice compare`: tune_test.py SLUICE TOY_FOLDER. Times vary, but their evaluation is tested."""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import Checks

HERE = Path(__file__).resolve().parent
TOY = ("--plugin-path", sys.argv[2])
checks = Checks()
check = checks.that


def sluice(*arguments, expect=0):
    done = subprocess.run([sys.argv[1], *map(str, arguments)], capture_output=True, text=True)
    check(done.returncode == expect, f"{' '.join(map(str, arguments[:3]))} ...: status {done.returncode}, {expect} wanted")
    return done


def rows(table):
    """{name: ([us, least, most], [events/s, least, most], faster)}"""
    numbers = r"([\d.e+]+) \(([\d.e+]+)-([\d.e+]+)\)"
    found = re.findall(rf"^(\S.*?) {{2,}}{numbers} +{numbers} *(faster)?", table, re.MULTILINE)
    return {row[0]: (list(map(float, row[1:4])), list(map(float, row[4:7])), bool(row[7])) for row in found}


def on_the_host(graph, folder):
    overlay = folder / "tuned.yaml"
    table = sluice("tune", graph, "--slots", "1,2", "--slice-events", "1,64", "--rounds", 3, "--seconds", "0.02", "-n", 500, "-o", overlay, *TOY)
    found = rows(table.stdout)
    check(list(found) == ["as it is", "slots 1", "slots 2", "slice-events 1", "slice-events 64"], f"each variant has a row: {list(found)}")
    check(all(low <= middle <= high for row in found.values() for middle, low, high in row[:2]), "medians are inside their ranges")
    slowest, fastest = found["slice-events 1"][1], found["slice-events 64"][1]
    check(fastest[0] > slowest[0], "slices of 64 events are faster than slices of one")
    winners = [name for name, row in found.items() if row[2]]
    best = max(("slice-events 1", "slice-events 64"), key=lambda name: found[name][1][0])
    check(all(found[name][1][1] > found["as it is"][1][2] for name in winners), f"variants marked as faster are faster in every round: {winners}")
    text = overlay.read_text()
    check(("budgets: { events: 64 }" in text) == (best in winners and best == "slice-events 64"), "the overlay has the fastest setting")
    part = folder / "part.yaml"
    part.write_text("sluice: 1\nx-note: merged after the graph, before the tuned settings\noutputs: [nothing]\n")
    done = sluice("tune", graph, "--with", part, "--slots", "1,2", "-n", 5, *TOY, expect=2)
    check("part.yaml:3:" in done.stderr, f"--with is merged: {done.stderr.strip()}")
    combined = folder / "combined.yaml"
    combined.write_text(f"sluice: 1\ninclude: [{graph.name}, tuned.yaml]\n")
    sluice("check", combined, *TOY)


def blocks(graph):
    table = sluice("tune", graph, "--device", "simt", "--node", "sum", "--blocks", "32,96", "--rounds", 1, "--seconds", "0.001", "-n", 3, *TOY)
    check(list(rows(table.stdout)) == ["as it is", "sum.block=32", "sum.block=96"], "blocks are swept on the emulator")
    done = sluice("tune", graph, "--device", "simt", "--node", "sum", "--rounds", 1, "--seconds", "0.001", "-n", 3, "--set", "sum.block_sized=true", *TOY, expect=1)
    check("sum.block=32 changes the output sum: digest" in done.stderr, f"a block size that changes a result is an error: {done.stderr.strip()}")


def blocks_by_kernel(folder):
    """Sweeps each kernel with its own block size, then the others; faster settings are printed as options and written."""
    graph, overlay = folder / "expand.yaml", folder / "expand_tuned.yaml"
    graph.write_text("sluice: 1\nnodes:\n  raw: { use: toy.source }\n  scaled: { use: toy.scale }\n"
                     "  expanded: { use: toy.expand, in: { scaled: scaled }, block: 1024 }\noutputs: [expanded]\n")
    done = sluice("tune", graph, "--device", "simt", "--node", "expanded", "--blocks", "32,64", "--rounds", 3, "--seconds", "0.01",
                  "-n", 40, "-o", overlay, *TOY)
    found = rows(done.stdout)
    kernels = ("count_copies", "others")
    check(list(found) == ["as it is"] + [f"expanded.block.{kernel}={threads}" for kernel in kernels for threads in (32, 64)],
          f"kernels are swept in sequence: {list(found)}")
    winners = [name for name, row in found.items() if row[2]]
    told = re.search(r"^faster:(.*)$", done.stdout, re.MULTILINE)
    check((told.group(1).split() if told else []) == [word for name in winners for word in ("--set", name)], f"faster settings are printed as options: {told and told.group(0)}")
    check(bool(winners), "blocks of 32 or 64 fibers are faster than those of 1024 on the emulator")
    sizes = ", ".join(name.removeprefix("expanded.block.").replace("=", ": ") for name in winners)
    check(not winners or f"  expanded: {{ block: {{ {sizes} }} }}" in overlay.read_text(), f"faster settings are in the overlay:\n{overlay.read_text()}")
    combined = folder / "expand_combined.yaml"
    combined.write_text(f"sluice: 1\ninclude: [{graph.name}, {overlay.name}]\n")
    options = [word for name in winners for word in ("--set", name)]
    digests = {json.loads(sluice("run", path, "-n", 20, "--device", "simt", "--digest", "--quiet", "--json", "-", *more, *TOY).stdout)["graph_digest"]
               for path, more in ((combined, ()), (graph, options))}
    check(len(digests) == 1, f"options and overlay make the same graph: {digests}")


def events_of_the_source(graph):
    """Without -n the length of a run depends on the number of events of the source, not on an estimate."""
    for options, events in ((("--set", "raw.events=2"), 2), (("--set", "raw.events=2", "-n", 1), 1)):
        done = sluice("tune", graph, "--slots", "1", "--rounds", 1, "--seconds", "0.2", *options, *TOY)
        told = re.search(r"median of 1 rounds and range, each of (\d+) passes over (\d+) events?;", done.stdout)
        check(told is not None and int(told[2]) == events, f"{events} events a pass: {done.stdout.splitlines()[-1:]}")
        # With the estimate of 1000 events there were 1000 / events times fewer passes.
        hz = rows(done.stdout)["as it is"][1][0]
        check(told and int(told[1]) * events > 0.2 * hz / 50, f"{told and told[0]} at {hz} events/s last some 0.2 s")
    done = sluice("tune", graph, "--slots", "1", "--set", "raw.events=0", *TOY, expect=2)
    check("no event went through the graph, so nothing can be timed" in done.stderr and not done.stdout, f"no events: {done.stderr.strip()}")


def mistakes(graph):
    for arguments, text, status in (
        ((), "nothing to tune", 2),
        (("--node", "sum"), "on cpu a block is one thread", 2),
        (("--slots", "1,x"), "--slots needs numbers from 1 to 4294967295 with commas between, not '1,x'", 2),
        (("--slots", "1,"), "--slots needs numbers", 2),
        (("--node", "sun", "--device", "simt"), "--node sun: the graph runs no node of that name\n  hint: did you mean sum?", 2),
    ):
        done = sluice("tune", graph, *arguments, "--rounds", 1, "--seconds", "0.001", "-n", 2, *TOY, expect=status)
        check(text in done.stderr, f"{arguments}: {done.stderr.strip().splitlines()[:1]}")


def changed(path, folder, name, **values):
    summary = json.loads(path.read_text())
    summary.update(values)
    made = folder / f"{name}.json"
    made.write_text(json.dumps(summary))
    return made


def times(path, folder):
    """Times differ if the ranges of five stretches do not overlap; with fewer stretches there is no verdict."""
    def run(name, hz, us):
        nodes = [{"name": node, "events": 100, "microseconds": sum(values), "stretch_us": values} for node, values in us.items()]
        return changed(path, folder, name, stretch_hz=hz, nodes=nodes)

    slow = [10, 11, 12, 13, 14]
    before = run("before", slow, {"a": slow, "b": slow, "c": slow})
    after = run("after", [20 + hz for hz in slow], {"a": [us + 5 for us in slow], "b": [us + 50 for us in slow], "c": [us + 4 for us in slow]})
    table = sluice("compare", before, after).stdout
    check(re.search(r"^events/s .*%\s\*$", table, re.MULTILINE), "ranges that do not overlap are marked")
    check(re.findall(r"^(\w) .*\*$", table, re.MULTILINE) == ["b", "a"], f"nodes that differ by more than the spread are sorted by size:\n{table}")
    check("1 within their spread" in table and "cannot tell" not in table, "nodes within the spread are counted")
    few = run("few", [20 + hz for hz in slow[:4]], {"a": [us + 5 for us in slow[:4]], "b": [us + 50 for us in slow[:4]], "d": slow})
    table = sluice("compare", before, few).stdout
    check("*" not in table and "cannot tell whether times differ: this needs 5 stretches each, and there are 5 and 4" in table,
          f"four stretches are too few to tell:\n{table}")
    check("2 with too few stretches to tell" in table and re.search(r"^c .* -  +$", table, re.MULTILINE) and re.search(r"^d +-  ", table, re.MULTILINE),
          f"a node of only one run is listed:\n{table}")


def results(path, folder):
    many = {f"n{k:02}": 1000 for k in range(30)}
    bins = [{"x": k, "y": 1} for k in range(200)]
    before = changed(path, folder, "many_before", totals={}, results={"check": {**many, "word": "left", "gone": 1, "same": 7, "bins": bins}})
    more = {name: 1000 + 3.00000001 * k for k, name in enumerate(many)}
    after = changed(path, folder, "many_after", totals={}, results={"check": {**more, "word": "right", "new": 2, "same": 7, "bins": [{"x": 2 * b["x"], "y": 1} for b in bins]}})
    table = sluice("compare", before, after).stdout
    found = re.findall(r"^check\.(\w+) +(\S+) +(\S+)", table, re.MULTILINE)
    check(sorted(found[:3]) == [("gone", "1", "-"), ("new", "-", "2"), ("word", "left", "right")], f"values of only one run come first: {found[:3]}")
    check([name for name, _, _ in found[3:]] == [f"n{k:02}" for k in range(29, 12, -1)], "numbers are sorted by the difference")
    check(found[3] == ("n29", "1000", "1087") and "+8.7 %" in table, f"numbers have few digits: {found[3]}")
    check("12 more, by less than these" in table and "check.same" not in table, f"smaller differences are counted:\n{table}")
    check("check.bins[]: 199 of 400 differ, by up to 50 %" in table, "the number of different entries of a list is printed")
    check("203 of 434 values" in table, f"the number of equal values is printed: {table.splitlines()[-3:]}")
    check(len(table.splitlines()) < 50, "the table fits on a screen")
    everything = sluice("compare", before, after, "--all").stdout
    check("1087.00000029" in everything and everything.count("check.bins[") == 199, "--all lists all differences with all digits")
    sluice("compare", before, before)
    large = [changed(path, folder, f"large{k}", totals={}, results={"check": {"sum": 2**60 + k, "mean": 1.0 + k / 2}}) for k in (0, 1)]
    check("0 of 2 values" in sluice("compare", *large).stdout, "integers that are equal as doubles differ")
    check("2 of 2 values" in sluice("compare", large[0], large[0]).stdout, "equal integers are equal")


def no_summaries(path, folder):
    """Files that are not summaries of runs are refused as either argument, and the message names what is missing."""
    whole = path.read_text()
    summary = json.loads(whole)

    def without(key):
        return json.dumps({name: value for name, value in summary.items() if name != key})

    described = sluice("describe", "toy.sum", "--json", *TOY).stdout
    index = json.dumps({"parts": [], "events": 0, "bad_records": 0})
    none = "it is not an object"
    for name, text, reason in (
        ("broken.json", "{", "did not find expected"), ("cut.json", whole[:len(whole) // 2], "error: "), ("empty.json", "", "it is empty"),
        ("list.json", "[1]", none), ("listed.json", f"[{whole}]", none), ("null.json", "null", none), ("number.json", "3", none),
        ("within_itself.json", '{"results": &a {"b": *a}}', "it contains itself"), ("object.json", "{}", "it has no `graph_digest`"),
        ("graph.yaml", (HERE / "files/toy/tuned.yaml").read_text(), "it has no `graph_digest`"),
        ("description.json", described, "it has no `graph_digest`"), ("index.json", index, "it has no `graph_digest`"),
        ("report.json", json.dumps({"graph_digest": "0", "events": 1, "tasks": 1, "outputs": []}), "it has no list `nodes`"),
        ("events.json", without("events"), "it has no number `events`"), ("nodes.json", without("nodes"), "it has no list `nodes`"),
        ("outputs.json", without("outputs"), "it has no list `outputs`"), ("digest.json", without("graph_digest"), "it has no `graph_digest`"),
        ("text.json", json.dumps({**summary, "events": "many"}), "it has no number `events`"),
        ("map.json", json.dumps({**summary, "nodes": {}}), "it has no list `nodes`"), ("twice.json", whole + whole, "there is more text after it"),
    ):
        (folder / name).write_text(text)
        for pair in ((path, folder / name), (folder / name, path)):
            done = sluice("compare", *pair, expect=2)
            check(f"error: {folder / name}" in done.stderr and reason in done.stderr and not done.stdout, f"{name}: {done.stderr.strip()}")
            check("no summary" not in done.stderr or "`sluice run GRAPH --json FILE` writes one" in done.stderr, f"{name}: the message has the expected kind of file: {done.stderr.strip()}")
            check(done.stderr.count("\n") == 1, f"{name}: one message: {done.stderr}")
    sluice("compare", path, folder / "none.json", expect=2)


def other_runs(path, folder):
    """Summaries of runs with nothing in common, and of runs that failed or were interrupted."""
    nodes = [{"name": "other", "events": 1, "microseconds": 1, "stretch_us": []}]
    other = changed(path, folder, "other", graph_digest="0", nodes=nodes, outputs=[{"port": "other", "digest": None}], results={"x": 1}, totals={})
    done = sluice("compare", path, other, expect=2)
    check("have no node, output or result of a check in common" in done.stderr and not done.stdout, f"runs with nothing in common: {done.stderr.strip()}")
    sluice("compare", other, other)
    stopped = changed(path, folder, "stopped", status="interrupted", events=57)
    for pair in ((path, stopped), (stopped, path)):
        done = sluice("compare", *pair)
        check(f"warning: {stopped}: the run did not end well (status `interrupted`, 57 events)" in done.stderr, f"an interrupted run: {done.stderr.strip()}")
        check(done.stderr.count("warning") == 1, f"an interrupted run is reported once: {done.stderr}")


def compare(graph, folder):
    files = []
    for name, options in (("a", ()), ("b", ("--slots", 2)), ("c", ("--set", "sum.block_sized=true")), ("d", ())):
        files.append(folder / f"{name}.json")
        digest = ["--digest"] if name != "d" else []
        sluice("run", graph, "-n", 200, "--repeat", 6, "--quiet", *digest, *options, "--json", files[-1], *TOY)
    same = sluice("compare", files[0], files[1]).stdout
    check("1 the same" in same and not re.search(r"^sum +\w{16}", same, re.MULTILINE), "equal outputs are counted")
    check(re.search(r"^slots +1 +2 +differs$", same, re.MULTILINE) and "slice_events" not in same, "only different settings are listed")
    everything = sluice("compare", files[0], files[1], "--all").stdout
    check(re.search(r"^sum +\w{16} +\w{16} +same$", everything, re.MULTILINE) and "slice_events" in everything, "--all lists equal values, too")
    other = sluice("compare", files[0], files[2], expect=1).stdout
    check("DIFFERS" in other, "different outputs are reported, also by the exit status")
    check("not known: run with --digest" in sluice("compare", files[0], files[3]).stdout, "outputs without a digest are unknown, not equal")
    times(files[0], folder)
    results(files[0], folder)
    no_summaries(files[0], folder)
    other_runs(files[0], folder)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = folder / "graph.yaml"
        shutil.copy(HERE / "files/toy/tuned.yaml", graph)
        on_the_host(graph, folder)
        blocks(graph)
        blocks_by_kernel(folder)
        events_of_the_source(graph)
        mistakes(graph)
        compare(graph, folder)
    checks.end()


if __name__ == "__main__":
    main()
