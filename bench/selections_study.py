#!/usr/bin/env python3
"""Rates of selection lines on minimum-bias events and their efficiencies on simulated signals: the tables of
docs/lab/selections.md, and with --menu 2026 those of docs/lab/menu-2026.md.

    bench/selections_study.py run        simulates and selects; writes one file per sample to the work folder
    bench/selections_study.py tables     prints the tables, as Markdown, from these files
                                         (the figures: bench/selection_plots.py)

    [--menu 2023] [--samples minimum_bias,B0_Kpi,...] [--events 2000] [--minimum-bias 100000] [--seed 1] [--jobs 1]
    [--work build/selections_study] [--sluice build/cpu-release/sluice] [--graph GRAPH] [--device cpu]
    [--set NODE.PROPERTY=VALUE ...] [--with PART.yaml ...]

With --jobs J each sample is made in J concurrent parts, with seeds from --seed on; their counts are added. Published
figures are the test references of LHCb's trigger of September 2023 in its public repository: passed events of 1000 of
full simulation; for 2026, of 500 events of the decay to phi phi in the conditions of 2024. With --menu 2026 the sample
minimum_bias_unscaled has the same events with all scales 1, and lines that are meant for a signal have no scale on it; as
many events as of minimum bias are made of the decay to phi phi, because their rates are published.
"""
import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CHECK = "selection_check"  # name of the node
MINIMUM_BIAS, UNSCALED, ANY = "minimum_bias", "minimum_bias_unscaled", "any line"
IN_GAS = "_gas"  # how names of samples with gas end
SCALES = ("pre_scale", "post_scale")

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
# The same for the lines of 2026. Samples with names that end with _gas have the decay in a collision with gas.
SIGNALS_2026 = {
    "B0_Kpi": (2, ("TrackMVA", "TwoTrackMVA")),
    "Bs_phiphi": (4, ("TrackMVA", "TwoTrackMVA")),
    "Lambdab_Lambdac": (4, ("TrackMVA", "TwoTrackMVA")),
    "D0_Kpi": (2, ("D2KPi", "D2KPiAlignment", "TrackMVA", "TwoTrackMVA")),
    "D0_KK": (2, ("D2KK", "TrackMVA", "TwoTrackMVA")),
    "D0_pipi": (2, ("D2PiPi", "TrackMVA", "TwoTrackMVA")),
    "Dst_D0pi": (3, ("Dst2D0Pi", "Dst2D0PiAlignment", "D2KPi")),
    "D0_KsPiPi": (4, ("D2Kshh",)),
    "Kplus_3pi": (3, ("Kplus2PiPiPi",)),
    "tau_PhiMu": (3, ("TauToPhiMu", "TrackMuonMVA")),
    "Ks_pipi": (2, ("KsToPiPi", "TwoTrackKs")),
    "Jpsi_mumu": (2, ("DiMuonHighMass", "DiMuonNoIP", "DiMuonNoIPNorm", "DiMuonDrellYan_VLowMass")),
    "Bplus_JpsiK": (3, ("DiMuonDisplaced", "DiMuonDisplacedSoftPT", "DetJpsiToMuMuPosTag", "DetJpsiToMuMuNegTag",
                        "DiMuonJpsiMassAlignment", "TrackMuonMVA")),
    "Bs_mumu": (2, ("DiMuonHighMass", "DiMuonDisplaced", "TrackMuonMVA", "SingleHighPtMuon")),
    "S500_mumu": (2, ("DiMuonSoft", "DiMuonDisplacedSoftPT")),
    "Upsilon_mumu": (2, ("UpsilonAlignment", "DiMuonHighMass", "DiMuonDrellYan")),
    "Z_mumu": (2, ("SingleHighPtMuon", "SingleHighPtMuonNoMuID", "DiMuonHighMass", "DiMuonDrellYan")),
    "Jpsi_ee": (2, ("TrackElectronMVA",)),
    "S1500_ee": (2, ("DiElectronDisplaced", "TrackElectronMVA")),
    "A_ee": (2, ("DiElectronLowMass_NoIP", "DiElectronLowMass_NoIPNorm", "DiElectronLowMass_Displaced")),
    "Z_ee": (2, ("SingleHighPtElectron", "DiElectronHighMass")),
    "Bs_GammaGamma": (0, ("DiPhotonHighMass",)),
    "pi0_GammaGamma": (0, ("Pi02GammaGammaOuter", "Pi02GammaGammaMiddle", "Pi02GammaGammaInner", "Pi02GammaGammaMiddleOuterMixed",
                           "Pi02GammaGammaMiddleInnerMixed")),
    "jets": (0, ("ConeJet15GeV", "ConeJet30GeV", "ConeJet50GeV", "ConeJet100GeV")),
    "D0_Kpi_gas": (2, ("SMOG2D2Kpi", "SMOG22BodyGeneric", "SMOG2SingleTrackHighPt", "SMOG2SingleTrackVeryHighPt")),
    "etac_ppbar_gas": (2, ("SMOG2etacTopp", "SMOG22BodyGenericPrompt")),
    "Ks_pipi_gas": (2, ("SMOG2KsTopipi",)),
    "Lambda_ppi_gas": (2, ("SMOG2L0Toppi",)),
    "Jpsi_mumu_gas": (2, ("SMOG2DiMuonHighMass", "SMOG2SingleMuon", "SMOG2JPsiToMuMuTaP_PosTag", "SMOG2JPsiToMuMuTaP_NegTag")),
    "Bplus_JpsiK_gas": (3, ("SMOG2DisplacedDiMuon",)),
}
FIGURES = json.loads((ROOT / "bench/lhcb_figures.json").read_text())
PUBLISHED_EVENTS = FIGURES["minimum_bias"]["rates"]["events"]
PUBLISHED = FIGURES["minimum_bias"]["rates"]["passed"]

