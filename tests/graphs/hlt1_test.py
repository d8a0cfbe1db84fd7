#!/usr/bin/env python3
"""The sequences of the first-level trigger on six sample events: digests on all targets, decisions that LHCb's trigger recorded,
luminosity counters, and the parts of graphs/output. --accept stores the digests."""
import csv
import json
import lzma
import re
import sys
import tempfile
from pathlib import Path

from common import BRIEF, DATA, GEOMETRY, ROOT, SIX, Checks, call, need_data, run

sys.path.insert(0, str(ROOT / "bench"))
from physics_report import RECORDED  # noqa: E402

SEQUENCES = ("default", "no_ut", "matching", "matching_no_ut", "forward_then_matching")
EVERY_EVENT = ("--set", "luminosity.event_types=0")
need_data()
checks = Checks()
folder = Path(tempfile.mkdtemp(prefix="hlt1_test_"))


def graph(name):
    return f"hlt1_pp_{name}.yaml"


def part(name):
    return "--with", ROOT / "graphs/output" / f"{name}.yaml"


def digests(summary):
    return {o["port"]: o["digest"] for o in summary["outputs"]}


def rows(name, *arguments, sequence=True):
    """The table of luminosity counters, by event number."""
    path = folder / "lumi.csv"
    run(graph(name) if sequence else name, SIX, "-o", path, *EVERY_EVENT, *(part("luminosity") if sequence else ()), *arguments)
    return {row["event"]: row for row in csv.DictReader(path.open())}


def same_bits():
    found = {}
    for name in SEQUENCES:
        reference = digests(run(graph(name), SIX, "--digest", *EVERY_EVENT))
        found.update({f"{graph(name)} {port}": digest for port, digest in reference.items()})
        ways = [] if BRIEF else [("--slots", 2, "--slice-events", 1), ("--device", "simt", "--slice-events", 4)]
        for way in ways:
            checks.that(digests(run(graph(name), SIX, "--digest", *EVERY_EVENT, *way)) == reference, f"{name} {' '.join(map(str, way))}")
        checked = digests(run(f"hlt1_pp_{name}_validation.yaml", SIX, "--with", ROOT / "graphs/output/rates.yaml", "--digest", *EVERY_EVENT))
        checks.that(checked == reference, f"{name}: checks change nothing")
    checks.golden(Path(__file__).with_name("hlt1_digests.txt"), found)


def decisions(name, table, lines, *arguments):
    """{event: the lines that pass it}"""
    run(graph(name), SIX, "--with", table, "-o", folder / "decisions.csv", *arguments)
    found = {}
    for row in csv.DictReader((folder / "decisions.csv").open()):
        bits = [bit for bit in range(32) if int(row["passed"]) >> bit & 1]
        found.setdefault(int(row["event"]), []).extend(lines[32 * int(row["index"]) + bit] for bit in bits)
    return found


def lines_as_recorded():
    """Decisions equal the recorded ones for the default sequence, and for all sequences with LHCb's settings; otherwise a line
    passes an event only if the recorded line does."""
    lines = re.findall(r"^  (Hlt1\w+):", (ROOT / "graphs/menus/2023.yaml").read_text(), re.M)
    sequences = json.load(lzma.open(DATA / "lhcb/reference.json.xz"))["sequences"]
    table = folder / "decisions.yaml"
    table.write_text("sluice: 1\nnodes:\n  write: { use: output.csv_sink, set: { output: decide.decisions } }\n")
    for name, (recorded_as, arguments) in {**RECORDED, "matching": (RECORDED["matching_no_ut"][0], ())}.items():
        recorded = sequences[recorded_as]
        ours = [line for line in lines if name != "forward_then_matching" or line != "Hlt1GECPassthrough"]
        checks.that(ours == recorded["lines"], f"{name} has the {len(ours)} recorded lines, in their order")
        expected = {event["event"]: event["decisions"] for event in recorded["events"]}
        if arguments:
            found = decisions(name, table, ours, *arguments)
            checks.that(found == expected, f"{name} decides as recorded, with LHCb's settings: {found}")
        found = decisions(name, table, ours)
        passed = {event: lines for event, lines in found.items() if lines}
        if name == "default":
            checks.that(found == expected, f"{name} decides as recorded: {passed}")
        else:
            checks.that(passed and all(set(lines) <= set(expected[event]) for event, lines in found.items()),
                        f"{name}: events that pass a line also passed it in the record: {passed}")


