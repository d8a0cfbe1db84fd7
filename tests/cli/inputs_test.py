#!/usr/bin/env python3
"""Inputs that are not regular files, and names with special characters: inputs_test.py SLUICE

A command that hangs is ended after a while, and counts as a failure.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import mdf
from common import ROOT, Checks
from patient import call

VELO = ROOT / "graphs/velo.yaml"
COPY = ROOT / "graphs/copy.yaml"
checks = Checks()
check = checks.that


def pipe(folder, name):
    path = folder / name
    os.mkfifo(path)
    return path


def says(result, status, text, what):
    check(result[0] == status and text in result[1], f"{what}: {result[0]}: {result[1].strip()[:200]}")


def pipes_and_devices(sluice, folder):
    events = pipe(folder, "events.mdf")
    says(call(sluice, "run", VELO, "-i", events), 1, "is a pipe without a writer", "a pipe without a writer as input is refused")
    pipe(folder, "velo_geometry.bin")
    says(call(sluice, "run", VELO, "-i", "/dev/zero"), 1, "is neither a regular file nor a pipe", "a device as input is refused")
    says(call(sluice, "run", VELO, "-n", "5", "--set", f"geometry={folder}"), 2, "it is no regular file", "a pipe as geometry is refused")
    graph = pipe(folder, "graph.yaml")
    says(call(sluice, "check", graph), 2, "is a pipe without a writer", "a graph from a pipe without a writer is refused")
    says(call(sluice, "plan", "--csv", graph, "--capacity", "10"), 2, "is a pipe without a writer", "a table of buffers from a pipe without a writer is refused")
    writer = threading.Thread(target=lambda: graph.write_text(f"sluice: 1\ninclude: [{VELO}]\n"))
    writer.start()
    says(call(sluice, "check", graph), 0, "velo.search_by_triplet", "a graph from a pipe with a writer is read")
    writer.join()
    read_end, write_end = os.pipe()
    late = threading.Timer(2, lambda: (os.write(write_end, f"sluice: 1\ninclude: [{VELO}]\n".encode()), os.close(write_end)))
    late.start()
    says(call(sluice, "check", f"/dev/fd/{read_end}", pass_fds=[read_end]), 0, "velo.search_by_triplet", "a graph from a pipe with a slow writer is read")
    late.join()
    os.close(read_end)
    says(call(sluice, "check", "/dev/zero"), 2, "larger than 1 MiB", "an endless device as graph is refused")
    says(call(sluice, "check", "/dev/null"), 2, "error", "an empty device as graph is refused")
    says(call(sluice, "compare", graph, graph), 2, "is a pipe without a writer", "a summary from a pipe without a writer is refused")
    summary = folder / "summary.json"
    subprocess.run([sluice, "run", VELO, "-n", "5", "--json", summary, "--quiet", "--digest"], check=True)
    writer = threading.Thread(target=lambda: graph.write_bytes(summary.read_bytes()))
    writer.start()
    says(call(sluice, "compare", summary, graph), 0, "same", "a summary from a pipe with a writer is compared")
    writer.join()
    says(call(sluice, "compare", summary, folder / "none.json"), 2, "none.json: No such file", "a missing summary is reported")
    says(call(sluice, "run", VELO, "-n", "5", "--set", f"raw.velo={graph}"), 2, "is no regular file", "a pipe as a detector's description is refused")
    says(call(sluice, "test", "velo.decode_retina", "--graph", graph), 2, "is a pipe without a writer", "a pipe without a writer as graph of a test is refused")
    says(call(sluice, "tune", graph, "--slots", "1,2"), 2, "not a regular file", "a pipe as graph of `tune` is refused")
    says(call(sluice, "graph", graph), 2, "is a pipe without a writer", "a pipe without a writer as graph of a drawing is refused")
    mine = folder / "mine"
    mine.mkdir()
    pipe(mine, "plugin.c")
    (mine / "CMakeLists.txt").write_text("sluice_add_plugin(mine)")
    says(call(sluice, "new", "algorithm", "mine.more", cwd=folder), 1, "a pipe, not a regular file", "a pipe in place of a source file is refused")


def plugins(sluice, folder):
    plugin_folder = folder / "plugins"
    plugin_folder.mkdir()
    pipe(plugin_folder, "x.cpu.so")
    says(call(sluice, "list", "--plugin-path", plugin_folder), 0, "cannot be opened: a pipe, not a regular file", "the list reports that a pipe is no plugin")
    says(call(sluice, "run", VELO, "-n", "5", "--plugin-path", plugin_folder), 0, "5 events", "a run ignores a pipe in a plugin folder")
    says(call(sluice, "describe", "x", "--plugin-path", plugin_folder), 2, "error", "a pipe as plugin cannot be described")
    says(call(sluice, "test", plugin_folder / "x.cpu.so"), 1, "cannot be opened: a pipe, not a regular file", "a pipe as plugin cannot be tested")


def damaged_beginnings(sluice, folder):
    """Damages each part of the first record that may be used to recognise the format."""
    whole = folder / "whole.mdf"
    damaged = folder / "damaged.mdf"
    subprocess.run([sluice, "run", ROOT / "graphs/simulate.yaml", "-n", "40", "-o", whole, "--quiet"], check=True)
    subprocess.run([sluice, "run", COPY, "-i", whole, "-o", folder / "whole.mep", "--use", "write=io.mep_sink", "--set",
                    "write.events=10", "--quiet"], check=True)
    data = whole.read_bytes()
    for what, place, value in (("data type", 18, b"\2"), ("header type", 17, b"\xff"), ("first length", 0, b"\0\0\0\0"),
                               ("whole header", 0, bytes(48)), ("checksum", 12, b"\1\2\3\4")):
        damaged.write_bytes(data[:place] + value + data[place + len(value):])
        says(call(sluice, "run", VELO, "-i", damaged), 0, "40, 1 with an error", f"a wrong {what} of the first record loses only this event")
    data = (folder / "whole.mep").read_bytes()
    for what, place, value in (("magic number", 0, b"\0\0"), ("header", 0, bytes(64))):
        damaged.write_bytes(data[:place] + value + data[place + len(value):])
        result = call(sluice, "run", VELO, "-i", damaged)
        check(result[0] == 0 and ", 0 with" not in result[1], f"a wrong {what} of the first packet loses only its events: {result[1][:120]}")


def packets_in_records(sluice, folder):
    """One MDF record with a packet that is larger than the part of a file that sources get to recognise it."""
    plain, packet, record = folder / "many.mdf", folder / "many.mep", folder / "many_in_record.mdf"
    subprocess.run([sluice, "run", ROOT / "graphs/simulate.yaml", "-n", "60", "-o", plain, "--quiet"], check=True)
    subprocess.run([sluice, "run", COPY, "-i", plain, "-o", packet, "--use", "write=io.mep_sink", "--quiet"], check=True)
    data = packet.read_bytes()
    check(len(data) > 1 << 20, f"the packet has more than 1 MiB: {len(data)}")
    for data_type in (2, 1):
        record.write_bytes(mdf.record_bytes(data, data_type))
        says(call(sluice, "run", VELO, "-i", record), 0, "60, 0 with errors",
             f"a packet in a record of data type {data_type} is recognised by its header")


def names_and_texts(sluice, folder):
    os.chdir(folder)
    subprocess.run([sluice, "run", ROOT / "graphs/simulate.yaml", "-n", "5", "-o", "run[1].mdf", "--quiet"], check=True)
    says(call(sluice, "run", VELO, "-i", "run[1].mdf"), 0, "5, 0 with errors", "a name with brackets is used as a file name if the file exists")
    shutil.copy("run[1].mdf", "run1.mdf")
    shutil.copy("run[1].mdf", "run2.mdf")
    says(call(sluice, "run", VELO, "-i", "run[12].mdf"), 0, "10, 0 with errors", "a name with brackets is a pattern if no such file exists")
    for events, name in enumerate(("day2/a.mdf", "day1-b/a.mdf", "day1/a.mdf", ".day3/a.mdf"), 1):
        os.mkdir(os.path.dirname(name))
        subprocess.run([sluice, "run", ROOT / "graphs/simulate.yaml", "-n", str(events), "-o", name, "--quiet"], check=True)
    for pattern, files in (("day?/a.mdf", ["day1/a.mdf", "day2/a.mdf"]), ("d*/a.m*", ["day1-b/a.mdf", "day1/a.mdf", "day2/a.mdf"]),
                           (f"{folder}/day1*//*", ["day1-b/a.mdf", "day1/a.mdf"]), (".d*/?.mdf", [".day3/a.mdf"])):
        result = call(sluice, "run", COPY, "-i", pattern, "-o", "joined.mdf")
        joined = b"".join(pathlib.Path(file).read_bytes() for file in files)
        check(result[0] == 0 and pathlib.Path("joined.mdf").read_bytes() == joined, f"{pattern} matches {files}: {result[1][:100]}")
    says(call(sluice, "run", VELO, "-i", "day?/b.mdf"), 1, "day?/b.mdf", "a pattern without a match is an error")
    says(call(sluice, "run", VELO, "-i", "run1.mdf/*"), 1, "run1.mdf/*", "a pattern below a file is an error")
    says(call(sluice, "run", VELO, "-i", f"{'x' * 200}/" * 30 + "*"), 2, "File name too long", "a pattern with a path that is too long is an error")
    pathlib.Path("bom.yaml").write_text(f"\ufeffsluice: 1\ninclude: [{VELO}]\n", encoding="utf-8")
    says(call(sluice, "check", "bom.yaml"), 0, "velo.search_by_triplet", "a graph may begin with a byte order mark")
    red, shown = "\x1b[31m", "\\x1b[31m"
    os.mkdir(f"p{red}")
    pathlib.Path(f"g{red}.yaml").write_text(f"sluice: 1\ninclude: [{VELO}]\nnodes: {{ {red}: 1 }}\n")
    pathlib.Path("name.yaml").write_text(f'sluice: 1\ninclude: [{VELO}]\nnodes: {{ "a\\e[31mb\\x85c\\x7f": {{ use: velo.x }} }}\n')
    calls = {
        "a file of events": ("run", VELO, "-i", f"x{red}.mdf"),
        "a graph": ("run", f"g{red}.yaml"),
        "a node": ("check", "name.yaml"),
        "a folder of plugins": ("list", "--plugin-path", f"p{red}"),
        "a missing folder": ("list", "--plugin-path", f"q{red}"),
        "a setting": ("check", VELO, "--set", f"clusters.x{red}=1"),
        "a command": (f"list{red}",),
        "an option": ("list", f"--{red}"),
        "a described algorithm": ("describe", f"velo.{red}"),
        "a tested algorithm": ("test", f"x{red}"),
        "a table of buffers": ("plan", "--csv", f"p{red}.csv", "--capacity", "1"),
        "a compared summary": ("compare", f"a{red}.json", "b.json"),
    }
    for what, arguments in calls.items():
        _, said = call(sluice, *arguments)
        check(shown in said and "\x1b" not in said, f"an escape code in the name of {what} is shown: {said.strip()[:80]!r}")
    _, said = call(sluice, "check", "name.yaml")
    check("b\\x85c\\x7f" in said, "control characters of Latin 1 and DEL are shown as escape codes")
    german = "schön.yaml"
    says(call(sluice, "check", german), 2, f"{german}: error: No such file", "letters of any alphabet are printed unchanged")
    raw = call(sluice, "check", b"\x9b31m.yaml".decode(errors="surrogateescape"))
    says(raw, 2, "\\x9b31m.yaml: error", "bytes that are not UTF-8 are shown as escape codes")


def main(sluice):
    sluice = pathlib.Path(sluice).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pipes_and_devices(sluice, folder)
        plugins(sluice, folder)
        names_and_texts(sluice, folder)
        damaged_beginnings(sluice, folder)
        packets_in_records(sluice, folder)
    checks.end()


main(*sys.argv[1:])
