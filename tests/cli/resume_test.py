"""--checkpoint and --resume: after any number of SIGKILLs the files of the sinks are those of an undisturbed run, byte for byte,
and so are events, totals and digests of the summary.
"""
import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from common import BRIEF, ROOT, SLUICE, Checks, call

checks = Checks()
draw = random.Random(46)
KILLS = 8 if BRIEF else 50  # of each kind: files, folders
GRAPH = (ROOT / "graphs/decisions.yaml", "--with", "write.yaml", "--digest")
SAME = ("events", "error_events", "outputs", "totals", "errors")


def end(process, seconds):
    """Kills the process after this time; returns its status, None if it was killed, and its messages."""
    try:
        text = process.communicate(timeout=seconds)[1]
        return process.returncode, text
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        return None, process.communicate()[1]


COMMAND = [SLUICE, "run", *map(str, GRAPH), "--rotate", "700kB", "--checkpoint", "c", "--resume", "-o", "c-%Y-%04d.mdf", "--json", "c.json"]


def start(*arguments):
    return subprocess.Popen([*COMMAND, "--quiet", "--slice-events", str(draw.randrange(1, 9)), "--slots", str(draw.randrange(1, 3)), *map(str, arguments)],
                            stderr=subprocess.PIPE, text=True)


def clear():
    for path in [*Path().glob("c-*"), *Path().glob("c.json*"), Path("c")]:
        path.unlink(missing_ok=True)


def written():
    paths = sorted(Path().glob("c-*.mdf"))
    return b"".join(path.read_bytes() for path in paths), len(paths)


def is_same(whole):
    summary = json.loads(Path("c.json").read_text())
    return all(summary[key] == whole[key] for key in SAME)


def of_files(whole):
    """Runs over several files, killed at random times until one of them ends."""
    kills = rounds = 0
    seconds = 0.2
    while kills < KILLS:
        clear()
        status, messages = None, ""
        attempts = 0
        while status is None:
            attempts += 1
            begin = time.monotonic()
            status, messages = end(start("-i", "a.mdf", "empty.mdf", "b.mdf"), 0.03 + draw.random() * seconds * attempts)
            kills += status is None
        seconds = time.monotonic() - begin if attempts == 1 else seconds
        data, count = written()
        if status != 0 or data != whole["bytes"] or not is_same(whole):
            checks.that(False, f"files: round {rounds}: status {status}, {len(data)} bytes in {count} files: {messages}")
        rounds += 1
    checks.that(kills >= KILLS and not list(Path().glob("*.part*")), f"files: {rounds} runs with {kills} kills give the same bytes and sums, and nothing is left")


def of_folder(whole):
    """Runs that follow a folder, with half of the files arriving later, with and without a folder for processed files."""
    kills = rounds = 0
    while kills < KILLS:
        clear()
        for name in ("in", "done"):
            shutil.rmtree(name, ignore_errors=True)
            Path(name).mkdir()
        files = sorted(Path("parts").iterdir())
        for path in files[:5]:
            shutil.copy(path, "in")
        done = ("--done", "done") if rounds % 2 else ()
        attempts, status = 0, None
        while status is None or attempts < 4:
            attempts += 1
            if attempts == 3:
                for path in files[5:]:
                    shutil.copy(path, "in/.new")
                    Path("in/.new").rename(Path("in") / path.name)
            status, messages = end(start("--follow", "in", "--pattern", "*.mdf", *done, "--until-idle", "0.2"), 0.05 + draw.random() * 0.3 * attempts)
            kills += status is None
            if status not in (None, 0):
                break
        data, count = written()
        left = len(list(Path("in").iterdir()))
        if status != 0 or data != whole["bytes"] or left != (0 if done else len(files)) or not is_same(whole):
            checks.that(False, f"folder: round {rounds}: status {status}, {len(data)} bytes in {count} files, {left} files in the folder: {messages}")
        rounds += 1
    checks.that(kills >= KILLS, f"folders: {rounds} services with {kills} kills give the same bytes and sums; processed files are moved")


