#!/usr/bin/env python3
"""bench/physics_report.py on few events: the pages contain the results of the runs, and the checks in Python of LHCb's recorded
tracks use the same truth as the plugin."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from common import DATA, ROOT, SIX, SLUICE, Checks, category

sys.path.insert(0, str(ROOT / "bench"))
import physics_report  # noqa: E402

checks = Checks()


def report(*arguments):
    return subprocess.run([sys.executable, "-B", ROOT / "bench/physics_report.py", *map(str, arguments), "--sluice", SLUICE], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    work, page, further = Path(folder) / "work", Path(folder) / "page.md", Path(folder) / "further.md"
    old = (ROOT / "docs/physics.md").read_text(), (ROOT / "docs/lab/trigger-tables.md").read_text()
    page.write_text(old[0])
    further.write_text(old[1])
    pages = ("--page", page, "--page", further)
    done = report("run", "--sequences", "default", "--events", 40, "--signal-events", 8, "--work", work, *pages, "--data", DATA)
    checks.that(done.returncode == 0, f"it runs {done.stderr}")
    text = page.read_text()
    for before, after in zip(old, (text, further.read_text())):
        checks.that(after != before and after.count("<!-- end -->") == before.count("<!-- end -->"), "the report fills the tables of both pages")
    for name in ("seed", "seed of signal"):
        checks.that(f"the table {name} is left as it was" in done.stderr, f"the report states that table {name} has no results")
    found = json.loads((work / "minimum_bias.default.json").read_text())["results"]
    for name in ("long", "long, p > 5 GeV"):
        c = category(found["long_check"], name)
        row = f"| {name} | {physics_report.percent(c['reconstructed'], c['reconstructible'])} |"
        checks.that(0 < c["reconstructed"] < c["reconstructible"] and row in text, f"the page has: {row}")
    both, fast, slow = (physics_report.category(found["long_check"], name) for name in ("long", "long, p > 5 GeV", "long, p < 5 GeV"))
    checks.that(tuple(a + b for a, b in zip(fast, slow)) == both, f"{both} long particles: {slow} with p < 5 GeV, {fast} with more")
    vertices = found["pv_check"]
    row = f"| found, % | {physics_report.percent(vertices['reconstructed'], vertices['reconstructible'])} |"
    checks.that(vertices["reconstructed"] > 100 and row in text, f"the page has: {row}")
    if not SIX.exists():
        checks.that("without the six events" in done.stderr and not list(work.glob("six*")), f"skipped: {SIX} is absent, as it reports")
    else:
        ours = json.loads((work / "six.default.json").read_text())["results"]
        options = type("Options", (), {"data": DATA})
        checked = physics_report.judged_record(options, physics_report.reference(options)["default"])
        for check, names in (("check", physics_report.VELO), ("long_check", physics_report.JUDGED)):
            for name in names:
                here, there = (category(result[check], name)["reconstructible"] for result in (ours, checked))
                checks.that(here == there > 0, f"{check}, {name}: {here} particles in the plugin, {there} in Python")
        # The recorded VELO tracks equal ours except one, and the recorded vertices are equal.
        velo = category(checked["check"], "velo")
        checks.that((velo["reconstructed"], velo["clones"], checked["check"]["ghosts"], checked["check"]["tracks"]) == (590, 11, 10, 1436),
                    f"recorded VELO tracks: {velo}, ghosts {checked['check']['ghosts']} of {checked['check']['tracks']}")
        long_tracks = [category(checked["long_check"], name)["reconstructed"] for name in physics_report.JUDGED]
        checks.that((long_tracks, checked["long_check"]["ghosts"]) == ([159, 136, 97, 35, 6], 18), f"recorded long tracks: {long_tracks}, ghosts {checked['long_check']['ghosts']}")
        checks.that(checked["pv_check"] == {"reconstructible": 31, "reconstructed": 28, "vertices": 28, "false": 0}, f"recorded vertices: {checked['pv_check']}")
        checks.that("| `default` | LHCb's, recorded | 159 / 342 |" in further.read_text(), "the second page has the recorded tracks")
    done = report("tables", "--sequences", "matching", "--work", work)
    checks.that(done.returncode != 0 and "has no summary of these sequences" in done.stderr, "missing summaries are reported")
    page.write_text(page.read_text().replace("<!-- table rates -->", ""))
    done = report("tables", "--sequences", "default", "--work", work, *pages, "--data", DATA)
    checks.that(done.returncode != 0 and "0 places for the table rates" in done.stderr, "a page without a place for a table is refused")
checks.that("there is no sequence fast" in report("tables", "--sequences", "fast").stderr, "an unknown sequence is reported")
checks.end()
