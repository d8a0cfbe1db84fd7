#!/usr/bin/env python3
"""Event filters with a condition, generic.filter_where: each limit on both sides, against conditions in Python over tables of the
items; NaN, events without items, links, fields of events beside those of items; equal lists for any slices, slots and targets;
explanations; errors name the character."""
import csv
import json
import math
import tempfile
from pathlib import Path

from common import BRIEF, ROOT, Checks, call

checks = Checks()
EVENTS = 60 if BRIEF else 300
TABLES = ("odin", "particles", "pv", "v0")
BASE = f"""sluice: 1
include: [{ROOT}/graphs/secondary_vertices.yaml]
nodes:
  odin: {{ use: odin.decode }}
"""


def single(text):
    """A literal that is read as the same 32-bit float as the text of a table."""
    return f"{float(text):.9g}"


def make_tables(folder):
    graph = folder / "tables.yaml"
    graph.write_text(BASE + "".join(
        f"  write_{t}: {{ use: output.csv_sink, set: {{ output: {t}, path: {folder}/{t}.csv }} }}\n" for t in TABLES)
        + f"outputs: [{', '.join(TABLES)}]\n")
    call("run", graph, "-n", EVENTS, "--quiet")
    return {t: list(csv.DictReader((folder / f"{t}.csv").open())) for t in TABLES}


class Tables:
    """The items of each event, as rows of numbers."""

    def __init__(self, rows):
        self.events = [row["event"] for row in rows["odin"]]
        self.odin = {row["event"]: row for row in rows["odin"]}
        self.items = {t: {event: [] for event in self.events} for t in TABLES}
        for t in TABLES[1:]:
            for row in rows[t]:
                if row["index"]:
                    self.items[t][row["event"]].append(row)

    def counts(self, table, condition):
        return {e: sum(condition(row, e) for row in self.items[table][e]) for e in self.events}

    def sorted_values(self, table, name):
        return sorted(float(row[name]) for rows in self.items[table].values() for row in rows)