class Menu(NamedTuple):
    graph: str
    signals: dict
    published: dict  # passed events of minimum bias, by line
    published_bs_phiphi: dict  # "events", and passed events by line


MENUS = {
    "2023": Menu("selection_check.yaml", SIGNALS, PUBLISHED, FIGURES["Bs_phiphi"]["rates"]),
    "2026": Menu("hlt1_2026_validation.yaml", SIGNALS_2026, {}, FIGURES["Bs_phiphi_2024"]["rates"]),
}
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

def scaled_lines(options):
    """{line: its properties that scale it down}"""
    command = [options.sluice, "graph", options.graph, "--lines", "--json", *options.overlays]
    nodes = json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)["nodes"]
    found = {node["node"]: [scale for scale in SCALES if node["properties"].get(scale, 1) != 1] for node in nodes}
    return {name: scales for name, scales in found.items() if scales}


def start(options, sample, events, seed):
    arguments = ["--set", f"seed={seed}", "--set", "raw.luminosity_fraction=0", *options.overlays]
    if sample in options.menu.signals:
        daughters, meant = options.menu.signals[sample]
        arguments += ["--set", f"raw.signal={sample.removesuffix(IN_GAS)}", "--set", f"{CHECK}.daughters={daughters}"]
        if sample.endswith(IN_GAS):
            arguments += ["--set", "raw.signal_in=gas"]
    for line, scales in options.scaled.items():
        if sample == UNSCALED or sample in options.menu.signals and bare(line) in meant:
            arguments += [word for scale in scales for word in ("--set", f"{line}.{scale}=1")]
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
    is_large = sample in (MINIMUM_BIAS, UNSCALED) or options.menu is not MENUS["2023"] and sample == "Bs_phiphi"
    events = options.minimum_bias if is_large else options.events
    parts = [events // options.jobs + (i < events % options.jobs) for i in range(options.jobs)]
    running = [start(options, sample, part, options.seed + i) for i, part in enumerate(parts) if part]
    result, *others = [finish(process) for process in running]
    for other in others:
        result = add(result, other)
    (options.work / f"{sample}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"{sample}: {result['events']} events, {result['lines'][ANY]['passed']} pass, {result['error_events']} with errors", flush=True)


def load(work, menu=MENUS["2023"]):
    """{sample: result} of the existing files."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(Path(work).glob("*.json"))}
    return {sample: result for sample, result in found.items() if sample in (MINIMUM_BIAS, UNSCALED) or sample in menu.signals}


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


def rates_table(result, published):
    """Prints rates of lines that pass an event or have a published figure."""
    events = result["events"]
    print("| line | events | rate, kHz | alone, kHz | published, kHz |\n| --- | --- | --- | --- | --- |")
    for name, row in result["lines"].items():
        figure = khz(published[name], PUBLISHED_EVENTS) if name in published else ""
        if row["passed"] or figure:
            print(f"| {name} | {row['passed']} | {khz(row['passed'], events)} | {khz(row['alone'], events)} | {figure} |")
    quiet = [name for name, row in result["lines"].items() if not row["passed"] and name not in published]
    print(f"\nOf {events} events. Lines that pass none: {', '.join(quiet) if quiet else 'no line'}.\n")


def scales_table(scaled, unscaled):
    """Prints rates of all lines, with their scales and without."""
    print("| line | events | rate, kHz | alone, kHz | without scale, events | kHz |\n| --- | --- | --- | --- | --- | --- |")
    for name, row in scaled["lines"].items():
        whole = unscaled["lines"][name]["passed"]
        cells = [row["passed"], khz(row["passed"], scaled["events"]), khz(row["alone"], scaled["events"])]
        cells += [whole, khz(whole, unscaled["events"])] if whole != row["passed"] else ["", ""]
        print(f"| {name} | {' | '.join(map(str, cells))} |")
    print()


def efficiencies_table(results, signals):
    print("| signal | reconstructible | found, % | line | of all, % | of reconstructible, % | of found, % | by the signal, % |")
    print("| --- |" + " --- |" * 7)
    for sample, (daughters, meant) in signals.items():
        if sample not in results:
            continue
        result = results[sample]
        found = f"{result['reconstructible']} of {result['events']} | {percent(result['found'], result['reconstructible'])}"
        first = f"{sample} | {found if daughters else ' | '}"
        for name in (*meant, ANY):
            row = result["lines"].get(name)
            if row is None:
                continue
            cells = [percent(row["passed"], result["events"])]
            cells += [percent(*share) if share and daughters else "" for share in shares(result, row)]
            print(f"| {first} | {name} | {' | '.join(cells)} |")
            first = " | | "
    print()


def beside_published(result, published):
    """Bs to phi phi: the share of events that pass."""
    print("| line | of all, % | of reconstructible, % | published, % |\n| --- | --- | --- | --- |")
    for name, k in published["passed"].items():
        row = result["lines"].get(name)
        if row:
            print(f"| {name} | {percent(row['passed'], result['events'])} | {percent(*shares(result, row)[0])} | {percent(k, published['events'])} |")
    print()


def suspects(results, signals):
    """Lines that pass none of the decays that they are meant for."""
    for sample, (daughters, meant) in signals.items():
        for name in meant if sample in results else ():
            row = results[sample]["lines"].get(name)
            decays = "found" if daughters else "events"
            if row is None:
                print(f"{sample}: the graph has no line {name}")
            elif row["passed_found" if daughters else "passed"] == 0:
                print(f"{sample}: {name} passes none of {results[sample][decays]} decays" + " that are found" * bool(daughters))


def tables(results, menu):
    if UNSCALED in results and MINIMUM_BIAS in results:
        scales_table(results[MINIMUM_BIAS], results[UNSCALED])
    elif MINIMUM_BIAS in results:
        rates_table(results[MINIMUM_BIAS], menu.published)
    if any(sample in results for sample in menu.signals):
        efficiencies_table(results, menu.signals)
    if "Bs_phiphi" in results:
        beside_published(results["Bs_phiphi"], menu.published_bs_phiphi)
    suspects(results, menu.signals)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tables"))
    parser.add_argument("--menu", choices=MENUS, default="2023")
    parser.add_argument("--samples")
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--minimum-bias", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--with", action="append", default=[], dest="parts")
    options = parser.parse_args()
    is_2023 = options.menu == "2023"
    options.work = options.work or ROOT / ("build/selections_study" if is_2023 else f"build/selections_study_{options.menu}")
    options.menu = MENUS[options.menu]
    options.graph = options.graph or ROOT / "graphs" / options.menu.graph
    options.overlays = [word for part in options.parts for word in ("--with", part)]
    if options.what == "run":
        known = (MINIMUM_BIAS, *(() if is_2023 else (UNSCALED,)), *options.menu.signals)
        options.scaled = {} if is_2023 else scaled_lines(options)
        options.work.mkdir(parents=True, exist_ok=True)
        for sample in options.samples.split(",") if options.samples else known:
            if sample not in known:
                sys.exit(f"there is no sample {sample}: {', '.join(known)}")
            run_sample(options, sample)
    tables(load(options.work, options.menu), options.menu)


if __name__ == "__main__":
    main()
