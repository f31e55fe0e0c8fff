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
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[NodeQuery, Query()]
) -> NodeList:
    """Nodes with capacity and usage.

    Users other than superadmins see the nodes of their resource groups, if the installation makes nodes visible.
    """
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.get("/nodes/{ref}", operation_id="nodes.show", summary="Get a node", openapi_extra=names("node.read"))
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> NodeDetail:
    """Get one node with the sessions on it that you may see."""
    async with services.database.transaction() as tx:
        return await queries.detail(tx, actor, await queries.find(tx, actor, ref))


@router.patch(
    "/nodes/{ref}", operation_id="nodes.update", summary="Update a node", openapi_extra=names("node.update")
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: NodeUpdate
) -> NodeDetail:
    """Change a node's group, cordon or uncordon it, and set its reserve and CPU over-commitment."""
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
    """Drain a node: cordon it and move, end or wait for the sessions on it. Reports first what happens to each."""
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
    """Forget a node that is DOWN: its sessions follow the group's node-loss rule, and it is no longer listed."""
    async with services.database.transaction() as tx:
        return await administration.forget(tx, services.clock, actor, ref, confirm=body.confirm)
