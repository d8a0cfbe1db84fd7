#!/usr/bin/env python3
"""Hits in the muon chambers, muons among long tracks, and muon stubs: six sample events and simulated events with banks of both
versions, compared with Monte Carlo truth."""
from common import ROOT, SIX, Checks, call, need_data, run, run_simulated

checks = Checks()
# Digests of 40 events: tiles, hits, flags, scores, stubs.
GOLDEN = {2: ['128e8df0efe85c0b', '084ddbe2cd0ed96b', '0a53dddbf7d9a978', '1ee0f6641f4f12f5', '01f8399dff8de64f'],
          3: ['1ecc83e2cf6a6b97', '0002d9bf94f43d8b', '0e046011d4a5faf2', '1c8a69e4f8c0fc67', '173eaf83bd7dfd14']}
VERSIONS = {2: (), 3: ("--set", "raw.muon_version=3", "--set", "muon_geometry.format=3")}


def digests(result):
    return [output["digest"] for output in result["outputs"]]


def simulated(*arguments):
    return run_simulated("muon.yaml", "-n", 40, "--digest", *arguments)


def kind(result, name, momentum="p > 3 GeV"):
    found = next(k for k in result["results"]["muon_check"]["kinds"] if k["name"] == name)
    return next(b for b in found["momentum"] if b["name"] == momentum)


text = call("--version").stdout
race = [] if "sanitizers" in text else ["--race"]  # not available in builds with sanitizers
for version, sets in VERSIONS.items():
    events = simulated(*sets)
    checks.that(digests(events) == GOLDEN[version], f"version {version}: digests {digests(events)}")
    checks.that(events["error_events"] == 0 and all(output["items"] for output in events["outputs"]), f"version {version}: no event is refused")
    if "simt" in text:
        simt = simulated("--device", "simt", *race, *sets)
        checks.that(simt["outputs"] == events["outputs"] and not simt["error_events"], f"version {version}: the emulator gives equal results, without a race")

# Budgets that are so low that slices are run again in parts.
many = ("-n", 200, "--slice-events", 200)
sound, tight = simulated(*many), simulated(*many, "--set", "muon_tiles.tiles_per_event=1", "--set", "muon_hits.hits_per_event=1")
checks.that(tight["retries"] > 0 and tight["outputs"] == sound["outputs"] and tight["error_events"] == 0,
            f"tight budgets: {tight['retries']} slices run again in parts, results unchanged")

# Events with banks of a version that the map of the geometry does not fit are refused, and the message names a bank.
done = call("run", ROOT / "graphs/muon.yaml", "-n", 3, "--set", "raw.muon_version=3", expect=1)
checks.that("a muon bank is wrong: the geometry's map of channels is for another version of banks (detail: its source id)" in done.stderr,
            f"banks of version 3 without their map are refused: {done.stderr.splitlines()[0]}")

# Muons of J/psi, and pions.
signal = run_simulated("muon.yaml", "-n", 300, "--set", "raw.signal=Jpsi_mumu")
muons, pions = kind(signal, "muons"), kind(signal, "pions")
checks.that(muons["tracks"] > 300 and muons["rate"] > 0.85, f"J/psi: {muons['muons']} of {muons['tracks']} muons are found")
checks.that(pions["tracks"] > 5000 and pions["rate"] < 0.15, f"J/psi: {pions['muons']} of {pions['tracks']} pions are identified as muons")
for name in ("muons", "pions"):
    slow = kind(signal, name, "p < 3 GeV")
    checks.that(slow["rate"] < 0.02, f"J/psi: {slow['muons']} of {slow['tracks']} {name} below 3 GeV are identified, with a measured momentum above 3 GeV")

share = {name: {key: kind(signal, name)[key]["share"] for key in ("min_score", "max_chi2_correlated")} for name in ("muons", "pions")}
checks.that(share["muons"]["min_score"] > 0.85 and share["pions"]["min_score"] < 0.2, f"J/psi: share of identified muons and pions that the network accepts: {share}")
checks.that(share["muons"]["max_chi2_correlated"] > 0.95 and share["pions"]["max_chi2_correlated"] < 0.5, "J/psi: most muons, and fewer pions, pass the requirement on chi2")

# Sample events: the number of hits is that of an independent program, and so is the number of muons, with nearly equal tracks.
need_data()
six = run("muon.yaml", SIX, "--digest")
items = {output["port"]: output["items"] for output in six["outputs"]}
checks.that((items["muon_tiles"], items["muon_hits"], items["muon_stubs"]) == (1421, 1430, 5), f"six events: {items}")
counted = {k["name"]: sum(b["muons"] for b in k["momentum"][:-1]) for k in six["results"]["muon_check"]["kinds"]}
checks.that(sum(counted.values()) == 7 and counted["muons"] == 0, f"six events: muons among {items['muons']} tracks: {counted}")
checks.end()
