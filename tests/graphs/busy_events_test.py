"""Events of 1 to 100 times the usual size: refused events, their messages and the results of all other events do not depend on
slice size, target and number of slots. Each event has the clusters of several simulated events; some events exceed a limit
of the input or of the search."""
import json
import random
import struct
import tempfile
from pathlib import Path

import mdf
from common import BRIEF, ROOT, Checks, call

BANK_CLUSTERS = 73
# (target, slots, events in a slice, further options)
RUNS = [("cpu", 1, 1), ("cpu", 2, 3), ("cpu", 1, 8), ("cpu", 2, 100), ("cpu", 1, 1000), ("simt", 2, 1), ("simt", 1, 1000)]
if BRIEF:
    RUNS = [("cpu", 1, 1), ("cpu", 2, 3), ("simt", 1, 1000)]
BUDGETS = ["--set", "search.candidates_per_event=50", "--set", "tracks.hits_per_event=300", "--set", "raw.velo_clusters_words=500"]


def merged(events):
    """The record of the first event with the clusters of all events. A bank has the number of clusters and a word per cluster."""
    banks, clusters = [b for b in mdf.banks(events[0]) if b[0] != BANK_CLUSTERS], {}
    for event in events:
        for kind, version, source, _, payload in mdf.banks(event):
            key = (kind, version, source)
            if kind == BANK_CLUSTERS and len(clusters.get(key, b"")) + len(payload) < 0xFFF0:
                clusters[key] = clusters.get(key, b"") + payload[4:4 + 4 * struct.unpack_from("<I", payload)[0]]
    banks += [(*key, 0, struct.pack("<I", len(words) // 4) + words) for key, words in clusters.items()]
    return mdf.with_body(events[0], b"".join(mdf.bank_bytes(*head, payload) for *head, _, payload in banks))


def refused(stderr):
    """The messages about events, sorted, because slots change their order."""
    return sorted(line for line in stderr.splitlines() if " event " in line)


checks = Checks()
with tempfile.TemporaryDirectory() as folder:
    simulated, busy = Path(folder) / "simulated.mdf", Path(folder) / "busy.mdf"
    call("run", ROOT / "graphs/copy.yaml", "-n", 100, "-o", simulated, "--quiet")
    events = list(mdf.records(simulated))
    draw = random.Random(1)
    sizes = [1] * 30 + [2, 3, 5, 8, 13, 20, 24, 28, 32, 36, 40, 50, 70, 100]
    draw.shuffle(sizes)
    busy.write_bytes(b"".join(merged(draw.sample(events, size)) for size in sizes))

    seen = {}
    for target, slots, slice_events in RUNS:
        for budgets in ([], BUDGETS) if slots == 1 else ([],):
            if target == "simt" and budgets:
                continue
            done = call("run", ROOT / "graphs/velo_pv.yaml", "-i", busy, "--device", target, "--slots", slots,
                        "--slice-events", slice_events, "--digest", "--json", folder + "/run.json", *budgets)
            summary = json.loads(Path(folder, "run.json").read_text())
            name = f"{target}, {slots} slots, slices of {slice_events}{', tight budgets' if budgets else ''}"
            seen[name] = ([o["digest"] for o in summary["outputs"]], summary["error_events"], refused(done.stderr))
    first = seen[next(iter(seen))]
    for line in first[2]:
        print("       ", line)
    for name, found in seen.items():
        checks.that(found == first, f"{name}: {found[1]} refused; digests and messages as in slices of 1")
    checks.that(0 < first[1] < len(sizes) - 30, "some busy events are refused, others are not")
    checks.that(any("an event may have" in line for line in first[2]), "a limit is named")
checks.end()
