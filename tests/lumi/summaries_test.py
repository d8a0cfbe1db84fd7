#!/usr/bin/env python3
"""Luminosity summaries in events: io.mdf_sink adds them to luminosity events and changes nothing else; their bits agree
with the table; and events with an invalid ODIN bank are errors with a message that names the fault."""
import csv
import json
import tempfile
from pathlib import Path

from common import GEOMETRY, MANY, ROOT, Checks, call
from mdf import BANK_ODIN, HEADER_BYTES, banks, odin, records, with_body
from records import BANK_SUMMARY, counters, schema

checks = Checks()
LUMINOSITY = 8
LUMI, BANKS = ROOT / "graphs/lumi.yaml", ROOT / "graphs/lumi_banks.yaml"


def quantity(name, bits):
    row = schema()[name]
    return (bits - row["shift"]) / row["scale"]


def check_file(name, before, after, table):
    """Compares the summaries of `after` with the rows of `table`, and all other banks with `before`."""
    with open(table, newline="") as file:
        rows = {(int(r["run"]), int(r["event"])): r for r in csv.DictReader(file)}
    same, expected_kind, agree, full = True, True, True, 0
    before, after = list(before), list(after)
    checks.that(len(before) == len(after), f"{name}: {len(after)} records")
    for old, new in zip(before, after):
        run, number, event_type, orbit, crossing = odin(old)
        old_banks, new_banks = [b[:3] + b[4:] for b in banks(old)], [b[:3] + b[4:] for b in banks(new)]
        if event_type & LUMINOSITY == 0:
            same &= old_banks == new_banks
            continue
        kind, version, source, payload = new_banks[-1]
        is_full = orbit % 30 == 1
        full += is_full
        same &= old_banks == new_banks[:-1]
        expected_kind &= (kind, version, source, len(payload)) == (BANK_SUMMARY, 2, 0x0100, 236 if is_full else 88)
        bits, row = counters(payload), rows.pop((run, number))
        agree &= bits["BXType"] == crossing and int(row["full"]) == is_full
        for counter, cell in row.items():
            if counter in bits and cell != "":
                agree &= abs(float(cell) - quantity(counter, bits[counter])) <= 1e-5 * abs(float(cell))
            elif counter in bits:
                agree &= bits[counter] == (1 << schema()[counter]["size_bits"]) - 1
    checks.that(same, f"{name}: all other banks are unchanged, in their order")
    checks.that(expected_kind, f"{name}: luminosity events end with an HltLumiSummary bank of the right length")
    checks.that(agree and not rows, f"{name}: the table has the values of these banks and no other rows")
    return full


def errors_of(path, *arguments):
    done = call("run", LUMI, "-i", path, "--json", "-", *arguments)
    return json.loads(done.stdout[done.stdout.index("{"):])["error_events"], done.stderr


