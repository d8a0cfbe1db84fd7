#!/usr/bin/env python3
"""Tests the documentation: runs its commands, checks its graphs and quotations, and follows its links.

    check.py SLUICE_COMMAND [PAGE...]        README.md, CONTRIBUTING.md, docs/*.md and plugins/*/README.md, or these pages
    check.py SLUICE_COMMAND --installed      the blocks of `console installed` only (tests/packaging/run.sh)
    check.py --links FOLDER                  the links of all pages of an installation

Blocks, by the words after the three backquotes:
- `c`, `cmake`, and `yaml` without a whole graph: a quotation, which must be in a file of the repository. Those of plugin
  pages are invented examples and are not checked.
- `yaml` that begins with `sluice: 1`: a whole graph, which must be a quotation or pass `sluice check` in a copy of graphs/. A
  block with sections of a graph (`nodes:`) must be a whole graph.
- `console`: a transcript (tests/cli/transcript.py); its commands must print the shown lines. The blocks of a page run in one
  folder, with copies of graphs/ and examples/. `console data` needs the sample events and is reported as skipped without
  them. `console installed` needs an installed Sluice on CMAKE_PREFIX_PATH.
- `sh`: commands that must succeed, in a plain shell without SLUICE_DATA. `sh data` needs the sample events. `sh elsewhere` is
  not run: it installs, builds, takes minutes, or needs another machine or files of the reader.
- `python`: a whole program, run with the package of this repository and the library of the command; warnings are errors.
  Skipped without NumPy. `python distributed` needs `distributed` and may warn, because Dask does. `python elsewhere` is
  not run.
- `output`: the output of the `sh` or `python` block before it; in lines with rates and memory only the first word counts.

Further: git must ignore the files that commands of a page write; running.md lists each command that `sluice help` names;
architecture.md names only functions that the sources have; links lead to files, and their anchors to headings. The pages in
docs/lab are logs: their links are checked, their commands are not run.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import transcript  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {"c": ("*.c", "*.cu", "*.h"), "cmake": ("CMakeLists.txt", "*.cmake"), "yaml": ("*.yaml",)}
PYTHON = f"export PYTHONPATH='{ROOT / 'python'}'"
SECTION = re.compile("^(include|parameters|nodes|outputs|budgets):", re.MULTILINE)
FOLDERS = ("runtime", "plugins", "tools", "examples", "tests", "graphs", "cmake")


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def quotable(language):
    for folder in FOLDERS:
        for pattern in SOURCES[language]:
            for path in sorted((ROOT / folder).rglob(pattern)):
                yield lines_of(path.read_text())


def is_quotation(block, language):
    wanted = lines_of(block)
    return any(
        text[at : at + len(wanted)] == wanted
        for text in quotable(language)
        for at, line in enumerate(text)
        if line == wanted[0]
    )


def blocks(text):
    """(line number, language, block) of each fenced block."""
    for match in re.finditer(r"^```(\w[\w ]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def broken_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            yield f"{target}: no such file"
        elif fragment and fragment not in {anchor(h) for h in re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)}:
            yield f"{target}: no such heading"


def check_graph(sluice, block):
    with tempfile.TemporaryDirectory() as folder:
        graphs = pathlib.Path(folder) / "graphs"
        shutil.copytree(ROOT / "graphs", graphs)
        path = graphs / "from_docs.yaml"
        path.write_text(block)
        command = [sluice, "check", path]
        result = subprocess.run(command, capture_output=True, text=True)
        return "" if result.returncode == 0 else result.stdout + result.stderr


def run_transcript(sluice, block, line, folder):
    """Problems of a console block."""
    steps = transcript.read(block, line + 1)
    if not steps:
        yield f"line {line}: this console block has no command"
    for step, printed in transcript.wrong(steps, folder, sluice):
        yield f"line {step.line}: `{step.command}` prints something else:\n    " + "\n    ".join(printed)


def make_links(sluice, folder, data):
    """Links the build folder and the sample data to the paths that the commands of README use."""
    for link, target in ((folder / "build/cpu-release/sluice", sluice), (folder.parent / "shared/data", data)):
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(pathlib.Path(target).resolve())


def run_script(sluice, block, line, folder):
    """Problems of a block of commands."""
    printed = transcript.output_of("set -e\nunset SLUICE_DATA\n" + block, folder, sluice, 600)
    if printed and re.fullmatch(r"\[\d+\]", printed[-1]):
        yield f"line {line}: a command of this block fails:\n    " + "\n    ".join(printed[-20:])


def python_script(sluice, block, warnings):
    """Shell commands that run a block of Python."""
    library = pathlib.Path(sluice).resolve().parent / "libsluice.so.0"
    return f"""{PYTHON} SLUICE_LIBRARY='{library}' PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 -W {warnings} - <<'END_OF_PYTHON'
{block}
END_OF_PYTHON
"""


@functools.cache
def has_package(name):
    return subprocess.run(["/usr/bin/python3", "-c", f"import {name}"], capture_output=True).returncode == 0


def check_output(sluice, script, block, line, folder):
    """Problems of an output block."""
    expected = [re.sub(r"^(rate|memory) .*", r"\1 ...", text).rstrip() for text in block.splitlines()]
    printed = transcript.output_of("unset SLUICE_DATA\n" + script, folder, sluice)
    if not transcript.pattern(expected).fullmatch("".join(text + "\n" for text in printed)):
        yield f"line {line}: the commands before it print something else:\n    " + "\n    ".join(printed)


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def unignored(paths):
    """The paths that git would show as new; None if ROOT is not a repository."""
    done = subprocess.run(["git", "check-ignore", "--stdin", "--no-index"], cwd=ROOT, input="\n".join(sorted(paths)), capture_output=True, text=True)
    return sorted(paths - set(done.stdout.splitlines())) if done.returncode in (0, 1) else None


def missing_commands(sluice):
    """Problems of the list of commands in running.md, which must have each command of the help."""
    page = (ROOT / "docs/running.md").read_text()
    listed = set(re.findall(r"^sluice ([a-z]+)", re.search(r"^```\n(sluice .*?)^```$", page, re.MULTILINE | re.DOTALL).group(1), re.MULTILINE))
    said = subprocess.run([sluice, "--help"], capture_output=True, text=True, check=True).stdout
    for command in re.findall(r"^  sluice ([a-z]+)", said, re.MULTILINE):
        if command not in listed:
            yield f"the list of commands lacks `sluice {command}`"


def missing_functions(text):
    """Problems of architecture.md: each `name()` is a function of runtime/ or plugins/."""
    sources = "".join(path.read_text() for folder in ("runtime", "plugins") for path in (ROOT / folder).rglob("*.c"))
    for name in sorted(set(re.findall(r"`(\w+)\(\)`", text))):
        if not re.search(rf"^[a-zA-Z].*\b{name}\(", sources, re.MULTILINE):
            yield f"no source file has a function `{name}`"


def check_installed(sluice):
    """Runs the transcripts for an installation, each page in a separate folder."""
    transcripts = failures = 0
    for page in sorted((ROOT / "docs").glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            for line, language, block in blocks(page.read_text()):
                if language != "console installed":
                    continue
                transcripts += 1
                for problem in run_transcript(sluice, block, line, folder):
                    failures += 1
                    print(f"{page.relative_to(ROOT)}: {problem}")
    print(f"{transcripts} transcripts of an installation checked, {failures} problems")
    return 1 if failures or transcripts == 0 else 0


def check_links(folder):
    pages = sorted(pathlib.Path(folder).rglob("*.md"))
    broken = [f"{page}: {link}" for page in pages for link in broken_links(page, page.read_text())]
    print(*broken, f"{len(pages)} pages, {len(broken)} broken links", sep="\n")
    return 1 if broken or not pages else 0


def main():
    sluice = sys.argv[1]
    if sluice == "--links":
        return check_links(sys.argv[2])
    if "--installed" in sys.argv[2:]:
        return check_installed(sluice)
    scratch = tempfile.TemporaryDirectory()
    data = pathlib.Path(os.environ.get("SLUICE_DATA", ROOT / ".." / "shared" / "data"))
    geometry = data / "lhcb" / "geometry"
    failures = graphs = quotations = transcripts = scripts = skipped = installed = 0
    without_package = 0
    elsewhere = []
    without_git = False
    pages = sys.argv[2:] or ["README.md", "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
    for page in (ROOT / name for name in pages):
        text = page.read_text()
        problems = list(broken_links(page, text))
        if page.name == "running.md":
            problems += missing_commands(sluice)
        if page.name == "architecture.md":
            problems += missing_functions(text)
        folder = pathlib.Path(scratch.name) / str(page.relative_to(ROOT)).replace("/", "-")
        for name in ("graphs", "examples"):
            shutil.copytree(ROOT / name, folder / name)
        make_links(sluice, folder, data)
        before = files_below(folder)
        script, has_run = "", False
        for line, language, block in blocks(text):
            if language in ("python", "python distributed"):
                needed = ["numpy", *language.split()[1:]]
                warnings = "error" if language == "python" else "ignore"
                script, has_run = python_script(sluice, block, warnings), all(map(has_package, needed))
                if has_run:
                    scripts += 1
                    problems += run_script(sluice, script, line, folder)
                else:
                    without_package += 1
            elif language == "python elsewhere":
                elsewhere.append(f"{page.relative_to(ROOT)}:{line}")
            elif language.split()[0] == "sh":
                script, has_run = block, language == "sh" or (language == "sh data" and geometry.is_dir())
                if language not in ("sh", "sh data", "sh elsewhere"):
                    problems.append(f"line {line}: no kind of block: {language}")
                elif language == "sh elsewhere":
                    elsewhere.append(f"{page.relative_to(ROOT)}:{line}")
                elif language == "sh data" and not geometry.is_dir():
                    skipped += 1
                else:
                    scripts += 1
                    problems += run_script(sluice, block, line, folder)
            elif language == "yaml" and lines_of(block)[0] != "sluice: 1" and SECTION.search(block):
                problems.append(f"line {line}: a graph file that does not begin with `sluice: 1`")
            elif language == "yaml" and lines_of(block)[0] == "sluice: 1" and not is_quotation(block, language):
                graphs += 1
                wrong = check_graph(sluice, block)
                if wrong:
                    problems.append(f"line {line}: sluice check refuses the graph:\n{wrong}")
            elif language == "console installed":
                installed += 1
            elif language == "console data" and not geometry.is_dir():
                skipped += 1
            elif language == "output" and has_run:
                transcripts += 1
                problems += check_output(sluice, script, block, line, folder)
            elif language == "output" and script.startswith(PYTHON):
                without_package += 1
            elif language == "output":
                skipped += 1
            elif language.split()[0] == "console":
                transcripts += 1
                problems += run_transcript(sluice, block, line, folder)
            elif language in SOURCES and page.parent.parent.name != "plugins":
                quotations += 1
                if not is_quotation(block, language):
                    problems.append(f"line {line}: this {language} is in no file of the repository")
        written = {path for path in files_below(folder) - before if not path.startswith(".bin/")}
        shown = unignored(written)
        without_git |= shown is None
        problems += [f"its commands write {path}, which git does not ignore" for path in shown or ()]
        failures += len(problems)
        for problem in problems:
            print(f"{page.relative_to(ROOT)}: {problem}")
    for page in sorted((ROOT / "docs/lab").glob("*.md")):
        for problem in broken_links(page, page.read_text()):
            failures += 1
            print(f"{page.relative_to(ROOT)}: {problem}")
    print(f"{quotations} quotations, {graphs} graphs, {transcripts} transcripts, {scripts} blocks of commands checked, {failures} problems")
    if elsewhere:
        print(f"not run, as they are marked `elsewhere`: {', '.join(elsewhere)}")
    if installed:
        print(f"left to tests/packaging/run.sh: {installed} transcripts of an installation")
    if without_git:
        print("not checked, for want of git or a repository: whether it ignores what the commands write")
    if without_package:
        print(f"skipped: {without_package} blocks of Python, for want of python3-numpy or python3-distributed")
    if skipped:
        print(f"skipped: {skipped} transcripts, for want of {geometry}")
    return 1 if failures or (quotations == 0 and not sys.argv[2:]) else 0


if __name__ == "__main__":
    sys.exit(main())
