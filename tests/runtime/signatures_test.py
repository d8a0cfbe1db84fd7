#!/usr/bin/env python3
"""docs/plugins.md lists the functions for kernels with the signatures in the headers.

The section contains each function of kernel.h, kernel_select.h, kernel_cpu.h and math.h with its whole signature, each
macro with its parameters, and no others. Names for the headers' own use end with `_` or are listed in OWN.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ("kernel.h", "kernel_select.h", "kernel_cpu.h", "math.h")
HEADING = "Functions for kernels"
# For the headers themselves or SL_LAUNCH; types and guards.
OWN = {"sl_make_grid", "sl_kernel_threads", "sl_grid_blocks", "sl_total_add_u32", "sl_total_add_u64", "SL_MATH_FUNCTION"}


def spaced(text):
    return re.sub(r"\s*([*,()])\s*", r"\1", " ".join(text.split()))


def declared(text):
    """Name and signature of each function and macro."""
    text = text.replace("\\\n", " ")
    for kind, signature, name in re.findall(
            r"^(static (?:inline )?(?:SL_DEVICE|SL_UNUSED)|SL_MATH_FUNCTION) (?:SL_UNUSED )?([\w *]*?\b(\w+)\([^)]*\)) *\{", text, re.MULTILINE):
        yield name, signature
    for name, parameters in re.findall(r"^ *#define (\w+)(\([^)]*\))?", text, re.MULTILINE):
        if not name.startswith("SLUICE_"):
            yield name, name + parameters


def documented(text):
    section = text.split(f"## {HEADING}\n", 1)[1].split("\n## ", 1)[0]
    for signature in re.findall(r"`([^`]+)`", section):
        if found := re.fullmatch(r"[\w *]*?\b((?:sl_|SL_|atomic|__)\w+)(\([^)]*\))?", signature):
            yield found[1], signature


def problems(headers, page):
    there = {}
    for name, signature in (pair for text in headers for pair in declared(text)):
        if not name.endswith("_") and name not in OWN:
            there.setdefault(name, set()).add(spaced(signature))
    names = dict(documented(page))
    for name, signatures in there.items():
        said = {spaced(text.replace("name_", "name")) for found, text in documented(page) if found == name}
        wanted = {re.sub(r"(\w)_(?=[,)])", r"\1", text) for text in signatures}
        if not said:
            yield f"{name} is not in the page: {sorted(signatures)}"
        elif not said & (signatures | wanted):
            yield f"{name} is {sorted(said)} in the page, {sorted(signatures)} in the header"
    for name in names:
        mentioned = any(re.search(rf"\b{name}\b", text) for text in headers)
        if name not in there and not mentioned:
            yield f"{name} is in the page and in no header"


def main():
    headers = [(ROOT / "runtime/include/sluice" / name).read_text() for name in HEADERS]
    page = (ROOT / "docs/plugins.md").read_text()
    found = list(problems(headers, page))
    # Self-test of the check.
    other = page.replace("uint32_t sl_block_sum_u32(uint32_t value)", "int sl_block_sum_u32(uint32_t value)")
    less = page.replace("`float sl_logf(float x)`", "")
    more = page.replace("`float sl_logf(float x)`", "`float sl_logf(float x)`, `float sl_tanf(float x)`")
    for broken, name in ((other, "sl_block_sum_u32"), (less, "sl_logf"), (more, "sl_tanf")):
        if not any(text.startswith(name) for text in problems(headers, broken)):
            found.append(f"the test sees nothing of {name} in a page that is wrong")
    print(*found, f"{len(found)} problems", sep="\n")
    return 1 if found else 0


sys.exit(main())
