#!/usr/bin/env python3
"""Rates of selection lines on minimum-bias events and their efficiencies on simulated signals: the tables of
docs/lab/selections.md.

    bench/selections_study.py run        simulates and selects; writes one file per sample to the work folder
    bench/selections_study.py tables     prints the tables, as Markdown, from these files
                                         (the figures: bench/selection_plots.py)

    [--samples minimum_bias,B0_Kpi,...] [--events 2000] [--minimum-bias 100000] [--seed 1] [--jobs 1]
    [--work build/selections_study] [--sluice build/cpu-release/sluice] [--graph graphs/selection_check.yaml]
    [--device cpu] [--set NODE.PROPERTY=VALUE ...]

With --jobs J each sample is made in J concurrent parts, with seeds from --seed on; their counts are added. Published
figures are the test references of LHCb's trigger of September 2023 in its public repository: passed events of 1000 of
full simulation.
"""
import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECK = "selection_check"  # name of the node
MINIMUM_BIAS, ANY = "minimum_bias", "any line"

# Per signal: number of charged daughters, and the lines intended for it.
SIGNALS = {
    "B0_Kpi": (2, ("TrackMVA", "TwoTrackMVA")),
    "Bs_phiphi": (4, ("TrackMVA", "TwoTrackMVA", "TwoTrackMVACharmXSec")),
    "D0_Kpi": (2, ("D2KPi", "TwoTrackMVACharmXSec", "TrackMVA", "TwoTrackMVA")),
    "Dst_D0pi": (3, ("D2KPi", "TwoTrackMVACharmXSec", "TrackMVA", "TwoTrackMVA")),
    "Lambdab_Lambdac": (4, ("TrackMVA", "TwoTrackMVA", "TwoTrackMVACharmXSec")),
    "Ks_pipi": (2, ("KsToPiPi", "TwoTrackKs")),
    "Jpsi_mumu": (2, ("DiMuonHighMass", "DiMuonNoIP", "DiMuonJpsiMassAlignment", "DiMuonDrellYan_VLowMass")),
    "Bplus_JpsiK": (3, ("DiMuonHighMass", "DisplacedDiMuon", "TrackMuonMVA", "TrackMVA", "TwoTrackMVA")),
    "Bs_mumu": (2, ("DiMuonHighMass", "DisplacedDiMuon", "TrackMuonMVA", "SingleHighPtMuon", "TwoTrackMVA")),
    "Z_mumu": (2, ("SingleHighPtMuon", "DiMuonHighMass", "DiMuonDrellYan", "DiMuonNoIP")),
    "B_KstarGamma": (2, ("TrackMVA", "TwoTrackMVA")),
    "D0_KK": (2, ("D2KK", "TwoTrackMVACharmXSec", "TrackMVA", "TwoTrackMVA")),
    "D0_pipi": (2, ("D2PiPi", "TwoTrackMVACharmXSec", "TrackMVA", "TwoTrackMVA")),
    "D0_KsPiPi": (4, ("TwoTrackMVACharmXSec", "KsToPiPi", "TrackMVA", "TwoTrackMVA")),
    "Lambda_ppi": (2, ("L02PPi",)),
    "Xi_LambdaPi": (3, ("L02PPi", "TrackMVA", "TwoTrackMVA")),
    "Omega_LambdaK": (3, ("L02PPi", "TrackMVA", "TwoTrackMVA")),
    "Kplus_3pi": (3, ("TrackMVA", "TwoTrackMVA")),
    "tau_PhiMu": (3, ("TrackMVA", "TwoTrackMVA", "TrackMuonMVA")),
    "Upsilon_mumu": (2, ("DiMuonHighMass", "DiMuonNoIP")),
    "Jpsi_ee": (2, ("SingleHighPtElectron", "TrackElectronMVA")),
    "Z_ee": (2, ("SingleHighPtElectron", "SingleHighEt")),
    "A_ee": (2, ("LowMassNoipDielectron_massSlice1_prompt", "LowMassNoipDielectron_massSlice2_prompt")),
    "Bs_GammaGamma": (0, ("Bs2GammaGamma",)),
}
FIGURES = json.loads((ROOT / "bench/lhcb_figures.json").read_text())
PUBLISHED_EVENTS = FIGURES["minimum_bias"]["rates"]["events"]
PUBLISHED = FIGURES["minimum_bias"]["rates"]["passed"]
PUBLISHED_BS_PHIPHI = FIGURES["Bs_phiphi"]["rates"]["passed"]
INPUT_KHZ = 30000
COUNTS = ("passed", "alone", "passed_reconstructible", "passed_found", "passed_by_signal")


def bare(name):
    """A line's name without what all begin with."""
    return name.removeprefix("Hlt1").removesuffix("Line")


def fraction_error(k, n):
    """As the checks have it: of a fraction found as k of n."""
    a, b = k + 1, n - k + 1
    return math.sqrt(a * b / (a + b + 1)) / (a + b)


def counts(result):
    """Counts of a part of a sample: of events, of each line and of all lines together."""
    lines = {bare(row["name"]): {key: row[key] for key in COUNTS} for row in [*result["lines"], result["any"]]}
    signal = {key: result["signal"][key] for key in ("reconstructible", "found")}
    return {"events": result["events"], "error_events": result["error_events"], **signal, "lines": lines}


# ------------------------------------------------------------------------------------------------------- running

