#!/usr/bin/env python3
"""truth.event_picture in graphs with simulated events: the file is valid, small, and agrees with the report and the
check; the requested event is drawn; errors are reported, and leave no file."""
import json
import os
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from common import ROOT, Checks, call

checks = Checks()
GRAPH = ROOT / "graphs/velo_picture.yaml"
SPECTROMETER = ROOT / "graphs/spectrometer_picture.yaml"
DATA = Path(os.environ.get("SLUICE_DATA", ROOT.parent / "shared/data")) / "lhcb"
SVG = "{http://www.w3.org/2000/svg}"
PANELS = 5  # of the spectrometer
IN_LEGEND = 3  # samples of long tracks in the legend: a track, a muon, and a ghost if the truth is shown


def draw(path, *arguments, graph=GRAPH):
    """Summary of a run with a drawing, and root of the drawing."""
    done = call("run", graph, "-o", path, "--json", "-", "--quiet", *arguments)
    checks.that(not Path(f"{path}.part").exists(), f"{path.name}: the partial file does not remain")
    return json.loads(done.stdout), ElementTree.parse(path).getroot()


def lines(root, kind):
    """Lines of a kind in the z-r view."""
    return sum(len(group.findall(f"{SVG}path")) for group in root.iter(f"{SVG}g") if group.get("class") == kind)


def texts(root):
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def text_after(root, start):
    """The rest of the only text that begins with `start`."""
    (found,) = [text for text in texts(root) if text.startswith(start)]
    return found[len(start):]


def drawn(root, kind):
    """Number of drawn tracks of a kind, from the legend."""
    return int(text_after(root, f"{kind}: "))


