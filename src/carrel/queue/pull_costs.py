"""What it would cost to pull the image of a pending session to nodes that do not have it."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import NodeId
from carrel.core.units import format_size
from carrel.engines.references import digest_of, registry_of, repository_of
from carrel.scheduling.snapshot import NodeSnapshot, PendingSession, Snapshot
from carrel.tables.images import Image
from carrel.tables.node_images import NodeImage
from carrel.tables.nodes import Node


@dataclass(frozen=True)
class PullCost:
    """nodes: names of those in the groups of the session that would have to pull it, out of so many. size_bytes: about;
    None: not known.
    """

    nodes: tuple[str, ...]
    out_of: int
    size_bytes: int | None

    @property
    def sentence(self) -> str:
        """Such as "The node gpu-2 would have to pull about 3.2 GiB."."""
        what = "its image" if self.size_bytes is None else f"about {format_size(self.size_bytes)}"
        if self.out_of == 1:
            return f"The node {self.nodes[0]} would have to pull {what}."
        return f"{len(self.nodes)} of {self.out_of} nodes would have to pull {what}."


async def pull_cost(
    tx: AsyncSession, snapshot: Snapshot, one: PendingSession, starts_on: Collection[NodeId] = ()
) -> PullCost | None:
    """None if no node would have to pull it. starts_on: where it would start now; otherwise the open nodes count."""
    if not one.image:
        return None
    candidates = [node for node in snapshot.nodes if _is_candidate(node, one, starts_on)]
    # Of a node without any image, nothing is known.
    listed = select(Node.id).where(exists().where(NodeImage.node_id == Node.id))
    among = listed.where(Node.id.in_([node.id for node in candidates]))
    known = set((await tx.execute(among)).scalars())
    there = [node for node in candidates if node.id in known]
    lacking = tuple(node.name for node in there if one.image not in node.images)
    return PullCost(lacking, len(there), await _size(tx, one.image)) if lacking else None


def _is_candidate(node: NodeSnapshot, one: PendingSession, starts_on: Collection[NodeId]) -> bool:
    if starts_on:
        return node.id in starts_on
    open_node = node.group in one.groups and not node.closed and not node.elastic
    return open_node and one.runs_on(node, one.slots)


async def _size(tx: AsyncSession, image: str) -> int | None:
    """Compressed, as a scan has found, otherwise as it is on another node."""
    named = Image.full_name == image
    if digest := digest_of(image):
        of_repository = (Image.host == registry_of(image)) & (Image.repository == repository_of(image))
        named = of_repository & (Image.digest == digest)
    scanned = select(Image.size_bytes).where(named, Image.registry_id.is_not(None))
    size = (await tx.execute(scanned.limit(1))).scalar()
    if size is None:
        held = select(func.max(NodeImage.size_bytes)).where(NodeImage.names.bool_op("@>")([image]))
        size = (await tx.execute(held)).scalar()
    return size
