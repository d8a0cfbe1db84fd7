"""Functions shared by tests in Python: paths, running the command, skipping, counting checks."""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SLUICE_ROOT", Path(__file__).resolve().parents[2]))
SLUICE = os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice"))
DATA = Path(os.environ.get("SLUICE_DATA", ROOT.parent / "shared/data"))
SIX = DATA / "lhcb/minbias.mdf"
MANY = DATA / "velo/minbias_300.mdf"
GEOMETRY = DATA / "lhcb/geometry"
# Set by scripts/test without --full (tests/declare.cmake), in slow builds (sanitizers) and for long tests: repeated comparisons
# and measurements are left out, but everything runs once.
BRIEF = "SLUICE_TEST_BRIEF" in os.environ


def need_data():
    for path in (SIX, MANY, GEOMETRY):
        if not path.exists():
            print(f"skipped: {path} is absent; set SLUICE_DATA to the folder of the samples")
            sys.exit(77)


def call(*arguments, expect=0, **options):
    """Runs the command; returns the finished process. Its exit status must be `expect`."""
    done = subprocess.run([SLUICE, *map(str, arguments)], capture_output=True, text=True, **options)
    if done.returncode != expect:
        sys.exit(f"sluice {' '.join(map(str, arguments))}: status {done.returncode}, not {expect}\n{done.stdout}{done.stderr}")
    return done


def run(graph, sample, *arguments):
    """Runs a graph over a sample; returns its JSON summary."""
    done = call("run", ROOT / "graphs" / graph, "-i", sample, "--set", f"geometry={GEOMETRY}", "--json", "-", "--quiet", *arguments)
    return json.loads(done.stdout)


def by_event(graph, figures, *arguments):
    """`figures` of the results of each of the six events: difference between the first n and the first n - 1 events."""
    sums = [figures(run(graph, SIX, "-n", n, *arguments)["results"]) for n in range(1, 7)]
    return [sums[0]] + [tuple(b - a for a, b in zip(before, now)) for before, now in zip(sums, sums[1:])]


def category(result, name):
    """The category `name` in the result of a check against truth."""
    found = [c for c in result["categories"] if c["name"] == name]
    if len(found) != 1:
        sys.exit(f"{len(found)} categories have the name '{name}': {[c['name'] for c in result['categories']]}")
    return found[0]


def velo_track(states, theirs, taken):
    """The VELO track nearest to a recorded state: (distance, difference of slopes, index). Tracks in `taken` are skipped."""
    def off(velo):
        x, y, tx, ty = states[velo]
        slopes = max(abs(tx - theirs["tx"]), abs(ty - theirs["ty"]))
        return abs(x - theirs["x"]) + abs(y - theirs["y"]) + 1000 * slopes, slopes, velo
    return min(off(velo) for velo in range(len(states)) if velo not in taken)


def run_simulated(graph, *arguments):
    """Runs a graph over simulated events; returns its JSON summary."""
    return json.loads(call("run", ROOT / "graphs" / graph, "--json", "-", "--quiet", *arguments).stdout)


class Checks:
    """Counts checks and prints each, or only failed ones; `end` exits with the status."""

    def __init__(self, says_passed=True):
        self.passed = self.failed = 0
        self.says_passed = says_passed

    def that(self, condition, text):
        self.passed += bool(condition)
        self.failed += not condition
        if self.says_passed or not condition:
            print(("ok      " if condition else "FAILED  ") + text)

    def golden(self, path, found, exactly=True):
        """Compares `found` with the digests in the file `path`, which has no others if `exactly`. --accept replaces the file."""
        if "--accept" in sys.argv:
            path.write_text("".join(f"{key} {value}\n" for key, value in sorted(found.items())))
            print(f"accepted {len(found)} digests")
            return
        stored = dict(line.rsplit(" ", 1) for line in path.read_text().splitlines() if line) if path.exists() else {}
        for key, value in sorted(found.items()):
            self.that(stored.get(key) == value, f"golden digest of {key}: {value}")
        self.that(set(stored) == set(found) if exactly else set(found) <= set(stored), f"{path.name} lists the outputs of the graphs")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
