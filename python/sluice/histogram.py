"""Histograms of generic.histogram and generic.histogram_2d, counted over a run."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from .collection import Array
from .totals import read_totals

_BESIDE = 3  # entries besides the bins: values below, above, and not finite
_DIMENSIONS = {"generic.histogram": [""], "generic.histogram_2d": ["x", "y"]}


@dataclasses.dataclass(frozen=True)
class Axis:
    """`bins` bins of equal width from lower to upper, in `unit`. label: the counted field, "pv.z"; doc: its doc string.
    """

    bins: int
    lower: float
    upper: float
    label: str
    unit: str
    doc: str

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """bins + 1 edges (float64), the same bits that values were compared with."""
        edges: npt.NDArray[np.float64] = self.lower + np.arange(self.bins + 1) * ((self.upper - self.lower) / self.bins)
        edges[-1] = self.upper
        return edges


@dataclasses.dataclass(frozen=True)
class Histogram:
    """Counts over the run.

    counts: int64, shape (bins,) or (x bins, y bins). all_counts: int64, with three more entries per axis: entry 0
    counts values below, then come the bins, values above, and values that are not finite. below, above, not_finite
    are those of the first axis.
    """

    name: str
    title: str
    axes: list[Axis]
    all_counts: npt.NDArray[np.int64]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        return self.all_counts[tuple(slice(1, -2) for _ in self.axes)]

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Edges of the first axis."""
        return self.axes[0].edges

    @property
    def below(self) -> int:
        return int(self.all_counts[0].sum())

    @property
    def above(self) -> int:
        return int(self.all_counts[-2].sum())

    @property
    def not_finite(self) -> int:
        return int(self.all_counts[-1].sum())

    def to_boost(self) -> Any:
        """A boost_histogram.Histogram; its overflow bins also have the values that are not finite. ImportError without
        the package boost-histogram.
        """
        try:
            import boost_histogram
        except ImportError:
            raise ImportError("this needs the package boost-histogram: pip install boost-histogram") from None
        axes = [boost_histogram.axis.Regular(a.bins, a.lower, a.upper, metadata=a.label) for a in self.axes]
        histogram = boost_histogram.Histogram(*axes, storage=boost_histogram.storage.Int64())
        counts = self.all_counts
        for dimension in range(counts.ndim):  # the last entry of each axis joins the one before
            counts = np.moveaxis(counts, dimension, 0)
            counts = np.concatenate([counts[:-2], counts[-2:-1] + counts[-1:]])
            counts = np.moveaxis(counts, 0, dimension)
        histogram.view(flow=True)[...] = counts
        return histogram

    def to_hist(self) -> Any:
        """A hist.Hist: to_boost() with the title, and axes labelled with field and unit. ImportError without the
        package hist.
        """
        try:
            import hist
        except ImportError:
            raise ImportError("this needs the package hist: pip install hist") from None
        histogram = hist.Hist(self.to_boost())
        histogram.name, histogram.label = self.name, self.title
        for axis, of in zip(histogram.axes, self.axes):
            axis.label = f"{of.label} [{of.unit}]" if of.unit else of.label
        return histogram


def _axis(settings: dict[str, _abi.RunSetting], prefix: str) -> Axis:
    name = f"{prefix}_" if prefix else ""
    of = settings[prefix or "of"]
    field = _abi.struct_at(_abi.Field, of.field)
    return Axis(
        bins=int(settings[name + "bins"].number),
        lower=settings[name + "lower"].number,
        upper=settings[name + "upper"].number,
        label=_abi.decode(of.text),
        unit=_abi.decode(field.unit),
        doc=_abi.decode(field.doc),
    )


def read_histogram(output: _abi.RunOutput) -> Histogram | None:
    """The output as a histogram, or None if it is not one."""
    prefixes = _DIMENSIONS.get(_abi.decode(output.algorithm))
    if not prefixes:
        return None
    entries = _abi.array_at(_abi.RunSetting, output.settings, output.setting_count)
    settings = {_abi.decode(entry.name): entry for entry in entries}
    axes = [_axis(settings, prefix) for prefix in prefixes]
    # The memory has one row of x bins per y bin.
    counts = read_totals(output)["counts"].astype(np.int64).reshape([axis.bins + _BESIDE for axis in reversed(axes)]).T
    return Histogram(_abi.decode(output.name), _abi.decode(settings["title"].text), axes, counts)
