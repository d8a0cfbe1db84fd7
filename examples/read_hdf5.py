#!/usr/bin/env python3
"""Reads a file of hdf5.sink into pandas: read_hdf5.py FILE (Debian: python3-h5py, python3-pandas)"""
import sys

import h5py
import numpy
import pandas


def table(file, name):
    """The items of an output, a row each, with the place of their event in /events."""
    group = file[name]
    items = {field: data[:] for field, data in group.items() if data.attrs["per"] == "item" and data.ndim == 1}
    event = numpy.repeat(numpy.arange(len(group["offsets"]) - 1), numpy.diff(group["offsets"]))
    return pandas.DataFrame(items, index=pandas.Index(event, name="event"))


with h5py.File(sys.argv[1]) as file:
    states = table(file, "fit.beamline_states")
    states["hits"] = numpy.diff(file["tracks/hit_offsets"])
    print(f"sluice {file.attrs['sluice_version']}, graph {file.attrs['graph_digest']}, {len(file['events/number'])} events")
    print("units:", {field: data.attrs.get("unit", "") for field, data in file["fit.beamline_states"].items() if field in "xyz"})
    print(states.groupby("backward")["hits"].agg(["count", "mean"]).round(2))
    print("tracks of each event:", numpy.diff(file["tracks/offsets"]).tolist())
