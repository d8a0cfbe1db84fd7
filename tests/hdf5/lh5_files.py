"""LH5 files made for tests: waveforms in plain chunks, compressed by deflate or by Zstandard, or encoded."""
import ctypes
import ctypes.util
import functools

import h5py
import numpy

ZSTANDARD = 32015  # number of the HDF5 filter


@functools.cache
def zstd_library():
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_compress.restype = library.ZSTD_compressBound.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    return library


def zstd(data):
    room = ctypes.create_string_buffer(zstd_library().ZSTD_compressBound(len(data)))
    count = zstd_library().ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:count]


def shuffle(values):
    """The first bytes of all values, then the second bytes, and so on."""
    return values.reshape(-1).view(numpy.uint8).reshape(-1, values.dtype.itemsize).T.tobytes()


def add_zstd(group, name, values, chunks, is_shuffled=True, masked=()):
    """A data set with shuffle and Zstandard, which h5py has no filter for. Chunks with an index in `masked` are stored without
    Zstandard."""
    values = numpy.ascontiguousarray(values)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunks)
    if is_shuffled:
        properties.set_shuffle()
    properties.set_filter(ZSTANDARD, h5py.h5z.FLAG_OPTIONAL, (3,))
    space = h5py.h5s.create_simple(values.shape, values.ndim * (h5py.h5s.UNLIMITED,))
    h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(values.dtype), space, properties)
    data_set = group[name]
    for index, corner in enumerate(numpy.ndindex(*(-(-size // chunk) for size, chunk in zip(values.shape, chunks)))):
        first = tuple(i * chunk for i, chunk in zip(corner, chunks))
        part = values[tuple(slice(f, f + chunk) for f, chunk in zip(first, chunks))]
        whole = numpy.zeros(chunks, values.dtype)
        whole[tuple(slice(0, size) for size in part.shape)] = part
        data = shuffle(whole) if is_shuffled else whole.tobytes()
        is_masked = index in masked
        data_set.id.write_direct_chunk(first, data if is_masked else zstd(data), (2 if is_shuffled else 1) if is_masked else 0)
    return data_set


def encode(waveform):
    """uleb128_zigzag_diff: differences 0, -1, 1, -2 are 0, 1, 2, 3, in groups of 7 bits, the lowest first."""
    codes = bytearray()
    for difference in numpy.diff(waveform.astype(int), prepend=0).tolist():
        code = 2 * difference if difference >= 0 else -2 * difference - 1
        while code >= 128:
            codes.append(code % 128 + 128)
            code //= 128
        codes.append(code)
    return bytes(codes)


def add_encoded(group, rows, samples, add, codec="uleb128_zigzag_diff"):
    """Encoded rows as the group `values`; `add` creates its data sets."""
    values = group.create_group("values")
    values.attrs["codec"] = codec
    values.create_dataset("decoded_size", data=samples)
    data = values.create_group("encoded_data")
    add(data, "cumulative_length", numpy.cumsum([len(row) for row in rows], dtype="u4"))
    add(data, "flattened_data", numpy.frombuffer(b"".join(rows), "u1"))
    return values


def add_plain(group, name, values):
    return group.create_dataset(name, data=values)


def add_table(file, table, column, values, period=16.0, begin=0.0, add=add_plain, **others):
    """A table with a column of waveforms; `values` is an array, or a function that creates the values in the group."""
    raw = file.require_group(f"{table}/raw")
    group = raw.create_group(column)
    rows = values(group) if callable(values) else len(values)
    if not callable(values):
        add(group, "values", values)
    for name, value in (("dt", period), ("t0", begin)):
        add(group, name, numpy.broadcast_to(numpy.asarray(value, "f4"), (rows,)).copy()).attrs["units"] = "ns"
    for name, data in others.items():
        add(raw, name, data)
    raw.attrs["datatype"] = "table{" + ",".join(raw) + "}"
    return raw


def waveforms(rows, samples, seed=1):
    random = numpy.random.default_rng(seed)
    steps = random.integers(-40, 41, (rows, samples))
    steps[random.random((rows, samples)) < 0.01] *= 400  # long codes
    return numpy.clip(15000 + numpy.cumsum(steps, axis=1), 0, 65535).astype("u2")
