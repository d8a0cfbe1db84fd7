#!/usr/bin/env python3
"""Runs that feed each other by ZeroMQ: farm_test.py SLUICE

Senders, workers and collectors are processes of this machine. Events arrive once and unchanged; a killed sender is noticed,
and another one may take its place; a slow receiver blocks its sender.
"""
import os
import signal
import tempfile
import time
from pathlib import Path

from common import Checks, call
from peer import COPY, Run, records, simulate, wait_until

checks = Checks()
check = checks.that


def counts(summary, direction):
    return [link for link in summary["zmq"] if link["direction"] == direction]


def chain(folder, file):
    out = folder / "chain.mdf"
    collector = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/c", "-o", out, "--senders", 1)
    worker = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/w", "-o", f"zmq:ipc://{folder}/c", "--senders", 1)
    sender = Run(folder, COPY, "-i", file, "-o", f"zmq:ipc://{folder}/w")
    sent, worked, collected = sender.end(), worker.end(), collector.end()
    check(out.read_bytes() == file.read_bytes(), "a worker passes on the bytes of the file")
    check(sent["events"] == worked["events"] == collected["events"] == 100, "all events are counted")
    out_link, in_link = counts(worked, "out")[0], counts(collected, "in")[0]
    check(in_link["messages"] == out_link["messages"] > 2 and in_link["bytes"] == out_link["bytes"] == len(file.read_bytes()),
          "what was sent was received")
    check((in_link["senders"], in_link["ended"], in_link["lost"], in_link["missing"], in_link["repeated"], in_link["refused"])
          == (1, 1, 0, 0, 0, 0) and in_link["events"] == 100 and out_link["unsent"] == 0, "nothing is missing")
    check(worked["source"]["algorithm"] == "io.mdf_source", "the first message chooses the source")


def two_workers(folder, file):
    out, ends = folder / "two.mdf", [f"ipc://{folder}/w1", f"ipc://{folder}/w2"]
    collector = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/c", "-o", out, "--senders", 2)
    workers = [Run(folder, COPY, "-i", f"zmq:{end}", "-o", f"zmq:ipc://{folder}/c", "--senders", 1) for end in ends]
    sender = Run(folder, COPY, "-i", *[file] * 3, "-o", "zmq:" + ",".join(ends))
    sent = sender.end()
    events = [worker.end()["events"] for worker in workers]
    collected = collector.end()
    check(sum(events) == 300 and all(events), f"two workers share the events: {events}")
    check(records(out.read_bytes()) == records(file.read_bytes() * 3), "the collector has all events of two workers once")
    check([link["missing"] for link in counts(collected, "in")] == [0] and len(counts(sent, "out")) == 2, "no sequence has a gap")


def packets(folder, file):
    direct = Run(folder, COPY, "-i", file, "-o", folder / "direct.mep", "--use", "write=io.mep_sink", "--set", "write.events=10")
    direct.end()
    receiver = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/p", "-o", folder / "packets.mep", "--senders", 1, "--use",
                   "write=io.mep_sink", "--set", "write.events=10")
    Run(folder, COPY, "-i", file, "-o", f"zmq:ipc://{folder}/p", "--use", "write=io.mep_sink", "--set", "write.events=10").end()
    done = receiver.end()
    check(done["source"]["algorithm"] == "io.mep_source" and done["events"] == 100, "packets are recognised")
    check((folder / "packets.mep").read_bytes() == (folder / "direct.mep").read_bytes(), "packets arrive unchanged")


def tcp(folder, file):
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    sender = Run(folder, COPY, "-i", file, "-o", f"zmq:tcp://127.0.0.1:{port}")
    check(sender.until("no receiver is connected; waiting for one"), "a sender waits for its receiver, with a note")
    receiver = Run(folder, COPY, "-i", f"zmq:tcp://127.0.0.1:{port}", "-o", folder / "tcp.mdf", "--senders", 1)
    sender.end()
    receiver.end()
    check((folder / "tcp.mdf").read_bytes() == file.read_bytes(), "TCP, with the sender first")


class Slow:
    """A receiver that writes to a FIFO, which is not read until `go`."""

    def __init__(self, folder, endpoint, *arguments):
        self.path = folder / "fifo"
        os.mkfifo(self.path)
        self.fifo = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.run = Run(folder, COPY, "-i", f"zmq:{endpoint}", "-o", self.path, *arguments)

    def go(self):
        """Reads the FIFO to its end."""
        os.set_blocking(self.fifo, True)
        pieces = []
        while piece := os.read(self.fifo, 1 << 20):
            pieces.append(piece)
        os.close(self.fifo)
        self.path.unlink()
        return b"".join(pieces)


