"""Keyset paging: a cursor is the sort key of the last row seen, so that a page costs the same at any depth.

    _SORT = Sort({"name": User.name, "created_at": User.created_at}, tie=User.id, default="-created_at")

    users = await page(tx, select(User).where(...), _SORT, query)
    UserList(items=[view(row.User) for row in users.rows], next_cursor=users.next_cursor)

NULL counts as greater than everything, which is PostgreSQL's own order, both ways.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeAlias, TypeVarTuple

import orjson
from pydantic import BaseModel, Field
from sqlalchemy import (
    BigInteger,
    ColumnClause,
    ColumnElement,
    Integer,
    LargeBinary,
    Row,
    Select,
    and_,
    or_,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.functions import Function, coalesce
from sqlalchemy.types import TypeEngine

from carrel.core.errors import Invalid
from carrel.http.query import QueryInt

MAX_LIMIT = 200
MAX_CURSOR = 4096
"""Enough for 512 characters of any script."""

Sortable: TypeAlias = ColumnElement[Any] | InstrumentedAttribute[Any]
Ts = TypeVarTuple("Ts")


class PageQuery(BaseModel):
    """What every list takes; lists add their own filters."""

    sort: str | None = Field(
        default=None, max_length=40, description="a sortable field; prefix - for descending order"
    )
    limit: QueryInt = Field(default=50, ge=1, le=MAX_LIMIT)
    cursor: str | None = Field(default=None, max_length=MAX_CURSOR)


@dataclass(frozen=True)
class Page(Generic[*Ts]):
    """Some rows of a list. next_cursor: None when these are the last."""

    rows: Sequence[Row[*Ts]]
    next_cursor: str | None


@dataclass(frozen=True)
class SortOrder:
    """The requested sort order and start. after: the key (value, tie) of the last row seen."""

    name: str
    descending: bool
    after: tuple[Any, Any] | None

    def cursor(self, value: object, tie: object) -> str:
        """An opaque cursor after the row with this key."""
        key = [self._sort, _written(value), _written(tie)]
        return base64.urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")

    @property
    def _sort(self) -> str:
        return f"-{self.name}" if self.descending else self.name


@dataclass(frozen=True)
class Sort:
    """The sortable columns of a list. tie: a unique column, same direction. default: as in the query parameter."""

    columns: Mapping[str, Sortable]
    tie: Sortable
    default: str

    def order(self, sort: str | None, cursor: str | None) -> SortOrder:
        """Validate the request. Raises: Invalid."""
        key = sort or self.default
        name = key.removeprefix("-")
        if name not in self.columns:
            raise Invalid(
                "invalid.sort",
                f"This list cannot be sorted by {name}.",
                hint="Use one of " + ", ".join(self.columns) + "; prefix - for descending order.",
                field="sort",
            )
        after = self._after(key, cursor, self.columns[name]) if cursor else None
        return SortOrder(name, key.startswith("-"), after)

    def _after(self, key: str, cursor: str, column: Sortable) -> tuple[Any, Any]:
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            sorted_by, value, tie = orjson.loads(raw)
            if sorted_by != key or tie is None:
                raise ValueError(sorted_by)
            return (None if value is None else _read(value, column.type)), _read(tie, self.tie.type)
        except (ValueError, TypeError):
            raise Invalid(
                "invalid.cursor",
                "This cursor is invalid or belongs to another sort order.",
                hint="Start again at the first page.",
                field="cursor",
            ) from None


async def page(tx: AsyncSession, statement: Select[*Ts], sort: Sort, query: PageQuery) -> Page[*Ts]:
    """One page of what the statement selects. Raises: Invalid."""
    order = sort.order(query.sort, query.cursor)
    column = sort.columns[order.name]
    if order.after:
        statement = statement.where(_beyond(column, sort.tie, order.after, descending=order.descending))
    keyed: Select[Any] = statement.add_columns(column, sort.tie)
    keys = [column.desc(), sort.tie.desc()] if order.descending else [column, sort.tie]
    result = (await tx.execute(keyed.order_by(None).order_by(*keys).limit(query.limit + 1))).freeze()
    width = len(result().keys())
    rows = result().columns(*range(width - 2)).all()
    if len(rows) <= query.limit:
        return Page(rows, None)
    last = result().columns(width - 2, width - 1).all()[query.limit - 1]
    return Page(rows[: query.limit], order.cursor(*last))


def _beyond(
    column: Sortable, tie: Sortable, after: tuple[Any, Any], *, descending: bool
) -> ColumnElement[bool]:
    value, last = after
    key, seen = tuple_(column, tie), tuple_(value, last, types=[column.type, tie.type])
    if descending:
        # NULLs come first.
        return (
            key < seen if value is not None else or_(and_(column.is_(None), tie < last), column.is_not(None))
        )
    if value is None:
        return and_(column.is_(None), tie > last)
    return key > seen if _never_null(column) else or_(key > seen, column.is_(None))


def _never_null(column: Sortable) -> bool:
    """True for NOT NULL columns, literals, and lower() and coalesce() of them."""
    match column:
        case coalesce():
            return any(map(_never_null, column.clauses))
        case Function(name="lower"):
            return all(map(_never_null, column.clauses))
        case ColumnClause(is_literal=True):
            return True
    return getattr(column, "nullable", True) is False


def _written(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return value.hex() if isinstance(value, bytes) else value


def _read(value: object, kind: TypeEngine[Any]) -> object:
    """The value in the column's type. Raises: ValueError, TypeError."""
    expected = kind.python_type
    if isinstance(kind, LargeBinary):
        return bytes.fromhex(_a(str, value))
    if expected is datetime:
        at = datetime.fromisoformat(_a(str, value))
        if at.tzinfo is None:
            raise ValueError(value)
        return at
    if isinstance(kind, Integer):
        number = _a(int, value)
        bits = 63 if isinstance(kind, BigInteger) else 31
        if not -(1 << bits) <= number < 1 << bits:
            raise ValueError(value)
        return number
    if expected is str and "\0" in _a(str, value):
        raise ValueError(value)
    return _a(expected, value)


def _a(expected: type[Any], value: object) -> Any:
    if type(value) is not expected:
        raise TypeError(value)
    return value
