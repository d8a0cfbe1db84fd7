#!/usr/bin/env python3
"""Compares waveforms/icpc.yaml with dspeed (PyPI) on the same file of distinct simulated pulses, on one core each, in turn:
CPU time per waveform with and without reading, and position and width of a line.

    python3 -m venv peer && peer/bin/pip install dspeed==2.4.3
    bench/waveforms.py --peer peer/bin/python --config icpc-dsp-config.json

icpc-dsp-config.json: tests/configs of dspeed. Without --peer, only Sluice is measured. Needs h5py and NumPy.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENERGIES = ("trapEmax", "trapEftp", "cuspEmax", "zacEmax")
REPEATS = 8


# -------------------------------------------------------------------------------------------------------- the peer

def serve_peer(path, config):
    """Runs in the peer's Python: for each line of the input a measurement, as a line of JSON."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    import numpy
    from dspeed.processing_chain import build_processing_chain
    import lh5

    def read():
        return lh5.read("geds/raw", path)

    def chain_of(table):
        return build_processing_chain(config, tb_in=table, outputs=config["outputs"], block_width=16)

    table = read()
    chain, _, out = chain_of(table)[:3]
    for line in sys.stdin:
        begin = time.process_time()
        if line.strip() == "reading":
            chain, _, out = chain_of(read())[:3]
        chain.execute()
        seconds = time.process_time() - begin
        result = {"seconds": seconds, "values": {name: numpy.asarray(out[name].nda, "f8").tolist() for name in ENERGIES}}
        print(json.dumps(result), flush=True)


class Peer:
    def __init__(self, python, path, config):
        command = [python, __file__, "--serve-peer", str(path), "--config", config]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("warm up")  # compiles

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def measure(self, count):
        answer = self.ask("processing")
        with_reading = self.ask("reading")["seconds"]
        return answer["seconds"] / count, with_reading / count, answer["values"]


# ------------------------------------------------------------------------------------------------------------ Sluice

def run(sluice, path, *arguments):
    """CPU seconds of the command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sluice, "run", ROOT / "graphs/waveforms/icpc.yaml", "-i", path, "--slots", "1", "--source-threads", "1", "--quiet", *arguments]
    subprocess.run([str(part) for part in command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(sluice, path, count):
    """CPU seconds per waveform of processing alone, and of the command with its start and reading."""
    once, again = run(sluice, path), run(sluice, path, "--repeat", REPEATS)
    return (again - once) / (REPEATS - 1) / count, once / count


def energies(sluice, path, folder):
    import h5py

    run(sluice, path, "--with", ROOT / "graphs/output/waveforms_lh5.yaml", "-o", folder / "dsp.lh5")
    with h5py.File(folder / "dsp.lh5") as file:
        return {name: file["geds/dsp"][name][:].astype("f8") for name in ENERGIES}


# ---------------------------------------------------------------------------------------------------------- pulses

def write_pulses(path, count, samples, kev):
    """Simulated pulses of one energy as an LH5 file."""
    import h5py

    sys.path.insert(0, str(ROOT / "python"))
    import sluice

    graph = sluice.Graph("waveforms/simulate.yaml", set={"raw.energy": "line", "raw.line": kev, "raw.samples": samples})
    # The pulse lies where the cusp filters have their flat tops.
    graph.set("raw.pulse_begin_min", 2896 - (8192 - samples) // 2)
    graph.set("raw.pulse_begin_max", 2960 - (8192 - samples) // 2)
    columns = "{timestamp,baseline,waveform}"
    with h5py.File(path, "w") as file:
        raw = file.create_group("geds/raw")
        file["geds"].attrs["datatype"] = "struct{raw}"
        raw.attrs["datatype"] = "table" + columns
        wave = raw.create_group("waveform")
        wave.attrs["datatype"] = "table{t0,dt,values}"
        values = wave.create_dataset("values", (count, samples), "u2", chunks=(13, samples))
        values.attrs["datatype"] = "array_of_equalsized_arrays<1,1>{real}"
        baseline = raw.create_dataset("baseline", (count,), "u2")
        for batch in graph.run(n=count):
            values[batch.first : batch.first + len(batch)] = batch["raw.traces"].value
            baseline[batch.first : batch.first + len(batch)] = batch["raw.traces"].baseline
        for name, value, unit in (("dt", 16.0, "ns"), ("t0", 0.0, "ns")):
            wave.create_dataset(name, data=[value] * count, dtype="f4").attrs.update({"datatype": "array<1>{real}", "units": unit})
        raw.create_dataset("timestamp", data=list(range(count)), dtype="f8").attrs.update({"datatype": "array<1>{real}", "units": "s"})
        baseline.attrs["datatype"] = "array<1>{real}"


def line_of(values, adc_per_kev=7.0):
    """Mean, and 2.355 rms of what lies within 4 rms of it, in keV."""
    import numpy

    values = numpy.asarray(values) / adc_per_kev
    kept = values
    for _ in range(20):
        kept = values[abs(values - kept.mean()) <= 4 * kept.std(ddof=1)]
    return kept.mean(), 2.355 * kept.std(ddof=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=ROOT / "build/cpu-release/sluice", type=Path)
    parser.add_argument("--peer", help="Python with dspeed")
    parser.add_argument("--config", help="configuration of dspeed")
    parser.add_argument("-n", type=int, default=4000, help="number of waveforms")
    parser.add_argument("--samples", type=int, default=5592)
    parser.add_argument("--kev", type=float, default=2614.5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve-peer", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve_peer:
        return serve_peer(arguments.serve_peer, json.loads(Path(arguments.config).read_text()))
    if arguments.peer and not arguments.config:
        parser.error("--peer needs --config")
    os.environ.setdefault("SLUICE_LIBRARY", str(arguments.sluice.resolve().with_name("libsluice.so.0")))
    with tempfile.TemporaryDirectory() as name:
        folder, count = Path(name), arguments.n
        path = folder / "raw.lh5"
        write_pulses(path, count, arguments.samples, arguments.kev)
        peer = Peer(arguments.peer, path, arguments.config) if arguments.peer else None
        times, theirs = {"Sluice": []}, None
        for _ in range(arguments.rounds):
            times["Sluice"].append(measure(arguments.sluice, path, count))
            if peer:
                *of_peer, theirs = peer.measure(count)
                times.setdefault("dspeed", []).append(of_peer)
        print(f"{count} waveforms of {arguments.samples} samples, {arguments.rounds} rounds, CPU time of one core per waveform")
        for program, rounds in times.items():
            for k, what in enumerate(("processing", "with start and reading" if program == "Sluice" else "with reading")):
                of_rounds = [1e6 * r[k] for r in rounds]
                middle = statistics.median(of_rounds)
                print(f"{program:7} {what:23} {middle:7.1f} us ({min(of_rounds):.1f} to {max(of_rounds):.1f}), {1e6 / middle:7.0f} /s")
        if peer:
            for k, what in enumerate(("processing", "with reading")):
                ratios = [b[k] / a[k] for a, b in zip(times["Sluice"], times["dspeed"])]
                print(f"ratio   {what:23} {statistics.median(ratios):7.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        ours = energies(arguments.sluice, path, folder)
        for name in ENERGIES:
            position, width = line_of(ours[name])
            text = f"{name:9} {position:10.4f} keV, FWHM {width:.4f} keV"
            if peer:
                of_peer = line_of(theirs[name])
                text += f"; dspeed {of_peer[0]:10.4f}, {of_peer[1]:.4f}: {100 * (position / of_peer[0] - 1):+.6f} %, {width - of_peer[1]:+.4f} keV"
            print(text)


if __name__ == "__main__":
    main()
