"""The library is found in the documented places, and a library that does not fit is refused."""
import ctypes
import os
import subprocess
import sys

import pytest

import sluice
from sluice import _abi, _library

SIZE = ctypes.sizeof(_abi.Options)


def fake(folder, version=sluice.__version__, size=SIZE, interface=_abi.ABI_VERSION):
    """A library with this version text and no other functions."""
    source = folder / "fake.c"
    source.write_text(
        f"""#include <stdio.h>
struct options {{ unsigned size; char rest[{size} - 4]; }};
const char *sl_version(void) {{ return "{version}"; }}
struct options sl_options_default(void) {{ return (struct options){{{size}, {{0}}}}; }}
void sl_write_version(FILE *file) {{ fprintf(file, "plugins    interface {interface}\\n"); }}
"""
    )
    path = folder / "libfake.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", path], check=True)
    return str(path)


@pytest.mark.parametrize(
    "reported, why",
    [
        ({"version": "0.99.1"}, "libsluice 0.99.1 does not fit the Python package .*: the versions differ"),
        ({"size": SIZE + 8}, f"struct sl_options has {SIZE + 8} bytes there and {SIZE} here"),
        ({"interface": 99}, f"the interface of plugins is version 99 there and {_abi.ABI_VERSION} here"),
        ({}, "it has no function sl_diagnostics_new"),
    ],
)
def test_a_library_that_does_not_fit_is_refused(tmp_path, reported, why):
    path = fake(tmp_path, **reported)
    with pytest.raises(sluice.LibraryError, match=why) as refused:
        _library._check(ctypes.CDLL(path), path)
    assert path in str(refused.value)


def test_another_library_is_refused():
    with pytest.raises(sluice.LibraryError, match="libc is no libsluice: .*sl_version"):
        _library._check(ctypes.CDLL(None), "libc")


def test_a_missing_library_is_named():
    done = subprocess.run(
        [sys.executable, "-c", "import sluice; sluice.version()"],
        env={**os.environ, "SLUICE_LIBRARY": "/no/such/libsluice.so"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "LibraryError: libsluice cannot be loaded: /no/such/libsluice.so" in done.stderr
    assert "SLUICE_LIBRARY" in done.stderr


def test_the_library_is_searched_for_in_order(monkeypatch):
    monkeypatch.setenv("SLUICE_LIBRARY", "/here/lib.so")
    assert _library._library_paths() == ["/here/lib.so"]
    monkeypatch.delenv("SLUICE_LIBRARY")
    assert _library._library_paths()[-1] == "libsluice.so.0"


def test_the_library_reports_its_version_and_targets():
    assert sluice.version().startswith(sluice.__version__ + ", commit ")
    assert "cpu" in sluice.devices()
