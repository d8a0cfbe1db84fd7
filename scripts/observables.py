"""observables.py: numbers of an event that a simulation should reproduce, counted in the trigger: banks, hits, tracks, candidates,
and true particles. For scripts/distributions. Needs NumPy, and libsluice in SLUICE_LIBRARY.
"""
import numpy as np

GRAPH = """
sluice: 1
include: [{graphs}/hlt1_pp_default.yaml, {graphs}/common/seeds.yaml]
nodes:
  matches: null
  matched_tracks: null
  matching_constants: null
  truth: {{ use: truth.particles, events: gec }}
outputs: [gec.passed, raw.ut_clusters, raw.scifi_clusters, raw.muon_digits, raw.calo_digits,
          clusters, tracks, fit.beamline_states, pv, ut_hits, ut_windows, ut_tracks, scifi_hits, forward_windows, forward_candidates,
          forward_tracks, seed_xz, seed_clones, seeds, muon_tiles, muon_hits, muon_stubs, muons, calo_cells, calo_clusters, electrons,
          particles, dihadron, dilepton, v0, v0_pairs, truth]
"""
REFERENCE = "VELO clusters"
LONG, VELO, UT, SCIFI, BEAUTY, CHARM, STRANGE = 1, 4, 8, 16, 32, 64, 128  # flags of true particles
UT_LAYERS = (0, 2340, 2480, 2620, 1e9)  # mm: z between the layers


def items(collection):
    return np.diff(collection.offsets.astype(np.int64))


def sums(collection, weights):
    """Sum of a value per item, by event."""
    events = np.repeat(np.arange(len(collection.offsets) - 1), items(collection))
    return np.bincount(events, weights=weights, minlength=len(collection.offsets) - 1)


def bank_bytes(banks):
    return sums(banks, banks.size_bytes.astype(float))


def forward(states):
    return sums(states, (states.backward == 0) & (np.hypot(states.tx, states.ty) < 1 / np.sinh(2)))


def part(first, begin, end):
    first = first.astype(np.int64)
    return first[:, end] - first[:, begin]


def true(a, flags, electrons=False):
    t = a.truth
    return sums(t, ((t.flags & flags) == flags) & ((np.abs(t.pdg) == 11) == electrons))


