"""The types of the package are correct. tests/packaging/release_test.py installs the wheel."""
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT


def test_the_library_next_to_the_package_comes_first(tmp_path):
    prefix = tmp_path / "prefix"
    packages = prefix / "lib/python3/site-packages"
    shutil.copytree(ROOT / "python/sluice", packages / "sluice", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    library = os.path.realpath(environment.pop("SLUICE_LIBRARY"))
    script = "import sluice; from sluice import _library; sluice.version(); print(_library._library_paths()[0])"
    for folder in (prefix / "lib", packages / "sluice/prefix/lib", packages / "sluice"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "libsluice.so.0").symlink_to(library)
        # -P: do not import from the current folder
        done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert (done.returncode, done.stdout.strip()) == (0, str(folder / "libsluice.so.0")), done.stderr


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_the_package_passes_strict_type_checks(tmp_path):
    mypy = [sys.executable, "-m", "mypy", f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={tmp_path}", "sluice"]
    done = subprocess.run(mypy, cwd=ROOT / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
