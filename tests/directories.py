"""Directories that all tests of a process share, until it has run them.

Processes of pytest-xdist end without running exit handlers, which `TemporaryDirectory` relies on.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

_made = ExitStack()


def directory(prefix: str) -> Path:
    return Path(_made.enter_context(TemporaryDirectory(prefix=prefix)))


def remove_directories() -> None:
    _made.close()
