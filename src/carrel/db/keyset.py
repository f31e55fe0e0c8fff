"""Pages of a list in an order that people choose. Each costs the same at any depth.

A cursor is the sort key of the last row seen. Every key is a column (or an expression) that is never null; ids
break ties.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import orjson
from sqlalchemy import ColumnElement, Select, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from carrel.core.errors import Invalid

Key = ColumnElement[Any] | InstrumentedAttribute[Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Order:
    """One order of a list. name: as asked for, "-created_at"."""

    name: str
    key: Key
    id: Key

    @property
    def descending(self) -> bool:
        return self.name.startswith("-")


@dataclass(frozen=True)
class Orders:
    """The orders that a list can have. default: the one when nothing is asked for."""

    keys: Mapping[str, Key]
    id: Key
    default: str

    def choose(self, wanted: str | None) -> Order:
        """Raises: Invalid when it is none of ours."""
        name = wanted or self.default
        key = self.keys.get(name.removeprefix("-"))
        if key is None:
            raise Invalid(
                "invalid.sort",
                f"This list cannot be sorted by {name.removeprefix('-')}.",
                hint=f"Use {', '.join(self.keys)}; a - in front turns it round.",
                field="sort",
            )
        return Order(name, key, self.id)


def page(wanted: Select[*tuple[Any, ...]], order: Order, *, cursor: str | None, limit: int) -> Select[*tuple[Any, ...]]:
    """The rows after the cursor in this order, one more than the limit. Raises: Invalid."""
    place = tuple_(order.key, order.id)
    if cursor:
        after = _decoded(order, cursor)
        wanted = wanted.where(place < after if order.descending else place > after)
    ends = (order.key.desc(), order.id.desc()) if order.descending else (order.key.asc(), order.id.asc())
    return wanted.order_by(*ends).limit(limit + 1)


def cut(
    rows: Sequence[T], order: Order, *, limit: int, key: str = "sort_key"
) -> tuple[Sequence[T], str | None]:
    """The rows of the page without the one too many, and the cursor of the next page, if there is one.

    key: the attribute of a row that holds its sort key; its id is in `id`.
    """
    if len(rows) <= limit:
        return rows, None
    last = rows[limit - 1]
    return rows[:limit], _encoded(order, getattr(last, key), last.id)  # type: ignore[attr-defined]


def _encoded(order: Order, value: object, row_id: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([order.name, value, row_id])).decode().rstrip("=")


def _decoded(order: Order, cursor: str) -> tuple[Any, str]:
    try:
        name, value, row_id = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if name != order.name or not isinstance(value, str) or not isinstance(row_id, str):
            raise ValueError(name)
        return (datetime.fromisoformat(value) if order.key.type.python_type is datetime else value), row_id
    except (ValueError, TypeError, binascii.Error):
        raise Invalid(
            "invalid.cursor",
            "This cursor is not one of this list.",
            hint="Start at the first page.",
            field="cursor",
        ) from None
