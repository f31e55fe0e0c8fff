"""Sessions as JSON for the API. A list is one statement whatever its length, and PostgreSQL writes the JSON itself."""

from collections.abc import Iterator
from dataclasses import fields
from functools import cache, partial

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Invalid
from carrel.core.ids import SessionId
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.db.search import bound_part, escaped, like_condition, part_condition
from carrel.http.paging import Sort, SortOrder
from carrel.permissions.decide import Actor, Sight, sight
from carrel.sessions import arrays, environment, graph
from carrel.sessions.schemas import (
    ArrayRows,
    CountQuery,
    KindCount,
    SessionCounts,
    SessionDetail,
    SessionFilter,
    SessionQuery,
)
from carrel.sessions.spec import SessionSpec
from carrel.sessions.visibility import (
    may_leave_as_text,
    recipient,
    shared_as_text,
    shared_with_as_text,
    visibility,
    visible_as_text,
)
from carrel.tables.session_states import LIFECYCLE, SessionState
from carrel.tables.sessions import COLLAPSED, Session

_SEARCHED = "{0}.name || ' ' || {0}.image"

_VISIBLE = visible_as_text("s")

# The node is a subquery: as a join, the plan for any number of rows would read every container that there ever was.
_COLUMNS = """
    s.id, s.name, s.kind, s.state, s.result, s.reason, s.progress, s.image, s.image_name,
    d.object AS domain, p.object AS project, u.object AS owner, g.object AS "group",
    s.priority, s.time_limit_s, s.slots, (SELECT count(*) FROM containers m WHERE m.session_id = s.id) AS cluster_size,
    (SELECT n.name FROM containers m JOIN nodes n ON n.id = m.node_id
        WHERE m.session_id = s.id AND m.index = 0 AND NOT n.elastic) AS node,
    s.warnings, s.queue_position, s.idle_ends_at, s.limit_ends_at, s.created_at, s.started_at,
    s.ended_at, s.array_id, s.array_index"""

_ARRAY = arrays.as_json("s.array_id")

# The other fields of a template are internal to the gateway.
_APPS = """(SELECT coalesce(json_agg(json_build_object(
    'name', a -> 'name', 'title', a -> 'title', 'protocol', a -> 'protocol')), '[]')
    FROM jsonb_array_elements(s.apps) a)"""

_MOUNTS = """(SELECT coalesce(json_agg(json_build_object(
    'folder_id', m.folder_id, 'folder_name', m.folder_name, 'path', m.path, 'subpath', m.subpath,
    'read_only', m.read_only, 'automatic', m.folder_name LIKE '.%') ORDER BY m.position), '[]')
    FROM vfolder_mounts m WHERE m.session_id = s.id)"""

_CONTAINERS = """(SELECT json_agg(json_build_object(
    'id', c.id, 'name', CASE WHEN c.index = 0 THEN 'main' ELSE c.host END, 'role', c.role, 'host', c.host,
    'image', c.image, 'image_digest', c.image_digest, 'image_id', c.image_id,
    'slots', c.slots, 'index', c.index, 'state', c.state,
    'node', (SELECT name FROM nodes WHERE nodes.id = c.node_id AND NOT elastic), 'exit_code', c.exit_code,
    'resize', c.resize -> 'slots', 'started_at', c.started_at, 'ended_at', c.ended_at) ORDER BY c.index)
    FROM containers c WHERE c.session_id = s.id)"""

# By its name at the time: what it is called later may be another image.
_IMAGE_DEPRECATED = """(SELECT json_build_object('successor', i.successor) FROM image_settings i
    WHERE i.image = coalesce(s.image_name, s.image) AND i.deprecated)"""

_ACCEPTED_GROUPS = """(SELECT json_agg(json_build_object('id', o.id, 'name', o.name) ORDER BY a.rank)
    FROM unnest(CASE WHEN s.accepted_groups = '{}' THEN ARRAY[s.group_id] ELSE s.accepted_groups END)
        WITH ORDINALITY AS a(id, rank) JOIN resource_groups o ON o.id = a.id)"""


def _joined(table: str, alias: str, *, by: str, name: str = "name") -> str:
    # OFFSET 0: the subquery stays one, whose result PostgreSQL remembers: the rows of a list have few projects and
    # owners.
    return f"""
    CROSS JOIN LATERAL (SELECT json_build_object('id', id, '{name}', {name}) AS object
        FROM {table} WHERE id = s.{by} OFFSET 0) {alias}"""  # noqa: S608 - constants


