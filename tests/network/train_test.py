#!/usr/bin/env python3
"""tools/train and scripts/train: the same examples give the same bytes; networks learn; wrong examples are refused with their
place; examples come from CSV, HDF5 and Parquet files; network.weights reads the result."""
import hashlib
import importlib.util
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, SLUICE, Checks, call

TRAINER = sys.argv[1]

checks = Checks()


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def write(path, count, first=0):
    """Rows of three inputs. The target is 1 where |a| + |b| is small, with some exceptions; c is irrelevant."""
    with path.open("w") as file:
        print("good,a,b,c,p", file=file)
        for i in range(first, first + count):
            digest = hashlib.sha256(str(i).encode()).digest()
            cells = [int.from_bytes(digest[4 * k:4 * k + 2], "big") / 2**16 for k in range(4)]
            a, b, c, exception = 4 * cells[0] - 2, 4 * cells[1] - 2, cells[2], cells[3] < 0.05
            print(int((abs(a) + abs(b) < 1.5) != exception), a, 10 + 3 * b, c, 1 + 20 * cells[3], sep=",", file=file)
    return path


def loss(text, file):
    lines = [line for line in text.splitlines() if line.startswith(f"{file}: ")]
    return float(lines[0].split()[-1])


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    examples, others = write(folder / "examples.csv", 6000), write(folder / "others.csv", 2000, first=6000)
    arguments = ["--target", "good", "--inputs", "a,b,c", "--epochs", "24", "--batch", "100", "--rate", "0.01"]
    for kind, extra, digest, limit in (("relu", ("--layers", "16"), "de50ab72bf9d69e41199e3189a09b6dd955ff1e1edba8d46aca8cb5a78518b22", 0.35),
                                       ("group_sort", ("--layers", "12,12", "--activation", "group_sort", "--slope", "30"), "23513297a022f4c823220a130d7866b42736144090d26d1e812b87d2eaf95cc1", 0.35)):
        file = folder / f"{kind}.network"
        done = run(TRAINER, "-o", file, *arguments, *extra, examples, others, folder / "scores")
        checks.that(done.returncode == 0, f"{kind}: {done.stdout}{done.stderr}".strip())
        checks.that(sha(file) == digest, f"{kind}: the network has the bytes that it has on every machine: {sha(file)}")
        checks.that(loss(done.stdout, others) < limit, f"{kind}: loss {loss(done.stdout, others)} of other examples")
        checks.that(len((folder / "scores").read_text().splitlines()) == 2000, f"{kind}: a score for each example")
        again = folder / "again.network"
        run(TRAINER, "-o", again, *arguments, *extra, "--seed", "2", examples)
        checks.that(sha(again) != sha(file), f"{kind}: another seed gives another network")
    falling = run(TRAINER, "-o", folder / "falling.network", *arguments, "--layers", "8", "--activation", "group_sort", "--directions", "0,-1,0", examples)
    checks.that(falling.returncode == 0 and "linear 0.000000000 -2.000000000 0.000000000" in (folder / "falling.network").read_text(), "a falling input has a linear term")
    steps = folder / "steps.csv"
    steps.write_text("good,a,b,c\n" + "".join(f"1,0.1,{10 + 0.1 * k},0.5\n" for k in range(-40, 41)))
    gentle = run(TRAINER, "-o", folder / "gentle.network", *arguments, "--layers", "8", "--activation", "group_sort", "--slope", "30", "--directions", "0,-0.1,0",
                 examples, steps, folder / "steps.scores")
    widths = {kind: float(next(line for line in (folder / f"{kind}.network").read_text().splitlines() if line.startswith("scale b")).split()[3])
              for kind in ("falling", "gentle")}
    scores = [float(line) for line in (folder / "steps.scores").read_text().splitlines()]
    logits = [math.log(score / (1 - score)) for score in scores]
    steepest = max((before - after) / 0.1 * widths["falling"] for before, after in zip(logits, logits[1:]))
    checks.that(gentle.returncode == 0 and abs(widths["gentle"] / widths["falling"] - 10) < 1e-6 and scores == sorted(scores, reverse=True)
                and scores[0] > scores[-1] and steepest <= 2 * 3 + 1e-3, f"a direction of 0.1 limits the slope to 0.1 of the largest: {steepest}")
    spectrum = run(TRAINER, "-o", folder / "spectrum.network", *arguments, "--match-spectrum", "p", examples)
    checks.that(spectrum.returncode == 0 and sha(folder / "spectrum.network") != sha(folder / "relu.network"), "weights by a spectrum change the network")

    # Wrong examples and options
    constant = "good,a,b,c\n" + "".join(f"{i % 2},{i},{i * i},4\n" for i in range(100))
    for text, extra, reason in (("", (), "wrong.csv:1: column 1 has no name"), ("good,a,a\n", (), 'wrong.csv:1: the column "a" occurs twice'),
                                ("good,a,b\n", (), 'wrong.csv:1: there is no column "c"'), (constant.replace("good", "bad").replace(",4\n", ",5\n", 1), (), 'wrong.csv:1: there is no column "good"'),
                                ("good,a,b,c\n1,2,x,4\n", (), 'wrong.csv:2: column "b": expected a finite number and a comma, found "x,4"'),
                                ("good,a,b,c\n1,2,3,4\n1,2,3\n", (), 'wrong.csv:3: column "b": expected a finite number and a comma, found "3"'),
                                ("good,a,b,c\n1,2,3,4,5\n", (), 'wrong.csv:2: column "c": expected a finite number and the end of the line, found "4,5"'),
                                ("good,a,b,c\n1,2,inf,4\n", (), 'wrong.csv:2: column "b": expected a finite number and a comma, found "inf,4"'),
                                (constant, (), 'wrong.csv: the column "c" is constant'),
                                (constant.replace(",4\n", ",4\n2,1,2,3\n", 1), (), 'wrong.csv:3: column "good" is 2, expected 0 or 1'),
                                ("good,a,b,c\n1,2,3,4\n0,1,2,3\n", (), "wrong.csv: 2 examples are too few to train with, expected 100 at least"),
                                ("good,a,b,c\n1,2,3,4\n0,1,2,3\n", ("--layers", "65"), '--layers is "65"'),
                                ("good,a,b,c\n1,2,3,4\n0,1,2,3\n", ("--layers", "3", "--activation", "group_sort"), "group_sort needs an even number of units"),
                                ("good,a,b,c\n1,2,3,4\n0,1,2,3\n", ("--slope", "2"), "relu, which has no --slope"),
                                ("good,a,b,c\n1,2,3,4\n0,1,2,3\n", ("--activation", "group_sort", "--directions", "1"), '--directions is "shorter than --inputs"'),
                                ("good,a,b,c\n1,2,3,4\n0,1,2,3\n", ("--activation", "group_sort", "--directions", "0,1e-9,0"), '--directions is "1e-9"'),
                                ("good,a,b,c\n1,2,3,4\n0,1,2,3\n", ("--epochs", "0"), '--epochs is "0"')):
        wrong = folder / "wrong.csv"
        wrong.write_text(text)
        done = run(TRAINER, "-o", folder / "wrong.network", *arguments, *extra, wrong)
        checks.that(done.returncode == 1 and reason in done.stderr and len(done.stderr.splitlines()) == 1, f"refused: {reason}: {done.stderr.strip()}")
    checks.that(not (folder / "wrong.network").exists(), "a refused training writes no network")
    done = run(TRAINER, "-o", "/nowhere/x.network", *arguments, examples)
    checks.that(done.returncode == 1 and "/nowhere/x.network: No such file or directory" in done.stderr, done.stderr.strip())

    # The script, with a user's files
    script = [ROOT / "scripts/train", "mine", "--target", "good", "--momentum", "p", "--layers", "16", "--epochs", "24", "--batch", "100", "--rate", "0.01",
              "--trainer", TRAINER, "--work", folder / "work"]
    done = run(*script, "-o", folder / "csv", "--from", examples)
    checks.that(done.returncode == 0 and "mine.md written" in done.stdout, f"{done.stdout}{done.stderr}".strip())
    checks.that(all((folder / "csv" / f"mine.{suffix}").stat().st_size > 200 for suffix in ("network", "md", "svg")), "network, table and curve are written")
    first = (folder / "csv/mine.network").read_bytes()
    rows = [line for line in (folder / "csv/mine.md").read_text().splitlines() if line.startswith("| >= ")]
    shares = [float(row.split("|")[2].split()[0]) for row in rows]
    checks.that(shares == sorted(shares, reverse=True) and shares[0] > 95, f"accepted signal falls with the requirement: {shares}")
    call("run", ROOT / "graphs/hlt1_pp_default.yaml", "-n", "2", "--quiet", "--set", f"two_track_network.network={folder}/csv/mine.network", expect=2)

    if importlib.util.find_spec("h5py") or run("/usr/bin/python3", "-c", "import h5py").returncode == 0:
        make = ("import h5py, numpy, sys; t = numpy.genfromtxt(sys.argv[1], delimiter=',', names=True)\n"
                "with h5py.File(sys.argv[2], 'w') as f:\n for n in t.dtype.names: f['pairs/' + n] = t[n]\n f['pairs/text'] = 'ignored'\n")
        run("/usr/bin/python3", "-c", make, examples, folder / "examples.h5")
        done = run(*script, "-o", folder / "hdf5", "--inputs", "a,b,c", "--group", "pairs", "--from", folder / "examples.h5")
        checks.that(done.returncode == 0, f"HDF5: {done.stdout}{done.stderr}".strip())
        same = (folder / "hdf5/mine.network").read_bytes().replace(b"examples.h5", b"examples.csv")
        checks.that(same == first, "examples in HDF5 give the same network as in CSV")
        done = run(*script, "-o", folder / "hdf5", "--from", folder / "examples.h5")
        checks.that(done.returncode == 1 and "expected one-dimensional datasets of one length in the group /, found none" in done.stderr, done.stderr.strip())
    else:
        print("skipped: examples in HDF5 need h5py")
    if run("/usr/bin/python3", "-c", "import pyarrow").returncode == 0:
        run("/usr/bin/python3", "-c", "import pandas, sys; pandas.read_csv(sys.argv[1]).to_parquet(sys.argv[2])", examples, folder / "examples.parquet")
        done = run(*script, "-o", folder / "parquet", "--inputs", "a,b,c", "--from", folder / "examples.parquet")
        checks.that((folder / "parquet/mine.network").read_bytes().replace(b"examples.parquet", b"examples.csv") == first, "examples in Parquet give the same network as in CSV")
    else:
        print("skipped: examples in Parquet need pyarrow")
    for extra, reason in ((("-o", folder / "x", "--from", folder / "absent.csv"), "absent.csv: there is no such file"),
                          (("-o", folder / "x", "--from", examples, others), "--from has 2 files, expected 1 or 3"),
                          (("--from", examples), "--from needs --target COLUMN and -o FOLDER"), ((), "there is no built-in network mine, only")):
        done = run(*script, *extra)
        checks.that(done.returncode == 1 and reason in done.stderr, f"refused: {reason}: {done.stderr.strip()}")

    signal = folder / "signal.csv"
    signal.write_text("".join(line for line in examples.open() if not line.startswith("0")))
    for files in ((examples, signal, others), (examples, others, signal)):
        done = run(*script, "-o", folder / "x", "--from", *files)
        checks.that(done.returncode == 1 and "signal.csv: no example has good 0; a table needs both 0 and 1" in done.stderr and "Traceback" not in done.stderr,
                    f"examples of one class: {done.stderr.strip()}")

    # Built-in networks, from few events; without BRIEF also those of the repository
    for name, events, graph, node in (("electron", 100, "calo", "electron_network"), ("forward", 200, "forward", "forward_network"),
                                      ("forward_no_ut", 400, "forward_no_ut", "forward_network"), ("matching", 100, "matching_no_ut", "matching_network"),
                                      ("muon", 300, "muon", "muon_network")):
        command = [ROOT / "scripts/train", name, "-o", folder, "--sluice", SLUICE, "--trainer", TRAINER, "--work", folder / "work"]
        done = run(*command, "-n", events)
        checks.that(done.returncode == 0, f"{done.stdout}{done.stderr}".strip())
        call("run", ROOT / f"graphs/{graph}.yaml", "-n", "2", "--quiet", "--set", f"{node}.network={folder}/{name}.network")
        if not BRIEF:
            run(*command)
            for file in (f"built_in/{name}.network", f"{name}.md"):
                checks.that((folder / Path(file).name).read_bytes() == (ROOT / "plugins/network" / file).read_bytes(), f"{file} is the result of scripts/train {name}")
checks.end()
