"""The kernels of the zoo and the lines of their faults, read from the sources.

A line marked RACE belongs to the enclosing kernel, or to the named value of `kernel`: RACE unwritten_half.
"""
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
WRONG = ("shared", "global", "unwritten", "bounds")


def choices(text):
    """Values of the property `kernel`: names in the lists F(name) at the head of the file."""
    return re.findall(r"\bF\((\w+)\)", text[: text.index("ZOO_MEMBERS")])


def kernels(algorithm):
    """{kernel: numbers of its lines marked RACE} of tests/race/ALGORITHM.cu."""
    text = (FOLDER / f"{algorithm}.cu").read_text()
    found = {name: set() for name in choices(text)}
    current = None
    for number, line in enumerate(text.splitlines(), 1):
        begun = re.match(r"ZOO_KERNEL\((\w+)\)", line)
        if begun:
            current = begun[1]
        marked = re.search(r"/\* RACE ?(\w*) \*/", line)
        if marked:
            found[marked[1] or current].add(number)
    return found
