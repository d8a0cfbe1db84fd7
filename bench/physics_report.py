#!/usr/bin/env python3
"""Efficiencies and rates of the trigger sequences, compared with LHCb's own trigger: the tables of docs/physics.md.

    bench/physics_report.py run       runs each sequence; leaves a summary of each run in the work folder
    bench/physics_report.py tables    prints the tables, as Markdown, from the summaries that are there

    [--sequences default,no_ut,...] [--events 10000] [--signal-events 4000] [--seed 1] [--page docs/physics.md]...
    [--work build/physics_report] [--data ../shared/data] [--sluice build/cpu-release/sluice]

With --page, which may be given several times, each table is written into the page with its marks
`<!-- table NAME -->` and `<!-- end -->`; tables contain the
requested sequences, and a table without data is not changed. Samples are simulated minimum bias, simulated Bs to phi phi
decays, and six events of full simulation; these are skipped with a message if they are absent. The figures of LHCb's
trigger are in bench/lhcb_figures.json, its results on the six events in lhcb/reference.json.xz next to the events.
"""
import argparse
import json
import lzma
import os
import re
import sys
from pathlib import Path

import mc_truth
from samples import ROOT, run
from selections_study import PUBLISHED, PUBLISHED_EVENTS, bare, fraction_error, khz

SEQUENCES = ("default", "no_ut", "matching", "matching_no_ut", "forward_then_matching")
FIGURES = json.loads((ROOT / "bench/lhcb_figures.json").read_text())
MINIMUM_BIAS, SIGNAL, SIX, LHCB_SIX = "minimum_bias", "Bs_phiphi", "six", "six_as_lhcb"
# Counts of the six events in addition to those of the checks.
OUTPUTS = {"muon_hits": ("n_muon_hits", "muon hits"), "muon_stubs": ("n_muon_stubs", "muon stubs"),
           "calo_clusters": ("n_ecal_clusters", "ECAL clusters"), "dihadron": ("n_sv_dihadron", "pairs of tracks"),
           "dilepton": ("n_sv_dilepton", "pairs of leptons"), "v0": ("n_sv_v0", "V0s")}
# Sequences with a record for the six events: name of the record, and the arguments with which the run is closest to it.
FORWARD = ("--with", ROOT / "graphs/variants/lhcb_forward.yaml")
MATCHING = ("--with", ROOT / "graphs/variants/lhcb_matching.yaml")
ELECTRONS = ("--with", ROOT / "graphs/variants/lhcb_electrons.yaml")
RECORDED = {"default": ("hlt1_pp_default", (*FORWARD, *ELECTRONS)), "matching_no_ut": ("hlt1_pp_matching", (*MATCHING, *ELECTRONS)),
            "forward_then_matching": ("hlt1_pp_forward_then_matching_no_gec",
                                      (*FORWARD, *MATCHING, *ELECTRONS, "--set", "ut_matches.min_hits=0"))}
CHANNEL = (1 << 20) - 1  # of an id in the SciFi
NOTHING = (0, 0)  # found, of: where there is no such figure

# Categories that are the difference of two, for comparisons: samples differ in how many fast particles they have.
BETWEEN = {"long, p < 5 GeV": ("long", "long, p > 5 GeV"), "long, p > 5 GeV, pt < 1 GeV": ("long, p > 5 GeV", "long, p > 5 GeV, pt > 1 GeV")}
VELO = ("velo", "long", "long, p > 5 GeV", "long from strange", "long electrons", "all eta, not e")
UT = ("velo", "velo and UT", "velo and UT, p > 5 GeV", "long", "long, p > 5 GeV", "long, p > 3 GeV, pt > 0.5 GeV", "long electrons")
SEED = ("long", "long, p > 3 GeV", "long, p > 5 GeV", "long, p > 3 GeV, pt > 0.5 GeV", "long, pt > 2 GeV",
        "long from strange, p > 5 GeV", "long electrons")
