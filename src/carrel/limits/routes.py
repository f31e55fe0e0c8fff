"""/policies: the limits of keypairs, users and projects."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.limits import holders, queries, service
from carrel.limits.schemas import (
    OwnPolicyList,
    PolicyAssign,
    PolicyCopy,
    PolicyCreate,
    PolicyList,
    PolicyQuery,
    PolicyUpdate,
    PolicyView,
)

router = APIRouter(tags=["policies"])
Ref = Annotated[str, Path(max_length=64, description="An id, or a name that is unique among all kinds.")]


@router.get(
    "/policies",
    operation_id="policies.list",
    summary="List resource policies",
    openapi_extra=names("policy.read"),
)
async def list_policies(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[PolicyQuery, Query()]
) -> PolicyList:
    """Resource policies with their number of holders, for those that you administer."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.get(
    "/policies/mine",
    operation_id="policies.mine",
    summary="Show the limits that apply to you",
    openapi_extra=names("limit.read"),
)
async def mine(services: ServicesOf[Services], actor: CurrentActor) -> OwnPolicyList:
    """Your limits: as a user, with each keypair and without one, and in each of your projects."""
    async with services.database.transaction() as tx:
        return await queries.own(tx, actor)


@router.post(
    "/policies",
    operation_id="policies.create",
    summary="Create a resource policy",
    openapi_extra=names("policy.create"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: PolicyCreate) -> PolicyView:
    """Create a policy. All limits of its kind are required; write "unlimited" for no limit."""
    async with services.database.transaction() as tx:
        policy = await service.create(tx, services.clock, actor, body)
        return await queries.detail(tx, actor, policy)


@router.get(
    "/policies/{ref}",
    operation_id="policies.show",
    summary="Get a resource policy",
    openapi_extra=names("policy.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> PolicyView:
    """One policy."""
    async with services.database.transaction() as tx:
        policy = await service.find(tx, actor, ref)
        return await queries.detail(tx, actor, policy.id)


@router.patch(
    "/policies/{ref}",
    operation_id="policies.update",
    summary="Update a resource policy",
    openapi_extra=names("policy.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: PolicyUpdate
) -> PolicyView:
    """Update a policy or single limits of it.

    Takes effect at the next scheduling decision; running sessions continue.
    """
    async with services.database.transaction() as tx:
        policy = await service.update(tx, actor, ref, body)
        return await queries.detail(tx, actor, policy)


@router.delete(
    "/policies/{ref}",
    operation_id="policies.remove",
    summary="Delete a resource policy",
    openapi_extra=names("policy.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Delete a policy without holders."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)


@router.post(
    "/policies/{ref}/copy",
    operation_id="policies.copy",
    summary="Copy a resource policy",
    openapi_extra=names("policy.create"),
    status_code=201,
)
async def copy(services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: PolicyCopy) -> PolicyView:
    """Create a policy with the same limits and no holders."""
    async with services.database.transaction() as tx:
        policy = await service.copy(tx, services.clock, actor, ref, body.name)
        return await queries.detail(tx, actor, policy)


@router.put(
    "/policies/{ref}/holders",
    operation_id="policies.assign",
    summary="Assign a resource policy",
    openapi_extra=names("policy.assign"),
)
async def assign(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: PolicyAssign
) -> PolicyView:
    """Assign a policy to keypairs, users or projects, replacing their current one. All or nothing."""
    async with services.database.transaction() as tx:
        policy = await holders.assign(tx, actor, ref, body)
        return await queries.detail(tx, actor, policy)
