#!/usr/bin/env python3
"""Problems with known minimum arena for the planner, and its time to solve them.

    bench/planner.py make FAMILY BUFFERS SEED > problem.csv         # its arena can be 1048576 bytes, and no less
    bench/planner.py measure [--sizes 20,50,100,200,350,500] [--seeds 12] [--seconds 20] [-o planner.json]
    bench/planner.py table planner.json                             # for docs/lab/planner.md
    bench/planner.py plot planner.json docs/figures/planner.svg     # needs Debian's python3-matplotlib

A rectangle, time across and 1048576 bytes high, is cut into buffers, so that they fit into it without a gap. Families:

    guillotine  a random piece is cut through, in time or in bytes, until there are enough pieces
    pinwheel    as guillotine, but every other cut is into five pieces, four around one, as no cuts through can make
    jitter      pinwheel, then one buffer of two begins later or ends earlier; nothing changes at one step, so that the
                arena stays the least possible; elsewhere there is room
    gaps        pinwheel with twice the pieces; every second one is left out, except pieces that are live at that step
    pages       pinwheel with all sizes multiples of 1/64 of the height, so that many are equal
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEIGHT = 1 << 20
FAMILIES = ("guillotine", "pinwheel", "jitter", "gaps", "pages")


# -------------------------------------------------------------------------------------------------- problems


def inner(draw, low, high, grain=1):
    """A place to cut [low, high): not too near its ends, a multiple of `grain` away from `low`; None if there is none."""
    count = (high - low) // grain
    margin = max(1, count // 8)
    return None if count < 2 else low + grain * draw.randint(margin, count - margin)


def guillotine(draw, piece, grain):
    lower, upper, bottom, top = piece
    in_time = draw.random() < 0.5
    cut = inner(draw, lower, upper) if in_time else inner(draw, bottom, top, grain)
    if cut is None:
        return None
    if in_time:
        return [(lower, cut, bottom, top), (cut, upper, bottom, top)]
    return [(lower, upper, bottom, cut), (lower, upper, cut, top)]


def pinwheel(draw, piece, grain):
    lower, upper, bottom, top = piece
    if upper - lower < 3 or top - bottom < 3 * grain:
        return None
    left, right = sorted(draw.sample(range(lower + 1, upper), 2))
    low, high = sorted(draw.sample(range(1, (top - bottom) // grain), 2))
    low, high = bottom + grain * low, bottom + grain * high
    turned = [(lower, right, bottom, low), (right, upper, bottom, high), (left, upper, high, top), (lower, left, low, top)]
    mirrored = [(left, upper, bottom, low), (lower, left, bottom, high), (lower, right, high, top), (right, upper, low, top)]
    return draw.choice((turned, mirrored)) + [(left, right, low, high)]


def cut(draw, count, pinwheels, grain):
    """A rectangle in `count` pieces (lower, upper, bottom, top), large ones cut first."""
    pieces = [(0, 4 * count, 0, HEIGHT)]
    while len(pieces) < count:
        piece = max(draw.sample(pieces, min(3, len(pieces))), key=lambda p: (p[1] - p[0]) * (p[3] - p[2]))
        turn = pinwheels and draw.random() < 0.5 and len(pieces) + 4 <= count
        parts = (pinwheel if turn else guillotine)(draw, piece, grain)
        if parts:
            pieces.remove(piece)
            pieces += parts
    return pieces


def jitter(draw, piece, step):
    lower, upper, bottom, top = piece
    if draw.random() < 0.5:
        return piece
    least, most = (lower, upper - 1) if not lower <= step < upper else (lower, step)
    if draw.random() < 0.5:
        return (draw.randint(least, lower + (most - lower) // 2), upper, bottom, top)
    first = lower + 1 if not lower <= step < upper else step + 1
    return (lower, draw.randint(first + (upper - first + 1) // 2, upper), bottom, top)


def problem(family, count, seed):
    """Buffers (lower, upper, size) in random order, and the plan that they were cut from."""
    draw = random.Random(f"{family} {count} {seed}")
    wanted = 2 * count if family == "gaps" else count
    pieces = cut(draw, wanted, family != "guillotine", HEIGHT // 64 if family == "pages" else 1)
    step = draw.randrange(4 * wanted)
    if family == "jitter":
        pieces = [jitter(draw, piece, step) for piece in pieces]
    draw.shuffle(pieces)
    if family == "gaps":
        pieces.sort(key=lambda p: not p[0] <= step < p[1])
        pieces = pieces[:count]
        draw.shuffle(pieces)
    return pieces


def write(family, count, seed, file):
    print("id,lower,upper,size", file=file)
    for number, (lower, upper, bottom, top) in enumerate(problem(family, count, seed)):
        print(f"{number},{lower},{upper},{top - bottom}", file=file)


# --------------------------------------------------------------------------------------------------- measure


def solve(options, folder, family, count, seed):
    """Seconds, steps and gap of one search for a plan as low as the problem was cut from."""
    path = folder / "problem.csv"
    with open(path, "w") as file:
        write(family, count, seed, file)
    command = [options.sluice, "plan", "--csv", str(path), "--capacity", str(HEIGHT), "--seconds", str(options.seconds)]
    done = subprocess.run(command, capture_output=True, text=True)
    row = done.stdout.splitlines()[1].replace(" %", "").split() if done.returncode in (0, 1) else None
    if not row or int(row[3]) != HEIGHT:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return {"family": family, "buffers": count, "seed": seed, "arena": int(row[2]), "steps": int(row[5]), "seconds": float(row[6])}


def measure(options):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for family in FAMILIES:
            for count in map(int, options.sizes.split(",")):
                rows += [solve(options, Path(folder), family, count, seed) for seed in range(options.seeds)]
                print(*table_line(rows, family, count, options.seconds), flush=True)
    Path(options.output).write_text(json.dumps({"limit": options.seconds, "rows": rows}, indent=1) + "\n")


def of(rows, family, count):
    return [row for row in rows if row["family"] == family and row["buffers"] == count]


def table_line(rows, family, count, limit):
    """Family, buffers, how many were solved, median and longest time, largest distance from the least arena."""
    found = of(rows, family, count)
    solved = [row for row in found if row["arena"] <= HEIGHT]
    times = sorted(row["seconds"] if row in solved else limit for row in found)
    gap = max(row["arena"] for row in found) / HEIGHT - 1
    shown = [f"{t:.2f}" if t < limit else f"> {limit:g}" for t in (statistics.median(times), times[-1])]
    return family, count, f"{len(solved)} of {len(found)}", *shown, f"{100 * gap:.1f} %"


def groups(rows):
    return list(dict.fromkeys((row["family"], row["buffers"]) for row in rows))


def table(options):
    found = json.loads(Path(options.json).read_text())
    print("| family | buffers | solved | median, s | worst, s | worst arena, above the least |\n| --- | --: | --: | --: | --: | --: |")
    for family, count in groups(found["rows"]):
        print("|", " | ".join(map(str, table_line(found["rows"], family, count, found["limit"]))), "|")


def plot(options):
    import figures
    import matplotlib.pyplot as plt
    figures.prepare("planner")
    found = json.loads(Path(options.json).read_text())
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    for family, marker in zip(FAMILIES, "os^vD"):
        counts = [count for name, count in groups(found["rows"]) if name == family]
        times = [[min(max(row["seconds"], 1e-3), found["limit"]) if row["arena"] <= HEIGHT else found["limit"] for row in of(found["rows"], family, count)]
                 for count in counts]
        for axis, pick in zip(axes, (statistics.median, max)):
            axis.plot(counts, [pick(t) for t in times], marker=marker, markersize=4, label=family)
    for axis, title in zip(axes, ("median", "worst")):
        axis.axhline(found["limit"], color="#c00", linestyle="--", linewidth=1)
        axis.set(yscale="log", xlabel="buffers", title=f"{title} time to the least arena")
    axes[0].set_ylabel("seconds (red: the limit)")
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(options.svg, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("make")
    command.add_argument("family", choices=FAMILIES)
    command.add_argument("buffers", type=int)
    command.add_argument("seed", type=int)
    command.set_defaults(run=lambda o: write(o.family, o.buffers, o.seed, None))
    command = commands.add_parser("measure")
    command.add_argument("--sluice", default=os.environ.get("SLUICE", str(ROOT / "build/cpu-release/sluice")))
    command.add_argument("--sizes", default="20,50,100,200,350,500")
    command.add_argument("--seeds", type=int, default=12)
    command.add_argument("--seconds", type=float, default=20)
    command.add_argument("-o", "--output", default="planner.json")
    command.set_defaults(run=measure)
    command = commands.add_parser("table")
    command.add_argument("json")
    command.set_defaults(run=table)
    command = commands.add_parser("plot")
    command.add_argument("json")
    command.add_argument("svg")
    command.set_defaults(run=plot)
    options = parser.parse_args()
    if "svg" in options and os.path.exists(options.svg) and os.path.samefile(options.json, options.svg):
        parser.error(f"{options.svg} is the file that is read")
    options.run(options)


if __name__ == "__main__":
    main()
