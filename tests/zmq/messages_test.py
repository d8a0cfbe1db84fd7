#!/usr/bin/env python3
"""Messages of other programs, and endpoints that are refused: messages_test.py SLUICE MAKE_SAMPLES PLUGINS"""
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, Checks
from peer import COPY, DATA, END, HEADER, PULL, PUSH, SLUICE, SIMULATE, Peer, Run, records, simulate

MAKE_SAMPLES, PLUGINS = sys.argv[2:]
checks = Checks()
check = checks.that


def link_of(summary):
    link = summary["zmq"][0]
    return {key: link[key] for key in ("senders", "ended", "lost", "missing", "repeated", "refused")}


def garbage(folder, file):
    pieces = records(file.read_bytes())
    receiver = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/g", "-o", folder / "garbage.mdf", "--senders", 1)
    peer, some = Peer(PUSH, f"ipc://{folder}/g"), random.Random(5)
    peer.message(DATA, 7, 0, pieces[0], 1)
    frames = [some.randbytes(n) for n in (0, 1, 39, 40, 41, 5000)]
    for i, frame in enumerate(frames):
        peer.send(*[frame] * (i % 3 + 1))
        peer.send(frame, frame)
    peer.send(b"SLZ1" + bytes(36), b"")  # kind 0
    peer.send(b"SLZ1" + b"\x01" + bytes(35), b"other than the header says")
    wrong = 2 * len(frames) + 2
    receiver.until("the payload has not the number of bytes")
    peer.message(DATA, 7, 1, pieces[1], 1)
    peer.message(DATA, 7, 1, pieces[1], 1)
    peer.message(DATA, 7, 5, pieces[2], 1)
    for sender in range(1000, 1600):  # more than the table has entries
        peer.message(END if sender == 1599 else DATA, sender, 0)
    summary = receiver.end()
    peer.close()
    check(link_of(summary) == {"senders": 601, "ended": 1, "lost": 0, "missing": 3, "repeated": 1, "refused": wrong},
          f"wrong messages are counted: {summary['zmq'][0]}")
    check((folder / "garbage.mdf").read_bytes() == b"".join(pieces[:3]), "only the data of sound messages is read")
    said = receiver.messages()
    for text in ("a message is refused: the header does not begin with SLZ1", "it has one frame, not two", "3 missing before message 5",
                 "message 1 was received before, and is dropped", "it has more than two frames", "its kind is not 1, 2 or 3"):
        check(text in said, f"reported: {text}")


