#!/usr/bin/env python3
"""Momenta and masses before and after kalman.fit, the fit of long tracks through the whole detector: tables and figures of
docs/physics.md and docs/lab/kalman.md.

    bench/kalman_study.py run        simulates; writes one file per sample to the work folder
    bench/kalman_study.py tables     prints the tables, as Markdown, from these files
    bench/kalman_study.py plots      draws the figures from these files (needs Debian's python3-matplotlib)

    [--samples momenta,six,Ks_pipi,D0_Kpi,Jpsi_mumu] [--events 1500] [--seed 2]
    [--page docs/physics.md]... [--figures docs/figures] [--work build/kalman_study] [--data ../shared/data]
    [--sluice build/cpu-release/sluice] [--set NODE.PROPERTY=VALUE ...]

Before: q/p of the search for the track, and the state of selections.fit. `--events` is the number of events for momenta;
each decay has its own number. `--set` is for the graph of the decays, bench/masses.yaml. With `--page`, which may be given
several times, each table is written into the page with its marks `<!-- table NAME -->` and `<!-- end -->`. Needs NumPy; decays also
need libsluice (SLUICE_LIBRARY) and the folder python in PYTHONPATH. Debian's /usr/bin/python3 has NumPy and matplotlib.
"""
import argparse
import json
import os
import sys
from pathlib import Path

import numpy

from physics_report import percent, table, write_into
from samples import ROOT, run

# Decays: name, number of events, node of the pairs, PDG ids and masses of the daughters in MeV, PDG id and mass of the mother.
# Masses are those of the Particle Data Group, as in the simulation.
MUON, PION, KAON = (13, 105.658), (211, 139.570), (321, 493.677)
DECAYS = {"Ks_pipi": ("K_S to pi pi", 10000, "v0", (PION, PION), (310, 497.611)),
          "D0_Kpi": ("D0 to K pi", 6000, "dihadron", (KAON, PION), (421, 1864.84)),
          "Jpsi_mumu": ("J/psi to mu mu", 4000, "dilepton", (MUON, MUON), (443, 3096.90))}
MOMENTA, SIX = "momenta", "six"
# Masses of a candidate: of the states before and after the fit; of those after it with true directions, and with true momenta.
SHARED = "shared VELO hits"
COLUMNS = ("before", "after", "true directions", "true momenta")
SAMPLES = {MOMENTA: "simulated", SIX: "six events"}
TRACKS_MIN = 20  # in a row of a table
SPREADS = (("width", ""), ("median", "+"))
MOMENTUM_HEADER = ["", "tracks", "q/p: width, %", "median, %", "pull: width", "median"]
FIT = """sluice: 1
nodes:
  kalman_constants: { use: kalman.constants }
  kalman_fit: { use: kalman.fit, in: { tracks: TRACKS, scifi_hits: scifi_hits } }
  long_check: { in: { states: kalman_fit.states, fits: kalman_fit.fits } }
"""  # without UT hits
# Runs for momenta: name in tables, graph, tracks that are fitted without UT hits.
RUNS = {"before": ("before", "forward_then_matching", None),
        "after": ("after", "kalman", None),
        "after_without_ut_hits": ("after, without UT hits in the fit", "forward_then_matching", "long_tracks"),
        "no_ut_before": ("tracks without UT, before", "matching_no_ut", None),
        "no_ut_after": ("tracks without UT, after", "matching_no_ut", "matched_tracks")}


# ------------------------------------------------------------------------------------------------------- running

