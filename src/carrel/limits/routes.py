"""/policies: the limits of keypairs, people and projects."""

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
Ref = Annotated[str, Path(max_length=64, description="An id, or a name that only one kind has.")]


@router.get(
    "/policies",
    operation_id="policies.list",
    summary="List resource policies",
    openapi_extra=names("policy.read"),
)
async def list_policies(
    services: ServicesOf[Services], actor: CurrentActor, wanted: Annotated[PolicyQuery, Query()]
) -> PolicyList:
    """Resource policies, with how many have each, of those that you administer."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, wanted)


@router.get(
    "/policies/mine",
    operation_id="policies.mine",
    summary="Show the limits that apply to you",
    openapi_extra=names("limit.read"),
)
async def mine(services: ServicesOf[Services], actor: CurrentActor) -> OwnPolicyList:
    """What limits you: as a person, with each keypair and without one, and in each of your projects."""
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
    """Make a policy. All limits of its kind are given; "unlimited" is written out."""
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
    """Change a policy, or single limits of it. It holds from the next decision on; what runs goes on."""
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
    """Remove a policy that nobody has."""
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
    """Make another policy with the same limits, which nobody has yet."""
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
    """Give a policy to keypairs, people or projects, in place of what they had: to all of them, or to none."""
    async with services.database.transaction() as tx:
        policy = await holders.assign(tx, actor, ref, body)
        return await queries.detail(tx, actor, policy)