LONG = ("long", "long, p > 5 GeV", "long, p > 3 GeV, pt > 0.5 GeV", *BETWEEN, "long, p > 5 GeV, pt > 1 GeV", "long, pt > 2 GeV", "long from strange",
        "long from strange, p > 5 GeV", "long strange, p > 5, pt > 0.5 GeV", "long from B, p > 5 GeV", "long from B, p > 5 GeV, pt > 1 GeV",
        "long electrons", "long electrons, p > 5 GeV")
TRACKS = {"check": "VELO", "ut_check": "VELO and UT", "seed_check": "seeds", "long_check": "long"}
ABOVE = "p > 3 GeV"  # the bin of muons that has others in it
JUDGED = ("long", "long, p > 5 GeV", "long, p > 3 GeV, pt > 0.5 GeV", "long, p > 5 GeV, pt > 1 GeV", "long electrons, p > 5 GeV")
GHOSTS = {"ghosts": ("ghosts", "tracks", "ghosts, of tracks"), "fast_ghosts": ("fast_ghosts", "fast_tracks", "ghosts, of p > 3 GeV, pt > 0.5 GeV")}


# ------------------------------------------------------------------------------------------------------- running

def runs_of(options, sequence):
    """{sample: arguments}"""
    seed = ("--set", f"seed={options.seed}", "--set", "raw.luminosity_fraction=0")
    runs = {MINIMUM_BIAS: ("-n", options.events, *seed), SIGNAL: ("-n", options.signal_events, *seed, "--set", f"raw.signal={SIGNAL}")}
    if (options.data / "lhcb/minbias.mdf").exists():
        outputs = options.work / "outputs.yaml"
        outputs.write_text(f"sluice: 1\noutputs: [{', '.join(OUTPUTS)}]\n")
        runs[SIX] = ("-i", options.data / "lhcb/minbias.mdf", "--set", f"geometry={options.data}/lhcb/geometry", "--with", outputs)
        if sequence in RECORDED:
            runs[LHCB_SIX] = (*runs[SIX], *RECORDED[sequence][1])
    return runs


def run_sequence(options, sequence):
    for sample, arguments in runs_of(options, sequence).items():
        summary = run([options.sluice, "run", ROOT / f"graphs/hlt1_pp_{sequence}_validation.yaml", "--quiet", "--json", "-", *arguments])
        (options.work / f"{sample}.{sequence}.json").write_text(json.dumps(summary) + "\n")
        print(f"{sample}, {sequence}: {summary['events']} events", file=sys.stderr, flush=True)


def load(options):
    """{sample: {sequence: summary}} of the existing summaries."""
    found = {sample: {} for sample in (MINIMUM_BIAS, SIGNAL, SIX, LHCB_SIX)}
    for sample, of in found.items():
        for sequence in options.sequences:
            path = options.work / f"{sample}.{sequence}.json"
            if path.exists():
                of[sequence] = json.loads(path.read_text())
    return found


# ------------------------------------------------------------------------------------------------------- numbers

def percent(k, n):
    if not n:
        return ""
    error = 100 * fraction_error(k, n)
    digits = 2 if error < 0.5 else 1
    return f"{100 * k / n:.{digits}f} ± {error:.{digits}f}"


def category(check, name):
    """(found, of) of a category, or of ghosts, in the report of a check."""
    if name in GHOSTS:
        ghosts, tracks, _ = GHOSTS[name]
        return check[ghosts], check[tracks]
    if name in BETWEEN:
        return tuple(a - b for a, b in zip(*(category(check, of) for of in BETWEEN[name])))
    return next(((c["reconstructed"], c["reconstructible"]) for c in check["categories"] if c["name"] == name), NOTHING)


def label(name):
    return GHOSTS[name][2] if name in GHOSTS else name


def results(runs, sample, check):
    """{sequence: report of a check} of the runs that have one."""
    return {sequence: summary["results"][check] for sequence, summary in runs[sample].items() if check in summary["results"]}


def table(header, rows):
    return ["| " + " | ".join(map(str, row)) + " |" for row in (header, ["---"] * len(header), *rows)]


