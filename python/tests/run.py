"""run.py FILE...: runs these tests by pytest. Exit status 77 (skipped) if a package is missing."""
import importlib
import sys

NEEDED = {"numpy": "python3-numpy", "pytest": "python3-pytest"}
NEEDED_BY = {
    "notebook": {"nbclient": "python3-nbclient", "ipykernel": "python3-ipykernel", "matplotlib": "python3-matplotlib"},
    "distributed": {"distributed": "python3-distributed"},
}

# Processes that a test starts import this file again.
if __name__ == "__main__":
    for word, packages in NEEDED_BY.items():
        if any(word in file for file in sys.argv[1:]):
            NEEDED |= packages
    for name, package in NEEDED.items():
        try:
            importlib.import_module(name)
        except ImportError as missing:
            print(f"skipped: {missing}; Debian: {package}")
            sys.exit(77)
    sys.exit(importlib.import_module("pytest").main(["-q", *sys.argv[1:]]))
