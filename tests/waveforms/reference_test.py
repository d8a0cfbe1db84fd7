#!/usr/bin/env python3
"""The chain for germanium detectors on 220 real waveforms, compared with all 34 columns of the reference: times and missing values
are equal, other values within the tolerances of the definition, against the peer in double and in single precision. The samples
after the correction of the decay are equal to the bit. Files that the command reads and writes have the same columns."""
import sys
import tempfile
from pathlib import Path

from common import DATA, ROOT, Checks, call

FOLDER = DATA / "waveforms"
FILES = {"ldqta": "LDQTA_r117_20200110T105115Z_cal_geds_raw.lh5", "cal1": "l200-p03-r001-cal-20230318T012144Z-tier_raw.lh5",
         "cal2": "l200-p03-r001-cal-20230318T012228Z-tier_raw.lh5", "phy": "l200-p03-r001-phy-20230322T160139Z-tier_raw.lh5"}
try:
    import h5py
    import numpy
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
for needed in [FOLDER / "reference.npz", *(FOLDER / name for name in FILES.values())]:
    if not needed.exists():
        print(f"skipped: {needed} is absent; set SLUICE_DATA to the folder of the samples")
        sys.exit(77)
import sluice  # noqa: E402

PERIOD = 16.0
checks = Checks(says_passed=False)

# Columns of the reference by node and field of graphs/common/waveforms_icpc.yaml, and the bit of `valid`.
TIMES = {"tp_0_est": "tp_0_est", "tp_0_atrap": "tp_0_atrap", **{f"tp_{p}": f"tp_{p}" for p in "01 10 20 50 80 90 95 99 100".split()}}
VALUES = {"bl_mean": ("baseline", "mean", 0), "bl_std": ("baseline", "deviation", 1), "bl_slope": ("baseline", "slope", 2),
          "bl_intercept": ("baseline", "intercept", 3), "pz_mean": ("tail", "mean", 0), "pz_std": ("tail", "deviation", 1),
          "pz_slope": ("tail", "slope", 2), "trapTmax": ("trap_max", "value", 0), "trapEmax": ("trap_max", "value", 0),
          "trapEftp": ("trap_pick", "value", 0), "cuspEmax": ("cusp_max", "maximum", 1), "cuspEftp": ("cusp_pick", "value", 0),
          "zacEmax": ("zac_max", "maximum", 1), "zacEftp": ("zac_pick", "value", 0), "QDrift": ("q_drift", "value", 0),
          "dt_eff": ("dt_eff", "value", 0), "A_max": ("current_peak", "maximum", 1), "wf_min": ("samples", "minimum", 0),
          "wf_max": ("samples", "maximum", 1)}
# Largest differences, by the value, the largest sample of its waveform and its energy: of the peer in single and in double precision.
NONE = (lambda v, w, e: 0 * v, lambda v, w, e: 0 * v)
FIT = (lambda v, w, e: 0.02 + 2e-5 * abs(v), lambda v, w, e: 2e-7 * abs(v))
SLOPE = (lambda v, w, e: 2e-7 * abs(v) + 1e-7, lambda v, w, e: 2e-7 * abs(v) + 1e-9)
TAIL = (lambda v, w, e: 0.03 + 1e-4 * abs(v), lambda v, w, e: 2e-7 * abs(v))
ENERGY = (lambda v, w, e: 0.06 + 0 * v, lambda v, w, e: 2e-7 * w)
CUSP = (lambda v, w, e: 0.02 + 0 * v, lambda v, w, e: 2e-7 * w)
LIMITS = {"wf_min": NONE, "wf_max": NONE, "bl_mean": FIT, "bl_std": FIT, "bl_slope": SLOPE, "pz_mean": TAIL, "pz_std": TAIL,
          "pz_slope": SLOPE,
          "bl_intercept": (lambda v, w, e: 2e-7 * abs(v) + 1e-4, SLOPE[1]),
          "trapTmax": ENERGY, "trapEmax": ENERGY, "trapEftp": ENERGY, "cuspEmax": CUSP, "cuspEftp": CUSP, "zacEmax": CUSP,
          "zacEftp": CUSP, "QDrift": (lambda v, w, e: 0.5 + 0 * v, lambda v, w, e: 1e-6 * 16 * abs(e)),
          "dt_eff": (lambda v, w, e: 1e-4 + 2e-4 * abs(v), lambda v, w, e: 1e-6 + 0 * v),
          "A_max": (lambda v, w, e: 0.006 + 0 * v, lambda v, w, e: 1e-6 * w)}
# Whole waveforms of some rows, within 0.05 ADC of the peer in single precision.
STEPS = {"wf_pz": "pz.corrected", "wf_t0_filter": "t0", "wf_atrap": "atrap", "wf_cusp": "cusp", "wf_zac": "zac", "curr": "current",
         "curr_av": "smooth"}


def time(index, period=PERIOD):
    return numpy.where(index < 0, numpy.nan, index * period)


