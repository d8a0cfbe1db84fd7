#!/usr/bin/env python3
"""The nominal SciFi geometry equals that of the samples byte for byte, and is unchanged after writing and reading in both
file formats."""
import tempfile
from pathlib import Path

from common import GEOMETRY, ROOT, Checks, call

checks = Checks()
GRAPH = ROOT / "graphs/geometry.yaml"
NOMINAL = ROOT / "plugins/scifi/include/scifi/nominal.scifi"
NAME = "scifi_geometry.bin"
FORMAT_0_BYTES, FORMAT_1_BYTES = 81064, 104104

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)

    def write(to, *arguments):
        call("run", GRAPH, "-o", folder / to, "--quiet", *arguments)
        return (folder / to / NAME).read_bytes()

    nominal = write("nominal")
    checks.that(len(nominal) == FORMAT_0_BYTES, f"nominal: {len(nominal)} bytes")
    checks.that(write("text", "--set", f"scifi.path={NOMINAL}") == nominal, "the nominal description given by path gives the same file")
    checks.that(write("again", "--set", f"scifi.path={folder / 'nominal'}") == nominal, "the file is equal after reading it back")

    links = write("links", "--set", "write_scifi.format=format_1")
    checks.that(len(links) == FORMAT_1_BYTES, f"format 1: {len(links)} bytes")
    checks.that(write("links_again", "--set", f"scifi.path={folder / 'links'}") == links, "the file of format 1 is equal after reading it back")
    back = write("back", "--set", f"scifi.path={folder / 'links'}", "--set", "write_scifi.format=format_0")
    checks.that(back == nominal, "from format 1 to format 0")

    other = folder / "other.scifi"
    other.write_text(NOMINAL.read_text().replace("station 1 z 7931 ", "station 1 z 7930 "))
    checks.that(write("other", "--set", f"scifi.path={other}") != nominal, "another description gives another file")

    if GEOMETRY.exists():
        sample = (GEOMETRY / NAME).read_bytes()
        checks.that(nominal == sample, "the nominal file equals that of the samples")
        checks.that(write("sample", "--set", f"scifi.path={GEOMETRY}") == sample, "the file of the samples is equal after reading and writing it")
        checks.that(write("sample_links", "--set", f"scifi.path={GEOMETRY}", "--set", "write_scifi.format=format_1") == links,
                    "the file of the samples in format 1 equals the nominal one")
    else:
        print(f"skipped: {GEOMETRY} is absent")
checks.end()
