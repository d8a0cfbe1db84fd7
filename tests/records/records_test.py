#!/usr/bin/env python3
"""Record sources: files, pipes and several files give the same events for any slices; bad records, wrong lengths and ends of
files are errors of events with a message that names record and byte; headers that differ are refused.

records_test.py SLUICE PLUGINS
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sluice, plugins = sys.argv[1:]
graph = pathlib.Path(__file__).parent / "lists.yaml"
errors = 0


def check(is_right, what, seen=""):
    global errors
    errors += not is_right
    print(("ok    " if is_right else "WRONG ") + what, "" if is_right else seen)


def header(scale=1):
    return b"LISTS1" + struct.pack("<HI", 1, scale)


def record(number, items):
    body = b"".join(struct.pack("<fI", weight, len(parts)) + struct.pack(f"<{len(parts)}f", *parts) for weight, parts in items)
    return struct.pack("<III", 12 + len(body), number, len(items)) + body


def some(count, seed=1, first=0):
    draw = random.Random(seed)
    return [record(first + n, [(draw.random(), [draw.random() for _ in range(draw.randrange(4))])
                               for _ in range(draw.randrange(8))]) for n in range(count)]


def run(*paths, options=(), **arguments):
    result = folder / "run.json"
    result.unlink(missing_ok=True)
    inputs = [option for path in paths for option in ("-i", path)]
    done = subprocess.run([sluice, "run", graph, "--plugin-path", plugins, *inputs, "--digest", "--json", result,
                           *options], capture_output=True, text=True, **arguments)
    return done.returncode, done.stderr, json.loads(result.read_text()) if result.exists() else None


def write(name, *parts):
    path = folder / name
    path.write_bytes(b"".join(parts))
    return path


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    records = some(300)
    whole = write("whole.lists", header(), *records)
    status, text, reference = run(whole)
    check(status == 0 and reference["events"] == 300 and reference["error_events"] == 0, "all records are events", text)
    digest = reference["outputs"]
    check(digest[0]["items"] > 0, "there are items")
    for options in (("--slice-events", "1"), ("--slice-events", "7", "--slots", "3"), ("--slice-events", "1000"),
                    ("--set", "raw.items_per_event=1"), ("--set", "raw.parts_per_event=0"), ("--source-threads", "2")):
        status, text, found = run(whole, options=options)
        check(status == 0 and found["outputs"] == digest, f"the same with {' '.join(options)}", text)
    if os.environ["SLUICE_SIMT"] == "1":
        status, text, found = run(whole, options=("--device", "simt"))
        check(status == 0 and found["outputs"] == digest, "the same on simt", text)

    halves = [write("a.lists", header(), *records[:111]), write("b.lists", header()), write("c.lists", header(), *records[111:])]
    check(run(*halves)[2]["outputs"] == digest, "the same from three files, one of them without records")
    with whole.open("rb") as file:
        slow = "import sys,time\ndata=sys.stdin.buffer.read()\nfor i in range(0,len(data),997):\n" \
               " sys.stdout.buffer.write(data[i:i+997]); sys.stdout.buffer.flush(); time.sleep(0.001)"
        writer = subprocess.Popen([sys.executable, "-c", slow], stdin=file, stdout=subprocess.PIPE)
        status, text, found = run("-", stdin=writer.stdout)
        check(status == 0 and found["outputs"] == digest, "the same from a pipe in small pieces", text)
        writer.wait()

    scaled = write("scaled.lists", header(3), *records)
    status, text, found = run(scaled, options=("--set", "sums.times=${raw.scale}"))
    check(status == 0 and found["outputs"] != digest, "a value of the header sets a property", text)
    check(run(scaled, options=("--set", "sums.times=3"))[2]["outputs"] == found["outputs"], "as the number does")
    for options, expected in ((("--set", "sums.times=${raw.scael}"), "has no property `scael`"),
                              (("--set", "sums.times=${row.scale}"), "did you mean raw"),
                              (("--set", "raw.scale=4"), "`scale` is 4, but"),
                              (("-i", whole), "scale is 1; the run was planned for 3")):
        status, text, _ = run(scaled, options=options)
        check(status != 0 and expected in text, f"refused: {expected}", text)

    def bad(what, expected, count, bad_count, *parts, options=()):
        status, text, found = run(write("bad.lists", *parts), options=options)
        events = (found["events"], found["error_events"]) if found else None
        check(status == (count == bad_count) and events == (count, bad_count) and expected in text, f"{what}: {expected}", f"{events} {text}")
        small = run(folder / "bad.lists", options=("--slice-events", "1", *options))
        check(small[2] is not None and small[2]["outputs"] == found["outputs"], "  the same in slices of 1", small[1])

    size = len(records[0])
    bad("a refused record", f"record 1 at byte {12 + size}: id 666 is refused", 3, 1, header(), records[0], record(666, []),
        records[1])
    bad("an item that is too long", "item 0 goes beyond the record", 1, 1, header(), struct.pack("<IIIfI", 20, 5, 1, 1.0, 9))
    bad("a truncated record", f"truncated: the input ends after 10 of its {size} bytes", 2, 1, header(), records[1],
        records[0][:10])
    bad("a length of 3", "a record of 3 bytes, at least 12 are expected; the rest of the input is skipped", 2, 1, header(),
        records[0], struct.pack("<I", 3), records[1])
    bad("too many items", "too large: 17 items of `lists`", 3, 1, header(), records[0], record(1, [(1.0, [])] * 17), records[1])
    bad("too many parts", "too large: 33 subitems of `lists`", 2, 1, header(), record(1, [(1.0, [0.5] * 33)]), records[1])
    bad("too many parts in several items", "too large: 36 subitems of `lists`", 2, 1, header(),
        record(1, [(1.0, [0.5] * 9)] * 4), records[1])
    bad("a length of 4 GB", "truncated: the input ends after 12 of its 4294967295 bytes", 1, 1, header(),
        struct.pack("<III", 0xFFFFFFFF, 0, 0))
    status, text, _ = run(folder / "bad.lists", options=("--set", "raw.strict=true"))
    check(status == 1 and "the source is strict" in text, "strict ends the run", text)
    for data, expected in ((b"LISTS1", "ends after 6 of the 12 bytes of its header"), (b"", "is recognised")):
        status, text, _ = run(write("short.lists", data), options=("--use", "raw=lists.source") if not data else ())
        check(status != 0 or not data, f"refused: {expected}", text)
    status, text, found = run(write("none.lists", header()))
    check(status == 0 and found["events"] == 0, "a file without records has no events", text)

    fuzz = random.Random(5)
    data = whole.read_bytes()[:4000]
    for n in range(40):
        bytes_ = bytearray(data[:fuzz.randrange(12, len(data))])
        for _ in range(fuzz.randrange(1, 6)):
            bytes_[fuzz.randrange(12, len(bytes_))] = fuzz.randrange(256)
        status, text, found = run(write("fuzz.lists", bytes_))
        if status != 0 or "ERROR: AddressSanitizer" in text or "runtime error" in text:
            check(False, f"damaged file {n}", f"{status} {text}")
    check(True, "40 damaged files are read to their end")
sys.exit(errors > 0)
