#!/usr/bin/env python3
"""Rates at which events are read, or simulated, by the number of threads of the source (--source-threads).

    bench/source_threads.py [--threads 1,2,4,8] [--slice-events 1000] [--events 20000] [--device cpu] [--rounds 3]
                            [--samples simulated,six,300] [--data ../shared/data]

Files are read with and without checksums, by a graph that decodes the VELO's clusters; `making` simulates events
instead. The rate is that of the source alone (`source_hz`), with what it needs less: the best of the rounds, in which
configurations take turns. The digests of all numbers of threads must be the same. The largest number of threads should
not exceed the processors there are.
"""
import argparse
import tempfile
from pathlib import Path

import samples
from samples import ROOT

GRAPH = """sluice: 1
include: [{root}/graphs/common/raw.yaml]
nodes:
  geometry: {{ use: velo.geometry, set: {{ path: "${{geometry}}" }} }}
  clusters: {{ use: velo.decode_retina }}
outputs: [clusters]
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    samples.add_options(parser)
    parser.add_argument("--threads", default="1,2,4,8")
    parser.add_argument("--slice-events", type=int, default=1000)
    parser.add_argument("--events", type=int, default=20000, help="read of each sample; a fiftieth of it is simulated")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "read.yaml"
        graph.write_text(GRAPH.format(root=ROOT))
        kinds = {}
        for name in filter(None, options.samples.split(",")):
            sample = samples.find(name, options, folder)
            passes = options.events // sample["distinct"] + 1
            for checksum in ("false", "true"):
                kinds[f"{sample['name']}, checksums {'on' if checksum == 'true' else 'off'}"] = [
                    *sample["arguments"], "-n", options.events, "--set", f"raw.passes={passes}", "--set", f"raw.checksum={checksum}"]
        kinds["making"] = ["-n", max(1, options.events // 50)]
        measure(options, graph, kinds)


def measure(options, graph, kinds):
    threads = [int(count) for count in options.threads.split(",")]
    best, digests = {}, {}
    for _ in range(options.rounds):
        for kind, arguments in kinds.items():
            for count in threads:
                r = samples.run([options.sluice, "run", graph, *arguments, "--source-threads", count, "--device", options.device,
                                 "--slice-events", options.slice_events, "--digest", "--quiet", "--json", "-"])
                best[kind, count] = max(best.get((kind, count), 0), r["source_hz"])
                digests.setdefault(kind, set()).add(r["outputs"][0]["digest"])
    print(f"{'thousand events/s of the source':34}" + "".join(f"{count:>9}" for count in threads) + "  threads")
    for kind in kinds:
        rates = "".join(f"{best[kind, count] / 1e3:9.1f}" for count in threads)
        same = "the same digest" if len(digests[kind]) == 1 else "DIGESTS DIFFER"
        print(f"{kind:34}{rates}  {best[kind, threads[-1]] / best[kind, threads[0]]:.2f} times, {same}")


if __name__ == "__main__":
    main()