OBSERVABLES = {
    "VELO clusters": lambda a: items(a.clusters),
    "VELO tracks": lambda a: items(a.tracks),
    "VELO tracks, eta > 2": lambda a: forward(a["fit.beamline_states"]),
    "vertices": lambda a: items(a.pv),
    "UT bytes": lambda a: bank_bytes(a.raw.ut_clusters),
    "UT hits": lambda a: items(a.ut_hits),
    **{f"UT hits, layer {k}": lambda a, k=k: sums(a.ut_hits, (a.ut_hits.z >= UT_LAYERS[k]) & (a.ut_hits.z < UT_LAYERS[k + 1]))
       for k in range(4)},
    "hits in UT windows": lambda a: sums(a.ut_windows, a.ut_windows.count.astype(float).sum(1)),
    "UT tracks": lambda a: items(a.ut_tracks),
    "SciFi bytes": lambda a: bank_bytes(a.raw.scifi_clusters),
    "SciFi hits": lambda a: items(a.scifi_hits),
    **{f"SciFi hits, layer {k}": lambda a, k=k: part(a.scifi_hits.zone_first, 2 * k, 2 * k + 2) for k in range(12)},
    **{f"SciFi hits, size {text}": lambda a, sizes=sizes: sums(a.scifi_hits, np.isin(a.scifi_hits.pseudo_size, sizes))
       for text, sizes in (("up to 4", [4]), ("5", [5]), ("6 to 8", [6, 7, 8]), ("above 8", [0]))},
    "hits in forward windows": lambda a: sums(a.forward_windows, a.forward_windows.count.astype(float).sum(1)),
    "forward candidates": lambda a: items(a.forward_candidates),
    "long tracks": lambda a: items(a.forward_tracks),
    "seeds in x": lambda a: items(a.seed_xz),
    "seeds in x, without clones": lambda a: items(a.seed_clones),
    "seeds": lambda a: items(a.seeds),
    "muon bytes": lambda a: bank_bytes(a.raw.muon_digits),
    **{f"muon digits, M{k + 2}": lambda a, k=k: part(a.muon_tiles.first, 4 * k, 4 * k + 4) for k in range(4)},
    "muon hits": lambda a: items(a.muon_hits),
    "muon stubs": lambda a: items(a.muon_stubs),
    "long tracks called muons": lambda a: sums(a.muons, a.muons.is_muon != 0),
    "ECAL bytes": lambda a: bank_bytes(a.raw.calo_digits),
    **{f"ECAL cells above {k} counts": lambda a, k=k: (a.calo_cells.adc > k).sum(1) for k in (2, 10, 50, 100)},
    "ECAL clusters": lambda a: items(a.calo_clusters),
    "ECAL clusters, ET > 400 MeV": lambda a: sums(a.calo_clusters, a.calo_clusters.et > 400),
    "long tracks called electrons": lambda a: sums(a.electrons, a.electrons.is_electron != 0),
    "long tracks, pT > 1 GeV": lambda a: sums(a.particles, a.particles.pt > 1000),
    "long tracks, p > 10 GeV": lambda a: sums(a.particles, a.particles.p > 10000),
    "long tracks, IP chi2 > 7.4": lambda a: sums(a.particles, a.particles.ip_chi2 > 7.4),
    "pairs of hadrons": lambda a: items(a.dihadron),
    "pairs of leptons": lambda a: items(a.dilepton),
    "V0 candidates": lambda a: items(a.v0),
    "pairs of V0": lambda a: items(a.v0_pairs),
    "true particles": lambda a: items(a.truth),
    "true long": lambda a: true(a, LONG),
    "true long electrons": lambda a: true(a, LONG, electrons=True),
    "true long from strange": lambda a: true(a, LONG | STRANGE),
    "true long from charm": lambda a: true(a, LONG | CHARM),
    "true long from beauty": lambda a: true(a, LONG | BEAUTY),
    "true in the UT": lambda a: true(a, UT),
    "true electrons in the UT": lambda a: true(a, UT, electrons=True),
    "true in the SciFi": lambda a: true(a, SCIFI),
    "true electrons in the SciFi": lambda a: true(a, SCIFI, electrons=True),
}


def measure(graphs, geometry, settings, files=None, n=None):
    """{observable: number in each event that passes the global event cut}."""
    import sluice
    graph = sluice.Graph.from_text(GRAPH.format(graphs=graphs), set={"geometry": str(geometry), **settings})
    arrays = graph.arrays(files, n=n)
    passes = arrays.gec.passed.mask
    return {name: np.asarray(of(arrays), float)[passes] for name, of in OBSERVABLES.items()}


def compare(simulated, sample, rounds=1000):
    """{observable: (mean of the simulation, of the sample, ratio per VELO cluster, its error)}. The error is that of a bootstrap over the
    events of both, and at least that of the number in the sample; without any in the sample, that of one."""
    random = np.random.default_rng(1)

    def spread(values, reference):
        count = len(values)
        chosen = random.integers(0, count, (rounds, count))
        ratios = values[chosen].mean(1) / reference[chosen].mean(1)
        return np.sqrt(count / (count - 1)) * ratios.std() / max(ratios.mean(), 1e-9)

    rows = {}
    scale = sample[REFERENCE].mean() / simulated[REFERENCE].mean()
    for name in OBSERVABLES:
        ours, theirs = simulated[name], sample[name]
        least = 1 / len(theirs)  # one in the sample
        ratio = scale * ours.mean() / max(theirs.mean(), least)
        counted = 0 if name == REFERENCE else 1 / np.sqrt(max(theirs.sum(), 1))
        error = ratio * np.hypot(max(spread(theirs, sample[REFERENCE]), counted), spread(ours, simulated[REFERENCE]))
        rows[name] = ours.mean(), theirs.mean(), ratio, error
    return rows
