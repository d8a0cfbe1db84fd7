"""Runs lines of graphs/menus/2023.yaml, each alone with its settings in the graph, on recorded candidates."""
import ctypes
import re

from algorithm import Algorithm, testing
from common import ROOT

UINT, USHORT, BYTE, CHAR, LONG = ctypes.c_uint32, ctypes.c_uint16, ctypes.c_uint8, ctypes.c_int8, ctypes.c_uint64
PASSED, BEFORE_SCALE = 1, 2
# Fields that are not floats.
KINDS = {"offsets": UINT, "hit_offsets": UINT, "velo_track": UINT, "vertex": UINT, "first": UINT, "second": UINT, "hit": USHORT, "made_by": LONG,
         "charge": CHAR, "leptons": BYTE, "backward": BYTE, "orbit": UINT, "event_type": USHORT,
         "crossing_type": BYTE, "tae_index": BYTE}
ROW = re.compile(r"^  (Hlt1\w+): { use: selections\.(\w+)(?:, in: { candidates: (\w+))?(?:.*?\bset: {(.*?)} )?.*}$")


def settings_of(text):
    """`min_pt: 6000, phi: [0.5, 0.6]`"""
    for name, value in re.findall(r"(\w+): (\[[^\]]*\]|[^,\s]+)", text or ""):
        if value.startswith("["):
            yield name, [float(one) for one in value[1:-1].split(",")]
        elif value in ("true", "false"):
            yield name, float(value == "true")
        else:
            try:
                yield name, float(value)
            except ValueError:
                yield name, value


def default_lines():
    """{line: (algorithm, node of its candidates or None, settings)}, in the order of the graph."""
    rows = [ROW.match(row) for row in (ROOT / "graphs/menus/2023.yaml").read_text().splitlines()]
    return {row[1]: (row[2], row[3], dict(settings_of(row[4]))) for row in rows if row}


def default_line(name, events, **changed):
    """A line with its settings and the ODIN data of the sample events."""
    algorithm, _, settings = default_lines()[name]
    line = Algorithm("selections", algorithm, len(events))
    testing.sl_test_node(line.test, name.encode())
    for setting, value in (settings | changed).items():
        if isinstance(value, list):
            testing.sl_test_set_array(line.test, setting.encode(), (ctypes.c_double * len(value))(*value), UINT(len(value)))
        elif isinstance(value, str):
            line.set_text(setting, value)
        else:
            line.set(setting, value)
    line.give("odin", "run", [event["run"] for event in events], UINT)
    line.give("odin", "event_number", [event["event"] for event in events], LONG)
    line.give("odin", "gps_time", [0] * len(events), LONG)
    return line


def bits_of(name, inputs, events, **changed):
    """Runs a line; returns its decision for each event. `inputs`: {port: {field: values}}."""
    line = default_line(name, events, **changed)
    for port, columns in inputs.items():
        for field, values in columns.items():
            line.give(port, field, values, KINDS.get(field, ctypes.c_float))
    line.run()
    return line.get("decisions", "passed", BYTE)


def compare_decisions(checks, name, events, inputs_of):
    """Compares the decisions of each line of `inputs_of` with the record. Returns the lines that pass an event, and for each line
    the number of events that pass only without its scale."""
    scaled, fired = {}, []
    for line, inputs in inputs_of.items():
        bits = bits_of(line, inputs, events)
        theirs = [line in event["decisions"] for event in events]
        checks.that([bit & PASSED != 0 for bit in bits] == theirs, f"{name}: {line} passes {sum(theirs)} events: {bits}")
        if any(bit == BEFORE_SCALE for bit in bits):
            scaled[line] = bits.count(BEFORE_SCALE)
        fired += [line] * any(theirs)
    return fired, scaled
