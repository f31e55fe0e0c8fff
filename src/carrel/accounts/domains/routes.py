"""/domains."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.accounts.domains import queries, service
from carrel.accounts.domains.schemas import (
    DomainCreate,
    DomainList,
    DomainQuery,
    DomainUpdate,
    DomainView,
)
from carrel.http.auth import CurrentActor, RecentlyConfirmed, names
from carrel.http.services import Services, ServicesOf
from carrel.tenancy import queries as tenancy

router = APIRouter(tags=["domains"])
Ref = Annotated[str, Path(max_length=64, description="An id or a name.")]


@router.get(
    "/domains", operation_id="domains.list", summary="List domains", openapi_extra=names("domain.read")
)
async def list_domains(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[DomainQuery, Query()]
) -> DomainList:
    """Domains with their number of users, projects and live sessions, and their administrators."""
    async with services.database.transaction() as tx:
        return await queries.page(tx, actor, query)


@router.post(
    "/domains",
    operation_id="domains.create",
    summary="Create a domain",
    openapi_extra=names("domain.create"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: DomainCreate) -> DomainView:
    """Create a domain. Names are unique, case-insensitive."""
    async with services.database.transaction() as tx:
        domain = await service.create(tx, services.clock, actor, body)
        return await queries.detail(tx, domain)


@router.get(
    "/domains/{ref}", operation_id="domains.show", summary="Get a domain", openapi_extra=names("domain.read")
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> DomainView:
    """One domain."""
    async with services.database.transaction() as tx:
        domain = await tenancy.domain(tx, actor, ref)
        return await queries.detail(tx, domain.id)


@router.patch(
    "/domains/{ref}",
    operation_id="domains.update",
    summary="Update a domain",
    openapi_extra=names("domain.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: DomainUpdate
) -> DomainView:
    """Update a domain. Disabling it signs out its users immediately and rejects new sessions."""
    async with services.database.transaction() as tx:
        domain = await service.update(tx, actor, ref, body)
        view = await queries.detail(tx, domain)
    services.authenticator.forget()
    return view


@router.delete(
    "/domains/{ref}",
    operation_id="domains.remove",
    summary="Delete a domain",
    openapi_extra=names("domain.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: RecentlyConfirmed, ref: Ref) -> None:
    """Delete a domain with nothing but history: purged users, archived projects and ended sessions."""
    async with services.database.transaction() as tx:
        await service.remove(tx, services.clock, actor, ref)
