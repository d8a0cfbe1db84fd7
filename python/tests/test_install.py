"""pip installs the package from the checkout with metadata and types, and the types are correct."""
import importlib.util
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

PYTHON = ROOT / "python"


def test_pip_installs_the_package(tmp_path):
    made = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    copy = shutil.copytree(PYTHON, tmp_path / "python", ignore=made)
    prefix = tmp_path / "prefix"
    target = prefix / "lib/python3/site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [*pip, "--disable-pip-version-check", "--no-compile", "--root-user-action=ignore", "--target", target, copy],
        check=True,
        env={**environment, "HOME": str(tmp_path)},
    )
    assert (target / "sluice/py.typed").is_file()
    script = (
        "import importlib.metadata as m, sluice; meta = m.metadata('sluice'); "
        "print(sluice.__file__, meta['Version'] == sluice.__version__, meta['Requires-Python'], "
        "m.requires('sluice')[0].startswith('numpy')); "
        "print(len(sluice.Graph('common/velo_tracks.yaml', set={'raw.seed': 2}).arrays(n=2)))"
    )
    # -P: do not import from the current folder
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True, text=True, cwd=tmp_path, env={**environment, "PYTHONPATH": str(target)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(target / "sluice/__init__.py"), "True", ">=3.11", "True", "2"]

    # The library of the prefix is found without settings; a library next to the package comes first.
    environment.pop("SLUICE_LIBRARY")
    script = "import sluice; from sluice import _library; sluice.version(); print(_library._library_paths()[0])"
    for place in (prefix / "lib", target / "sluice"):
        (place / "libsluice.so.0").symlink_to(os.path.realpath(os.environ["SLUICE_LIBRARY"]))
        done = subprocess.run(
            [sys.executable, "-P", "-c", script],
            capture_output=True, text=True, cwd=tmp_path, env={**environment, "PYTHONPATH": str(target)},
        )
        assert (done.returncode, done.stdout.strip()) == (0, str(place / "libsluice.so.0")), done.stderr


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_the_package_passes_strict_type_checks(tmp_path):
    mypy = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", "sluice"]
    done = subprocess.run(mypy, cwd=PYTHON, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
