"""Lines over tracks, stubs, clusters and events on recorded objects, for reference_test.py."""
import csv
import itertools
import sys
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, SIX, call
from recorded_lines import BYTE, UINT, bits_of, compare_decisions

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "calo"))
from sample_cells import with_cells  # noqa: E402

STATES = "x y z tx ty c00 c20 c22 c11 c31 c33".split()


def offsets_of(counts):
    return [0, *itertools.accumulate(counts)]


def velo_columns(events, beam):
    """States of VELO tracks, their numbers of hits, and the calorimeter energy in their direction."""
    tracks = [track for event in events for track in event["velo_tracks"]]
    states = {"offsets": offsets_of(len(event["velo_tracks"]) for event in events), "backward": [track["backward"] for track in tracks]}
    states |= {field: [track["beamline_state"][field] for track in tracks] for field in STATES}
    radiated = with_cells("bremsstrahlung", "pedestal xy gain to_local planes cell_size")
    for field in "x y z tx ty".split():
        radiated.give("beamline_states", field, states[field])
    radiated.give("beamline_states", "offsets", states["offsets"], UINT)
    radiated.give("beamline_states", "backward", states["backward"], BYTE)
    radiated.run()
    bremsstrahlung = {"offsets": states["offsets"]} | {field: radiated.get("bremsstrahlung", field)[:len(tracks)] for field in ("energy", "et")}
    hits = {"offsets": states["offsets"], "hit_offsets": offsets_of(len(track["lhcbids"]) for track in tracks)}
    return {"states": states, "bremsstrahlung": bremsstrahlung, "tracks": hits, "geometry": {"beam": beam}}


def stub_columns():
    """Muon stubs that our graph finds; only their number is recorded."""
    with tempfile.TemporaryDirectory() as folder:
        graph, table = Path(folder) / "stubs.yaml", Path(folder) / "stubs.csv"
        graph.write_text(f"sluice: 1\ndescription: a table of stubs\ninclude: [{ROOT / 'graphs/muon_hits.yaml'}]\nnodes:\n"
                         f"  write: {{ use: output.csv_sink, set: {{ output: muon_stubs, path: {table} }} }}\noutputs: [muon_stubs]\n")
        call("run", graph, "-i", SIX, "--set", f"geometry={GEOMETRY}", "--quiet")
        return list(csv.DictReader(table.open()))


def stubs_of(events, rows):
    columns = {field: [float(row[field]) for row in rows] for field in "x y tx ty chi2_x chi2_y".split()}
    counts = [sum(int(row["event"]) == event["event"] for row in rows) for event in events]
    return columns | {"offsets": offsets_of(counts), "hit": [0] * (4 * len(rows))}, counts


def cluster_columns():
    made = with_cells("clusters", "pedestal neighbours xy gain")
    made.run()
    offsets = made.get("clusters", "offsets", UINT)
    return {"offsets": offsets} | {field: made.get("clusters", field)[:offsets[-1]] for field in "energy et x y highest_share".split()}


def particle_columns(particles, of_event, velo):
    """Columns of `particles`, with bremsstrahlung added."""
    first = velo["states"]["offsets"]
    places = [first[k] + track for k, tracks in enumerate(of_event) for track in tracks]
    columns = dict(particles)
    for corrected, plain, energy in (("p_corrected", "p", "energy"), ("pt_corrected", "pt", "et")):
        columns[corrected] = [value + velo["bremsstrahlung"][energy][place] for value, place in zip(particles[plain], places)]
    columns["velo_track"] = [track for tracks in of_event for track in tracks]
    return columns | {"offsets": offsets_of(map(len, of_event)), "made_by": [0]}


class TrackLines:
    """Inputs that are common to all sequences are made once."""

    def __init__(self, beam):
        self.beam, self.stubs, self.clusters = beam, stub_columns(), cluster_columns()

    def inputs(self, events, velo_events, particles, velo_tracks):
        """`velo_events`: events with VELO tracks and vertices; `velo_tracks`: VELO track of each long track, by event."""
        velo = velo_columns(velo_events, self.beam)
        stubs, self.stub_counts = stubs_of(events, self.stubs)
        long = {"candidates": particle_columns(particles, velo_tracks, velo)}
        reasons = {"event_type": [0] * len(events), "crossing_type": [3] * len(events), "orbit": [1] * len(events), "tae_index": [0] * len(events)}
        odin, states = {"reasons": reasons}, {"candidates": velo["states"]}
        displaced = {"beamline_states": velo["states"], "geometry": velo["geometry"]}
        photons = {"clusters": self.clusters, "vertices": {"offsets": offsets_of(len(event["pvs"]) for event in velo_events)}}
        return {"Hlt1TrackMVA": long, "Hlt1OneMuonTrackLine": {"candidates": stubs}, "Hlt1SingleHighPtMuon": long,
                "Hlt1SingleHighPtMuonNoMuID": long, "Hlt1LowPtMuon": long, "Hlt1TrackMuonMVA": long, "Hlt1TrackElectronMVA": long,
                "Hlt1SingleHighPtElectron": long, "Hlt1DisplacedLeptons": {"particles": long["candidates"]},
                "Hlt1SingleHighEt": states | {"bremsstrahlung": velo["bremsstrahlung"]}, "Hlt1Bs2GammaGamma": photons, "Hlt1Pi02GammaGamma": photons,
                "Hlt1Passthrough": {}, "Hlt1TAEPassthrough": odin, "Hlt1GECPassthrough": {}, "Hlt1ODINLumi": odin, "Hlt1ODIN1kHzLumi": odin,
                "Hlt1ODINNoBias": odin, "Hlt1VeloMicroBias": {"tracks": velo["tracks"]}, "Hlt1RICH1Alignment": long, "Hlt1RICH2Alignment": long,
                "Hlt1BeamGas": states | {"tracks": velo["tracks"], "crossings": {"crossing_type": reasons["crossing_type"]}},
                "Hlt1NVELODisplacedTrack": displaced, "Hlt1NMaterialVertexSeeds": displaced}

    def compare(self, checks, name, events, *columns):
        inputs = self.inputs(events, *columns)
        checks.that(self.stub_counts == [event["n_muon_stubs"] for event in events], f"{name}: numbers of stubs as recorded")
        fired, scaled = compare_decisions(checks, name, events, inputs)
        checks.that(scaled.get("Hlt1VeloMicroBias") == len(events), f"{name}: events that pass only without scales: {scaled}")
        nearer = {line: sum(map(bool, bits_of(line, inputs[line], events, min_distance=3.5))) for line in ("Hlt1NVELODisplacedTrack", "Hlt1NMaterialVertexSeeds")}
        checks.that(all(nearer.values()), f"{name}: events that pass with a minimum displacement of 3.5 mm: {nearer}")
        return fired
