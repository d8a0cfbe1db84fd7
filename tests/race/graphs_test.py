"""No kernel of the plugins has a race: runs each graph of graphs/ with --race, and some with other algorithms.

    graphs_test.py SLUICE [--full]

A run must print no message and the digests of `cpu`. --full: more events and seeds, and sample events of SLUICE_DATA.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

SLUICE = sys.argv[1]
FULL = "--full" in sys.argv
GRAPHS = pathlib.Path(__file__).resolve().parents[2] / "graphs"
DATA = pathlib.Path(os.environ.get("SLUICE_DATA", GRAPHS.parents[1] / "shared" / "data")) / "lhcb"
EVENTS = "60" if FULL else "8"
SETTINGS = [(seed, warp) for seed in range(1, 5 if FULL else 3) for warp in ((32, 64) if FULL else (32 * seed,))]
WRITES = {"copy", "geometry", "long_matches", "lumi_banks", "electron_examples", "match_examples", "simulate", "spectrometer_picture", "velo_histograms", "velo_matches",
          "velo_picture", "velo_sample"}  # graphs that need -o
VARIANTS = [("velo_pv", ["--use", "pv=pv.annealing"]), ("pv", ["--use", "pv=pv.annealing"]),
            ("velo", ["--set", "seed=7", "--slice-events", "3"])]


def run(graph, more, device):
    with tempfile.TemporaryDirectory() as folder:
        output = folder if graph.endswith("_geometry") else f"{folder}/output"
        return subprocess.run(
            [SLUICE, "run", str(GRAPHS / f"{graph}.yaml"), "-n", EVENTS, "--digest", "--device", *device, *more,
             *(["-o", output] if graph in WRITES else [])],
            capture_output=True, text=True, timeout=600)


def digests(done):
    return [line for line in done.stdout.splitlines() if "digest" in line]


def check_graph(job):
    graph, more = job
    expected = run(graph, more, ["cpu"])
    wrong = [] if expected.returncode == 0 else [f"{graph} {more} on cpu: {expected.stderr}"]
    for seed, warp in SETTINGS:
        settings = ["simt", "--race", "--set", f"simt.seed={seed}", "--set", f"simt.warp={warp}"]
        done = run(graph, more, settings)
        if done.returncode != 0 or done.stderr != expected.stderr:
            wrong.append(f"{graph} {more} {settings}: status {done.returncode}: {done.stderr}")
        elif digests(done) != digests(expected):
            wrong.append(f"{graph} {more} {settings}: digests differ from cpu")
    return wrong


def is_tested(graph):
    """One sequence of the trigger is enough, because the sequences share their kernels; validation adds no kernels."""
    return not graph.startswith("hlt1_pp_") or graph == "hlt1_pp_forward_then_matching" or (FULL and not graph.endswith("_validation"))


def main():
    jobs = [(path.stem, []) for path in sorted(GRAPHS.glob("*.yaml")) if is_tested(path.stem)] + VARIANTS
    if FULL and (DATA / "minbias.mdf").exists():
        samples = ["-i", str(DATA / "minbias.mdf"), "--set", f"geometry={DATA / 'geometry'}"]
        jobs += [("velo_pv", samples), ("velo_superpixels", samples), ("velo_pv", [*samples, "--use", "pv=pv.annealing"])]
    elif FULL:
        print(f"skipped: sample events, because {DATA} does not exist")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [w for found in pool.map(check_graph, jobs) for w in found]
    for w in wrong:
        print(w)
    print(f"{len(jobs)} graphs, {len(SETTINGS)} settings each, {len(wrong)} wrong results")
    return 1 if wrong or not jobs else 0


sys.exit(main())
