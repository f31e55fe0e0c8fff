"""/nodes."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.nodes import administration, queries
from carrel.nodes.schemas import (
    DrainRequest,
    DrainView,
    ForgetRequest,
    Forgotten,
    NodeDetail,
    NodeList,
    NodeQuery,
    NodeUpdate,
)

router = APIRouter(tags=["nodes"])
Ref = Annotated[str, Path(max_length=253, description="An id or a name.")]


@router.get("/nodes", operation_id="nodes.list", summary="List nodes", openapi_extra=names("node.read"))
async def list_nodes(
    services: ServicesOf[Services], actor: CurrentActor, wanted: Annotated[NodeQuery, Query()]
) -> NodeList:
    """Nodes with what they have and what is in use. Others than superadmins see those of groups that they may
    use, where the installation shows them."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, wanted)


@router.get("/nodes/{ref}", operation_id="nodes.show", summary="Get a node", openapi_extra=names("node.read"))
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> NodeDetail:
    """One node, with the sessions on it that one may see."""
    async with services.database.transaction() as tx:
        return await queries.detail(tx, actor, await queries.find(tx, actor, ref))


@router.patch(
    "/nodes/{ref}", operation_id="nodes.update", summary="Update a node", openapi_extra=names("node.update")
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: NodeUpdate
) -> NodeDetail:
    """Change a node's group, close or open it to new sessions, reserve some of it, offer more CPU than it has."""
    async with services.database.transaction() as tx:
        return await queries.detail(tx, actor, await administration.update(tx, actor, ref, body))


@router.post(
    "/nodes/{ref}/drain",
    operation_id="nodes.drain",
    summary="Drain a node",
    openapi_extra=names("node.update"),
)
async def drain(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: DrainRequest
) -> DrainView:
    """Empty a node: it takes nothing new, and each session on it is dealt with as is said first."""
    async with services.database.transaction() as tx:
        return await administration.drain(tx, actor, ref, body)


@router.post(
    "/nodes/{ref}/forget",
    operation_id="nodes.forget",
    summary="Remove a node that is down",
    openapi_extra=names("node.update"),
)
async def forget(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: ForgetRequest
) -> Forgotten:
    """Give up a node that is DOWN: what was on it is dealt with as its group says, and nothing lists it any more."""
    async with services.database.transaction() as tx:
        return await administration.forget(tx, services.clock, actor, ref, confirm=body.confirm)
