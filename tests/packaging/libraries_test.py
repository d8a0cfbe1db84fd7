#!/usr/bin/env python3
"""Messages of configuring without some libraries: libraries_test.py CMAKE GENERATOR C_COMPILER

pkg-config gets a folder with only the modules that it may find.
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
    """{name: file} of all modules that pkg-config finds."""
    folders = os.environ.get("PKG_CONFIG_LIBDIR") or subprocess.run(
        ["pkg-config", "--variable", "pc_path", "pkg-config"], capture_output=True, text=True, check=True).stdout.strip()
    found = {}
    for folder in os.environ.get("PKG_CONFIG_PATH", "").split(":") + folders.split(":"):
        for path in sorted(pathlib.Path(folder).glob("*.pc")) if folder else ():
            found.setdefault(path.stem, path)
    return found


def configure(command, without):
    """Configures without the modules that match the pattern; returns the finished process, its messages and whether there are tests."""
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
    check(done.returncode != 0 and wanted in said, f"without any library, all packages are named: {said}")
    done, said, _ = configure(command, "libzstd")
    check(done.returncode != 0 and "apt-get install libzstd-dev " in said, f"without one library, only that one is named: {said}")
    done, said, has_tests = configure(command, "cmocka|hdf5.*|libzmq|libmicrohttpd")
    check(done.returncode == 0 and not has_tests, f"without cmocka, HDF5, libzmq and libmicrohttpd configuring succeeds, without tests: {said}")
    check("cmocka was not found (Debian: libcmocka-dev): tests are not built" in said, "missing tests are reported")
    check("HDF5 was not found (Debian: libhdf5-dev): the plugin hdf5 is not built" in said, "a missing HDF5 is reported")
    check("libzmq 4.3 was not found (Debian: libzmq3-dev)" in said, "a missing libzmq is reported")
    check("libmicrohttpd 0.9.73 was not found (Debian: libmicrohttpd-dev)" in said, "so is a missing libmicrohttpd")
    checks.end()


main(*sys.argv[1:])
