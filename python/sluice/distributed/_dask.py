"""Dask, where it is needed: tasks themselves do without it."""
from __future__ import annotations

from typing import Any


def distributed() -> Any:
    """The package. ImportError that says where it comes from."""
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "this needs the package distributed: pip install distributed; Debian: python3-distributed"
        ) from None
    return distributed
