"""The folder of a run: its input, its finished tasks and its report.

    manifest.json           graph, files, options, and the digest of index.jsonl; written once, first
    index.jsonl             the parts of the files, one per line, in input order
    tasks/000012/           finished task 12: result.json, and the files of sinks
    tasks/.000012.HOST.ID/  an attempt at task 12
    report.json             the combined result, written at the end

A task is finished when the folder of an attempt gets the task's name, by one rename that fails if the name exists. So
the files and result of a task are complete and of one attempt, however often the task runs, even concurrently.

If several clients start a run at the same time, one of them writes the manifest. The others continue that run, or are
refused if their run differs. The index follows from the files, so each client may write it.
"""
from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import hashlib
import itertools
import json
import os
import pathlib
import secrets
import shutil
import socket
import stat
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import Error
from ..parts import Part

FORMAT = 2
RESULT = "result.json"


@dataclasses.dataclass(frozen=True)
class InputFile:
    """An input file as it was when the run began. Tasks that read it fail if it has changed."""

    path: str
    bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: str) -> InputFile:
        status = os.stat(path)
        return cls(path, status.st_size, status.st_mtime_ns)

    def difference(self, other: InputFile) -> str:
        if self.path != other.path:
            return f"{self.path} was read, and not {other.path}"
        if self.bytes != other.bytes:
            return f"{self.path} had {self.bytes} bytes, and has {other.bytes}"
        return f"{self.path} was changed: its time was {self.mtime_ns} ns, and is {other.mtime_ns} ns"


