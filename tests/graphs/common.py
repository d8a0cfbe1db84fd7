"""What tests in Python share: where things are, running the command, skipping, counting what holds."""
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
# Set by scripts/test without --full (tests/declare.cmake), in slow builds (sanitizers) and for long tests: what is compared,
# counted or measured many times is left out, not what runs.
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
    """What `figures` counts in the results of each of the six events: in the first n, less in the first n - 1."""
    sums = [figures(run(graph, SIX, "-n", n, *arguments)["results"]) for n in range(1, 7)]
    return [sums[0]] + [tuple(b - a for a, b in zip(before, now)) for before, now in zip(sums, sums[1:])]


def category(result, name):
    """Of what a check against truth counts: the category of that name."""
    found = [c for c in result["categories"] if c["name"] == name]
    if len(found) != 1:
        sys.exit(f"{len(found)} categories are called '{name}': {[c['name'] for c in result['categories']]}")
    return found[0]


def velo_track(states, theirs, taken):
    """How far our VELO track is from theirs that is nearest, how far its slopes are, and which it is."""
    def off(velo):
        x, y, tx, ty = states[velo]
        slopes = max(abs(tx - theirs["tx"]), abs(ty - theirs["ty"]))
        return abs(x - theirs["x"]) + abs(y - theirs["y"]) + 1000 * slopes, slopes, velo
    return min(off(velo) for velo in range(len(states)) if velo not in taken)


def run_simulated(graph, *arguments):
    """Runs a graph over simulated events; returns its JSON summary."""
    return json.loads(call("run", ROOT / "graphs" / graph, "--json", "-", "--quiet", *arguments).stdout)


class Checks:
    """Counts checks; prints each, or those alone that failed; ends with the exit status."""

    def __init__(self, says_passed=True):
        self.passed = self.failed = 0
        self.says_passed = says_passed

    def that(self, condition, text):
        self.passed += bool(condition)
        self.failed += not condition
        if self.says_passed or not condition:
            print(("ok      " if condition else "FAILED  ") + text)

    def golden(self, path, found, exactly=True):
        """`found` against the digests kept in `path`, which hold no others if `exactly`; --accept keeps those found."""
        if "--accept" in sys.argv:
            path.write_text("".join(f"{key} {value}\n" for key, value in sorted(found.items())))
            print(f"accepted {len(found)} digests")
            return
        kept = dict(line.rsplit(" ", 1) for line in path.read_text().splitlines() if line) if path.exists() else {}
        for key, value in sorted(found.items()):
            self.that(kept.get(key) == value, f"golden digest of {key}: {value}")
        self.that(set(kept) == set(found) if exactly else set(found) <= set(kept), f"{path.name} lists what the graphs give")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
