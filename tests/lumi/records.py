"""Reads luminosity summaries and true particles from records of MDF files, for the tests of luminosity summaries.
An independent reader of these formats, which are described in the READMEs of the plugins."""
import csv
import struct
from pathlib import Path

from mdf import joined

BANK_PARTICLES, BANK_VERTICES, BANK_SUMMARY = 32, 33, 56


def schema():
    """The rows of the format's table, by counter."""
    with open(Path(__file__).with_name("lumi_summary_schema.csv"), newline="") as file:
        return {row["counter"]: {key: row[key] if key == "part" else float(row[key]) if key in ("shift", "scale") else int(row[key])
                                 for key in row if key != "counter"} for row in csv.DictReader(file)}


def counters(payload):
    """{counter: bits} of a summary."""
    words = struct.unpack(f"<{len(payload) // 4}I", payload)
    return {name: words[row["word"]] >> row["bit_in_word"] & (1 << row["size_bits"]) - 1
            for name, row in schema().items() if row["word"] < len(words)}


def particles(record):
    """(eta, phi, x, y, z of the origin) of the charged particles with VELO hits in three modules."""
    data, at, found = joined(record, BANK_PARTICLES), 4, []
    for _ in range(struct.unpack_from("<I", data, 0)[0]):
        has_velo, charge = data[at + 38], struct.unpack_from("<f", data, at + 69)[0]
        if has_velo and charge:
            found.append(struct.unpack_from("<5f", data, at + 16))
        at += 77
        for _ in range(3):
            at += 4 + 4 * struct.unpack_from("<I", data, at)[0]
    return found


def vertices(record):
    """(reconstructible tracks, x, y, z) of the true collisions."""
    data = joined(record, BANK_VERTICES)
    return [struct.unpack_from("<i3d", data, 4 + 28 * i) for i in range(struct.unpack_from("<i", data, 0)[0])]
