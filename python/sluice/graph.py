"""Graphs: read from files or text, or written in Python; inspected, and run."""
from __future__ import annotations

import dataclasses
import enum
import html
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union

from . import _abi, _arguments
from ._exchange import Check, Progress
from ._feed import Given, Pushed
from ._library import Diagnostics, library, text_of
from ._session import Session, Settings
from .arrays import Arrays
from .constant import Constant, read_constants
from .errors import Error, GraphError, SluiceWarning, failure, warn
from .explanation import Explanation, explain
from .feed import Feed
from .follow import Follow
from .parts import files_of, from_here, input_from_here
from .run import Run
from .serve import Serve
from .source import Entry, Inputs

Paths = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]]]


class Port:
    """A node's port, or a field of one, by its name in the graph: `tracks.hits` gives Port("tracks.hits")."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __getattr__(self, name: str) -> Port:
        if name.startswith("__"):
            raise AttributeError(name)
        return Port(f"{self.name}.{name}")

    def __getitem__(self, name: str) -> Port:
        """A port with a name that is an attribute of this class: `pv["name"]`."""
        return Port(f"{self.name}.{name}")


class Node(Port):
    """A node of a graph, by its name; its ports are attributes: `pv.vertices`."""


class _Keep(enum.Enum):
    """Default of arguments of Graph.node(): the node keeps its value. None would reset it."""

    KEEP = "keep"


def _plain(value: Any) -> Any:
    """The value as JSON can hold it, which is YAML too: a port as its name, NumPy values as Python's, a pathlib.Path
    as an absolute path. ValueError for infinity and NaN, TypeError for values that a graph cannot have.
    """
    if isinstance(value, Port):
        return value.name
    if isinstance(value, os.PathLike):
        return from_here(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        listed = value.tolist()
        return _plain(float(value) if type(listed) is type(value) else listed)  # a longdouble lists as itself
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no value of a graph")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{value!r} is no value of a graph: give a number, a text, a bool, a list, a map or a port")


def _yaml(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _merged(before: Any, given: Any) -> Any:
    """Maps merged key by key, as in graph files; any other value replaces the one before."""
    if not isinstance(before, dict) or not isinstance(given, dict):
        return given
    return before | {key: _merged(before.get(key), value) for key, value in given.items()}


def _as_inputs(given: Any) -> Inputs:
    return given if isinstance(given, Inputs) else Inputs(given)


def _option(value: Any) -> str:
    """A value as --set takes it: a string unchanged, anything else as YAML."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _paths(paths: Paths | None) -> list[str]:
    if paths is None:
        return []
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


@dataclasses.dataclass(frozen=True)
class _GraphFile:
    """The name of a graph file, and the working directory in which it was given."""

    name: str
    directory: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> _GraphFile:
        return cls(os.fspath(path), os.getcwd())

    def path(self, must_exist: bool = True) -> str:
        """The path for the library. A name that is not a file in its directory stays, and is found by name as by the
        command. The path stays relative, as in messages, while the working directory is the same.
        """
        there = os.path.join(self.directory, self.name)
        return self.name if self.directory == os.getcwd() or (must_exist and not os.path.exists(there)) else there