def columns(arrays):
    """All columns as the reference has them: NaN where there is no value."""
    found = {"tp_min": time(arrays.samples.first_minimum), "tp_max": time(arrays.samples.first_maximum)}
    for name, node in TIMES.items():
        found[name] = time(arrays[node].index)
    for name, (node, field, bit) in VALUES.items():
        port = arrays[node]
        found[name] = numpy.where(port.valid >> bit & 1, port[field].astype(float), numpy.nan)
    peak = arrays.current_peak.first_maximum  # in sixteenths of a sample
    found["tp_aoe_max"] = time(peak, 1.0)
    found["tp_aoe_samp"] = time(arrays.tp_0_est.index) + time(peak, PERIOD / 16)
    return found


def run(values, baseline):
    graph = sluice.Graph(str(ROOT / "graphs/waveforms/icpc.yaml"), set={"raw.samples": values.shape[1]})
    graph.output(*dict.fromkeys([*(node for node, _, _ in VALUES.values()), *TIMES.values(), *STEPS.values()]))
    events = len(values)
    return graph.arrays(inputs={"traces": {
        "value": values, "baseline": baseline.astype("u2"), "channel": numpy.zeros(events, "u4"),
        "table": numpy.zeros((events, 32), "u1"), "timestamp": numpy.zeros(events), "digitiser_energy": numpy.zeros(events, "f4")}})


def write(tag, folder):
    """The file of columns that the command makes of a file of waveforms."""
    path = Path(folder) / f"{tag}.lh5"
    call("run", ROOT / "graphs/waveforms/icpc.yaml", "--with", ROOT / "graphs/output/waveforms_lh5.yaml", "-i", FOLDER / FILES[tag],
         "-o", path, "--quiet")
    return path


def compare_file(path, channel, found):
    with h5py.File(path) as file:
        table = file[channel]["dsp"]
        checks.that(sorted(table) == sorted(found), f"{path.name}/{channel}: columns of the file")
        for name, values in found.items():
            checks.that(numpy.array_equal(table[name][:], values.astype("f4"), equal_nan=True), f"{path.name}/{channel}/{name}: written")
            unit = "ns" if name.startswith("tp_") else "ADC"
            units = table[name].attrs.get("units", "")
            checks.that(table[name].attrs["datatype"] == "array<1>{real}" and units.startswith(unit), f"{name}: {units}")


def compare(tag, channel, reference, worst, path):
    with h5py.File(FOLDER / FILES[tag]) as file:
        raw = file[channel]["raw"]
        values, baseline = raw["waveform/values"][:], raw["baseline"][:]
    arrays = run(values, baseline)
    found = columns(arrays)
    compare_file(path, channel, found)
    expected = {key.split("/")[2]: key for key in reference.files if key.startswith(f"{tag}/{channel}/")}
    checks.that(sorted(found) == sorted(expected), f"{tag}/{channel}: columns")
    largest, energy = values.max(1).astype(float), numpy.nan_to_num(reference["f64/" + expected["trapTmax"]])
    for name, key in expected.items():
        for k, kind in enumerate(("", "f64/")):
            theirs, ours = reference[kind + key].astype(float), found[name]
            missing = numpy.isnan(theirs)
            checks.that(numpy.isnan(ours).tolist() == missing.tolist(), f"{kind}{key}: missing values")
            difference = numpy.where(missing, 0, abs(ours - theirs))
            limit = LIMITS[name][k](theirs, largest, energy) if name in LIMITS else 0 * theirs
            limit = numpy.where(missing, 1, limit)
            ratio = numpy.where(difference > 0, difference / numpy.maximum(limit, 1e-300), 0)
            worst[name, k] = max(worst.get((name, k), 0), ratio.max())
            row = ratio.argmax()
            checks.that((difference <= limit).all(), f"{kind}{key}: differs by {difference[row]}, at most {limit[row]}, in row {row}")
    return arrays, len(values)


def compare_steps(prefix, arrays, reference):
    for key in (key for key in reference.files if key.startswith(prefix)):
        row, name = key.removeprefix(prefix).split("/")
        if name not in STEPS:
            continue
        ours, theirs = arrays[STEPS[name]].value[int(row)], reference[key].astype("f4")
        if name == "wf_pz":
            checks.that(ours.tolist() == theirs.tolist(), f"{key}: equal to the bit")
        else:
            difference = abs(ours.astype(float) - theirs)
            checks.that(difference.max() <= 0.05, f"{key}: differs by {difference.max()} at {difference.argmax()}")


def compare_channels(tag, path, reference, worst):
    rows = 0
    for channel in sorted({key.split("/")[1] for key in reference.files if key.startswith(tag + "/")}):
        arrays, count = compare(tag, channel, reference, worst, path)
        compare_steps(f"steps/{tag}/{channel}/", arrays, reference)
        rows += count
    return rows


def main():
    reference, worst, rows = numpy.load(FOLDER / "reference.npz"), {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for tag in FILES:
            rows += compare_channels(tag, write(tag, folder), reference, worst)
    checks.that(rows == 220, "rows")
    for name, k in sorted(worst):
        if k == 0:
            print(f"{name:13} largest difference by its limit: {worst[name, 0]:.2f} (peer f32), {worst[name, 1]:.2f} (peer f64)")
    checks.end()


main()
