"""run.py FILE...: these tests by pytest; 77 where a package that they need is missing, as ctest skips."""
import importlib
import sys

NEEDED = {"numpy": "python3-numpy", "pytest": "python3-pytest"}
NOTEBOOK = {"nbclient": "python3-nbclient", "ipykernel": "python3-ipykernel", "matplotlib": "python3-matplotlib"}

if any(file.endswith("test_notebook.py") for file in sys.argv[1:]):
    NEEDED |= NOTEBOOK
for name, package in NEEDED.items():
    try:
        importlib.import_module(name)
    except ImportError as missing:
        print(f"skipped: {missing}; Debian: {package}")
        sys.exit(77)
import pytest  # noqa: E402

sys.exit(pytest.main(["-q", *sys.argv[1:]]))
