"""Dependencies as people see them: those of one session, and the graph around it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.permissions.decide import Actor
from carrel.sessions.endings import ending, is_met
from carrel.sessions.schemas import GraphEdge, GraphNode, SessionGraph
from carrel.sessions.visibility import visibility, visible_as_text

MOST_NODES = 200
_MOST_DEPENDANTS = 100

_FIELDS = "'condition', d.condition, 'kind', o.kind, 'state', o.state, 'result', o.result"

AFTER = f"""(SELECT coalesce(json_agg(json_build_object(
    'id', CASE WHEN {visible_as_text("o")} THEN o.id END, 'name', CASE WHEN {visible_as_text("o")} THEN o.name END,
    {_FIELDS}) ORDER BY o.created_at, o.id), '[]')
    FROM session_dependencies d JOIN sessions o ON o.id = d.after_id WHERE d.session_id = s.id)"""  # noqa: S608 - no input in it
"""For a statement on `sessions s`: the dependencies of the session as JSON, oldest first, for `with_met`."""

DEPENDANTS = f"""(SELECT coalesce(json_agg(json_build_object('id', d.id, 'name', d.name, {_FIELDS.replace("o.", "d.")})
    ORDER BY d.created_at, d.id), '[]')
    FROM (SELECT o.*, d.condition FROM session_dependencies d JOIN sessions o ON o.id = d.session_id
        WHERE d.after_id = s.id AND {visible_as_text("o")}
        ORDER BY o.created_at DESC, o.id DESC LIMIT {_MOST_DEPENDANTS}) d)"""  # noqa: S608 - no input in it
"""The newest sessions that are to start after it, as far as the actor may see them."""


def with_met(row: Mapping[str, Any]) -> dict[str, Any]:
    """`after` and `dependants` of a session's row as in `SessionDetail`."""
    own = ending(row["kind"], row["state"], row["result"])
    return {
        "after": [
            _view(one, is_met(one["condition"], ending(one["kind"], one["state"], one["result"])))
            for one in row["after"]
        ],
        "dependants": [_view(one, is_met(one["condition"], own)) for one in row["dependants"]],
    }


def _view(one: Mapping[str, Any], met: bool | None) -> dict[str, Any]:
    return {**{name: value for name, value in one.items() if name != "kind"}, "met": met}


# A recursive query computes only as many rows as are read from it.
_GRAPH = text(f"""
    WITH RECURSIVE above(id) AS (
        SELECT CAST(:id AS text)
        UNION SELECT d.after_id FROM above a JOIN session_dependencies d ON d.session_id = a.id
    ), below(id) AS (
        SELECT CAST(:id AS text)
        UNION SELECT d.session_id FROM below b JOIN session_dependencies d ON d.after_id = b.id
    ), near AS (
        SELECT id FROM (SELECT id FROM above LIMIT :most) a
        UNION SELECT id FROM (SELECT id FROM below LIMIT :most) b
    )
    SELECT s.id, s.name, s.kind, s.state, s.result FROM near n JOIN sessions s ON s.id = n.id
    WHERE {visible_as_text("s")} ORDER BY (s.id = :id) DESC, s.created_at, s.id LIMIT :most
""")  # noqa: S608 - no input in it

_EDGES = text("""
    SELECT d.session_id, d.after_id, d.condition FROM session_dependencies d
    WHERE d.session_id = ANY(:ids) AND d.after_id = ANY(:ids) ORDER BY d.session_id, d.after_id
""")


async def around(tx: AsyncSession, actor: Actor, session: SessionId) -> SessionGraph:
    """The session with all that it starts after and all that start after it, directly or not, oldest first."""
    bound = {"id": session, "most": MOST_NODES + 1, **visibility(actor)}
    rows = (await tx.execute(_GRAPH, bound)).all()
    shown = {row.id: row for row in rows[:MOST_NODES]}
    edges = await tx.execute(_EDGES, {"ids": list(shown)})
    return SessionGraph(
        nodes=[GraphNode.model_validate(row, from_attributes=True) for row in shown.values()],
        edges=[
            GraphEdge(
                session=edge.session_id,
                after=edge.after_id,
                condition=edge.condition,
                met=is_met(edge.condition, ending(other.kind, other.state, other.result)),
            )
            for edge in edges
            for other in (shown[edge.after_id],)
        ],
        truncated=len(rows) > MOST_NODES,
    )
