#!/usr/bin/env python3
"""Runs transcripts (transcript.py): transcript_test.py SLUICE [--update] CASE.txt...

Each case runs in a copy of tests/cli/files that also contains the folder graphs/. --update writes the output of the commands
into the cases instead of comparing it: check the difference before committing it.
"""
import pathlib
import shutil
import sys
import tempfile

import transcript

HERE = pathlib.Path(__file__).resolve().parent
GRAPHS = HERE.parents[1] / "graphs"


def update(case, text, folder, sluice):
    """Writes new output into a case. Keeps comments and commands, and the wildcards of commands with matching output."""
    lines, kept, at = text.splitlines(), [], 0
    steps = {step.line: step for step in transcript.read(text)}
    while at < len(lines):
        step = steps.get(at + 1)
        if not step:
            if lines[at].startswith("#") or not kept:
                if kept and not kept[-1].startswith("#"):
                    kept.append("")
                kept.append(lines[at])
            at += 1
            continue
        if kept:
            kept.append("")
        commands = step.command.count("\n") + 1
        kept += lines[at : at + commands]
        at += commands
        wrong = list(transcript.wrong([step], folder, sluice))
        kept += wrong[0][1] if wrong else step.expected
    case.write_text("\n".join(kept) + "\n")


def main():
    sluice, *cases = sys.argv[1:]
    updating = "--update" in cases
    failures = commands = 0
    for case in (pathlib.Path(name).resolve() for name in cases if name != "--update"):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(HERE / "files", folder, dirs_exist_ok=True)
            shutil.copytree(GRAPHS, pathlib.Path(folder) / "graphs")
            text = case.read_text()
            if updating:
                update(case, text, folder, sluice)
                continue
            steps = transcript.read(text)
            commands += len(steps)
            for step, lines in transcript.wrong(steps, folder, sluice):
                failures += 1
                print(f"{case.name}:{step.line}: $ {step.command}\n  expected:", *step.expected, "  printed:", *lines, sep="\n    ")
    print(f"{commands} commands, {failures} wrong")
    return 1 if failures or (not updating and commands == 0) else 0


if __name__ == "__main__":
    sys.exit(main())