def slow_receiver(folder, file):
    many = 8
    slow = Slow(folder, f"ipc://{folder}/s", "--senders", 1)
    sender = Run(folder, COPY, "-i", *[file] * many, "-o", f"zmq:ipc://{folder}/s")
    previous, current = -1, 0
    while current != previous: # until it is blocked
        time.sleep(1)
        previous, current = current, sender.memory()
    sizes = file.stat().st_size * many, current, slow.run.memory()
    is_measured = "sanitizers" not in call("--version").stdout  # a sanitizer keeps freed memory
    check(sender.process.poll() is None and (not is_measured or current < sizes[0] / 2),
          "a blocked sender has bounded memory: file {}, sender {}, receiver {} bytes".format(*sizes))
    data = slow.go()
    sent, received = sender.end(), slow.run.end()
    check(data == file.read_bytes() * many, "and nothing is lost")
    check(counts(sent, "out")[0]["waited_seconds"] > 1 and counts(received, "in")[0]["missing"] == 0, "the time of waiting is counted")


def killed_sender(folder, file):
    slow = Slow(folder, f"ipc://{folder}/k", "--senders", 1, "--metrics", folder / "metrics")
    first = Run(folder, COPY, "-i", *[file] * 8, "-o", f"zmq:ipc://{folder}/k")
    check(wait_until(lambda: (folder / "metrics").exists() and "sluice_zmq_received_messages_total" in
                     (folder / "metrics").read_text()), "the metrics name the input")
    time.sleep(1)
    first.process.kill()
    first.process.wait()
    second = Run(folder, COPY, "-i", file, "-o", f"zmq:ipc://{folder}/k")
    data = slow.go()
    second.end()
    link = counts(slow.run.end(), "in")[0]
    check((link["senders"], link["ended"], link["lost"], link["missing"]) == (2, 1, 1, 0), f"a killed sender is counted: {link}")
    check("was disconnected before its end, after message" in slow.run.messages(), "and reported")
    metrics = (folder / "metrics").read_text()
    check(f'sluice_zmq_lost_senders_total{{endpoint="zmq:ipc://{folder}/k"}} 1' in metrics, "and in the metrics")
    found = set(records(data))
    check(found == set(records(file.read_bytes())) and len(data) >= file.stat().st_size, "whole events arrive; the new sender is complete")


def stopped(folder, file):
    sender = Run(folder, COPY, "-i", file, "-o", f"zmq:ipc://{folder}/absent")
    sender.until("waiting for one")
    sender.process.send_signal(signal.SIGTERM)
    summary = sender.end(128 + signal.SIGTERM)
    check("messages were not sent" in sender.messages() and counts(summary, "out")[0]["unsent"] > 0,
          "a sender without a receiver can be stopped, and says what was not sent")
    receiver = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/i", "-o", folder / "idle.mdf", "--until-idle", 0.5)
    check(receiver.until("no message yet"), "a receiver without a sender says so")
    Run(folder, COPY, "-i", file, "-o", f"zmq:ipc://{folder}/i").end()
    receiver.end()
    check((folder / "idle.mdf").read_bytes() == file.read_bytes(), "a receiver ends when it is idle")
    receiver = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/t", "-o", folder / "term.mdf")
    Run(folder, COPY, "-i", file, "-o", f"zmq:ipc://{folder}/t").end()
    wait_until(lambda: any(part.stat().st_size == file.stat().st_size for part in folder.glob("term.mdf.part")))
    receiver.process.send_signal(signal.SIGTERM)
    receiver.end(128 + signal.SIGTERM)
    check((folder / "term.mdf.part").read_bytes() == file.read_bytes(), "a signal ends a receiver; its events are kept")
    receiver = Run(folder, COPY, "-i", f"zmq:ipc://{folder}/n", "-o", folder / "few.mdf", "-n", 10)
    sender = Run(folder, COPY, "-i", *[file] * 5, "-o", f"zmq:ipc://{folder}/n")
    receiver.end()
    check("were not read and are lost" in receiver.messages(), "messages after the last event of -n are reported")
    check(sender.until("the receiver was disconnected; messages that it had not processed are lost"),
          "a sender reports that its receiver has gone")
    sender.process.kill()
    sender.process.wait()


with tempfile.TemporaryDirectory() as name:
    place = Path(name)
    events = place / "events.mdf"
    simulate(events, 100)
    for test in (chain, two_workers, packets, tcp, slow_receiver, killed_sender, stopped):
        begin = time.monotonic()
        test(place, events)
        print(f"        {test.__name__}: {time.monotonic() - begin:.1f} s")
checks.end()
