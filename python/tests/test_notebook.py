"""The example notebooks run, draw their pictures, and are committed without outputs."""
import json

import pytest
from conftest import ROOT

EXAMPLES = ROOT / "python/examples"
PICTURES = {"tracks.ipynb": 6, "waveforms.ipynb": 3}  # the last one of tracks only on a GPU


def test_each_notebook_is_tested():
    assert sorted(path.name for path in EXAMPLES.glob("*.ipynb")) == sorted(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_a_notebook_is_committed_without_outputs(name):
    cells = json.loads((EXAMPLES / name).read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 4
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * len(code)


@pytest.mark.parametrize("name", PICTURES)
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    import nbformat

    for variable in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")  # warnings of the package and of wrong plots
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    skipped = sum("this cell was skipped" in str(output.get("data", {})) for output in outputs)
    assert pictures + skipped == PICTURES[name]
    printed = "".join(output.get("text", "") for output in outputs)
    assert printed == "", "a warning, or something printed"
    if name == "tracks.ipynb":
        assert "300 events" in str(outputs[0]["data"]["text/plain"])
