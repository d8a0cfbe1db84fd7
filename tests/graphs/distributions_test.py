#!/usr/bin/env python3
"""The histograms of graphs/velo_distributions.yaml agree with the events, and scripts/distributions shows them."""
import subprocess
import tempfile
from pathlib import Path

from common import BRIEF, DATA, MANY, ROOT, SIX, SLUICE, Checks, run, run_simulated

checks = Checks()


def histograms(done):
    found = done["results"]["distributions"]
    checks.that(found["malformed_events"] == 0 and found["events"] == done["events"],
                f"all {done['events']} events are used")
    return {h["name"]: h for h in found["histograms"]}


def total(histogram):
    return round(histogram["mean"] * histogram["entries"])


def check_sums(name, found):
    for h in found.values():
        checks.that(h["entries"] == h["below"] + h["above"] + sum(h["counts"]),
                    f"{name}: {h['name']}: each entry is in a bin, below or above")
    checks.that(total(found["clusters"]) == found["radii"]["entries"] == found["modules"]["entries"],
                f"{name}: numbers of clusters agree")
    checks.that(total(found["tracks"]) == found["track_hits"]["entries"], f"{name}: numbers of tracks agree")
    checks.that(total(found["superpixels"]) == found["pixels_per_superpixel"]["entries"],
                f"{name}: numbers of super-pixels agree")
    checks.that(total(found["pixels"]) == total(found["pixels_per_superpixel"]), f"{name}: numbers of pixels agree")
    checks.that(total(found["particles"]) == found["particle_pt"]["entries"], f"{name}: numbers of particles agree")
    calo = sum(total(found[f"ecal_clusters_{area}"]) for area in ("outer", "middle", "inner"))
    checks.that(calo == found["ecal_cluster_et"]["entries"] == found["ecal_cluster_seed"]["entries"],
                f"{name}: numbers of ECAL clusters agree")
    checks.that(found["ecal_adc"]["entries"] == 6016 * found["ecal_energy"]["entries"], f"{name}: all cells are read")
    for h in ("ut_layer", "ut_x", "ut_strips", "ut_adc", "ut_parents"):
        checks.that(total(found["ut_clusters"]) == found[h]["entries"], f"{name}: {h}: numbers of UT clusters agree")
    for h in ("muon_area", "muon_time"):
        checks.that(total(found["muon_tiles"]) == found[h]["entries"], f"{name}: {h}: numbers of muon tiles agree")
    checks.that(total(found["ut_particles"]) == found["ut_particle_hits"]["entries"],
                f"{name}: numbers of particles in the UT agree")
    for h in ("scifi_layer", "scifi_x", "scifi_size", "scifi_parents"):
        checks.that(total(found["scifi_clusters"]) == found[h]["entries"], f"{name}: {h}: numbers of SciFi clusters agree")
    checks.that(found["scifi_fraction"]["entries"] == found["scifi_size"]["counts"][4], f"{name}: small clusters have a fraction")
    checks.that(total(found["scifi_particles"]) == found["scifi_particle_hits"]["entries"],
                f"{name}: numbers of particles in the SciFi agree")


simulated = histograms(run_simulated("velo_distributions.yaml", "-n", 60))
judged = run_simulated("velo.yaml", "-n", 60)["results"]["check"]
category = {c["name"]: c["reconstructible"] for c in judged["categories"]}
check_sums("simulated", simulated)
checks.that(total(simulated["tracks"]) == judged["tracks"], "the number of tracks is that of truth.velo_check")
checks.that(simulated["long_pt"]["entries"] == category["long"], "the number of long particles is that of truth.velo_check")
checks.that(simulated["particle_pt"]["entries"] - simulated["electron_eta"]["entries"] == category["all eta, not e"],
            "the number of other particles is that of truth.velo_check")
checks.that(simulated["ut_clusters"]["entries"] == 60 and simulated["ut_clusters"]["mean"] > 300,
            "simulated events have UT banks")
checks.that(simulated["muon_tiles"]["entries"] == 60 and 150 < simulated["muon_tiles"]["mean"] < 350,
            "simulated events have muon tiles")
version_3 = histograms(run_simulated("velo_distributions.yaml", "-n", 60, "--set", "raw.muon_version=3",
                                     "--set", "muon_geometry.format=3"))
