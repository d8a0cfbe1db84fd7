"""Transcripts of a terminal, run again: commands with what they print, for tests and for the examples of docs/.

    $ sluice plan --csv no.csv
    no.csv: error: No such file or directory
    [2]

A line that begins with `$ ` is a command for bash; lines after it that begin with `> ` go on. What follows is its standard
output, then its standard error, then the exit status in brackets if that is not 0. `...` in a line stands for any text,
a line of `...` alone for any lines, none among them. Before the first command, and on lines that begin with `#`, stands
what is not run. All commands of a text run one after the other in one folder, where `sluice` is the command under test.
"""
import os
import pathlib
import re
import subprocess


class Step:
    def __init__(self, line, command):
        self.line = line  # of the command, from 1
        self.command = command
        self.expected = []


def read(text, first_line=1):
    """The steps of a text."""
    steps = []
    for number, line in enumerate(text.splitlines(), first_line):
        if steps and line.startswith("> ") and not steps[-1].expected:
            steps[-1].command += "\n" + line[2:]
        elif line.startswith("$ "):
            steps.append(Step(number, line[2:]))
        elif steps and not line.startswith("#"):
            steps[-1].expected.append(line.rstrip())
    for step in steps:
        while step.expected and not step.expected[-1]:
            step.expected.pop()
    return steps


def pattern(lines):
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split("...")) + r"\n")
    return re.compile("".join(parts))


def output_of(command, folder, sluice, seconds=120):
    """What a transcript shows of a command, as lines."""
    bin_folder = pathlib.Path(folder) / ".bin"
    bin_folder.mkdir(exist_ok=True)
    link = bin_folder / "sluice"
    if not link.exists():
        link.symlink_to(pathlib.Path(sluice).resolve())
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    for name in ("SLUICE_PLUGIN_PATH", "SLUICE_GRAPH_PATH", "SLUICE_LOG", "SLUICE_LOG_LEVEL"):
        environment.pop(name, None)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)
    lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    return lines + ([f"[{done.returncode}]"] if done.returncode else [])


def wrong(steps, folder, sluice):
    """Runs the steps; yields (step, lines that it printed) for each that prints something else than expected."""
    for step in steps:
        lines = output_of(step.command, folder, sluice)
        if not pattern(step.expected).fullmatch("".join(line + "\n" for line in lines)):
            yield step, lines
