"""Runs of the command that exchange messages, and a peer that sends and receives them with libzmq itself."""
import ctypes
import json
import struct
import subprocess
import sys
import time
from pathlib import Path

from common import ROOT

PULL, PUSH, LINGER, RCVHWM, RCVTIMEO, RCVMORE, DONTWAIT, SNDMORE = 7, 8, 17, 24, 27, 13, 1, 2
DATA, END, HEADER = 1, 2, 3
COPY, SIMULATE = ROOT / "graphs/copy.yaml", ROOT / "graphs/simulate.yaml"
SLUICE = sys.argv[1]


def zmq():
    library = ctypes.CDLL("libzmq.so.5")
    library.zmq_ctx_new.restype = library.zmq_socket.restype = ctypes.c_void_p
    for name in ("socket", "setsockopt", "getsockopt", "bind", "connect", "send", "recv", "close", "ctx_term"):
        getattr(library, f"zmq_{name}").argtypes = {
            "socket": [ctypes.c_void_p, ctypes.c_int],
            "setsockopt": [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
            "getsockopt": [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p],
            "send": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int],
            "recv": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]}.get(
                name, [ctypes.c_void_p, ctypes.c_char_p] if name in ("bind", "connect") else [ctypes.c_void_p])
    return library


class Peer:
    """A PUSH socket that connects, or a PULL socket that binds; `other` turns that round."""

    def __init__(self, kind, endpoint, other=False):
        self.zmq = zmq()
        self.context = self.zmq.zmq_ctx_new()
        self.socket = self.zmq.zmq_socket(self.context, kind)
        for option, value in ((LINGER, 10000), (RCVHWM, 2), (RCVTIMEO, 20000)):
            number = ctypes.c_int(value)
            self.zmq.zmq_setsockopt(self.socket, option, ctypes.byref(number), 4)
        begin = self.zmq.zmq_connect if (kind == PUSH) != other else self.zmq.zmq_bind
        if begin(self.socket, endpoint.encode()) != 0:
            raise OSError(f"cannot use {endpoint}")

    def send(self, *frames):
        for i, frame in enumerate(frames):
            if self.zmq.zmq_send(self.socket, frame, len(frame), SNDMORE if i + 1 < len(frames) else 0) < 0:
                raise OSError("cannot send")

    def message(self, kind, sender, sequence, payload=b"", events=0):
        self.send(struct.pack("<4sHHQQQQ", b"SLZ1", kind, 0, sender, sequence, events, len(payload)), payload)

    def receive(self):
        """The next message as (kind, sender, sequence, events, payload)."""
        frames, buffer = [], ctypes.create_string_buffer(1 << 22)
        more, size = ctypes.c_int(1), ctypes.c_size_t(4)
        while more.value:
            count = self.zmq.zmq_recv(self.socket, buffer, len(buffer), 0)
            if count < 0:
                raise OSError("nothing was received")
            frames.append(buffer.raw[:count])
            self.zmq.zmq_getsockopt(self.socket, RCVMORE, ctypes.byref(more), ctypes.byref(size))
        magic, kind, zero, sender, sequence, events, count = struct.unpack("<4sHHQQQQ", frames[0])
        assert magic == b"SLZ1" and zero == 0 and count == len(frames[1]) and len(frames) == 2
        return kind, sender, sequence, events, frames[1]

    def close(self):
        self.zmq.zmq_close(self.socket)
        self.zmq.zmq_ctx_term(self.context)


class Run:
    """`sluice run` in the background, with its summary and messages at the end."""

    def __init__(self, folder, *arguments):
        Run.count = getattr(Run, "count", 0) + 1
        self.json, self.said = Path(folder) / f"{Run.count}.json", Path(folder) / f"{Run.count}.err"
        with self.said.open("w") as file:
            self.process = subprocess.Popen([SLUICE, "run", *map(str, arguments), "--json", self.json],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file)

    def end(self, expect=0, timeout=60):
        """The summary."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"{self.process.args} hangs:\n{self.messages()}")
        if status != expect:
            sys.exit(f"{self.process.args}: status {status}, not {expect}\n{self.messages()}")
        return json.loads(self.json.read_text()) if self.json.exists() else None

    def messages(self):
        return self.said.read_text()

    def until(self, text, seconds=30):
        """Waits until the run has said this."""
        return wait_until(lambda: text in self.messages(), seconds)

    def memory(self):
        """Bytes of its own memory, without mapped files."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def wait_until(condition, seconds=30):
    begin = time.monotonic()
    while not condition() and time.monotonic() - begin < seconds:
        time.sleep(0.02)
    return condition()


def simulate(path, events, *arguments):
    subprocess.run([SLUICE, "run", SIMULATE, "-n", str(events), "--set", "seed=1", "-o", path, "--quiet", *arguments], check=True)


def records(data):
    """The records of an MDF file, sorted."""
    at, found = 0, []
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        found.append(data[at:at + size])
        at += size
    return sorted(found)