class _Folder:
    """A temporary folder, which is removed when nothing refers to it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="sluice-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def describe(name: str, plugin_paths: Paths | None = None) -> dict[str, Any]:
    """The description of an algorithm ("pv.beamline"), a plugin ("pv") or a collection ("pv_vertices"), as of
    `sluice describe --json`. GraphError if it does not exist.
    """
    diagnostics = Diagnostics()
    folders = _abi.strings([os.fsencode(path) for path in _paths(plugin_paths)])
    status = 0

    def write(stream: int) -> None:
        nonlocal status
        status = library().sl_write_description_json(folders, os.fsencode(name), diagnostics.pointer, stream)

    text = text_of(write)
    if status < 0:
        messages = diagnostics.read()
        raise GraphError(failure(f"there is no {name}", messages), messages, _abi.ERRORS.get(status, str(status)))
    described: dict[str, Any] = json.loads(text)
    return described


class Graph:
    """A graph from a file, found by name as by the command, with the command's options.

    with_: files merged after it; use: {node: "plugin.algorithm"}; set: {"node.property" or parameter: value}, where a
    string is YAML, as on the command line; plugin_paths: folders that are searched first. All can be changed later, and
    nodes added. The graph is read only by check(), run() and the like. Relative paths of graph files, in plugin_paths,
    and of a pathlib.Path in `set` are relative to the working directory in which they were given.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        text: str | None = None,
        with_: Paths | None = None,
        use: Mapping[str, str] | None = None,
        set: Mapping[str, Any] | None = None,
        plugin_paths: Paths | None = None,
    ) -> None:
        if path is None and text is None:
            raise TypeError("a Graph is read from a path or from text=; Graph.new() begins an empty one")
        self._path = None if path is None else os.fspath(path)
        self._text = text
        self._file = _GraphFile.of("graph" if path is None else path)
        self._with = [_GraphFile.of(name) for name in _paths(with_)]
        self._uses: list[str] = []
        self._sets: list[str] = []
        for node, algorithm in _arguments.mapping("use", use).items():
            self.use(node, algorithm)
        for name, value in _arguments.mapping("set", set).items():
            self.set(name, value)
        self._plugin_paths = [from_here(folder) for folder in _paths(plugin_paths)]
        self._parts: dict[str, Any] = {}  # written in Python; merged after the file

    @classmethod
    def from_text(cls, text: str, **options: Any) -> Graph:
        """A graph from YAML. Included files are searched for in the current folder, or found by name."""
        return cls(text=text, **options)

    @classmethod
    def new(cls, *, include: Paths | None = None, description: str | None = None, **options: Any) -> Graph:
        """An empty graph, to be written in Python. include: graphs that it extends, such as "common/raw.yaml"."""
        head: dict[str, Any] = {"sluice": 1}
        if description is not None:
            head["description"] = description
        if include is not None:
            head["include"] = _paths(include)
        return cls(text="".join(f"{key}: {_yaml(value)}\n" for key, value in head.items()), **options)

    # ------------------------------------------------------------------------------------------- written in Python

    def node(
        self,
        name: str,
        algorithm: str | None | _Keep = _Keep.KEEP,
        *,
        events: Any = _Keep.KEEP,
        block: int | Mapping[str, int] | None | _Keep = _Keep.KEEP,
        in_: Mapping[str, Any] | None = None,
        set: Mapping[str, Any] | None = None,
        **ports_and_properties: Any,
    ) -> Node:
        """Adds a node, or changes an existing one, and returns it. Without `algorithm` the node keeps its algorithm;
        arguments of earlier calls stay unless this call replaces them. `algorithm=None` removes the node.

        A keyword with the name of an input connects that input, any other sets a property; `in_` and `set` state it
        explicitly. Inputs take a port ("tracks.tracks", tracks.tracks, or a Node), list ports a list or map of ports,
        or "all". events: an event list, a list of them, or {"any": [...]}. block: threads per block. None resets a
        property, `events` or `block` to its default, and leaves an input unconnected.
        """
        nodes = self._parts.setdefault("nodes", {})
        inputs = {} if in_ is None else dict(in_)
        properties = {} if set is None else dict(set)
        if algorithm is None:
            if inputs or properties or ports_and_properties or not (events is block is _Keep.KEEP):
                raise TypeError(f"algorithm=None removes the node {name!r}: give nothing else with it")
            nodes[name] = None
            return Node(name)
        node: dict[str, Any] = dict(nodes.get(name) or {})
        before = node.get("use")
        known = before if isinstance(algorithm, _Keep) else algorithm
        ports = self._members_of(known)["in"] if known is not None and ports_and_properties else []
        for key, value in ports_and_properties.items():
            (inputs if key in ports else properties)[key] = value
        if not isinstance(algorithm, _Keep):
            node["use"] = algorithm
            if before is not None and before != algorithm:
                self._drop_foreign(name, node, before)
        for section, given in (("in", inputs), ("set", properties)):
            if given:
                node[section] = _merged(node.get(section, {}), _plain(given))
        for key, value in (("events", events), ("block", block)):
            if not isinstance(value, _Keep):
                node[key] = _plain(value)
        nodes[name] = node
        return Node(name)

    def _members_of(self, algorithm: str) -> dict[str, list[str]]:
        """Names of the inputs ("in") and of the properties ("set") of an algorithm."""
        described = describe(algorithm, self._plugin_paths)
        kinds = {"in": ("inputs", "open_inputs"), "set": ("properties",)}
        return {
            section: [member["name"] for kind in names for member in described.get(kind, [])]
            for section, names in kinds.items()
        }

    def _drop_foreign(self, name: str, node: dict[str, Any], before: str) -> None:
        """Drops inputs and properties given for the algorithm `before` that the new one lacks, with a warning."""
        members = self._members_of(node["use"])
        for section in ("in", "set"):
            given = node.get(section, {})
            foreign = [key for key in given if key not in members[section]]
            if foreign:
                node[section] = {key: value for key, value in given.items() if key not in foreign}
                warn(f"node {name}: {node['use']} lacks {', '.join(foreign)}, given for {before}: dropped", SluiceWarning)

    def parameter(self, name: str, value: Any) -> None:
        """Sets a parameter, which other values use as "${name}"."""
        self._parts.setdefault("parameters", {})[name] = _plain(value)

    def output(self, *ports: str | Port) -> None:
        """Adds outputs; the first call replaces the outputs of the graph's file."""
        self._parts.setdefault("outputs", []).extend(_plain(port) for port in ports)

    def include(self, *paths: str | os.PathLike[str]) -> None:
        """Merges graph files after this one, as with_."""
        self._with += [_GraphFile.of(path) for path in paths]

    def use(self, node: str | Port, algorithm: str) -> None:
        """Replaces the algorithm of a node, as --use."""
        self._uses.append(f"{node}={algorithm}")

    def set(self, name: str | Port, value: Any) -> None:
        """Sets a property, "node.property", or a parameter. A string is YAML, as with --set: "5" is a number, "" the
        empty string.
        """
        self._sets.append(f"{name}={_option(value)}")

    # ------------------------------------------------------------------------------------------------- inspected

    def _written(self) -> str:
        """Nodes, parameters and outputs added in Python, as the text of a graph file."""
        lines = ["sluice: 1"]
        for key, value in self._parts.items():
            if key == "outputs":
                lines.append(f"outputs: {_yaml(value)}")
            else:
                lines.append(f"{key}:")
                lines += [f"  {_yaml(name)}: {_yaml(entry)}" for name, entry in value.items()]
        return "\n".join(lines) + "\n"

    def _open(self, settings: Settings, make: Any) -> Any:
        """make(settings) with the graph in them. What Python added is a temporary file during the call; of a run with a
        page, which may read it again, until another graph takes its place.
        """
        # For a graph given as text, the path only determines the directory of its includes.
        settings.graph_path, settings.graph_text = self._file.path(must_exist=self._text is None), self._text
        settings.uses, settings.sets, settings.plugin_paths = self._uses, self._sets, self._plugin_paths
        settings.with_paths = with_paths = [file.path() for file in self._with]
        if not self._parts:
            return make(settings)
        folder = _Folder()
        path = os.path.join(folder.path, "python.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._written())
        settings.with_paths = [path, *with_paths]
        settings.folder = folder if settings.serve is not None else None
        return make(settings)

    def _look(self, device: str | None = None) -> Session:
        session: Session = self._open(Settings(inspect_only=True, device=device), Session)
        return session

    def check(self) -> str:
        """The wiring, as `sluice check` prints it. GraphError with all errors of the graph."""
        return self._look().wiring()

    def constants(self) -> dict[str, Constant]:
        """The constants that the graph uses, by node: geometries, calibrations, tables; see Constant. Constants that
        depend on events, such as on their run, are those of the lowest value. GraphError with all errors of the graph.
        """
        return read_constants(self._look())

    def yaml(self, origins: bool = False) -> str:
        """The whole graph as YAML: all files merged, all defaults and connections written out. The text is a graph with
        the same digest. origins: add a comment to each value that states where it came from.
        """
        return self._look().graph(origins)

    def plan(self, device: str | None = None) -> str:
        """The memory plan, as `sluice plan` prints it."""
        return self._look(device).plan()

    def dot(self) -> str:
        """The graph in the language of Graphviz."""
        return self._look().dot()

    def svg(self) -> str:
        """The graph as an SVG picture, by Graphviz' command dot. Error if that is missing or fails."""
        if not shutil.which("dot"):
            raise Error("there is no command dot to draw the graph with: install Graphviz")
        drawn = subprocess.run(["dot", "-Tsvg"], input=self.dot().encode(), capture_output=True)
        if drawn.returncode != 0:
            raise Error(f"dot failed: {drawn.stderr.decode(errors='replace').strip()}")
        return drawn.stdout.decode()

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except Error:
            return None

    def _repr_html_(self) -> str:
        """For notebooks: the picture; without Graphviz the wiring; for a wrong graph its errors."""
        picture = self._repr_svg_()
        if picture is not None:
            return f"<div>{picture[picture.index('<svg') :]}</div>"
        try:
            text = self.check()
        except Error as error:
            text = str(error)
        return f"<pre>{html.escape(text)}</pre>"

    def __repr__(self) -> str:
        return f"<graph {'from text' if self._path is None else self._path}>"

    # ------------------------------------------------------------------------------------------------------ run

    def run(
        self,
        files: Paths | None = None,
        *,
        follow: Follow | None = None,
        source: Iterable[Entry] | Pushed | Given | None = None,
        inputs: Any = None,
        on_batch: Check | Iterable[Check] | None = None,
        n: int | None = None,
        device: str | None = None,
        slots: int | None = None,
        slice_events: int | None = None,
        source_threads: int | None = None,
        replan: str | None = None,
        memory: int | None = None,
        until_idle: float | None = None,
        senders: int | None = None,
        output: str | os.PathLike[str] | None = None,
        rotate: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        digest: bool = False,
        keep: str | None = None,
        serve: Serve | None = None,
        progress: bool | Progress | None = None,
        warn: bool = True,
        entries_max: int | None = None,
    ) -> Run:
        """An iterator over batches of finished events, in input order; see Run.

        files: one or several files, patterns, or Parts of files (index()); None: the graph's own source. An empty list
        is a ValueError. Or ZeroMQ inputs, "zmq:ENDPOINT", which end when nothing arrived for `until_idle` seconds, or
        when `senders` senders have ended. follow: instead of files, a folder in which files arrive; see Follow. The call
        waits for the first one. inputs: instead of files, arrays by port of the graph's source, {"block": array}, Inputs, or
        an iterable of them; the source's own events are not read. source: instead of files, an iterable of Events,
        Packets and Inputs in memory. It runs in a thread of its own, at most `entries_max` (512) entries ahead of the
        run. on_batch: one or several functions that get each batch before the loop does, in a thread of the run;
        pairs (index of an event in the batch, message) that they return or yield are findings, for which the run
        raises CheckError at its end. n: the number of events, at least 1 (None: all of a file or source, 1000
        simulated ones). device: "cpu", "simt", "cuda", "cuda:1", "cuda:all". slots: slices in flight. slice_events:
        the most events in a slice. source_threads: threads that read and simulate. replan: "on" (None), "grow" or
        "off": whether the memory plan changes during the run. memory: the most bytes for all arenas, on each device
        (None: 80 % of a GPU's free memory). `device` and these five affect only speed and memory: none of them
        changes a result. output: the file of a sink that writes one, or "zmq:ENDPOINT". rotate: when sinks begin new
        files, as of `--rotate`: "1GiB,10min,run"; output is a pattern then. checkpoint, resume: as
        of `--checkpoint` and `--resume`. digest: compute digests for the summary. keep: "device": outputs stay in the
        memory of the device, as DeviceArrays, and batches can be kept; see Batch.keep(). serve: a page in the browser; see
        Serve.
        progress: True for a tqdm bar, or a function that gets events, done, total (0: unknown) and seconds a few times
        per second, in a thread of the run. warn: issue messages as Python warnings; False: only in diagnostics. Paths
        are relative to the working directory of this call. GraphError if the graph, an option or a file is refused.
        """
        if source is not None and files is not None:
            raise TypeError("a run has files or a source, not both")
        if follow is not None and any(given is not None for given in (files, source, inputs)):
            raise TypeError("a run that follows a folder has no other files, source or inputs")
        if inputs is not None:
            if source is not None or files is not None:
                raise TypeError("a run has files, a source or inputs, not several of them")
            inputs = Inputs(inputs) if isinstance(inputs, Mapping) else inputs
            source = Given([inputs] if isinstance(inputs, Inputs) else map(_as_inputs, inputs))
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"progress needs True, False or a function, not {progress!r}")
        if not (source is None or isinstance(source, (Pushed, Given)) or isinstance(source, Iterable)):
            raise TypeError(f"source needs an iterable of events, not {source!r}")
        if not (on_batch is None or callable(on_batch) or isinstance(on_batch, Iterable)):
            raise TypeError(f"on_batch needs one or several functions, not {on_batch!r}")
        _abi.count_or_default("entries_max", entries_max, 32)
        warns = _arguments.flag("warn", warn)
        output, checkpoint = _arguments.path("output", output), _arguments.path("checkpoint", checkpoint)
        settings = Settings(
            input_paths=None if files is None else [input_from_here(file) for file in files_of(files)],
            follow=_arguments.instance("follow", follow, Follow),
            events=_abi.count_or_default("n", n, 64),
            device=_arguments.text("device", device),
            slots=_abi.count_or_default("slots", slots, 32),
            slice_events=_abi.count_or_default("slice_events", slice_events, 32),
            source_threads=_abi.count_or_default("source_threads", source_threads, 32),
            replan=_abi.replan(replan),
            memory_bytes=_abi.count_or_default("memory", memory, 64),
            until_idle=_abi.seconds("until_idle", until_idle) or 0,
            senders=_abi.count_or_default("senders", senders, 32),
            output_path=None if output is None else from_here(output),
            rotate=_arguments.text("rotate", rotate),
            checkpoint_path=None if checkpoint is None else from_here(checkpoint),
            resume=_arguments.flag("resume", resume),
            digest=_arguments.flag("digest", digest),
            keep=_abi.keep(keep),
            serve=_arguments.instance("serve", serve, Serve),
            command_line=getattr(sys, "orig_argv", [sys.executable, *sys.argv]),
        )
        run: Run = self._open(settings, lambda s: Run(s, progress, warns, on_batch, source, entries_max))
        return run

    def explain(
        self,
        files: Paths | None = None,
        *,
        events: Iterable[tuple[int, int]] | None = None,
        lines: Iterable[str] | None = None,
        all_candidates: bool = False,
        n: int | None = None,
        slice_events: int | None = None,
    ) -> Explanation:
        """Why events were accepted or rejected: runs the graph on the CPU and returns tables of decisions and of
        requirements with values and limits; see Explanation. Sinks of the graph are not called.

        files, n, slice_events: as for run(). events: pairs of run and event number; None: all events. The run ends after the
        last one. lines: names of nodes; None: all nodes that declare requirements. all_candidates: requirements of all
        candidates, not only of the best one. GraphError if the graph, a node or a file is refused; RunError if the run
        fails; Error if the input has no such event.
        """
        settings = Settings(
            input_paths=None if files is None else [input_from_here(file) for file in files_of(files)],
            events=_abi.count_or_default("n", n, 64),
            slice_events=_abi.count_or_default("slice_events", slice_events, 32),
        )
        result: Explanation = self._open(settings, lambda s: explain(s, events, lines, all_candidates))
        return result

    def feed(
        self, *, arrays: bool = False, on_release: Callable[[Entry], None] | None = None, **options: Any
    ) -> Feed:
        """A run that begins at once, over the events that are put into it; see Feed.

        arrays: only Inputs are put into it; they take the place of the events of the graph's source. on_release: a
        function that gets each entry, in order, as soon as its memory may be reused, in a thread of the run. options:
        those of run(), except files, inputs and source.
        """
        return Feed(self.run(source=Pushed(on_release, arrays), **options))

    def arrays(self, files: Paths | None = None, **options: Any) -> Arrays:
        """All events of a run at once, copied; takes the arguments of run() except keep. The results must fit into memory."""
        if options.get("keep") is not None:
            raise TypeError('arrays() copies all results to host memory: use run(keep="device")')
        return Arrays(self.run(files, **options))
