"""Compares --race and the tools of NVIDIA's compute-sanitizer on the kernels of the zoo, as a Markdown table. Needs a GPU.

    gpu_table.py SLUICE PLUGINS [JOBS]

Each kernel runs alone under each tool, with a separate allocation for each field. `yes`: a fault was found on a line marked
RACE; `no line`: a fault was found elsewhere; `no`: none was found, which is right for the kernels of right.cu.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

from kernels import FOLDER, WRONG, kernels

SLUICE, PLUGINS = sys.argv[1:3]
JOBS = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count() // 2
TOOLS = ("racecheck", "initcheck", "memcheck", "synccheck")
FOUND = 99


def command(algorithm, kernel, *device):
    return [SLUICE, "run", str(FOLDER / "zoo.yaml"), "--plugin-path", PLUGINS, "-q", "-n", "8", "--slice-events", "8",
            "--use", f"zoo=zoo.{algorithm}", "--set", f"zoo.kernel={kernel}", "--device", *device]


def start(tool, algorithm, kernel):
    if tool == "--race":
        return command(algorithm, kernel, "simt", "--race")
    more = ["--racecheck-report", "all"] if tool == "racecheck" else []
    return ["compute-sanitizer", "--tool", tool, *more, "--error-exitcode", str(FOUND),
            *command(algorithm, kernel, "cuda", "--guard")]


def cell(job):
    tool, algorithm, kernel, marked = job
    try:
        done = subprocess.run(start(tool, algorithm, kernel), capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "never ends"
    said = done.stdout + done.stderr
    reports = re.search(r"=========\s+(?:Error|Warning|Race|Invalid|Uninitialized|Program hit|Barrier)", said)
    if done.returncode == 0 and not reports:
        return "no"
    if done.returncode not in (0, FOUND, 1) or (done.returncode == 1 and tool != "--race" and not reports):
        return f"status {done.returncode}"
    lines = {int(n) for n in re.findall(rf"\b{algorithm}\.cu:(\d+)", said)}
    return "yes" if lines & marked else "no line"


def main():
    wanted = [(a, k, m) for a in (*WRONG, "right") for k, m in kernels(a).items()]
    tools = ("--race", *TOOLS)
    with concurrent.futures.ThreadPoolExecutor(max(JOBS, 1)) as pool:
        cells = iter(list(pool.map(cell, [(t, *w) for w in wanted for t in tools])))
    print(f"| kernel | {' | '.join(tools)} |")
    print("| --- " * (len(tools) + 1) + "|")
    totals = dict.fromkeys(tools, 0)
    alarms = dict.fromkeys(tools, 0)
    for algorithm, kernel, _ in wanted:
        row = {t: next(cells) for t in tools}
        for tool, text in row.items():
            (alarms if algorithm == "right" else totals)[tool] += text in ("yes", "no line")
        print(f"| {algorithm}.{kernel} | {' | '.join(row.values())} |")
    wrong = sum(1 for a, _, _ in wanted if a != "right")
    print(f"| {wrong} faulty kernels | {' | '.join(str(totals[t]) for t in tools)} |")
    print(f"| {len(wanted) - wrong} correct kernels | {' | '.join(str(alarms[t]) for t in tools)} |")


main()
