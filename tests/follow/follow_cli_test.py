#!/usr/bin/env python3
"""A followed folder: files are processed in the order of their names as they become complete, with the results of a run over
the same files; bad files are left out with a message; processed files are moved; memory does not grow with their number.

follow_cli_test.py SLUICE PLUGINS
"""
import json
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

sluice, plugins = sys.argv[1:]
graph = pathlib.Path(__file__).parents[1] / "records/lists.yaml"
BRIEF = "SLUICE_TEST_BRIEF" in os.environ
SECONDS = 60
errors = 0


def check(is_right, what, seen=""):
    global errors
    errors += not is_right
    print(("ok    " if is_right else "WRONG ") + what, "" if is_right else seen)


def lists(count, seed=1, scale=1):
    """A file of the source in tests/records."""
    draw = random.Random(seed)
    text = b"LISTS1" + struct.pack("<HI", 1, scale)
    for n in range(count):
        items = [[draw.random() for _ in range(draw.randrange(4))] for _ in range(draw.randrange(8))]
        body = b"".join(struct.pack("<fI", draw.random(), len(parts)) + struct.pack(f"<{len(parts)}f", *parts) for parts in items)
        text += struct.pack("<III", 12 + len(body), 1000 * seed + n, len(items)) + body
    return text


BAD = struct.pack("<III", 12, 666, 0)  # a record that the source refuses


class Case:
    """A folder, and a run that follows it."""

    def __init__(self, name, *options, files=(), graph=graph, start=True):
        self.top = pathlib.Path(tempfile.mkdtemp(dir=root, prefix=name.replace(" ", "-") + "-"))
        self.name, self.folder, self.done, self.json = name, self.top / "in", self.top / "done", self.top / "run.json"
        self.folder.mkdir()
        self.done.mkdir()
        self.graph, self.options = graph, [str(option) for option in options]
        for file, content in dict(files).items():
            (self.folder / file).write_bytes(content)
        if start:
            self.start()

    def start(self):
        options = [self.done if option == "DONE" else option for option in self.options]
        self.log = (self.top / "messages").open("w+")
        self.process = subprocess.Popen([sluice, "run", self.graph, "--plugin-path", plugins, "--follow", self.folder, "--digest",
                                         "--json", self.json, "--metrics", self.top / "metrics", *options],
                                        stderr=self.log, stdout=subprocess.PIPE, text=True)

    def move_in(self, name, content):
        (self.top / "new").write_bytes(content)
        (self.top / "new").rename(self.folder / name)

    def messages(self):
        return (self.top / "messages").read_text()

    def until(self, condition):
        begin = time.monotonic()
        while not condition() and self.process.poll() is None and time.monotonic() - begin < SECONDS:
            time.sleep(0.02)
        return condition()

    def until_moved(self, *names):
        return self.until(lambda: all((self.done / name).exists() for name in names))

    def end(self, send=None):
        if send:
            self.process.send_signal(send)
        try:
            self.table = self.process.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.table = "it did not end" + self.process.communicate()[0]
        self.log.close()
        self.summary = json.loads(self.json.read_text()) if self.json.exists() else {}
        return self.process.returncode

    def counts(self):
        found = self.summary.get("follow") or {}
        return [found.get(key) for key in ("taken", "refused", "late", "waiting", "moved")]

    def check(self, status, events, counts, *texts):
        """Status, events, the counts of files, and texts of messages."""
        seen = f"{self.process.returncode} {self.summary.get('events')} {self.counts()}\n{self.messages()}{self.table}"
        right = self.process.returncode == status and self.summary.get("events") == events and self.counts() == list(counts)
        check(right and all(text in self.messages() for text in texts), self.name, seen)


def reference(folder, *names):
    """The outputs of a run over files named with -i."""
    found = folder / "reference.json"
    paths = [option for name in names for option in ("-i", folder / name)]
    subprocess.run([sluice, "run", graph, "--plugin-path", plugins, *paths, "--digest", "--quiet", "--json", found], check=True,
                   stderr=subprocess.DEVNULL)
    return json.loads(found.read_text())


