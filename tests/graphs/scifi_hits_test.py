#!/usr/bin/env python3
"""SciFi hits of six sample events, and of simulated events with banks of every version, compared with Monte Carlo truth."""
from common import SIX, Checks, call, need_data, run, run_simulated

checks = Checks()
VERSIONS = (4, 5, 6, 7, 8)
GOLDEN = {4: "1a59d124bfb183b3", 5: "1be6a97ff3b10983", 6: "1b701a27183c2f58", 7: "1b701a27183c2f58", 8: "1b701a27183c2f58"}


def check_of(result):
    return result["results"]["scifi_check"]


def all_are_found(name, result):
    found = check_of(result)
    checks.that(result["error_events"] == 0, f"{name}: no event is refused")
    checks.that(found["true_hits_found"] == found["true_hits"] > 0 and found["duplicate_hits"] == 0,
                f"{name}: {found['true_hits_found']} of {found['true_hits']} true hits, {found['duplicate_hits']} twice")
    return found


# Simulated events: all true hits in any version, and no channel twice. In version 4 a wide cluster is one hit per piece; in the
# other versions it is a single hit or one hit per piece, and version 5 omits the first piece.
events = {version: run_simulated("scifi_hits.yaml", "-n", 40, "--digest", "--set", f"raw.scifi_version={version}") for version in VERSIONS}
hits = {version: all_are_found(f"version {version}", result)["hits"] for version, result in events.items()}
checks.that(hits[4] > hits[6] > hits[5] > 40 * 2000, f"hits of versions 4, 6 and 5: {hits[4]}, {hits[6]}, {hits[5]}")
for version in VERSIONS:  # versions 6 to 8 give the same hits
    digest = events[version]["outputs"][0]["digest"]
    checks.that(digest == GOLDEN[version], f"version {version}: digest {digest}")
version = call("--version").stdout
if "simt" in version:
    race = [] if "sanitizers" in version else ["--race"]  # not available in builds with sanitizers
    simt = run_simulated("scifi_hits.yaml", "-n", 40, "--digest", "--device", "simt", *race, "--set", "raw.scifi_version=6")
    checks.that(simt["outputs"] == events[6]["outputs"] and not simt["error_events"], "the emulator gives equal hits, without a race")

shared = run_simulated("scifi_hits.yaml", "-n", 40, "--digest", "--set", "scifi_hits.variant=shared")
checks.that(shared["outputs"] == events[5]["outputs"], "the shared variant gives equal hits")

# Budgets that are so low that slices are run again in parts.
tight = run_simulated("scifi_hits.yaml", "-n", 40, "--digest", "--slice-events", 40, "--set", "scifi_hits.hits_per_event=1")
checks.that(tight["retries"] > 0 and tight["outputs"] == events[5]["outputs"] and tight["error_events"] == 0,
            f"a tight budget: {tight['retries']} slices run again in parts, hits unchanged")

# Sample events: the number of hits of an independent program, and each id of the truth. LHCb's trigger decoded version 5 as
# version 4, which loses a fifth of the ids.
need_data()
six = all_are_found("six events", run("scifi_hits.yaml", SIX))
checks.that((six["hits"], six["true_hits"]) == (20261, 17647), f"six events: {six['hits']} hits, {six['true_hits']} of the truth")
counts = [check_of(run("scifi_hits.yaml", SIX, "-n", n))["hits"] for n in range(1, 7)]
counts = [now - before for before, now in zip([0] + counts, counts)]
checks.that(counts == [6488, 2226, 2494, 3112, 3731, 2210], f"hits of the events: {counts}")
as_4 = check_of(run("scifi_hits.yaml", SIX, "--set", "scifi_hits.version_5_as_4=true"))
checks.that((as_4["hits"], as_4["true_hits_found"]) == (22200, 14411) and as_4["duplicate_hits"] == 0,
            f"version 5 as 4: {as_4['hits']} hits, {as_4['true_hits_found']} of the truth")
checks.end()