def cases(t):
    """Filters: name, properties, expected events."""
    found = []

    def add(where, counts, low=1, high=math.inf):
        text = f"where: \"{where}\"" + (f", min_count: {low}" if low != 1 else "") + (f", max_count: {high}" if high != math.inf else "")
        found.append((f"f{len(found)}", text, [e for e in t.events if low <= counts[e] <= high]))

    # Both sides of a limit that is the value of an item: with a minimum that the event of this item reaches only with it.
    for table, name, at in (("particles", "pt", 0.97), ("particles", "ip", 0.5), ("pv", "z", 0.5), ("pv", "x", 0.1)):
        values = t.sorted_values(table, name)
        limit = values[int(at * len(values))]
        event = next(e for e, rows in t.items[table].items() if any(float(row[name]) == limit for row in rows))
        for signs in (((">=", float.__ge__), (">", float.__gt__)), (("<=", float.__le__), ("<", float.__lt__))):
            counts = [t.counts(table, lambda row, e, c=compare, n=name: c(float(row[n]), limit)) for _, compare in signs]
            for (sign, _), own in zip(signs, counts):
                add(f"{table}: {name} {sign} {single(limit)}", own, counts[0][event])
            checks.that(event in found[-2][2] and event not in found[-1][2], f"{table}.{name}: an event decides on {signs[0][0]} or {signs[1][0]}")
    # Both sides of the limits of the number of items; a range of z as in a filter on vertices.
    middle = t.sorted_values("pv", "z")
    low, high = middle[len(middle) // 4], middle[3 * len(middle) // 4]
    counts = t.counts("pv", lambda row, e: low <= float(row["z"]) < high)
    where = f"pv: z >= {single(low)} and z < {single(high)}"
    for k in sorted(set(counts.values()))[:4]:
        for least, most in ((k, math.inf), (k + 1, math.inf), (0, k), (k, k)):
            add(where, counts, least, most)
    # All items, none, and events without items.
    everything = t.counts("v0", lambda row, e: True)
    checks.that(0 in everything.values() and max(everything.values()) > 0, "some events have no secondary vertex")
    add("v0:", everything)
    add("v0:", everything, 0, 0)
    add("v0: ", everything, 2, 3)
    add("v0: z > 1e9", t.counts("v0", lambda row, e: False))
    add("v0: z > 1e9", t.counts("v0", lambda row, e: False), 0)
    # NaN fulfils no comparison.
    add("pv: sqrt(z - 1e15) < 1e9", t.counts("pv", lambda row, e: False))
    add("pv: not sqrt(z - 1e15) < 1e9", t.counts("pv", lambda row, e: True))
    # Links, a function of the items, and fields of events.
    particles = t.items["particles"]
    add("v0: first.p > second.p", t.counts("v0", lambda row, e: float(particles[e][int(row["first"])]["p"])
                                           > float(particles[e][int(row["second"])]["p"])))
    add("v0: mass(pi, pi) > 0", everything)
    bunches = sorted(int(row["bunch"]) for row in t.odin.values())
    bunch = bunches[len(bunches) // 2]
    fast = t.sorted_values("particles", "pt")[len(t.sorted_values("particles", "pt")) // 2]
    add(f"particles: pt > {single(fast)} and odin.bunch < {bunch}",
        t.counts("particles", lambda row, e: float(row["pt"]) > fast and int(t.odin[e]["bunch"]) < bunch), 3)
    # Conditions of events.
    for text, passes in ((f"odin: bunch < {bunch}", lambda o: int(o["bunch"]) < bunch), (f"odin.bunch <= {bunch}", lambda o: int(o["bunch"]) <= bunch),
                         ("odin: has(event_type, 2) and bunch > 100", lambda o: int(o["event_type"]) & 2 and int(o["bunch"]) > 100),
                         (f"odin.event_number == {t.odin[t.events[3]]['event_number']}", lambda o: o["event_number"] == t.odin[t.events[3]]["event_number"])):
        add(text, {e: 1 if passes(t.odin[e]) else 0 for e in t.events})
    return found


def write_graph(folder, filters, extra=""):
    graph = folder / "filters.yaml"
    names = ", ".join(name for name, *_ in filters)
    graph.write_text(BASE + "".join(f"  {name}: {{ use: generic.filter_where, set: {{ {text} }} }}\n" for name, text, _ in filters) + extra
                     + f"  lists: {{ use: generic.gather_lists, in: {{ lists: [{names}] }} }}\noutputs: [lists.decisions, lists.totals]\n")
    return graph


def compare(folder, t):
    filters = cases(t)
    graph = write_graph(folder, filters, f"  write: {{ use: output.csv_sink, set: {{ output: lists.decisions, path: {folder}/lists.csv }} }}\n")
    call("run", graph, "-n", EVENTS, "--quiet")
    passed = {name: [] for name, *_ in filters}
    for row in csv.DictReader((folder / "lists.csv").open()):
        if row["index"]:
            passed[filters[int(row["list"])][0]].append(row["event"])
    for name, text, expected in filters:
        checks.that(passed[name] == expected, f"{text}: {len(expected)} events")
    checks.that(sum(0 < len(expected) < EVENTS for *_, expected in filters) > 25, "most filters pass some events and reject some")
    return write_graph(folder, filters)


def compare_runs(folder, graph):
    def digests(path, *arguments):
        done = call("run", path, "--digest", "--json", "-", "--quiet", *arguments)
        return [o["digest"] for o in json.loads(done.stdout)["outputs"]]

    reference = digests(graph, "-n", EVENTS)
    for arguments in (("--slots", 3, "--slice-events", 7), ("--slice-events", 1), ("--guard",)):
        checks.that(digests(graph, "-n", EVENTS, *arguments) == reference, f"equal lists with {arguments}")
    expected = digests(graph, "-n", 8)
    for seed, block in ((1, 64), (2, 32), (3, 128)):
        blocks = ("--set", f"f0.block={block}", "--set", f"f5.block={block}")
        checks.that(digests(graph, "-n", 8, "--device", "simt", "--set", f"simt.seed={seed}", *blocks) == expected, f"equal lists on simt, seed {seed}")
    canonical = folder / "canonical.yaml"
    canonical.write_text(call("graph", graph, "--yaml").stdout)
    checks.that(digests(canonical, "-n", EVENTS) == reference, "the whole graph as text has the same lists")


def check_lists(folder):
    """A filter counts events of its list only."""
    graph = folder / "chain.yaml"
    graph.write_text(BASE + """  late:  { use: generic.filter_where, set: { where: "odin: bunch > 1000" } }
  both:  { use: generic.filter_where, events: late, set: { where: "pv:" } }
  all:   { use: generic.filter_where, set: { where: "pv:" } }
  lists: { use: generic.gather_lists, in: { lists: [late, both, all] } }
outputs: [lists.totals]
""")
    totals = json.loads(call("run", graph, "-n", EVENTS, "--json", "-", "--quiet").stdout)["totals"]["lists.totals"]
    late, both, everything = (totals[name]["events"] for name in ("late", "both", "all"))
    checks.that(0 < both <= late < everything, f"a filter on a list: {both} of {late} events, {everything} without the list")


def check_explanations(folder, t):
    counts = t.counts("pv", lambda row, e: float(row["z"]) > 0)
    event = next(e for e in t.events if 1 < counts[e] < len(t.items["pv"][e]))
    graph = write_graph(folder, [("few", 'where: "pv: z > 0 mm", max_count: 1', None), ("late", 'where: "odin.bunch < 0"', None)])
    text = call("explain", graph, "-n", EVENTS, "--event", t.odin[event]["event_number"]).stdout
    rows = {row.split()[0]: row for row in text.splitlines() if row.startswith(("few ", "late "))}
    checks.that(f"{counts[event]} of {len(t.items['pv'][event])}" in rows["few"] and "not <= 1 (max_count)" in rows["few"],
                "an explanation counts the items and names the limit: " + rows["few"])
    checks.that("not met: the condition where" in rows["late"], "a condition of events is explained: " + rows["late"])


# Properties, the text at the position of the error, the error.
WRONG = (
    ('where: "pv: zz > 2"', "zz", "node f: where: there is no `zz`; did you mean z?"),
    ('where: "pv: z > 2 GeV"', "GeV", "`z` is a length in mm, but `2 GeV` is an energy in MeV"),
    ('where: "pvs: z > 2"', "pvs", "node f: where: the graph has no node `pvs`"),
    ('where: "pv: z + 2"', "z + 2", "generic.filter_where needs a condition, such as pt > 500, but this is a number"),
    ('where: "odin:"', "odin:", "odin.odin has no items to count; write a condition after the colon"),
    ('where: "z > 2"', "z > 2", "`z` is no field; write NODE.z, or NODE: before the expression"),
    ('where: ""', '""', "the expression names no field"),
    ('where: "fit: z > 2"', "fit", "`fit` is ambiguous; choose one of: fit.beamline_states"),
    ('where: "pv: z > v0.z"', "v0.z", "`v0.z` has the items of v0.pairs, but `pv.z` has those of pv.vertices"),
    ('where: "f:"', "f:", "the expression depends on its own values"),
    ('where: "pv:", min_count: 3, max_count: 2', "2 }", "max_count: 2 is less than min_count, 3: no event would pass"),
    ('where: "odin: bunch > 3", min_count: 2', "min_count", "generic.filter_where_of_events has no property `min_count`"),
    ('where: "pv:", items: pv.z', "items", "`items` is set by the expression"),
    ("min_count: 2", "{", "generic.filter_where needs an expression"),
)


def check_errors(folder):
    graph = folder / "wrong.yaml"
    for properties, at, message in WRONG:
        line = f"  f: {{ use: generic.filter_where, set: {{ {properties} }} }}"
        graph.write_text(BASE + line + "\noutputs: [f]\n")
        done = call("check", graph, expect=2)
        text = done.stdout + done.stderr
        where = next((row for row in text.splitlines() if message in row), "")
        position = where.split(": error")[0].rsplit(":", 1)[-1]
        begin = line.index(at, line.index("set:") if at != "{" else 0)
        ok = position.isdigit() and abs(int(position) - 1 - begin) <= (60 if at == "{" else 1)
        checks.that(where and ok, f"{properties}: {where or text}")


with tempfile.TemporaryDirectory() as name:
    own = Path(name)
    tables = Tables(make_tables(own))
    compare_runs(own, compare(own, tables))
    check_lists(own)
    check_explanations(own, tables)
    check_errors(own)
checks.end()
