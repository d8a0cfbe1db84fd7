#!/usr/bin/env python3
"""scripts/shared_pointers.py reports pointers that the compiler takes for shared memory by mistake, and no others."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from shared_pointers import wrong_pointers  # noqa: E402

KERNEL = ".visible .entry decode(\n\t.param .align 8 .b8 decode_param_0[64]\n)\n{\n"
TAKEN = "\t{ .reg .b64 %tmp;\n\t  cvta.to.shared.u64 \t%tmp, %rd2;\n\t  cvt.u32.u64 \t%r9, %tmp; }\n"
# Name, PTX, how many are wrong.
CASES = [
    ("a parameter", KERNEL + "\tld.param.u64 \t%rd2, [decode_param_0+8];\n" + TAKEN + "}\n", 1),
    ("a parameter, through a register", KERNEL + "\tmov.b64 \t%rd1, decode_param_0;\n\tld.param.b64 \t%rd2, [%rd1+544];\n" + TAKEN + "}\n", 1),
    ("two parameters at once", KERNEL + "\tld.param.v2.u64 \t{%rd1, %rd2}, [decode_param_0];\n" + TAKEN + "}\n", 1),
    ("global memory", KERNEL + "\t@%p1 ld.global.nc.u64 \t%rd2, [%rd7];\n" + TAKEN + "}\n", 1),
    ("both in one kernel", KERNEL + "\tld.param.u64 \t%rd2, [decode_param_0];\n" + TAKEN + "\tld.const.u64 \t%rd2, [table];\n" + TAKEN + "}\n", 2),
    ("shared memory", KERNEL + "\tld.shared.u64 \t%rd2, [%r3];\n" + TAKEN + "}\n", 0),
    ("an address in shared memory", KERNEL + "\tmov.u32 \t%r1, next;\n\tcvt.u64.u32 \t%rd1, %r1;\n\tcvta.shared.u64 \t%rd2, %rd1;\n" + TAKEN + "}\n", 0),
    ("a register that was loaded before", KERNEL + "\tld.param.u64 \t%rd2, [decode_param_0];\n\tcvta.shared.u64 \t%rd2, %rd1;\n" + TAKEN + "}\n", 0),
    ("another kernel's register", KERNEL + "\tld.param.u64 \t%rd2, [decode_param_0];\n}\n" + KERNEL + TAKEN + "}\n", 0),
    ("a pointer converted to global memory", KERNEL + "\tld.param.u64 \t%rd2, [decode_param_0];\n\tcvta.to.global.u64 \t%rd3, %rd2;\n}\n", 0),
]
failed = 0
for name, text, expected in CASES:
    found = list(wrong_pointers(text))
    if len(found) != expected or any(function != "decode" for _, function, _ in found):
        print(f"FAILED  {name}: {found}, expected {expected}")
        failed += 1
print(f"{len(CASES) - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
