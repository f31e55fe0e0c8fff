"""Allocations, and holders over a limit."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.limits.routes import Ref
from carrel.queue import held, over
from carrel.queue.ledger_schemas import CeilingsTry, HeldList, HeldQuery, LimitsTry, OverList

router = APIRouter()
Place = Annotated[str, Path(max_length=64, description="An id or a name.")]


@router.get(
    "/held",
    operation_id="held.list",
    summary="List allocations by node, group or holder",
    openapi_extra=names("session.read"),
    tags=["scheduler"],
)
async def list_held(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[HeldQuery, Query()]
) -> HeldList:
    """Allocations of the sessions that you may see, summed by node, group or holder."""
    async with services.database.transaction() as tx:
        return await held.page(tx, actor, query)


@router.post(
    "/policies/{ref}/over",
    operation_id="policies.over",
    summary="Check new limits of a policy against usage",
    openapi_extra=names("policy.update"),
    tags=["policies"],
)
async def policy_over(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: LimitsTry
) -> OverList:
    """Holders of the policy that would exceed it with these limits. Changes nothing."""
    async with services.database.transaction() as tx:
        return OverList(items=await over.of_policy(tx, actor, ref, body.limits))


@router.post(
    "/domains/{ref}/over",
    operation_id="domains.over",
    summary="Check new ceilings of a domain against its usage",
    openapi_extra=names("domain.update"),
    tags=["domains"],
)
async def domain_over(
    services: ServicesOf[Services], actor: CurrentActor, ref: Place, body: CeilingsTry
) -> OverList:
    """Slots in which a domain would exceed these ceilings. Changes nothing."""
    async with services.database.transaction() as tx:
        return OverList(items=await over.of_domain(tx, actor, ref, body.ceilings))


@router.post(
    "/projects/{ref}/over",
    operation_id="projects.over",
    summary="Check new ceilings of a project against its usage",
    openapi_extra=names("project.update"),
    tags=["projects"],
)
async def project_over(
    services: ServicesOf[Services], actor: CurrentActor, ref: Place, body: CeilingsTry
) -> OverList:
    """Slots in which a project would exceed these ceilings. Changes nothing."""
    async with services.database.transaction() as tx:
        return OverList(items=await over.of_project(tx, actor, ref, body.ceilings))
