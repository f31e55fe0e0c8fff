"""/nodes/{ref}/images, /image-pulls and /images/prune."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.paging import PageQuery
from carrel.http.services import Services, ServicesOf
from carrel.images.node_images import node_pulls, prune, queries
from carrel.images.node_images.schemas import (
    ImagePruneRequest,
    ImagePruneView,
    ImagePullCreate,
    ImagePullList,
    ImagePullView,
    NodeImageList,
    NodeImageQuery,
)
from carrel.nodes import queries as nodes

router = APIRouter(tags=["images"])
Node = Annotated[str, Path(max_length=253, description="An id or a name.")]
Pull = Annotated[str, Path(max_length=64, description="The id of a pull.")]


@router.get(
    "/nodes/{ref}/images",
    operation_id="nodes.images",
    summary="List the images on a node",
    openapi_extra=names("node.read"),
)
async def node_images(
    services: ServicesOf[Services], actor: CurrentActor, ref: Node, query: Annotated[NodeImageQuery, Query()]
) -> NodeImageList:
    """The images that a node has, with their sizes and when a session last used them; the largest first."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, await nodes.find(tx, actor, ref), query)


@router.post(
    "/image-pulls",
    operation_id="image_pulls.create",
    summary="Pull an image to nodes",
    openapi_extra=names("image.pull"),
    status_code=202,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: ImagePullCreate) -> ImagePullView:
    """Pull an image to nodes, or to all nodes of a resource group, in the background."""
    async with services.database.transaction() as tx:
        return await node_pulls.request(tx, services.clock, actor, body)


@router.get(
    "/image-pulls",
    operation_id="image_pulls.list",
    summary="List pulls of images to nodes",
    openapi_extra=names("image.pull"),
)
async def list_pulls(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[PageQuery, Query()]
) -> ImagePullList:
    """The pulls of the last 90 days, the latest first."""
    async with services.database.transaction() as tx:
        return await node_pulls.page(tx, actor, query)


@router.get(
    "/image-pulls/{pull}",
    operation_id="image_pulls.show",
    summary="Get a pull of an image",
    openapi_extra=names("image.pull"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, pull: Pull) -> ImagePullView:
    """One pull with its progress on each node."""
    async with services.database.transaction() as tx:
        return await node_pulls.show(tx, actor, pull)


@router.delete(
    "/image-pulls/{pull}",
    operation_id="image_pulls.cancel",
    summary="Cancel a pull of an image",
    openapi_extra=names("image.pull"),
)
async def cancel(services: ServicesOf[Services], actor: CurrentActor, pull: Pull) -> ImagePullView:
    """Cancel a pull on the nodes where it is not done."""
    async with services.database.transaction() as tx:
        return await node_pulls.cancel(tx, services.clock, actor, pull)


@router.post(
    "/images/prune",
    operation_id="images.prune",
    summary="Clean up images on nodes",
    openapi_extra=names("image.prune"),
)
async def prune_images(
    services: ServicesOf[Services], actor: CurrentActor, body: ImagePruneRequest
) -> ImagePruneView:
    """Remove images from nodes that Carrel pulled and no session has used for a while. With `dry_run`, report only."""
    async with services.database.transaction() as tx:
        return await prune.prune(tx, services.clock, actor, body)
