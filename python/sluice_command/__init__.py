"""The command `sluice` of an installed wheel. A package of its own, because importing `sluice` also imports NumPy."""
import os
import pathlib
import sys


def main() -> None:
    """Replaces this process by the program; an installation without it ends with status 2."""
    program = pathlib.Path(__file__).resolve().parent.parent / "sluice/prefix/bin/sluice"
    try:
        os.execv(program, ["sluice", *sys.argv[1:]])
    except OSError as error:
        print(f"error: {program}: {error.strerror}; reinstall the package `sluice`", file=sys.stderr)
        sys.exit(2)
