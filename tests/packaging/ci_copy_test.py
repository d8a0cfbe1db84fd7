#!/usr/bin/env python3
"""`.ci/run` in a small repository with a scripts/test that only prints its folder: it runs in a copy named `sluice`, with --full
also in a path with a space, an umlaut and 120 characters. The copy has the uncommitted files, and is removed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUB = """#!/bin/bash
cd "$(dirname "$0")/.."
printf '%s\\n' "$PWD|$*|$SLUICE_DATA|$(git describe --always --dirty)|$(cat changed)|$(ls | tr '\\n' ' ')"
[[ $PWD == */sluice ]] || exit 0
exit 3
"""

if not shutil.which("git"):
    print("skipped: no git")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    checkout, temporary = folder / "a checkout", folder / "temporary"
    for made in (checkout / ".ci", checkout / "scripts", temporary):
        made.mkdir(parents=True)
    shutil.copy(ROOT / ".ci/run", checkout / ".ci/run")
    (checkout / "scripts/test").write_text(STUB)
    (checkout / "scripts/test").chmod(0o755)
    (checkout / ".gitignore").write_text("build\n")
    for file in ("changed", "removed"):
        (checkout / file).write_text("as committed")
    git = ["git", "-C", checkout, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    (checkout / "changed").write_text("as it is")
    (checkout / "removed").unlink()
    (checkout / "new ü").touch()
    (checkout / "build").mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLUICE_", "GIT_"))}
    environment["TMPDIR"] = str(temporary)
    commit = subprocess.run([*git, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    for options, arguments in (([], [""]), (["--quick"], ["--quick"]), (["--full"], ["--quick", "--full"])):
        done = subprocess.run([checkout / ".ci/run", *options], env=environment, capture_output=True, text=True)
        assert done.returncode == 3, done
        lines = [line.split("|") for line in done.stdout.splitlines()]
        assert [line[1] for line in lines] == arguments, lines
        for place, _, data, described, changed, files in lines:
            assert data == str(folder / "shared/data"), data
            assert described.startswith(commit) and described.endswith("-dirty"), described
            assert changed == "as it is" and files.split() == ["changed", "new", "ü", "scripts"], (changed, files)
        assert pathlib.Path(lines[-1][0]).name == "sluice", lines[-1]
        if len(lines) == 2:
            odd = lines[0][0]
            assert " " in odd and "ü" in odd and len(pathlib.Path(odd).name) >= 120, odd
        assert not list(temporary.iterdir()), "the copies are removed"
print("the checkout is copied, tested and removed")