def files_that_are_there():
    parts = {f"{n:02}.lists": lists(20 + n, seed=n + 1) for n in range(8)}
    ignored = {".hidden": b"x", "99.part": b"x", "98.part2": b"x", "text": b"x"}
    case = Case("files that are there", "--pattern", "*.lists", "--until-idle", 0.2, "--slice-events", 7, "--slots", 2,
                files=parts | ignored)
    case.end()
    expected = reference(case.folder, *parts)
    case.check(0, expected["events"], [8, 0, 0, 0, 0])
    check(case.summary["outputs"] == expected["outputs"], "  the digests are those of -i", case.summary["outputs"])
    check("in, followed: 8 files taken, 0 refused, 0 late, 0 waiting; read by lists.source" in case.table, "  the table", case.table)
    check(case.summary["inputs"] == [], "  no input is named", case.summary["inputs"])
    metrics = (case.top / "metrics").read_text()
    check("\nsluice_files_taken_total 8\n" in metrics and "\nsluice_files_waiting 0\n" in metrics, "  the metrics", metrics)


def files_that_arrive():
    case = Case("files that arrive, and are moved", "--done", "DONE", "--until-idle", 0.5)
    check(case.until(lambda: "waiting for a file" in case.messages()), "an empty folder is waited for", case.messages())
    parts = {"b": lists(30, seed=2), "c": lists(5, seed=3), "a": lists(9, seed=1), "d": lists(3, seed=4)}
    for name, content in parts.items():
        case.move_in(name, content)
        case.until_moved(name)
    case.end()
    case.check(0, 47, [4, 0, 1, 0, 4], "/a is late: c was taken before it")
    check(sorted(os.listdir(case.done)) == sorted(parts) and os.listdir(case.folder) == [], "  all files are in the other folder")
    expected = reference(case.done, *parts)
    check(case.summary["outputs"] == expected["outputs"], "  the digests are those of -i", case.summary["outputs"])


def files_written_slowly():
    case = Case("files written slowly, and a file that was there", "--complete", "close", "--done", "DONE", "--until-idle", 1, files={"a": lists(10)})
    content = lists(50, seed=2)
    with (case.folder / "b").open("wb", buffering=0) as file:
        for begin in range(0, len(content), 300):
            file.write(content[begin:begin + 300])
            time.sleep(0.1)
    case.end()
    case.check(0, 60, [2, 0, 1, 0, 2], "/a is late: b was taken before it")  # it must not change for 5 s
    check(case.summary["error_events"] == 0, "  no event is cut", case.summary["errors"])


def bad_files():
    good = lists(10)
    files = {"a": good, "b": b"no lists", "c": good[:-5], "d": lists(10, scale=2), "e": good + BAD + BAD, "f": b"", "g": good[:8],
             "h": lists(10, seed=2)}
    case = Case("bad files are left out", "--done", "DONE", "--until-idle", 0.2, files=files)
    case.end()
    case.check(0, 42, [6, 4, 0, 0, 4], "/b: not recognised by lists.source", "/c: record 19 at byte", "/d: scale is 2; the run",
               "/e: record 30 at byte", "/f: not recognised", "/g: it ends after 8 of the 12 bytes")
    check(sorted(os.listdir(case.done)) == ["a", "c", "e", "h"], "  they stay in the folder", os.listdir(case.done))
    expected = reference(case.done, "a", "c", "e", "h")
    same = all(case.summary[key] == expected[key] for key in ("events", "error_events", "outputs"))
    check(same, "  the other files give the results of -i", case.summary)
    first = {error["reason"]: error["first"]["file"] for error in case.summary["errors"]}
    check(first == {"truncated": str(case.folder / "c"), "corrupt": str(case.folder / "e")}, "  first events name their file", first)
    for error, of_files in zip(case.summary["errors"], expected["errors"]):
        check(error["first"]["event"] == of_files["first"]["event"], "  and have the numbers of -i", (error, of_files))

    case = Case("a strict source ends the run", "--set", "raw.strict=true", "--until-idle", 0.2, files=files)
    case.end()
    case.check(1, 10, [1, 1, 0, 6, 0], "/b: not recognised")
    case = Case("the first file is not recognised", "--until-idle", 0.2, files={"a": b"no lists", "b": good[:4], "c": good})
    case.end()
    case.check(0, 10, [1, 2, 0, 0, 0], "/a ends after 8 of the 12 bytes", "/b ends after 4 of the 12 bytes")
    case = Case("no file has a header", "--until-idle", 0.2, files={"a": b"no lists"})
    case.end()
    case.check(0, 0, [0, 1, 0, 0, 0], "/a ends after 8 of the 12 bytes", "no file arrived in")
    case = Case("a wrong graph is refused", "--set", "sums.tmies=2", files={"a": good})
    check(case.end() == 2 and "did you mean times?" in case.messages(), case.name, case.messages())


