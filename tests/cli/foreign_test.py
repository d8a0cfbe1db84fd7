#!/usr/bin/env python3
"""Plugins and backends from elsewhere: foreign_test.py SLUICE FOLDER_OF_BAD_PLUGINS

Those of tests/plugins_bad that exit, hang and abort in a constructor must end no command that only looks at them, and do
nothing at all to a run whose graph does not name them. A command that hangs is ended after a while, and is a failure.
"""
import os
import pathlib
import shutil
import sys
import tempfile

from common import ROOT, Checks
from patient import call

VELO = ROOT / "graphs/velo.yaml"
SAYS = {"exits": "when it is loaded, it ended the process with status 0", "crashes": "when it is loaded, it crashed: Aborted",
        "hangs": "when it is loaded, it did not end within 10 s"}
checks = Checks()
check = checks.that


def says(result, status, texts, what):
    lacks = [text for text in texts if text not in result[1]]
    check(result[0] == status and not lacks, f"{what}: {result[0]}, lacks {lacks}: {result[1].strip()[:300] if lacks else ''}")


def looked_at(sluice, folder, case, graph):
    path = ("--plugin-path", folder / case)
    says(call(sluice, "list", *path), 0, ["\nvelo  ", SAYS[case]], f"{case}: the list has it with what it did, and all others")
    says(call(sluice, "check", VELO, *path), 0, ["velo.search_by_triplet"], f"{case}: a graph without it is checked")
    says(call(sluice, "run", VELO, "-n", "5", *path), 0, ["events       5"], f"{case}: and runs")
    if case == "hangs":  # for ten seconds a time
        return
    says(call(sluice, "check", graph, *path), 2, [SAYS[case]], f"{case}: a graph that names it is not")
    says(call(sluice, "describe", "velo.search_by_triplet", *path), 0, ["search_by_triplet"], f"{case}: others are described")
    says(call(sluice, "describe", "bad.copy", *path), 2, ["there is no"], f"{case}: it is not")
    says(call(sluice, "check", VELO, "--use", "tracks=velo.search_by_triplett", *path), 2, ["did you mean velo.search_by_triplet?"],
         f"{case}: hints come from all others")
    says(call(sluice, "test", folder / case / "bad.cpu.so"), 1, [SAYS[case]], f"{case}: it is tested in a process of its own")


def loaded_by_a_run(sluice, folder):
    """Foreign files that are no plugins are not opened by a run, whatever it looks for."""
    with tempfile.TemporaryDirectory() as name:
        plugins = pathlib.Path(name)
        shutil.copy(folder / "no_symbol/bad.cpu.so", plugins / "none.cpu.so")
        shutil.copy(folder / "other_abi/bad.cpu.so", plugins / "bad.cpu.so")
        text = plugins / "events.txt"
        text.write_text("no events\n")
        _, said = call(sluice, "run", VELO, "-i", text, "--plugin-path", plugins, env={**os.environ, "LD_DEBUG": "files"})
        opened = [name for name in ("none.cpu.so", "bad.cpu.so") if f"calling init: {plugins}/{name}" in said]
        check("calling init" in said and not opened, f"a run opens no file that is no plugin of this version: {opened}")


def backends(sluice):
    """A library of a backend's name beside a folder of plugins is not even opened."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plugins").mkdir()
        (folder / "backends").mkdir()
        (folder / "backends/own.so").write_text("no library\n")
        says(call(sluice, "run", VELO, "--device", "own", "--plugin-path", folder / "plugins"), 2,
             ["there is no device 'own': this build has no backend for it"], "backends come from beside libsluice alone")
        says(call(sluice, "run", VELO, "--device", "../plugins/own"), 2, ["no device"], "and from no other folder")


def main(sluice, bad_folder):
    folder = pathlib.Path(bad_folder)
    with tempfile.TemporaryDirectory() as name:
        graph = pathlib.Path(name) / "graph.yaml"
        graph.write_text(f"sluice: 1\ninclude: [{VELO}]\nnodes: {{ more: {{ use: bad.copy }} }}\n")
        for case in SAYS:
            looked_at(sluice, folder, case, graph)
    loaded_by_a_run(sluice, folder)
    backends(sluice)
    checks.end()


main(*sys.argv[1:])
