#!/usr/bin/env python3
"""The Kalman fit reaches the resolution of plugins/kalman/README.md on simulated events, is not worse than the momenta of the track
searches on the six sample events, and gives the momenta of each sequence of the trigger that takes it as a variant."""
import sys
import tempfile
from math import sqrt
from pathlib import Path

from common import BRIEF, ROOT, SIX, Checks, need_data, run, run_simulated

EVENTS = 300 if BRIEF else 1500
VARIANTS = {"hlt1_pp_default": "kalman_forward", "hlt1_pp_matching": "kalman_matching", "hlt1_pp_no_ut": "kalman_no_ut",
            "hlt1_pp_matching_no_ut": "kalman_no_ut", "hlt1_pp_forward_then_matching": "kalman_forward_then_matching"}
WITH_VARIANT = """
sluice: 1
include: [{root}/graphs/{sequence}_validation.yaml, {root}/graphs/variants/{variant}.yaml]
nodes:
  long_check: {{ in: {{ states: long_states.states, fits: long_states.fits }} }}
"""
checks = Checks()


def bins(check):
    """{bin of momentum: (tracks, width and median of p in %, bin)}"""
    return {b["name"]: (b["tracks"], 100 * b["p_width"], 100 * b["p_median"], b) for b in check["momentum"]}


def error_of_width(width, tracks):
    return 0.9 * width / sqrt(tracks) if tracks else 0.0


# simulated events
check = run_simulated("kalman.yaml", "-n", EVENTS, "--set", "seed=2")["results"]["long_check"]
before = run_simulated("forward_then_matching.yaml", "-n", EVENTS, "--set", "seed=2")["results"]["long_check"]
checks.that(check["tracks"] == before["tracks"] > 40 * EVENTS, f"{check['tracks']} long tracks, {before['tracks']} without the fit")
for name, (tracks, width, median, b) in bins(check).items():
    if tracks < EVENTS:
        continue
    error = error_of_width(width, tracks)
    checks.that(abs(median) <= 0.1, f"{name}: median of p {median:.3f} %")
    checks.that(0.95 <= b["pull_width"] <= 1.15, f"{name}: width of the pull {b['pull_width']:.3f}")
    checks.that(b["right_charge"] > 0.999, f"{name}: right charge {100 * b['right_charge']:.2f} %")
    if name in ("5 to 10 GeV", "10 to 20 GeV", "20 to 50 GeV"):
        checks.that(width <= 0.42, f"{name}: width of p {width:.3f} +- {error:.3f} %, before {bins(before)[name][1]:.3f} %")
right, wrong, ghosts = check["chi2"]
checks.that(right["improbable"] <= 0.05, f"{100 * right['improbable']:.2f} % of the tracks with right hits have a probability below 1 %")
checks.that(ghosts["improbable"] > 0.5, f"{100 * ghosts['improbable']:.1f} % of the ghosts have a probability below 1 %")

# the trigger's sequences
for sequence, variant in VARIANTS.items():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.yaml"
        path.write_text(WITH_VARIANT.format(root=ROOT, sequence=sequence, variant=variant))
        fitted = run_simulated(path, "-n", 200, "--set", "seed=2")
    found, alone = run_simulated(f"{sequence}_validation.yaml", "-n", 200, "--set", "seed=2"), fitted["results"]["long_check"]
    width, width_before = bins(alone)["all"][1], bins(found["results"]["long_check"])["all"][1]
    checks.that(fitted["error_events"] == 0 and width < 0.6 * width_before, f"{sequence}: width of p {width:.2f} %, {width_before:.2f} % before")
    checks.that(alone["chi2"][0]["tracks"] > 0, f"{sequence}: the check has the chi2 of {alone['chi2'][0]['tracks']} tracks")

# six events
need_data()
six, six_before = (bins(run(graph, SIX)["results"]["long_check"]) for graph in ("kalman.yaml", "forward_then_matching.yaml"))
for name, (tracks, width, median, b) in six.items():
    if tracks < 10:
        continue
    width_before, median_before = six_before[name][1:3]
    error = sqrt(error_of_width(width, tracks) ** 2 + error_of_width(width_before, tracks) ** 2)
    checks.that(width <= width_before + error, f"six events, {name}: width of p {width:.2f} %, {width_before:.2f} % before, error {error:.2f}")
    print(f"        median {median:.2f} %, {median_before:.2f} % before, {tracks} tracks")
checks.end()
