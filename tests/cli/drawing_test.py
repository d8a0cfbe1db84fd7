#!/usr/bin/env python3
"""`sluice graph`: drawing_test.py SLUICE TOY_FOLDER. With --all the drawings have exactly the wiring that `sluice check` prints; bytes per event are those of `sluice plan`. By default long lists of nodes are one box, constants
are hidden, and the pictures of all graphs of the repository fit on a screen; Graphviz draws them."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LISTS = HERE / "files/toy/lists.yaml"
TOY = ("--plugin-path", sys.argv[2])


def sluice(*arguments, **options):
    return subprocess.run([sys.argv[1], *map(str, arguments)], check=True, capture_output=True, text=True, **options).stdout


def wiring(path, *arguments):
    """{(from node, from port, to node, to input or None for an event list)} of `check`, without nodes that are left out. A
    field counts as its port."""
    arrows, node = set(), None
    for line in sluice("check", path, *arguments).splitlines():
        if line.startswith("outputs:"):
            break
        if not line.startswith(" "):
            node = line.split()[0]
        elif "<-" in line:
            name, _, port, *_ = line.split()
            arrows.add((*port.split(".")[:2], node, None if name == "events" else name.split("[")[0]))
    return arrows


def ports(dot):
    """{node: {port id: name}} from the tables of DOT."""
    return {
        match[1]: dict(re.findall(r'PORT="(p\d+)"[^>]*><FONT[^>]*>(\w+)<', match[2]))
        for match in re.finditer(r'^  "(\w+)" \[tooltip=.*?label=<(.*)>\];$', dot, re.MULTILINE)
    }


def check_dot(path, *arguments):
    dot = sluice("graph", path, "--all", *arguments)
    names = ports(dot)
    arrows, outputs = set(), 0
    for source, port, target, end, rest in re.findall(r'^  "(\w+)":(p\d+):s -> "([\w ]+)":?(\w+)?(.*);$', dot, re.MULTILINE):
        if target.startswith("output "):
            outputs += 1
        elif "style=dotted" not in rest:
            arrows.add((source, names[source][port], target, None if end == "name" else names[target][end]))
    assert arrows == wiring(path, *arguments), arrows ^ wiring(path, *arguments)
    assert outputs == len(re.findall(r'^  "output \d+" \[', dot, re.MULTILINE))
    return dot


def check_mermaid(path, *arguments):
    text = sluice("graph", path, "--all", "--mermaid", "-", *arguments)
    names = dict(re.findall(r'^  n(\d+)\["<b>(\w+)</b>', text, re.MULTILINE))
    dead = {names[n] for n in re.findall(r"^  n(\d+)\[.*:::dead$", text, re.MULTILINE)}
    arrows = {
        (names[source], port, names[target])
        for source, port, target in re.findall(r'^  n(\d+) -- "(\w+): .*" --> n(\d+)$', text, re.MULTILINE)
        + re.findall(r'^  n(\d+) -\. "events: (\w+)" \.-> n(\d+)$', text, re.MULTILINE)
    }
    expected = {arrow[:3] for arrow in wiring(path, *arguments)}
    assert {arrow for arrow in arrows if arrow[2] not in dead} == expected, arrows ^ expected
    return text


def bytes_follow_from_the_plan(path):
    plan = sluice("plan", path)
    events = int(re.search(r"slices of (\d+) events", plan)[1])
    fields = [(name.split("."), int(size)) for name, size in re.findall(r"^(\S+) +(\d+)  ", plan, re.MULTILINE)]
    whole = sum(size for name, size in fields if name[:2] == ["tracks", "tracks"]) / events
    label = re.search(r'"tracks":p\d+:s -> "output \d+":n \[label="  ([\d.]+) KiB/event"\]', sluice("graph", path))[1]
    assert abs(float(label) * 1024 / whole - 1) < 0.01, (label, whole)


def nodes_of(dot):
    return set(re.findall(r'^  "(\w+)" \[tooltip=', dot, re.MULTILINE))


def arrows_of(dot):
    """{(box, box)}"""
    return set(re.findall(r'^  "([\w ]+)"(?::\w+)*(?::s)? -> "([\w ]+)"', dot, re.MULTILINE))


def draw(path, *arguments):
    """Graphviz takes the default picture, and draws each box and arrow; and the picture fits on a screen."""
    dot = sluice("graph", path, *arguments)
    drawn = ElementTree.fromstring(sluice("graph", path, "--svg", "-", *arguments))
    classes = [group.get("class") for group in drawn.iter("{http://www.w3.org/2000/svg}g")]
    boxes = len(re.findall(r'^  "[\w ]+" \[(?:tooltip|shape)=', dot, re.MULTILINE))
    assert classes.count("node") == boxes and classes.count("edge") == dot.count(" -> "), path
    assert float(drawn.get("width")[:-2]) <= 2500 and float(drawn.get("height")[:-2]) <= 2500, (path, drawn.attrib)


def default_picture():
    """The lines of the trigger are one box with all names in its tooltip; no constants; event lists are text."""
    path = ROOT / "graphs/hlt1_pp_default.yaml"
    dot = sluice("graph", path)
    [tooltip] = re.findall(r'tooltip="([^"]*)" label=.*<B>lines: 66 nodes</B>', dot)
    assert len(tooltip.split(", ")) == 66 and "Hlt1TwoTrackMVA" in tooltip
    assert "geometry" not in nodes_of(dot) and "geometry" in nodes_of(sluice("graph", path, "--constants"))
    assert "style=dashed" not in dot and "<BR/>" in dot and "events: gec<" in dot and "output: decisions, totals<" in dot
    assert "PORT=\"p0\"" not in dot and "PORT=\"p0\"" in sluice("graph", path, "--ports")
    assert len(nodes_of(dot)) < 50 and "<b>lines: 66 nodes</b>" in sluice("graph", path, "--mermaid", "-")
    assert "output: decisions, totals" in sluice("graph", path, "--mermaid", "-")


def parts():
    """--from, --to and --depth, against the wiring of `check`."""
    path = ROOT / "graphs/hlt1_pp_default.yaml"
    pairs = {(arrow[0], arrow[2]) for arrow in wiring(path)}

    def reached(start, pairs, depth=1000):
        found = {start}
        for _ in range(depth):
            found |= {b for a, b in pairs if a in found}
        return found

    back = {(b, a) for a, b in pairs}
    whole = ("graph", path, "--all")
    for arguments, expected in {
        ("--from", "particles"): reached("particles", pairs),
        ("--to", "particles"): reached("particles", back),
        ("--from", "tracks", "--to", "particles"): reached("tracks", pairs) & reached("particles", back),
        ("--from", "tracks", "--depth", "1"): reached("tracks", pairs, 1),
        ("--to", "Hlt1TwoTrackMVA", "--depth", "2"): reached("Hlt1TwoTrackMVA", back, 2),
        ("--from", "tracks", "--to", "particles", "--depth", "2"): reached("tracks", pairs, 2) & reached("particles", back),
        ("--from", "scores", "--from", "key"): reached("scores", pairs) | reached("key", pairs),
    }.items():
        found = nodes_of(sluice(*whole, *arguments))
        assert found == expected, (arguments, found ^ expected)
    shallow = nodes_of(sluice("graph", path, "--depth", "1"))
    assert shallow == reached("raw", pairs, 1), shallow
    assert nodes_of(sluice("graph", path, "--from", "geometry", "--depth", "1")) >= {"geometry", "clusters"}, "a named constant"


def files():
    """graph and plan write a drawing to its file, and print nothing."""
    path = ROOT / "graphs/velo.yaml"
    with tempfile.TemporaryDirectory() as folder:
        for command, option in (("graph", "--dot"), ("graph", "--mermaid"), ("plan", "--svg")):
            target = Path(folder) / option[2:]
            assert sluice(command, path, option, target) == "" and target.read_text() == sluice(command, path, option, "-")
        if shutil.which("dot"):
            target = Path(folder) / "graph.svg"
            assert sluice("graph", path, "--svg", target) == "" and target.read_text().rstrip().endswith("</svg>")


def without_dot():
    done = subprocess.run([sys.argv[1], "graph", ROOT / "graphs/velo.yaml", "--svg", "-"], env={**os.environ, "PATH": "/nowhere"},
                          capture_output=True, text=True)
    assert done.returncode == 1 and "install the package graphviz" in done.stderr, done


def any_text_is_drawn():
    """With any bytes in titles, docs and file names, pictures are valid XML and results valid JSON."""
    titles = [rb'"\ufffe\uffff\x01\x85 <&>\U0001fffe"', b"cut \xc3 \xed\xa0\x80 \xff\x07 ]]> &"]
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(os.fsencode(folder), b"any \xff\x01<\xef\xbf\xbe.yaml")
        Path(os.fsdecode(graph)).write_text(
            "sluice: 1\ninclude: [velo_pv.yaml]\nnodes:\n  h: { use: generic.histogram, set: { of: pv.z, bins: 3 } }\n"
            "  write: { use: output.histogram_sink }\noutputs: [h]\n")
        for title in titles:
            for name in ("h.svg", "h.json"):
                subprocess.run([sys.argv[1], "run", graph, "-q", "-n", "1", "--set", b"h.title=" + title, "-o", name, "--json",
                                "summary.json"], check=True, cwd=folder)
                json.loads(Path(folder, "summary.json").read_bytes().decode())
            ElementTree.parse(Path(folder, "h.svg"))
            json.loads(Path(folder, "h.json").read_bytes().decode())
        subprocess.run([sys.argv[1], "plan", graph, "--svg", "plan.svg"], check=True, cwd=folder, capture_output=True)
        ElementTree.parse(Path(folder, "plan.svg"))
        if shutil.which("dot"):
            ElementTree.fromstring(subprocess.run([sys.argv[1], "graph", graph, "--svg", "-"], check=True, capture_output=True).stdout)


def main():
    any_text_is_drawn()
    graphs = [(path,) for path in sorted((ROOT / "graphs").glob("*.yaml"))] + [(LISTS, *TOY)]
    assert len(graphs) > 4
    texts = {graph: check_dot(*graph) for graph in graphs}
    mermaid = [check_mermaid(*graph) for graph in graphs]
    assert "(left out)" in texts[(LISTS, *TOY)] and "(left out)" in mermaid[-1]
    bytes_follow_from_the_plan(ROOT / "graphs/velo.yaml")
    default_picture()
    parts()
    files()
    without_dot()
    if not shutil.which("dot"):
        print("skipped: no program dot to draw with; install graphviz; the rest passed")
        sys.exit(77)
    for graph in graphs:
        draw(*graph)
    print(f"{len(graphs)} graphs as text and drawn")


main()
