"""Cell values of the calorimeter in the six sample events, for tests of its algorithms."""
import ctypes
import struct

from algorithm import Algorithm
from common import GEOMETRY, SIX

import mdf

CELLS, NO_ADC, UNITS = 6016, -32768, 1e8
UINT, USHORT, BYTE, SHORT, INT, LONG = (ctypes.c_uint32, ctypes.c_uint16, ctypes.c_uint8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64)
GEOMETRY_FIELDS = {"numbers": UINT, "channels": USHORT, "neighbours": USHORT, "card_index": INT, "area_first": UINT, "pedestal": ctypes.c_float,
                   "xy": ctypes.c_float, "gain": ctypes.c_float, "to_local": ctypes.c_float, "planes": ctypes.c_float, "cell_size": ctypes.c_float}

constant = Algorithm("calo", "geometry")
constant.set_text("path", GEOMETRY)
constant.run()
geometry = {field: constant.get("geometry", field, kind) for field, kind in GEOMETRY_FIELDS.items()}


def algorithm(name, fields):
    made = Algorithm("calo", name, 6)
    for field in fields.split():
        made.give("geometry", field, geometry[field], GEOMETRY_FIELDS[field])
    return made


def decoded():
    """Values of the cells in the six events."""
    columns = {"source_id": [], "type": [], "version": [], "size_bytes": [], "first_word": []}
    offsets, payload = [0], b""
    for record in mdf.records(SIX):
        for kind, version, source, _, data in mdf.banks(record):
            if kind != 21:
                continue
            for field, value in zip(columns, (source, kind, version, len(data), len(payload) // 4)):
                columns[field].append(value)
            payload += data + bytes(-len(data) % 4)
        offsets.append(len(columns["type"]))
    decode = algorithm("decode", "numbers channels card_index")
    decode.give("banks", "offsets", offsets, UINT)
    for field, kind in (("source_id", USHORT), ("type", BYTE), ("version", BYTE), ("size_bytes", USHORT), ("first_word", UINT)):
        decode.give("banks", field, columns[field], kind)
    decode.give("banks", "payload", struct.unpack(f"<{len(payload) // 4}I", payload), UINT)
    decode.run()
    return decode.get("cells", "adc", SHORT)


adc = decoded()


def with_cells(name, fields):
    made = algorithm(name, fields)
    made.give("cells", "adc", adc, SHORT)
    return made