def bursts(folder):
    """Another field: a file with a header, sent in pieces by two senders."""
    graph, samples = ROOT / "examples/bursts/bursts.yaml", folder / "samples"
    subprocess.run([MAKE_SAMPLES, samples], check=True, stdout=subprocess.DEVNULL)
    data, options = samples.read_bytes(), ("--plugin-path", PLUGINS, "--digest")
    direct = Run(folder, graph, "-i", samples, *options).end()
    receiver = Run(folder, graph, "-i", f"zmq:ipc://{folder}/b", *options, "--senders", 2)
    peer = Peer(PUSH, f"ipc://{folder}/b")
    for sender, (begin, end) in enumerate(((40, len(data) // 2), (len(data) // 2, len(data)))):
        peer.message(HEADER, sender, 0, data[:40])
        pieces = [data[at:min(at + 99_999, end)] for at in range(begin, end, 99_999)]
        for sequence, piece in enumerate(pieces, 1):
            peer.message(DATA, sender, sequence, piece)
        peer.message(END, sender, len(pieces) + 1)
    received = receiver.end()
    check(received["outputs"] == direct["outputs"] and received["events"] == direct["events"] > 10,
          "samples of a telescope give the digest of the file")
    check(link_of(received) == {"senders": 2, "ended": 2, "lost": 0, "missing": 0, "repeated": 0, "refused": 0}, "nothing is missing")
    receiver = Run(folder, graph, "-i", f"zmq:ipc://{folder}/b", *options, "--senders", 1)
    peer.message(HEADER, 1, 0, data[:40])
    peer.message(DATA, 1, 1, data[40:400_000])
    peer.message(HEADER, 2, 0, bytes(40))
    peer.message(END, 2, 1)
    check(link_of(receiver.end())["refused"] == 1 and "began with another header" in receiver.messages(), "another header is refused")
    peer.close()


def tables(folder):
    """A sink of text, and a receiver of another program."""
    graph, endpoint = ROOT / "examples/velo_csv.yaml", f"ipc://{folder}/t"
    Run(folder, graph, "-n", 50, "-o", folder / "table.csv").end()
    peer = Peer(PULL, endpoint)
    sender = Run(folder, graph, "-n", 50, "-o", f"zmq:{endpoint}")
    found = [peer.receive()]
    while found[-1][0] != END:
        found.append(peer.receive())
    sender.end()
    peer.close()
    check(b"".join(message[4] for message in found[:-1]) == (folder / "table.csv").read_bytes(), "a table arrives as it is in a file")
    check([message[2] for message in found] == list(range(len(found))) and len({message[1] for message in found}) == 1,
          "sequence numbers count from 0")
    check(sum(message[3] for message in found) == 50, "messages state their events")


def connecting_input(folder, file):
    peer = Peer(PUSH, f"ipc://{folder}/o", other=True)
    receiver = Run(folder, COPY, "-i", f"zmq:>ipc://{folder}/o", "-o", folder / "other.mdf", "--senders", 1)
    peer.message(DATA, 1, 0, file.read_bytes())
    peer.message(END, 1, 1)
    receiver.end()
    peer.close()
    check((folder / "other.mdf").read_bytes() == file.read_bytes(), "an input connects to a sender that binds")
    runs = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/x", f"zmq:ipc://{folder}/y", "-o", folder / "both.mdf", "--senders", 2)
    peers = [Peer(PUSH, f"ipc://{folder}/{end}") for end in "xy"]
    for peer in peers:
        peer.message(DATA, 1, 0, file.read_bytes())
        peer.message(END, 1, 1)
    summary = runs.end()
    for peer in peers:
        peer.close()
    check(summary["events"] == 200 and [link["messages"] for link in summary["zmq"]] == [2, 2], "two inputs are merged")


def two_sinks(folder):
    path = folder / "two.yaml"
    path.write_text(f"sluice: 1\ninclude: [{SIMULATE}]\nnodes:\n  more: {{ use: io.mdf_sink }}\n")
    return path


def refused(folder, file):
    used = Peer(PULL, "tcp://127.0.0.1:*".replace("*", "47113"))
    for arguments, text in (
            (["-i", file, "zmq:ipc://x"], "reads files or receives messages, not both"),
            (["-i", "zmq:5555"], "an endpoint is tcp://HOST:PORT, or ipc://FILE"),
            (["-i", "zmq:@tcp://*:1"], "an input binds: write it without @"),
            (["-i", "zmq:tcp://127.0.0.1:port"], "cannot bind"),
            (["-i", "zmq:tcp://127.0.0.1:47113"], "another process has it"),
            (["-i", file, "-o", "zmq:@tcp://*:1"], "an output always connects"),
            (["-i", file, "-o", "zmq:tcp://127.0.0.1:1,udp://x"], "zmq:udp://x: an endpoint is tcp://HOST:PORT"),
            (["-i", file, "-o", "zmq:tcp://x"], "cannot connect"),
            (["-i", "zmq:ipc://x", "-o", "zmq:ipc://x"], "the same file as zmq:ipc://x, an input of this run"),
            (["-i", "zmq:ipc://x", "--repeat", "2"], "messages cannot be kept for repeats"),
            (["-i", file, "--senders", "1"], "--senders has no effect"),
            (["-i", file, "--until-idle", "1"], "--until-idle has no effect"),
            (["-i", file, "--metrics", "zmq:ipc://x"], "--metrics zmq:ipc://x: cannot be written")):
        output = [] if "-o" in arguments else ["-o", folder / "none.mdf"]
        done = subprocess.run([SLUICE, "run", COPY, *arguments, *output], capture_output=True, text=True, timeout=30, cwd=folder)
        check(done.returncode == 2 and text in done.stderr, f"refused: {text}" + ("" if text in done.stderr else done.stderr))
    used.close()
    for graph, text, needed in ((ROOT / "examples/velo_hdf5.yaml", "this sink writes only files", "hdf5.sink"),
                                (two_sinks(folder), "the same file as zmq:ipc://x, which the node write writes", "io.mdf_sink")):
        done = subprocess.run([SLUICE, "run", graph, "-n", "5", "-o", "zmq:ipc://x"], capture_output=True, text=True, timeout=30)
        if f"there is no algorithm `{needed}`" not in done.stderr:
            check(done.returncode == 2 and text in done.stderr, f"refused: {text}" + ("" if text in done.stderr else done.stderr))


def wait_for_first_message(folder):
    receiver = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/f", "-o", folder / "first.mdf")
    receiver.until("no message yet")
    receiver.process.send_signal(signal.SIGTERM)
    receiver.end(-signal.SIGTERM)
    check(True, "a signal ends a run that waits for its first message")


with tempfile.TemporaryDirectory() as name:
    place = Path(name)
    events = place / "events.mdf"
    simulate(events, 100)
    garbage(place, events)
    bursts(place)
    tables(place)
    connecting_input(place, events)
    refused(place, events)
    wait_for_first_message(place)
checks.end()
