"""The structs and constants that the package mirrors equal those of the headers."""
import ctypes
import os
import re
import subprocess

import pytest
from conftest import ROOT

from sluice import _abi, _library
from sluice._version import __version__

INCLUDE = ROOT / "runtime/include"


@pytest.fixture(scope="module")
def from_c(tmp_path_factory):
    """Output of a C program: for each struct its size, then each member's offset and size; then constants."""
    folder = tmp_path_factory.mktemp("abi")
    lines = []
    for name, mirror in _abi.MIRRORED.items():
        lines.append(f'  printf("{name} %zu\\n", sizeof(struct {name}));')
        for member, *_ in mirror._fields_:
            lines.append(
                f'  printf("{name}.{member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                f"sizeof(((struct {name} *)0)->{member}));"
            )
    numbers = ["SL_ABI_VERSION", "SL_EINTERRUPTED", "SL_NOTE", "SL_ERROR"]
    numbers += ["SL_SHAPE_CODE_PER_SLICE", "SL_SHAPE_CODE_OFFSETS", "SL_SHAPE_CODE_TOTAL", "SL_SHAPE_CODE_BYTES"]
    lines += [f'  printf("{number} %d\\n", (int){number});' for number in numbers]
    lines += ["#define ERROR(name, value, text) printf(\"error %d \" #name \"\\n\", value);", "  SL_ERRORS(ERROR)"]
    lines += ["#define TYPE(name, c, bytes) printf(\"type %d \" #name \"\\n\", SL_TYPE_##name);", "  SL_TYPES(TYPE)"]
    source = folder / "abi.c"
    source.write_text("#include <sluice/sluice.h>\nint main(void) {\n" + "\n".join(lines) + "\n  return 0;\n}\n")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", f"-I{INCLUDE}", source, "-o", folder / "abi"], check=True)
    output = subprocess.run([folder / "abi"], capture_output=True, text=True, check=True).stdout
    return output.splitlines()


def test_structs_match_the_headers(from_c):
    mirrored = []
    for name, mirror in _abi.MIRRORED.items():
        mirrored.append(f"{name} {ctypes.sizeof(mirror)}")
        for member, *_ in mirror._fields_:
            place = getattr(mirror, member)
            mirrored.append(f"{name}.{member} {place.offset} {place.size}")
    assert mirrored == from_c[: len(mirrored)]


def test_constants_match_the_headers(from_c):
    numbers = dict(line.split() for line in from_c if line.startswith("SL_"))
    assert int(numbers["SL_ABI_VERSION"]) == _abi.ABI_VERSION
    assert int(numbers["SL_EINTERRUPTED"]) == _abi.INTERRUPTED
    assert int(numbers["SL_SHAPE_CODE_PER_SLICE"]) == _abi.PER_SLICE
    assert int(numbers["SL_SHAPE_CODE_OFFSETS"]) == _abi.OFFSETS
    assert int(numbers["SL_SHAPE_CODE_BYTES"]) == _abi.BYTES
    assert int(numbers["SL_SHAPE_CODE_TOTAL"]) == _abi.TOTAL
    assert (_abi.SEVERITIES[int(numbers["SL_NOTE"])], _abi.SEVERITIES[int(numbers["SL_ERROR"])]) == ("note", "error")


def test_errors_and_types_match_the_headers(from_c):
    errors = dict(line.split()[1:] for line in from_c if line.startswith("error "))
    assert {int(value): name for value, name in errors.items()} == _abi.ERRORS
    kinds = {"u": "u", "i": "i", "f": "f"}
    types = [line.split()[2] for line in from_c if line.startswith("type ")]
    assert [f"{kinds[name[0]]}{int(name[1:]) // 8}" for name in types] == list(_abi.TYPES)


def test_the_version_is_that_of_the_project():
    assert _library.version().startswith(f"{__version__}, commit ")
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
