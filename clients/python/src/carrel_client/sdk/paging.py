"""Lists without their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def items(operation: Callable[..., Any], *words: str, **filters: object) -> Iterator[Any]:
    """Every item of a list operation, one page fetched when the one before is used up.

    For example `items(client.api.users.list, q="ada")`.
    """
    cursor = None
    while True:
        page = operation(*words, **filters, **({"cursor": cursor} if cursor else {}))
        yield from page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            return
