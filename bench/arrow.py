#!/usr/bin/env python3
"""Speed at which outputs become Arrow data, and files of it, in GB/s.

    bench/arrow.py [--tracks 10000000] [--hits 8] [--rounds 5] [--folder /dev/shm]

A collection of tracks with hits is filled with random numbers, and handed to pyarrow: as it is (`view`; its time does not depend
on the size, so that it has no rate), with arrow(copy=True), and to an Arrow IPC file in --folder.
`memcpy` copies the same arrays into memory that is there, `new arrays` into memory of their own. Needs pyarrow. The median, minimum and maximum of the rounds are printed.
"""
import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))


def tracks(count, hits, events):
    """A collection like `tracks` of the VELO's graph."""
    from sluice.collection import Collection, Field, Schema

    random = np.random.default_rng(1)
    fields, arrays = {}, {}

    def add(name, per, array, group=""):
        fields[name] = Field(name, array.dtype, per, 1, "mm" if array.dtype.kind == "f" else "", name, group)
        arrays[name] = array

    add("offsets", "boundary", np.linspace(0, count, events + 1).astype(np.int64))
    for name in ("x", "y", "tx", "ty", "p"):
        add(name, "item", random.random(count, dtype=np.float32))
    add("hit_offsets", "item boundary", np.arange(0, hits * (count + 1), hits, dtype=np.int64), "hits")
    for name in ("hit_x", "hit_y", "hit_z"):
        add(name, "subitem", random.random(count * hits, dtype=np.float32), "hits")
    return Collection(Schema("tracks", "tracks", "tracks with hits", fields), events, arrays.__getitem__)


def measure(act, rounds):
    times = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        act()
        times.append(time.perf_counter() - begin)
    return sorted(times[1:])  # the first one touches memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracks", type=int, default=10_000_000)
    parser.add_argument("--hits", type=int, default=8, help="of each track")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default="/dev/shm")
    options = parser.parse_args()
    import pyarrow
    from pyarrow import ipc

    found = tracks(options.tracks, options.hits, options.tracks // 100)
    size = sum(array.nbytes for array in found.arrays().values())
    view = pyarrow.table(found.arrow())
    x = view.column("items").chunk(0).values.field("hits").values.field("x")
    copies = x.buffers()[1].address != found.hits.x.ctypes.data
    print(f"{options.tracks} tracks with {options.hits} hits, {size / 1e9:.2f} GB; arrays copied into the view: {int(copies)}")

    def write():
        with tempfile.NamedTemporaryFile(dir=options.folder) as file, ipc.new_file(file.name, view.schema) as writer:
            writer.write_table(pyarrow.table(found.arrow()))

    there = {name: np.array(array) for name, array in found.arrays().items()}
    acts = {
        "memcpy": lambda: [np.copyto(there[name], array) for name, array in found.arrays().items()],
        "new arrays": lambda: [np.array(array) for array in found.arrays().values()],
        "arrow(copy=True)": lambda: pyarrow.table(found.arrow(copy=True)),
        f"IPC file in {options.folder}": write,
        "view": lambda: pyarrow.table(found.arrow()),
    }
    for name, act in acts.items():
        times = measure(act, options.rounds)
        low, middle, high = times[0], times[len(times) // 2], times[-1]
        rate = "" if name == "view" else f"{size / 1e9 / middle:8.2f} GB/s ({size / 1e9 / high:.2f} to {size / 1e9 / low:.2f})"
        print(f"{name:24} {1e3 * middle:10.3f} ms  {rate}")
    print(f"{os.cpu_count()} processors, {options.rounds} rounds")


if __name__ == "__main__":
    main()
