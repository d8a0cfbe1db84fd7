#!/usr/bin/env python3
"""Reports of selected events written by io.mdf_sink: the file has exactly the selected events, the reports that
scripts/decode_reports reads agree with the outputs of the graph and with the key, and the file does not depend on slices or
the device."""
import importlib.machinery
import importlib.util
import json
import subprocess
import tempfile
from pathlib import Path

from common import ROOT, Checks, call

loader = importlib.machinery.SourceFileLoader("decode_reports", str(ROOT / "scripts/decode_reports"))
decode = importlib.util.module_from_spec(importlib.util.spec_from_loader("decode_reports", loader))
loader.exec_module(decode)

checks = Checks()
GRAPH, SCRIPT = ROOT / "tests/selections/report_banks.yaml", ROOT / "scripts/decode_reports"
EVENTS, FEW = 60, 8
LINES = "Hlt1TrackMVA Hlt1AnyTrack Hlt1ODINLumi Hlt1Passthrough".split()
SCALES = {"Hlt1AnyTrack": (1, 0.3), "Hlt1ODINLumi": (0.5, 1), "Hlt1Passthrough": (0.2, 0.5)}
ROUTED = {"Hlt1TrackMVA": [14], "Hlt1AnyTrack": [14], "Hlt1ODINLumi": [1], "Hlt1Passthrough": [14]}


def refuses(read, *given):
    try:
        read(*given)
    except decode.Malformed:
        return True
    return False


def run(out, *arguments, events=EVENTS):
    return call("run", GRAPH, "-n", events, "-o", out, "--quiet", *arguments)


