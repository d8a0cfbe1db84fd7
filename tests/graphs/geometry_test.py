#!/usr/bin/env python3
"""The geometry is written to files and read back with identical bits."""
import resource
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, Checks, call, run_simulated

checks = Checks()
WRITE = ROOT / "graphs/geometry.yaml"
FILES = {"velo_geometry.bin": 16376, "beamline.bin": 8, "polarity.bin": 4}


def write(folder, geometry=""):
    call("run", WRITE, "-o", folder, "--set", f"velo.path={geometry}", "--quiet")
    return {name: (folder / name).read_bytes() for name in FILES}


def digests(geometry):
    done = run_simulated("velo.yaml", "-n", 20, "--set", f"geometry.path={geometry}", "--digest")
    return [o["digest"] for o in done["outputs"]]


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    nominal = write(folder / "nominal")
    checks.that({name: len(data) for name, data in nominal.items()} == FILES, "the files have the sizes of the format")
    checks.that(write(folder / "again", folder / "nominal") == nominal,
                "the nominal geometry, written, read and written again, has identical bytes")
    checks.that(digests(folder / "nominal") == digests(""),
                "tracks with the nominal geometry from files have equal digests")
    moved = folder / "moved.velo"
    moved.write_text((ROOT / "plugins/velo/include/velo/nominal.velo").read_text().replace("z -287.5 left", "z -287.25 left"))
    other = write(folder / "other", moved)
    checks.that(other["velo_geometry.bin"] != nominal["velo_geometry.bin"], "another description gives another file")
    checks.that(digests(folder / "other") == digests(moved) != digests(""),
                "tracks with this file equal those with the description")
    (folder / "nominal/beamline.bin").write_bytes(bytes.fromhex("0000803e000000bf"))
    checks.that(write(folder / "again", folder / "nominal")["beamline.bin"].hex() == "0000803e000000bf",
                "the beam line is read and written")
    if GEOMETRY.exists():
        sample = {name: (GEOMETRY / name).read_bytes() for name in FILES}
        checks.that(write(folder / "sample", GEOMETRY) == sample,
                    "the files of the sample, read and written, have identical bytes")
    else:
        print(f"skipped: {GEOMETRY} is absent")
    checks.that(not list(folder.glob("*/*.part")), "no .part file remains")

    def says(text, status, *arguments, **options):
        done = call("run", WRITE, "--quiet", *arguments, expect=status, **options)
        checks.that(text in done.stderr,
                    f"{arguments}: {text}" + ("" if text in done.stderr else f" is not in:\n{done.stderr}"))

    says("no output folder is given", 2)
    says("moved.velo/velo_geometry.bin: cannot create it: Not a directory", 2, "-o", moved)
    says("none: No such file or directory", 2, "-o", folder / "none/here")
    says("cannot go to standard output", 2, "-o", "-")
    says("velo_geometry.bin.part: cannot write after 100 bytes: File too large; the file was removed", 1, "-o", folder / "full",
         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    checks.that(not list((folder / "full").iterdir()), "a full disk leaves no incomplete file")
checks.end()
