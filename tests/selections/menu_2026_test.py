#!/usr/bin/env python3
"""Lines of graphs/hlt1_2026.yaml against the requirements in menu_2026_cuts.py: candidates on both sides of each limit, for the
expressions that the graph resolves; scales, seeds, containers, lists of events and properties; all lines are there. Each comparison of
an expression matters: without it a candidate would be decided otherwise."""
import ctypes
import json
import re

from algorithm import Algorithm
from common import ROOT, Checks, call
from menu_2026_candidates import cases_of, give
from menu_2026_cuts import COMPILED, LEFT_OUT, LINES, REDUNDANT

ALGORITHMS = {"composites_of_composites": "composites"}
ALWAYS, NEVER = "1 > 0", "1 < 0"
checks = Checks(says_passed=False)


def lines_of_graph():
    """{line without Hlt1: node} of the graph that users run."""
    nodes = json.loads(call("graph", ROOT / "graphs/hlt1_2026.yaml", "--lines", "--json").stdout)["nodes"]
    return {node["node"][4:]: node for node in nodes if node["node"].startswith("Hlt1")}


def in_single_precision(value):
    if isinstance(value, list):
        return [in_single_precision(one) for one in value]
    return ctypes.c_float(value).value if isinstance(value, float) else value


def check_names(graph):
    known = [*LINES, *COMPILED, *LEFT_OUT]
    checks.that(len(known) == len(set(known)) == 136, f"{len(set(known))} different lines in {len(known)}")
    checks.that(graph.keys() == LINES.keys() | COMPILED.keys(), f"other lines in the graph: {sorted(graph.keys() ^ (LINES.keys() | COMPILED.keys()))}")


def check_settings(name, node, algorithm, events, pre, post, seeds):
    found = node["properties"]
    checks.that(node["algorithm"] == f"selections.{algorithm}", f"{name}: algorithm {node['algorithm']}")
    checks.that(node["events"] == [events] and not node["any_event_list"], f"{name}: events {node['events']}, not {events}")
    for property_name, expected in zip(("pre_scale", "post_scale", "pre_seed", "post_seed"), (float(pre), float(post), *seeds)):
        value = in_single_precision(float(found[property_name]) if isinstance(expected, float) else found[property_name])
        checks.that(value == in_single_precision(expected), f"{name}: {property_name} {found[property_name]}, not {expected}")


def check_compiled(graph):
    for name, (algorithm, events, pre, post, seeds, properties) in COMPILED.items():
        check_settings(name, graph[name], algorithm, events, pre, post, seeds)
        own = {key: value for key, value in graph[name]["properties"].items() if not re.match("(pre|post)_", key)}
        expected = {key: in_single_precision(value) for key, value in properties.items()}
        checks.that({key: in_single_precision(value) for key, value in own.items()} == expected, f"{name}: {own}, not {properties}")


def containers_of(line, node):
    """The nodes of the candidates and of their children."""
    inputs = node["inputs"]
    ports = {"vertex_pairs": ["candidates", "first", "second"], "composites": ["candidates", "secondary_vertices"],
             "composites_of_composites": ["candidates", "secondary_vertices", "composites"], "events": []}
    return [source for port in ports.get(line.kind, ["candidates"]) for source in inputs[port]]


class Candidates:
    """The candidates of a line with the connected inputs of its node."""

    def __init__(self, line, node):
        cases = list(cases_of(line))
        self.texts, candidates, self.expected = zip(*cases)
        self.algorithm = Algorithm("selections", "where_" + ALGORITHMS.get(line.kind, line.kind), len(candidates))
        self.per_event = line.kind == "events"
        give(self.algorithm, line.kind, candidates, node["inputs"])

    def decide(self, expression):
        self.algorithm.set_text("where", expression)
        self.algorithm.run()
        if self.per_event:
            return [value != 0 for value in self.algorithm.get("decisions", "passed", ctypes.c_uint8)[:len(self.expected)]]
        return [value != 0 for value in self.algorithm.get("decisions", "accepted", ctypes.c_uint8)[:len(self.expected)]]


def end_of(text, at, step):
    """Where a comparison with the operator at `at` begins (step -1) or ends (step 1): at `and`, `or`, or a parenthesis around it."""
    inner, outer = ")(" if step < 0 else "()"
    depth = 0
    while 0 <= at < len(text):
        depth += (text[at] == inner) - (text[at] == outer)
        if depth < 0 or depth == 0 and text[at] == " " and re.search(r"\b(and|or|not)$" if step < 0 else r"^ (and|or)\b", text[:at] if step < 0 else text[at:]):
            break
        at += step
    return at + 1 if step < 0 else at


def comparisons_of(text):
    """Begin and end of each comparison, or `has(...)`, in an expression."""
    found = [(match.start(), match.end()) for match in re.finditer(r"\bhas\([^()]*\)", text)]
    found += [(end_of(text, match.start() - 1, -1), end_of(text, match.end(), 1)) for match in re.finditer(r"[<>=!]=|[<>]", text)]
    return sorted((begin + len(text[begin:end]) - len(text[begin:end].lstrip()), begin + len(text[begin:end].rstrip())) for begin, end in found)


def check_line(name, line, node):
    """Returns the comparisons that no candidate depends on."""
    check_settings(name, node, "where_" + ALGORITHMS.get(line.kind, line.kind), line.events, line.pre, line.post, line.seeds)
    checks.that(containers_of(line, node) == line.containers, f"{name}: candidates {containers_of(line, node)}, not {line.containers}")
    expression = node["properties"]["where"]
    candidates = Candidates(line, node)
    found = candidates.decide(expression)
    for text, accepted, expected in zip(candidates.texts, found, candidates.expected):
        checks.that(accepted == expected, f"{name}: {text}: {'accepted' if accepted else 'rejected'}")
    unused, rest = set(), expression
    for begin, end in reversed(comparisons_of(expression)):
        rest = rest[:begin] + rest[end:]
    checks.that(re.fullmatch(r"( |\(|\)|and|or|not)*", rest), f"{name}: not a comparison: {rest}")
    for begin, end in comparisons_of(expression):
        for other in (ALWAYS, NEVER) if " or " in expression else (ALWAYS,):
            if candidates.decide(f"{expression[:begin]}{other}{expression[end:]}") == found:
                unused.add((name, expression[begin:end]))
    return unused, len(found)


graph = lines_of_graph()
check_names(graph)
check_compiled(graph)
unused, count = set(), 0
for name, line in LINES.items():
    if name in graph:
        of_line, candidates = check_line(name, line, graph[name])
        unused |= of_line
        count += candidates
listed = {one for group in REDUNDANT.values() for one in group}
for name, comparison in sorted(unused - listed):
    checks.that(False, f"{name}: no candidate depends on {comparison}")
for name, comparison in sorted(listed - unused):
    checks.that(False, f"{name}: {comparison} is listed as redundant, but it is not there, or a candidate depends on it")
print(f"{len(LINES)} expressions, {count} candidates; {len(listed)} comparisons are redundant")
checks.end()
