#!/usr/bin/env python3
"""A graph of about NODES nodes, for `sluice check` and `sluice plan`: VELO reconstructions beside each other.

    bench/wide_graph.py 1000 > wide.yaml; time sluice plan wide.yaml
    bench/wide_graph.py 1000 --by-stage > wide.yaml     # all decoders, then all searches, ...: everything lives at once
"""
import argparse
from pathlib import Path

RAW = Path(__file__).resolve().parent.parent / "graphs" / "common" / "raw.yaml"
STAGES = [
    ("clusters", "velo.decode_retina", "banks: raw.velo_clusters"),
    ("search", "velo.search_by_triplet", "hits: clusters_{k}"),
    ("filter", "velo.three_hit_filter", "candidates: search_{k}, used: search_{k}, hits: clusters_{k}"),
    ("tracks", "velo.consolidate", "candidates: search_{k}, accepted: filter_{k}, hits: clusters_{k}"),
    ("fit", "velo.kalman_filter", "tracks: tracks_{k}"),
    ("pv", "pv.beamline", "beamline_states: fit_{k}.beamline_states"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int)
    parser.add_argument("--by-stage", action="store_true", help="one stage of all reconstructions after the other")
    options = parser.parse_args()
    copies = range(max(1, options.nodes // len(STAGES)))
    if options.by_stage:
        nodes = [(stage, k) for stage in STAGES for k in copies]
    else:
        nodes = [(stage, k) for k in copies for stage in STAGES]
    print(f"sluice: 1\ndescription: {len(copies)} VELO reconstructions side by side\ninclude: [{RAW}]\nnodes:")
    print('  geometry: { use: velo.geometry, set: { path: "${geometry}" } }')
    for (name, use, wiring), k in nodes:
        print(f"  {name}_{k}: {{ use: {use}, in: {{ {wiring.format(k=k)} }} }}")
    print(f"outputs: [{', '.join(f'pv_{k}' for k in copies)}]")


if __name__ == "__main__":
    main()
