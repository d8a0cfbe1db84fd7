"""Runs in a locale with a decimal comma, made by localedef."""

import os
import shutil
import subprocess
import sys

import pytest

PROGRAM = """
import locale, sluice, sys
graph = sluice.Graph("velo_sample.yaml", set={"seed": 7, "sample.fraction": 0.5})
graph.run(n=20, output="point.csv").finish()
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
points = []
def on_batch(batch):
    points.append(locale.localeconv()["decimal_point"])
run = graph.run(n=20, output="comma.csv", on_batch=on_batch)
summary = run.finish()
assert points and set(points) == {","}, points
assert locale.localeconv()["decimal_point"] == ","
assert isinstance(run.summary["seconds"], float)
assert open("point.csv", "rb").read() == open("comma.csv", "rb").read()
"""


def test_a_decimal_comma_changes_nothing(tmp_path):
    if not shutil.which("localedef"):
        pytest.skip("there is no localedef (Debian: locales)")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True)
    if not (tmp_path / "de_DE.UTF-8").exists():
        pytest.skip("localedef makes no de_DE (Debian: locales)")
    environment = {**os.environ, "LOCPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