def shows(root, text):
    return any(text in line for line in texts(root))


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "event.svg"
    # One event, so that the counts of the check and of the picture agree.
    for seed in (1, 2, 3):
        summary, root = draw(path, "-n", 1, "--set", f"seed={seed}")
        picture, check = summary["results"]["picture"], summary["results"]["check"]
        checks.that((picture["tracks"], picture["ghosts"]) == (check["tracks"], check["ghosts"]), f"seed {seed}: tracks and ghosts of the check")
        checks.that(picture["bytes"] == path.stat().st_size and picture["path"] == str(path), f"seed {seed}: the report names the file")
        checks.that(lines(root, "found") == picture["matched"] == picture["tracks"] - picture["ghosts"], f"seed {seed}: a line for each matched track")
        checks.that(lines(root, "ghost") == picture["ghosts"], f"seed {seed}: a line for each ghost")
        missed = picture["particles"] - picture["particles_found"]
        checks.that(lines(root, "missed") + lines(root, "other") == missed, f"seed {seed}: a line for each missed particle ({missed})")
        velo = next(c for c in check["categories"] if c["name"] == "velo")
        checks.that(shows(root, f"that are no electrons, {velo['reconstructed']} of {velo['reconstructible']}."), f"seed {seed}: the check's efficiency")
        checks.that(shows(root, "VELO, run 1, event 0"), f"seed {seed}: the title names the event")
        checks.that(picture["true_vertices"] > 0 and shows(root, "true, 4 tracks or more: "), f"seed {seed}: true vertices")

    # selection of the event
    events = ("-n", 100)
    busiest, root = draw(path, *events, "--set", "picture.choose=busiest")
    most = busiest["results"]["picture"]
    checks.that(path.stat().st_size < 300_000, f"the busiest event ({most['tracks']} tracks) has {path.stat().st_size} bytes, below 300,000")
    checks.that(shows(root, f"event {most['event']}"), "the title is that of the busiest event")
    again = Path(folder) / "again.svg"
    one, _ = draw(again, *events, "--set", f"picture.event={most['event']}", "--slots", 2, "--slice-events", 7)
    checks.that(one["results"]["picture"]["tracks"] == most["tracks"], "the event is drawn if chosen by its number")
    checks.that(again.read_bytes() == path.read_bytes(), "the file does not depend on slices")
    counts = [draw(path, *events, "--set", f"picture.event={e}")[0]["results"]["picture"]["tracks"] for e in (1, 50, 99)]
    checks.that(max(counts) <= most["tracks"], f"others have {counts} tracks")

    # with fewer inputs
    overlay = Path(folder) / "overlay.yaml"
    overlay.write_text(f"sluice: 1\ninclude: [{GRAPH}]\nnodes:\n  picture: {{ in: {{ hits: null, geometry: null, mc_particles: null, mc_vertices: null }} }}\n")
    summary, root = draw(path, "-n", 1, graph=overlay)
    checks.that(lines(root, "track") == summary["results"]["picture"]["tracks"] > 0 and lines(root, "found") == 0, "without truth all tracks are of one kind")
    checks.that(shows(root, "no Monte-Carlo truth") and shows(root, "not judged: no truth"), "the picture gives the reason")
    summary, root = draw(path, "-n", 1, "--use", "clusters=velo.masked_clustering", "--set", "picture.mask_fraction_bits=true",
                         "--set", "check.mask_fraction_bits=true", "--guard")
    check, picture = summary["results"]["check"], summary["results"]["picture"]
    checks.that((picture["tracks"], picture["ghosts"]) == (check["tracks"], check["ghosts"]), "super-pixels: tracks and ghosts of the check")

    # errors
    def refuses(text, *arguments, status=1):
        nothing = Path(folder) / "nothing.svg"
        done = call("run", GRAPH, "-n", 5, *(arguments or ("-o", nothing)), expect=status)
        checks.that(text in done.stderr and not list(Path(folder).glob("nothing*")), f"'{text}' is reported, and no file is left" + ("" if text in done.stderr else f"; said:\n{done.stderr}"))

    nothing = Path(folder) / "nothing.svg"
    refuses("event 7 is not among the events without error", "-o", nothing, "--set", "picture.event=7")
    refuses('`choose` must be one of first, busiest, not `last`', "-o", nothing, "--set", "picture.choose=last", status=2)
    refuses("no output file is given: use -o, or the property path", "--quiet", status=2)
    refuses("cannot be written: ", "-o", Path(folder) / "none" / "nothing.svg", status=2)
    kept = Path(folder) / "kept.svg"
    kept.write_text("an older picture")
    call("run", GRAPH, "-n", 5, "-o", kept, "--set", "picture.event=7", expect=1)
    checks.that(kept.read_text() == "an older picture", "an older file remains if no new picture is made")
    by_property = json.loads(call("run", GRAPH, "-n", 1, "--json", "-", "--quiet", "--set", f"picture.path={nothing}").stdout)
    checks.that(by_property["results"]["picture"]["path"] == str(nothing) and nothing.exists(), "the property path takes precedence over -o")
# the whole spectrometer, in events of full simulation: hits of x layers of UT and SciFi, pads and x strips of muon
# chambers, and energy (GeV) of the calorimeter, from an independent decoder; tracks from the truth
SAMPLE = {6001: (1047, 3227, 275, 2190.17, 121, 414), 6002: (388, 1100, 44, 544.37, 30, 104), 6003: (417, 1274, 135, 873.81, 49, 147),
          6004: (464, 1614, 197, 818.19, 69, 195), 6005: (579, 1848, 188, 1251.17, 105, 246), 6006: (227, 1118, 64, 335.42, 24, 89)}


