"""Log files without threads, which have no place in virtual time."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from directories import directory

from carrel.sessions.logs.store import LogStore

T = TypeVar("T")
P = ParamSpec("P")

_DIRECTORY = directory("carrel-logs-")


class InlineLogStore(LogStore):
    async def do(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        return work(*arguments, **options)


LOGS = InlineLogStore(_DIRECTORY)
"""Of all control planes, as they share a data directory; containers have ids of their own."""
