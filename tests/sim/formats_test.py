#!/usr/bin/env python3
"""Simulated events written to a file and read back equal those of the direct run, in all formats and bank versions; on a
full disk and after a killed run, the file has whole events and an error is reported."""
import resource
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from common import ROOT, SLUICE, Checks, call, run_simulated

checks = Checks()
COPY = ROOT / "graphs/copy.yaml"
MEP_SINK, MEP_SOURCE = ("--use", "write=io.mep_sink"), ("--use", "raw=io.mep_source")
COUNT = ("-n", 30)


def outcome(graph, *arguments):
    """Digests of all outputs, and results of the check: sensitive to each bit of the banks that are read."""
    done = run_simulated(graph, "--digest", *arguments)
    return [o["digest"] for o in done["outputs"]], done["results"], done["error_events"]


def write(path, *arguments):
    call("run", COPY, "-o", path, "--quiet", *arguments)
    checks.that(not Path(f"{path}.part").exists(), f"{path.name}: {path.name}.part does not remain")


def whole_events(path):
    """Number of events, all of them whole: a reader reports a partial one as an error."""
    done = run_simulated("copy.yaml", "-i", path, "-o", "/dev/null")
    checks.that(done["error_events"] == 0, f"{path.name}: {done['events']} events, all whole")
    return done["events"]


def limited(bytes_max, **options):
    """Options for a process with a limited size of files, as on a full disk."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, bytes_max)), **options}


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    mdf, mep = folder / "events.mdf", folder / "events.mep"
    versions = [("velo.yaml", ()), ("velo_superpixels.yaml", ()),
                ("velo.yaml", ("--set", "raw.cluster_version=2", "--set", "raw.odin_version=6")),
                ("velo.yaml", ("--set", "raw.cluster_version=4", "--set", "raw.signal=Bs_phiphi")),
                ("velo_superpixels.yaml",
                 ("--set", "raw.superpixel_version=4", "--set", "raw.luminosity_fraction=0.5")),
                ("velo_distributions.yaml", ()), ("velo_distributions.yaml", ("--set", "raw.scifi_version=8"))]
    # Histograms from the detectors' banks, in all versions.
    everything = "velo_distributions.yaml"
    for settings, reading in ((("ut_version=3", "scifi_version=5", "muon_version=2", "calo_version=2"), ()),
                              (("ut_version=4", "scifi_version=6", "muon_version=3", "calo_version=4"),
                               ("--set", "muon_geometry.format=3")),
                              (("scifi_version=8", "calo_version=5"), ()), (("scifi_version=4",), ()), (("scifi_version=7",), ())):
        text = f"{everything} {' '.join(settings)}"
        making = [word for s in settings for word in ("--set", f"raw.{s}")]
        direct = outcome(everything, "-n", 20, *making, *reading)
        checks.that(direct[2] == 0 and direct[1]["distributions"]["malformed_events"] == 0, f"{text}: direct, no errors")
        write(mdf, "-n", 20, *making)
        checks.that(outcome(everything, "-i", mdf, *reading) == direct, f"{text}: MDF")
        write(mep, "-n", 20, *making, *MEP_SINK, "--set", "write.events=7")
        checks.that(outcome(everything, "-i", mep, *reading) == direct, f"{text}: MEP")
    for graph, settings in versions:
        text = f"{graph} {' '.join(settings)}"
        direct = outcome(graph, *COUNT, *settings)
        checks.that(direct[2] == 0, f"{text}: direct, no errors")
        write(mdf, *COUNT, *settings, "--slots", 2)
        checks.that(outcome(graph, "-i", mdf) == direct, f"{text}: MDF")
        write(folder / "small.mdf", *COUNT, *settings, "--set", "write.codec=zstd", "--set", "write.compression=1")
        checks.that(outcome(graph, "-i", folder / "small.mdf", "--slice-events", 25) == direct,
                    f"{text}: compressed MDF")
        write(mep, *COUNT, *settings, *MEP_SINK, "--set", "write.events=25")
        checks.that(outcome(graph, "-i", mep, *MEP_SOURCE, "--slots", 2) == direct, f"{text}: MEP")
        checks.that(outcome(graph, "-i", mep, "--slice-events", 7) == direct, f"{text}: MEP is recognised by its first bytes")
    write(mdf, *COUNT)
    write(mep, *COUNT, *MEP_SINK)
    write(folder / "again.mdf", "-i", mep)
    checks.that((folder / "again.mdf").read_bytes() == mdf.read_bytes(), "MDF made from MEP equals the original MDF byte for byte")

    # A full disk: files of at most 40 MB, about two hundred events.
    for name, arguments in (("full.mdf", ()), ("full.mep", (*MEP_SINK, "--set", "write.events=20"))):
        part = folder / f"{name}.part"
        done = subprocess.run([SLUICE, "run", COPY, "-n", "1000", "-o", folder / name, "--quiet", *arguments],
                              capture_output=True, text=True, **limited(40_000_000))
        checks.that(done.returncode == 1 and "File too large; it keeps the first" in done.stderr,
                    f"{name}: a full disk is reported: {done.stderr.splitlines()[:1]}")
        checks.that(not (folder / name).exists(), f"{name}: an incomplete file does not get this name")
        kept = int(done.stderr.split("it keeps the first ")[1].split()[0]) if "keeps the first " in done.stderr else 0
        checks.that(kept > 100 and whole_events(part) == kept, f"{name}.part keeps {kept} events")
    done = subprocess.run([SLUICE, "run", COPY, "-n", "50", "-o", "/dev/full", "--quiet"], capture_output=True,
                          text=True)
    checks.that(done.returncode == 1 and "/dev/full: cannot write after 0 bytes: No space left on device" in done.stderr, "a full device is reported")

    # A run that is ended by SIGTERM after its slices; after SIGKILL, at most one event at the end is incomplete.
    for sent, status in ((signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)):
        path = folder / f"{sent.name}.mdf"
        part = Path(f"{path}.part")
        process = subprocess.Popen([SLUICE, "run", COPY, "-n", "1000000", "-o", path, "--quiet"])
        while process.poll() is None and not (part.exists() and part.stat().st_size > 0):
            time.sleep(0.01)
        process.send_signal(sent)
        checks.that(process.wait(60) == status, f"{sent.name}: the run ends with {status}")
        if sent == signal.SIGTERM:
            checks.that(part.exists() and not path.exists(), "SIGTERM: the file does not look complete")
            checks.that(whole_events(part) > 10, "SIGTERM: the file has whole events")
            continue
        checks.that(part.exists() and not path.exists(), "SIGKILL: the file is still called .part")
        done = run_simulated("copy.yaml", "-i", part, "-o", "/dev/null")
        checks.that(done["events"] > 1 and done["error_events"] <= 1,
                    f"SIGKILL: {done['events']} events, {done['error_events']} cut")
checks.end()
