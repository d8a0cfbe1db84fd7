#!/usr/bin/env python3
"""The man pages, formatted by groff: man_test.py SLUICE FOLDER_OF_PAGES

help2man makes the pages from the help of the command, and treats text that it does not understand as plain text. Each
command must have an entry in sluice(1) and a page, each option a paragraph in that page, and groff must print no warning.
"""
import pathlib
import re
import shutil
import subprocess
import sys

from common import Checks

checks = Checks()
check = checks.that


def typeset(page):
    """Lines of the page, wide enough that none is broken, and the warnings of groff."""
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=400n", page], capture_output=True, text=True)
    return [re.sub(r" +", " ", line).strip() for line in done.stdout.splitlines()], done.stderr


def paragraph(lines, head):
    """The text after `head`, on the next line or, if `head` is short, on the same line; None without one."""
    for at, line in enumerate(lines):
        if line == head and at + 1 < len(lines):
            return lines[at + 1]
        if line.startswith(head + " "):
            return line[len(head) + 1:]
    return None


def help_of(sluice, *command):
    return subprocess.run([sluice, *command, "--help"], capture_output=True, text=True, check=True).stdout


def plain(text):
    """The text with plain quotes and hyphens."""
    return re.sub(r"[`'‘’]", "'", re.sub(r"[‐−–]", "-", text))


def same(found, wanted):
    return found is not None and plain(found) == plain(wanted)


def main(sluice, folder):
    pages = {page.stem: page for page in pathlib.Path(folder).glob("*.1")}
    if not pages or not shutil.which("groff"):
        print(f"skipped: no man pages in {folder}, or no groff to set them")
        sys.exit(77)
    commands = re.findall(r"^  sluice ([a-z]+)", help_of(sluice), re.MULTILINE)
    check(len(commands) > 10, f"the help lists the commands: {' '.join(commands)}")
    check(sorted(pages) == sorted(["sluice", *(f"sluice-{name}" for name in commands)]), "each command has a page")
    whole, _ = typeset(pages["sluice"])
    for name, page in sorted(pages.items()):
        lines, warnings = typeset(page)
        check(not warnings, f"{name}: groff prints no warning: {warnings.strip()[:200]}")
        named = set(re.findall(r"sluice-([a-z]+)\(1\)", plain(" ".join(lines[lines.index("SEE ALSO"):]))))
        check(set(commands) <= named, f"{name}: refers to all commands")
    for command in commands:
        text = help_of(sluice, command)
        usage = re.search(r"^Usage: (.*?)(?: \[OPTION\]\.\.\.)?$", text, re.MULTILINE).group(1)
        doc = re.search(rf"^sluice {command}: (.*)\.$", text, re.MULTILINE).group(1)
        check(same(paragraph(whole, usage), doc), f"sluice(1) has `{usage}`: {paragraph(whole, usage)}")
        lines, _ = typeset(pages[f"sluice-{command}"])
        options = re.findall(r"^  (-.*?)(?: {2,}|(?<=\S{28}) )(\S.*)$", text.split("\nOptions:\n")[1], re.MULTILINE)
        for head, meaning in options:
            check(same(paragraph([plain(line) for line in lines], plain(head)), meaning), f"{command}: {head}: {meaning}")
    checks.end()


main(*sys.argv[1:])
