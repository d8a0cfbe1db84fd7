"""Runs transcripts of a terminal, for tests and for the examples of docs/: commands with their expected output.

    $ sluice plan --csv no.csv
    no.csv: error: No such file or directory
    [2]

A line that begins with `$ ` is a command for bash; lines that begin with `> ` continue it. The following lines are its
standard output, then its standard error, then the exit status in brackets if it is not 0. `...` in a line matches any text;
a line with only `...` matches any number of lines. Text before the first command and lines that begin with `#` are comments.
All commands of a text run in sequence in one folder, where `sluice` is the command under test.
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
    """Lines of a transcript that show the output of a command."""
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
    """Runs the steps; yields (step, its output lines) if the output differs from the expected lines."""
    for step in steps:
        lines = output_of(step.command, folder, sluice)
        if not pattern(step.expected).fullmatch("".join(line + "\n" for line in lines)):
            yield step, lines
