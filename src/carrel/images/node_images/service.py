"""What nodes hold, as their engines list it, and what Carrel has pulled there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import EngineId, NodeId
from carrel.engines.optional import StoredImage
from carrel.engines.references import canonical
from carrel.events import service as events
from carrel.permissions.decide import Target
from carrel.tables.node_images import NodeImage, PulledReference
from carrel.tables.nodes import Node

MOST = 1000
"""Images kept of each node, the largest ones."""
_EVENT = "node_image.updated"
_USED_EVERY = timedelta(minutes=10)
"""Minimum interval between writes of `used_at` alone."""
_NEVER_LISTED = timedelta(days=1)

# Two parts, so that each has its index, however long the history of allocations is.
_USES = text("""
SELECT name, image, bool_or(released_at IS NULL) AS in_use, max(released_at) AS released_at
FROM (
    SELECT n.name, c.image, a.released_at FROM nodes n
    JOIN allocations a ON a.node_id = n.id AND a.released_at IS NULL JOIN containers c ON c.id = a.container_id
    WHERE n.engine_id = :engine
    UNION ALL
    SELECT n.name, c.image, a.released_at FROM nodes n
    JOIN allocations a ON a.node_id = n.id AND a.released_at > :since JOIN containers c ON c.id = a.container_id
    WHERE n.engine_id = :engine
) AS used GROUP BY 1, 2
""")

_RECORD = text("""
WITH reported AS (
    SELECT n.id AS node_id, f.* FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS f(
        node text, image_id text, tags text[], names text[], size_bytes bigint, in_use boolean, used_at timestamptz)
    JOIN nodes n ON n.engine_id = :engine AND n.name = f.node AND n.forgotten_at IS NULL
), gone AS (
    DELETE FROM node_images i USING nodes n
    WHERE n.id = i.node_id AND n.engine_id = :engine AND (n.name = ANY(:nodes) OR n.forgotten_at IS NOT NULL)
        AND NOT EXISTS (SELECT FROM reported r WHERE r.node_id = i.node_id AND r.image_id = i.image_id)
    RETURNING i.node_id
), written AS (
    INSERT INTO node_images AS i (node_id, image_id, "references", names, size_bytes, since, used_at, in_use)
    SELECT node_id, image_id, tags, names, size_bytes, CAST(:now AS timestamptz), used_at, in_use FROM reported
    ON CONFLICT (node_id, image_id) DO UPDATE SET "references" = excluded."references",
        names = CASE WHEN i.alias IS NULL THEN excluded.names ELSE excluded.names || i.alias END,
        size_bytes = excluded.size_bytes, in_use = excluded.in_use,
        used_at = greatest(i.used_at, excluded.used_at),
        problem = CASE WHEN i.in_use = excluded.in_use THEN i.problem END
    WHERE (i."references", i.names, i.size_bytes, i.in_use) IS DISTINCT FROM (excluded."references",
            CASE WHEN i.alias IS NULL THEN excluded.names ELSE excluded.names || i.alias END,
            excluded.size_bytes, excluded.in_use)
        OR excluded.used_at > coalesce(i.used_at, '-infinity') + CAST(:used_every AS interval)
    RETURNING node_id
)
SELECT node_id FROM gone UNION SELECT node_id FROM written
""")

_ATTRIBUTE = text("""
WITH pulled AS (
    UPDATE node_images i SET pulled_at = p.pulled_at, problem = NULL, alias = nullif(p.name, p.reference),
        pulled_names = CASE WHEN p.reference = ANY(i.pulled_names) THEN i.pulled_names
            ELSE i.pulled_names || CAST(p.reference AS varchar) END,
        names = CASE WHEN p.name = ANY(i.names) THEN i.names ELSE i.names || CAST(p.name AS varchar) END
    FROM pulled_references p JOIN nodes n ON n.id = p.node_id
    WHERE n.engine_id = :engine AND p.node_id = i.node_id AND p.reference = ANY(i.names)
    RETURNING i.node_id, i.image_id, p.reference, p.name
), moved AS (
    UPDATE node_images i SET alias = NULL, names = array_remove(i.names, i.alias) FROM pulled
    WHERE i.node_id = pulled.node_id AND i.alias = pulled.name AND i.image_id <> pulled.image_id
), consumed AS (
    DELETE FROM pulled_references p USING pulled
    WHERE p.node_id = pulled.node_id AND p.reference = pulled.reference
)
SELECT node_id FROM pulled
""")


@dataclass(frozen=True, slots=True)
class ImageUse:
    """name: as `references.canonical`. at: when the last container that used it was gone; None: one uses it now."""

    name: str
    at: datetime | None


async def uses(tx: AsyncSession, engine: EngineId, since: datetime) -> Mapping[str, Sequence[ImageUse]]:
    """By name of the node, the images that containers use or have used since then."""
    by_node: dict[str, list[ImageUse]] = {}
    for node, image, in_use, released_at in await tx.execute(_USES, {"engine": engine, "since": since}):
        by_node.setdefault(node, []).append(ImageUse(canonical(image), None if in_use else released_at))
    return by_node


async def record(
    tx: AsyncSession,
    engine: EngineId,
    by_node: Mapping[str, Sequence[StoredImage]],
    used: Mapping[str, Sequence[ImageUse]],
    now: datetime,
) -> bool:
    """Store what these nodes hold. Only differences are written; other nodes are left as they are. True if images were
    found to be those that Carrel has pulled, which may be in use under another name: look again.
    """
    aliases = await _aliases(tx, engine, by_node)
    rows = [
        _row(node, image, aliases.get((node, image.id)), used.get(node, ()), now)
        for node, images in by_node.items()
        for image in sorted(images, key=lambda one: (-one.size_bytes, one.id))[:MOST]
    ]
    bound = {
        "engine": engine,
        "nodes": list(by_node),
        "rows": orjson.dumps(rows).decode(),
        "now": now,
        "used_every": _USED_EVERY,
    }
    changed = set((await tx.execute(_RECORD, bound)).scalars())
    pulled = (await tx.execute(_ATTRIBUTE, {"engine": engine})).scalars().all()
    for node in sorted(changed.union(pulled)):
        await publish(tx, node)
    return bool(pulled)


async def note_pull(tx: AsyncSession, node: NodeId, reference: str, now: datetime, *, name: str) -> None:
    """Remember that Carrel pulls an image that the node does not have. name: what sessions call it. Twice: no-op."""
    values = {"node_id": node, "reference": canonical(reference), "name": canonical(name), "pulled_at": now}
    await tx.execute(insert(PulledReference).values(**values).on_conflict_do_nothing())


async def forget_pull(tx: AsyncSession, node: NodeId, name: str) -> None:
    """It has brought nothing. name: what sessions call it."""
    mine = (PulledReference.node_id == node) & (PulledReference.name == canonical(name))
    await tx.execute(delete(PulledReference).where(mine))


async def forget_pulls(tx: AsyncSession, now: datetime) -> None:
    """Forget pulls whose image no node has listed."""
    await tx.execute(delete(PulledReference).where(PulledReference.pulled_at < now - _NEVER_LISTED))


async def pulled_here(tx: AsyncSession, node: NodeId, reference: str) -> bool:
    """True if Carrel pulled the image that the node has under this reference."""
    marks = select(NodeImage.pulled_at).where(
        NodeImage.node_id == node, NodeImage.names.bool_op("@>")([canonical(reference)])
    )
    return any(at is not None for at in (await tx.execute(marks)).scalars())


async def publish(tx: AsyncSession, node: NodeId) -> None:
    """Tell that the images of a node have changed."""
    await events.record(tx, _EVENT, node, target=Target(), data={})


async def _aliases(
    tx: AsyncSession, engine: EngineId, nodes: Collection[str]
) -> Mapping[tuple[str, str], str]:
    rows = await tx.execute(
        select(Node.name, NodeImage.image_id, NodeImage.alias)
        .join(NodeImage, NodeImage.node_id == Node.id)
        .where(Node.engine_id == engine, Node.name.in_(nodes), NodeImage.alias.is_not(None))
    )
    return {(node, image): alias for node, image, alias in rows if alias}


def _row(
    node: str, image: StoredImage, alias: str | None, used: Sequence[ImageUse], now: datetime
) -> dict[str, Any]:
    names = sorted({canonical(one) for one in (*image.references, *image.digests)})
    mine = [use for use in used if use.name in names or use.name == alias]
    in_use = any(use.at is None for use in mine)
    return {
        "node": node,
        "image_id": image.id,
        "tags": sorted(image.references),
        "names": names,
        "size_bytes": image.size_bytes,
        "in_use": in_use,
        "used_at": now if in_use else max((use.at for use in mine if use.at), default=None),
    }