check_sums("muon banks of version 3", version_3)
checks.that(0.9 < version_3["muon_tiles"]["mean"] / simulated["muon_tiles"]["mean"] < 1.05,
            "nearly as many muon tiles if more regions are read out by pads")
version_4 = histograms(run_simulated("velo_distributions.yaml", "-n", 60, "--set", "raw.ut_version=4"))
check_sums("version 4", version_4)
checks.that(0.95 < version_4["ut_clusters"]["mean"] / simulated["ut_clusters"]["mean"] <= 1,
            "UT banks of version 4 have as many clusters or slightly fewer, because long clusters are not split")
checks.that(simulated["scifi_clusters"]["entries"] == 60 and simulated["scifi_clusters"]["mean"] > 1000,
            "simulated events have SciFi banks")
for version in () if BRIEF else (4, 6, 7, 8):
    other = histograms(run_simulated("velo_distributions.yaml", "-n", 60, "--set", f"raw.scifi_version={version}"))
    check_sums(f"SciFi banks of version {version}", other)
    checks.that(1 < other["scifi_clusters"]["mean"] / simulated["scifi_clusters"]["mean"] < (1.3 if version == 4 else 1.1),
                f"SciFi banks of version {version} also have the first pieces of wide clusters")
for version in () if BRIEF else (4, 5):
    other = histograms(run_simulated("velo_distributions.yaml", "-n", 60, "--set", f"raw.calo_version={version}"))
    checks.that(other == simulated, f"calorimeter banks of version {version} give equal histograms")
checks.that(3 < simulated["vertices"]["mean"] < 7, "the number of vertices is that of the simulated collisions")

if MANY.exists() and SIX.exists():
    # Numbers of clusters in the banks of the samples; numbers of tracks of an independent implementation.
    for name, sample, clusters, tracks in (("300 events", MANY, 576590, 75805), ("six events", SIX, 10975, 1435)):
        found = histograms(run("velo_distributions.yaml", sample))
        check_sums(name, found)
        checks.that(total(found["clusters"]) == clusters and total(found["tracks"]) == tracks,
                    f"{name}: {clusters} clusters, {tracks} tracks")
    checks.that(total(found["ut_clusters"]) == 6295 and found["ut_parents"]["counts"][0] == 401,
                "six events: 6295 UT clusters, 401 of them without a true particle")
    checks.that(total(found["muon_tiles"]) == 1421 and found["muon_area"]["counts"][0] == 413,
                "six events: 1421 muon tiles, 413 in M2 R1")
    checks.that(total(found["ut_bytes"]) + 6 * 180 * 8 == 41624, "six events: bytes of UT banks")
    checks.that(total(found["scifi_clusters"]) == 20261 and found["scifi_parents"]["counts"][0] == 2614,
                "six events: 20261 SciFi clusters, 2614 of them without a true particle")
    checks.that(total(found["scifi_bytes"]) == 51620, "six events: bytes of SciFi banks")
    # Numbers of clusters of an independent implementation; energy from an independent decoding of the banks.
    checks.that(found["ecal_cluster_et"]["entries"] == 552, "six events: 552 clusters of the ECAL")
    checks.that(abs(6e6 * found["ecal_energy"]["mean"] - 6013131) < 300, "six events: their energy is 6.013 TeV")
    checks.that(found["pixels"]["entries"] == 6 and found["vertices"]["mean"] > 4,
                "six events: they have super-pixels and vertices")
else:
    print(f"skipped: the samples are absent in {DATA}")

with tempfile.TemporaryDirectory() as folder:
    plot = Path(folder) / "plot.svg"
    has_matplotlib = subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"],
                                    capture_output=True).returncode == 0
    arguments = ["-o", plot] if has_matplotlib else []
    done = subprocess.run([ROOT / "scripts/distributions", "-n", "40", "--sluice", SLUICE, "--data", DATA, *arguments],
                          capture_output=True, text=True)
    checks.that(done.returncode == 0 and "VELO tracks per event" in done.stdout,
                f"the script prints a table {done.stderr}")
    if has_matplotlib:
        checks.that(plot.exists() and plot.read_text().count("<g id=\"axes_") == -(-len(simulated) // 4) * 4 + 2,
                    "the script draws each histogram, the ratios and the rates")
    else:
        print("skipped: the plot needs python3-matplotlib")
checks.end()
