#!/usr/bin/env python3
"""bench/pv_study.py on few events: its tables have the results of its runs, and its fit recovers given parameters."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, SLUICE, Checks

sys.path.insert(0, str(ROOT / "bench"))
import pv_study  # noqa: E402

checks = Checks()
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([sys.executable, ROOT / "bench/pv_study.py", "quality", "--events", "200", "--work", folder, "--sluice", SLUICE],
                          capture_output=True, text=True)
    checks.that(done.returncode == 0, f"quality succeeds {done.stderr}")
    results = json.loads((Path(folder) / "quality.json").read_text())
for finder in pv_study.FINDERS:
    r = results[finder]
    row = f"| {finder} | {r['reconstructed']} / {r['reconstructible']} | {pv_study.percent(r['efficiency'])} |"
    checks.that(row in done.stdout, f"the first table has: {row}")
    for name in ("bins", "distance_bins"):
        for key in ("reconstructible", "reconstructed", "matched", "vertices", "false", "pairs", "clones"):
            total = sum(b[key] for b in r[name])
            checks.that(total == r[key], f"{finder}, {name}: {key}: bins add up to {total}, total {r[key]}")
    sides = r["isolated"]["reconstructible"] + r["close"]["reconstructible"]
    checks.that(sides == r["reconstructible"], f"{finder}: {sides} isolated and close vertices")
a, b, c = pv_study.fit_resolution([(n, 60 * n**-0.65 + 1.5, 0.1) for n in (3, 5, 7, 10, 15, 25, 40, 70, 120)])
checks.that(abs(a - 60) < 0.1 and abs(b - 0.65) < 1e-9 and abs(c - 1.5) < 0.1, f"fit: {a:.2f}, {b:.2f}, {c:.2f} of 60, 0.65, 1.5")
checks.end()