def dots(root, name):
    """Dots in each path of a class."""
    return [path.get("d").count("m") for path in root.iter(f"{SVG}path") if path.get("class") == name]


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "event.svg"
    summary, root = draw(path, "-n", 20, "--set", "picture.choose=busiest", graph=SPECTROMETER)
    picture = summary["results"]["picture"]
    checks.that(picture["ut_hits"] > 300 and picture["scifi_hits"] > 1000, f"a simulated event has {picture['ut_hits']} and {picture['scifi_hits']} hits in UT and SciFi")
    checks.that(picture["muon_hits"] > 50 and picture["energy_gev"] > 200, f"a simulated event has {picture['muon_hits']} hits in the muon chambers, and {picture['energy_gev']:.0f} GeV in the calorimeter")
    checks.that(picture["true_tracks"] > picture["long_tracks"] > 50, f"of {picture['true_tracks']} true tracks {picture['long_tracks']} are long")
    checks.that(lines(root, "true-long") == 0 and not shows(root, "True tracks"), "true tracks are not drawn by default")
    summary, root = draw(path, "-n", 1, "--set", "seed=3", "--set", "picture.truth=true", graph=SPECTROMETER)
    picture, check = summary["results"]["picture"], summary["results"]["ut_check"]
    checks.that((picture["found_ut_tracks"], picture["ut_ghosts"]) == (check["tracks"], check["ghosts"]), "VELO-UT tracks and ghosts of the check")
    check = summary["results"]["long_check"]
    checks.that((picture["found_long_tracks"], picture["long_ghosts"]) == (check["tracks"], check["ghosts"]), "long tracks and ghosts of the check")
    muons = sum(b["muons"] for kind in summary["results"]["muon_check"]["kinds"] for b in kind["momentum"][:-1])
    checks.that(picture["found_muons"] == muons > 0, f"muons of the check, {muons}")
    checks.that(lines(root, "true-long") == PANELS * picture["long_tracks"] + 1, "each true long track is drawn in each panel, and one line in the legend")
    checks.that(lines(root, "long") == PANELS * picture["found_long_tracks"] + IN_LEGEND, "each long track is drawn in each panel")
    long_ids = picture["found_ut_tracks"] - drawn(root, "VELO-UT")
    checks.that(0 < long_ids <= picture["found_long_tracks"], f"{long_ids} of {picture['found_ut_tracks']} VELO-UT tracks continue and are not drawn")
    checks.that(lines(root, "velo-ut") == 4 * drawn(root, "VELO-UT") + 1, "the others are drawn in four panels")
    ghosts = sum("ghost" in line.get("class", "").split() for group in root.iter(f"{SVG}g") if group.get("class") == "long" for line in group)
    checks.that(ghosts == PANELS * picture["long_ghosts"] + 1 and picture["long_ghosts"] > 0, f"each of {picture['long_ghosts']} ghosts among long tracks is dashed")
    faster, root = draw(path, "-n", 1, "--set", "seed=3", "--set", "picture.min_p=5000", graph=SPECTROMETER)
    hidden = picture["found_long_tracks"] - drawn(root, "long")
    checks.that(0 < hidden < picture["found_long_tracks"] and lines(root, "long") == PANELS * drawn(root, "long") + IN_LEGEND - 1, f"of {picture['found_long_tracks']} long tracks {hidden} with less than 5 GeV are not drawn")
    velo = int(text_after(root, "hidden, VELO, no momentum: "))
    others = int(text_after(root, "hidden, below 5000 MeV: "))
    checks.that(others >= hidden and faster["results"]["picture"]["hidden_tracks"] == others + velo and velo > 50, f"the legend and the report have the hidden tracks, {others} and {velo}")
    done = call("run", SPECTROMETER, "-n", 1, "-o", path, "--set", "picture.line=Hlt1TrackMVA", expect=2)
    checks.that("line: `Hlt1TrackMVA`: no lines are connected; connect them with `in: { lines: all }`" in done.stderr, "a line without connected lines is refused")

# the part that adds the picture to a trigger
SEQUENCES = sorted((ROOT / "graphs").glob("hlt1_pp_*.yaml"))
for sequence in SEQUENCES:
    part, tracks = ("event_picture_forward_then_matching", "long_tracks.merged") if "forward_then_matching" in sequence.name else ("event_picture", "")
    wiring = call("check", sequence, "--with", ROOT / f"graphs/output/{part}.yaml").stdout.partition("\npicture ")[2]
    checks.that(f"    long_tracks      <- {tracks}" in wiring, f"{sequence.name}: the picture gets the long tracks")
checks.that(len(SEQUENCES) >= 10, f"{len(SEQUENCES)} sequences can be drawn")

