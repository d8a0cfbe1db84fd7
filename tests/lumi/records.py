"""Reads what the tests of luminosity summaries need of MDF files: records, raw banks, ODIN, summaries, the true particles.
A second reading of these formats, apart from the plugins', whose READMEs describe them."""
import csv
import struct
from pathlib import Path

BANK_ODIN, BANK_PARTICLES, BANK_VERTICES, BANK_SUMMARY = 16, 32, 33, 56
HEADER_BYTES = 48


def records(path):
    """The records of a file as bytearrays."""
    data, at = Path(path).read_bytes(), 0
    while at < len(data):
        length = struct.unpack_from("<I", data, at)[0]
        yield bytearray(data[at:at + length])
        at += length


def banks(record):
    """(type, version, source id, place of the payload in the record, its bytes) of each bank."""
    at = HEADER_BYTES
    while at < len(record):
        magic, length, kind, version, source = struct.unpack_from("<HHBBH", record, at)
        assert magic == 0xCBCB and length >= 8, f"no bank at byte {at}"
        yield kind, version, source, at + 8, bytes(record[at + 8:at + length])
        at += (length + 3) // 4 * 4


def odin(record):
    """(run, event number, event type, orbit, crossing type) from the first ODIN bank."""
    version, payload = next((b[1], b[4]) for b in banks(record) if b[0] == BANK_ODIN)
    words = struct.unpack("<10I", payload)
    if version == 6:
        return words[0], words[3] << 32 | words[4], words[1] & 0xFFFF, words[2], words[8] >> 22 & 3
    return words[0], words[9] << 32 | words[8], words[1] & 0xFFFF, words[7], words[6] >> 12 & 3


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


def joined(record, kind):
    parts = sorted((source, payload) for k, _, source, _, payload in banks(record) if k == kind)
    return b"".join(payload for _, payload in parts)


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
