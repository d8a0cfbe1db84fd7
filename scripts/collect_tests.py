#!/usr/bin/env python3
"""Makes one CTest suite of the tests of several builds, and prints why tests were skipped.

--out FOLDER [--level push|nightly] [--name NAME] [--build FOLDER 'TARGET...']... --check NAME:SECONDS:ARGUMENTS...
    writes FOLDER/CTestTestfile.cmake. Tests of a build with the label `push` (or, at the level nightly, `push` or
    `nightly`), and with the label NAME if given, become BUILD.TEST with the label BUILD, after a test BUILD.build that
    builds the targets (all, if none is named); if that fails, the others are not run. A check is a call of scripts/check.
--skipped FOLDER
    prints the lines in which the last run's tests report that they skip something.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

NAMES_MAX = 2
CHECK = pathlib.Path(__file__).resolve().with_name("check")
LEVELS = {"push": {"push"}, "nightly": {"push", "nightly"}}


def quote(text):
    text = str(text)
    fence = "="
    while "]" + fence + "]" in text:
        fence += "="
    return f"[{fence}[{text}]{fence}]"


def value(property_value):
    if isinstance(property_value, list):
        return ";".join(str(item).replace(";", "\\;") for item in property_value)
    if isinstance(property_value, bool):
        return "TRUE" if property_value else "FALSE"
    if isinstance(property_value, float) and property_value.is_integer():
        return int(property_value)
    return property_value


def selected(build, listing, level, name):
    """Tests of a ctest listing that run, each with its properties. In the release build, no test is without a level."""
    for test in listing["tests"]:
        properties = {item["name"]: item["value"] for item in test["properties"]}
        labels = set(properties.get("LABELS", []))
        if build == "cpu-release" and not labels & LEVELS["nightly"]:
            sys.exit(f"error: the test {test['name']} is neither `push` nor `nightly`; see tests/declare.cmake")
        if labels & LEVELS[level] and (not name or name in labels):
            yield test, properties


def tests_of_build(folder, targets, level, name):
    """Lines of CTestTestfile.cmake for one build."""
    build = folder.name
    fixture = f"{build}-built"
    command = ["cmake", "--build", folder, *(["--target", *targets] if targets else [])]
    yield f"add_test({build}.build " + " ".join(map(quote, command)) + ")"
    yield f"set_tests_properties({build}.build PROPERTIES FIXTURES_SETUP {fixture} LABELS {build} RUN_SERIAL TRUE TIMEOUT 900)"
    listing = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True, text=True)
    if listing.returncode != 0:
        return
    for test, properties in selected(build, json.loads(listing.stdout), level, name):
        test_name = f"{build}.{test['name']}"
        properties["LABELS"] = properties.get("LABELS", []) + [build]
        for kind in ("FIXTURES_SETUP", "FIXTURES_REQUIRED", "FIXTURES_CLEANUP"):
            if kind in properties:
                properties[kind] = [f"{build}-{fixture_name}" for fixture_name in properties[kind]]
        properties["FIXTURES_REQUIRED"] = properties.get("FIXTURES_REQUIRED", []) + [fixture]
        if "DEPENDS" in properties:
            properties["DEPENDS"] = [f"{build}.{other}" for other in properties["DEPENDS"]]
        yield f"add_test({quote(test_name)} " + " ".join(quote(word) for word in test.get("command", ["not-built"])) + ")"
        pairs = " ".join(f"{key} {quote(value(item))}" for key, item in properties.items() if not key.startswith("_"))
        yield f"set_tests_properties({quote(test_name)} PROPERTIES {pairs})"


def write_suite(arguments):
    lines = []
    for folder, targets in arguments.build:
        lines += tests_of_build(pathlib.Path(folder), targets.split(), arguments.level, arguments.name)
    for check in arguments.check:
        name, seconds, words = check.split(":", 2)
        command = [CHECK, *words.split()]
        lines.append(f"add_test(check.{name} " + " ".join(quote(word) for word in command) + ")")
        lines.append(f"set_tests_properties(check.{name} PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT {seconds})")
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")


def print_skipped(out):
    """LastTest.log holds for each test `I/N Testing: NAME` and its output between `Output:` and `<end of output>`."""
    reasons = {}
    name = ""
    in_output = False
    for line in (out / "Testing" / "Temporary" / "LastTest.log").read_text(errors="replace").splitlines():
        header = re.match(r"\d+/\d+ Testing: (.*)", line)
        if header:
            name = header.group(1)
        in_output = line == "Output:" or (in_output and line != "<end of output>")
        reason = re.match(r"\s*(?:skipped: |\[\s*SKIPPED\s*\] (?!\d))(.*)", line, re.IGNORECASE)
        if in_output and reason:
            reasons.setdefault(reason.group(1), set()).add(name)
    for reason, names in reasons.items():
        first = ", ".join(sorted(names)[:NAMES_MAX])
        more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
        print(f"skipped: {reason} ({first}{more})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--level", choices=LEVELS, default="push")
    parser.add_argument("--name", default="")
    parser.add_argument("--build", nargs=2, action="append", default=[])
    parser.add_argument("--check", action="append", default=[])
    parser.add_argument("--skipped", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.skipped:
        print_skipped(arguments.skipped)
    else:
        write_suite(arguments)


if __name__ == "__main__":
    main()
