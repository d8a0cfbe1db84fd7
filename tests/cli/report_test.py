#!/usr/bin/env python3
"""The reports of a run: its inputs, how it ended, and options without effect: report_test.py SLUICE"""
import json
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import mdf
from common import ROOT, Checks

VELO, SIMULATE = ROOT / "graphs/velo.yaml", ROOT / "graphs/simulate.yaml"
EVENTS = 20
checks = Checks()
check = checks.that


def run(sluice, *arguments, expect=0):
    done = subprocess.run([sluice, "run", *map(str, arguments)], capture_output=True, text=True, timeout=100)
    check(done.returncode == expect, f"sluice run {' '.join(map(str, arguments))}: status {done.returncode}"
          + ("" if done.returncode == expect else f"\n{done.stderr}"))
    return done


def origin(sluice, folder):
    """Constants, inputs, device, graph, seed."""
    events, report, geometry = folder / "events.mdf", folder / "report.json", folder / "geometry"
    done = run(sluice, VELO, "-n", 5, "--set", "seed=18446744073709551615", "--json", report, "--verbose")
    summary = json.loads(report.read_text())
    check("\ninput        no file: made by sim.source, seed 18446744073709551615\n" in done.stdout, "the table has the seed")
    check(summary["source"]["properties"]["seed"] == 2**64 - 1 and summary["source"]["properties"]["conditions"] == "pp_2024", "JSON has the properties of the source")
    check(done.stdout.startswith(f"graph        {VELO}, digest {summary['graph_digest']}\n"), "the table has the graph and its digest")
    check("\ndevice       cpu\n" in done.stdout, "the table has the device")
    built_in = summary["constants"][0]
    check((built_in["node"], built_in["algorithm"], built_in["built_in"]) == ("geometry", "velo.geometry", True), f"constants: {built_in}")
    check(f"\nconstants    geometry: built in, checksum {built_in['checksum']}\n" in done.stdout, "the table has the constants")
    check(summary["inputs"] == [] and summary["command_line"] == [sluice, "run", str(VELO), "-n", "5", "--set",
                                                                  "seed=18446744073709551615", "--json", str(report), "--verbose"], "the command line")
    check(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", summary["started"]) is not None, f"started: {summary['started']}")
    run(sluice, ROOT / "graphs/geometry.yaml", "-n", 1, "-o", geometry, "--quiet")
    run(sluice, SIMULATE, "-n", EVENTS, "-o", events, "--quiet")
    done = run(sluice, VELO, "-i", events, events, "--set", f"geometry={geometry}", "--json", report, "--verbose")
    summary = json.loads(report.read_text())
    written = summary["constants"][0]
    check(summary["inputs"] == [{"path": str(events), "bytes": events.stat().st_size}] * 2, "JSON has the inputs")
    check(f"\ninput        {events} and 1 more, read by io.mdf_source\n" in done.stdout, "the table has the inputs")
    check(f"\nconstants    geometry: {geometry}, checksum {written['checksum']}\n" in done.stdout, "the table has the path of constants")
    check(written["built_in"] is False and written["properties"] == {"path": str(geometry)}, "JSON has the path of constants")
    check(written["checksum"] == built_in["checksum"], "equal constants have equal checksums, from any file")
    whole = bytearray((geometry / "velo_geometry.bin").read_bytes())
    struct.pack_into("<f", whole, 8, struct.unpack_from("<f", whole, 8)[0] - 0.5)
    (geometry / "velo_geometry.bin").write_bytes(whole)
    run(sluice, VELO, "-i", events, "--set", f"geometry={geometry}", "--json", report, "--quiet")
    check(json.loads(report.read_text())["constants"][0]["checksum"] != built_in["checksum"], "changed constants have another checksum")


def break_checksum(path, numbers):
    records = list(mdf.records(path))
    for number in numbers:
        records[number][70] ^= 1
    path.write_bytes(b"".join(records))


def ends(sluice, folder):
    events, report = folder / "events.mdf", folder / "report.json"
    run(sluice, SIMULATE, "-n", EVENTS, "-o", events, "--quiet")
    break_checksum(events, {3, 7})
    done = run(sluice, VELO, "-i", events, "--json", report)
    summary = json.loads(report.read_text())
    check((summary["status"], summary["exit"]) == ("ok", 0), "a run with some good events succeeds")
    check(done.stdout.endswith(f"\n2 of {EVENTS} events have an error.\n"), "the last line counts events with an error")
    check([m["severity"] for m in summary["messages"]] == ["warning"] * 2, "JSON has the messages")
    break_checksum(events, set(range(EVENTS)) - {3, 7})
    for arguments in ((), ("--slots", 3, "--slice-events", 2), ("--repeat", 3)):
        done = run(sluice, VELO, "-i", events, "--json", report, *arguments, expect=1)
        summary = json.loads(report.read_text())
        check((summary["status"], summary["exit"], summary["failed"]) == ("all events in error", 1, False), "a run without a good event has status 1")
        check(f"\nerror: all {EVENTS} events have an error\n" in done.stderr, "a run without a good event reports it")
        check(summary["messages"][-1]["message"] == f"all {EVENTS} events have an error", "JSON reports that all events have an error")
        check(done.stdout.endswith(f"\n{EVENTS} of {EVENTS} events have an error.\n"), "the table reports that all events have an error")
    check("all" in run(sluice, VELO, "-i", events, "--quiet", expect=1).stderr, "--quiet prints that all events have an error")
    done = run(sluice, VELO, "-i", events, "--json", report, "--set", "raw.strict=true", expect=1)
    summary = json.loads(report.read_text())
    check((summary["status"], summary["exit"], summary["failed"]) == ("failed", 1, True), "the status of a failed run is `failed`")


def interrupted(sluice, folder):
    report = folder / "report.json"
    for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = subprocess.Popen([sluice, "run", VELO, "-n", "1000000", "--json", report], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        part = folder / "report.json.part"
        for _ in range(1000):
            if part.exists():
                break
            time.sleep(0.02)
        check(part.exists(), "the file of --json is opened at the start")
        time.sleep(0.5)
        process.send_signal(sent)
        said, warned = process.communicate()
        summary = json.loads(report.read_text())
        check(process.returncode == status == summary["exit"] and summary["status"] == "interrupted", f"{sent.name}: JSON has the end")
        text = f"stopped by {sent.name} before its end, after {summary['events']} events"
        check(text in warned and text in summary["messages"][-1]["message"], f"{sent.name}: {text}")
        check(said.endswith(f"\nThe run was stopped before its end, after {summary['events']} events.\n"), f"{sent.name}: the table has the end")
    done = run(sluice, VELO, "-n", 5, "--json", "/dev/full", "--quiet", expect=1)
    check("--json: /dev/full: cannot write" in done.stderr, "JSON on a full disk is an error")


LEFT_OUT = """sluice: 1
include: [%s]
parameters: { unused: 1, dead: 2 }
nodes:
  again: { use: velo.three_hit_filter, set: { max_chi2: "${dead}" } }
"""


def without_effect(sluice, folder):
    """Options without effect are refused, or, if scripts may repeat them, reported by a warning."""
    graph, empty, csv, target = folder / "left_out.yaml", folder / "empty", folder / "b.csv", folder / "t"
    graph.write_text(LEFT_OUT % VELO)
    csv.write_text("id,lower,upper,size\n0,0,1,64\n")
    empty.mkdir()
    velo, few = ("run", VELO, "-n", 2), ("-n", 2)
    refused = {
        "no sink of this graph writes there": ((*velo, "-o", target), ("run", ROOT / "graphs/velo_picture.yaml", *few, "-o", target,
                                                                     "--set", f"picture.path={folder / 'p'}"),
                                               ("run", ROOT / "graphs/lumi.yaml", *few, "-o", target, "--set", "table.takes_output=false",
                                                "--set", f"table.path={folder / 'l'}")),
        "No such file or directory": [(*command, "--plugin-path", folder / "none") for command in (
            velo, ("check", VELO), ("plan", VELO), ("graph", VELO), ("list",), ("describe", "velo"), ("test", "velo"), ("schema",),
            ("tune", VELO, "--slots", 1))],
        "node again: is left out, so this has no effect": (("check", graph, "--set", "again.block=1"),
                                                                ("check", graph, "--use", "again=velo.three_hit_filter")),
        "nothing in this graph refers to `unused`: this has no effect": (("check", graph, "--set", "unused=3"),),
        "node again: is left out, and nothing else refers to `dead`": (("check", graph, "--set", "dead=3"),),
        "--device is given twice": (("check", VELO, "--device", "cpu", "--device", "simt"),),
        "--json is given twice": ((*velo, "--json", target, "--json", folder / "u"),),
        "--resident has no effect where the device has no memory of its own": ((*velo, "--resident", "--repeat", 3),),
        "--profile has no effect with --quiet and without --json": ((*velo, "--profile", "--quiet"),),
        "--digest has no effect with --quiet and without --json": ((*velo, "--digest", "--quiet"),),
        "--set is for graphs, and has no effect with --csv": (("plan", "--csv", csv, "--set", "a.b=1"),),
        "--slots is for graphs": (("plan", "--csv", csv, "--slots", 2),),
        "--blocks has no effect without --node": (("tune", VELO, "--slots", "1,2", "--blocks", 32),),
    }
    for text, commands in refused.items():
        for command in commands:
            done = subprocess.run([sluice, *map(str, command)], capture_output=True, text=True, timeout=100)
            check(done.returncode == 2 and text in done.stderr and not done.stdout,
                  f"sluice {' '.join(map(str, command))}: {done.returncode}: {done.stderr.strip()[:200]}")
    check(sorted(path.name for path in folder.iterdir()) == ["b.csv", "empty", "left_out.yaml"], "refused commands write no file")
    report = folder / "refused.json"
    run(sluice, VELO, *few, "-o", target, "--json", report, expect=2)
    summary = json.loads(report.read_text())
    check((summary["status"], summary["exit"], summary["events"]) == ("refused", 2, 0), "JSON reports a run that was refused at its start")
    warned = {
        "warning: -n is given twice; the last one counts": (*velo, "-n", 3),
        f"warning: --plugin-path {empty}: there is no plugin in it": (*velo, "--plugin-path", empty),
        "--set raw.mu=2: warning: has no effect: a later option replaces it": (*velo, "--set", "raw.mu=2", "--set", "raw.mu=3"),
        "warning: --digest has no effect: the graph has no outputs": ("run", SIMULATE, *few, "-o", target, "--digest"),
    }
    for text, command in warned.items():
        done = subprocess.run([sluice, *map(str, command)], capture_output=True, text=True, timeout=100)
        check(done.returncode == 0 and text in done.stderr, f"sluice {' '.join(map(str, command))}: {done.stderr.strip()[:200]}")
    geometry = folder / "geometry"
    run(sluice, ROOT / "graphs/geometry.yaml", "-n", 1, "-o", geometry)
    files = {path.name for path in geometry.iterdir()}
    check({"beamline.bin", "velo_geometry.bin", "scifi_geometry.bin"} <= files, f"-o accepts a folder, too: {files}")


def absent_banks(sluice, folder):
    """A graph for banks that no event has gets a warning, even if the run ends before the file."""
    whole, without, packets, report = (folder / name for name in ("whole.mdf", "without.mdf", "without.mep", "report.json"))
    copy = ROOT / "graphs/copy.yaml"
    run(sluice, copy, "-n", EVENTS, "-o", whole, "--quiet")
    run(sluice, copy, "-i", whole, "-o", without, "--set", "write.excluded_types='73'", "--quiet")
    run(sluice, copy, "-i", without, "-o", packets, "--use", "write=io.mep_sink", "--quiet")
    text = "no event had a bank of type 73 (velo_clusters); types present: 13, 16, 21, 32, 33, 63, 64, 66"
    for arguments in ((without,), (packets,), (without, "-n", 3), (without, "--repeat", 3), (without, "--slots", 3, "--slice-events", 2)):
        done = run(sluice, VELO, "-i", *arguments, "--json", report)
        check(f"warning: node raw: {text}\n" in done.stderr, f"missing banks are reported: {done.stderr.strip()}")
        check(sum(text in m["message"] for m in json.loads(report.read_text())["messages"]) == 1, "JSON reports missing banks once")
    for arguments in ((VELO, "-i", whole), (copy, "-i", without, "-o", folder / "again.mdf"), (VELO, "-n", EVENTS)):
        check(run(sluice, *arguments).stderr == "", "no warning if the banks are present or not needed")
    done = run(sluice, ROOT / "graphs/velo_superpixels.yaml", "-i", without)
    check("no event had" not in done.stderr, "no warning if the graph reads banks of another type")
    break_checksum(without, range(EVENTS))
    check("no event had" not in run(sluice, VELO, "-i", without, expect=1).stderr, "no warning if no event could be read")


def main():
    sluice = sys.argv[1]
    for case in (origin, ends, interrupted, without_effect, absent_banks):
        with tempfile.TemporaryDirectory() as name:
            case(sluice, pathlib.Path(name))
    checks.end()


if __name__ == "__main__":
    main()
