"""Checks of arguments: a wrong one is refused by its name, in the words of the command."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def text(name: str, value: Any) -> str | None:
    """A text, or None. TypeError for anything else."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} needs a text, not {value!r}")
    return value


def path(name: str, value: Any) -> str | os.PathLike[str] | None:
    """A path, or None. TypeError for anything else."""
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} needs a path, not {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """True or False; TypeError for anything else, such as "no"."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} needs True or False, not {value!r}")
    return bool(value)


def instance(name: str, value: Any, kind: type[T]) -> T | None:
    """An object of this class of the package, or None. TypeError for anything else."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} needs a sluice.{kind.__name__}, not {value!r}")
    return value


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """A mapping; an empty one for None. TypeError for anything else."""
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{name} needs a mapping, not {value!r}")
    return {} if value is None else value
