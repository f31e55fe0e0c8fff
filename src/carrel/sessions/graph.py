"""Dependencies as people see them: those of one session, and the graph around it.

The sessions of an array start after the same others, hence they are one in the graph and among the dependants.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.permissions.decide import Actor
from carrel.sessions import arrays
from carrel.sessions.endings import ending, endings_of, is_met, is_met_by_array
from carrel.sessions.schemas import GraphEdge, GraphNode, SessionGraph
from carrel.sessions.visibility import visibility, visible_as_text

MOST_NODES = 200
_MOST_DEPENDANTS = 100

_FIELDS = "'condition', d.condition, 'kind', o.kind, 'state', o.state, 'result', o.result"
_WHOLE = arrays.as_json("CASE WHEN d.whole_array THEN d.after_id END")

AFTER = f"""(SELECT coalesce(json_agg(json_build_object(
    'id', CASE WHEN {visible_as_text("o")} THEN o.id END, 'name', CASE WHEN {visible_as_text("o")} THEN o.name END,
    'array', {_WHOLE}, {_FIELDS}) ORDER BY o.created_at, o.id), '[]')
    FROM session_dependencies d JOIN sessions o ON o.id = d.after_id WHERE d.session_id = s.id)"""  # noqa: S608 - no input in it
"""For a statement on `sessions s`: the dependencies of the session as JSON, oldest first, for `with_met`."""

DEPENDANTS = f"""(SELECT coalesce(json_agg(json_build_object('id', d.id, 'name', d.name, 'whole', d.whole_array,
    'array', {arrays.as_json("d.array_id")}, {_FIELDS.replace("o.", "d.")}) ORDER BY d.created_at, d.id), '[]')
    FROM (SELECT o.*, d.condition, d.whole_array FROM session_dependencies d JOIN sessions o ON o.id = d.session_id
        WHERE d.after_id = CASE WHEN d.whole_array THEN s.array_id ELSE s.id END AND d.after_id IN (s.id, s.array_id)
            AND (o.array_id IS NULL OR o.array_id = o.id) AND {visible_as_text("o")}
        ORDER BY o.created_at DESC, o.id DESC LIMIT {_MOST_DEPENDANTS}) d)"""  # noqa: S608 - no input in it
"""The newest sessions and arrays that are to start after it or its array, as far as the actor may see them."""


def with_met(row: Mapping[str, Any]) -> dict[str, Any]:
    """`after` and `dependants` of a session's row as in `SessionDetail`."""
    return {
        "after": [_view(one, _met(one["condition"], one, one["array"])) for one in row["after"]],
        "dependants": [
            _view(one, _met(one["condition"], row, row["array"] if one["whole"] else None))
            for one in row["dependants"]
        ],
    }


def _met(condition: str, session: Mapping[str, Any], array: Mapping[str, Any] | None) -> bool | None:
    """array: that has to end as a whole, instead of the session."""
    if array:
        counts = [(one["state"], one["result"], one["count"]) for one in array["counts"]]
        return is_met_by_array(condition, endings_of(counts))
    return is_met(condition, ending(session["kind"], session["state"], session["result"]))


def _view(one: Mapping[str, Any], met: bool | None) -> dict[str, Any]:
    shown = {name: value for name, value in one.items() if name not in ("kind", "whole")}
    return {**shown, "array": one["array"] if one["id"] else None, "met": met}


# Nodes have the id of a session, or of an array, which is that of its first session. A recursive query computes only
# as many rows as are read from it.
_GRAPH = text(f"""
    WITH RECURSIVE own(id) AS (
        SELECT coalesce(array_id, id) FROM sessions WHERE id = :id
    ), above(id) AS (
        SELECT id FROM own
        UNION SELECT coalesce(p.array_id, p.id) FROM above a JOIN session_dependencies d ON d.session_id = a.id
        JOIN sessions p ON p.id = d.after_id
    ), below(id) AS (
        SELECT id FROM own
        UNION SELECT c.id FROM below b JOIN sessions m ON m.id = b.id OR m.array_id = b.id
        JOIN session_dependencies d ON d.after_id = m.id
        JOIN sessions c ON c.id = d.session_id AND (c.array_id IS NULL OR c.array_id = c.id)
    ), near AS (
        SELECT id FROM (SELECT id FROM above LIMIT :most) a
        UNION SELECT id FROM (SELECT id FROM below LIMIT :most) b
    )
    SELECT s.id, s.name, s.kind, s.state, s.result, {arrays.as_json("s.array_id")} AS "array"
    FROM near n JOIN sessions s ON s.id = n.id CROSS JOIN own
    WHERE s.id = own.id OR {visible_as_text("s")} ORDER BY (s.id = own.id) DESC, s.created_at, s.id LIMIT :most
""")  # noqa: S608 - no input in it

_EDGES = text("""
    SELECT d.session_id, coalesce(p.array_id, p.id) AS after_id, d.condition, d.whole_array,
        CASE WHEN NOT d.whole_array THEN p.array_index END AS index, p.kind, p.state, p.result
    FROM session_dependencies d JOIN sessions p ON p.id = d.after_id
    WHERE d.session_id = ANY(:ids) AND coalesce(p.array_id, p.id) = ANY(:ids) ORDER BY 1, 2, index
""")


async def around(tx: AsyncSession, actor: Actor, session: SessionId) -> SessionGraph:
    """The session, or its array, with all that it starts after and all that start after it, directly or not, oldest
    first.
    """
    bound = {"id": session, "most": MOST_NODES + 1, **visibility(actor)}
    rows = [dict(row) for row in (await tx.execute(_GRAPH, bound)).mappings()]
    shown = {row["id"]: row for row in rows[:MOST_NODES]}
    edges = [dict(row) for row in (await tx.execute(_EDGES, {"ids": list(shown)})).mappings()]
    return SessionGraph(
        nodes=[GraphNode.model_validate(row) for row in shown.values()],
        edges=[
            GraphEdge(
                session=edge["session_id"],
                after=edge["after_id"],
                index=edge["index"],
                condition=edge["condition"],
                met=_met(
                    edge["condition"],
                    edge,
                    shown[edge["after_id"]]["array"] if edge["whole_array"] else None,
                ),
            )
            for edge in edges
        ],
        truncated=len(rows) > MOST_NODES,
    )
