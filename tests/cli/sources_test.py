#!/usr/bin/env python3
"""The choice of the source that reads the input, with a plugin of another project: sources_test.py SLUICE FOLDER

FOLDER has the plugin `afar` (tests/plugins_foreign).
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from common import ROOT, Checks
from patient import call

SIMULATE, COPY, COUNTS = (ROOT / "graphs" / name for name in ("simulate.yaml", "copy.yaml", "velo_counts.yaml"))
checks = Checks()
check = checks.that


def says(result, status, texts, what):
    lacks = [text for text in texts if text not in result[1]]
    check(result[0] == status and not lacks, f"{what}: {result[0]}, lacks {lacks}: {result[1].strip()[:400] if lacks else ''}")


def graph_of(folder, source):
    path = folder / f"{source}.yaml"
    path.write_text(f"sluice: 1\nnodes: {{ raw: {{ use: {source} }}, tally: {{ use: afar.tally }} }}\n")
    return path


def choice(sluice, folder, plugins, events):
    path = ("--plugin-path", plugins)
    a, b = folder / "a.txt", folder / "b.txt"
    a.write_text("a text\n")
    b.write_text("b text\n")
    silent, fed = graph_of(folder, "afar.silent"), graph_of(folder, "afar.feed")
    says(call(sluice, "run", silent, "-i", events, *path), 0, ["events       3,", "read by afar.silent"],
         "a source of files that the graph names reads any file")
    says(call(sluice, "run", silent, "-i", "-", *path, input=events.read_bytes()), 0, ["read by afar.silent"], "a source that the graph names reads standard input")
    says(call(sluice, "run", COUNTS, "-i", events, *path), 0, ["events       20,", "read by io.mdf_source"],
         "of two sources that recognise a file, the one with the ports of the graph reads it")
    says(call(sluice, "run", fed, "-i", events, *path), 0, ["events       3,", "read by afar.records"], "with other ports in the graph, the other source reads it")
    says(call(sluice, "run", fed, "-i", a, *path), 0, ["read by afar.letter"], "a source that recognises the file reads it")
    result = call(sluice, "run", fed, "-i", b, *path)
    says(result, 2, ["several sources recognise", "afar.letter, afar.twin", "--use raw="], "several sources with the same ports are an error")
    check(result[1].count("error:") == 1, "several sources give one error")
    says(call(sluice, "run", fed, "-i", b, "--use", "raw=afar.twin", *path), 0, ["read by afar.twin"], "--use selects one of several sources")
    says(call(sluice, "index", b, *path), 1, ["several sources recognise it: afar.letter, afar.twin"], "an index of a file with several sources is refused")


def without_input(sluice, folder, plugins):
    path = ("--plugin-path", plugins)
    for source in ("afar.feed", "io.feed_source", "io.mdf_source", "io.mep_source", "afar.letter"):
        text = "takes its events from the memory" if "feed" in source else "reads files, but no input file is given"
        result = call(sluice, "run", COUNTS if source.startswith("io") else graph_of(folder, source), "--use", f"raw={source}", *path)
        says(result, 2, [f"{source} {text}"], f"{source} without its input is an error")
        check(result[1].count("error:") == 1, f"{source} without its input gives one error")
    says(call(sluice, "check", graph_of(folder, "afar.letter"), *path), 0, [], "a graph without input can be checked")


def write(path, data, result):
    try:
        with open(path, "wb", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view[:5000]):]
        result.append("written")
    except BrokenPipeError:
        result.append("SIGPIPE")


def fifos(sluice, folder, events, packets):
    """A FIFO is opened once: no writer gets SIGPIPE, and no byte is lost."""
    one, two, link = (folder / name for name in ("one", "two", "link"))
    os.mkfifo(one)
    os.mkfifo(two)
    link.symlink_to(one)
    data, mep = events.read_bytes(), packets.read_bytes()
    cases = [((one,), {one: data}, 20)] * 3 + [
        ((link,), {one: data}, 20), ((one,), {one: mep}, 20), ((one, events, two), {one: data, two: data}, 60),
        ((events, one), {one: data}, 40), ((packets, link), {one: mep}, 40)]
    for inputs, written, count in cases:
        result = []
        writers = [threading.Thread(target=write, args=(path, text, result)) for path, text in written.items()]
        for writer in writers:
            writer.start()
        said = call(sluice, "run", COUNTS, "-i", *inputs)
        for writer in writers:
            writer.join(10)
        says(said, 0, [f"events       {count}, 0 with errors"], f"{[path.name for path in inputs]}")
        check(result == ["written"] * len(written), f"all bytes of the writers are read: {result}")
    for what in ("index", "check"):
        arguments = (one,) if what == "index" else (COUNTS, "-i", one)
        writer = threading.Thread(target=write, args=(one, b"x" * 100, result := []))
        writer.start()
        call(sluice, what, *arguments)
        time.sleep(0.1)
        check(not result, f"{what} does not open a pipe, so that its writer still waits: {result}")
        with open(one, "rb") as file:
            file.read()
        writer.join(10)
    for text, what in ((data, "records"), (mep, "packets")):
        says(call(sluice, "run", COUNTS, "-i", "-", input=text), 0, ["events       20,"], f"{what} on standard input are recognised")
    read_end, write_end = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(write_end, data[:3000]), time.sleep(0.7), os.write(write_end, data[3000:60000]),
                                              os.write(write_end, data[60000:]), os.close(write_end)))
    writer.start()
    says(call(sluice, "run", COUNTS, "-i", f"/dev/fd/{read_end}", pass_fds=[read_end]), 0, ["events       20,"], "a slow /dev/fd/N is recognised")
    writer.join()
    os.close(read_end)


def main(sluice, plugins):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        events, packets = folder / "events.mdf", folder / "events.mep"
        subprocess.run([sluice, "run", SIMULATE, "-n", "20", "-o", events, "--quiet"], check=True)
        subprocess.run([sluice, "run", COPY, "-i", events, "-o", packets, "--use", "write=io.mep_sink", "--quiet"], check=True)
        choice(sluice, folder, plugins, events)
        without_input(sluice, folder, plugins)
        fifos(sluice, folder, events, packets)
    checks.end()


main(*sys.argv[1:])
