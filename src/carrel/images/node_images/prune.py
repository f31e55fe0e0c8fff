"""Clean-up of images on nodes: what may go, requests, rules, and what the leader records while it removes."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ARRAY, ColumnElement, String, cast, delete, func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.ids import EngineId, NodeId
from carrel.db.database import notify
from carrel.engines.references import canonical
from carrel.images.node_images import cleanup_rules as rules
from carrel.images.node_images import service
from carrel.images.node_images.cleanup_rules import HeldImage, KeptFor, Needed
from carrel.images.node_images.schemas import (
    ImagePruneRequest,
    ImagePruneView,
    KeptImages,
    NodeRef,
    PrunedImage,
)
from carrel.nodes import queries as nodes
from carrel.nodes.host_load import latest
from carrel.permissions.decide import Actor, Target, require
from carrel.site.schemas import SiteSettings
from carrel.tables.builds import BuiltVersion
from carrel.tables.engines import AppLayerRow
from carrel.tables.environments import OPEN, EnvironmentVersion, VersionState
from carrel.tables.images import Image
from carrel.tables.node_images import TOPIC, ImagePull, NodeImage, NodePull
from carrel.tables.nodes import IS_MACHINE, Node
from carrel.tables.sessions import IS_LIVE, Container, Session

_ACTION = "image.prune"
_SHOWN = 1000
_STAYS = NodeImage.removing_at.is_(None)
_NOT_MADE = (VersionState.FAILED, VersionState.CANCELLED)


async def prune(tx: AsyncSession, clock: Clock, actor: Actor, request: ImagePruneRequest) -> ImagePruneView:
    """Report what is removed and, unless it is a dry run, start that for the controllers.

    Raises: Forbidden, NotFound, Conflict.
    """
    require(actor, _ACTION, Target())
    chosen = [await nodes.find(tx, actor, ref) for ref in request.nodes]
    images = await _held(tx, chosen, _STAYS)
    may_go, kept = _sorted_out(images, await needed(tx, registered=not request.registered))
    before = clock.now() - timedelta(days=request.older_than_days)
    going = rules.unused(may_go, before)
    for one in may_go:
        if one.used_at > before:
            kept[KeptFor.RECENT, "count"] += 1
            kept[KeptFor.RECENT, "bytes"] += one.size_bytes
    if going and not request.dry_run:
        await _begin(tx, going, clock.now())
        details = {"older_than_days": request.older_than_days, **_totals(going)}
        audit.record(tx, actor, _ACTION, "", target=Target(), details=details)
    return ImagePruneView(
        dry_run=request.dry_run,
        count=len(going),
        size_bytes=sum(one.size_bytes for one in going),
        items=await _shown(tx, going[:_SHOWN]),
        kept=[
            KeptImages(cause=cause, count=kept[cause, "count"], size_bytes=kept[cause, "bytes"])
            for cause in KeptFor
            if kept[cause, "count"]
        ],
    )


async def apply_rules(tx: AsyncSession, settings: SiteSettings, now: datetime) -> int:
    """Begin to remove what the rules of the installation say; how many images that is."""
    days, percent = settings.image_cleanup_days, settings.image_cleanup_free_percent
    if not days and not percent:
        return 0
    pulled = NodeImage.pulled_at.is_not(None)
    images = await _held(tx, (), _STAYS, pulled, NodeImage.problem.is_(None))
    may_go, _ = _sorted_out(images, await needed(tx, registered=True))
    going = rules.unused(may_go, now - timedelta(days=days)) if days else []
    if percent:
        by_node: dict[NodeId, list[HeldImage]] = {}
        for one in may_go:
            by_node.setdefault(one.node, []).append(one)
        # What is being removed is not free yet.
        busy = {one.node for one in going} | await _removing_from(tx)
        for node, (_, load) in (await latest(tx, sorted(by_node.keys() - busy))).items():
            going += rules.for_space(
                by_node[node],
                now,
                used_bytes=load.disk_used,
                size_bytes=load.disk_size,
                free_percent=percent,
            )
    if going:
        await _begin(tx, going, now)
        audit.record_own(tx, _ACTION, details=_totals(going))
    return len(going)


async def needed(tx: AsyncSession, *, registered: bool) -> Needed:
    """The images that must stay, wherever they are."""
    required = [
        *(await tx.execute(select(Container.image).join(Session).where(IS_LIVE).distinct())).scalars(),
        *(await tx.execute(select(Session.image).where(IS_LIVE).distinct())).scalars(),
        *(
            await tx.execute(
                select(ImagePull.reference).join(NodePull).where(NodePull.ended_at.is_(None)).distinct()
            )
        ).scalars(),
        *(await tx.execute(select(AppLayerRow.reference))).scalars(),
    ]
    versions = select(EnvironmentVersion.reference, EnvironmentVersion.base)
    for made in await tx.execute(versions.where(EnvironmentVersion.state.not_in(_NOT_MADE))):
        required += made
    building = select(BuiltVersion.images).join(
        EnvironmentVersion, EnvironmentVersion.id == BuiltVersion.version_id
    )
    for below in (await tx.execute(building.where(EnvironmentVersion.state.in_(OPEN)))).scalars():
        required += below.values()
    named = (await tx.execute(select(Image.reference).where(Image.registry_id.is_(None)))).scalars()
    return Needed(
        frozenset(map(canonical, required)), frozenset(map(canonical, named)) if registered else frozenset()
    )


async def to_remove(tx: AsyncSession, engine: EngineId) -> Sequence[NodeImage]:
    """What is to be removed from the nodes of an engine."""
    rows = await tx.execute(
        select(NodeImage)
        .join(Node, Node.id == NodeImage.node_id)
        .where(Node.engine_id == engine, NodeImage.removing_at.is_not(None))
        .order_by(NodeImage.removing_at, NodeImage.used_at)
    )
    return rows.scalars().all()


async def still_to_remove(tx: AsyncSession, image: NodeImage) -> bool:
    """False if it is needed again, which ends its removal."""
    required = await needed(tx, registered=False)
    held = await _held(tx, (), _is(image))
    if any(rules.kept_for(one, required) for one in held):
        await not_removed(tx, image, None)
        return False
    return bool(held)


async def removed(tx: AsyncSession, image: NodeImage) -> None:
    """Record that the node no longer has it. Twice: no-op."""
    await tx.execute(delete(NodeImage).where(_is(image)))
    await service.publish(tx, image.node_id)


async def not_removed(tx: AsyncSession, image: NodeImage, problem: str | None) -> None:
    """Record that it stays. problem: None: it is needed again."""
    await tx.execute(update(NodeImage).where(_is(image)).values(removing_at=None, problem=problem))
    await service.publish(tx, image.node_id)


def _is(image: NodeImage) -> ColumnElement[bool]:
    return (NodeImage.node_id == image.node_id) & (NodeImage.image_id == image.image_id)


async def _held(
    tx: AsyncSession, chosen: Collection[NodeId], *conditions: ColumnElement[bool]
) -> list[HeldImage]:
    """The images of nodes for which the conditions hold; chosen empty: of all nodes."""
    columns = select(
        NodeImage.node_id,
        NodeImage.image_id,
        NodeImage.names,
        NodeImage.size_bytes,
        func.coalesce(NodeImage.used_at, NodeImage.pulled_at, NodeImage.since),
        NodeImage.in_use,
        NodeImage.pulled_at,
        NodeImage.pulled_names,
        NodeImage.references,
    ).join(Node, Node.id == NodeImage.node_id)
    held = columns.where(IS_MACHINE)
    if chosen:
        held = held.where(NodeImage.node_id.in_(chosen))
    return [
        HeldImage(
            node,
            image,
            frozenset(names),
            size,
            used_at,
            in_use,
            pulled=pulled_at is not None and {*map(canonical, tags)} <= {*pulled_names},
        )
        for node, image, names, size, used_at, in_use, pulled_at, pulled_names, tags in await tx.execute(
            held.where(*conditions)
        )
    ]


def _sorted_out(
    images: Iterable[HeldImage], required: Needed
) -> tuple[list[HeldImage], Counter[tuple[KeptFor, str]]]:
    """Those that may go, and the counts and bytes of the others by cause."""
    may_go, kept = [], Counter[tuple[KeptFor, str]]()
    for one in images:
        cause = rules.kept_for(one, required)
        if cause is None:
            may_go.append(one)
        else:
            kept[cause, "count"] += 1
            kept[cause, "bytes"] += one.size_bytes
    return may_go, kept


async def _begin(tx: AsyncSession, going: Collection[HeldImage], now: datetime) -> None:
    # As two arrays: a statement has room for 65,535 values.
    chosen = select(
        func.unnest(cast([one.node for one in going], ARRAY(String))),
        func.unnest(cast([one.image_id for one in going], ARRAY(String))),
    )
    keys = tuple_(NodeImage.node_id, NodeImage.image_id)
    await tx.execute(update(NodeImage).where(keys.in_(chosen)).values(removing_at=now, problem=None))
    for node in sorted({one.node for one in going}):
        await service.publish(tx, node)
    await notify(tx, TOPIC)


async def _removing_from(tx: AsyncSession) -> set[NodeId]:
    rows = await tx.execute(select(NodeImage.node_id).where(NodeImage.removing_at.is_not(None)).distinct())
    return set(rows.scalars())


def _totals(going: Collection[HeldImage]) -> Mapping[str, int]:
    return {"images": len(going), "size_bytes": sum(one.size_bytes for one in going)}


async def _shown(tx: AsyncSession, going: Sequence[HeldImage]) -> list[PrunedImage]:
    keys = tuple_(NodeImage.node_id, NodeImage.image_id)
    rows = await tx.execute(
        select(NodeImage.node_id, NodeImage.image_id, NodeImage.references, Node.name)
        .join(Node, Node.id == NodeImage.node_id)
        .where(keys.in_([(one.node, one.image_id) for one in going]))
    )
    known = {(node, image): (references, name) for node, image, references, name in rows}
    return [
        PrunedImage(
            node=NodeRef(id=one.node, name=known[one.node, one.image_id][1]),
            image_id=one.image_id,
            references=known[one.node, one.image_id][0],
            size_bytes=one.size_bytes,
            used_at=one.used_at,
        )
        for one in going
    ]
