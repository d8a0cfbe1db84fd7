#!/usr/bin/env python3
"""Checks includes: the folders of runtime/ form layers, and a plugin uses only public headers of other plugins.

A file of runtime/ includes its own folder, the public headers and the folders below its own. A plugin's file includes
<sluice/...>, the plugin's own files and files in the include/ folders of plugins. The folders of a plugin listed in
INSIDE form layers too. Headers and Python modules must not include each other in a cycle. First, the checks themselves
are tested on trees with one violation each.
"""
import ast
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = ("include", "base", "zmq", "input", "plugin", "document", "expression", "graph", "plan", "layout", "cases", "simt", "backend", "keep", "execute", "constants", "records", "results", "observe",
          "session", "report", "serve", "testing", "trial", "replay", "cli")
ONLY = {"plan": ("include", "base")}  # narrower than all lower layers: the planner is independent of graphs
PRIVATE = ("session/session.h",)  # private to their folder
LAYERED = ("layout", "execute", "constants", "records", "results", "observe", "session", "serve")  # folders with modules in layers, too
# Folders inside a plugin, the lowest first; those of one line do not include each other. "." is the plugin's own folder.
INSIDE = {
    "sim": ("event", "generator", "transport", "velo ut scifi calo muon", "."),
    "truth": ("association", "checks", "distributions pictures", "."),
}
MODULES = ("python/sluice", "bench", "scripts", "tests/graphs")  # folders of Python files that import each other
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
EMBEDDED = re.compile(r"sluice_embed_text\(\S+\s+\S+\s+([^\s)]+)\)")


def includes(folder):
    """(file, line number, is quoted, included name) for all sources below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".c", ".h", ".cu", ".cuh"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := INCLUDE.match(line):
                yield path, number, found[1] == '"', found[2]


def first_of(name, folders):
    """The file that a compiler finds: the first folder that has it."""
    return next((path for folder in folders if (path := (folder / name).resolve()).is_file()), None)


def is_embedded(name, part):
    """True for a header that the build generates from a text according to the part's CMakeLists.txt, or a file included there."""
    files = [part / "CMakeLists.txt", *sorted(part.glob("*.cmake"))]
    made = EMBEDDED.findall("".join(path.read_text() for path in files if path.is_file()))
    return any(re.fullmatch(re.sub(r"\\\$\\\{\w+\\\}", r"\\w+", re.escape(symbol)) + r"\.h", name) for symbol in made)


def wrong_in_runtime(root):
    runtime = root / "runtime"
    for path, number, is_quoted, name in includes(runtime):
        place, part = f"{path.relative_to(root)}:{number}", path.relative_to(runtime).parts[0]
        if part not in LAYERS:
            yield f"{place}: the folder {part} is not listed in the layers"
            continue
        target = first_of(name, ([path.parent] if is_quoted else []) + [runtime / "include", runtime])
        if target is None:
            if is_quoted and not is_embedded(name, runtime / part):
                yield f'{place}: includes "{name}", which is no file of runtime/'
        elif not target.is_relative_to(runtime):
            yield f"{place}: includes {name}, which is outside of runtime/"
        else:
            below = target.relative_to(runtime).parts[0]
            allowed = ONLY.get(part, LAYERS[: LAYERS.index(part)])
            if below != part and below not in allowed:
                yield f"{place}: {part} includes {name}, which is not below it"
            elif below != part and str(target.relative_to(runtime)) in PRIVATE:
                yield f"{place}: {part} includes {name}, which is for {below} alone"


def wrong_in_modules(root):
    """In these folders, the pairs NAME.c and NAME.h include each other in one direction only."""
    runtime = root / "runtime"
    for part in LAYERED:
        below = {}
        for path, _, is_quoted, name in includes(runtime / part):
            target = first_of(name, ([path.parent] if is_quoted else []) + [runtime])
            if target and target.parent == runtime / part and target.stem != path.stem:
                below.setdefault(path.stem, set()).add(target.stem)
        while free := {module for modules in below.values() for module in modules} - below.keys():
            for module in list(below):
                below[module] -= free
                if not below[module]:
                    del below[module]
        if below:
            yield f"runtime/{part}: these modules include one another: {' '.join(sorted(below))}"


def wrong_in_plugins(root):
    plugins, public = root / "plugins", root / "runtime" / "include"
    published = sorted(plugins.glob("*/include"))
    for path, number, is_quoted, name in includes(plugins):
        place, own = f"{path.relative_to(root)}:{number}", plugins / path.relative_to(plugins).parts[0]
        near = [path.parent] if is_quoted else []
        target = first_of(name, near + [own, own / "include", public] + published + [root / "runtime", plugins])
        if target is None:
            if is_quoted and not is_embedded(name, own):
                yield f'{place}: includes "{name}", which is no file of a plugin'
        elif not any(target.is_relative_to(folder) for folder in [own, public] + published):
            yield f"{place}: includes {name}, which is neither its own nor public"