def lhcb(sample, sequence, check, name):
    """What LHCb's trigger finds of a category, (found, of)."""
    if name in BETWEEN:
        return tuple(a - b for a, b in zip(*(lhcb(sample, sequence, check, of) for of in BETWEEN[name])))
    return tuple(FIGURES[sample].get(sequence, {}).get(check, {}).get(name, NOTHING))


def efficiencies(runs, sample, check, names):
    """A row a category, and of ghosts; a column a sequence, with one of LHCb's where there is a figure."""
    found = results(runs, sample, check)
    header, rows = ["%"], []
    for sequence in found:
        header += [f"`{sequence}`", *(["LHCb's"] if lhcb(sample, sequence, check, "ghosts") != NOTHING else [])]
    for name in (*names, "ghosts", *(["fast_ghosts"] if check == "long_check" else [])):
        row = [label(name)]
        for sequence, report in found.items():
            row += [percent(*category(report, name))]
            row += [percent(*lhcb(sample, sequence, check, name))] if lhcb(sample, sequence, check, "ghosts") != NOTHING else []
        rows += [row] if any(row[1:]) else []
    return table(header, rows)


# ------------------------------------------------------------------------------------------------------- six events

def reference(options):
    """{sequence: recorded events}"""
    path = options.data / "lhcb/reference.json.xz"
    sequences = json.load(lzma.open(path))["sequences"] if path.exists() else {}
    return {ours: sequences[theirs]["events"] for ours, (theirs, _) in RECORDED.items() if theirs in sequences}


def judged_record(options, events):
    """Efficiencies of the recorded tracks and vertices of the default sequence, counted as in the checks."""
    truths = [mc_truth.Truth(record, CHANNEL) for record in mc_truth.mdf.records(options.data / "lhcb/minbias.mdf")]

    def long_tracks(event):
        for track in event["forward_tracks"]:
            velo = event["ut_tracks"][track["ut_index"]]["velo_index"]
            yield event["velo_tracks"][velo]["lhcbids"], track["scifi_channels"]
    velo = [[(track["lhcbids"], ()) for track in event["velo_tracks"]] for event in events]
    vertices = [[(vertex["z"], vertex["cov22"]) for vertex in event["pvs"]] for event in events]
    return {"check": mc_truth.judge(zip(truths, velo), VELO), "long_check": mc_truth.judge(zip(truths, map(long_tracks, events)), JUDGED),
            "pv_check": mc_truth.judge_vertices(zip(truths, vertices))}


def of_record(events):
    """Counts that are recorded of a sequence: tracks, muons, electrons, events that pass."""
    counts = [sum(event[key] for event in events) for key in ("n_long_tracks", "n_is_muon", "n_is_electron")]
    return [*counts, sum(bool(event["decisions"]) for event in events)]


def of_run(summary):
    """The same of a run."""
    r = summary["results"]
    muons = sum(b["muons"] for kind in r["muon_check"]["kinds"] for b in kind["momentum"] if b["name"] != ABOVE)
    sorts = next(b for b in r["electron_check"]["momentum_bins"] if b["name"] == "all")
    electrons = sum(sort["identified_electrons"] for sort in sorts.values() if isinstance(sort, dict))
    return [r["long_check"]["tracks"], muons, electrons, r["selection_check"]["any"]["passed"]]


def six_long(runs, recorded, judged):
    rows = []
    for sequence, summary in runs[SIX].items():
        sources = []
        if sequence in recorded:
            like = runs[LHCB_SIX][sequence]
            sources = [("LHCb's, recorded", of_record(recorded[sequence]), judged["long_check"] if sequence == "default" else None),
                       ("with LHCb's settings", of_run(like), like["results"]["long_check"])]
        sources.append(("as it is", of_run(summary), summary["results"]["long_check"]))
        for text, counts, check in sources:
            shares = ["{} / {}".format(*category(check, name)) if check else "" for name in (*JUDGED, "ghosts")]
            rows.append([f"`{sequence}`", text, *shares, *counts])
    return table(["sequence", "", *JUDGED, "ghosts", "tracks", "muons", "electrons", "events that pass"], rows)


