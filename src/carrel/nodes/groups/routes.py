"""/groups."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.nodes.groups import administration, queries
from carrel.nodes.groups import service as lookup
from carrel.nodes.groups.schemas import (
    AccessChange,
    AccessUpdate,
    GroupCreate,
    GroupList,
    GroupQuery,
    GroupUpdate,
    GroupView,
    SelectorPreview,
    SelectorPreviewRequest,
    WeightsChange,
    WeightsUpdate,
)

router = APIRouter(tags=["groups"])
Ref = Annotated[str, Path(max_length=64, description="An id or a name.")]


@router.get(
    "/groups", operation_id="groups.list", summary="List resource groups", openapi_extra=names("group.read")
)
async def list_groups(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[GroupQuery, Query()]
) -> GroupList:
    """Resource groups that you may use, with their capacity; superadmins see all."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.post(
    "/groups",
    operation_id="groups.create",
    summary="Create a resource group",
    openapi_extra=names("group.create"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: GroupCreate) -> GroupView:
    """Create a resource group. Names are unique, case-insensitive."""
    async with services.database.transaction() as tx:
        group = await administration.create(tx, services.clock, actor, body)
        return await queries.detail(tx, actor, group)


@router.get(
    "/groups/{ref}",
    operation_id="groups.show",
    summary="Get a resource group",
    openapi_extra=names("group.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> GroupView:
    """One resource group."""
    async with services.database.transaction() as tx:
        group = await lookup.find(tx, ref, seen=lookup.seen_by(actor))
        return await queries.detail(tx, actor, group.id)


@router.patch(
    "/groups/{ref}",
    operation_id="groups.update",
    summary="Update a resource group",
    openapi_extra=names("group.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: GroupUpdate
) -> GroupView:
    """Update a resource group. Takes effect at the next scheduling decision."""
    async with services.database.transaction() as tx:
        group = await administration.update_group(tx, services.clock, actor, ref, body)
        return await queries.detail(tx, actor, group)


@router.delete(
    "/groups/{ref}",
    operation_id="groups.remove",
    summary="Delete a resource group",
    openapi_extra=names("group.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Delete an empty resource group."""
    async with services.database.transaction() as tx:
        await administration.remove(tx, services.clock, actor, ref)


@router.post(
    "/groups/selector-preview",
    operation_id="groups.preview_selector",
    summary="Preview a node selector",
    openapi_extra=names("group.update"),
)
async def preview_selector(
    services: ServicesOf[Services], actor: CurrentActor, body: SelectorPreviewRequest
) -> SelectorPreview:
    """The nodes that meet a node selector, with what it would do to each. Changes nothing."""
    async with services.database.transaction() as tx:
        return await administration.preview(tx, actor, body)


@router.put(
    "/groups/{ref}/access",
    operation_id="groups.set_access",
    summary="Replace the access list of a resource group",
    openapi_extra=names("group.update"),
)
async def set_access(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: AccessUpdate
) -> GroupView:
    """Replace the domains, projects and users that may use the group while it is not public."""
    async with services.database.transaction() as tx:
        group = await administration.open_to(tx, actor, ref, body)
        return await queries.detail(tx, actor, group)


@router.patch(
    "/groups/{ref}/access",
    operation_id="groups.change_access",
    summary="Add or remove access entries of a resource group",
    openapi_extra=names("group.update"),
)
async def change_access(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: AccessChange
) -> GroupView:
    """Add or remove domains, projects and users that may use the group while it is not public."""
    async with services.database.transaction() as tx:
        group = await administration.change_access(tx, actor, ref, body)
        return await queries.detail(tx, actor, group)


@router.put(
    "/groups/{ref}/weights",
    operation_id="groups.set_weights",
    summary="Replace the fair-share weights of a resource group",
    openapi_extra=names("group.update"),
)
async def set_weights(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: WeightsUpdate
) -> GroupView:
    """Replace the fair-share weights of the group, relative to siblings."""
    async with services.database.transaction() as tx:
        group = await administration.weigh(tx, actor, ref, body)
        return await queries.detail(tx, actor, group)


@router.patch(
    "/groups/{ref}/weights",
    operation_id="groups.change_weights",
    summary="Update single fair-share weights of a resource group",
    openapi_extra=names("group.update"),
)
async def change_weights(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: WeightsChange
) -> GroupView:
    """Set single fair-share weights; the others keep theirs."""
    async with services.database.transaction() as tx:
        group = await administration.change_weights(tx, actor, ref, body)
        return await queries.detail(tx, actor, group)
