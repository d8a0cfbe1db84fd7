#!/usr/bin/env python3
"""VELO tracks and primary vertices of sample events compared with Monte Carlo truth: expected figures are from an independent
implementation of the same algorithms in double precision, and from the README of the samples."""
from common import MANY, SIX, Checks, category, need_data, run

need_data()
checks = Checks()


def same(value, expected, tolerance, text):
    checks.that(abs(value - expected) <= tolerance, f"{text}: {value} (expected {expected}, tolerance {tolerance:g})")


def found_of(result, name, reconstructed, reconstructible, where):
    c = category(result, name)
    same(c["reconstructible"], reconstructible, 0, f"{where}, {name}: reconstructible")
    same(c["reconstructed"], reconstructed, max(1, 0.002 * reconstructed) if where != "six events" else 0, f"{where}, {name}: reconstructed")
    return c


six = run("velo.yaml", SIX)["results"]["check"]
same(six["tracks"], 1435, 0, "six events: tracks")
same(six["ghosts"], 10, 0, "six events: ghosts")
checks.that(six["ghost_rate"] <= 0.010, f"six events: ghost rate {six['ghost_rate']:.4f} at most 0.010")
velo = found_of(six, "velo", 590, 597, "six events")
same(velo["clones"], 11, 0, "six events, velo: clones")
same(velo["purity"], 0.9979, 0.0001, "six events, velo: purity")
same(velo["hit_efficiency"], 0.9771, 0.0001, "six events, velo: hit efficiency")
long_tracks = found_of(six, "long", 340, 342, "six events")
same(long_tracks["clones"], 4, 0, "six events, long: clones")
found_of(six, "long, p > 5 GeV", 223, 223, "six events")
found_of(six, "long from strange", 11, 11, "six events")
found_of(six, "all eta, not e", 1257, 1320, "six events")
electrons = found_of(six, "long electrons", 28, 28, "six events")
same(electrons["clones"], 3, 0, "six events, long electrons: clones")

superpixels = run("velo_superpixels.yaml", SIX)["results"]["check"]
for name in ("velo", "long", "long, p > 5 GeV", "long from strange", "long electrons"):
    retina, pixels = category(six, name), category(superpixels, name)
    checks.that(abs(retina["efficiency"] - pixels["efficiency"]) <= 0.01,
                f"super-pixels, {name}: efficiency {pixels['efficiency']:.4f} within 0.01 of {retina['efficiency']:.4f}")
checks.that(superpixels["ghost_rate"] <= 0.010, f"super-pixels: ghost rate {superpixels['ghost_rate']:.4f} at most 0.010")

first = run("velo.yaml", MANY, "-n", 20)["results"]["check"]
same(first["tracks"], 4860, 0.002 * 4860, "events 1 to 20: tracks")
same(first["ghosts"], 71, 1, "events 1 to 20: ghosts")
found_of(first, "velo", 1965, 2000, "events 1 to 20")
found_of(first, "long", 1153, 1157, "events 1 to 20")
found_of(first, "long, p > 5 GeV", 729, 730, "events 1 to 20")
found_of(first, "long from strange", 54, 55, "events 1 to 20")
found_of(first, "long electrons", 95, 96, "events 1 to 20")
found_of(first, "all eta, not e", 4250, 4462, "events 1 to 20")

many = run("velo.yaml", MANY)["results"]["check"]
same(many["tracks"], 75805, 0, "300 events: tracks")
same(many["ghosts"], 972, 2, "300 events: ghosts")
checks.that(many["ghost_rate"] <= 0.02, f"300 events: ghost rate {many['ghost_rate']:.4f} at most 0.02")
velo = found_of(many, "velo", 31835, 32521, "300 events")
checks.that(velo["efficiency"] >= 0.975, f"300 events, VELO: efficiency {velo['efficiency']:.4f} at least 0.975")
long_tracks = found_of(many, "long", 18009, 18160, "300 events")
checks.that(long_tracks["efficiency"] >= 0.99, f"300 events, long: efficiency {long_tracks['efficiency']:.4f} at least 0.99")
found_of(many, "long, p > 5 GeV", 11452, 11518, "300 events")
found_of(many, "long from strange", 961, 987, "300 events")
found_of(many, "long electrons", 1383, 1431, "300 events")
found_of(many, "all eta, not e", 66464, 70202, "300 events")

# Primary vertices. The 300 events have no true vertices.
def vertices_of(sample, *arguments):
    return run("pv.yaml", sample, *arguments)["results"]["pv_check"]


def found_vertices(result, name, reconstructed, reconstructible, text):
    r = result[name] if name else result
    same(r["reconstructible"], reconstructible, 0, f"{text}, {name or 'all'}: reconstructible")
    same(r["reconstructed"], reconstructed, 0, f"{text}, {name or 'all'}: reconstructed")
    same(r["matched"], reconstructed, 0, f"{text}, {name or 'all'}: including vertices that are not reconstructible")


beamline = vertices_of(SIX)
same(beamline["true_vertices"], 41, 0, "six events: true vertices")
same(beamline["vertices"], 28, 0, "six events, beam line: vertices")
for name, reconstructed, reconstructible in (("", 28, 31), ("isolated", 18, 19), ("close", 10, 12)):
    found_vertices(beamline, name, reconstructed, reconstructible, "six events, beam line")
same(beamline["false"], 0, 0, "six events, beam line: false vertices")
same(beamline["clones"], 0, 0, "six events, beam line: clones")
annealing = vertices_of(SIX, "--use", "pv=pv.annealing")
for name, reconstructed, reconstructible in (("", 30, 31), ("isolated", 19, 19), ("close", 11, 12)):
    found_vertices(annealing, name, reconstructed, reconstructible, "six events, annealing")
same(annealing["false"], 0, 0, "six events, annealing: false vertices")
same(annealing["clones"], 0, 0, "six events, annealing: clones")
for finder, result in (("beam line", beamline), ("annealing", annealing)):
    for axis, width in (("x", 0.020), ("y", 0.020), ("z", 0.130)):
        value, pull = result[f"resolution_{axis}_mm"], result[f"pull_{axis}"]
        checks.that(0.4 * width < value < width, f"six events, {finder}: resolution in {axis} {value:.4f} mm below {width}")
        checks.that(0.8 < pull < 1.6, f"six events, {finder}: pull in {axis} {pull:.2f} from 0.8 to 1.6")
same(vertices_of(MANY)["vertices"], 1502, 0, "300 events, beam line: vertices")
same(vertices_of(MANY, "--use", "pv=pv.annealing")["vertices"], 1529, 0, "300 events, annealing: vertices")
checks.end()
