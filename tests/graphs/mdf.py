"""Reads and writes records and raw banks of uncompressed MDF files. Independent of the io plugin; its README describes the
format."""
import struct
from pathlib import Path

HEADER_MIN_BYTES, HEADER_BYTES = 20, 48  # minimum; of records that are made here or by a sink
BANK_HEADER_BYTES, BANK_MAGIC = 8, 0xCBCB
BANK_ODIN = 16


def records(path):
    """The records of a file as bytearrays."""
    data, at = Path(path).read_bytes(), 0
    while at < len(data):
        size, again, third = struct.unpack_from("<3I", data, at) if len(data) - at >= HEADER_MIN_BYTES else 3 * (0,)
        if not size == again == third or not HEADER_MIN_BYTES <= size <= len(data) - at:
            raise ValueError(f"{path}, byte {at}: no record of an MDF file")
        yield bytearray(data[at:at + size])
        at += size


def body_place(record):
    """Offset of the banks in a record."""
    if record[16] & 15:
        raise ValueError("the record is compressed")
    return HEADER_MIN_BYTES + 4 * (record[17] & 15)


def banks(record):
    """(type, version, source id, offset of the payload in the record, payload) of each bank."""
    at = body_place(record)
    while at < len(record):
        magic, size, kind, version, source = struct.unpack_from("<HHBBH", record, at)
        if magic != BANK_MAGIC or size < BANK_HEADER_BYTES:
            raise ValueError(f"no bank at byte {at} of a record")
        yield kind, version, source, at + BANK_HEADER_BYTES, bytes(record[at + BANK_HEADER_BYTES:at + size])
        at += (size + 3) // 4 * 4


def joined(record, kind):
    """The payloads of all banks of a type, joined in the order of their sources."""
    parts = sorted((source, payload) for k, _, source, _, payload in banks(record) if k == kind)
    return b"".join(payload for _, payload in parts)


def odin(record):
    """(run, event number, event type, orbit, crossing type) from the first ODIN bank."""
    version, payload = next((b[1], b[4]) for b in banks(record) if b[0] == BANK_ODIN)
    words = struct.unpack("<10I", payload)
    if version == 6:
        return words[0], words[3] << 32 | words[4], words[1] & 0xFFFF, words[2], words[8] >> 22 & 3
    return words[0], words[9] << 32 | words[8], words[1] & 0xFFFF, words[7], words[6] >> 12 & 3


def bank_bytes(kind, version, source, payload):
    head = struct.pack("<HHBBH", BANK_MAGIC, BANK_HEADER_BYTES + len(payload), kind, version, source)
    return head + payload + bytes(-len(payload) % 4)


def record_bytes(body, data_type=1, run=1):
    """A record with the body `body`, without a checksum."""
    size = HEADER_BYTES + len(body)
    return struct.pack("<4I4B4I3I", size, size, size, 0, 0, 0x37, data_type, 0, *4 * [0xFFFFFFFF], run, 0, 0) + body


def with_body(record, body):
    """The record with another body, without a checksum."""
    size = HEADER_BYTES + len(body)
    return struct.pack("<4I", size, size, size, 0) + bytes(record[16:HEADER_BYTES]) + body