if (DATA / "minbias.mdf").exists():
    sample = ("-i", DATA / "minbias.mdf", "--set", f"geometry={DATA / 'geometry'}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "event.svg"
        for event, (ut, scifi, muon, energy, long_tracks, true_tracks) in SAMPLE.items():
            summary, root = draw(path, *sample, "--set", f"picture.event={event}", graph=SPECTROMETER)
            picture = summary["results"]["picture"]
            checks.that((picture["ut_hits"], picture["scifi_hits"], picture["muon_hits"]) == (ut, scifi, muon), f"event {event}: hits of UT, SciFi, muon chambers")
            checks.that(abs(picture["energy_gev"] - energy) < 0.01, f"event {event}: energy")
            checks.that((picture["long_tracks"], picture["true_tracks"]) == (long_tracks, true_tracks), f"event {event}: true tracks")
            checks.that(lines(root, "true-long") == 0, f"event {event}: no true tracks without picture.truth")
            # UT: both views of the whole spectrometer, VELO and UT, UT; SciFi: view from above, SciFi
            checks.that(dots(root, "ticks")[:6] == [ut, scifi, ut, 0, ut, ut], f"event {event}: a mark for each hit of the trackers, in each panel with a measured coordinate")
            checks.that(dots(root, "ticks")[6] == scifi, f"event {event}: SciFi hits, enlarged")
            checks.that(dots(root, "pads")[0] == muon, f"event {event}: a mark for each hit of the muon chambers")
            _, root = draw(path, *sample, "--set", f"picture.event={event}", "--set", "picture.truth=true", graph=SPECTROMETER)
            checks.that(lines(root, "true-long") == PANELS * long_tracks + 1, f"event {event}: a line for each true long track in each panel, and one in the legend")
        busiest, root = draw(path, *sample, "--set", "picture.choose=busiest", graph=SPECTROMETER)
        checks.that(busiest["results"]["picture"]["event"] == 6001 and path.stat().st_size < 450_000, f"the busiest event takes {path.stat().st_size} bytes, below 450,000")
        again = Path(folder) / "again.svg"
        draw(again, *sample, "--set", "picture.choose=busiest", "--slots", 2, "--slice-events", 1, graph=SPECTROMETER)
        checks.that(again.read_bytes() == path.read_bytes(), "the picture of the busiest event does not depend on slices")

        # candidates of lines that passed, in a trigger
        trigger, line = ROOT / "graphs/hlt1_pp_default.yaml", "Hlt1TwoTrackMVACharmXSec"
        highlighted = (*sample, "--with", ROOT / "graphs/output/event_picture.yaml", "--set", "picture.event=6001")
        summary, root = draw(path, *highlighted, graph=trigger)
        passed = {entry["name"]: entry["candidates"] for entry in summary["results"]["picture"]["lines"]}
        checks.that(passed == {line: 1, "Hlt1KsToPiPi": 1}, f"lines that passed event 6001: {passed}")
        checks.that(shows(root, f"{line}: 1 candidate") and shows(root, "Hlt1KsToPiPi: 1 candidate"), "the legend names them")
        tracks = int(text_after(root, "tracks of candidates: "))
        checks.that(2 <= tracks <= 4 and lines(root, "candidate") == PANELS * tracks + 1, f"the {tracks} tracks of their candidates are drawn bold in each panel")
        checks.that(lines(root, "long") == PANELS * (summary["results"]["picture"]["found_long_tracks"] - tracks) + IN_LEGEND - 1, "and no second time among the long tracks")
        _, root = draw(path, *highlighted, "--set", f"picture.line={line}", graph=trigger)
        checks.that(lines(root, "candidate") == PANELS * 2 + 1 and not shows(root, "Hlt1KsToPiPi"), "one line is selected: two tracks")
        _, root = draw(path, *highlighted, "--set", "picture.line=Hlt1TrackMVA", graph=trigger)
        checks.that(lines(root, "candidate") == 1 and shows(root, "Hlt1TrackMVA did not pass"), "a line that did not pass has no tracks")
        done = call("run", trigger, *highlighted, "-o", path, "--set", "picture.line=Hlt1Nothing", expect=2)
        checks.that("line: `Hlt1Nothing` is none of the 66 connected lines, such as `Hlt1TwoTrackMVACharmXSec`" in done.stderr, "an unknown line is refused")
else:
    print(f"no shared data: {DATA} (set SLUICE_DATA)")
checks.end()
