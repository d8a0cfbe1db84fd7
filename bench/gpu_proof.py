#!/usr/bin/env python3
"""The same bits on a GPU as on a CPU: digests of all outputs of the VELO graphs, of hits and tracks in the UT
and the SciFi, of long tracks found in both ways, of the calorimeter, in the muon chambers, of pairs, decisions and
reports of all sequences of the trigger, of both vertex finders and of luminosity summaries, one factor varied at a time:
blocks, slices, slots, guard and, on a GPU, branches (up to four unless a case sets them).

    bench/gpu_proof.py [--device cuda] [--quick]

Prints a row a case: digests of the outputs on the cpu, and whether the device's are the same. Exits with 1 if any
differ. `bench/gpu_proof.py --device simt --quick` does the same with the emulator.
"""
import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/graphs"))
import mdf  # noqa: E402
from common import MANY, SIX, call, need_data, run  # noqa: E402

NODES = ("clusters", "search", "filter", "tracks", "fit")
LUMINOSITY_NODES = (*NODES, "pv", "scifi_hits", "muon_tiles", "muon_hits", "muon_stubs", "calo_cells", "calo_sums", "odin", "luminosity", "summaries")
UT_NODES = ("ut_hits", "ut_selected", "ut_windows", "ut_search", "ut_tracks")
FORWARD_NODES = ("scifi_hits", "forward_inputs", "forward_windows", "forward_triplets", "forward_candidates", "forward_best",
                 "forward_tracks")
MUON_NODES = ("muon_tiles", "muon_hits", "muons", "muon_stubs")
SEEDING_NODES = ("scifi_hits", "xz_candidates", "xz_tracks", "seed_stereo", "seeds")
CALO_NODES = ("calo_cells", "calo_sums", "calo_clusters", "electrons", "bremsstrahlung")
MATCHING_NODES = ("scifi_hits", "seed_xz", "seed_clones", "seed_stereo", "seeds", "matches", "matched_tracks")
UT_MATCHING_NODES = (*MATCHING_NODES, "ut_hits", "ut_matches")
COMBINED_NODES = (*UT_NODES, *FORWARD_NODES, *MATCHING_NODES, "ut_matches", "hits_left", "velo_left", "long_ut_tracks", "long_tracks")
PARTICLE_NODES = (*UT_NODES, *FORWARD_NODES, "muon_tiles", "muon_hits", "muons", "calo_cells", "electrons", "bremsstrahlung", "pv", "long_states", "particles")
LINE_NODES = ("muon_stubs", "calo_clusters", "dihadron", "dilepton", "v0", "v0_pairs", "scores", "Hlt1TrackMVA", "Hlt1TwoTrackMVA", "Hlt1TwoKs",
              "Hlt1Bs2GammaGamma", "Hlt1BeamGas", "Hlt1OneMuonTrackLine", "decide", "dec_reports", "routing_bits", "sel_reports")
SELECTION_NODES = (*PARTICLE_NODES, "gec", *LINE_NODES)
FINDERS = ("pv.beamline", "pv.annealing")


def digests(graph, sample, *arguments):
    return [o["digest"] for o in run(graph, sample, "--digest", *arguments)["outputs"]]


def shuffled_copy(path, count):
    """`count` records of the 300-event file, in an order that scatters them."""
    records = list(mdf.records(MANY))
    with open(path, "wb") as out:
        for i in range(count):
            out.write(records[i * 7919 % 10007 % len(records)])


