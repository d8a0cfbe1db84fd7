#!/usr/bin/env python3
"""Clusters, electrons and photons in the calorimeter: simulated events with banks of each version, compared with truth, and
electrons of six sample events."""
import tempfile
from pathlib import Path

from common import ROOT, SIX, Checks, call, need_data, run, run_simulated

checks = Checks()


def row(rows, name):
    return next(r for r in rows if r["name"] == name)


def calls(result, sort, name="all", key="identified_electrons"):
    found = row(result["momentum_bins"], name)[sort]
    return found[key], found["tracks"]


# Clusters do not depend on the version of banks and on slices.
events = {version: run_simulated("photons.yaml", "-n", 200, "--digest", "--set", f"raw.calo_version={version}") for version in (2, 4, 5)}
for version in (4, 5):
    checks.that(events[version]["outputs"] == events[2]["outputs"] and events[version]["error_events"] == 0, f"version {version}: cells and clusters as with version 2")
tight = run_simulated("photons.yaml", "-n", 200, "--digest", "--slice-events", 200, "--set", "calo_clusters.clusters_per_event=1")
checks.that(tight["retries"] > 0 and tight["outputs"] == events[2]["outputs"], f"a tight budget: {tight['retries']} slices run again in parts, clusters unchanged")

# Photons and pi0 have clusters.
found = events[2]["results"]["photon_check"]
for name, least, width in (("0.2 to 0.5 GeV", 0.9, 0.7), ("0.5 to 1 GeV", 0.97, 0.45), ("1 to 2 GeV", 0.97, 0.35)):
    photons = row(found["photons"], name)
    checks.that(photons["photons"] > 100 and photons["efficiency"] > least and photons["energy_width"] < width,
                f"photons of {name}: {photons['found']} of {photons['photons']}, energy to {photons['energy_width']:.3f}")
alone = run_simulated("photons.yaml", "-n", 200, "--set", "raw.calo_background=0")["results"]["photon_check"]
photons = row(alone["photons"], "1 to 2 GeV")
checks.that(photons["energy_width"] < 0.15 and abs(photons["energy_median"]) < 0.05, f"without background: energy to {photons['energy_width']:.3f}, median {photons['energy_median']:.3f}")
pi0 = run_simulated("photons.yaml", "-n", 600)["results"]["photon_check"]["pi0"]
checks.that(pi0["count"] > 200 and pi0["found"] > 0.25 * pi0["count"] and abs(pi0["mass_median"] - 136) < 8 and pi0["mass_width"] < 25,
            f"pi0: {pi0['found']} of {pi0['count']}, mass {pi0['mass_median']:.1f} +- {pi0['mass_width']:.1f} MeV")

# Reading photons does not change a file that is written in the same graph.
with tempfile.TemporaryDirectory() as folder:
    plain, with_photons = Path(folder) / "plain.mdf", Path(folder) / "photons.mdf"
    graph = Path(folder) / "photons.yaml"
    graph.write_text(f"sluice: 1\ndescription: photons and a file\ninclude: [{ROOT / 'graphs/simulate.yaml'}, {ROOT / 'graphs/photons.yaml'}]\n")
    call("run", ROOT / "graphs/simulate.yaml", "-n", 10, "-o", plain, "--quiet")
    call("run", graph, "-n", 10, "-o", with_photons, "--quiet")
    checks.that(plain.read_bytes() == with_photons.read_bytes(), "a file of events does not change if photons are read")

# Electrons among long tracks, by the network and by E/p.
WITHOUT_NETWORK = ("--with", ROOT / "graphs/variants/lhcb_electrons.yaml")
result = run_simulated("calo.yaml", "-n", 600)["results"]["electron_check"]
electrons, hadrons = calls(result, "electrons"), calls(result, "hadrons")
checks.that(electrons[1] > 240 and electrons[0] > 0.85 * electrons[1], f"{electrons[0]} of {electrons[1]} electrons are found")
checks.that(hadrons[1] > 9000 and hadrons[0] < 0.03 * hadrons[1], f"{hadrons[0]} of {hadrons[1]} hadrons are identified as electrons")
by_e_over_p = run_simulated("calo.yaml", "-n", 600, *WITHOUT_NETWORK)["results"]["electron_check"]
for sort in ("electrons", "hadrons", "ghosts"):
    found = calls(by_e_over_p, sort)
    checks.that(found == calls(by_e_over_p, sort, key="by_e_over_p") == calls(result, sort, key="by_e_over_p"), f"without the network {found[0]} of {found[1]} {sort}: those above the limit of E/p")
# With the requirement that finds as many electrons as E/p, the network identifies fewer hadrons.
tight = run_simulated("calo.yaml", "-n", 600, "--set", "electrons.min_score=0.77")["results"]["electron_check"]
checks.that(calls(tight, "electrons")[0] >= calls(by_e_over_p, "electrons")[0] and calls(tight, "hadrons")[0] < 0.7 * calls(by_e_over_p, "hadrons")[0],
            f"with a tight requirement: {calls(tight, 'electrons')[0]} electrons (E/p: {calls(by_e_over_p, 'electrons')[0]}), {calls(tight, 'hadrons')[0]} hadrons ({calls(by_e_over_p, 'hadrons')[0]})")
without, photons = result["momentum"], result["momentum_with_photons"]
checks.that(abs(photons["median"]) < abs(without["median"]) and photons["width"] < without["width"],
            f"momenta of electrons: median {without['median']:.3f}, {photons['median']:.3f} with bremsstrahlung; width {without['width']:.3f}, {photons['width']:.3f}")

need_data()
for arguments, expected in (((), ((5, 7), (3, 164), (3, 8))), (WITHOUT_NETWORK, ((5, 7), (4, 164), (3, 8)))):
    six = run("calo.yaml", SIX, *arguments)
    result = six["results"]["electron_check"]
    checks.that(six["error_events"] == 0 and result["tracks"] == 198, f"six events: {result['tracks']} tracks")
    found = tuple(calls(result, sort) for sort in ("electrons", "hadrons", "ghosts"))
    checks.that(found == expected, f"six events{', without the network' if arguments else ''}: electrons, hadrons, ghosts {found}")
checks.end()
