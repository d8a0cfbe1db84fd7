"""run.py FILE...: these tests by pytest; 77 where that or NumPy is missing, as ctest skips."""
import sys

try:
    import numpy  # noqa: F401
    import pytest
except ImportError as missing:
    print(f"skipped: {missing}; Debian: python3-pytest, python3-numpy")
    sys.exit(77)
sys.exit(pytest.main(["-q", *sys.argv[1:]]))
