#!/usr/bin/env python3
"""Plugins and backends of other projects: foreign_test.py SLUICE FOLDER_OF_BAD_PLUGINS

Plugins of tests/plugins_bad that exit, hang or abort in a constructor must not end commands that only inspect them, and must
not affect runs of graphs that do not use them. A command that hangs is ended after a while, and counts as a failure.
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
    says(call(sluice, "list", *path), 0, ["\nvelo  ", SAYS[case]], f"{case}: the list has the plugin with the reason, and all other plugins")
    says(call(sluice, "check", VELO, *path), 0, ["velo.search_by_triplet"], f"{case}: a graph without it is checked")
    says(call(sluice, "run", VELO, "-n", "5", *path), 0, ["events       5"], f"{case}: a graph without it runs")
    if case == "hangs":  # ten seconds for each command
        return
    says(call(sluice, "check", graph, *path), 2, [SAYS[case]], f"{case}: a graph that uses it is refused")
    says(call(sluice, "describe", "velo.search_by_triplet", *path), 0, ["search_by_triplet"], f"{case}: other plugins can be described")
    says(call(sluice, "describe", "bad.copy", *path), 2, ["there is no"], f"{case}: the plugin cannot be described")
    says(call(sluice, "check", VELO, "--use", "tracks=velo.search_by_triplett", *path), 2, ["did you mean velo.search_by_triplet?"],
         f"{case}: names of other plugins are suggested")
    says(call(sluice, "test", folder / case / "bad.cpu.so"), 1, [SAYS[case]], f"{case}: the plugin is tested in a separate process")


def loaded_by_a_run(sluice, folder):
    """A run does not open files that are not plugins of this version."""
    with tempfile.TemporaryDirectory() as name:
        plugins = pathlib.Path(name)
        shutil.copy(folder / "no_symbol/bad.cpu.so", plugins / "none.cpu.so")
        shutil.copy(folder / "other_abi/bad.cpu.so", plugins / "bad.cpu.so")
        text = plugins / "events.txt"
        text.write_text("no events\n")
        _, said = call(sluice, "run", VELO, "-i", text, "--plugin-path", plugins, env={**os.environ, "LD_DEBUG": "files"})
        opened = [name for name in ("none.cpu.so", "bad.cpu.so") if f"calling init: {plugins}/{name}" in said]
        check("calling init" in said and not opened, f"a run opens only plugins of this version: {opened}")


def backends(sluice):
    """A library with the name of a backend next to a folder of plugins is not opened."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plugins").mkdir()
        (folder / "backends").mkdir()
        (folder / "backends/own.so").write_text("no library\n")
        says(call(sluice, "run", VELO, "--device", "own", "--plugin-path", folder / "plugins"), 2,
             ["there is no device 'own': this build has no backend for it"], "backends are loaded only from the folder of libsluice")
        says(call(sluice, "run", VELO, "--device", "../plugins/own"), 2, ["no device"], "a path in the name of a device is refused")


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