def six_stages(runs, recorded, judged):
    """Steps of the default sequence, one after another."""
    here = [of["default"] for of in (runs[LHCB_SIX], runs[SIX])]
    reports = [judged, *(summary["results"] for summary in here)]
    rows = [[f"VELO: {label(name)}", *("{} / {}".format(*category(r["check"], name)) for r in reports)] for name in (*VELO, "ghosts")]
    rows += [[f"VELO: clones, {name}", *(c["clones"] for r in reports for c in r["check"]["categories"] if c["name"] == name)] for name in VELO[:2]]
    rows += [[f"vertices: {text}", *(f"{r['pv_check'][k]} / {r['pv_check'][n]}" for r in reports)]
             for text, k, n in (("found", "reconstructed", "reconstructible"), ("false", "false", "vertices"))]
    counted = {"hits in the UT": ("n_ut_hits", "ut_check", "hits"), "tracks in VELO and UT": ("n_ut_tracks", "ut_check", "tracks"),
               "hits in the SciFi": ("n_scifi_hits", "scifi_check", "hits"), "long tracks": ("n_long_tracks", "long_check", "tracks")}
    for text, (key, check, number) in counted.items():
        rows.append([text, sum(event[key] for event in recorded["default"]), *(summary["results"][check][number] for summary in here)])
    for port, (key, text) in OUTPUTS.items():
        items = [next(o["items"] for o in summary["outputs"] if o["port"] == port) for summary in here]
        rows.append([text, sum(event[key] for event in recorded["default"]), *items])
    return table(["six events", "LHCb's, recorded", "with LHCb's settings", "as it is"], rows)


def six_lines(runs, recorded):
    """Events that each line passes, of lines that pass any."""
    columns = {}
    for sequence, summary in runs[SIX].items():
        sources = {"": summary}
        if sequence in recorded:
            columns[f"`{sequence}`: LHCb's, recorded"] = [line for event in recorded[sequence] for line in event["decisions"]]
            sources = {" with LHCb's settings": runs[LHCB_SIX][sequence], "": summary}
        for text, of in sources.items():
            columns[f"`{sequence}`{text}"] = [row["name"] for row in of["results"]["selection_check"]["lines"] for _ in range(row["passed"])]
    names = sorted({line for lines in columns.values() for line in lines})
    return table(["events that pass", *map(bare, names)], [[text, *map(lines.count, names)] for text, lines in columns.items()])


# ------------------------------------------------------------------------------------------------------- simulated events

def velo_table(runs):
    check = next(iter(results(runs, MINIMUM_BIAS, "check").values()))
    rows = [[label(name), percent(*category(check, name)), percent(*lhcb(MINIMUM_BIAS, "default", "check", name))] for name in (*VELO, "ghosts")]
    for row, name in zip(rows, VELO):
        c = next(c for c in check["categories"] if c["name"] == name)
        clones = c["clones"] / (c["reconstructed"] + c["clones"]) if c["reconstructed"] else 0
        row += [f"{100 * share:.2f}" for share in (clones, c["purity"], c["hit_efficiency"])]
    rows[-1] += ["", "", ""]
    return table(["%", "found", "LHCb's", "clones", "purity", "hits of a particle"], rows)


def vertices_table(runs):
    check, theirs = next(iter(results(runs, MINIMUM_BIAS, "pv_check").values())), FIGURES[MINIMUM_BIAS]["vertices"]
    rows = [["found, %", percent(check["reconstructed"], check["reconstructible"]), ""],
            ["found, with unreconstructible ones, %", percent(check["matched"], check["reconstructible"]), percent(*theirs["found"])]]
    rows += [[f"{side}, with unreconstructible ones, %", percent(check[side]["matched"], check[side]["reconstructible"]), f"{100 * theirs[side]:.1f}"]
             for side in ("isolated", "close")]
    rows += [["false, %", percent(check["false"], check["false"] + check["pairs"]), f"{100 * theirs['false']:.1f}"], ["clones", check["clones"], "0"]]
    rows += [[f"{axis}: width, µm; pull", f"{1000 * check[f'resolution_{axis}_mm']:.1f}; {check[f'pull_{axis}']:.2f}", ""] for axis in "xyz"]
    return table(["", "found", "LHCb's"], rows)