def wrong_inside_plugins(root):
    for plugin, lines in INSIDE.items():
        own = root / "plugins" / plugin
        layer = {folder: i for i, line in enumerate(lines) for folder in line.split()}

        def folder_of(file):
            return file.relative_to(own).parts[0] if file.parent != own else "."

        for path, number, is_quoted, name in includes(own):
            place, part = f"{path.relative_to(root)}:{number}", folder_of(path)
            target = first_of(name, ([path.parent] if is_quoted else []) + [own])
            if part != "include" and part not in layer:
                yield f"{place}: the folder {part} is not listed in the layers of {plugin}"
            elif target is not None and folder_of(target) != part and layer.get(folder_of(target), -1) >= layer.get(part, -1):
                yield f"{place}: {part} includes {name}, which is not below it"


def include_graph(root):
    """{file: {included file: line}}"""
    folders = [root / name for name in ("runtime", "plugins", "tools", "tests")]
    published = [root / "runtime" / "include", *sorted(root.glob("plugins/*/include"))]
    helpers = sorted({path.parent for path in (root / "tests").rglob("*.h")})
    ours = {path.name for folder in folders for path in folder.rglob("*.*")}
    graph = {}
    for path, number, is_quoted, name in (include for folder in folders for include in includes(folder)):
        if name.rsplit("/", 1)[-1] not in ours:
            continue
        top, part = path.relative_to(root).parts[:2]
        own = {"plugins": [root / "plugins" / part], "tools": [root / "plugins" / "sim"], "tests": helpers}.get(top, [])
        target = first_of(name, ([path.parent] if is_quoted else []) + own + published + [root / "runtime"])
        if target:
            graph.setdefault(path, {}).setdefault(target, number)
    return graph


def import_graph(folder):
    """{file: {imported file: line}} for the Python files below a folder; imports anywhere in a file count."""
    graph, top = {}, folder.parent if (folder / "__init__.py").is_file() else folder
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            start, names = top, []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                start = path.parents[node.level - 1] if node.level else top
                names = [node.module] if node.module else []
                names += [".".join([*names[:1], alias.name]) for alias in node.names]
            files = [name.replace(".", "/") for name in names]
            targets = [first_of(f"{file}{end}.py", [start]) for file in files for end in ("", "/__init__")]
            if isinstance(node, ast.ImportFrom) and not node.module and not any(targets):
                targets = [first_of("__init__.py", [start])]  # names that the package itself defines
            for target in filter(None, targets):
                graph.setdefault(path, {}).setdefault(target, node.lineno)
    return graph


def cycles(graph):
    """Cycles of the graph, as lists of files that begin with the first by name; at least one if there are any."""
    done, found = set(), set()

    def visit(file, way):
        if file in way:
            cycle = way[way.index(file):]
            first = cycle.index(min(cycle))
            found.add((*cycle[first:], *cycle[:first]))
        elif file not in done:
            for target in sorted(graph.get(file, ())):
                visit(target, [*way, file])
            done.add(file)

    for file in sorted(graph):
        visit(file, [])
    return sorted(found)


def wrong_cycles(root):
    for graph in (include_graph(root), *(import_graph(root / folder) for folder in MODULES)):
        for cycle in cycles(graph):
            names = [str(file.relative_to(root)) for file in cycle]
            line = graph[cycle[0]][cycle[1 % len(cycle)]]
            yield f"{names[0]}:{line}: a cycle of includes: {', '.join([*names, names[0]])}"


def wrong(root):
    return [*wrong_in_runtime(root), *wrong_in_modules(root), *wrong_in_plugins(root), *wrong_inside_plugins(root),
            *wrong_cycles(root)]


