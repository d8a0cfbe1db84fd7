#!/usr/bin/env python3
"""No command replaces a file that it reads, or writes one file twice: overwrite_test.py SLUICE. A refused command has status 2
and a message with both names, and changes no file."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from common import ROOT, Checks

SLUICE = sys.argv[1]
checks = Checks()
check = checks.that
WRITE = "sluice: 1\nnodes:\n  write: { use: io.mdf_sink%s }\n"
CSV = "id,lower,upper,size\n0,0,2,16\n1,1,3,16\n"


def sluice(*arguments, folder, **options):
    return subprocess.run([SLUICE, *map(str, arguments)], capture_output=True, cwd=folder, timeout=100, **options)


def contents(folder):
    """Content of all files, and targets of links."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


def refused(folder, both, *arguments, **options):
    """The message must contain the texts in `both`."""
    before = contents(folder)
    done = sluice(*arguments, folder=folder, **options)
    said, after = done.stderr.decode(), contents(folder)
    is_refused = done.returncode == 2 and all(text in said for text in both) and said.count("error:") == 1
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    check(is_refused and not changed, f"{' '.join(map(str, arguments))}: refused" if is_refused and not changed else
          f"{' '.join(map(str, arguments))}: status {done.returncode}, changed {changed}, expected {both}\n{said}")


def graph_files(folder):
    """The graph, included files and merged files, for each option that writes a file."""
    shutil.copytree(ROOT / "graphs", folder / "g")
    (folder / "with.yaml").write_text("sluice: 1\n")
    (folder / "write.yaml").write_text(WRITE % "")
    included = "g/common/velo_tracks.yaml"
    os.symlink(included, folder / "link.yaml")
    os.link(folder / included, folder / "hard.yaml")
    for target in (included, "./g/../" + included, folder / included, "link.yaml", "hard.yaml"):
        refused(folder, [f"--json {target}: the same file as {included}, a file of the graph"], "run", "g/velo.yaml", "--json", target)
    for option in ("--trace", "--metrics", "--log"):
        refused(folder, [f"{option} link.yaml: the same file as {included}"], "run", "g/velo.yaml", "-n", 1, option, "link.yaml")
    refused(folder, ["-o g/common/raw.yaml: the same file as g/common/raw.yaml"], "run", "g/copy.yaml", "-n", 1, "-o", "g/common/raw.yaml")
    refused(folder, ["path: hard.yaml: the same file as " + included], "run", "g/velo.yaml", "-n", 1, "--with", "write.yaml",
            "--set", "write.path=hard.yaml")
    for target, name in (("g/velo.yaml", "g/velo.yaml, the graph"), ("with.yaml", "with.yaml, a file of the graph"),
                         (included, included)):
        refused(folder, [f"--json {target}: the same file as {name}"], "run", "g/velo.yaml", "--with", "with.yaml", "--json", target)
        refused(folder, [f"--svg {target}: the same file as {name}"], "plan", "g/velo.yaml", "--with", "with.yaml", "--svg", target)
        refused(folder, [f"-o {target}: the same file as"], "tune", "g/velo.yaml", "--with", "with.yaml", "--slots", 1, "-o", target)
    # A graph that is refused before its files are known: the log may be one of them, and is not appended to.
    refused(folder, ["`nosuch`"], "run", "g/velo.yaml", "--set", "nosuch=1", "--log", included)


def inputs(folder):
    sluice("run", ROOT / "graphs/simulate.yaml", "-n", 3, "-o", "a.mdf", folder=folder)
    os.symlink("a.mdf", folder / "link.mdf")
    copy, velo = ROOT / "graphs/copy.yaml", ROOT / "graphs/velo.yaml"
    refused(folder, ["-o link.mdf: the same file as a.mdf, an input"], "run", copy, "-i", "a.mdf", "-o", "link.mdf")
    refused(folder, ["path: link.mdf: the same file as a.mdf, an input"], "run", copy, "-i", "a.mdf", "--set", "write.path=link.mdf",
            "--json", "summary.json")
    refused(folder, ["--log link.mdf: the same file as a.mdf"], "run", velo, "-i", "a.mdf", "--log", "link.mdf")
    refused(folder, ["-o a.mdf: the same file as a.mdf"], "tune", velo, "-i", "a.mdf", "--slots", 1, "-o", "a.mdf")
    with open(folder / "a.mdf", "rb") as stream:
        refused(folder, ["-o a.mdf: the same file as /dev/stdin"], "run", copy, "-i", "-", "-o", "a.mdf", stdin=stream)
    with open(folder / "a.mdf", "rb") as stream:
        done = sluice("run", copy, "-i", "-", "-o", "-", folder=folder, stdin=stream)
    check(done.returncode == 0 and done.stdout == (folder / "a.mdf").read_bytes(), "standard input can be copied to standard output")


def problems(folder):
    (folder / "a.csv").write_text(CSV)
    os.symlink("a.csv", folder / "x.csv")
    refused(folder, ["--offsets a.csv: the same file as a.csv", "--csv"], "plan", "--csv", "a.csv", "--offsets", "a.csv")
    refused(folder, ["--svg ./new: the same file as new", "--offsets"], "plan", "--csv", "a.csv", "--offsets", "new", "--svg", "./new")
    refused(folder, ["--svg x.csv: the same file as a.csv", "--csv"], "plan", "--csv", "a.csv", "--svg", "x.csv")
    refused(folder, ["--offsets none/a: cannot be written"], "plan", "--csv", "a.csv", "--offsets", "none/a")


