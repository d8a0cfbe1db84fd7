#!/usr/bin/env python3
"""Errors that --guard detects: guard_test.py SLUICE FOLDER_OF_TEST_PLUGINS

Runs the algorithms of tests/plugins_wrong. Errors that are visible in a single run are reported like in `sluice test`;
correct algorithms are not reported.
"""
import pathlib
import subprocess
import sys
import tempfile

from common import Checks

GRAPH = """sluice: 1
nodes:
  raw:  { use: wrong.numbers_source }
  odd:  { use: generic.filter, set: { of: raw.tag, minimum: 3 } }
  node: { use: wrong.fine }
  some: { use: wrong.fine, events: odd.passed }
outputs: [node, some]
"""
TIGHT = ("--set", "node.kept_per_event=1")
FOUND = [
    ("wrong.unwritten", (), "wrong.unwritten: kept.value of event 1, entry 2, was not written"),
    ("wrong.not_a_number", (), "wrong.not_a_number: kept.value of event 0, entry 0, is not a number"),
    ("wrong.descending", (), "wrong.descending: kept.offsets is not ascending: 3 for event "),
    ("wrong.beyond", TIGHT, "wrong.beyond: node.kept.value was written 0 bytes past its end"),
    ("wrong.silent", TIGHT, "wrong.silent: kept.offsets ends with 28, its capacity is 8"),
]
checks = Checks()
check = checks.that


def main(sluice, plugins):
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.yaml"
        graph.write_text(GRAPH)

        def run(*arguments):
            done = subprocess.run([sluice, "run", graph, "--plugin-path", plugins, "--slice-events", "8", *arguments], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        for device in ("cpu", "simt"):
            on = ("--device", device)
            status, said = run(*on, "--digest")
            digests = [line for line in said.splitlines() if "digest" in line]
            guarded = run(*on, "--digest", "--guard")
            check(status == 0 and guarded[0] == 0 and digests and digests == [line for line in guarded[1].splitlines() if "digest" in line],
                  f"{device}: a correct algorithm is not reported, and --guard does not change results")
            status, said = run(*on, "--guard", *TIGHT)
            check(status == 0 and "too large" not in said and "error:" not in said, f"{device}: an overflow is not an error: {said[:80]!r}")
            for algorithm, more, text in FOUND:
                status, said = run(*on, "--guard", "--use", f"node={algorithm}", *more)
                check(status == 1 and text in said, f"{device}: {text}" + ("" if text in said else f", not {status}: {said[:200]}"))
            status, said = run(*on, "--guard", "--use", "some=wrong.off_list")
            check(status == 1 and "wrong.off_list: kept has" in said and "which is not on the list" in said, f"{device}: items of events off the list are reported")
            status, said = run(*on, "--guard", "--use", "raw=wrong.greedy_source", "--set", "raw.numbers_per_event=1")
            check(status == 1 and "wrong.greedy_source: raw.numbers.value was written 0 bytes past its end" in said,
                  f"{device}: outputs of the source are guarded, too: {'' if status == 1 else said[:200]}")
    checks.end()


main(*sys.argv[1:])