# A tree without violations, and changes to it: the file, its text, and the line where the check must report.
RIGHT = {
    "runtime/include/sluice/plugin.h": "#include <stdint.h>\n",
    "runtime/base/json.h": "#include <sluice/plugin.h>\n",
    "runtime/plan/plan.h": '#include "base/json.h"\n',
    "runtime/graph/graph.h": '#include "base/json.h"\n',
    "runtime/simt/simt.h": "",
    "runtime/backend/backend.h": '#include "simt/simt.h"\n',
    "runtime/execute/setup.h": '#include "backend/backend.h"\n#include "plan/plan.h"\n',
    "runtime/execute/slot.h": '#include "execute/setup.h"\n',
    "runtime/observe/trace.h": '#include "execute/slot.h"\n',
    "runtime/session/session.h": '#include "observe/trace.h"\n',
    "runtime/session/inspect.h": "",
    "runtime/report/draw.h": '#include "session/inspect.h"\n',
    "runtime/cli/CMakeLists.txt": "sluice_embed_text(embedded templates/${file}.in template_${name})\n",
    "runtime/cli/new.c": '#include "template_graph.h"\n',
    "plugins/velo/include/velo/event_model.h": "#include <sluice/plugin.h>\n",
    "plugins/velo/parts.cmake": "sluice_embed_text(embedded\n  nominal.${detector} ${detector}_nominal_text)\n",
    "plugins/velo/geometry.c": '#include "velo_nominal_text.h"\n',
    "plugins/velo/position.h": '#include "velo/event_model.h"\n',
    "plugins/pv/fit.h": '#include "velo/event_model.h"\n',
    "plugins/pv/finder.cu": '#include "fit.h"\n#include <sluice/plugin.h>\n',
    "plugins/sim/event/event.h": "",
    "plugins/sim/velo/digits.h": '#include "event/event.h"\n#include "velo/event_model.h"\n',
    "plugins/sim/simulation.h": '#include "velo/digits.h"\n',
    "tools/tune/tune.c": '#include "event/event.h"\n',
    "tests/pv/support.h": '#include "case.h"\n',
    "bench/study.py": "import drawing\n",
    "python/sluice/__init__.py": "from .run import Run\n",
    "python/sluice/run.py": "from . import _abi\nimport part\n",
    "python/sluice/_abi.py": "",
    "python/sluice/part/__init__.py": "from .. import Run\n",
}
VIOLATIONS = (
    ("runtime/session/run.c", '#include "session/session.h"\n#include "report/draw.h"\n', 2),
    ("runtime/session/run.c", '#include "../report/draw.h"\n', 1),
    ("runtime/session/run.c", "#include <report/draw.h>\n", 1),
    ("runtime/execute/slot.c", '#include "execute/slot.h"\n#include "observe/trace.h"\n', 2),
    ("runtime/execute/setup.c", '#include "execute/slot.h"\n', None),
    ("runtime/base/json.c", '\n#  include "graph/graph.h" /* why */\n', 2),
    ("runtime/plan/search.c", '#include "graph/graph.h"\n', 1),
    ("runtime/simt/stream.c", '#include "backend/backend.h"\n', 1),
    ("runtime/include/sluice/graph.h", '#include "base/json.h"\n', 1),
    ("runtime/report/draw.c", '#include "gone.h"\n', 1),
    ("runtime/report/draw.c", '#include "template_graph.h"\n', 1),
    ("runtime/report/draw.c", '#include "../../plugins/pv/fit.h"\n', 1),
    ("runtime/report/draw.c", '#include "session/session.h"\n', 1),
    ("runtime/newer/thing.c", "#include <stdio.h>\n", 1),
    ("plugins/pv/finder.cu", '#include "fit.h"\n#include "base/json.h"\n', 2),
    ("plugins/pv/finder.cu", "#include <base/json.h>\n", 1),
    ("plugins/pv/finder.cu", '#include "position.h"\n', 1),
    ("plugins/pv/finder.cu", '#include "../velo/position.h"\n', 1),
    ("plugins/pv/finder.cu", '#include "velo/position.h"\n', 1),
    ("plugins/sim/event/event.c", '#include "event.h"\n#include "velo/digits.h"\n', 2),
    ("plugins/sim/ut/charge.c", '#include "velo/digits.h"\n', 1),
    ("plugins/sim/velo/charge.c", '#include "../simulation.h"\n', 1),
    ("plugins/sim/newer/thing.c", "#include <stdio.h>\n", 1),
    ("plugins/pv/before.h", '#include "before.h"\n', 1),
    ("tests/pv/case.h", '#include "support.h"\n', 1),
    ("bench/drawing.py", "def draw():\n    from study import values\n", 2),
    ("python/sluice/_abi.py", "from .run import Run\n", 1),
    ("python/sluice/__init__.py", "from .run import Run\nfrom .part import join\n", 2),
)


def found_in(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return wrong(root)


def try_the_checks():
    if found := found_in(RIGHT):
        yield f"a tree without violations: found {found}"
    for name, text, line in VIOLATIONS:
        found = found_in({**RIGHT, name: text})
        place = f"{name}:{line}: " if line else f"{pathlib.Path(name).parent}: "  # None: of the folder
        if len(found) != 1 or not found[0].startswith(place):
            yield f"{name} with {text!r}: expected something at {place!r}, found {found}"


def main():
    faults = [*try_the_checks(), *wrong(ROOT)]
    for folder in ("runtime", "plugins"):
        if not any(includes(ROOT / folder)):
            faults.append(f"{folder}/ has no sources")
    print("\n".join(faults) if faults else "all includes lead downwards")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
