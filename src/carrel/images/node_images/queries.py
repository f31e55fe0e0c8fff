"""Reading the images of nodes."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import NodeId
from carrel.db.search import escaped
from carrel.http import paging
from carrel.http.paging import Sort
from carrel.images.node_images.schemas import NodeImageList, NodeImageQuery, NodeImageView
from carrel.tables.node_images import NodeImage

_SORT = Sort(
    {"size": NodeImage.size_bytes, "used_at": NodeImage.used_at, "since": NodeImage.since},
    tie=NodeImage.image_id,
    default="-size",
)


async def page(tx: AsyncSession, node: NodeId, query: NodeImageQuery) -> NodeImageList:
    """The images of a node that exists."""
    there = select(NodeImage).where(NodeImage.node_id == node)
    sums = select(func.count(), func.coalesce(func.sum(NodeImage.size_bytes), 0))
    count, size = (await tx.execute(sums.where(NodeImage.node_id == node))).one()
    if query.q:
        # A node has at most a thousand images, so a substring search needs no index.
        text = func.array_to_string(NodeImage.names + NodeImage.references, " ")
        there = there.where(text.ilike(f"%{escaped(query.q)}%"))
    rows = await paging.page(tx, there, _SORT, query)
    return NodeImageList(
        count=count,
        size_bytes=size,
        items=[_view(row.NodeImage) for row in rows.rows],
        next_cursor=rows.next_cursor,
    )


def _view(image: NodeImage) -> NodeImageView:
    digests = [name.partition("@")[2] for name in image.names if "@" in name]
    return NodeImageView(
        image_id=image.image_id,
        references=image.references,
        digest=digests[0] if digests else None,
        size_bytes=image.size_bytes,
        since=image.since,
        used_at=image.used_at,
        in_use=image.in_use,
        pulled=image.pulled_at is not None,
        removing=image.removing_at is not None,
        problem=image.problem,
    )