def blocks(threads, nodes=NODES):
    return [word for node in nodes for word in ("--set", f"{node}.block={threads}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    need_data()
    failures = cases = 0
    has_branches = options.device.startswith(("cuda", "hip"))

    def compare(name, graph, sample, expected, *arguments):
        nonlocal failures, cases
        found = digests(graph, sample, "--device", options.device, *arguments)
        cases += 1
        failures += found != expected
        print(f"{name:44} {' '.join(expected)}  {'same' if found == expected else 'DIFFERENT: ' + ' '.join(found)}", flush=True)

    print(f"{'case':44} {'tracks':16} {'beam-line states':16} {'end states':16}  {options.device}")
    for graph, label in (("velo.yaml", "retina"), ("velo_superpixels.yaml", "super-pixels")):
        expected = digests(graph, SIX)
        compare(f"six events, {label}", graph, SIX, expected)
        for threads in (32, 64, 128, 256):
            compare(f"six events, {label}, blocks of {threads}", graph, SIX, expected, *blocks(threads))
    expected = digests("velo_ut.yaml", SIX)
    compare("six events, UT", "velo_ut.yaml", SIX, expected)
    for threads in (32, 64, 128, 256):
        compare(f"six events, UT, blocks of {threads}", "velo_ut.yaml", SIX, expected, *blocks(threads, UT_NODES))
    for events in (1, 2, 5):
        compare(f"six events, UT, slices of {events}", "velo_ut.yaml", SIX, expected, "--slice-events", events)
    compare("six events, UT, --guard, 3 slots", "velo_ut.yaml", SIX, expected, "--guard", "--slots", 3, "--slice-events", 2)
    for graph, label, nodes in (("forward.yaml", "forward", FORWARD_NODES), ("forward_no_ut.yaml", "forward without UT", FORWARD_NODES),
                                ("seeding.yaml", "seeding", SEEDING_NODES), ("matching.yaml", "matching", UT_MATCHING_NODES),
                                ("matching_no_ut.yaml", "matching without UT", MATCHING_NODES),
                                ("forward_then_matching.yaml", "forward, matching", COMBINED_NODES),
                                ("calo.yaml", "calorimeter", CALO_NODES), ("muon.yaml", "muons", MUON_NODES),
                                ("selections.yaml", "selections", SELECTION_NODES),
                                ("hlt1_pp_no_ut.yaml", "trigger without UT", (*FORWARD_NODES, *LINE_NODES)),
                                ("hlt1_pp_matching.yaml", "trigger, matching", (*UT_MATCHING_NODES, *LINE_NODES)),
                                ("hlt1_pp_matching_no_ut.yaml", "trigger, matching without UT", (*MATCHING_NODES, *LINE_NODES)),
                                ("hlt1_pp_forward_then_matching.yaml", "trigger, both", (*COMBINED_NODES, *LINE_NODES))):
        expected = digests(graph, SIX)
        compare(f"six events, {label}", graph, SIX, expected)
        for threads in (32, 64, 128, 256):
            compare(f"six events, {label}, blocks of {threads}", graph, SIX, expected, *blocks(threads, nodes))
        for events in (1, 2, 5):
            compare(f"six events, {label}, slices of {events}", graph, SIX, expected, "--slice-events", events)
        compare(f"six events, {label}, --guard, 3 slots", graph, SIX, expected, "--guard", "--slots", 3, "--slice-events", 2)
        for branches in (1, 2, 8) if has_branches else ():
            in_branches = ("--set", f"runtime.branches={branches}")
            compare(f"six events, {label}, branches {branches}", graph, SIX, expected, *in_branches)
            compare(f"six events, {label}, branches {branches}, slices of 2", graph, SIX, expected, *in_branches, "--slice-events", 2, "--slots", 2)
        if has_branches:
            compare(f"six events, {label}, 4 branches, --profile", graph, SIX, expected, "--set", "runtime.branches=4", "--profile")
    if not options.quick:
        expected = digests("velo.yaml", MANY)
        compare("300 events", "velo.yaml", MANY, expected)
        for threads in (32, 64, 128, 256):
            compare(f"300 events, blocks of {threads}", "velo.yaml", MANY, expected, *blocks(threads))
        for events in (1, 2, 7, 32, 100, 300, 10000):
            compare(f"300 events, slices of {events}", "velo.yaml", MANY, expected, "--slice-events", events)
        for slots in (1, 2, 3, 4, 8, 16):
            compare(f"300 events, {slots} slots, slices of 10", "velo.yaml", MANY, expected, "--slots", slots, "--slice-events", 10)
        compare("300 events, budgets that overflow", "velo.yaml", MANY, expected, "--slice-events", 100,
                "--set", "search.candidates_per_event=1", "--set", "tracks.hits_per_event=1")
        compare("300 events, --guard", "velo.yaml", MANY, expected, "--guard")
        with tempfile.TemporaryDirectory() as folder:
            many = Path(folder) / "shuffled.mdf"
            shuffled_copy(many, 10000)
            expected = digests("velo.yaml", many, "--slots", 4)
            for events in (500, 1000, 2000, 10000):
                compare(f"10,000 events shuffled, slices of {events}", "velo.yaml", many, expected, "--slice-events", events)
            compare("10,000 events shuffled, 16 slots", "velo.yaml", many, expected, "--slice-events", 500, "--slots", 16)
    algorithms = call("list", "--algorithms").stdout
    for finder in FINDERS:
        if finder.split(".")[1] not in algorithms:
            print(f"{finder} is not in this build: left out")
            continue
        use = ("--use", f"pv={finder}")
        expected = digests("pv.yaml", SIX, *use)
        compare(f"six events, {finder}", "pv.yaml", SIX, expected, *use)
        for threads in (32, 64, 128, 256, 512):
            compare(f"six events, {finder}, blocks of {threads}", "pv.yaml", SIX, expected, *use, *blocks(threads, ("pv",)))
        if options.quick:
            continue
        expected = digests("pv.yaml", MANY, *use)
        for threads in (32, 64, 128, 256, 512):
            compare(f"300 events, {finder}, blocks of {threads}", "pv.yaml", MANY, expected, *use, *blocks(threads, ("pv",)))
        for events in (1, 7, 100, 10000):
            compare(f"300 events, {finder}, slices of {events}", "pv.yaml", MANY, expected, *use, "--slice-events", events)
        for slots in (2, 8):
            compare(f"300 events, {finder}, {slots} slots", "pv.yaml", MANY, expected, *use, "--slots", slots, "--slice-events", 10)
        compare(f"300 events, {finder}, --guard", "pv.yaml", MANY, expected, *use, "--guard")
    print(f"\n{'luminosity: case':44} {'summaries':16} {'list':16}  {options.device}")
    events = ("-n", 60) if options.quick else ()
    every = ("--set", "luminosity.event_types=0")
    expected = digests("hlt1_pp_default.yaml", SIX, *every)
    compare("six events, all in the trigger", "hlt1_pp_default.yaml", SIX, expected, *every)
    for threads in (32, 64, 128, 256):
        compare(f"six events, all in the trigger, blocks of {threads}", "hlt1_pp_default.yaml", SIX, expected, *every,
                *blocks(threads, (*SELECTION_NODES, "calo_sums", "summaries")))
    for label, sample, more in (("15 of 300 events", MANY, events), ("all events", MANY, (*events, *every)), ("six events", SIX, every)):
        expected = digests("lumi.yaml", sample, *more)
        compare(label, "lumi.yaml", sample, expected, *more)
        for threads in (32, 64, 128, 256):
            compare(f"{label}, blocks of {threads}", "lumi.yaml", sample, expected, *more, *blocks(threads, LUMINOSITY_NODES))
        for count in (1, 7, 100):
            compare(f"{label}, slices of {count}", "lumi.yaml", sample, expected, *more, "--slice-events", count)
        for slots in (2, 4, 16):
            compare(f"{label}, {slots} slots, slices of 10", "lumi.yaml", sample, expected, *more, "--slots", slots, "--slice-events", 10)
    print(f"{cases - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
