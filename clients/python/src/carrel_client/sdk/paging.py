"""Iteration over all pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def items(operation: Callable[..., Any], *words: str, **filters: object) -> Iterator[Any]:
    """Every item of a list operation; each page is fetched when the previous one is consumed.

    For example `items(client.api.users.list, q="ada")`.
    """
    cursor = None
    while True:
        page = operation(*words, **filters, **({"cursor": cursor} if cursor else {}))
        yield from page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            return
