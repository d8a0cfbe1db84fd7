#!/usr/bin/env python3
"""A run opens the plugins that its graph needs, and no others: loading_test.py SLUICE FOLDER_OF_PLUGINS_OPEN

The dynamic loader reports the files that it opens (LD_DEBUG=files).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import ROOT, Checks

VELO = ROOT / "graphs/velo.yaml"
checks = Checks()
check = checks.that


def call(sluice, *arguments, **environment):
    return subprocess.run([sluice, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **environment})


def opened(sluice, *arguments):
    """Names of all objects that the loader initialises, and the finished process."""
    done = call(sluice, *arguments, LD_DEBUG="files")
    return {pathlib.Path(path).name for path in re.findall(r"calling init: (.+)", done.stderr)}, done


def plugins(files):
    return sorted(name for name in files if re.fullmatch(r"[a-z0-9_]+\.(cpu|simt|cuda|hip)\.so", name))


def opens(files, wanted):
    """True if the wanted plugins were opened, and none that the graph does not need. Open ports may need more plugins."""
    return wanted <= set(plugins(files)) and not {"hdf5.cpu.so", "pv.cpu.so"} & files and not any("libhdf5" in name for name in files)


def copy_command(sluice, folder):
    """Makes a folder with the command and its library, but without plugins."""
    folder.mkdir()
    for path in (sluice, *pathlib.Path(sluice).resolve().parent.glob("libsluice.so*")):
        shutil.copy(path, folder)


def without_plugins(sluice, folder):
    """Tests a folder with only the command and its library."""
    copy_command(sluice, folder)
    wrong = call(folder / "sluice", "check", VELO, LD_LIBRARY_PATH=str(folder), SLUICE_PLUGIN_PATH="no/such/folder")
    errors = [line for line in wrong.stderr.splitlines() if "error: " in line]
    check(wrong.returncode == 2 and len(errors) == 1 and "no plugins were found" in errors[0], f"without plugins there is one error: {errors}")
    for place in ("no/such/folder (no such folder)", f"{folder.resolve()}/plugins (no such folder)"):
        check(place in wrong.stderr, f"the error names the folder {place}")
    listed = call(folder / "sluice", "list", LD_LIBRARY_PATH=str(folder)).stdout
    check(f"no plugins found; looked for in {folder.resolve()}/plugins (no such folder)" in listed, "the list names the folders that were searched")


def without_target(sluice, folder):
    """Tests an installation with plugins for the CPU only."""
    copy_command(sluice, folder)
    (folder / "plugins").mkdir()
    for path in pathlib.Path(sluice).resolve().parent.glob("plugins/*.cpu.so"):
        (folder / "plugins" / path.name).symlink_to(path)
    wrong = call(folder / "sluice", "run", VELO, "--device", "simt", LD_LIBRARY_PATH=str(folder))
    check(wrong.returncode == 2 and wrong.stderr.count("error: ") == 1 and "this installation has no plugins for simt" in wrong.stderr,
          f"without plugins for a device there is one error: {wrong.stderr}")


def absent_plugin(sluice, folder):
    """A file NAME.TARGET.absent has the reason why the installation lacks a plugin; each command that names it reports the reason."""
    folder.mkdir()
    (folder / "fax.cpu.absent").write_text("built without a telephone\nsecond line\n")
    (folder / "empty.cpu.absent").write_text("")
    (folder / "none.absent").write_text("no target\n")
    path = ["--plugin-path", folder]
    listed = call(sluice, "list", *path)
    check("fax          absent: built without a telephone\n" in listed.stdout, "list has the reason")
    check("empty        absent: not part of this installation\n" in listed.stdout and "none " not in listed.stdout, "an empty file has a reason too")
    for command in (["list", "fax"], ["describe", "fax"], ["describe", "fax.send"], ["test", "fax"], ["test", "fax.send"]):
        done = call(sluice, *command, *path)
        check(done.returncode == 2 and done.stderr.count("error: ") == 1 and "absent: built without a telephone" in done.stderr,
              f"{' '.join(command)} reports the reason: {done.stderr.strip()}")
    done = call(sluice, "check", VELO, "--use", "check=fax.send", *path)
    check("there is no algorithm `fax.send`: the plugin is absent: built without a telephone" in done.stderr, f"a graph reports the reason: {done.stderr.strip()}")
    (folder / "truth.cpu.absent").write_text("somewhere else\n")
    done = call(sluice, "check", VELO, *path)
    check(done.returncode == 0, f"a plugin of another folder is used: {done.stderr.strip()}")


def main(sluice, open_folder):
    plugin_folder = pathlib.Path(sluice).resolve().parent / "plugins"
    files, done = opened(sluice, "run", VELO, "-n", 5)
    check(done.returncode == 0 and opens(files, {"sim.cpu.so", "truth.cpu.so", "velo.cpu.so"}), f"velo.yaml opens {plugins(files)}")

    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder) / "events.mdf"
        check(call(sluice, "run", ROOT / "graphs/simulate.yaml", "-n", 5, "-o", events).returncode == 0, "events are written")
        files, done = opened(sluice, "run", VELO, "-i", events)
        check(done.returncode == 0 and opens(files, {"io.cpu.so", "truth.cpu.so", "velo.cpu.so"}), f"velo.yaml -i FILE opens {plugins(files)}")
        text = pathlib.Path(folder) / "events.txt"
        text.write_text("no events\n")
        files, done = opened(sluice, "run", VELO, "-i", text)
        check(opens(files, {"io.cpu.so"}), f"-i of a text opens plugins with sources of files: {plugins(files)}")

        files, done = opened(sluice, "check", VELO, "--device", "simt")
        check(opens(files, {"velo.cpu.so", "velo.simt.so"}), f"--device simt opens {plugins(files)}")
        files, done = opened(sluice, "check", VELO, "--use", "check=pv.no_such_finder")
        check("hdf5.cpu.so" in files or not (plugin_folder / "hdf5.cpu.so").exists(), "after an error all plugins are opened, to suggest a name")
        done = call(sluice, "check", VELO, "--use", "check=lumi.sumarize")
        check("did you mean lumi.summarize?" in done.stderr, "a hint names an algorithm of a plugin that the graph does not use")
        graph = pathlib.Path(folder) / "parameter.yaml"
        graph.write_text(f"sluice: 1\ninclude: [{ROOT}/graphs/velo_pv.yaml]\nparameters: {{ finder: pv.annealing }}\nnodes: {{ pv: {{ use: '${{finder}}' }} }}\n")
        files, done = opened(sluice, "check", graph)
        check(done.returncode == 0 and "pv.cpu.so" in files, "a parameter names a plugin")

        graph = pathlib.Path(folder) / "open.yaml"
        graph.write_text("sluice: 1\nnodes: { raw: { use: store.fetch }, kept: { use: store.keep } }\n")
        files, done = opened(sluice, "check", graph, "--plugin-path", open_folder)
        check(opens(files, {"paint.cpu.so", "store.cpu.so"}) and "<- raw.red (red_boxes)" in done.stdout,
              f"an open port takes a collection of a plugin that the graph does not name: {plugins(files)}\n{done.stdout}")

        broken = pathlib.Path(folder) / "broken"
        broken.mkdir()
        (broken / "truth.cpu.so").write_text("no plugin\n")
        (broken / "hidden.cpu.so").write_text("no plugin\n")
        files, done = opened(sluice, "check", VELO, "--plugin-path", broken)
        check(done.returncode == 0 and "truth.cpu.so" in files, "if the first file of a plugin is refused, the second one is used")
        done = call(sluice, "check", VELO, "--plugin-path", broken, "--use", "check=hidden.check")
        check("there is no algorithm `hidden.check`: the plugin was refused: not a shared object" in done.stderr, "the message has the reason why a plugin of the graph was refused")
        listed = call(sluice, "list", "--plugin-path", broken).stdout
        check(listed.count("refused: ") == 2 and "hidden: " not in listed, "list shows refused plugins")
        shutil.copy(plugin_folder / "sim.cpu.so", broken)
        listed = call(sluice, "list", "--plugin-path", broken).stdout
        check(f"hidden: {plugin_folder}/sim.cpu.so\n    by {broken.resolve()}/sim.cpu.so" in listed, "list shows hidden plugins")
        without_plugins(sluice, pathlib.Path(folder) / "alone")
        absent_plugin(sluice, pathlib.Path(folder) / "absent")
        if os.environ["SLUICE_SIMT"] == "1":
            without_target(sluice, pathlib.Path(folder) / "cpu")
    checks.end()


main(*sys.argv[1:])
