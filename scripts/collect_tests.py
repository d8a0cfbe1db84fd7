#!/usr/bin/env python3
"""Makes one CTest suite of the tests of several builds, and tells why tests were skipped.

--out FOLDER --build FOLDER[:REGEX]... [--brief BUILD]... --check NAME:SECONDS:ARGUMENTS...
    writes FOLDER/CTestTestfile.cmake. What each build's ctest lists becomes BUILD.NAME with the label BUILD (only names
    that match REGEX, if given), after a test BUILD.build that the build is complete; without it the others don't run.
    Tests of builds after --brief see SLUICE_TEST_BRIEF (tests/graphs/common.py).
--skipped FOLDER
    prints the lines in which the last run's tests said that they skip something.
"""
import argparse
import json
import pathlib
import re
import subprocess

NAMES_MAX = 2
CHECK = pathlib.Path(__file__).resolve().with_name("check")


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


def tests_of_build(folder, pattern, is_brief):
    """Lines of CTestTestfile.cmake for one build."""
    build = folder.name
    fixture = f"{build}-built"
    yield f"add_test({build}.build cmake --build {quote(folder)})"
    yield f"set_tests_properties({build}.build PROPERTIES FIXTURES_SETUP {fixture} LABELS {build} RUN_SERIAL TRUE TIMEOUT 900)"
    listing = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], capture_output=True, text=True)
    if listing.returncode != 0:
        return
    for test in json.loads(listing.stdout)["tests"]:
        if "command" not in test or not re.search(pattern, test["name"]):
            continue
        name = f"{build}.{test['name']}"
        properties = {item["name"]: item["value"] for item in test["properties"]}
        properties["LABELS"] = properties.get("LABELS", []) + [build]
        if is_brief:
            properties["ENVIRONMENT"] = properties.get("ENVIRONMENT", []) + ["SLUICE_TEST_BRIEF=1"]
        for kind in ("FIXTURES_SETUP", "FIXTURES_REQUIRED", "FIXTURES_CLEANUP"):
            if kind in properties:
                properties[kind] = [f"{build}-{fixture_name}" for fixture_name in properties[kind]]
        properties["FIXTURES_REQUIRED"] = properties.get("FIXTURES_REQUIRED", []) + [fixture]
        if "DEPENDS" in properties:
            properties["DEPENDS"] = [f"{build}.{other}" for other in properties["DEPENDS"]]
        yield f"add_test({quote(name)} " + " ".join(quote(word) for word in test["command"]) + ")"
        pairs = " ".join(f"{key} {quote(value(item))}" for key, item in properties.items() if not key.startswith("_"))
        yield f"set_tests_properties({quote(name)} PROPERTIES {pairs})"


def write_suite(out, builds, brief, checks):
    lines = []
    for build in builds:
        folder, _, pattern = build.partition(":")
        lines += tests_of_build(pathlib.Path(folder), pattern, pathlib.Path(folder).name in brief)
    for check in checks:
        name, seconds, words = check.split(":", 2)
        command = [CHECK, *words.split()]
        lines.append(f"add_test(check.{name} " + " ".join(quote(word) for word in command) + ")")
        lines.append(f"set_tests_properties(check.{name} PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT {seconds})")
    out.mkdir(parents=True, exist_ok=True)
    (out / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")


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
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--brief", action="append", default=[])
    parser.add_argument("--check", action="append", default=[])
    parser.add_argument("--skipped", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.skipped:
        print_skipped(arguments.skipped)
    else:
        write_suite(arguments.out, arguments.build, arguments.brief, arguments.check)


if __name__ == "__main__":
    main()