def momentum_table(runs):
    found = results(runs, MINIMUM_BIAS, "long_check")
    rows = []
    for i, name in enumerate(m["name"] for m in next(iter(found.values()))["momentum"]):
        bins = [check["momentum"][i] for check in found.values()]
        rows.append([name, *(f"{100 * b['p_width']:.2f}, {100 * b['p_median']:+.2f}" if b["tracks"] > 20 else "" for b in bins)])
    return table(["width, bias of p, %", *(f"`{sequence}`" for sequence in found)], rows)


def muons_table(runs):
    found, theirs = results(runs, MINIMUM_BIAS, "muon_check"), FIGURES[MINIMUM_BIAS]["muons"]

    def shares(check, kinds, skip):
        bins = [b for kind in check["kinds"] if kind["name"] in kinds for b in kind["momentum"] if (b["name"] == ABOVE) != skip]
        return percent(sum(b["muons"] for b in bins), sum(b["tracks"] for b in bins))
    others = ("pions", "kaons", "protons", "electrons", "others")
    rows = [[f"{kind}, p > 3 GeV", *(shares(check, (kind,), False) for check in found.values()), ""] for kind in ("muons", *others[:-1], "ghosts")]
    rows += [[f"{text}, all p", *(shares(check, kinds, True) for check in found.values()), percent(*theirs[text])]
             for text, kinds in (("muons", ("muons",)), ("no muons", others), ("ghosts", ("ghosts",)))]
    return table(["called muons, %", *(f"`{sequence}`" for sequence in found), "LHCb's"], rows)


def electrons_table(runs):
    found = results(runs, MINIMUM_BIAS, "electron_check")
    rows = []
    names = [b["name"] for b in next(iter(found.values()))["momentum_bins"]]
    for sort, shown in (("electrons", names), ("hadrons", names), ("ghosts", ["all"])):
        for name in shown:
            bins = [check["momentum_bins"][names.index(name)][sort] for check in found.values()]
            rows.append([f"{sort}, {name}", *(percent(b["identified_electrons"], b["tracks"]) for b in bins)])
    for key, text in (("momentum", "p of the track"), ("momentum_with_photons", "p and what it radiated")):
        rows.append([f"{text}: width, bias", *(f"{100 * check[key]['width']:.1f}, {100 * check[key]['median']:+.1f}" for check in found.values())])
    return table(["called electrons, %", *(f"`{sequence}`" for sequence in found)], rows)


def photons_table(runs):
    check = next(iter(results(runs, MINIMUM_BIAS, "photon_check").values()))
    rows = [[b["name"], percent(b["found"], b["photons"]), f"{100 * b['energy_width']:.1f}, {100 * b['energy_median']:+.1f}", f"{b['x_width']:.1f}"]
            for b in check["photons"] if b["photons"]]
    return table(["photons", "found, %", "width, bias of the energy, %", "width of x, mm"], rows)


def rates_table(runs):
    """Rates of lines that pass one event of a thousand in one of the sequences, or that have a figure of LHCb."""
    found = results(runs, MINIMUM_BIAS, "selection_check")
    passed = {sequence: {bare(row["name"]): row["passed"] for row in (*check["lines"], check["any"])} for sequence, check in found.items()}
    names = dict.fromkeys(name for of in passed.values() for name in of)
    shown = [name for name in names if name in PUBLISHED
             or any(1000 * of.get(name, 0) >= found[sequence]["events"] for sequence, of in passed.items())]
    rows = [[name, *(khz(of[name], found[sequence]["events"]) if name in of else "" for sequence, of in passed.items()),
             khz(PUBLISHED[name], PUBLISHED_EVENTS) if name in PUBLISHED else ""] for name in shown]
    return table(["kHz", *(f"`{sequence}`" for sequence in found), "LHCb's"], rows)