with tempfile.TemporaryDirectory() as folder:
    events, with_summaries, table, again = (Path(folder) / n for n in ("events.mdf", "with.mdf", "lumi.csv", "again.csv"))
    for version in (6, 7):
        call("run", ROOT / "graphs/copy.yaml", "-n", 100, "-o", events, "--quiet", "--set", "raw.luminosity_fraction=0.5",
             "--set", f"raw.odin_version={version}")
        call("run", BANKS, "-i", events, "-o", with_summaries, "--quiet", "--slots", 2)
        call("run", LUMI, "-i", events, "-o", table, "--quiet")
        full = check_file(f"ODIN version {version}", records(events), records(with_summaries), table)
        checks.that(full > 0, f"ODIN version {version}: {full} full summaries")
        call("run", LUMI, "-i", with_summaries, "-o", again, "--quiet")
        checks.that(again.read_bytes() == table.read_bytes(), "a file with summaries can be read like the one without")
    # read again, summaries are replaced by equal ones, and the report counts them
    call("run", BANKS, "-i", events, "-o", with_summaries, "--quiet")
    once, summary = with_summaries.read_bytes(), Path(folder) / "run.json"
    call("run", BANKS, "-i", with_summaries, "-o", events, "--quiet", "--json", summary)
    left = json.loads(summary.read_text())["results"]["write"]["omitted"]
    count = sum(bank[0] == BANK_SUMMARY for record in records(with_summaries) for bank in banks(record))
    checks.that(events.read_bytes() == once, "a file with summaries is equal after adding summaries again")
    checks.that([(e["reason"], e["type"], e["banks"]) for e in left] == [("replaced", BANK_SUMMARY, count)] and count > 0,
                f"the report counts {count} replaced banks")
    call("run", BANKS, "-i", events, "-o", with_summaries, "--quiet", "--set", "write.compression=3")
    call("run", LUMI, "-i", with_summaries, "-o", again, "--quiet")
    checks.that(again.read_bytes() == table.read_bytes(), "a compressed file with summaries can be read")
    if MANY.exists() and GEOMETRY.exists():
        call("run", BANKS, "-i", MANY, "-o", with_summaries, "--quiet", "--set", f"geometry={GEOMETRY}")
        call("run", LUMI, "-i", MANY, "-o", table, "--quiet")
        full = check_file("minbias_300.mdf", records(MANY), records(with_summaries), table)
        lines = len(table.read_text().splitlines()) - 1
        checks.that((lines, full) == (15, 5), f"minbias_300.mdf: {lines} luminosity events, {full} of them full")
    else:
        print(f"skipped: {MANY} or {GEOMETRY} is absent; set SLUICE_DATA to the folder of the samples")

    # the table next to another sink that uses -o: only at table.path
    given, named = Path(folder) / "given.csv", Path(folder) / "named.csv"
    call("run", ROOT / "graphs/velo_pv.yaml", "-n", 20, "--quiet", "--set", f"table.path={named}")
    checks.that(named.exists(), "in velo_pv.yaml, the table is at its path")
    refused = call("run", ROOT / "graphs/velo_pv.yaml", "-n", 20, "-o", given, "--quiet", "--set", f"table.path={named}", expect=2)
    checks.that("no sink of this graph writes there" in refused.stderr and not given.exists(), "the table does not use -o if its path is set")
    call("run", LUMI, "-n", 20, "-o", given, "--quiet")
    checks.that(given.exists(), "in lumi.yaml the table uses -o")

    # the description of the summaries
    description = Path(folder) / "schema.json"
    call("run", LUMI, "-n", 1, "--quiet", "--set", f"table.schema_path={description}")
    documents = json.loads(description.read_text())
    checks.that(sorted(d["size"] for d in documents.values()) == [88, 236], "base and full summaries are described")
    for document in documents.values():
        wrong = [c for c in document["counters"]
                 if c["offset"] != 32 * schema()[c["name"]]["word"] + schema()[c["name"]]["bit_in_word"]
                 or c["size"] != schema()[c["name"]]["size_bits"] or c.get("shift", 0) != schema()[c["name"]]["shift"]
                 or c.get("scale", 1) != schema()[c["name"]]["scale"]]
        checks.that(not wrong and document["version"] == 0, f"{len(document['counters'])} counters are described as in the table {wrong}")

    # invalid ODIN banks: one faulty event among six, without checksums
    sound = [bytearray(r) for r in records(events)][:6]
    for record in sound:
        record[12:16] = bytes(4)
    place = next(b[3] for b in banks(sound[2]) if b[0] == BANK_ODIN)  # of the payload; the header is the 8 bytes before
    two = with_body(sound[2], bytes(sound[2][HEADER_BYTES:]) + bytes(sound[2][place - 8:place + 40]))
    cases = {"there is no ODIN bank": ((place - 4, 99),), "a version other than 6 or 7 (detail: which) (detail 5)": ((place - 3, 5),),
             "does not have 40 bytes (detail: how many it has) (detail 39)": ((place - 6, 47),),
             "a bunch slot beyond 3563 (detail: which) (detail 4095)": ((place + 24, 255), (place + 25, 255))}
    for text, changes in cases.items():
        wrong = bytearray(sound[2])
        for at, value in changes:
            wrong[at] = value
        events.write_bytes(b"".join(sound[:2]) + wrong + b"".join(sound[3:]))
        count, said = errors_of(events)
        checks.that(count == 1 and text in said, f"'{text}' is reported for one event" + ("" if text in said else f", not:\n{said}"))
    events.write_bytes(b"".join(sound[:2]) + two + b"".join(sound[3:]))
    count, said = errors_of(events)
    checks.that(count == 1 and "several ODIN banks (detail: how many) (detail 2)" in said, "two ODIN banks are an error")
    kept = Path(folder) / "kept.mdf"
    call("run", BANKS, "-i", events, "-o", kept, "--quiet")
    ours, theirs = ([sorted(b[:3] + b[4:] for b in banks(r)) for r in records(path)] for path in (kept, events))
    checks.that(ours[2] == theirs[2] and sum(b[0] == BANK_SUMMARY for bs in ours for b in bs) > 0,
                "an event with an error keeps its banks and gets no summary")
checks.end()
