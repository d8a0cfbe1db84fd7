#!/usr/bin/env python3
"""What configuring says where libraries are missing: libraries_test.py CMAKE GENERATOR C_COMPILER

pkg-config is shown a folder of its own, with the modules that are to be found.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from common import ROOT, Checks

checks = Checks()
check = checks.that


def modules():
    """The files of all modules that pkg-config finds here, by name."""
    folders = os.environ.get("PKG_CONFIG_LIBDIR") or subprocess.run(
        ["pkg-config", "--variable", "pc_path", "pkg-config"], capture_output=True, text=True, check=True).stdout.strip()
    found = {}
    for folder in os.environ.get("PKG_CONFIG_PATH", "").split(":") + folders.split(":"):
        for path in sorted(pathlib.Path(folder).glob("*.pc")) if folder else ():
            found.setdefault(path.stem, path)
    return found


def configure(command, without):
    """Configures with all modules but those that the pattern names; returns the finished process, and whether there are tests."""
    with tempfile.TemporaryDirectory() as folder:
        shown = pathlib.Path(folder) / "modules"
        shown.mkdir()
        for name, path in modules().items():
            if not re.fullmatch(without, name):
                (shown / path.name).symlink_to(path)
        environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(shown), "PKG_CONFIG_PATH": ""}
        build = pathlib.Path(folder) / "build"
        done = subprocess.run([*command, "-S", ROOT, "-B", build, "-D", "SLUICE_CUDA=OFF"], capture_output=True, text=True, env=environment)
        return done, " ".join(done.stderr.split()), (build / "tests").exists()


def main(cmake, generator, compiler):
    command = [cmake, "-G", generator, "-D", f"CMAKE_C_COMPILER={compiler}"]
    done, said, _ = configure(command, ".*")
    wanted = "apt-get install libyaml-dev libxxhash-dev zlib1g-dev liblzma-dev liblz4-dev libzstd-dev"
    check(done.returncode != 0 and wanted in said, f"without any library: {said}")
    done, said, _ = configure(command, "libzstd")
    check(done.returncode != 0 and "apt-get install libzstd-dev " in said, f"without one: {said}")
    done, said, has_tests = configure(command, "cmocka|hdf5.*")
    check(done.returncode == 0 and not has_tests, f"without cmocka and HDF5 it configures, and there are no tests: {said}")
    check("cmocka was not found (Debian: libcmocka-dev): tests are not built" in said, "which it says")
    check("HDF5 was not found (Debian: libhdf5-dev): hdf5.sink is not built" in said, "of hdf5.sink too")
    checks.end()


main(*sys.argv[1:])