def other_kinds():
    """The source is chosen for the first file that one recognises."""
    simulated = pathlib.Path(root) / "events.mdf"
    graphs = pathlib.Path(__file__).parents[2] / "graphs"
    subprocess.run([sluice, "run", graphs / "simulate.yaml", "-n", "4", "-o", simulated, "--quiet"], check=True)
    content = simulated.read_bytes()
    files = {"a": b"no events", "b": content, "c": lists(5), "d": content[:-9], "e": content}
    case = Case("files of other kinds are left out", "--until-idle", 0.2, files=files, graph=graphs / "velo_counts.yaml")
    case.end()
    case.check(0, 12, [3, 2, 0, 0, 0], "no source recognises", "/a; tried: ", "/c: not recognised by io.mdf_source", "/d: record at byte")


def signals():
    case = Case("SIGTERM ends the run", "--done", "DONE", "--set", "raw.strict=true", files={"a": lists(10)})
    case.until_moved("a")
    case.end(signal.SIGTERM)
    case.check(128 + signal.SIGTERM, 10, [1, 0, 0, 0, 1], "stopped by SIGTERM before its end, after 10 events")
    case = Case("SIGINT before the first file")
    case.until(lambda: "waiting for a file" in case.messages())
    case.end(signal.SIGINT)
    case.check(128 + signal.SIGINT, 0, [0, 0, 0, 0, 0], "the run was stopped before a file arrived in")
    case = Case("-n ends the run", "-n", 15, "--done", "DONE", files={"a": lists(10), "b": lists(10, seed=2)})
    case.end()
    case.check(0, 15, [2, 0, 0, 0, 1])


def links():
    case = Case("a link to a file is taken, others are not", "--until-idle", 0.2, start=False, files={"a": lists(10)})
    (case.top / "elsewhere").write_bytes(lists(10, seed=2))
    for name, target in {"b": "elsewhere", "c": "nowhere", "d": "done"}.items():
        (case.folder / name).symlink_to(case.top / target)
    os.mkfifo(case.folder / "e")
    case.start()
    case.end()
    case.check(0, 20, [2, 0, 0, 0, 0])


def many_files():
    def peak(count):
        case = Case(f"{count} files", "--done", "DONE", "--until-idle", 0.3, "--quiet")
        for n in range(count):
            case.move_in(f"{n:06}", lists(2, seed=n + 1))
        case.end()
        case.check(0, 2 * count, [count, 0, 0, 0, count])
        return case.summary["peak_rss_bytes"]
    few, many = (20, 200) if BRIEF else (200, 2000)
    less, more = peak(few), peak(many)
    is_measured = "sanitizers" not in subprocess.run([sluice, "--version"], capture_output=True, text=True).stdout
    if not BRIEF and is_measured:  # a sanitizer keeps freed memory
        check(more < less + (1 << 20), f"{many} files take no more memory than {few}", f"{less} {more}")


def options():
    case = Case("options", start=False, files={"a": lists(1)})
    for arguments, expected in (
            (("--done", case.folder), "--done has no effect without --follow"),
            (("--until-idle", "1"), "--until-idle has no effect on inputs that end by themselves"),
            (("--follow", case.folder, "-i", case.folder / "a"), "a run that follows a folder has no other input files"),
            (("--follow", case.folder, "--repeat", "2"), "cannot be kept to be repeated"),
            (("--follow", case.folder, "--complete", "now"), "--complete is rename or close, not 'now'"),
            (("--follow", case.folder, "--until-idle", "-1"), "--until-idle needs seconds"),
            (("--follow", case.folder, "--pattern", "x/*"), "the pattern 'x/*' matches no name of a file"),
            (("--follow", case.folder, "--done", case.folder), "is the followed folder"),
            (("--follow", case.folder, "--json", case.folder / "j"), "the run would take it from the followed folder as an input"),
            (("--follow", case.top / "none"), "none: No such file or directory"),
            (("-i", case.folder), "--follow takes the files of a folder as they arrive")):
        done = subprocess.run([sluice, "run", graph, "--plugin-path", plugins, *arguments], capture_output=True, text=True,
                              timeout=SECONDS)
        check(done.returncode == 2 and re.search("^error: ", done.stderr, re.M) and expected in done.stderr, f"refused: {expected}",
              f"{done.returncode} {done.stderr}")


with tempfile.TemporaryDirectory() as root:
    for part in (files_that_are_there, files_that_arrive, files_written_slowly, bad_files, other_kinds, signals, links, many_files,
                 options):
        part()
print(f"{errors} wrong")
sys.exit(errors > 0)
