#!/usr/bin/env python3
"""`sluice test` and the functions that a plugin imports: imports_test.py SLUICE COMPILER. In a plugin with kernels, functions
of the math library that are not exactly rounded and functions that write output are refused by their symbols."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, Checks

checks = Checks()
check = checks.that

# The function that the message recommends instead; None: none.
INEXACT = {
    "expf": "sl_expf", "exp": "sl_expf", "exp2l": "sl_expf", "coshf": "sl_expf", "logf": "sl_logf", "log10": "sl_logf",
    "log1pf": "sl_logf", "sinhf": "sl_sinhf", "sinf": "sl_sincosf", "sincosf": "sl_sincosf", "tanf32": "sl_sincosf",
    "atan2f": "sl_atan2f", "acosf": "sl_atan2f", "powf": "sl_expf and sl_logf", "cbrtf": "sl_expf and sl_logf",
    "hypotf": "sl_sqrtf", "tgammaf": None, "lgammaf_r": None, "erff": None, "j0f": None, "cexpf": None,
    "__expf_finite": "sl_expf", "__lgammaf_r_finite": None, "_ZGVdN8v_expf": "sl_expf", "_ZGVbN4vv_atan2f": "sl_atan2f",
    "_ZGVeN16vl4l4_sincosf": "sl_sincosf", "__svml_logf8": "sl_logf", "__svml_sinf4_ha": "sl_sincosf",
}
OUTPUTS = ("printf", "puts", "putchar", "fprintf", "fputs", "fwrite", "vprintf", "__printf_chk", "__fprintf_chk", "__vfprintf_chk",
           "putchar_unlocked", "write", "dprintf", "perror", "stdout", "stderr", "putwchar", "_ZSt4cout")
ALLOWED = ("fmaf", "fma", "sqrtf", "sqrt", "fabsf", "fminf", "fmaxf", "fmax", "floorf", "ceilf", "truncf", "rintf", "nearbyintf",
           "roundf", "lrintf", "copysignf", "ldexpf", "scalbnf", "frexpf", "modff", "fmodf", "remainderf", "nextafterf", "fdimf",
           "ilogbf", "logbf", "snprintf", "__snprintf_chk", "vsnprintf", "fopen", "fread", "fclose", "fgets", "strtod", "strerror",
           "memcpy", "qsort", "malloc", "free", "open", "read", "sscanf")


def build(compiler, folder, symbols, *options):
    folder.mkdir(parents=True)
    imports = " ".join(f'M({i}, "{symbol}")' for i, symbol in enumerate(symbols))
    subprocess.run([compiler, "-std=gnu11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-DSL_TARGET_CPU=1", '-DSL_TARGET="cpu"',
                    f"-DIMPORTS(M)={imports}", *options,
                    f"-I{ROOT}/runtime/include", f"-I{ROOT}/tests/plugins_wrong", ROOT / "tests/plugins_wrong/imports.c",
                    "-o", folder / "imports.cpu.so"], check=True)
    return folder / "imports.cpu.so"


def test(sluice, *files):
    """With a graph without algorithms of these files, so that only their tables are tested."""
    return subprocess.run([sluice, "test", *files, "--graph", ROOT / "graphs/simulate.yaml"], capture_output=True, text=True, timeout=100)


def verdicts(sluice, files):
    """(verdict, text) for the file of each plugin, and the exit status."""
    done = test(sluice, *files)
    found = re.findall(r"^imports (.*)\n  \(tables\) +cpu +(\w+) *(.*)$", done.stdout, re.MULTILINE)
    check([name for name, _, _ in found] == [str(file) for file in files], f"each plugin has its line: {done.stdout}{done.stderr}")
    return [(verdict, text) for _, verdict, text in found], done.returncode


def main(sluice, compiler, folder):
    symbols = [*INEXACT, *OUTPUTS]
    files = [build(compiler, folder / f"{i}", [*ALLOWED[:3], symbol], "-DWITH_KERNEL") for i, symbol in enumerate(symbols)]
    said, status = verdicts(sluice, files)
    check(status == 1, "inexact functions and output are refused")
    for symbol, (verdict, text) in zip(symbols, said):
        if symbol in OUTPUTS:
            wanted = f"it uses {symbol}: a plugin with kernels prints and writes nothing by itself; host code reports by `message`"
        else:
            use = INEXACT[symbol]
            wanted = f"it calls {symbol}, which has different results in different math libraries" + (
                f": use {use} of sluice/math.h; host code that needs it goes into a plugin without kernels" if use
                else "; sluice/math.h has no such function;")
        check(verdict == "wrong" and text.startswith(wanted), f"{symbol}: {verdict} {text}")
    allowed = build(compiler, folder / "allowed", ALLOWED, "-DWITH_KERNEL")
    host = build(compiler, folder / "host", symbols)
    said, status = verdicts(sluice, [allowed, host])
    check(said == [("ok", "")] * 2 and status == 0, f"exact functions, formatting and reading are allowed, and all functions in a plugin without kernels: {said}")

    # If a plugin has two files for cpu, both are tested, whichever is named.
    level = allowed.parent / "x86-64-v4/imports.cpu.so"
    build(compiler, level.parent, ["expf"], "-DWITH_KERNEL")
    said, _ = verdicts(sluice, [allowed])
    check(said == [("wrong", f"{level}: it calls expf, which has different results in different math libraries: use sl_expf of sluice/math.h; "
                             "host code that needs it goes into a plugin without kernels")], f"the file of another level: {said}")
    level.write_bytes(level.read_bytes()[:1000])
    said, _ = verdicts(sluice, [allowed])
    check(said[0][0] == "wrong" and said[0][1].startswith(f"{level}: truncated"), f"a damaged file of another level is reported: {said}")
    other = folder / "other/imports.cpu.so"
    build(compiler, other.parent, ["puts"], "-DWITH_KERNEL")
    build(compiler, other.parent / "x86-64-v4", ALLOWED, "-DWITH_KERNEL")
    said, _ = verdicts(sluice, [other.parent / "x86-64-v4/imports.cpu.so"])
    check(said[0][1].startswith(f"{other}: it uses puts"), f"the file for all levels next to the file of a level: {said}")

    damaged(sluice, allowed, folder)
    checks.end()


def damaged(sluice, plugin, folder):
    """Sections outside of the file, and names outside of their section, do not crash the test."""
    raw = plugin.read_bytes()
    at, size, count = int.from_bytes(raw[0x28:0x30], "little"), 64, int.from_bytes(raw[0x3C:0x3E], "little")
    for i, (member, value) in enumerate(((24, 2**63), (32, 2**64 - 1), (32, 2**40), (40, 0xFFFF), (40, 0), (24, len(raw)))):
        changed = bytearray(raw)
        for section in range(count):
            if int.from_bytes(raw[at + size * section + 4 : at + size * section + 8], "little") in (6, 11):  # dynamic, its symbols
                changed[at + size * section + member : at + size * section + member + (4 if member == 40 else 8)] = value.to_bytes(
                    4 if member == 40 else 8, "little")
        file = folder / f"damaged{i}/imports.cpu.so"
        file.parent.mkdir()
        file.write_bytes(changed)
        done = test(sluice, file)
        check(done.returncode in (0, 1) and "(tables)" in done.stdout, f"damage {i}: {done.returncode} {done.stderr}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(sys.argv[1], sys.argv[2], Path(name))
