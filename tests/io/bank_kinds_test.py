#!/usr/bin/env python3
"""Sources and sinks have ports for the kinds of raw banks that plugins declare: rich has type 9, glow types 9 and 85.
No plugin of this repository reads these types."""
import csv
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import mdf
from common import ROOT, Checks, call

PLUGINS = Path(os.environ["SLUICE_TEST_PLUGINS"])
DEVICES = ["cpu", "mock"] + (["simt"] if os.environ.get("SLUICE_SIMT") == "1" else [])
SUBSYSTEM = 20 << 11  # of the source ids, so that packets can represent the banks

GRAPH = """
sluice: 1
nodes:
  raw: { use: io.mdf_source, set: { checksum: false } }
  count: { use: rich.count_bytes }
outputs: [count]
"""


def bank(kind, source, payload):
    return mdf.bank_bytes(kind, 1, source, payload)


def event(number):
    """`number` modulo 4 banks of type 9 with increasing size, one of type 85 with 3 bytes, one of type 90."""
    banks = [bank(9, SUBSYSTEM + i, bytes([number % 251] * (5 * i + number % 7))) for i in range(number % 4)]
    return mdf.record_bytes(b"".join([*banks, bank(85, SUBSYSTEM + 100, b"abc"), bank(90, SUBSYSTEM + 101, b"unknown")]))


def expected(number, also_85=False):
    sizes = [5 * i + number % 7 for i in range(number % 4)] + [3] * also_85
    return len(sizes), sum(sizes)


