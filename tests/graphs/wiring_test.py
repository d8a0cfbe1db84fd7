#!/usr/bin/env python3
"""An unrelated node does not change other nodes: the digest of the summaries of simulated luminosity events stays the same if a
second filter is added."""
import tempfile
from pathlib import Path

from common import ROOT, Checks, run_simulated

GRAPH = """
sluice: 1
include: [{graph}]
nodes:
  luminosity: null
  gec: {{ use: odin.filter, set: {{ crossing_types: 8 }} }}
  summaries: {{ use: lumi.summarize, events: [], in: null }}
  {more}
outputs: [summaries, gec{outputs}]
"""


def summaries_digest(more="", outputs=""):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.yaml"
        path.write_text(GRAPH.format(graph=ROOT / "graphs/velo_pv.yaml", more=more, outputs=outputs))
        summary = run_simulated(path, "-n", 200, "--set", "raw.luminosity_fraction=1", "--digest")
        return next(output["digest"] for output in summary["outputs"] if output["port"] == "summaries")


checks = Checks()
alone = summaries_digest()
with_other = summaries_digest("other: { use: odin.filter, set: { crossing_types: 1 } }", ", other")
checks.that(alone is not None and alone == with_other, f"digest of summaries: {alone} with one filter, {with_other} with two")
checks.end()
