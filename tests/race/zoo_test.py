"""--race finds the fault of each faulty kernel of the zoo, on the lines marked RACE and no others, and none in correct kernels.

    zoo_test.py SLUICE PLUGINS

SLUICE: the command; PLUGINS: the folder of zoo.*.so.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

from kernels import FOLDER, WRONG, kernels

SLUICE, PLUGINS = sys.argv[1:3]
NOT_A_LINE = {"unwritten_count": "the scan reads zoo.scratch (scratch)[1]: it was not written before"}
ONE_WARP = {"warp_sync_for_block"}  # correct if the whole block is one warp
SETTINGS = [("1", "32"), ("2", "32"), ("3", "64")]


def run(algorithm, kernel, seed="1", warp="32"):
    return subprocess.run(
        [SLUICE, "run", FOLDER / "zoo.yaml", "--plugin-path", PLUGINS, "--device", "simt", "--race", "-q",
         "--use", f"zoo=zoo.{algorithm}", "--set", f"zoo.kernel={kernel}", "--set", f"simt.seed={seed}",
         "--set", f"simt.warp={warp}"],
        capture_output=True, text=True, timeout=60)


def lines_named(text, algorithm):
    return {int(n) for n in re.findall(rf"\b{algorithm}\.cu:(\d+)", text)}


def check_kernel(job):
    """Describes a wrong result of --race; None if it is right."""
    algorithm, kernel, marked, seed, warp = job
    done = run(algorithm, kernel, seed, warp)
    named, where = lines_named(done.stderr, algorithm), f"{algorithm}.{kernel}, seed {seed}, warp {warp}"
    if algorithm == "right":
        return None if done.returncode == 0 and not done.stderr else f"{where}: reported, but correct: {done.stderr}"
    if done.returncode != 1:
        return f"{where}: status {done.returncode}, not 1: {done.stderr}"
    if kernel in NOT_A_LINE:
        return None if NOT_A_LINE[kernel] in done.stderr else f"{where}: not found: {done.stderr}"
    if named != marked:
        return f"{where}: reported lines {sorted(named)}, marked lines {sorted(marked)}: {done.stderr}"
    return None


def main():
    jobs = []
    for algorithm in (*WRONG, "right"):
        for kernel, marked in kernels(algorithm).items():
            assert bool(marked) == (algorithm != "right") or kernel in NOT_A_LINE, f"{algorithm}.{kernel}: {marked}"
            jobs += [(algorithm, kernel, marked, seed, warp) for seed, warp in SETTINGS
                     if warp == "32" or kernel not in ONE_WARP]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(check_kernel, jobs) if w]
    for w in wrong:
        print(w)
    count = sum(len(kernels(a)) for a in WRONG)
    print(f"{count} faulty kernels, {len(kernels('right'))} correct ones, {len(jobs)} runs, {len(wrong)} wrong results")
    return 1 if wrong else 0


sys.exit(main())
