#!/usr/bin/env python3
"""`sluice schema` and `sluice describe --json`: schema_test.py SLUICE SCHEMA_OF_FAKES

Graphs of this repository pass the schema, and wrong graphs do not. On the text cases of the graph reader, with the schema of
their fake plugins, the schema and the reader accept and refuse the same graphs, except for the cases below.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import core_yaml
    import jsonschema
    import yaml
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}; install python3-jsonschema and python3-yaml")
    sys.exit(77)

from common import BRIEF, ROOT

CASES = ROOT / "tests/runtime/graph_cases"

# Errors that no schema of a single file can find.
NEEDS_WIRING = """list_port_cycle ambiguous_input ambiguous_node conditions_absent constant_takes_events cycle cycle_inferred cycle_self cycle_through_list empty_graph
    events events_differ field_reference_cycle field_reference_events events_follow_no_unknown_list layout list_is_not_chosen missing_input no_source only_dependents_offer required_null
    target two_cycles two_sources types wanted_several""".split()
NEEDS_OTHER_TEXT = """bad_block_by_kernel bad_parameter_text_is_no_number bad_set_overrides bad_set_overrides_more bad_use_override bad_use_override_set
    include_broken include_changes_kernel_drops_events include_changes_kernel_to_constant include_loop include_missing include_self
    include_too_many include_with_parameter include_wrong_shows_places bad_with_missing""".split()
PYTHON_TAKES = ["bad_zero_in_string"]  # "\0" in a string, which a schema cannot find
UNSEEN = {f"bad_{name}" for name in NEEDS_WIRING} | set(NEEDS_OTHER_TEXT) | set(PYTHON_TAKES)

WRONG = {
    "an unknown algorithm": ("nodes: { hits: { use: velo.decode_retinal } }", "nodes.hits.use"),
    "an unknown property": ("nodes: { s: { use: velo.search_by_triplet, set: { max_scater: 1.0 } } }", "nodes.s.set"),
    "a value out of range": ("nodes: { s: { use: velo.search_by_triplet, set: { max_scatter: -1.0 } } }", "nodes.s.set.max_scatter"),
    "a string for a number": ('nodes: { s: { use: velo.search_by_triplet, set: { max_scatter: "0.1" } } }', "nodes.s.set.max_scatter"),
    "a number for a string": ("nodes: { g: { use: velo.geometry, set: { path: 7 } } }", "nodes.g.set.path"),
    "a float for a budget": ("nodes: { s: { use: velo.search_by_triplet, set: { candidates_per_event: 1.5 } } }", "nodes.s.set"),
    "an unknown input": ("nodes: { s: { use: velo.search_by_triplet, in: { hit: clusters } } }", "nodes.s.in"),
    "a block of 33": ("nodes: { s: { use: velo.search_by_triplet, block: 33 } }", "nodes.s.block"),
    "an unknown key": ("node: {}", ""),
    "outputs that are no list": ("outputs: tracks", "outputs"),
    "a name with a blank": ("nodes: { my hits: { use: velo.geometry } }", "nodes"),
    "a map as a parameter": ("parameters: { geometry: { a: 1 } }", "parameters.geometry"),
}


def sluice(*arguments):
    return subprocess.run([sys.argv[1], *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def places(validator, text):
    """Paths of the errors in a text; "yaml" if it cannot be parsed."""
    try:
        return [".".join(map(str, error.absolute_path)) for error in validator.iter_errors(core_yaml.load(text))]
    except (yaml.YAMLError, ValueError):
        return ["yaml"]


def our_graphs():
    for path in [*sorted((ROOT / "graphs").rglob("*.yaml")), *sorted((ROOT / "bench").glob("*.yaml"))]:
        yield path, path.read_text()
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for block in re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            if block.startswith("sluice: 1"):
                yield page, block


def wrong_graphs_are_refused(validator):
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "wrong.yaml"
        for what, (text, place) in WRONG.items():
            graph.write_text("sluice: 1\n" + text + "\n")
            found = places(validator, graph.read_text())
            assert any(p.startswith(place) for p in found), f"{what}: the schema says {found}, not {place}"
            checked = subprocess.run([sys.argv[1], "check", graph], capture_output=True, text=True)
            assert checked.returncode == 2, f"{what}: sluice check accepts it"


def reader_and_schema_agree(validator):
    cases, unseen = 0, set()
    for path in sorted(CASES.glob("*.yaml")):
        cases += 1
        is_good = "error:" not in path.with_suffix(".expected").read_text()
        wrong = places(validator, path.read_text())
        assert not (is_good and wrong), f"{path.name}: the reader accepts it, the schema refuses {wrong}"
        if not is_good and not wrong:
            unseen.add(path.stem)
    assert cases >= 90
    assert unseen == UNSEEN, f"refused by the reader only: {sorted(unseen ^ UNSEEN)} changed"
    return cases


def descriptions_agree(schema):
    """describe --json and the schema have the same properties and ports for each algorithm."""
    rules = {rule["if"]["properties"]["use"]["const"]: rule["then"] for rule in schema["definitions"]["node"]["allOf"]}
    collections = set()
    for use, rule in list(rules.items())[::10 if BRIEF else 1]:
        algorithm = json.loads(sluice("describe", use, "--json"))
        assert algorithm["plugin"] + "." + algorithm["name"] == use
        keys = rule["properties"]["set"]["properties"].keys() - {"variant"}
        assert keys == {p["name"] for p in algorithm["properties"]} - {"variant"}, use
        assert list(rule["properties"]["in"]["properties"]) == [port["name"] for port in algorithm["inputs"]], use
        assert rule["x-outputs"] == {port["name"]: port["collection"] for port in algorithm["outputs"]}, use
        collections |= {port["collection"] for port in algorithm["inputs"] + algorithm["outputs"]}
    for name in collections:
        fields = json.loads(sluice("describe", name, "--json"))["fields"]
        assert fields and all(field["doc"] for field in fields), name
    plugin = json.loads(sluice("describe", "velo", "--json"))
    assert {f"velo.{name}" for name in plugin["files"][0]["algorithms"]} <= rules.keys()
    return len(rules), len(collections)


def main():
    schema = json.loads(sluice("schema"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    found = {rule["if"]["properties"]["use"]["const"].split(".")[0] for rule in schema["definitions"]["node"]["allOf"]}
    graphs = 0
    for path, text in our_graphs():
        absent = set(re.findall(r"use: *(\w+)\.", text)) - found
        if absent:
            print(f"skipped: {path.name}, which uses {', '.join(absent)}, a plugin that was not built")
            continue
        graphs += 1
        assert not places(validator, text), f"{path}: {places(validator, text)}"
    assert graphs >= 6
    wrong_graphs_are_refused(validator)
    fakes = json.loads(subprocess.run([sys.argv[2]], check=True, capture_output=True, text=True).stdout)
    jsonschema.Draft7Validator.check_schema(fakes)
    cases = reader_and_schema_agree(jsonschema.Draft7Validator(fakes))
    algorithms, collections = descriptions_agree(schema)
    print(f"{graphs} graphs, {len(WRONG)} wrong ones, {cases} cases, {algorithms} algorithms, {collections} collections")


main()
