#!/usr/bin/env python3
"""words: finds phrases that readers stumbled over, in comments, string literals and documentation.

    scripts/words.py [--counts] [FILE...]     default: all files that git tracks

Prints FILE:LINE: "phrase" in its line. Exit status 1: a phrase is found that scripts/words_allowed.txt does not list. That
file has a line for each use that is allowed: PATH, a tab, and a piece of the line that contains the phrase. An entry that
matches nothing is an error too. --counts prints the number of findings of each pattern and of each folder instead.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "scripts/words_allowed.txt"
ALLOWED_MAX = 30

# Each pattern and what to write instead.
PATTERNS = {
    "who, whose": (r"(?i)\b(who|whose|whom)\b", "name the thing"),
    "that which, of which, those that": (r"(?i)\b(that which|of which|those that|those which)\b", "repeat the noun"),
    "likewise": (r"(?i)\b(likewise)\b", "repeat the statement"),
    "behind": (r"(?i)\b(behind)\b", "`after` is for order and time"),
    "sentence that begins with Of, What, Who": (r"(?:^\s*|\n\s*\n\s*|[.:;!?]\s+)(Of|What|Who)\s+[a-z]", "subject, verb, object"),
    "somebody, nobody": (r"(?i)\b(somebody|nobody|someone)\b", "name the caller, thread or file"),
}
IGNORED = re.compile(r"^(LICENSE|CHANGELOG\.md|docs/lab/|scripts/words(_allowed\.txt|\.py)$|tests/data/|tests/fuzz/corpus/)|\.(svg|png|expected|golden|csv|tsv|json|xml)$")
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def is_shell(path, text):
    return path.endswith((".sh", ".cmake", ".yaml", ".yml", "CMakeLists.txt", ".toml")) or text.startswith("#!/usr/bin/env bash")


def c_pieces(text):
    """(offset, text) of comments and string literals. Neighbouring literals are joined by the caller's line scan."""
    for match in C_TOKEN.finditer(text):
        piece = match.group()
        if piece[0] != "'":
            yield match.start(), piece


def python_pieces(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    try:
        for token in tokenize.generate_tokens(iter(text.splitlines(keepends=True)).__next__):
            if token.type in (tokenize.COMMENT, tokenize.STRING) or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
                yield starts[token.start[0] - 1] + token.start[1], token.string
    except (tokenize.TokenError, IndentationError):
        yield 0, text


def shell_pieces(text):
    offset = 0
    for line in text.splitlines(keepends=True):
        found = re.search(r"(?:^|\s)#(?!!).*", line)
        if found:
            yield offset + found.start(), found.group()
        else:
            for quoted in re.finditer(r'"(?:\\.|[^"\\])*"', line):
                yield offset + quoted.start(), quoted.group()
        offset += len(line)


def page_pieces(text):
    """Prose of a Markdown page: without code blocks and code spans, which are replaced by as many blanks."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    yield 0, re.sub(r"`[^`\n]*`", blank, text)


def pieces(path, text):
    if path.endswith((".c", ".h", ".cu", ".h.in", ".c.in")):
        return c_pieces(text)
    if path.endswith((".py", ".pyi")) or text.startswith("#!/usr/bin/env python3"):
        return python_pieces(text)
    if path.endswith(".md"):
        return page_pieces(text)
    return shell_pieces(text) if is_shell(path, text) else ()


def plain(piece):
    """The piece with marks of comments and strings as blanks, of the same length, so that sentences can be followed."""
    piece = re.sub(r"^[ \t]*(\*+|//|#+)", lambda match: " " * len(match.group()), piece, flags=re.M)
    return re.sub(r'/\*|\*/|//|[#"]', lambda match: " " * len(match.group()), piece)


def findings(path):
    try:
        text = (ROOT / path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return
    lines = text.split("\n")
    for offset, piece in pieces(path, text):
        words = plain(piece)
        for name, (pattern, _) in PATTERNS.items():
            for match in re.finditer(pattern, words):
                start = match.start(1)
                line = text.count("\n", 0, offset + start) + 1
                yield name, line, re.sub(r"\s+", " ", match.group(0).strip()), lines[line - 1].strip()


def main():
    arguments = sys.argv[1:]
    counts = "--counts" in arguments
    paths = [path for path in arguments if path != "--counts"]
    is_whole = not paths
    if is_whole:
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
        paths = listed.stdout.splitlines() if listed.returncode == 0 else [
            str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and "build" not in path.relative_to(ROOT).parts]
    allowed = [line.rstrip("\n").split("\t", 1) for line in ALLOWED.open()] if ALLOWED.exists() else []
    used, status = set(), 0
    by_pattern, by_folder = collections.Counter(), collections.Counter()
    for path in sorted(path for path in paths if not IGNORED.search(path)):
        for name, line, phrase, where in findings(path):
            entry = next((index for index, (file, piece) in enumerate(allowed) if file == path and piece in where), None)
            if entry is not None:
                used.add(entry)
                continue
            by_pattern[name] += 1
            by_folder["/".join(path.split("/")[:2])] += 1
            status = 1
            if not counts:
                print(f'{path}:{line}: "{phrase}" ({PATTERNS[name][1]}): {where[:150]}')
    if counts:
        for counter in (by_pattern, by_folder):
            print("\n".join(f"{number:6} {name}" for name, number in counter.most_common()), end="\n\n")
    if is_whole:
        for index, (file, piece) in enumerate(allowed):
            if index not in used:
                print(f"error: scripts/words_allowed.txt:{index + 1}: {file} has no such use of `{piece}`")
                status = 1
    if len(allowed) > ALLOWED_MAX:
        print(f"error: scripts/words_allowed.txt has {len(allowed)} entries, at most {ALLOWED_MAX} are allowed")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
