#!/usr/bin/env python3
"""Events of 40 collisions in the trigger without an event cut: an event that exceeds a limit is reported and kept, the others
get decisions, in slices of any size. With a higher budget no event exceeds a limit."""
import json
import tempfile
from pathlib import Path

import mdf
from common import ROOT, Checks, call

EVENTS, SEED = 3, 6  # the last event has too many seeds in x and z
BANK_DEC_REPORTS = 17
WAYS = {"slices of 8": ["--slice-events", 8], "slices of 1": ["--slice-events", 1]}


def is_reported(record):
    return any(kind == BANK_DEC_REPORTS for kind, *_ in mdf.banks(record))


def without_checksum(record):
    return record[:12] + record[16:]


checks = Checks()
with tempfile.TemporaryDirectory() as folder:
    dense, passed = Path(folder) / "dense.mdf", Path(folder) / "passed.mdf"
    call("run", ROOT / "graphs/simulate.yaml", "-n", EVENTS, "--set", "raw.mu=40", "--set", f"seed={SEED}", "-o", dense, "--quiet")
    sound = list(mdf.records(dense))
    trigger = [ROOT / "graphs/hlt1_pp_forward_then_matching.yaml", "-i", dense, "--set", "forward_network.network=none"]
    seen = {}
    for name, way in WAYS.items():
        done = call("run", *trigger, "--digest=events", "--json", folder + "/run.json", *way)
        summary = json.loads(Path(folder, "run.json").read_text())
        seen[name] = (summary["error_events"], summary["errors"], [o["digest"] for o in summary["outputs"]])
        named = [(e["node"], e["reason"], e["count"]) for e in summary["errors"]]
        checks.that(named == [("seed_xz", "more than 131072 items of tracks", 1)], f"{name}: one event exceeds a limit, {named}")
        checks.that("a higher budget of this output allows more" in done.stderr, f"{name}: the message suggests a higher budget")
        checks.that(name != "slices of 8" or summary["retries"] > 0, f"{name}: {summary['retries']} runs in parts")
    first = seen[next(iter(seen))]
    checks.that(all(found == first for found in seen.values()), "results do not depend on the slice size")

    call("run", *trigger, "--with", ROOT / "graphs/output/selected_events.yaml", "-o", passed, "--quiet")
    kept = list(mdf.records(passed))
    checks.that([is_reported(record) for record in kept] == [True, True, False], f"{len(kept)} events are kept, two with reports")
    checks.that(without_checksum(kept[-1]) == without_checksum(sound[-1]), "the event with an error is written as it was read")

    done = call("run", *trigger, "--slice-events", 1, "--set", "seed_xz.tracks_per_event=160000", "--json", folder + "/run.json")
    checks.that(json.loads(Path(folder, "run.json").read_text())["error_events"] == 0, "with a higher budget the event has no error")
checks.end()
