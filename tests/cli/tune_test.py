#!/usr/bin/env python3
"""`sluice tune` and `sluice compare`: tune_test.py SLUICE TOY_FOLDER. Times are the machine's; what is done with them is not."""
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
    check(all(low <= middle <= high for row in found.values() for middle, low, high in row[:2]), "with medians inside their ranges")
    slowest, fastest = found["slice-events 1"][1], found["slice-events 64"][1]
    check(fastest[0] > slowest[0], "slices of 64 events are faster than slices of one")
    winners = [name for name, row in found.items() if row[2]]
    best = max(("slice-events 1", "slice-events 64"), key=lambda name: found[name][1][0])
    check(all(found[name][1][1] > found["as it is"][1][2] for name in winners), f"what is called faster is so in every round: {winners}")
    text = overlay.read_text()
    check(("budgets: { events: 64 }" in text) == (best in winners and best == "slice-events 64"), "the overlay holds what is faster")
    combined = folder / "combined.yaml"
    combined.write_text(f"sluice: 1\ninclude: [{graph.name}, tuned.yaml]\n")
    sluice("check", combined, *TOY)


def blocks(graph):
    table = sluice("tune", graph, "--device", "simt", "--node", "sum", "--blocks", "32,96", "--rounds", 1, "--seconds", "0.001", "-n", 3, *TOY)
    check(list(rows(table.stdout)) == ["as it is", "sum.block=32", "sum.block=96"], "blocks are swept on the emulator")
    done = sluice("tune", graph, "--device", "simt", "--node", "sum", "--rounds", 1, "--seconds", "0.001", "-n", 3, "--set", "sum.block_sized=true", *TOY, expect=1)
    check("sum.block=32 changes the output sum: digest" in done.stderr, f"a block size that changes a result is an error: {done.stderr.strip()}")


def blocks_by_kernel(folder):
    """Each kernel with a block size of its own is swept, then the others; what is faster is told as options, and written."""
    graph, overlay = folder / "expand.yaml", folder / "expand_tuned.yaml"
    graph.write_text("sluice: 1\nnodes:\n  raw: { use: toy.source }\n  scaled: { use: toy.scale }\n"
                     "  expanded: { use: toy.expand, in: { scaled: scaled }, block: 1024 }\noutputs: [expanded]\n")
    done = sluice("tune", graph, "--device", "simt", "--node", "expanded", "--blocks", "32,64", "--rounds", 3, "--seconds", "0.01",
                  "-n", 40, "-o", overlay, *TOY)
    found = rows(done.stdout)
    kernels = ("count_copies", "others")
    check(list(found) == ["as it is"] + [f"expanded.block.{kernel}={threads}" for kernel in kernels for threads in (32, 64)],
          f"each kernel is swept after another: {list(found)}")
    winners = [name for name, row in found.items() if row[2]]
    told = re.search(r"^faster:(.*)$", done.stdout, re.MULTILINE)
    check((told.group(1).split() if told else []) == [word for name in winners for word in ("--set", name)], f"what is faster is told as options: {told and told.group(0)}")
    check(bool(winners), "blocks of 32 or 64 fibers are faster than those of 1024 on the emulator")
    sizes = ", ".join(name.removeprefix("expanded.block.").replace("=", ": ") for name in winners)
    check(not winners or f"  expanded: {{ block: {{ {sizes} }} }}" in overlay.read_text(), f"and goes into the overlay:\n{overlay.read_text()}")
    combined = folder / "expand_combined.yaml"
    combined.write_text(f"sluice: 1\ninclude: [{graph.name}, {overlay.name}]\n")
    options = [word for name in winners for word in ("--set", name)]
    digests = {json.loads(sluice("run", path, "-n", 20, "--device", "simt", "--digest", "--quiet", "--json", "-", *more, *TOY).stdout)["graph_digest"]
               for path, more in ((combined, ()), (graph, options))}
    check(len(digests) == 1, f"options and overlay make the same graph: {digests}")


def mistakes(graph):
    for arguments, text, status in (
        ((), "nothing to tune", 2),
        (("--node", "sum"), "on cpu a block is one thread", 2),
        (("--slots", "1,x"), "--slots wants numbers with commas between, not '1,x'", 2),
        (("--slots", "1,"), "--slots wants numbers", 2),
        (("--node", "sun", "--device", "simt"), "sun", 2),
    ):
        done = sluice("tune", graph, *arguments, "--rounds", 1, "--seconds", "0.001", "-n", 2, *TOY, expect=status)
        check(text in done.stderr, f"{arguments}: {done.stderr.strip().splitlines()[:1]}")


def compare(graph, folder):
    files = []
    for name, options in (("a", ()), ("b", ("--slots", 2)), ("c", ("--set", "sum.block_sized=true")), ("d", ())):
        files.append(folder / f"{name}.json")
        digest = ["--digest"] if name != "d" else []
        sluice("run", graph, "-n", 200, "--repeat", 6, "--quiet", *digest, *options, "--json", files[-1], *TOY)
    same = sluice("compare", files[0], files[1]).stdout
    check(re.search(r"^sum +\w{16} +\w{16} +same$", same, re.MULTILINE), "equal outputs are called the same")
    check(re.search(r"^slots +1 +2 +differs$", same, re.MULTILINE), "what was set differently is named")
    other = sluice("compare", files[0], files[2], expect=1).stdout
    check("DIFFERS" in other, "different outputs are told, and by the status too")
    check("not known: run with --digest" in sluice("compare", files[0], files[3]).stdout, "no digest is no agreement")
    summary = json.loads(files[0].read_text())
    summary["stretch_hz"] = [2 * hz for hz in summary["stretch_hz"]] if min(summary["stretch_hz"]) * 2 > max(summary["stretch_hz"]) else [10 * hz for hz in summary["stretch_hz"]]
    faster = folder / "faster.json"
    faster.write_text(json.dumps(summary))
    table = sluice("compare", files[0], faster).stdout
    check(re.search(r"^events/s .*%\s\*$", table, re.MULTILINE), "ranges that do not meet are marked")
    check(not re.search(r"^sum .*%\s\*$", table, re.MULTILINE), "ranges that meet are not")
    for name, text in (("broken.json", "{"), ("list.json", "[1]"), ("within_itself.json", '{"results": &a {"b": *a}}')):
        (folder / name).write_text(text)
        done = sluice("compare", files[0], folder / name, expect=2)
        check("error: " in done.stderr and name in done.stderr, f"{name}: {done.stderr.strip()}")
    sluice("compare", files[0], folder / "none.json", expect=2)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = folder / "graph.yaml"
        shutil.copy(HERE / "files/toy/tuned.yaml", graph)
        on_the_host(graph, folder)
        blocks(graph)
        blocks_by_kernel(folder)
        mistakes(graph)
        compare(graph, folder)
    checks.end()


if __name__ == "__main__":
    main()
