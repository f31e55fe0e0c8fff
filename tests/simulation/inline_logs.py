"""Log files without threads, which have no place in virtual time."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from carrel.sessions.logs.store import LogStore

T = TypeVar("T")
P = ParamSpec("P")

_DIRECTORY = tempfile.TemporaryDirectory(prefix="carrel-logs-")


class InlineLogStore(LogStore):
    async def do(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        return work(*arguments, **options)


LOGS = InlineLogStore(Path(_DIRECTORY.name))
"""Of all control planes, as they share a data directory; containers have ids of their own."""
