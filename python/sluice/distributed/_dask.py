"""Imports Dask on demand; tasks themselves do not need it."""
from __future__ import annotations

from typing import Any


def distributed() -> Any:
    """The package distributed. ImportError with installation instructions if it is missing."""
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "this needs the package distributed: pip install distributed; Debian: python3-distributed"
        ) from None
    return distributed