@dataclasses.dataclass(frozen=True)
class Manifest:
    """Everything that determines the results. A run with another manifest needs another folder.

    graph: text of the whole graph, with all defaults and the source for these files. names: the file name of each sink
    that writes one. has_one_sink: whether exactly one sink can write a file. files: the input files, each once. input:
    files or parts of files, in the order in which they are read. part_count, index_digest: number of parts and SHA-256
    of index.jsonl, known after the files are indexed.
    """

    version: str
    plugins: dict[str, str]
    graph_digest: str
    graph: str
    plugin_paths: list[str]
    names: dict[str, str]
    has_one_sink: bool
    events_per_task: int
    files: list[InputFile]
    input: list[Part]
    part_count: int = 0
    index_digest: str = ""

    @functools.cached_property
    def key(self) -> str:
        text = json.dumps([FORMAT, dataclasses.asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

    def differences(self, now: Manifest) -> list[str]:
        """Texts that describe how the manifest `now` differs from this earlier one."""
        found = []
        if self.version != now.version:
            found.append(f"Sluice was {self.version}, and is {now.version}")
        if self.plugins != now.plugins:
            found.append(f"the plugins were {_listed(self.plugins)}, and are {_listed(now.plugins)}")
        if (self.graph_digest, self.graph) != (now.graph_digest, now.graph):
            lines = difflib.unified_diff(self.graph.splitlines(), now.graph.splitlines(), lineterm="", n=0)
            changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("---", "+++")]
            shown = "; ".join(changed[:4]) + ("; ..." if len(changed) > 4 else "")
            found.append(f"the graph was {self.graph_digest}, and is {now.graph_digest}: {shown}")
        if self.plugin_paths != now.plugin_paths:
            found.append(f"plugin_paths was {self.plugin_paths}, and is {now.plugin_paths}")
        if self.names != now.names:
            found.append(f"names was {self.names}, and is {now.names}")
        if self.events_per_task != now.events_per_task:
            found.append(f"events_per_task was {self.events_per_task}, and is {now.events_per_task}")
        if len(self.files) != len(now.files):
            found.append(f"there were {len(self.files)} files, and are {len(now.files)}")
        changed_files = [a.difference(b) for a, b in zip(self.files, now.files) if a != b]
        found += changed_files[:3]
        if len(changed_files) > 3:
            found.append(f"so it is with {len(changed_files) - 3} more files")
        if self.files == now.files and self.input != now.input:
            pairs = itertools.zip_longest(self.input, now.input)
            was, is_ = next((a, b) for a, b in pairs if a != b)
            found.append(f"{_range_text(was)} was read, and not {_range_text(is_)}")
        return found


def _range_text(part: Part | None) -> str:
    if part is None:
        return "no further part"
    end = f"to byte {part.first_byte + part.bytes}" if part.bytes else "to the end"
    return f"{part.path} from byte {part.first_byte} {end}"


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _sync_folder(path: pathlib.Path) -> None:
    """Flushes the folder, so that the names in it are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unused(prefix: str) -> str:
    """A new name with a random suffix. Unlike with tempfile, the umask determines the mode of the file or folder."""
    return f"{prefix}.{secrets.token_hex(8)}"


def _keep_access(replaced: pathlib.Path, descriptor: int) -> None:
    """Gives a new file the mode and group of the file that it replaces, if there is one. If the group cannot be set,
    the group gets no permissions.
    """
    try:
        before = replaced.stat()
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(before.st_mode)
    try:
        os.fchown(descriptor, -1, before.st_gid)
    except PermissionError:
        mode &= ~stat.S_IRWXG
    os.fchmod(descriptor, mode)


def write_whole(path: pathlib.Path, text: str, replace: bool = True) -> None:
    """Writes a temporary file next to `path`, flushes it to the disk, and renames it. If `path` exists: FileExistsError
    without `replace`; otherwise it is replaced, and the new file has its mode and group.
    """
    temporary = path.with_name(_unused(f".{path.name}"))
    try:
        with open(temporary, "x", encoding="utf-8", errors="surrogateescape") as file:
            if replace:
                _keep_access(path, file.fileno())
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(temporary, path)
        else:
            os.link(temporary, path)
        _sync_folder(path.parent)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _read_text(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _index_text(parts: Sequence[Part]) -> str:
    return "".join(json.dumps(dataclasses.asdict(part)) + "\n" for part in parts)


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class Folder:
    """The folder of a run, which the client and all workers see under the same name."""

    def __init__(self, path: str) -> None:
        self.path = pathlib.Path(path)
        self.tasks = self.path / "tasks"
        self.index = self.path / "index.jsonl"

    # ----------------------------------------------------------------------------------------------------- input

    def check(self) -> None:
        """Error if the path, or its `tasks`, exists and is not a folder."""
        for path in (self.path, self.tasks):
            if os.path.lexists(path) and not path.is_dir():
                raise Error(f"{path}: is no folder; `out` is a folder, which is made if it is not there")

    def read_manifest(self) -> Manifest | None:
        """The manifest; None if there is none. Error if the file is not a manifest, or of another format."""
        path = self.path / "manifest.json"
        try:
            read: dict[str, Any] = json.loads(_read_text(path))
            if read["format"] != FORMAT:
                raise Error(f"{path}: is of format {read['format']}, and not {FORMAT}: give another folder")
            files = [InputFile(**file) for file in read.pop("files")]
            given = [Part(**part) for part in read.pop("input")]
            del read["format"]
            return Manifest(files=files, input=given, **read)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Error(f"{path}: is no manifest of a run ({error}): give another folder") from None

    def begin(self, manifest: Manifest, parts: Sequence[Part]) -> Manifest:
        """Claims the folder and returns the manifest. If another client was first, returns its manifest; Error if that
        differs.
        """
        self.tasks.mkdir(parents=True, exist_ok=True)
        index = _index_text(parts)
        manifest = dataclasses.replace(manifest, part_count=len(parts), index_digest=_digest_of(index))
        text = json.dumps({"format": FORMAT, **dataclasses.asdict(manifest)}, indent=1)
        try:
            write_whole(self.path / "manifest.json", text, replace=False)
        except FileExistsError:
            return self.resume(manifest)
        return manifest

    def resume(self, manifest: Manifest) -> Manifest:
        """The manifest of the run in this folder. Error with all differences if it is another run."""
        before = self.read_manifest()
        differences = before.differences(manifest) if before else ["its manifest is gone"]
        if before is None or differences:
            raise Error(
                f"{self.path} is the folder of another run: {'; '.join(differences)}; "
                "give another folder, or what that run was given"
            )
        if not self.tasks.is_dir():
            raise Error(
                f"{self.tasks}: is not there any more, and had the results of the tasks; give another folder, or make "
                "this one to run all tasks again"
            )
        return before

    def read_index(self, manifest: Manifest) -> list[Part] | None:
        """The parts of the run; None if the file does not exist. Error if it does not have the manifest's digest."""
        try:
            text = _read_text(self.index)
        except FileNotFoundError:
            return None
        if _digest_of(text) != manifest.index_digest:
            raise Error(
                f"{self.index}: was changed: it has {len(text.splitlines())} lines, and {manifest.part_count} parts were "
                "written to it; without it, the same call makes it anew"
            )
        return [Part(**json.loads(line)) for line in text.splitlines()]

    def write_index(self, manifest: Manifest, parts: Sequence[Part]) -> None:
        """Writes the index. Error if the parts do not have the manifest's digest."""
        text = _index_text(parts)
        if _digest_of(text) != manifest.index_digest:
            raise Error(
                f"{self.index}: is not there, and the files have other parts now, {len(parts)} of them, than the "
                f"{manifest.part_count} of the run: give another folder"
            )
        write_whole(self.index, text)

    # ----------------------------------------------------------------------------------------------------- tasks

    def task(self, number: int) -> pathlib.Path:
        return self.tasks / f"{number:06}"

    def check_tasks(self, count: int) -> None:
        """Error if `tasks` has entries other than the folders of `count` tasks. Hidden names (attempts) are ignored."""
        tasks = {self.task(number) for number in range(count)}
        others = [
            entry.name
            for entry in self.tasks.iterdir()
            if not entry.name.startswith(".") and not (entry in tasks and entry.is_dir())
        ]
        if others:
            shown = ", ".join(sorted(others)[:3]) + (", ..." if len(others) > 3 else "")
            raise Error(
                f"{self.tasks}: {shown} is the folder of none of the {count} tasks of the run; remove it, or give another "
                "folder"
            )

    def done(self, number: int, key: str, parts: Sequence[Part]) -> dict[str, Any] | None:
        """The result of task `number`, which runs `parts`, of the run `key`; None if the task is not finished. Error if
        the result is incomplete, or of another task or run.
        """
        path = self.task(number) / RESULT
        again = f"without {path.parent} the task is run again"
        was_there = path.parent.exists()  # before reading: another attempt may be renamed meanwhile
        try:
            result: dict[str, Any] = json.loads(_read_text(path))
            if result["run"] != key:
                raise Error(f"{path}: is the result of another run; {again}")
            if result["task"] != number or result["parts"] != [dataclasses.asdict(part) for part in parts]:
                raise Error(f"{path}: is the result of another task, {result['task']}; {again}")
            files = [(path.parent / file["name"], file["bytes"]) for file in result["files"].values()]
        except FileNotFoundError:
            if was_there:
                raise Error(f"{path}: is not there any more; {again}") from None
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Error(f"{path}: is no result of a task ({error!r}); {again}") from None
        for written, bytes_then in files:
            bytes_there = written.stat().st_size if written.exists() else None
            if bytes_there != bytes_then:
                there = "is not there any more" if bytes_there is None else f"has {bytes_there} bytes"
                raise Error(f"{written}: {there}, and had {bytes_then} when the task was done; {again}")
        return result

    @contextlib.contextmanager
    def attempt(self, number: int) -> Iterator[pathlib.Path]:
        """A folder for one attempt, removed at the end unless commit() has renamed it."""
        attempt = self.tasks / _unused(f".{number:06}.{socket.gethostname()}")
        attempt.mkdir()
        try:
            yield attempt
        finally:
            shutil.rmtree(attempt, ignore_errors=True)

    def commit(
        self, number: int, key: str, parts: Sequence[Part], attempt: pathlib.Path, result: dict[str, Any]
    ) -> dict[str, Any]:
        """Makes the attempt's files and result those of the task, and returns the result; that of another attempt if it
        was first.
        """
        result.update(run=key, task=number, parts=[dataclasses.asdict(part) for part in parts])
        result["files"] = {
            node: {"name": name, "bytes": (attempt / name).stat().st_size} for node, name in result["files"].items()
        }
        write_whole(attempt / RESULT, json.dumps(result))
        try:
            os.rename(attempt, self.task(number))
        except OSError:
            first = self.done(number, key, parts)
            if first is None:
                raise
            return first
        _sync_folder(self.tasks)
        return result

    def clean(self) -> None:
        """Removes folders of killed attempts. To be called when all tasks are finished; an attempt that still runs then
        finds its task finished.
        """
        for left in self.tasks.glob(".[0-9]*"):
            shutil.rmtree(left, ignore_errors=True)
