#!/usr/bin/env python3
"""Each algorithm of the calorimeter, on the inputs that LHCb's first-level trigger had in six events, against the trigger's
outputs: cells, sums, clusters, and electrons among long tracks."""
import ctypes
import json
import lzma
import sys

from common import DATA, GEOMETRY, SIX, Checks

path = DATA / "lhcb/reference.json.xz"
for needed in (path, GEOMETRY, SIX):
    if not needed.exists():
        print(f"skipped: {needed} is absent")
        sys.exit(77)

from sample_cells import BYTE, CELLS, INT, LONG, NO_ADC, UINT, UNITS, USHORT, adc, with_cells  # noqa: E402

checks = Checks()
recorded = json.load(lzma.open(path))
sequences = {name: found["events"][:6] for name, found in recorded["sequences"].items()}

# Cells and sums, in all sequences.
sums = with_cells("energy_sums", "pedestal xy gain planes area_first")
sums.run()
cell_counts, adc_sums = sums.get("sums", "cells", UINT), sums.get("sums", "adc", INT)
for name, events in sequences.items():
    theirs = [(event["n_ecal_digits_valid"], event["ecal_adc_sum"]) for event in events]
    checks.that(theirs == list(zip(cell_counts, adc_sums)), f"{name}: cells and sums of their values {theirs}")
checks.that(adc.count(NO_ADC) == 0 and len(adc) == 6 * CELLS, "all cells are read out")

# Luminosity counters derived from the same sums.
scales = recorded["lumi_forced"]["shifts_and_scales"]
PARTS = ("OuterTop", "MiddleTop", "InnerTop", "OuterBottom", "MiddleBottom", "InnerBottom")
values = {"ECalET": sums.get("sums", "et", LONG), "ECalEtot": sums.get("sums", "energy", LONG)}
part_et = sums.get("sums", "part_et", LONG)
for i, part in enumerate(PARTS):
    values[f"ECalET{part}"] = part_et[i::6]
same = 0
for k, event in enumerate(recorded["lumi_forced"]["events"][:6]):
    for name, units in values.items():
        shift, scale = scales[name]
        same += int(shift + scale * units[k] / UNITS) == event["counters"][name]
checks.that(same == 48, f"{same} of 48 luminosity counters")

# Clusters.
clusters = with_cells("clusters", "pedestal neighbours xy gain")
clusters.run()
first = clusters.get("clusters", "offsets", UINT)
ours = list(zip(*(clusters.get("clusters", field, kind) for field, kind in (("cell", USHORT), ("energy", ctypes.c_float), ("et", ctypes.c_float),
                                                                            ("x", ctypes.c_float), ("y", ctypes.c_float)))))
found = 0
for name, events in sequences.items():
    checks.that([event["n_ecal_clusters"] for event in events] == [b - a for a, b in zip(first, first[1:])], f"{name}: equal numbers of clusters")
for k, event in enumerate(sequences["hlt1_pp_default"]):
    mine, theirs = ours[first[k]:first[k + 1]], event["ecal_clusters"]
    checks.that([c[0] for c in mine] == [c["center_id"] for c in theirs], f"event {event['event']}: {len(theirs)} clusters, in this order")
    energy = max(max(abs(c[1] / d["e"] - 1), abs(c[2] / d["et"] - 1)) for c, d in zip(mine, theirs))
    place = max(max(abs(c[3] - d["x"]), abs(c[4] - d["y"])) for c, d in zip(mine, theirs))
    checks.that(energy < 3e-7 and place < 1e-3, f"event {event['event']}: energies to {energy:.1e}, places to {place:.1e} mm")
    found += len(theirs)
checks.that(found == 552, f"{found} clusters")


# Electrons among the long tracks of each sequence; forward tracks come first.
def long_states(name, k):
    event, seeds = sequences[name][k], sequences[name][k].get("seeds", [])
    tracks = [(track["qop"], track["scifi_state"]) for track in event.get("forward_tracks", [])]
    return tracks + [(track["qop"], seeds[track["seed_index"]]["state"]) for track in event.get("matched_tracks", [])]


def electrons(name, shift=0.0):
    """Electron flags of this implementation and of the trigger; `shift` changes the limit."""
    tracks, offsets, theirs = [], [0], []
    for k, event in enumerate(sequences[name]):
        tracks += long_states(name, k)
        offsets.append(len(tracks))
        theirs += [track["is_electron"] for track in event["long_tracks"]]
    check = with_cells("electron_id", "pedestal neighbours xy gain to_local planes cell_size")
    check.give("tracks", "offsets", offsets, UINT)
    check.give("tracks", "qop", [qop for qop, _ in tracks])
    for field in ("x", "y", "tx", "ty"):
        check.give("tracks", field, [state[field] for _, state in tracks])
    check.set("min_e_over_p", 0.7 + shift)
    check.run()
    return check.get("electrons", "is_electron", BYTE)[:len(tracks)], theirs


for name, count in (("hlt1_pp_default", 11), ("hlt1_pp_veloSP", 11), ("hlt1_pp_matching", 23), ("hlt1_pp_forward_then_matching_no_gec", 25)):
    mine, theirs = electrons(name)
    checks.that(mine == theirs and sum(theirs) == count, f"{name}: {sum(mine)} electrons among {len(mine)} long tracks (theirs {sum(theirs)} of {len(theirs)})")
changed = [sum(a != b for a, b in zip(*electrons("hlt1_pp_forward_then_matching_no_gec", shift))) for shift in (-0.02, 0.02)]
checks.that(sum(changed) > 0, f"another limit of E/p changes {changed} of them")
checks.end()
