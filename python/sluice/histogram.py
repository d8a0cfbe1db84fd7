"""Histograms, counted over a run: of generic.histogram and generic.histogram_2d, and of totals with named entries."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from .collection import copy_of_memory


@dataclasses.dataclass(frozen=True)
class Axis:
    """A numeric axis has `bins` bins of equal width from lower to upper, in `unit`. label: the counted field, "pv.z"; doc: its
    doc string.

    An axis of categories has a bin for each of its `names`; label: what a name is, "line". Bin i is [i, i + 1), without unit
    and doc string. names is () for a numeric axis.
    """

    bins: int
    lower: float
    upper: float
    label: str
    unit: str
    doc: str
    names: tuple[str, ...] = ()

    @property
    def _bin_entries(self) -> slice:
        """The entries of all_counts that are bins."""
        return slice(None) if self.names else slice(1, -2)

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """bins + 1 edges (float64), the same bits that values were compared with."""
        edges = np.asarray(self.lower + np.arange(self.bins + 1) * ((self.upper - self.lower) / self.bins), dtype=np.float64)
        edges[-1] = self.upper
        return edges


@dataclasses.dataclass(frozen=True)
class Histogram:
    """Counts over the run.

    counts: int64, shape (bins,) or (x bins, y bins). all_counts: int64, with three more entries per numeric axis: entry 0
    counts values below, then come the bins, values above, and values that are not finite. below, above, not_finite
    are those of the first axis, 0 if it has categories.
    """

    name: str
    title: str
    axes: list[Axis]
    all_counts: npt.NDArray[np.int64]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        return self.all_counts[tuple(axis._bin_entries for axis in self.axes)]

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Edges of the first axis."""
        return self.axes[0].edges

    def _beside(self, entry: int) -> int:
        """The counts of an entry of the first axis that is no bin."""
        return 0 if self.axes[0].names else int(self.all_counts[entry].sum())

    @property
    def below(self) -> int:
        return self._beside(0)

    @property
    def above(self) -> int:
        return self._beside(-2)

    @property
    def not_finite(self) -> int:
        return self._beside(-1)

    def to_boost(self) -> Any:
        """A boost_histogram.Histogram; its overflow bins also have the values that are not finite. Categories become an axis
        StrCategory. ImportError without the package boost-histogram.
        """
        try:
            import boost_histogram
        except ImportError:
            raise ImportError("this needs the package boost-histogram: pip install boost-histogram") from None
        axes = [_boost_axis(boost_histogram.axis, axis) for axis in self.axes]
        histogram = boost_histogram.Histogram(*axes, storage=boost_histogram.storage.Int64())
        counts = self.all_counts
        for dimension, axis in enumerate(self.axes):
            counts = np.moveaxis(counts, dimension, 0)
            # Categories have an empty overflow bin; otherwise the last entry joins the one before.
            last = np.zeros_like(counts[:1]) if axis.names else counts[-2:-1] + counts[-1:]
            counts = np.concatenate([counts if axis.names else counts[:-2], last])
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


def _boost_axis(kinds: Any, axis: Axis) -> Any:
    if axis.names:
        return kinds.StrCategory(list(axis.names), metadata=axis.label)
    return kinds.Regular(axis.bins, axis.lower, axis.upper, metadata=axis.label)


def _read_axis(axis: _abi.Axis) -> Axis:
    names = _abi.texts_at(axis.names, axis.bins)
    return Axis(
        bins=axis.bins,
        lower=axis.lower,
        upper=float(axis.bins) if names else axis.upper,
        label=_abi.decode(axis.label),
        unit=_abi.decode(axis.unit),
        doc=_abi.decode(axis.doc),
        names=names,
    )


def _read_histogram(histogram: _abi.Histogram) -> Histogram:
    axes = [_read_axis(axis) for axis in (histogram.x, histogram.y) if axis.kind != _abi.AXIS_NONE]
    # The memory has one row of x entries per y entry.
    shape = tuple(axis.bins + (0 if axis.names else _abi.AXIS_BESIDE) for axis in reversed(axes))
    counts = copy_of_memory(histogram.counts, np.dtype("u8"), shape).astype(np.int64).T
    return Histogram(_abi.decode(histogram.name), _abi.decode(histogram.title), axes, counts)


def read_histograms(output: _abi.RunOutput) -> list[Histogram]:
    """The output as a histogram, or a histogram of each field of totals with named entries; [] for other outputs."""
    histograms = _abi.array_at(_abi.Histogram, output.histograms, output.histogram_count)
    return [_read_histogram(histogram) for histogram in histograms]