def luminosity_is_counted():
    alone = rows("lumi.yaml", sequence=False)
    checks.that(len(alone) == 6 and all(row["GEC"] == "1" for row in alone.values()), "six events are counted")
    for name in ("default", "matching_no_ut"):
        checks.that(rows(name) == alone, f"{name}: summaries equal those of lumi.yaml")
    cut = rows("default", "--set", "gec.max_scifi=5000")
    selected = {event for event, row in cut.items() if row["GEC"] == "1"}
    checks.that(0 < len(selected) < 6 and all(cut[event] == alone[event] for event in selected), f"{len(selected)} events that pass the cut have unchanged counters")
    counted = ("VeloTracks", "VeloVertices", "SciFiT1M123", "MuonHitsM2R1", "ECalETOuterTop")
    nothing = {tuple(float(cut[event][c]) for c in counted) for event in cut if event not in selected}
    checks.that(len(nothing) == 1 and next(iter(nothing))[:4] == (0, 0, 0, 0), f"events that fail the cut have empty counters: {nothing}")


def detectors_that_are_read():
    for name in SEQUENCES:
        wiring = call("check", ROOT / "graphs" / graph(name)).stdout
        is_counted = re.search(r"ut_banks +<- raw", wiring) is not None
        checks.that(is_counted == (name in ("default", "matching")), f"{name}: hits in the UT {'' if is_counted else 'do not '}count for the cut")
        checks.that(("selections.gec" in wiring) == (name != "forward_then_matching"), f"{name}: the event cut")


def outputs_by_parts():
    has_hdf5 = "hdf5.sink" in call("list", "--algorithms").stdout
    no_file = folder / "no_file.yaml"
    no_file.write_text("sluice: 1\nnodes: { write: null }\n")
    if not has_hdf5:
        print("skipped: HDF5 files of the trigger, because this build has no hdf5.sink")
    for name in ("matching_no_ut", "forward_then_matching"):
        reference = digests(run(graph(name), SIX, "--digest"))
        decisions = digests(run(graph(name), SIX, "--digest", *part("decisions")))
        checks.that(decisions.items() <= reference.items() and len(decisions) == 2, f"{name}: decisions alone are unchanged")
        to_file = (*part("hdf5"), "-o", folder / "reports.h5") if has_hdf5 else ()
        reports = run(graph(name), SIX, "--digest", *part("reports"), *to_file)
        checks.that(digests(reports).items() <= reference.items() and len(reports["outputs"]) == 5, f"{name}: reports are unchanged")
        passed = next(o["items"] for o in reports["outputs"] if o["port"] == "dec_reports")
        run(graph(name), SIX, *part("selected_events"), "-o", folder / "selected.mdf")
        copied = call("run", ROOT / "graphs/copy.yaml", "-i", folder / "selected.mdf", "-o", folder / "copy.mdf", "--json", "-", "--quiet")
        again = json.loads(copied.stdout)
        checks.that(0 < again["events"] == passed, f"{name}: {passed} selected events are written")
        to_file = ("-o", folder / "all.h5") if has_hdf5 else ("--with", no_file)
        everything = digests(run(graph(name), SIX, "--digest", *part("everything"), *to_file))
        checks.that(reference.items() <= everything.items() and len(everything) >= 110, f"{name}: everything has {len(everything)} outputs")
        if has_hdf5:
            checks.that((folder / "all.h5").stat().st_size > (folder / "reports.h5").stat().st_size > 0, f"{name}: the file with everything is written")


same_bits()
lines_as_recorded()
luminosity_is_counted()
detectors_that_are_read()
outputs_by_parts()
for path in folder.iterdir():
    path.unlink()
folder.rmdir()
checks.end()
