"""The example notebook runs, draws its pictures, and is committed without outputs."""
import json

import pytest
from conftest import ROOT

NOTEBOOK = ROOT / "python/examples/tracks.ipynb"


def test_the_notebook_is_committed_without_outputs():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * len(code)


def test_the_notebook_runs(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    import nbformat

    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")  # warnings of the package and of wrong plots
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    skipped = any("this cell was skipped" in str(output.get("data", {})) for output in outputs)
    assert pictures == (5 if skipped else 6)
    printed = "".join(output.get("text", "") for output in outputs)
    assert printed == "", "a warning, or something printed"
    assert "300 events" in str(outputs[0]["data"]["text/plain"])
