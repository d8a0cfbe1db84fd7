#!/usr/bin/env python3
"""Files written by `sluice plan`: plan_files_test.py SLUICE. Offsets are checked independently, pair by pair; in drawings each
buffer has a bar, to scale. Problems cut from a rectangle (bench/planner.py) must be solved exactly. The six problems of
SLUICE_DATA/minimalloc must fit their capacity."""
import csv
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = Path(os.environ.get("SLUICE_DATA", ROOT.parent / "shared/data"))
CAPACITY = 1048576
SVG = "{http://www.w3.org/2000/svg}"


def sluice(*arguments):
    return subprocess.run([sys.argv[1], *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def check_offsets(path, problem, capacity):
    rows = [{**row, **{key: int(row[key]) for key in ("lower", "upper", "size", "offset")}} for row in csv.DictReader(open(path))]
    assert [row["id"] for row in rows] == [row["id"] for row in csv.DictReader(open(problem))], "ids are kept, in order"
    for i, a in enumerate(rows):
        assert a["offset"] + a["size"] <= capacity, a
        for b in rows[:i]:
            together = a["lower"] < b["upper"] and b["lower"] < a["upper"]
            apart = a["offset"] + a["size"] <= b["offset"] or b["offset"] + b["size"] <= a["offset"]
            assert apart or not together, (a, b)
    return rows


def bars(svg):
    """{name: (bytes, offset, height of the bar)} of a drawing. The tooltip and the text for the pointer, above the plot,
    begin with the name and the rounded bytes."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(SVG + "g"):
        tooltip = group.find(SVG + "title").text.split("\n")
        (pointed,) = [text.text for text in group.findall(SVG + "text") if text.get("class") == "pointed"]
        (bar,) = [rect for rect in group.findall(SVG + "rect") if rect.get("class") == "live"]
        size, offset = int(group.get("data-bytes")), int(group.get("data-offset"))
        assert tooltip[1] == f"{rounded(size)} at {rounded(offset)}" and pointed == ", ".join(tooltip[:2]), (tooltip, pointed)
        assert tooltip[0] not in found, tooltip
        found[tooltip[0]] = (size, offset, float(bar.get("height")))
        check_label(group, bar, tooltip[0])
    return found


def rounded(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024 or unit == "MiB":
            return f"{size:.4g} {unit}"
        size /= 1024


def check_label(group, bar, name):
    """A bar with room for letters of 3 pixels has an end of its name on it, in letters that fit; others have none. A thin
    bar has a higher part that the pointer can hit."""
    width, height = float(bar.get("width")), float(bar.get("height"))
    labels = [text for text in group.findall(SVG + "text") if text.get("class") == "middle"]
    rooms = {min((along - 4) / (0.6 * (len(end) + 1)), across - 1) for along, across in ((width, height), (height, width))
             for end in (name.split(".", i)[-1] for i in range(name.count(".") + 1))}
    assert len(labels) == (max(rooms) >= 3) or abs(max(rooms) - 3) < 0.1, (name, width, height)
    for label in labels:
        font = float(re.search(r"[\d.]+", label.get("style", "12"))[0])
        assert name == label.text or name.endswith("." + label.text), (name, label.text)
        assert 2.9 < font <= 12 and font <= max(width, height) - 0.9 and font * 0.6 * len(label.text) <= max(width, height), (name, font)
    wide = [rect for rect in group.findall(SVG + "rect") if rect.get("fill-opacity") == "0"]
    assert len(wide) == (height < 6) and all(rect.get("height") == "6" for rect in wide), (name, height)


def check_scale(drawn):
    size, _, height = max(drawn.values())
    for name, (bytes_, _, high) in drawn.items():
        assert abs(high - max(height * bytes_ / size, 0.3)) < 0.02, (name, bytes_, high)


def small_problem(folder):
    problem = HERE / "files/csv/small.csv"
    sluice("plan", "--csv", problem, "--offsets", folder / "offsets.csv", "--svg", folder / "plan.svg")
    rows = check_offsets(folder / "offsets.csv", problem, 64)
    drawn = bars((folder / "plan.svg").read_text())
    assert {row["id"]: (row["size"], row["offset"]) for row in rows} == {name: bar[:2] for name, bar in drawn.items()}
    check_scale(drawn)


def graph():
    path = ROOT / "graphs/velo.yaml"
    table = sluice("plan", path)
    fields = {}
    for line in table.splitlines():
        match = re.match(r"(\S+(?: \(scratch\))?) +(\d+)  \S+ +\S+ +(\d+)", line)
        if match:
            fields[match[1]] = (int(match[2]), int(match[3]))
    drawn = bars(sluice("plan", path, "--svg", "-"))
    assert len(fields) > 30 and fields == {name: bar[:2] for name, bar in drawn.items()}, "table and drawing agree"
    check_scale(drawn)


def problem_maker():
    spec = importlib.util.spec_from_file_location("planner", ROOT / "bench/planner.py")
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker


def check_cut(pieces, height):
    """The buffers fit into the rectangle without overlap and fill it at some step, so that its height is the optimum."""
    for i, (lower, upper, bottom, top) in enumerate(pieces):
        assert 0 <= lower < upper and 0 <= bottom < top <= height, pieces[i]
        for other in pieces[:i]:
            assert lower >= other[1] or other[0] >= upper or bottom >= other[3] or other[2] >= top, (pieces[i], other)
    assert any(sum(p[3] - p[2] for p in pieces if p[0] <= step < p[1]) == height for step in {p[0] for p in pieces})


def cut_problems(folder):
    maker = problem_maker()
    for family in maker.FAMILIES:
        for count in (20, 60):
            check_cut(maker.problem(family, count, 1), maker.HEIGHT)
            with open(folder / "cut.csv", "w") as file:
                maker.write(family, count, 1, file)
            line = sluice("plan", "--csv", folder / "cut.csv", "--steps", 20000).splitlines()[1]
            assert line.endswith("proved least"), (family, count, line)


def twice():
    """The search is limited by steps, not seconds, so that two runs give equal plans."""
    maker = problem_maker()
    text = io.StringIO()
    maker.write("jitter", 100, 10, text)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text.getvalue())
        file.flush()
        found = [sluice("plan", "--csv", file.name, "--steps", 2000, "--offsets", "-") for _ in range(2)]
    assert found[0] == found[1] and found[0].count("\n") == 101


def hard_problems(folder):
    problems = sorted((DATA / "minimalloc").glob("*.csv"))
    if not problems:
        print(f"skipped: no minimalloc/*.csv in SLUICE_DATA={DATA}; the rest passed")
        return
    seconds = 0
    for problem in problems:
        offsets = folder / problem.name
        line = sluice("plan", "--csv", problem, "--capacity", CAPACITY, "--offsets", offsets).splitlines()[1]
        check_offsets(offsets, problem, CAPACITY)
        assert "fits 1048576" in line or "proved least" in line, line
        seconds += float(line.replace(" %", "").split()[6])
    print(f"{len(problems)} hard problems, {seconds:.2f} s")


with tempfile.TemporaryDirectory() as name:
    small_problem(Path(name))
    graph()
    cut_problems(Path(name))
    twice()
    hard_problems(Path(name))