def run_momenta(options, sample):
    arguments = ("-n", options.events, "--set", f"seed={options.seed}")
    if sample == SIX:
        arguments = ("-i", options.data / "lhcb/minbias.mdf", "--set", f"geometry={options.data}/lhcb/geometry")
    results = {}
    for name, (_, graph, without_ut_hits) in RUNS.items():
        overlay = ()
        if without_ut_hits:
            path = options.work / f"{name}.yaml"
            path.write_text(FIT.replace("TRACKS", without_ut_hits))
            overlay = ("--with", path)
        summary = run([options.sluice, "run", ROOT / f"graphs/{graph}.yaml", "--quiet", "--json", "-", *arguments, *overlay])
        results[name] = summary["results"]["long_check"]
    (options.work / f"{sample}.json").write_text(json.dumps(results) + "\n")
    print(f"{sample}: {summary['events']} events", file=sys.stderr, flush=True)


def mass(p, tx, ty, masses):
    """Invariant mass of two particles, from momenta and directions of both. Differences of directions avoid cancellation."""
    n = numpy.sqrt(1 + tx**2 + ty**2).prod(axis=0)
    distance = (tx[0] - tx[1])**2 + (ty[0] - ty[1])**2 + (tx[0] * ty[1] - tx[1] * ty[0])**2
    opening = distance / (n * (n + 1 + tx[0] * tx[1] + ty[0] * ty[1]))  # 1 - cos
    excess = [m**2 / (numpy.hypot(q, m) + q) for q, m in zip(p, masses)]  # E - p
    energies = p[0] * excess[1] + p[1] * excess[0] + excess[0] * excess[1]
    return numpy.sqrt(masses[0]**2 + masses[1]**2 + 2 * energies + 2 * p[0] * p[1] * opening)


def true_pairs(batch, decay):
    """Tracks (indices in the batch) of the pairs that are this decay: those of first daughters, those of second ones. Both match
    particles with the same mother; the true mass excludes interactions of the mother in material, and decays with more daughters."""
    _, _, node, ((first_id, first_mass), (second_id, second_mass)), (mother_id, mother_mass) = decay
    pairs, truth, matches = batch[node], batch.truth, batch.long_truth
    event = numpy.repeat(numpy.arange(len(batch)), numpy.diff(pairs.offsets))
    tracks = numpy.array([matches.offsets[event] + pairs[side] for side in ("first", "second")])
    is_true = (matches.particle[tracks] >= 0).all(axis=0)
    event, tracks = event[is_true], tracks[:, is_true]
    particles = truth.offsets[event] + matches.particle[tracks]
    ids, mothers = truth.pdg[particles], truth.mother_key[particles]
    exchanged = (numpy.abs(ids[0]) != first_id) | (numpy.abs(ids[1]) != second_id)
    tracks[:, exchanged], ids[:, exchanged] = tracks[::-1, exchanged], ids[::-1, exchanged]
    is_decay = (mothers[0] == mothers[1]) & (numpy.abs(truth.mother_pdg[particles]) == mother_id).all(axis=0)
    is_decay &= (numpy.abs(ids[0]) == first_id) & (numpy.abs(ids[1]) == second_id) & (ids[0] * ids[1] < 0)
    tracks = tracks[:, is_decay]
    true_mass = mass(*(values_of(matches, name, tracks) for name in ("p", "tx", "ty")), (first_mass, second_mass))
    return tracks[:, numpy.abs(true_mass - mother_mass) < 1]


def values_of(collection, field, tracks):
    return collection[field].astype("f8")[tracks]


def shared_velo_hits(batch, tracks):
    """Number of VELO hits that both tracks of each pair contain."""
    event = numpy.searchsorted(batch.long_tracks.offsets, tracks[0], side="right") - 1
    velo, hits = batch.tracks.offsets[event] + batch.long_tracks.velo_track[tracks], batch.tracks.hits
    ids = [[hits.id[hits.offsets[of]:hits.offsets[of + 1]] for of in side] for side in velo]
    return numpy.array([len(numpy.intersect1d(*both)) for both in zip(*ids)], dtype=int)


