"""site_hook: the pages of the site that are outside docs/, and the links between all pages (mkdocs.yml names this file).

1. README.md becomes the first page; CONTRIBUTING.md, CHANGELOG.md and the pages of plugins are added.
2. A link to a file that is a page leads to that page; a link to another file of the repository becomes its path in the text.
   A link to a file that does not exist is kept, so that `mkdocs build --strict` reports it.
3. Markdown that GitHub accepts and Python-Markdown does not is adapted: words after the language of a code block, lists and
   tables without a blank line before them. Anchors are those of GitHub, as tests/docs/check.py expects them.
"""
import os.path
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```")


def site_pages():
    """{path in the repository: path in the site} of the pages outside docs/."""
    pages = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
    for path in sorted((ROOT / "plugins").glob("*/*.md")):
        name = path.parent.name if path.name == "README.md" else f"{path.parent.name}-{path.stem}"
        pages[path.relative_to(ROOT).as_posix()] = f"plugins/{name}.md"
    return pages


def anchor(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files, config):
    for source, name in site_pages().items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text()))
    return files


def on_serve(server, config, builder):
    for source in site_pages():
        server.watch(str(ROOT / source))
    return server


def relink(text, source, name):
    """The text of a page with its links as the site has them. `source`: its path in the repository, `name`: in the site."""
    pages = site_pages()

    def target(match):
        image, words, link = match.groups()
        path, _, fragment = link.partition("#")
        if not path or re.match(r"[a-z]+:", link):
            return match[0]
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if path not in pages and not path.startswith("docs/") and (ROOT / path).exists():
            return words if path.split("/")[-1] in words else f"{words} (`{path}`)"
        page = pages.get(path, path.removeprefix("docs/"))
        page = os.path.relpath(page, os.path.dirname(name) or ".")
        return f"{image}[{words}]({page}{'#' * bool(fragment)}{fragment})"

    return LINK.sub(target, text)


def separated(text):
    """Prose with a blank line before each list and each table, and numbers in tables that do not wrap."""
    lines = []
    for line in text.splitlines():
        before = lines[-1] if lines else ""
        is_list = re.match(r"([-*]|\d+\.) ", line)
        is_table = line.startswith("|")
        if before and ((is_list and not re.match(r"([-*]|\d+\.) | ", before)) or (is_table and not before.startswith("|"))):
            lines.append("")
        lines.append(re.sub(r"(?<=\d) ([/±]) (?=\d)", "\u00a0\\1\u00a0", line) if is_table else line)
    return "\n".join(lines) + "\n"


def on_page_markdown(markdown, page, config, files):
    name = page.file.src_uri
    source = {name: source for source, name in site_pages().items()}.get(name, f"docs/{name}")
    parts, is_code, prose = [], False, []
    for line in markdown.splitlines():
        if FENCE.match(line):
            if not is_code:
                parts.append(adapted(prose, source, name))
                prose = []
                line = re.sub(r"(``` *\w*).*", r"\1", line)
            is_code = not is_code
            parts.append(line + "\n")
        elif is_code:
            parts.append(line + "\n")
        else:
            prose.append(line)
    parts.append(adapted(prose, source, name))
    return "".join(parts)


def adapted(lines, source, name):
    text = re.sub(r"<!-- .*? -->\n?", "", "\n".join(lines) + "\n")
    return separated(relink(text, source, name))
