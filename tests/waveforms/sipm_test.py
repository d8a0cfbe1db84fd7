#!/usr/bin/env python3
"""The SiPM chain on simulated waveforms finds the true pulses, and on LEGEND's 60 real waveforms gives the reference values of
dspeed, to the last bit: indices, energies, half widths (spec of the chain: plugins/waveforms/README.md).
"""
import sys
import warnings

from common import DATA, ROOT, Checks

try:
    import numpy as np
    import sluice
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

checks = Checks()
GRAPH = ROOT / "graphs/waveforms/sipm.yaml"
WAVEFORMS = DATA / "waveforms/L200-comm-20211130-phy-spms.lh5"


def compare_with_reference():
    try:
        import h5py
    except ImportError:
        print("skipped: real waveforms need h5py (Debian: python3-h5py)")
        return
    if not WAVEFORMS.exists():
        print(f"skipped: {WAVEFORMS} is absent; set SLUICE_DATA to the folder of the samples")
        return
    reference, pulses = np.load(DATA / "waveforms/reference.npz"), 0
    with h5py.File(WAVEFORMS) as file:
        for channel in sorted(file):
            values = file[f"{channel}/raw/waveform/values"][:]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = sluice.Graph(GRAPH).arrays(inputs={"traces": {"value": values}})
            of = {name: reference[f"sipm/{channel}/{name}"] for name in ("trigger_pos.ends", "trigger_pos", "energies", "fwhm", "max_out")}
            checks.that(np.array_equal(found.pulses.offsets[1:], of["trigger_pos.ends"]), f"{channel}: numbers of pulses")
            checks.that(np.array_equal(found.pulses["index"], of["trigger_pos"]), f"{channel}: indices")
            checks.that(np.array_equal(found.pulses.energy, of["energies"].astype(np.float32)), f"{channel}: energies")
            checks.that(np.array_equal(found.widths.half_width, of["fwhm"]), f"{channel}: half widths")
            checks.that(np.array_equal(found.widths.position, of["max_out"]), f"{channel}: positions of the fullest bins")
            checks.that(np.all(found.widths.valid == 3), f"{channel}: all waveforms have a half width")
            maxima = sum("maxima after the first" in str(warning.message) for warning in caught)
            checks.that(maxima == (3 if channel == "ch2" else 0), f"{channel}: {maxima} waveforms have more than 20 maxima")
            pulses += len(found.pulses)
    checks.that(pulses == 341, f"{pulses} pulses")


def find_simulated():
    graph = sluice.Graph(ROOT / "graphs/waveforms/sipm_check.yaml", set={"raw.pulses": 3})
    for port in ("pulses", "raw.truth"):
        graph.output(port)
    found = graph.arrays(n=400)
    truth = found["raw.truth"]
    true_pulses = int(np.sum((truth.amplitude > 0) * (1 + truth.pile_up.astype(int))))
    checks.that(abs(true_pulses - 1200) < 4 * 1200**0.5, f"{true_pulses} true pulses")
    checks.that(0.98 * true_pulses < len(found.pulses) < 1.03 * true_pulses, f"{len(found.pulses)} pulses are found")
    alone = (truth.amplitude > 0) & (truth.pile_up == 0) & (np.diff(found.pulses.offsets) == 1)
    index = found.pulses["index"][found.pulses.offsets[:-1][alone]]
    off = index - truth.begin[alone]
    checks.that(len(off) > 30 and np.all(np.abs(off + 1.5) < 4), f"{len(off)} single pulses are found where they are")
    results = found.summary["results"]["check"]
    checks.that(results["true_pulses"] == true_pulses and results["found_pulses"] == len(found.pulses), "the check counts them")


find_simulated()
compare_with_reference()
checks.end()