def run_decay(options, sample):
    import sluice
    decay = DECAYS[sample]
    masses = [m for _, m in decay[3]]
    settings = {"seed": options.seed, "raw.signal": sample, "raw.luminosity_fraction": 0, **dict(setting.split("=", 1) for setting in options.set)}
    graph = sluice.Graph(str(ROOT / "bench/masses.yaml"), set=settings)
    found, without_fit = {name: [] for name in (*COLUMNS, SHARED)}, 0
    for batch in graph.run(n=decay[1], slice_events=64):
        tracks = true_pairs(batch, decay)
        has_fit = (batch["kalman_fit.states"].ndof[tracks] > 0).all(axis=0)
        without_fit += int((~has_fit).sum())
        tracks = tracks[:, has_fit]
        true_p, true_tx, true_ty = (values_of(batch.long_truth, name, tracks) for name in ("p", "tx", "ty"))
        for name, states in (("before", batch.long_states), ("after", batch["kalman_fit.states"])):
            qop, tx, ty = (values_of(states, field, tracks) for field in ("qop", "tx", "ty"))
            found[name].append(mass(1 / numpy.abs(qop), tx, ty, masses))
        found["true directions"].append(mass(1 / numpy.abs(qop), true_tx, true_ty, masses))
        found["true momenta"].append(mass(true_p, tx, ty, masses))
        found[SHARED].append(shared_velo_hits(batch, tracks))
    found = {name: numpy.concatenate(parts).tolist() for name, parts in found.items()}
    (options.work / f"{sample}.json").write_text(json.dumps({"events": decay[1], "without_fit": without_fit, **found}) + "\n")
    print(f"{sample}: {decay[1]} events, {len(found['after'])} candidates, {without_fit} without a fit", file=sys.stderr, flush=True)


def load(options):
    """{sample: contents of its file} of the existing files."""
    paths = {sample: options.work / f"{sample}.json" for sample in (MOMENTA, SIX, *DECAYS)}
    return {sample: json.loads(path.read_text()) for sample, path in paths.items() if path.exists()}


# ------------------------------------------------------------------------------------------------------- tables

def number(value, error, digits, sign=""):
    return f"{value:{sign}.{digits}f} ± {error:.{digits}f}"


def momentum_cells(row):
    """Width and median of q/p in per cent, and of the pull if there is one."""
    pull = [number(row[f"pull_{key}"], row[f"pull_{key}_error"], 3, sign) for key, sign in SPREADS] if "pull_width" in row else ["", ""]
    return [row["tracks"], *(number(100 * row[key], 100 * row[f"{key}_error"], 3, sign) for key, sign in SPREADS), *pull]


def chi2_cells(group):
    return [group["tracks"], f"{group['chi2_ndof_median']:.2f}", percent(round(group["improbable"] * group["tracks"]), group["tracks"])]


def summary_table(results):
    """All momenta, and chi2 of the tracks with right hits only."""
    rows = []
    for sample, text in SAMPLES.items():
        for name, (run_text, _, _) in RUNS.items() if sample in results else ():
            result = results[sample][name]
            rows.append([f"{text}: {run_text}", *momentum_cells(result["momentum"][-1]),
                         *(chi2_cells(result["chi2"][0])[1:] if "chi2" in result else ("", ""))])
    return table([*MOMENTUM_HEADER, "chi2 / ndof", "P(chi2) < 1 %, %"], rows)


def bins_table(result):
    rows = [[run_text, row["name"], *momentum_cells(row)] for name, (run_text, _, _) in RUNS.items() for row in result[name]["momentum"]
            if row["tracks"] >= TRACKS_MIN]
    return table(["", "true p", *MOMENTUM_HEADER[1:]], rows)


def chi2_table(result):
    rows = [[run_text, group["name"], *chi2_cells(group)] for name, (run_text, _, _) in RUNS.items() for group in result[name].get("chi2", ())]
    return table(["", "hits", "tracks", "chi2 / ndof", "P(chi2) < 1 %, %"], rows)


def spread(values):
    """Half of the central 68.27 %, and the median."""
    low, median, high = numpy.quantile(values, (0.158655, 0.5, 0.841345), axis=-1)
    return numpy.array(((high - low) / 2, median))


