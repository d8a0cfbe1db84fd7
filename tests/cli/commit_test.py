#!/usr/bin/env python3
"""The commit that a build reports: commit_test.py CMAKE SOURCE. Runs cmake/Commit.cmake in clones, archives and plain folders."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import Checks

CMAKE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
checks = Checks()


def git(folder, *words):
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True).stdout


def commit_of(folder, output):
    subprocess.run([CMAKE, "-D", f"SOURCE={folder}", "-D", f"OUTPUT={output}", "-P", folder / "cmake/Commit.cmake"], check=True)
    return re.search(r'= "(.*)";', output.read_text()).group(1)


def main(top):
    clone, output = top / "clone", top / "commit.c"
    (clone / "cmake").mkdir(parents=True)
    for name in ("cmake/Commit.cmake", "cmake/commit.txt", ".gitattributes"):
        shutil.copy(SOURCE / name, clone / name)
    checks.that(commit_of(clone, output) == "unknown", "the commit of a plain folder is unknown")

    git(clone, "init", "--quiet")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "one")
    commit = git(clone, "rev-parse", "HEAD").decode()[:12]
    checks.that(commit_of(clone, output) == commit, "a clone has its commit")
    before = output.stat().st_mtime_ns
    checks.that(commit_of(clone, output) == commit and output.stat().st_mtime_ns == before, "the source file changes only with the commit")
    git(clone, "tag", "v1")
    checks.that(commit_of(clone, output) == commit, "tags do not change the commit")

    inside = clone / "build/archive"
    inside.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", inside], input=git(clone, "archive", "HEAD"), check=True)
    checks.that(commit_of(inside, output) == commit, "an archive has the commit that it was made of")
    (inside / "cmake/commit.txt").unlink()
    checks.that(commit_of(inside, output) == "unknown", "an archive without commit does not get that of an enclosing clone")

    with open(clone / "cmake/Commit.cmake", "a") as file:
        file.write("# changed\n")
    checks.that(commit_of(clone, output) == f"{commit}-dirty", "a clone with changed files is reported as dirty")
    checks.end()


if not shutil.which("git"):
    print("skipped: no git")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    main(pathlib.Path(name).resolve())