EVENTS = 100
checks = Checks()
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    data, graph, table = folder / "events.mdf", folder / "graph.yaml", folder / "table.csv"
    data.write_bytes(b"".join(event(n) for n in range(EVENTS)))
    (folder / "only").mkdir()
    shutil.copy(PLUGINS / "rich.cpu.so", folder / "only")
    with_rich, with_both = ("--plugin-path", folder / "only"), ("--plugin-path", PLUGINS)

    def counted(*arguments, graph=graph, output="count", source=data):
        call("run", graph, "-i", source, "-o", table, *arguments, "--set", f"write.output={output}")
        with table.open() as file:
            return [(int(row["banks"]), int(row["bytes"])) for row in csv.DictReader(file)]

    graph.write_text(GRAPH.replace("outputs:", "  write: { use: output.csv_sink }\noutputs:"))
    reference = [expected(n) for n in range(EVENTS)]
    for device in DEVICES:
        for slices in ("1", "7", "1000"):
            found = counted(*with_both, "--device", device, "--slice-events", slices, "--slots", "2")
            checks.that(found == reference, f"{device}, slices of {slices}: rich counts its bytes")

    both = folder / "both.yaml"
    both.write_text(graph.read_text().replace("outputs: [count]", "  other: { use: glow.count_bytes }\noutputs: [count, other]"))
    checks.that(counted(*with_both, graph=both) == reference, "two kinds with the same bank type: the first receives its banks")
    expected_both = [expected(n, also_85=True) for n in range(EVENTS)]
    checks.that(counted(*with_both, graph=both, output="other") == expected_both, "two kinds with the same bank type: the second receives its banks")

    # A sink that was built without these kinds writes each bank once.
    copy, packets, back = folder / "copy.mdf", folder / "copy.mep", folder / "back.mdf"
    read = ("--set", "raw.checksum=false")
    call("run", ROOT / "graphs/copy.yaml", "-i", data, "-o", copy, *read, *with_both)
    checks.that(counted(*with_both, graph=both, source=copy) == reference, "a copy contains the banks of type 9 once")
    checks.that(counted(*with_both, graph=both, output="other", source=copy) == expected_both, "a copy contains the banks of type 85")
    call("run", ROOT / "graphs/copy.yaml", "-i", data, "-o", packets, *read, *with_both, "--use", "write=io.mep_sink", "--set", "write.events=7")
    call("run", ROOT / "graphs/copy.yaml", "-i", packets, "-o", back, *with_both)
    checks.that(counted(*with_both, graph=both, output="other", source=back) == expected_both, "a copy through packets contains the banks of type 85")
    call("run", ROOT / "graphs/copy.yaml", "-i", data, "-o", copy, *read, *with_rich)
    found = counted(*with_both, graph=both, output="other", source=copy)
    checks.that(found == expected_both, "a copy contains banks of types that no plugin reads")
    checks.that(copy.read_bytes() == data.read_bytes(), "a copy is equal byte for byte")

    # A sink with an open port in another plugin.
    tally = folder / "tally.yaml"
    tally.write_text("sluice: 1\nnodes:\n  raw: { use: io.mdf_source, set: { checksum: false } }\n  tally: { use: rich.tally, in: { odin: null } }\n")
    results = json.loads(call("run", tally, "-i", data, "--json", "-", "--quiet", *with_both).stdout)["results"]["tally"]
    checks.that(results["rich"] == sum(b for b, _ in reference) and results["glow"] == results["rich"] + EVENTS,
                "a sink of another plugin receives all kinds")
    checks.that(results["velo_clusters"] == 0 and "odin" not in results, "a sink does not receive disconnected kinds")

    # Budgets are properties of the source.
    plans = [call("plan", graph, *with_rich, "--slice-events", "1000", *more).stdout
             for more in ((), ("--set", "raw.rich_banks=8"))]
    checks.that("raw.rich.size_bytes" in plans[0] and plans[0] != plans[1], "a larger budget makes the buffer of the port larger")
    large = folder / "large.mdf"
    large.write_bytes(mdf.record_bytes(bank(9, SUBSYSTEM, bytes(60000))))
    output = call("run", graph, "-i", large, "-o", table, *with_rich, expect=1).stderr
    checks.that("has 15000 words of rich, an event may have 4096 (a higher budget rich_words allows more)" in output,
                "an event that exceeds its budget is reported")
    output = call("check", graph, *with_rich, "--set", "raw.rich_bank=1", expect=2).stderr
    checks.that("did you mean `rich_banks`?" in output or "rich_banks" in output, "a misspelt budget is refused")

    # Descriptions and the schema contain the kind.
    output = call("describe", "io.mdf_source", *with_rich).stdout
    checks.that("output     rich: rich_banks" in output and "budget     rich_words: u32 = 64" in output, "describe prints port and budgets")
    found = [int(re.search(r"outputs    banks: each collection with the trait io.raw_banks; (\d+) found", text).group(1))
             for text in (call("describe", "io.mdf_source").stdout, output)]
    checks.that(found[1] == found[0] + 1, f"describe prints the number of kinds found: {found}")
    ports = json.loads(call("describe", "rich.tally", "--json", *with_rich).stdout)["open_inputs"][0]["ports"]
    checks.that(ports == sorted(ports) and "rich" in ports, "a sink has one input per kind, sorted by name")
    output = call("describe", "rich_banks", *with_rich).stdout
    checks.that("trait io.raw_banks: port `rich`" in output, "describe prints the trait of the collection")
    schema = json.loads(call("schema", *with_rich).stdout)
    checks.that("rich_words" in json.dumps(schema), "the schema contains the budgets")
    output = call("run", graph, "--set", "raw.checksum=false", "-i", data, expect=2).stderr
    checks.that("rich" in output, "the algorithm is unknown without its plugin")

    # The digest of a graph that does not read the banks does not depend on the declared kinds.
    summaries = [json.loads(call("run", ROOT / "graphs/velo.yaml", "-n", "20", "--json", "-", "--quiet", *paths).stdout)
                 for paths in ((), with_rich, with_both)]
    checks.that(len({s["graph_digest"] for s in summaries}) == 1, "the digest of a graph does not depend on plugins that it does not use")
    simulated = folder / "simulated.yaml"
    simulated.write_text(graph.read_text().replace("io.mdf_source, set: { checksum: false }", "sim.source, set: { events: 5 }"))
    call("run", simulated, "-o", table, *with_rich, "--set", "write.output=count")
    checks.that(table.read_text().count("\n") == 6, "sim.source has the port, without banks")
checks.end()
