"""Exceptions, warnings, and messages of the library."""
from __future__ import annotations

import dataclasses
import os
import sys
import warnings
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the library.

    severity: "note", "warning" or "error". line and column count from 1; 0: unknown. file, node and hint are "" if
    absent. text: the message as the command prints it, with location, source line and hint.
    """

    severity: str
    message: str
    file: str
    line: int
    column: int
    node: str
    hint: str
    text: str

    def __str__(self) -> str:
        return self.text


def add_note(error: BaseException, text: str) -> None:
    """Adds a note to an exception. Python before 3.11 does not print notes, so that a warning has the text there."""
    if sys.version_info >= (3, 11):
        error.add_note(text)
    else:
        setattr(error, "__notes__", [*getattr(error, "__notes__", ()), text])
        warnings.warn(text, SluiceWarning, stacklevel=2)


class Error(Exception):
    """Base class of the package's exceptions.

    diagnostics: all messages of the library, including notes and warnings. status: name of the library's error code
    ("SL_EGRAPH"), "" if there is none.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = (), status: str = "") -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)
        self.status = status


class LibraryError(Error):
    """libsluice was not found or does not fit the package."""


class GraphError(Error):
    """The graph, an option or a file was refused; nothing ran."""


class StateError(Error, RuntimeError):
    """A call that is not possible at this point: from a function that the run calls, in a forked child, or after the
    end of the run.
    """


class RunError(Error):
    """The run failed. The batches before the failure were delivered."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A finding that a function of on_batch returned for an event.

    check: the function's name. run, number: run and event number; index: index of the event in the run, from 0, as in
    arrays(). message: the text that the function gave.
    """

    check: str
    run: int
    number: int
    index: int
    message: str

    def __str__(self) -> str:
        return f"{self.check}: event {self.number} of run {self.run}: {self.message}"


_SHOWN = 20


class CheckError(RunError):
    """The run completed, and functions of on_batch returned findings."""

    def __init__(self, findings: Sequence[Finding], diagnostics: Sequence[Diagnostic] = ()) -> None:
        self.findings = list(findings)
        lines = [str(finding) for finding in self.findings[:_SHOWN]]
        if len(self.findings) > _SHOWN:
            lines.append(f"and {len(self.findings) - _SHOWN} more findings")
        super().__init__("\n".join(lines), diagnostics)


class ExpiredError(Error):
    """A batch was used after the loop asked for the next one, or after the run."""


class SluiceWarning(UserWarning):
    """A warning of the library, or an error that did not end the run, such as a bad event."""


class StaleViewWarning(SluiceWarning):
    """The program still has an array of an earlier batch; its memory has other events by now."""


_HERE = os.path.dirname(__file__)


def warn(text: str, category: type[SluiceWarning]) -> None:
    """Issues a warning at the line of the program that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == _HERE:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def failure(what: str, diagnostics: Sequence[Diagnostic]) -> str:
    """The text of an exception: all errors as the command prints them, or `what` if there are none."""
    return "\n".join(d.text for d in diagnostics if d.severity == "error") or what
