#!/usr/bin/env python3
"""Luminosity counters of simulated events against the truth: their means agree with those of the true tracks and vertices,
with the efficiency of physics events, within statistics; they are linear in mu; crossings without collisions give
zero. Limits are four standard deviations of the samples, which are fixed by their seeds."""
import csv
import math
import tempfile
from pathlib import Path

from common import ROOT, Checks, call
from mdf import odin, records
from records import particles, schema, vertices

checks = Checks()
EDGES = (-4, -3, -2, 2, 3, 4, 5)
BEAM_BEAM = "3"
TRACKS = ["VeloTracks", "VeloFiducialTracks"] + [f"VeloTracksEtaBin{i}" for i in range(8)]
VERTICES = ["VeloVertices", "FiducialVeloVertices"]
POSITION = ["VeloVertexX", "VeloVertexY", "VeloVertexZ"]


def is_fiducial(eta, phi, x, y, z):
    """Whether the line passes the z axis within 3 mm, at |z| < 300 mm."""
    slope = 1 / math.sinh(abs(eta))
    tx, ty = slope * math.cos(phi), slope * math.sin(phi)
    to_axis = -(x * math.cos(phi) + y * math.sin(phi)) / slope
    return abs(z + to_axis) < 300 and abs(ty * x - tx * y) / slope < 3


def true_counters(record):
    """Expected counters if every particle with hits in three modules, and every collision of four tracks, were
    found once."""
    count = dict.fromkeys(TRACKS + VERTICES, 0)
    for particle in particles(record):
        count["VeloTracks"] += 1
        count["VeloFiducialTracks"] += is_fiducial(*particle)
        count[f"VeloTracksEtaBin{sum(particle[0] >= edge for edge in EDGES)}"] += 1
    visible = [position for tracks, *position in vertices(record) if tracks >= 4]
    count["VeloVertices"] = len(visible)
    count["FiducialVeloVertices"] = sum(abs(z) < 300 and math.hypot(x, y) < 3 for x, y, z in visible)
    for axis, name in enumerate(POSITION):
        count[name] = sum(position[axis] for position in visible) / len(visible) if visible else None
    return count


def sample(seed, events, *settings):
    """[(row of the table, truth)] of the events at crossings of two bunches, and the rows of the other events."""
    with tempfile.TemporaryDirectory() as folder:
        file, table = Path(folder) / "events.mdf", Path(folder) / "lumi.csv"
        call("run", ROOT / "graphs/copy.yaml", "-n", events, "-o", file, "--quiet", "--set", f"seed={seed}", *settings)
        call("run", ROOT / "graphs/lumi.yaml", "-i", file, "-o", table, "--quiet", "--set", "luminosity.event_types=0")  # the counters of all events
        with open(table, newline="") as opened:
            rows = {int(row["event"]): row for row in csv.DictReader(opened)}
        both, others = [], []
        for record in records(file):
            row = rows[odin(record)[1]]
            if row["BXType"] == BEAM_BEAM:
                both.append((row, true_counters(record)))
            else:
                others.append(row)
    return both, others


def ratio(both, name):
    """Ratio of the sums of a counter and of its true value, and the error."""
    pairs = [(float(row[name]), truth[name]) for row, truth in both if row[name] != ""]
    mean = sum(t for _, t in pairs) / len(pairs)
    r = sum(c for c, _ in pairs) / sum(t for _, t in pairs)
    variance = sum((c - r * t) ** 2 for c, t in pairs) / (len(pairs) - 1)
    return r, math.sqrt(variance / len(pairs)) / mean


def mean(both, name):
    values = [float(row[name]) for row, _ in both if row[name] != ""]
    average = sum(values) / len(values)
    return average, math.sqrt(sum((v - average) ** 2 for v in values) / (len(values) - 1) / len(values))


physics, _ = sample(11, 300, "--set", "raw.luminosity_fraction=0")
luminosity, others = sample(12, 450, "--set", "raw.luminosity_fraction=1")
checks.that(len(physics) == 300 and 250 < len(luminosity) < 380 and len(others) > 70,
            f"{len(physics)} physics events, {len(luminosity)} luminosity events with both beams, {len(others)} others")
counted = TRACKS + VERTICES
print(f"{'counter':22} {'mean':>8} {'truth':>8}  {'ratio':>7}           {'physics':>7}")
for name in counted:
    (ours, error), (theirs, their_error) = ratio(luminosity, name), ratio(physics, name)
    pull = (ours - theirs) / math.hypot(error, their_error)
    found = mean(luminosity, name)[0]
    print(f"{name:22} {found:8.2f} {found / ours:8.2f}  {ours:7.4f} +- {error:6.4f} {theirs:7.4f} +- {their_error:6.4f}")
    checks.that(abs(pull) < 4, f"{name}: ratio to the truth in luminosity and physics events: difference {pull:+.2f} sigma")
    checks.that(0.75 < ours < 1.1, f"{name}: ratio to the truth {ours:.3f}")
for name in POSITION:  # one vertex per event; the average agrees with that of the true vertices
    differences = [float(row[name]) - truth[name] for row, truth in luminosity if row["VeloVertices"] != "0" and truth[name] is not None]
    average = sum(differences) / len(differences)
    error = math.sqrt(sum((d - average) ** 2 for d in differences) / (len(differences) - 1) / len(differences))
    checks.that(abs(average) < 4 * error, f"{name}: {average:+.4f} +- {error:.4f} mm from the true vertices, in {len(differences)} events")
quiet = {name: sum(float(row[name]) for row in others) / len(others) for name in counted}
checks.that(max(quiet.values()) < 0.1, f"crossings without collisions: at most {max(quiet.values()):.3f} per event and counter")

# mu: counters of tracks are proportional to the number of collisions
few, _ = sample(13, 900, "--set", "raw.luminosity_fraction=1", "--set", "raw.mu=2")
many, _ = sample(14, 450, "--set", "raw.luminosity_fraction=1", "--set", "raw.mu=8")
for name in TRACKS:
    (low, low_error), (high, high_error) = mean(few, name), mean(many, name)
    pull = (high / 8 - low / 2) / math.hypot(high_error / 8, low_error / 2)
    checks.that(abs(pull) < 4, f"{name}: {low / 2:.3f} per collision at mu = 2, {high / 8:.3f} at mu = 8, {pull:+.2f} sigma")
# Counters with noise or energy: linear in mu, but not proportional. Counts of muons grow faster, because hits of several
# particles combine.
LINEAR = [name for name, row in schema().items() if name.startswith(("SciFi", "MuonHits", "ECal")) and row["part"] == "base"]
checks.that(len(LINEAR) == 26, f"{len(LINEAR)} counters of the other detectors")
for name in LINEAR:
    (low, low_error), (middle, middle_error), (high, high_error) = (mean(both, name) for both in (few, luminosity, many))
    near, far = (5.3 - 2) / 6, (8 - 5.3) / 6
    off, error = middle - far * low - near * high, math.hypot(middle_error, far * low_error, near * high_error)
    checks.that(abs(off) < 4 * error and high > 2 * low - middle, f"{name}: {low:.1f}, {middle:.1f}, {high:.1f} at mu = 2, 5.3, 8: {off / error:+.2f} sigma from a straight line")
checks.end()