with tempfile.TemporaryDirectory() as folder:
    first, second, key, summary = (Path(folder) / name for name in ("first.mdf", "second.mdf", "key.json", "run.json"))
    run(first, "--set", f"key.path={key}", "--json", summary)
    names, number = decode.read_key(key.read_text())
    checks.that(names == LINES, f"the key {number:08x} has the lines in their order")
    scales = {line["name"]: (line["pre_scale"], line["post_scale"]) for line in json.loads(key.read_text())["lines"]}
    checks.that(scales == {name: SCALES.get(name, (1, 1)) for name in LINES}, "the key has the scales of the lines")

    records = list(decode.records(first.read_bytes()))
    reports = [decode.read_event(body, names, number) for _, body in records]
    found = json.loads(summary.read_text())
    named = found["totals"]["decide.totals"]
    checks.that(list(named) == names, "the totals have the names of the lines")
    totals = {field: [of[field] for of in named.values()] for field in ("before_scale", "passed", "alone")}
    passed = [sum(i in report["passed"] for report in reports) for i in range(1, len(names) + 1)]
    alone = [sum(report["passed"] == [i] for report in reports) for i in range(1, len(names) + 1)]
    checks.that(totals["passed"] == passed and totals["alone"] == alone, f"{passed} events passed, {alone} no other line")
    checks.that(all(before >= after for before, after in zip(totals["before_scale"], passed)) and totals["before_scale"][1] > passed[1] > 0, f"{totals['before_scale']} events pass without post scales")
    checks.that(0 < len(reports) < EVENTS and all(reports) and found["results"]["write"]["events"] == len(reports), f"{len(reports)} of {EVENTS} events are written, and all of them have reports")
    checks.that(all(report["routing_bits"] == sorted({b for i in report["passed"] for b in ROUTED[names[i - 1]]}) for report in reports), "routing bits follow from the lines that passed")
    candidates = [report["lines"].get(line, []) for report in reports for line in report["passed"]]
    checks.that(sum(map(len, candidates)) > 20 and any(not of for of in candidates), f"{sum(map(len, candidates))} candidates")
    detectors = [{lhcb_id >> 28 for lhcb_id in track["lhcbids"]} for report in reports for track in report["tracks"]]
    checks.that(len(detectors) > 20 and all(of == {2, 3, 5} or of == {2, 5} for of in detectors), f"{len(detectors)} tracks with hits in VELO, UT and SciFi")
    hits = [len(track["lhcbids"]) == len(set(track["lhcbids"])) for report in reports for track in report["tracks"]]
    checks.that(all(hits), "no track has a hit twice")

    *_, (_, _, _, last) = decode.banks(records[0][1])
    body = records[0][1][:-len(last) // 4 * 4]
    checks.that(refuses(lambda: list(decode.banks(body))), "a bank that exceeds its record is refused")
    words, of = next((decode.words_of(bank), report) for (_, body), report in zip(records, reports) for kind, *_, bank in decode.banks(body) if kind == decode.SELECTIONS)
    value = words[4] + 1 + ((words[words[4]] & 0xFFFF) + 3) // 4  # first value of the sub-bank of standard information
    refused = [refuses(decode.read_selections, (*words[:value], wrong, *words[value + 1:]), of["passed"]) for wrong in (0x7F800000, 0x7FC00000, 0)]
    checks.that(all(refused) and decode.read_selections(words, of["passed"])["lines"] == of["lines"], "a selection with an id that is not a number or not of a line that passed is refused")

    for arguments in (("--slice-events", "7", "--slots", "2"), ("--set", "sel_reports.words=1")):
        run(second, *arguments)
        checks.that(second.read_bytes() == first.read_bytes(), f"with {' '.join(arguments)} the file is identical")
    run(second, "--device", "simt", "--slice-events", "4", events=FEW)
    checks.that(second.read_bytes() == first.read_bytes()[:second.stat().st_size], f"{FEW} events are identical on simt")

    done = subprocess.run([SCRIPT, key, first, "--json"], capture_output=True, text=True)
    checks.that([json.loads(line)["event"] for line in done.stdout.splitlines()] == [report["event"] for report in reports], "decode_reports --json prints one object per line")
    done = subprocess.run([SCRIPT, key, first], capture_output=True, text=True)
    checks.that(done.stdout.count("\nrun ") + 1 == len(reports) and "Hlt1AnyTrack: track 0" in done.stdout, "decode_reports prints one block per event")
    key.write_text(key.read_text().replace("Hlt1AnyTrack", "Hlt1OneTrack"))
    done = subprocess.run([SCRIPT, key, first], capture_output=True, text=True)
    checks.that(done.returncode == 1 and "the key is not that of its lines" in done.stderr, "decode_reports refuses a key of other lines")

    key.unlink()
    call("run", GRAPH, "-i", first, "-n", "1", "-o", second, "--quiet", "--set", f"key.path={key}", "--set", "Hlt1AnyTrack.pre_scale=0")
    checks.that('"name": "Hlt1AnyTrack", "pre_scale": 0, ' in key.read_text(), "a scale that was set is in the key")

    # all lines, with candidates from three containers of pairs
    call("run", ROOT / "examples/selected_events.yaml", "-n", 2 * EVENTS, "-o", second, "--quiet", "--set", f"key.path={key}")
    names, number = decode.read_key(key.read_text())
    reports = [decode.read_event(body, names, number) for _, body in decode.records(second.read_bytes())]
    with_vertices = [report for report in reports if report["vertices"]]
    checks.that(len(names) == 66 and len(reports) > 10 and with_vertices, f"{len(names)} lines: {len(reports)} events, {len(with_vertices)} with vertices")
    kinds = {name: {of for report in reports for of, _ in report["lines"].get(i, [])} for i, name in enumerate(names, 1)}
    checks.that({"vertex"} in kinds.values() and {"track"} in kinds.values() and all(len(of) < 2 for of in kinds.values()), "all candidates of a line have one type")

    # fields of lines with one value per slice: digests must not depend on the memory after the value
    lines = Path(folder) / "lines.yaml"
    lines.write_text(f"sluice: 1\ninclude: [{ROOT}/graphs/selections.yaml]\noutputs: [{', '.join(names)}]\n")
    plain, guarded = (call("run", lines, "-n", FEW, "--digest", *more) for more in ((), ("--guard",)))
    digests, of_guarded = ([line for line in done.stdout.splitlines() if line.startswith("output")] for done in (plain, guarded))
    checks.that(len(digests) == len(names) and digests == of_guarded, f"{len(names)} lines have identical digests with --guard")
checks.end()