def spread_errors(values):
    """Errors of both, by the bootstrap: the scatter of 400 samples with replacement."""
    indices = numpy.random.default_rng(1).integers(len(values), size=(400, len(values)))
    return spread(values[indices]).std(axis=-1)


def groups(result):
    """{suffix of a name: chosen candidates}: with and without common VELO hits, if there are enough with them."""
    shared = numpy.array(result[SHARED]) > 0
    return {", no common VELO hit": ~shared, ", common VELO hits": shared} if shared.sum() >= TRACKS_MIN else {"": shared | True}


def masses_table(results):
    rows = []
    for sample, (text, *_, (_, true_mass)) in DECAYS.items():
        for suffix, chosen in groups(results[sample]).items() if sample in results else ():
            values = [numpy.array(results[sample][name])[chosen] - true_mass for name in COLUMNS]
            found = [(*spread(of), *spread_errors(of)) for of in values]
            rows.append([text + suffix, results[sample]["events"], len(values[0]), *(number(width, error, 2) for width, _, error, _ in found),
                         *(number(median, error, 2, "+") for _, median, _, error in found[:2])])
    return table(["MeV", "events", "candidates", "width before", "after", "after, true directions", "after, true momenta", "median - mass before",
                  "after"], rows)


def tables(results):
    """{name: lines}"""
    made = {}
    if MOMENTA in results or SIX in results:
        made["fit"] = summary_table(results)
    for sample, text in SAMPLES.items():
        if sample in results:
            made |= {f"fit by momentum, {text}": bins_table(results[sample]), f"chi2 of the fit, {text}": chi2_table(results[sample])}
    if any(sample in results for sample in DECAYS):
        made["masses"] = masses_table(results)
    return made


def masses_to_draw(results):
    """{sample: (name, mass, {case: (masses, their width)})} for kalman_plots.masses."""
    decays = {}
    for sample, (name, _, _, _, (_, mass)) in DECAYS.items():
        if sample not in results:
            continue
        cases = {case: (results[sample][case], spread(results[sample][case])[0]) for case in ("before", "after")}
        decays[sample] = name, mass, cases
    return decays


# ------------------------------------------------------------------------------------------------------- main

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tables", "plots"))
    parser.add_argument("--samples", default=",".join((MOMENTA, SIX, *DECAYS)))
    parser.add_argument("--events", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--page", type=Path, action="append")
    parser.add_argument("--figures", type=Path, default=ROOT / "docs/figures")
    parser.add_argument("--work", type=Path, default=ROOT / "build/kalman_study")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SLUICE_DATA", ROOT.parent / "shared/data")))
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    options = parser.parse_args()
    if options.what == "run":
        options.work.mkdir(parents=True, exist_ok=True)
        for sample in options.samples.split(","):
            if sample == SIX and not (options.data / "lhcb/minbias.mdf").exists():
                print(f"without the six events: {options.data}/lhcb/minbias.mdf is absent", file=sys.stderr)
            elif sample in (MOMENTA, SIX):
                run_momenta(options, sample)
            elif sample in DECAYS:
                run_decay(options, sample)
            else:
                sys.exit(f"there is no sample {sample}: {', '.join((MOMENTA, SIX, *DECAYS))}")
    results = load(options)
    if not results:
        sys.exit(f"{options.work} has no results: bench/kalman_study.py run makes them")
    if options.what == "plots":
        import kalman_plots
        if MOMENTA in results:
            kalman_plots.momentum(options, results[MOMENTA])
        decays = masses_to_draw(results)
        if decays:
            kalman_plots.masses(options, decays)
        return
    made = tables(results)
    if options.page:
        write_into(options.page, made)
    else:
        print("\n".join(f"\n{name}\n\n" + "\n".join(lines) for name, lines in made.items()))


if __name__ == "__main__":
    main()