def nothing_new(whole):
    """A service that is started again and finds no file has no graph; its summary has the sums of the checkpoint."""
    status, text = end(start("--follow", "in", "--pattern", "*.mdf", "--until-idle", "0.2"), 60)
    summary = json.loads(Path("c.json").read_text())
    checks.that(status == 0 and is_same(whole) and summary["follow"]["taken"] == 0 and summary["status"] == "ok" and "nodes" not in summary,
                f"without a new file, the summary has the {summary['events']} events, outputs and totals of the checkpoint: {text.strip()}")
    checks.that(summary["rotations"] == written()[1] - 1 and len(summary["graph_digest"]) == 16, f"and {summary['rotations']} rotations")
    process = subprocess.Popen([*COMMAND, "--follow", "in", "--pattern", "*.mdf"], stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()  # it waits for a file
    process.terminate()
    status = end(process, 60)[0]
    summary = json.loads(Path("c.json").read_text())
    checks.that(status == 143 and is_same(whole) and summary["status"] == "interrupted", f"also when it is stopped while it waits: {line.strip()}")
    call("run", ROOT / "graphs/decisions.yaml", "--with", "write.yaml", "--follow", "parts", "--until-idle", "0.2", "--rotate", "1h", "-o", "d-%04d.mdf",
         "--checkpoint", "d", "--quiet")
    done = subprocess.run([SLUICE, "run", *map(str, GRAPH), "--follow", "parts", "--until-idle", "0.2", "--rotate", "1h", "-o", "d-%04d.mdf", "--checkpoint", "d", "--resume",
                           "--json", "d.json", "--quiet"], capture_output=True, text=True, timeout=60)
    checks.that(done.returncode == 0 and json.loads(Path("d.json").read_text())["outputs"][0]["digest"] is None, f"a digest that was not computed is null: {done.stderr.strip()}")


def other_files():
    """Only temporary files of this run are removed."""
    clear()
    mine, others = ("c-2026-0007.mdf.part", "c-2026-12345.mdf.part3", "c.json.part"), ("c-other-2026-0001.mdf.part", "c-2026-0001.mdf.part.x", "c-2026-0001.mdf.partly", "c-26-0001.mdf.part")
    for name in (*mine, *others):
        Path(name).touch()
    status = end(start("-i", "a.mdf"), 60)[0]
    left = [Path(name).exists() for name in (*mine, *others)]
    checks.that(status == 0 and left == [False] * len(mine) + [True] * len(others), f"files of other runs are not removed: {left}")
    for name in others:
        Path(name).unlink()


def waiting(output, *arguments):
    """A run that has opened its output and waits for more input."""
    before = set(Path().iterdir())
    process = subprocess.Popen([SLUICE, "run", str(ROOT / "graphs/common/raw.yaml"), "--with", "write.yaml", "-i", "-", "-o", output, "--quiet", *arguments],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=False)
    process.stdin.write(Path("b.mdf").read_bytes()[:200000])
    process.stdin.flush()
    until = time.monotonic() + 60
    while not any(".part" in path.name for path in set(Path().iterdir()) - before) and time.monotonic() < until:
        time.sleep(0.005)
    return process


def leftovers():
    """A run without --resume reports temporary files that no process writes, once for each of its outputs."""
    def warnings(*arguments, command="run", expect=0):
        done = call(command, ROOT / "graphs/common/raw.yaml", "--with", "write.yaml", *arguments, expect=expect)
        return [line for line in done.stderr.splitlines() if "left" in line]

    rotated = ("-i", "a.mdf", "-o", "l-%04d.mdf", "--rotate", "1h", "--json", "l.json")
    mine = ("l-0000.mdf.part", "l-0003.mdf.part", "l-0007.mdf.part2", "l-12345.mdf.part3", "l.json.part")
    others = ("l-x-0001.mdf.part", "l-0001.mdf.part.x", "l-0001.mdf.partly", "l-26.mdf.part", "other.json.part")
    for name in (*mine, *others):
        Path(name).touch()
    live = waiting("l-0005.mdf")
    checks.that(Path("l-0005.mdf.part").exists(), "another run writes l-0005.mdf")
    found = warnings(*rotated)
    checks.that(found == ["warning: --json l.json: an earlier run has left l.json.part",
                          "warning: -o l-%04d.mdf: earlier runs have left l-0000.mdf.part, l-0003.mdf.part, l-0007.mdf.part2 and 1 more"], f"a warning per output names them: {found}")
    checks.that(all(Path(name).exists() for name in (*mine, *others)), "nothing is removed")
    live.kill()
    live.communicate()
    for name in mine:
        Path(name).unlink()
    Path("l-0000.mdf").unlink()
    found = warnings(*rotated)
    checks.that(found == ["warning: -o l-%04d.mdf: an earlier run has left l-0005.mdf.part"], f"the file of a process that was killed is reported: {found}")
    Path("l-0000.mdf").unlink()
    checks.that(not warnings("--set", "write.path=l-0005.mdf", command="check"), "only runs report them")

    Path("target.mdf").touch()
    Path("link.mdf").symlink_to("target.mdf")
    long = 250 * "n"
    for output in ("k.mdf", "link.mdf", long):
        process = waiting(output)
        process.kill()
        process.communicate()
        left = [path for path in Path().glob("*.part") if path.name not in others and not path.name.startswith("l-")]
        name = left[0].resolve() if output == "link.mdf" else left[0]
        found = warnings("-i", "a.mdf", "-o", output)
        checks.that(len(left) == 1 and found == [f"warning: -o {output}: an earlier run has left {name}"], f"{output[:8]}: {found}")
        found = warnings("-i", "a.mdf", "--set", f"write.path={output}")
        checks.that(len(found) == 1 and found[0].endswith(f"node write: path: {output}: an earlier run has left {name}"), f"{output[:8]} as a property: {found}")
        left[0].unlink()
    for path in Path().glob("l-*"):
        path.unlink()


def stopped_and_continued(whole):
    clear()
    process = start("-i", "a.mdf", "empty.mdf", "b.mdf")
    until = time.monotonic() + 30
    while not Path("c").exists() and time.monotonic() < until:
        time.sleep(0.005)
    process.terminate()
    status = end(process, 60)[0]
    first = written()[1]
    status = end(start("-i", "a.mdf", "empty.mdf", "b.mdf"), 60)[0] if status == 143 else status
    checks.that(status == 0 and written()[0] == whole["bytes"] and is_same(whole), f"a run that was stopped after {first} files is continued")
    before = {path: path.stat().st_mtime_ns for path in Path().glob("c-*.mdf")}
    status, text = end(start("-i", "a.mdf", "empty.mdf", "b.mdf"), 60)
    after = {path: path.stat().st_mtime_ns for path in Path().glob("c-*.mdf")}
    checks.that(status == 0 and before == after and is_same(whole), f"a complete run is not repeated: {text.strip()}")


def reports(whole):
    """The report of a sink after --resume states how many events came before it."""
    clear()
    process = start("-i", "a.mdf", "empty.mdf", "b.mdf", "--slots", 1)
    until = time.monotonic() + 60
    while not Path("c").exists() and time.monotonic() < until:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    done = subprocess.run([*COMMAND, "-i", "a.mdf", "empty.mdf", "b.mdf"], capture_output=True, text=True, timeout=60)
    summary = json.loads(Path("c.json").read_text())
    result, before = summary["results"]["write"], summary["events_before"]
    checks.that(0 < before < 120 and result["events_before"] == before and result["events"] == 120 - before and is_same(whole),
                f"the sink reports {result['events']} events after {before}, which an earlier process has delivered")
    checks.that(f"\nresumed      after {before} event" in done.stdout, "as does the table")
    checks.that(whole["events_before"] == 0 and "events_before" not in whole["results"]["write"], "a run that is not resumed reports all its events")


def refusals():
    run = ("run", *GRAPH, "-o", "x-%04d.mdf")
    for arguments, message in (
            (("-i", "a.mdf", "--checkpoint", "x"), "--checkpoint needs --rotate"),
            (("-i", "a.mdf", "--resume", "--rotate", "1s"), "--resume needs --checkpoint FILE"),
            (("-i", "a.mdf", "--checkpoint", "c", "--rotate", "1s"), "--checkpoint c: it exists"),
            (("-i", "a.mdf", "--checkpoint", "c", "--rotate", "1s", "--resume"), "of a run over other input"),
            (("-i", "a.mdf", "empty.mdf", "b.mdf", "--checkpoint", "c", "--rotate", "1s", "--resume", "--set", "write.with_errors=false"), "of a run of another graph"),
            (("-i", "a.mdf", "--checkpoint", "damaged", "--rotate", "1s", "--resume"), "not a whole checkpoint"),
            (("-i", "a.mdf", "--checkpoint", "short", "--rotate", "1s", "--resume"), "not a whole checkpoint"),
            (("-i", "-", "--checkpoint", "x", "--rotate", "1s"), "a pipe or socket cannot be read again"),
            (("-i", "pipe", "--checkpoint", "x", "--rotate", "1s"), "a pipe or socket cannot be read again"),
            (("-i", "a.mdf", "--checkpoint", "x", "--rotate", "1s", "--repeat", "2"), "is not possible with --repeat"),
            (("-i", "a.mdf", "--checkpoint", "-", "--rotate", "1s"), "--checkpoint needs a file"),
            (("-i", "a.mdf", "--checkpoint", "a.mdf", "--rotate", "1s"), "an input of this run"),
            (("-i", "a.mdf", "--checkpoint", "x", "--json", "x", "--rotate", "1s"), "the file of --"),
            (("-i", "a.mdf", "--checkpoint", "none/x", "--rotate", "1s"), "none/x: cannot be written"),
            (("--follow", "in", "--checkpoint", "c", "--rotate", "1s", "--resume"), "of a run that did not follow a folder"),
            (("-i", "a.mdf", "--checkpoint", "plain", "--rotate", "1s", "--resume"), "plain: of a run without --digest"),
            (("--follow", "in", "--checkpoint", "old", "--rotate", "1s", "--resume"), "old: not a checkpoint of this version")):
        done = subprocess.run([SLUICE, *map(str, run), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        checks.that(done.returncode == 2 and done.stderr.count("error: ") == 1 and message in done.stderr, f"refused: {done.stderr.splitlines()[0] if done.stderr else done}")
    checks.that(not list(Path().glob("x-*")), "and nothing is written")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    Path("write.yaml").write_text("sluice: 1\nnodes: { write: { use: io.mdf_sink, set: { with_errors: true } } }\n")
    Path("parts").mkdir()
    for seed in range(10):
        call("run", ROOT / "graphs/simulate.yaml", "-n", 12, "--set", f"seed={seed}", "-o", f"parts/f{seed}.mdf", "--quiet")
    parts = [path.read_bytes() for path in sorted(Path("parts").iterdir())]
    damaged = bytearray(b"".join(parts[:5]))
    damaged[80:88] = b"\xff" * 8  # in the banks of the first event
    Path("a.mdf").write_bytes(damaged)
    Path("empty.mdf").touch()
    Path("b.mdf").write_bytes(b"".join(parts[5:]))
    wholes = []
    for inputs in (("a.mdf", "empty.mdf", "b.mdf"), sorted(Path("parts").iterdir())):
        call("run", *GRAPH, "-i", *inputs, "-o", "whole.mdf", "--json", "whole.json", "--quiet")
        wholes.append({**json.loads(Path("whole.json").read_text()), "bytes": Path("whole.mdf").read_bytes()})
    checks.that(wholes[0]["error_events"] == 1 and wholes[0]["events"] == 120, "the input has an event with an error")
    of_files(wholes[0])
    of_folder(wholes[1])
    nothing_new(wholes[1])
    other_files()
    leftovers()
    reports(wholes[0])
    stopped_and_continued(wholes[0])
    text = Path("c").read_bytes()
    Path("damaged").write_bytes(text.replace(b"events 120", b"events 121"))
    Path("short").write_bytes(text[: len(text) // 2])
    call("run", *GRAPH[:-1], "-i", "a.mdf", "-o", "plain-%04d.mdf", "--rotate", "1s", "--checkpoint", "plain", "--quiet")
    call("run", *GRAPH, "-i", "a.mdf", "-o", "old-%04d.mdf", "--rotate", "1s", "--checkpoint", "old", "--json", "old.json", "--quiet")
    text = Path("old").read_bytes().replace(b"sluice checkpoint ", b"sluice checkpoint 9", 1)
    text = text[:text.rindex(b"check ")]
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxh3.restype, xxh3.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)
    Path("old").write_bytes(text + b"check %016x\n" % xxh3(text, len(text)))
    os.mkfifo("pipe")
    refusals()
    os.chdir("/")
checks.end()
