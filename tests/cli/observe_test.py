#!/usr/bin/env python3
"""--trace and --metrics: observe_test.py SLUICE"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from common import ROOT, Checks

VELO = ROOT / "graphs/velo.yaml"
checks = Checks()
check = checks.that


def run(sluice, *arguments, expect=0):
    done = subprocess.run([sluice, "run", *map(str, arguments)], capture_output=True, text=True)
    check(done.returncode == expect, f"sluice run {' '.join(map(str, arguments[1:]))}: status {done.returncode}")
    return done


def spans_by_track(path):
    """Spans of each track, sorted so that enclosing spans come first."""
    tracks = {}
    for entry in json.loads(path.read_text()):
        if entry["ph"] == "X":
            tracks.setdefault(entry["tid"], []).append(entry)
    for spans in tracks.values():
        spans.sort(key=lambda s: (s["ts"], -s["dur"]))
    return tracks


def parents_of(spans):
    """(span, names of the enclosing spans), computed from times. A span that overlaps the end of another is an error."""
    open_spans, result = [], []
    for span in spans:
        while open_spans and span["ts"] >= open_spans[-1]["ts"] + open_spans[-1]["dur"] - 0.0015:
            open_spans.pop()
        if open_spans and span["ts"] + span["dur"] > open_spans[-1]["ts"] + open_spans[-1]["dur"] + 0.0015:
            raise ValueError(f"{span} overlaps the end of {open_spans[-1]}")
        result.append((span, [s["name"] for s in open_spans]))
        open_spans.append(span)
    return result


def trace_of_slots(sluice, folder):
    path = folder / "slots.json"
    run(sluice, VELO, "-n", 60, "--slots", 2, "--slice-events", 8, "--trace", path, "--quiet")
    tracks = spans_by_track(path)
    check(len(tracks) == 2, "each slot has a track")
    spans = [entry for spans in tracks.values() for entry in parents_of(spans)]
    check(sum(s["args"]["events"] for s, _ in spans if s["name"] == "fill") == 60, "spans of the source have all events")
    check(sum(s["args"]["events"] for s, around in spans if s["name"] == "search") == 60, "spans of a node have all events")
    check(all(around == ["slice", "run"] for s, around in spans if s["name"] in ("clusters", "search", "fit")), "spans of nodes are inside their slice")
    check(all(around == ["slice", "deliver"] for s, around in spans if s["name"] == "check"), "spans of sinks are inside the delivery")
    check(sum(s["name"] == "slice" for s, _ in spans) == 8, "each slice has a span")


def trace_of_retries(sluice, folder):
    path = folder / "retries.json"
    run(sluice, VELO, "-n", 40, "--slice-events", 40, "--set", "search.candidates_per_event=100", "--set", "raw.mu=20", "--trace", path, "--quiet")
    spans = [entry for spans in spans_by_track(path).values() for entry in parents_of(spans)]
    retries = [around for s, around in spans if s["name"] == "retry in parts"]
    check(retries and all(around[0] == "slice" for around in retries), f"spans of {len(retries)} retries are inside their slice")
    check(any(s["name"] == "search" and "retry in parts" in around for s, around in spans), "retries contain the nodes that run again")


def times_add_up(sluice, folder):
    """Table, JSON, metrics and trace of a run report the same times, which add up to the total."""
    for slots in (1, 2):
        paths = {name: folder / f"times.{name}" for name in ("json", "prom", "trace")}
        done = run(sluice, ROOT / "graphs/velo_pv.yaml", "-n", 100, "--slots", slots, "--profile", "--digest",
                   "--json", paths["json"], "--metrics", paths["prom"], "--trace", paths["trace"])
        summary = json.loads(paths["json"].read_text())
        whole = slots * summary["seconds"]
        rows = [t for t in summary["times"] if t["where"] == "threads"]
        near = lambda seconds: abs(seconds / whole - 1) < 0.05
        check(near(sum(t["seconds"] for t in rows)), f"{slots} slots: rows of JSON add up to slots x wall")
        check(abs(sum(t["share"] for t in rows) - 1) < 0.05, "shares of the rows add up to 1")
        nodes = {t["node"]: t for t in rows if "node" in t}
        kernels = {n["name"] for n in summary["nodes"]}
        check(set(nodes) == kernels | {"raw", "check", "pv_check", "table"}, "the source, all kernels and all sinks have a row")
        check(nodes["check"]["seconds"] > 0 and nodes["check"]["events"] == 100, "a check has its time and events")
        check({t["what"] for t in summary["times"] if t["where"] == "before"} == {"plugins and graph", "plan", "constants", "memory"},
              "times before the run have separate rows")
        table = done.stdout.split("us/event", 1)[1].split("before the run", 1)[0].splitlines()[1:]
        table = [line.replace("~", " ").split() for line in table if "%" in line]
        shown = [float(next(w for i, w in enumerate(words) if words[i + 1].endswith("%"))) / 1000 for words in table]
        check(near(sum(shown[:-1])) and near(shown[-1]), "rows of the table add up to the total in its last line")
        text = paths["prom"].read_text()
        seconds = [float(s) for s in re.findall(r"^sluice_thread_seconds_total\{.*\} (\S+)$", text, re.MULTILINE)]
        check(near(sum(seconds)), "rows of the metrics add up")
        for name in ("check", "raw"):
            found = float(re.search(rf'^sluice_thread_seconds_total{{what="\w+",node="{name}"}} (\S+)$', text, re.MULTILINE).group(1))
            check(abs(found - nodes[name]["seconds"]) < 2e-6, f"{name}: metrics and summary have the same time")
        spans = [s for track in spans_by_track(paths["trace"]).values() for s in track]
        for name, node in (("check", "check"), ("fill", "raw"), ("search", "search")):
            traced = sum(s["dur"] for s in spans if s["name"] == name) * 1e-6
            check(abs(traced - nodes[node]["seconds"]) < 1e-4, f"{name}: trace and summary have the same time")
        names = {s["name"] for s in spans}
        check({"plugins and graph", "plan", "constants", "memory", "open inputs and sinks", "wait to read", "digests", "finish sinks"} <= names,
              "the trace has activities that belong to no node")


def metric(text, name):
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE).group(1))


def metrics_at_the_end(sluice, folder):
    path, summary = folder / "end.prom", folder / "end.json"
    run(sluice, VELO, "-n", 100, "--slots", 2, "--metrics", path, "--json", summary, "--quiet")
    text, summary = path.read_text(), json.loads(summary.read_text())
    check(metric(text, "sluice_events_total") == summary["events"] == 100, "all events are counted")
    check(metric(text, "sluice_slice_seconds_count") == summary["slices"], "all slices are counted")
    check(metric(text, 'sluice_slice_seconds_bucket{le="+Inf"}') == summary["slices"], "the histogram has all slices")
    check(f'graph_digest="{summary["graph_digest"]}"' in text, "the metrics have the digest of the graph")
    check(f'version="{summary["sluice_version"]}",commit="{summary["commit"]}"' in text, "the metrics have version and commit of the program")
    for node in summary["nodes"]:
        labels = f'{{node="{node["name"]}",algorithm="{node["algorithm"]}"}}'
        check(metric(text, f"sluice_node_events_total{labels}") == node["events"], f"{node['name']}: metrics and summary have the same events")
        check(abs(metric(text, f"sluice_node_seconds_total{labels}") * 1e6 - node["microseconds"]) < 2, f"{node['name']}: metrics and summary have the same time")
    for budget in summary["budgets"]:
        check(metric(text, f'sluice_buffer_used_max{{buffer="{budget["port"]}"}}') == budget["used_max"], f"{budget['port']}: metrics and summary have the same maximum")
    for name, bytes_ in (("sluice_arena_bytes", summary["arena"]["bytes"]), ("sluice_arena_live_bytes_max", summary["arena"]["live_bytes_max"]),
                         ("sluice_slots", summary["slots"])):
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1]
        check(found == str(bytes_), f"{name} is exact: {found}")
    check(not pathlib.Path(f"{path}.new").exists(), "no temporary file is left")
    for line in text.splitlines():
        if not re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+', line):
            check(False, f"each line has the format of metrics: {line}")


def metrics_during_the_run(sluice, folder):
    path = folder / "way.prom"
    command = [sluice, "run", VELO, "-n", "1000000", "--metrics", path, "--quiet"]
    process, seen = subprocess.Popen(list(map(str, command))), set()
    begin = time.monotonic()
    while len(seen) < 4 and time.monotonic() - begin < 60:
        if path.exists():
            text = path.read_text()
            check(text.endswith("\n") and "sluice_buffer_used_max" in text, "the file is complete") if not seen else None
            seen.add(metric(text, "sluice_events_total"))
        time.sleep(0.1)
    process.terminate()
    check(process.wait() == 143, "SIGTERM ends the run with status 143")
    check(len(seen) == 4, f"the file is updated during the run: {sorted(seen)}")


def memory_of_the_run_alone(sluice, folder):
    ballast = bytearray(b"b") * (256 << 20)  # resident here, in the process that starts the run
    run(sluice, VELO, "-n", 1, "--json", folder / "memory.json", "--quiet")
    peak = json.loads((folder / "memory.json").read_text())["peak_rss_bytes"]
    check(1 << 20 < peak < len(ballast) // 2, f"peak resident memory is that of the run alone: {peak} bytes")


def mistakes(sluice, folder):
    done = run(sluice, VELO, "-n", 1, "--trace", folder / "no/trace.json", expect=2)
    check("--trace" in done.stderr and "No such file or directory" in done.stderr, "a trace that cannot be written is an error at the start")
    done = run(sluice, VELO, "-n", 1, "--metrics", folder / "no/m.prom", expect=2)
    check("--metrics" in done.stderr and "No such file or directory" in done.stderr, "metrics that cannot be written are an error at the start")
    done = run(sluice, VELO, "-n", 1, "--metrics", "/dev/full")
    check("warning: --metrics: /dev/full: cannot write" in done.stderr, "metrics that can no longer be written are a warning")
    done = run(sluice, VELO, "-n", 20, "--trace", "/dev/full", expect=1)
    check("No space left on device" in done.stderr, "a full disk is reported")


def main():
    sluice = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        for case in (trace_of_slots, trace_of_retries, times_add_up, metrics_at_the_end, metrics_during_the_run, memory_of_the_run_alone, mistakes):
            case(sluice, pathlib.Path(name))
    checks.end()


if __name__ == "__main__":
    main()
