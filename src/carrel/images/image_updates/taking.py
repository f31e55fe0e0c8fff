"""Take an update: sessions start from the new digest, and nodes pull it. The image before stays while it is in use."""

from collections.abc import Sequence

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.clock import Clock
from carrel.core.ids import ImageId, NodeId, ProjectId
from carrel.engines.references import canonical, with_digest
from carrel.images import scanned, watched_images
from carrel.images.node_images import node_pulls
from carrel.images.registries.manifests import ImageDescription
from carrel.tables.images import Image
from carrel.tables.node_images import NodeImage
from carrel.tables.nodes import IS_MACHINE, Node
from carrel.tables.registries import ImageRegistry
from carrel.tables.tenancy import Project


async def taken(tx: AsyncSession, clock: Clock, image_id: ImageId, described: ImageDescription) -> bool:
    """Sessions start from this digest from now on, and nodes pull it; False: it is no longer to be taken."""
    image, row = await watched_images.locked(tx, image_id)
    if image is None or row is None or row.offered != described.digest:
        return False
    registry = await tx.get_one(ImageRegistry, image.registry_id)
    before, now = image.digest, clock.now()
    nodes = await _nodes(tx, image)
    await scanned.replace_with(tx, registry, image, described, now)
    row.offered, row.offered_at, row.take, row.problem, row.taken_at = None, None, False, None, now
    row.news = True
    await tx.flush()
    if nodes:
        reference = with_digest(image.reference, described.digest)
        await node_pulls.add(tx, clock, reference, nodes, project=await _puller(tx, registry))
    details = {"what": "update taken", "before": before, "digest": described.digest, "nodes": len(nodes)}
    audit.record_own(tx, "image.update", image.id, name=image.shown_name, details=details)
    await watched_images.published(tx, image)
    return True


async def _nodes(tx: AsyncSession, image: Image) -> Sequence[NodeId]:
    """Where an update is pulled: as set, otherwise where the present image is."""
    settings = image.settings
    chosen = or_(Node.id.in_(settings.pull_nodes), Node.group_id.in_(settings.pull_groups))
    if not settings.pull_nodes and not settings.pull_groups:
        present = [canonical(image.reference)]
        if image.digest:
            present.append(canonical(with_digest(image.reference, image.digest)))
        chosen = Node.id.in_(select(NodeImage.node_id).where(NodeImage.names.bool_op("&&")(present)))
    rows = await tx.execute(select(Node.id).where(chosen, IS_MACHINE).order_by(Node.name))
    return rows.scalars().all()


async def _puller(tx: AsyncSession, registry: ImageRegistry) -> ProjectId | None:
    """A project that has the credentials of the registry; None: those of the installation serve."""
    if registry.project_id or not registry.domain_id:
        return registry.project_id
    first = select(Project.id).where(Project.domain_id == registry.domain_id, Project.archived_at.is_(None))
    return (await tx.execute(first.order_by(Project.created_at, Project.id).limit(1))).scalar()