def below_table(runs):
    """Where a category is below LHCb's figure, or ghosts are above it, by more than two errors."""
    rows = []
    for sample in (MINIMUM_BIAS, SIGNAL):
        for sequence in runs[sample]:
            for check, theirs in FIGURES[sample].get(sequence, {}).items():
                for name in (*theirs, *(BETWEEN if check == "long_check" else ())):
                    (found, of), (k, n) = category(runs[sample][sequence]["results"][check], name), lhcb(sample, sequence, check, name)
                    if not of:
                        continue
                    worse = (found / of - k / n) * (1 if name in GHOSTS else -1)
                    error = (fraction_error(found, of) ** 2 + fraction_error(k, n) ** 2) ** 0.5
                    if worse > 2 * error:
                        rows.append([sample.replace("_", " "), f"`{sequence}`", TRACKS[check], label(name), percent(k, n), percent(found, of),
                                     f"{100 * worse:.2f} ± {100 * error:.2f}"])
    return table(["events", "sequence", "tracks", "%", "LHCb's", "here", "worse by"], rows) if rows else ["Nowhere."]


def tables(options):
    """{name: lines} of what can be made from the summaries."""
    runs, recorded, made = load(options), reference(options), {}
    if runs[MINIMUM_BIAS]:
        makers = {"velo": velo_table, "vertices": vertices_table, "momentum": momentum_table, "muons": muons_table, "electrons": electrons_table,
                  "photons": photons_table, "rates": rates_table, "below": below_table}
        made = {name: maker(runs) for name, maker in makers.items()}
    for name, names in (("ut", UT), ("seed", SEED), ("long", LONG)):
        for sample, text in ((MINIMUM_BIAS, name), (SIGNAL, f"{name} of signal")):
            if results(runs, sample, f"{name}_check"):
                made[text] = efficiencies(runs, sample, f"{name}_check", names)
    if runs[SIX] and recorded:
        judged = judged_record(options, recorded["default"])
        made |= {"six long": six_long(runs, recorded, judged), "six lines": six_lines(runs, recorded)}
        if "default" in runs[SIX]:
            made["six stages"] = six_stages(runs, recorded, judged)
    return made


def write_into(pages, made):
    texts = [page.read_text() for page in pages]
    shown = " and ".join(map(str, pages))
    for name, lines in made.items():
        lines = "".join(line + "\n" for line in lines)
        places = 0
        for i, text in enumerate(texts):
            texts[i], count = re.subn(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", lambda place: place[1] + lines + place[2], text, flags=re.S)
            places += count
        if places != 1:
            sys.exit(f"{shown}: {places} places for the table {name}: `<!-- table {name} -->` and `<!-- end -->` around it")
    for name in {name for text in texts for name in re.findall(r"<!-- table (.*?) -->", text)} - set(made):
        print(f"{shown}: the table {name} is left as it was: no summary has its figures", file=sys.stderr)
    for page, text in zip(pages, texts):
        page.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "tables"))
    parser.add_argument("--sequences", default=",".join(SEQUENCES))
    parser.add_argument("--events", type=int, default=10000)
    parser.add_argument("--signal-events", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, action="append")
    parser.add_argument("--work", type=Path, default=ROOT / "build/physics_report")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SLUICE_DATA", ROOT.parent / "shared/data")))
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    options = parser.parse_args()
    options.sequences = options.sequences.split(",")
    for sequence in options.sequences:
        if sequence not in SEQUENCES:
            sys.exit(f"there is no sequence {sequence}: {', '.join(SEQUENCES)}")
    if options.what == "run":
        options.work.mkdir(parents=True, exist_ok=True)
        if not (options.data / "lhcb/minbias.mdf").exists():
            print(f"without the six events: {options.data}/lhcb/minbias.mdf is absent", file=sys.stderr)
        for sequence in options.sequences:
            run_sequence(options, sequence)
    made = tables(options)
    if not made:
        sys.exit(f"{options.work} has no summary of these sequences: bench/physics_report.py run makes them")
    if options.page:
        write_into(options.page, made)
    else:
        print("\n".join(f"\n{name}\n\n" + "\n".join(lines) for name, lines in made.items()))


if __name__ == "__main__":
    main()