def start(options, sample, events, seed):
    arguments = ["--set", f"seed={seed}", "--set", "raw.luminosity_fraction=0"]
    if sample != MINIMUM_BIAS:
        arguments += ["--set", f"raw.signal={sample}", "--set", f"{CHECK}.daughters={SIGNALS[sample][0]}"]
    for setting in options.set:
        arguments += ["--set", setting]
    command = [options.sluice, "run", options.graph, "-n", events, "--device", options.device, "--quiet", "--json", "-", *arguments]
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    said, errors = process.communicate()
    if process.returncode != 0:
        sys.exit(f"{' '.join(process.args)}\n{errors}")
    return counts(json.loads(said)["results"][CHECK])


def add(one, other):
    """The counts of both; what is not known of one, such as by the signal, is not known."""
    if isinstance(one, dict):
        return {key: add(value, other[key]) for key, value in one.items()}
    return None if one is None else one + other


def run_sample(options, sample):
    events = options.minimum_bias if sample == MINIMUM_BIAS else options.events
    parts = [events // options.jobs + (i < events % options.jobs) for i in range(options.jobs)]
    running = [start(options, sample, part, options.seed + i) for i, part in enumerate(parts) if part]
    result, *others = [finish(process) for process in running]
    for other in others:
        result = add(result, other)
    (options.work / f"{sample}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"{sample}: {result['events']} events, {result['lines'][ANY]['passed']} pass, {result['error_events']} with errors", flush=True)


def load(work):
    """{sample: result} of the existing files."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(Path(work).glob("*.json"))}
    return {sample: result for sample, result in found.items() if sample == MINIMUM_BIAS or sample in SIGNALS}


# ------------------------------------------------------------------------------------------------------- tables

def percent(k, n):
    return f"{100 * k / n:.1f} ± {100 * fraction_error(k, n):.1f}" if n else ""


def khz(k, n):
    """The rate of k of n events, with its error."""
    value, error = INPUT_KHZ * k / n, INPUT_KHZ * fraction_error(k, n)
    digits = 0 if error >= 10 else 1 if error >= 1 else 2
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def shares(result, row):
    """(k, n) of a line for reconstructible signals, for found signals, and for decisions due to the signal (None if unknown)."""
    by_signal = None if row["passed_by_signal"] is None else (row["passed_by_signal"], result["found"])
    return (row["passed_reconstructible"], result["reconstructible"]), (row["passed_found"], result["found"]), by_signal


def rates_table(result):
    """Prints rates of lines that pass an event or have a published figure."""
    events = result["events"]
    print("| line | events | rate, kHz | alone, kHz | published, kHz |\n| --- | --- | --- | --- | --- |")
    for name, row in result["lines"].items():
        published = khz(PUBLISHED[name], PUBLISHED_EVENTS) if name in PUBLISHED else ""
        if row["passed"] or published:
            print(f"| {name} | {row['passed']} | {khz(row['passed'], events)} | {khz(row['alone'], events)} | {published} |")
    quiet = [name for name, row in result["lines"].items() if not row["passed"] and name not in PUBLISHED]
    print(f"\nOf {events} events. Lines that pass none: {', '.join(quiet) if quiet else 'no line'}.\n")


def efficiencies_table(results):
    print("| signal | reconstructible | found, % | line | of all, % | of reconstructible, % | of found, % | by the signal, % |")
    print("| --- |" + " --- |" * 7)
    for sample, (_, meant) in SIGNALS.items():
        if sample not in results:
            continue
        result = results[sample]
        first = f"{sample} | {result['reconstructible']} of {result['events']} | {percent(result['found'], result['reconstructible'])}"
        for name in (*meant, ANY):
            row = result["lines"].get(name)
            if row is None:
                continue
            cells = [percent(row["passed"], result["events"])] + [percent(*share) if share else "" for share in shares(result, row)]
            print(f"| {first} | {name} | {' | '.join(cells)} |")
            first = " | | "
    print()


def beside_published(result):
    """Bs to phi phi: the share of events that pass."""
    print("| line | of all, % | of reconstructible, % | published, % |\n| --- | --- | --- | --- |")
    for name, k in PUBLISHED_BS_PHIPHI.items():
        row = result["lines"].get(name)
        if row:
            print(f"| {name} | {percent(row['passed'], result['events'])} | {percent(*shares(result, row)[0])} | {percent(k, PUBLISHED_EVENTS)} |")
    print()


def suspects(results):
    """Lines that pass none of the decays that they are meant for."""
    for sample, (_, meant) in SIGNALS.items():
        for name in meant if sample in results else ():
            row = results[sample]["lines"].get(name)
            if row is None:
                print(f"{sample}: the graph has no line {name}")
            elif row["passed_found"] == 0:
                print(f"{sample}: {name} passes none of {results[sample]['found']} decays that are found")


def tables(results):
    if MINIMUM_BIAS in results:
        rates_table(results[MINIMUM_BIAS])
    if any(sample in results for sample in SIGNALS):
        efficiencies_table(results)
    if "Bs_phiphi" in results:
        beside_published(results["Bs_phiphi"])
    suspects(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tables"))
    parser.add_argument("--samples", default=",".join((MINIMUM_BIAS, *SIGNALS)))
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--minimum-bias", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=ROOT / "build/selections_study")
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    parser.add_argument("--graph", type=Path, default=ROOT / "graphs/selection_check.yaml")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    if options.what == "run":
        options.work.mkdir(parents=True, exist_ok=True)
        for sample in options.samples.split(","):
            if sample != MINIMUM_BIAS and sample not in SIGNALS:
                sys.exit(f"there is no sample {sample}: {', '.join((MINIMUM_BIAS, *SIGNALS))}")
            run_sample(options, sample)
    tables(load(options.work))


if __name__ == "__main__":
    main()