_JOINS = (
    _joined("domains", "d", by="domain_id")
    + _joined("projects", "p", by="project_id")
    + _joined("users", "u", by="owner_id", name="email")
    + _joined("resource_groups", "g", by="group_id")
)
_NOT_SHARED = "CAST(NULL AS text) AS shared_as"


def _shared_as(user: str) -> str:
    return f"CASE WHEN s.owner_id <> {user} THEN {shared_as_text('s', user)} END AS shared_as"


_DETAIL = text(f"""
    SELECT row_to_json(x)::text
    FROM (SELECT {_COLUMNS}, {_shared_as(":recipient")},
            {may_leave_as_text("s", ":recipient")} AS may_leave, {_ARRAY} AS "array", s.spec, s.template, s.stop_signal,
            s.grace_s, s.disk_limit_bytes, {_ACCEPTED_GROUPS} AS accepted_groups, {_APPS} AS apps, {_MOUNTS} AS mounts,
            {_CONTAINERS} AS containers, {_IMAGE_DEPRECATED} AS image_deprecated,
            {graph.AFTER} AS after, {graph.DEPENDANTS} AS dependants
        FROM sessions s {_JOINS} WHERE s.id = :id) x
""")  # noqa: S608 - no input in it


_SORT = Sort(
    {
        "name": Session.name,
        "state": Session.state,
        "created_at": Session.created_at,
        "image": Session.image,
    },
    tie=Session.id,
    default="-created_at",
)


@cache
def _page(conditions: tuple[str, ...], column: str, way: str, array: str, shared_as: str) -> str:
    order = f"ORDER BY s.{column} {way}, s.id {way}"
    return f"""
    SELECT row_to_json(x)::text FROM (
        SELECT {_COLUMNS}, {shared_as}, {array} AS "array"
        FROM (SELECT * FROM sessions s WHERE {" AND ".join(conditions) or "true"}
            {order} LIMIT %(limit)s) s {_JOINS}
        {order}) x"""  # noqa: S608 - all of it are constants of this module


# Each by id or name. A session is on the nodes of all its containers.
_FILTERS = {
    "domain": "s.domain_id IN (SELECT id FROM domains WHERE %(domain)s IN (id, name))",
    "project": "s.project_id IN (SELECT id FROM projects WHERE %(project)s IN (id, name))",
    "group": "s.group_id IN (SELECT id FROM resource_groups WHERE %(group)s IN (id, name))",
    "node": "s.id IN (SELECT session_id FROM containers WHERE node_id IN "
    "(SELECT id FROM nodes WHERE %(node)s IN (id, name)))",
    "kind": "s.kind = %(kind)s",
}

# The row of the first session of an array is listed if any session of the array matches. _MATCHES reads all that match,
# hence it is only for conditions that few rows fulfil.
_COLLAPSED = f"({COLLAPSED})"
_MATCHES = "s.id IN (SELECT coalesce(s.array_id, s.id) FROM sessions s WHERE {})"
_HAS = "(s.array_id IS NULL AND s.state IN ({0}) OR s.array_id IS NOT NULL AND EXISTS"
_HAS += " (SELECT FROM sessions m WHERE m.array_id = s.array_id AND m.state IN ({0})))"
_HAS_NO = "(s.array_id IS NULL AND s.state NOT IN ({0}) OR s.array_id IS NOT NULL AND NOT EXISTS"
_HAS_NO += " (SELECT FROM sessions m WHERE m.array_id = s.array_id AND m.state IN ({0})))"


async def page(database: Database, actor: Actor, query: SessionQuery) -> bytes:
    """One page of `SessionList` as JSON."""
    collapsed = query.array == ArrayRows.COLLAPSED
    of_one = not collapsed and query.array != ArrayRows.EXPANDED
    # The sessions of an array in the order of their indexes.
    order = _SORT.order(query.sort or ("created_at" if of_one else None), query.cursor)
    limit, search = query.limit, query.q
    bound: dict[str, object] = {"limit": limit + 1}
    states = states_of(query.state)
    first_only = collapsed and not _by_members(states, any_node=not query.node)
    conditions = _filters(actor, query, bound, first_only=first_only)
    if of_one:
        conditions.append("s.array_id = %(array)s")
        bound["array"] = query.array
    conditions = _in_states(conditions, states, collapsed=collapsed, first_only=first_only)
    if order.after:
        conditions.append(f"(s.{order.name}, s.id) {'<' if order.descending else '>'} (%(at)s, %(after)s)")
        bound["at"], bound["after"] = order.after
    # No prepared plan: the best plan depends on how selective the search text is.
    ask = database.search if search else database.texts
    way, array = "DESC" if order.descending else "ASC", _ARRAY if collapsed else "CAST(NULL AS json)"
    shared_as = _NOT_SHARED if query.owner == "me" else _shared_as("%(recipient)s")
    items = await ask(_page(tuple(conditions), order.name, way, array, shared_as), bound)
    next_cursor = "null"
    if len(items) > limit:
        del items[limit:]
        next_cursor = f'"{_cursor_after(items[-1], order)}"'
    return ('{"items":[' + ",".join(items) + '],"next_cursor":' + next_cursor + "}").encode()


