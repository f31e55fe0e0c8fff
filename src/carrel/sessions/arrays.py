"""Arrays: many batch sessions of one request.

Each is an ordinary session with its own row, containers, allocations and history. They share a name, an id (that of
the first one), and a limit on how many run at once (`scheduling.array_limits`).
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, select, text
from sqlalchemy import Table as SqlTable
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid
from carrel.core.ids import SessionId, new_id
from carrel.sessions import updates
from carrel.sessions.spec import ArrayRequest, SessionSpec
from carrel.tables.dependencies import SessionDependency
from carrel.tables.folders import FolderMount
from carrel.tables.session_states import SessionKind, SessionState
from carrel.tables.sessions import IS_LIVE, Container, Session, SessionArray

MAX_SESSIONS = 10_000
_MAX_NAME = 64


_ADDED_UP = """(
    SELECT coalesce(json_agg(json_build_object('state', c.state, 'result', c.result, 'count', c.count)
        ORDER BY c.state, c.result), '[]')
    FROM (
        SELECT p.state, p.result, sum(p.count) AS count FROM (
            SELECT state, result, count FROM json_to_recordset(r.counts) AS s(state text, result text, count bigint)
            UNION ALL SELECT h.state, h.result, h.change FROM {changes} h WHERE h.array_id = r.id
        ) p GROUP BY 1, 2 HAVING sum(p.count) <> 0
    ) c)"""
_COUNTS = f"""CASE WHEN EXISTS (SELECT FROM array_count_changes h WHERE h.array_id = r.id)
    THEN {_ADDED_UP.format(changes="array_count_changes")} ELSE r.counts END"""
"""The sessions of an array `r` by state and result, as JSON."""


def require_possible(spec: SessionSpec) -> None:
    """Raises: Invalid."""
    array = spec.array
    if array is None:
        return
    if spec.kind != SessionKind.BATCH:
        raise Invalid(
            "session.not_batch",
            "Only batch sessions form an array.",
            hint="Set kind to batch, or leave the array out.",
            field="array",
        )
    if not 1 <= array.count <= MAX_SESSIONS:
        raise Invalid(
            "session.array_range",
            f"An array has 1 to {MAX_SESSIONS} sessions; this one has {max(array.count, 0)}.",
            hint="Give first and last, such as 1 and 100.",
            field="array.last",
        )
    if (containers := array.count * len(spec.sizes)) > MAX_SESSIONS:
        raise Invalid(
            "session.array_range",
            f"The sessions of an array have at most {MAX_SESSIONS} containers together; these have {containers}.",
            hint="Request fewer sessions, or fewer containers in each.",
            field="array.last",
        )
    if spec.name and len(_name(spec.name, array.last)) > _MAX_NAME:
        raise Invalid(
            "session.array_name",
            f"With its index, the name of a session would have more than {_MAX_NAME} characters.",
            hint="Choose a shorter name.",
            field="name",
        )


def display_name(name: str, array: ArrayRequest | None) -> str:
    """The name of a session, or of an array with its indexes: train[1-100]."""
    return span(name, array.first, array.last) if array else name


def span(name: str, first: int, last: int) -> str:
    """The name of an array with its indexes."""
    return f"{name}[{first}-{last}]"


def as_json(array_id: str) -> str:
    """SQL: the array with this id as `ArrayView` has it; NULL if there is none."""
    return f"""(SELECT json_build_object('id', r.id, 'name', r.name, 'first', r.first_index, 'last', r.last_index,
    'max_parallel', r.max_parallel, 'counts', {_COUNTS})
    FROM session_arrays r WHERE r.id = {array_id})"""  # noqa: S608 - constants


def _name(name: str, index: int) -> str:
    return f"{name}-{index}"


async def begin(tx: AsyncSession, first: Session, array: ArrayRequest | None) -> list[SessionId]:
    """Make a new session the first one of its array. Returns the ids of all in order of their indexes."""
    if array is None:
        return [first.id]
    # In the order of the indexes, because the queue orders sessions of one instant by id.
    ids = sorted({SessionId(new_id()) for _ in range(array.count)})
    tx.add(
        SessionArray(
            id=ids[0],
            name=first.name,
            first_index=array.first,
            last_index=array.last,
            max_parallel=array.max_parallel,
        )
    )
    await tx.flush()
    first.id = first.array_id = ids[0]
    first.name, first.array_index = _name(first.name, array.first), array.first
    return ids


def _copy(table: SqlTable, source: str, **changed: str) -> str:
    """Insert copies of rows `l`. changed: SQL of the columns that differ."""
    columns = [column.name for column in table.columns]
    values = ", ".join(changed.get(column, f'l."{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM {table.name} l, {source}"  # noqa: S608 - constants


_OTHERS = "unnest(CAST(:ids AS text[])) WITH ORDINALITY AS o(id, number)"
_INDEX = "l.array_index + o.number"

_SESSIONS = text(
    _copy(
        Session.metadata.tables["sessions"],
        f"{_OTHERS} WHERE l.id = :first",
        id="o.id",
        name=f"CAST(:name AS text) || '-' || ({_INDEX})",
        array_index=_INDEX,
        idempotency_key="NULL",
    )
)
_CONTAINERS = text(
    _copy(
        Container.metadata.tables["containers"],
        "unnest(CAST(:ids AS text[]), CAST(:sessions AS text[]), CAST(:indexes AS int[])) AS o(id, session_id, index)"
        " WHERE l.session_id = :first AND l.index = o.index",
        id="o.id",
        session_id="o.session_id",
    )
)
_MOUNTS = text(
    _copy(
        FolderMount.metadata.tables["vfolder_mounts"],
        f"{_OTHERS} WHERE l.session_id = :first",
        session_id="o.id",
    )
)
_DEPENDENCIES = text(
    _copy(
        SessionDependency.metadata.tables["session_dependencies"],
        f"{_OTHERS} WHERE l.session_id = :first",
        session_id="o.id",
    )
)


async def complete(
    tx: AsyncSession, first: Session, ids: Sequence[SessionId], *, containers: int, actor: str
) -> None:
    """Create the other sessions of the array as copies of the first one. A fixed number of statements."""
    others = list(ids[1:])
    name = first.name.removesuffix(f"-{first.array_index}")
    await tx.execute(_SESSIONS, {"ids": others, "first": first.id, "name": name})
    each = range(containers)
    await tx.execute(
        _CONTAINERS,
        {
            "ids": [new_id() for _ in others for _ in each],
            "sessions": [session for session in others for _ in each],
            "indexes": [index for _ in others for index in each],
            "first": first.id,
        },
    )
    for copy in (_MOUNTS, _DEPENDENCIES):
        await tx.execute(copy, {"ids": others, "first": first.id})
    await updates.announce_created(tx, others, actor=actor)


_ADD_UP = text(f"""
    WITH changes AS (DELETE FROM array_count_changes RETURNING array_id, state, result, change)
    UPDATE session_arrays r SET counts = {_ADDED_UP.format(changes="changes")}
    WHERE r.id IN (SELECT array_id FROM changes)
""")  # noqa: S608 - no input in it


async def add_up_counts(tx: AsyncSession) -> None:
    """Add the changes to the counts of the arrays, so that lists read few of them. Only a leader calls this."""
    await tx.execute(_ADD_UP)


async def lock_live(tx: AsyncSession, session: Session) -> list[SessionId]:
    """Lock the live sessions of its array until the transaction ends."""
    return await _lock(tx, session, IS_LIVE)


async def lock_pending(tx: AsyncSession, session: Session) -> list[SessionId]:
    """Lock the pending sessions of its array until the transaction ends."""
    return await _lock(tx, session, Session.state == SessionState.PENDING)


async def _lock(tx: AsyncSession, session: Session, which: ColumnElement[bool]) -> list[SessionId]:
    rows = await tx.execute(
        select(Session.id)
        .where(Session.array_id == session.array_id, which)
        .order_by(Session.id)
        .with_for_update()
    )
    return list(rows.scalars())
