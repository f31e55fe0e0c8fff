"""Queries of the audit trail: one page, newest first, of the entries visible to the actor."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Label,
    Result,
    Select,
    TextClause,
    and_,
    func,
    literal_column,
    select,
    text,
    tuple_,
    union,
)
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import chain
from carrel.audit.schemas import AuditFilter
from carrel.db.database import Database
from carrel.db.scope import permitted
from carrel.db.search import has_part
from carrel.http.paging import Sort
from carrel.permissions.decide import Actor, sight
from carrel.tables.audit import AuditEntry

_SORT = Sort({"at": AuditEntry.at}, tie=AuditEntry.id, default="-at")
_SEARCHED = "audit.actor_email || ' ' || audit.object_name"
_EXPORT_PAGE = 1000
_KEY = (AuditEntry.at, AuditEntry.id)
_Select: TypeAlias = Select[*tuple[Any, ...]]
_After = tuple[datetime, int] | None


@dataclass(frozen=True)
class EntryPage:
    """Entries, newest first. next_cursor: None on the last page."""

    entries: Sequence[AuditEntry]
    next_cursor: str | None


async def page(
    tx: AsyncSession, actor: Actor, filters: AuditFilter, *, limit: int, cursor: str | None
) -> EntryPage:
    """One page of the matching entries that the actor may see. Raises: Invalid."""
    order = _SORT.order(None, cursor)
    keys = _keys(actor, "audit.read", filters, after=order.after, limit=limit + 1)
    rows = list((await _planned(tx, _ordered(select(AuditEntry), keys))).scalars())
    if len(rows) <= limit:
        return EntryPage(rows, None)
    last = rows[limit - 1]
    return EntryPage(rows[:limit], order.cursor(last.at, last.id))


@dataclass(frozen=True)
class Exported:
    """text: the sealed entry, JSON. before: the hash of the previous entry."""

    entry: AuditEntry
    text: str
    before: bytes | None


async def everything(database: Database, actor: Actor, filters: AuditFilter) -> AsyncIterator[Exported]:
    """All matching entries that the actor may see, newest first, with few in memory at a time."""
    # Paginated, because one long statement would block vacuum.
    before: Label[bytes | None] = literal_column(_HASH_BEFORE).label("before")
    after: _After = None
    while True:
        async with database.transaction() as tx:
            keys = _keys(actor, "audit.export", filters, after=after, limit=_EXPORT_PAGE)
            chosen: _Select = select(AuditEntry, literal_column(_ENTRY).label("text"), before)
            rows = (await _planned(tx, _ordered(chosen, keys))).all()
        for row in rows:
            yield Exported(row.AuditEntry, row.text, row.before)
        if len(rows) < _EXPORT_PAGE:
            return
        after = (rows[-1].AuditEntry.at, rows[-1].AuditEntry.id)


_ENTRY = chain.ENTRY.replace("a.", "audit.")
_HASH_BEFORE = f"""CASE WHEN audit.position IS NOT NULL THEN coalesce(
    (SELECT b.hash FROM audit b WHERE b.position = audit.position - 1),
    (SELECT n.hash FROM audit_anchor n WHERE n.position = audit.position - 1),
    CASE WHEN audit.position = 1 THEN decode('{"00" * 32}', 'hex') END) END"""  # noqa: S608 - no input in it


def _keys(actor: Actor, action: str, filters: AuditFilter, *, after: _After, limit: int) -> _Select:
    """The keys (at, id) of the rows of one page.

    Each visibility condition is read by its own index and the results are merged: with one condition with OR,
    PostgreSQL would read all rows that match any of them, or scan the whole trail.
    """
    conditions = _conditions(filters)
    if after:
        conditions.append(tuple_(*_KEY) < tuple_(*after, types=[column.type for column in _KEY]))
    places: list[_Select] = [
        select(*_KEY).where(place, *conditions).order_by(*(column.desc() for column in _KEY)).limit(limit)
        for place in _places(actor, action, filters)
    ]
    if len(places) == 1:
        return places[0]
    merged = union(*(select(place.subquery()) for place in places)).subquery()
    return select(merged).order_by(*(column.desc() for column in merged.c)).limit(limit)


def _places(actor: Actor, action: str, filters: AuditFilter) -> list[ColumnElement[bool]]:
    """Visibility conditions, each with its own index: on the actor's objects, by the actor, and in their scope."""
    by, of = AuditEntry.actor_id, AuditEntry.owner_id
    if filters.owner == "me":
        return [and_(mine == actor.user_id, permitted(actor, action, owner=mine)) for mine in (of, by)]
    if sight(actor, action).everything:
        return [permitted(actor, action)]
    own = [permitted(actor, action, owner=mine) for mine in (of, by)]
    return [*own, permitted(actor, action, domain=AuditEntry.domain_id)]


def _conditions(filters: AuditFilter) -> list[ColumnElement[bool] | TextClause]:
    conditions: list[ColumnElement[bool] | TextClause] = []
    if filters.from_:
        conditions.append(AuditEntry.at >= filters.from_)
    if filters.to:
        conditions.append(AuditEntry.at < filters.to)
    if filters.actor and "@" in filters.actor:
        conditions.append(func.lower(AuditEntry.actor_email) == filters.actor.lower())
    elif filters.actor:
        conditions.append(AuditEntry.actor_id == filters.actor)
    if filters.action and filters.action.endswith(".*"):
        conditions.append(AuditEntry.object_kind == filters.action.removesuffix(".*"))
    elif filters.action:
        conditions.append(AuditEntry.action == filters.action)
    for column, value in (
        (AuditEntry.id, filters.id),
        (AuditEntry.outcome, filters.outcome),
        (AuditEntry.object_kind, filters.object_kind),
        (AuditEntry.object_id, filters.object_id),
        (AuditEntry.address, filters.address),
    ):
        if value is not None:
            conditions.append(column == value)
    if filters.q:
        conditions.append(has_part(_SEARCHED, filters.q))
    return conditions


def _ordered(chosen: _Select, keys: _Select) -> _Select:
    chosen_keys = keys.subquery()
    return chosen.join(chosen_keys, AuditEntry.id == chosen_keys.c.id).order_by(
        AuditEntry.at.desc(), AuditEntry.id.desc()
    )


# Enough memory for every row that a search may match, not only for its page.
_SETTINGS = text("""
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '32MB', true)
""")


async def _planned(tx: AsyncSession, statement: _Select) -> Result[Any]:
    """The result with a plan for these exact filters, because their selectivity varies widely."""
    await tx.execute(_SETTINGS)
    result: Result[Any] = await tx.execute(statement)
    return result
