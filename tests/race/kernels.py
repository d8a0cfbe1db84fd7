"""The kernels of the zoo, as their sources have them: which there are, and on which lines the wrong ones are wrong.

A line that says RACE belongs to the kernel in which it stands, or to the choice that it names: RACE unwritten_half.
"""
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
WRONG = ("shared", "global", "unwritten", "bounds")


def choices(text):
    """What the property `kernel` can be: names in the lists F(name) at the file's head."""
    return re.findall(r"\bF\((\w+)\)", text[: text.index("ZOO_MEMBERS")])


def kernels(algorithm):
    """{kernel: the numbers of its lines that say RACE}, of tests/race/ALGORITHM.cu."""
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