def constants(folder):
    """Files of constants in a folder, detector descriptions of a constant and of a source, and plugins."""
    done = sluice("run", ROOT / "graphs/geometry.yaml", "-o", "geo", folder=folder)
    check(done.returncode == 0, "files of constants are written")
    names = sorted(path.name for path in (folder / "geo").iterdir())
    check(len(names) == 10, f"there are 10 files of constants: {names}")
    graph = ROOT / "graphs/geometry.yaml"
    for name in names:
        refused(folder, [f"--json geo/{name}: the same file as geo/{name}, which the node"], "run", graph, "--set", "geometry=geo",
                "-o", "other", "--json", f"geo/{name}")
    before = contents(folder)
    done = sluice("run", graph, "--set", "geometry=geo", "-o", "./geo", folder=folder)
    said = done.stderr.decode()
    check(done.returncode == 2 and "./geo/velo_geometry.bin: the same file as geo/velo_geometry.bin, which the node velo reads" in said
          and contents(folder) == before, f"a folder that is read is not written\n{said}")
    refused(folder, ["path: geo/velo_geometry.bin: the same file as geo/velo_geometry.bin, which the node velo reads"], "run", graph,
            "--set", "geometry=geo", "--set", "write_velo.path=geo")
    shutil.copy(ROOT / "plugins/velo/include/velo/nominal.velo", folder / "my.velo")
    refused(folder, ["--json my.velo: the same file as my.velo, which the node geometry reads"], "run", ROOT / "graphs/velo.yaml", "-n", 1,
            "--set", "geometry.path=my.velo", "--json", "my.velo")
    refused(folder, ["-o my.velo: the same file as my.velo, which the node raw reads"], "run", ROOT / "graphs/copy.yaml", "-n", 1,
            "--set", "raw.velo=my.velo", "-o", "my.velo")
    refused(folder, ["--svg my.velo: the same file as my.velo"], "plan", ROOT / "graphs/velo.yaml", "--set", "geometry.path=my.velo",
            "--svg", "my.velo")
    plugins = folder / "plugins"
    plugins.mkdir()
    shutil.copy(pathlib.Path(SLUICE).parent / "plugins/velo.cpu.so", plugins)
    refused(folder, ["--json plugins/velo.cpu.so: the same file as", "a plugin"], "run", ROOT / "graphs/velo.yaml", "-n", 1,
            "--plugin-path", "plugins", "--json", "plugins/velo.cpu.so")


def two_outputs(folder):
    copy = ROOT / "graphs/copy.yaml"
    (folder / "two.yaml").write_text(WRITE.replace("write", "again") % ", set: { path: new.mdf }")
    (folder / "three.yaml").write_text(WRITE.replace("write", "third") % ", set: { path: ./new.mdf }")
    (folder / "target.log").write_text("")
    os.symlink("target.log", folder / "link")
    refused(folder, ["--log target.log: the same file as link"], "run", copy, "-n", 1, "-o", "link", "--log", "target.log")
    refused(folder, ["--log ./new: the same file as new"], "run", copy, "-n", 1, "-o", "new", "--log", "./new")
    for a in ("-o", "--json", "--trace", "--metrics"):
        for b in ("-o", "--json", "--trace", "--metrics"):
            if a != b:
                refused(folder, ["new", folder.name], "run", copy, "-n", 1, a, "new", b, folder / "new")
    refused(folder, ["path: ./new.mdf: the same file as new.mdf, which the node again writes"], "run", copy, "-n", 1,
            "-o", "other", "--with", "two.yaml", "--with", "three.yaml")
    done = sluice("run", copy, "-n", 1, "-o", "new.mdf", "--with", "two.yaml", "--quiet", folder=folder)
    check(done.returncode == 2 and b"the same file as new.mdf, " in done.stderr and not (folder / "new.mdf").exists(),
          f"-o and the path of another sink: {done.stderr.decode()}")
    done = sluice("run", copy, "-n", 1, "-o", "new.mdf", "--set", "write.path=new.mdf", "--quiet", folder=folder)
    check(done.returncode == 0, "-o and the path of the same sink are accepted")


def log(folder):
    """Standard error as log, and files that are not logs."""
    velo = ROOT / "graphs/velo_counts.yaml"
    done = sluice("run", velo, "-n", 1, "--quiet", "--log", "-", folder=folder)
    lines = done.stderr.decode().splitlines()
    check(done.returncode == 0 and len(lines) == 2 and " note begins: " in lines[0] and " note ends: ok" in lines[1]
          and not (folder / "-").exists(), f"--log - is standard error: {lines}")
    (folder / "notes").write_text("notes\n")
    sluice("run", velo, "-n", 1, "--quiet", "--log", "notes", folder=folder)
    check((folder / "notes").read_text().count("\n") == 3, "a log may be appended to any file that the run does not use")
    done = sluice("run", velo, "--set", "nosuch=1", "--log", "new.log", folder=folder)
    check("ends: refused" in (folder / "new.log").read_text(), "a refused run writes a new log")
    sluice("run", velo, "--set", "nosuch=1", "--log", "new.log", folder=folder)
    check((folder / "new.log").read_text().count("ends: refused") == 2, "a refused run appends to an old log")
    (folder / "notes").write_text("notes\n")
    done = sluice("run", velo, "--set", "nosuch=1", "--log", "notes", folder=folder)
    check((folder / "notes").read_text() == "notes\n" and b"this file is not a log" in done.stderr, "a refused run changes no file that is not a log")


def main():
    for case in (graph_files, inputs, problems, constants, two_outputs, log):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            case(pathlib.Path(name))
        print(f"        {case.__name__}: {time.monotonic() - begin:.1f} s")
    checks.end()


if __name__ == "__main__":
    main()
