"""Runs one algorithm of a plugin with sluice/testing.h. SLUICE_TESTING is the path of the library; the folder `plugins` is next
to it."""
import ctypes
import os
import sys
from pathlib import Path

PLUGINS = Path(os.environ["SLUICE_TESTING"]).parent / "plugins"
testing = ctypes.CDLL(os.environ["SLUICE_TESTING"])
testing.sl_test_new.restype = testing.sl_test_output.restype = ctypes.c_void_p
testing.sl_test_output_count.restype = ctypes.c_uint64


class Algorithm:
    def __init__(self, plugin, name, events=1):
        self.test = ctypes.c_void_p(testing.sl_test_new(os.fsencode(PLUGINS / f"{plugin}.cpu.so"), name.encode()))
        testing.sl_test_events(self.test, events)

    def give(self, port, field, values, kind=ctypes.c_float):
        testing.sl_test_input(self.test, port.encode(), field.encode(), (kind * max(1, len(values)))(*values), ctypes.c_uint64(len(values)))

    def give_list_input(self, port, name, field, values, kind=ctypes.c_float):
        """Gives a field of one producer of a list port."""
        array = (kind * max(1, len(values)))(*values)
        testing.sl_test_list_input(self.test, port.encode(), name.encode(), field.encode(), array, ctypes.c_uint64(len(values)))

    def give_states(self, port, states, fields="x y z tx ty"):
        self.give(port, "offsets", [0, len(states)], ctypes.c_uint32)
        for field in fields.split():
            self.give(port, field, [state[field] for state in states])

    def set(self, name, value):
        testing.sl_test_set(self.test, name.encode(), ctypes.c_double(value))

    def set_text(self, name, value):
        testing.sl_test_set_text(self.test, name.encode(), str(value).encode())

    def run(self):
        status = testing.sl_test_run(self.test)
        if status != 0:
            sys.exit(f"the algorithm failed with status {status}")

    def get(self, port, field, kind=ctypes.c_float):
        count = testing.sl_test_output_count(self.test, port.encode(), field.encode())
        at = testing.sl_test_output(self.test, port.encode(), field.encode())
        return list(ctypes.cast(at, ctypes.POINTER(kind))[:count])
