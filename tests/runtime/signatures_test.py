#!/usr/bin/env python3
"""docs/plugins.md names the functions for kernels that the headers have.

Each function and macro of the headers for kernels is named in the section, or begins with one of its prefixes
(`sl_block_...`), and each name and prefix of the section is in a header. Names for the headers' own use end with `_` or are
listed in OWN.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ("explain.h", "kernel.h", "kernel_select.h", "kernel_cpu.h", "math.h", "math64.h", "fft.h")
HEADING = "Functions for kernels"
# For the headers themselves or SL_LAUNCH; types and guards.
OWN = {"sl_make_grid", "sl_kernel_threads", "sl_total_add_u32", "sl_total_add_u64", "SL_MATH_FUNCTION"}


def declared(text):
    """Names of the functions and macros."""
    text = text.replace("\\\n", " ")
    yield from re.findall(
        r"^(?:static (?:inline )?(?:SL_DEVICE|SL_UNUSED)|SL_MATH_FUNCTION) (?:SL_UNUSED )?[\w *]*?\b(\w+)\([^)]*\) *\{", text, re.MULTILINE)
    yield from (name for name in re.findall(r"^ *#define (\w+)", text, re.MULTILINE) if not name.startswith("SLUICE_"))


def documented(page):
    """Names and prefixes of the section; a prefix ends with three dots."""
    section = page.split(f"## {HEADING}\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"`((?:sl_|SL_|atomic|__)\w+(?:\.\.\.)?)`", section))


def is_named(name, documented_names):
    return any(name.startswith(there[:-3]) if there.endswith("...") else name == there for there in documented_names)


def problems(headers, page):
    functions = {name for text in headers for name in declared(text) if not name.endswith("_")} - OWN
    names = documented(page)
    for name in sorted(functions):
        if not is_named(name, names):
            yield f"{name} is not in the page"
    for name in sorted(names):
        if not any(is_named(function, {name}) for function in functions) and not any(re.search(rf"\b{name}\b", text) for text in headers):
            yield f"{name} is in the page and in no header"


def main():
    headers = [(ROOT / "runtime/include/sluice" / name).read_text() for name in HEADERS]
    page = (ROOT / "docs/plugins.md").read_text()
    found = list(problems(headers, page))
    # Self-test of the check.
    less = page.replace("`sl_logf`", "")
    less_prefix = page.replace("`sl_warp_...`", "")
    more = page.replace("`sl_logf`", "`sl_logf`, `sl_tanf`")
    more_prefix = page.replace("`sl_warp_...`", "`sl_warp_...`, `sl_wave_...`")
    for broken, name in ((less, "sl_logf"), (less_prefix, "sl_warp_any"), (more, "sl_tanf"), (more_prefix, "sl_wave_...")):
        if not any(text.startswith(f"{name} ") for text in problems(headers, broken)):
            found.append(f"the test sees nothing of {name} in a page that is wrong")
    print(*found, f"{len(found)} problems", sep="\n")
    return 1 if found else 0


sys.exit(main())