COUNTED = 10_000
"""So many rows of a list with ended sessions are counted, the newest."""


async def counts(database: Database, actor: Actor, query: CountQuery) -> SessionCounts:
    """The rows of the list that match, by kind, and by state if it is one of live sessions."""
    states = states_of(query.state)
    if states is None or not LIFECYCLE.live.issuperset(states):
        return await _newest_counts(database, actor, query, states)
    bound: dict[str, object] = {}
    conditions = _filters(actor, query.model_copy(update={"kind": None}), bound, first_only=False)
    matching = " AND ".join(_in_states(conditions, states, collapsed=False, first_only=False))
    of_kind = "true"
    if query.kind:
        of_kind, bound["kind"] = "kind = %(kind)s", query.kind
    statement = f"""
        WITH live AS (SELECT s.kind, s.state, coalesce(s.array_id, s.id) AS row FROM sessions s WHERE {matching})
        SELECT row_to_json(x)::text FROM (SELECT
            (SELECT coalesce(json_agg(c), '[]') FROM (
                SELECT kind, count(DISTINCT row) AS count FROM live GROUP BY 1 ORDER BY 1) c) AS kinds,
            (SELECT coalesce(json_agg(c), '[]') FROM (
                SELECT state, count(DISTINCT row) AS count FROM live WHERE {of_kind} GROUP BY 1 ORDER BY 1) c) AS states
        ) x"""  # noqa: S608 - all of it are constants of this module
    [row] = await database.search(statement, bound)
    return SessionCounts.model_validate_json(row)


async def _newest_counts(
    database: Database, actor: Actor, query: CountQuery, states: list[SessionState] | None
) -> SessionCounts:
    """Of the newest rows that the actor may see, those that match: a history may have millions."""
    bound: dict[str, object] = {"most": COUNTED}
    first_only = not _by_members(states, any_node=not query.node)
    conditions = _filters(
        actor, query.model_copy(update={"kind": None}), bound, first_only=first_only, few=True
    )
    matching = " AND ".join(_in_states(conditions, states, collapsed=True, first_only=first_only))
    reached = " AND ".join([_COLLAPSED, *_reaching(actor, bound, query.owner)])
    statement = f"""
        SELECT row_to_json(x)::text FROM (SELECT s.kind, count(*) AS seen, count(*) FILTER (WHERE {matching}) AS count
            FROM (SELECT * FROM sessions s WHERE {reached} ORDER BY s.created_at DESC, s.id DESC LIMIT %(most)s) s
            GROUP BY 1 ORDER BY 1) x"""  # noqa: S608 - all of it are constants of this module
    rows = [orjson.loads(row) for row in await database.search(statement, bound)]
    kinds = [KindCount(kind=row["kind"], count=row["count"]) for row in rows if row["count"]]
    return SessionCounts(kinds=kinds, states=[], complete=sum(row["seen"] for row in rows) < COUNTED)


def _filters(
    actor: Actor, query: SessionFilter, bound: dict[str, object], *, first_only: bool, few: bool = False
) -> list[str]:
    """The conditions but that on the state; adds their parameters. first_only: for rows that stand for arrays, none of
    whose other sessions is read; only the search is for any of them. few: of rows that are read anyway.
    """
    search, owner = query.q, query.owner
    bound["recipient"] = recipient(actor)
    conditions = list(_reaching(actor, bound, owner))
    if owner not in ("me", "shared", "all"):
        conditions.append(
            "s.owner_id IN (SELECT id FROM users WHERE id = %(owner)s OR lower(email) = %(owner)s)"
        )
        bound["owner"] = owner.lower()
    if search:
        contains = like_condition if few else partial(part_condition, part=search)
        own = f"{contains(_SEARCHED.format('s'))} OR s.id LIKE %(prefix)s"
        conditions.append(f"({own} OR {_in_array(search)})" if first_only else f"({own})")
        bound |= {**bound_part(search), "prefix": f"{escaped(search)}%"}
    for name, condition in _FILTERS.items():
        if value := getattr(query, name):
            conditions.append(condition)
            bound[name] = value
    return conditions


