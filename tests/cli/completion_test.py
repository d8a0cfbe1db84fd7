#!/usr/bin/env python3
"""`sluice completion` and `--help`: completion_test.py SLUICE. The shells offer the commands and options of the
help, and complete values by their kind. bash is tested through its variables, zsh in a pseudo-terminal."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SLUICE = Path(sys.argv[1]).resolve()
GRAPHS = Path(__file__).resolve().parents[2] / "graphs"
VELO = "folder/velo.yaml"


def sluice(*arguments):
    return subprocess.run([SLUICE, *arguments], check=True, capture_output=True, text=True).stdout


def commands():
    return [line.split()[1] for line in sluice("--help").splitlines() if line.startswith("  sluice ") and "--" not in line.split()[1]]


def options(command):
    found = set()
    for line in sluice(command, "--help").splitlines():
        if line.startswith("  -"):
            found |= set(re.findall(r"(?:^|, )(--?[a-z][a-z-]*)", line.strip().split("  ")[0]))
    return found | {"--help"}


def installed_graphs(prefix=""):
    names = re.findall(r"^  (\S+[.]yaml)\b", sluice("list", "--graphs"), re.MULTILINE)
    assert "velo.yaml" in names and "common/raw.yaml" in names
    return sorted({name for name in names if name.startswith(prefix)})


def bash(folder, *words):
    """Completions of the last word by bash."""
    script = 'source "$1"; shift; COMP_WORDS=(sluice "$@"); COMP_CWORD=$#; _sluice; printf "%s\\n" "${COMPREPLY[@]}"'
    environment = {**os.environ, "PATH": f"{SLUICE.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script, "bash", folder / "sluice.bash", *words], cwd=folder, env=environment, check=True,
                          capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return sorted(filter(None, done.stdout.splitlines()))


def check_bash(folder):
    names = commands()
    assert len(names) >= 8 and bash(folder, "") == sorted([*names, "--help", "--version"])
    for command in names:
        assert set(bash(folder, command, "-")) == options(command), command
    for words, expected in {
        ("pl",): ["plan"],
        ("run", ""): ["folder", "graph.yaml", "two words.yaml", *installed_graphs()],
        ("run", "velo_p"): installed_graphs("velo_p"),
        ("run", "graph.yaml", "--with", "common/g"): ["common/gec.yaml", "common/gec_without_ut.yaml"],
        ("plan", "velo_pv"): ["velo_pv.yaml"],
        ("test", "velo", "--graph", "velo_pv"): ["velo_pv.yaml"],
        ("run", "velo_counts.yaml", "--use", "clusters", "="): ["velo.masked_clustering"],
        ("run", "tw"): ["two words.yaml"],
        ("run", "graph.yaml", "-i", "e"): ["events.mdf"],
        ("run", "graph.yaml", "-i", "events.mdf", "fo"): ["folder"],
        ("run", "graph.yaml", "-n", ""): [],
        ("run", "graph.yaml", "-n", "5", "gr"): ["graph.yaml"],
        ("run", "graph.yaml", "--device", "c"): ["cpu", "cuda"],
        ("run", "graph.yaml", "--digest", "="): ["events"],
        ("run", "graph.yaml", "--digest", "=", "e"): ["events"],
        ("run", "graph.yaml", "--digest", "--pro"): ["--profile"],
        ("run", "graph.yaml", "--plugin-path", ""): ["folder"],
        ("run", "graph.yaml", "--use", "c"): [],
        ("run", VELO, "--use", "c"): ["clusters=", "counts="],
        ("run", VELO, "--use", "clusters", "="): ["velo.masked_clustering"],
        ("run", VELO, "--use", "nothing", "=", "velo.dec"): ["velo.decode_retina"],
        ("run", VELO, "--set", "search.max_s"): ["search.max_scatter=", "search.max_skipped_modules="],
        ("run", VELO, "--set", "g"): ["geometry.path=", "geometry="],
        ("check", VELO, "--set", "clusters.b"): ["clusters.block="],
        ("run", VELO, "--set", "seed", "="): [],
        ("tune", VELO, "--node", "c"): ["clusters", "counts"],
        ("run", "graph.yaml", "--use", "clusters", "=", "velo.dec"): ["velo.decode_retina"],
        ("describe", "velo.decode"): ["velo.decode_retina"],
        ("describe", "velo_t"): ["velo_track_candidates", "velo_tracks"],
        ("describe", "hdf"): ["hdf5", "hdf5.lh5_sink", "hdf5.lh5_source", "hdf5.sink"],
        ("plan", "--csv", ""): ["events.mdf", "folder", "graph.yaml", "sluice.bash", "two words.yaml"],
        ("list", "vel"): ["velo"],
        ("list", "ev"): [],
        ("test", "vel"): ["velo"],
        ("completion", ""): ["bash", "zsh"],
        ("fly", ""): [],
    }.items():
        offered = bash(folder, *words)
        assert offered == sorted(expected), f"bash, {words}: {offered}"


def check_zsh(folder):
    """Tests the options by a stub that prints the arguments of _arguments, then some lines in a real zsh."""
    for command in commands():
        # The file defines functions, and calls one of them, _sluice, in its last line.
        text = (folder / "_sluice").read_text().rsplit("\n_sluice", 1)[0]
        script = f'{text}\n_arguments() {{ print -rl -- "$@"; }}; words=(sluice {command} x); CURRENT=3; _sluice'
        printed = subprocess.run(["zsh", "-f", "-c", script], check=True, capture_output=True, text=True).stdout
        offered = set(re.findall(r"^\*?(--?[a-z-]*[a-z])(?:=-)?\[", printed, re.MULTILINE))
        assert offered == options(command), (command, offered ^ options(command))
    lines = {
        "sluice descr": "sluice describe ",
        "sluice run gr": "sluice run graph.yaml ",
        "sluice run velo_pv": "sluice run velo_pv.yaml ",
        "sluice run graph.yaml --with common/gec_": "sluice run graph.yaml --with common/gec_without_ut.yaml ",
        "sluice run graph.yaml --dev": "sluice run graph.yaml --device ",
        "sluice run graph.yaml --device si": "sluice run graph.yaml --device simt ",
        "sluice run graph.yaml --digest=e": "sluice run graph.yaml --digest=events ",
        "sluice run graph.yaml --use clusters=velo.dec": "sluice run graph.yaml --use clusters=velo.decode_retina ",
        "sluice list vel": "sluice list velo ",
        "sluice describe velo.decode": "sluice describe velo.decode_retina ",
        "sluice describe velo_track_c": "sluice describe velo_track_candidates ",
        f"sluice run {VELO} --use clus": f"sluice run {VELO} --use clusters=",
        f"sluice run {VELO} --use clusters=v": f"sluice run {VELO} --use clusters=velo.masked_clustering ",
        f"sluice run {VELO} --set search.max_sca": f"sluice run {VELO} --set search.max_scatter=",
        f"sluice tune {VELO} --node sear": f"sluice tune {VELO} --node search ",
        "sluice run -i ev": "sluice run -i events.mdf ",
    }
    environment = {"PATH": f"{SLUICE.parent}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb"}
    done = subprocess.run(["zsh", "-f", Path(__file__).with_name("complete.zsh"), folder, *lines], cwd=folder, env=environment,
                          check=True, capture_output=True, text=True, timeout=200)
    for (typed, expected), line in zip(lines.items(), done.stdout.splitlines()):
        assert line.rstrip("\r") == expected, f"zsh, {typed!r} became {line!r}"
    assert len(done.stdout.splitlines()) == len(lines)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for file in ("events.mdf", "graph.yaml", "two words.yaml"):
        (folder / file).touch()
    (folder / "folder").mkdir()
    (folder / VELO).write_text(f"sluice: 1\ninclude: [{GRAPHS}/velo_counts.yaml]\n")
    (folder / "sluice.bash").write_text(sluice("completion", "bash"))
    check_bash(folder)
    (folder / "_sluice").write_text(sluice("completion", "zsh"))
    if not shutil.which("zsh"):
        print("skipped: no zsh; bash passed")
        sys.exit(77)
    check_zsh(folder)
print("bash and zsh offer the commands and options of the help")