def _in_array(search: str) -> str:
    """The condition for the first session of an array that has another one that matches the search.

    An array, which is computed once and only if a row does not match itself; as a join, each row would wait for it.
    The names of an array differ in their indexes only, so that a text without a digit fits all of them or none.
    """
    matches = "m.id LIKE %(prefix)s"
    if any(one.isdigit() for one in search):
        matches += f" OR {part_condition(_SEARCHED.format('m'), search)}"
    return f"s.id = ANY(ARRAY(SELECT m.array_id FROM sessions m WHERE m.array_id <> m.id AND ({matches})))"  # noqa: S608 - constants


def _by_members(states: list[SessionState] | None, *, any_node: bool) -> bool:
    """Whether few enough sessions match to read all of them, for the arrays that they are in."""
    return not any_node or (states is not None and LIFECYCLE.live.issuperset(states))


def _in_states(
    conditions: list[str], states: list[SessionState] | None, *, collapsed: bool, first_only: bool
) -> list[str]:
    """The conditions with that on the state. collapsed: for a list with one row for each array."""
    # Literal states, so that the prepared plan can use the partial index on live sessions.
    given = ", ".join(f"'{state}'" for state in states or ())
    exact = [*conditions, f"s.state IN ({given})"] if states is not None else conditions
    if not collapsed:
        return exact
    if not first_only:
        return [_MATCHES.format(" AND ".join(exact) or "true")]
    if states is None:
        return [*conditions, _COLLAPSED]
    if LIFECYCLE.final.issubset(states):
        return [
            *conditions,
            _COLLAPSED,
            _HAS_NO.format(", ".join(f"'{state}'" for state in sorted(LIFECYCLE.live))),
        ]
    return [*conditions, _COLLAPSED, _HAS.format(given)]


def _cursor_after(item: str, order: SortOrder) -> str:
    last = orjson.loads(item)
    return order.cursor(last[order.name], last["id"])


def _reaching(actor: Actor, bound: dict[str, object], owner: str) -> Iterator[str]:
    """The condition for sessions that the actor requests and may see, if needed; adds its parameters.

    It contains only the terms this actor needs, so that ordinary users hit the index on the owner.
    """
    shared = shared_with_as_text("s", "%(recipient)s")
    if owner == "shared":
        yield f"s.owner_id <> %(recipient)s AND {shared}"
        return
    seen = Sight(owner_id=actor.user_id) if owner == "me" else sight(actor, "session.read")
    if seen.everything:
        return
    places = ["false"] if owner == "me" else [shared]
    if seen.owner_id:
        places.append("s.owner_id = %(user)s")
        bound["user"] = seen.owner_id
    if seen.domain_id:
        places.append("s.domain_id = %(seen_domain)s")
        bound["seen_domain"] = seen.domain_id
    if seen.project_ids:
        places.append("s.project_id = ANY(%(projects)s)")
        bound["projects"] = sorted(seen.project_ids)
    yield "(" + " OR ".join(places) + ")"


def states_of(name: str) -> list[SessionState] | None:
    """The states that "live", "ended", "all" or a state's own name stand for. Raises: Invalid."""
    match name:
        case "all":
            return None
        case "live":
            return sorted(LIFECYCLE.live)
        case "ended":
            return sorted(LIFECYCLE.final)
    try:
        return [SessionState(name.upper())]
    except ValueError:
        raise Invalid(
            "invalid.state",
            f"{name} is not a state.",
            hint="Use live, ended, all, or one of " + ", ".join(SessionState) + ".",
            field="state",
        ) from None


# Fields of the spec that have no column.
_FROM_SPEC = SessionDetail.model_fields.keys() & {one.name for one in fields(SessionSpec)}


async def detail(tx: AsyncSession, seal: SecretBox, actor: Actor, session: SessionId) -> bytes:
    """One `SessionDetail` as JSON. Environment values and the bootstrap script are visible only to the owner."""
    bound = {"id": session, **visibility(actor)}
    row = orjson.loads((await tx.execute(_DETAIL, bound)).scalar_one())
    stored = SessionSpec.from_json(row.pop("spec"))
    spec = environment.shown(seal, stored, own=row["owner"]["id"] == actor.user_id)
    row = {**{name: getattr(spec, name) for name in _FROM_SPEC}, **row, **graph.with_met(row)}
    return orjson.dumps(row)
