"""/providers: identity providers, for superadmins."""

from typing import Annotated

from fastapi import APIRouter, Path
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.http.auth import Confirmed, CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.identity.port import TestStep
from carrel.signin.providers import queries, service
from carrel.signin.providers.adapters import Adapters, redirects
from carrel.signin.providers.schemas import (
    ProviderCreate,
    ProviderKindList,
    ProviderList,
    ProviderTest,
    ProviderTestResult,
    ProviderTestStep,
    ProviderUpdate,
    ProviderView,
)
from carrel.signin.providers.services import ProviderServices
from carrel.tables.providers import Provider

router = APIRouter(tags=["providers"])
Ref = Annotated[str, Path(max_length=64, description="An id or a name.")]


@router.get(
    "/provider-kinds",
    operation_id="provider_kinds.list",
    summary="List kinds of identity providers",
    openapi_extra=names("provider.read"),
)
async def list_kinds(actor: CurrentActor) -> ProviderKindList:
    """The kinds of identity providers that can be configured, with their settings."""
    return ProviderKindList(items=queries.kinds(actor))


@router.get(
    "/providers",
    operation_id="providers.list",
    summary="List identity providers",
    openapi_extra=names("provider.read"),
)
async def list_providers(services: ServicesOf[ProviderServices], actor: CurrentActor) -> ProviderList:
    """Every identity provider, by name. Secrets are never shown."""
    async with services.database.transaction() as tx:
        providers = await service.list_all(tx, actor)
        public_url = services.settings.effective_public_url
        return ProviderList(items=await queries.views(tx, providers, public_url=public_url))


@router.post(
    "/providers",
    operation_id="providers.create",
    summary="Create an identity provider",
    openapi_extra=names("provider.update"),
    status_code=201,
    dependencies=[Confirmed],
)
async def create(
    services: ServicesOf[ProviderServices], actor: CurrentActor, body: ProviderCreate
) -> ProviderView:
    """Add an identity provider. Its name is unique."""
    async with services.database.transaction() as tx:
        made = await service.create(tx, services.clock, services.seal, actor, body)
        return await _view(services, tx, made)


@router.get(
    "/providers/{ref}",
    operation_id="providers.show",
    summary="Get an identity provider",
    openapi_extra=names("provider.read"),
)
async def show(services: ServicesOf[ProviderServices], actor: CurrentActor, ref: Ref) -> ProviderView:
    """One identity provider."""
    async with services.database.transaction() as tx:
        return await _view(services, tx, await service.show(tx, actor, ref))


@router.patch(
    "/providers/{ref}",
    operation_id="providers.update",
    summary="Update an identity provider",
    openapi_extra=names("provider.update"),
    dependencies=[Confirmed],
)
async def update(
    services: ServicesOf[ProviderServices], actor: CurrentActor, ref: Ref, body: ProviderUpdate
) -> ProviderView:
    """Update an identity provider; omitted fields keep their values. Disabling it ends its sign-ins."""
    async with services.database.transaction() as tx:
        changed = await service.update(tx, services.seal, actor, ref, body)
        shown = await _view(services, tx, changed)
    services.authenticator.forget()
    return shown


@router.delete(
    "/providers/{ref}",
    operation_id="providers.remove",
    summary="Delete an identity provider",
    openapi_extra=names("provider.update"),
    status_code=204,
    dependencies=[Confirmed],
)
async def remove(services: ServicesOf[ProviderServices], actor: CurrentActor, ref: Ref) -> None:
    """Remove an identity provider and end its sign-ins. Accounts created by it are kept."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)
    services.authenticator.forget()


@router.post(
    "/providers/{ref}/test",
    operation_id="providers.test",
    summary="Test an identity provider",
    openapi_extra=names("provider.update"),
)
async def try_out(
    services: ServicesOf[ProviderServices], actor: CurrentActor, ref: Ref, body: ProviderTest | None = None
) -> ProviderTestResult:
    """Test an identity provider, active or not, and report the result of each step."""
    async with services.database.transaction() as tx:
        provider = await service.show(tx, actor, ref)
    steps = await _tried(services.providers, provider, body.login if body else None)
    return ProviderTestResult(
        ok=all(step.ok for step in steps),
        steps=[ProviderTestStep(name=step.name, ok=step.ok, sentence=step.sentence) for step in steps],
    )


async def _tried(adapters: Adapters, provider: Provider, login: str | None) -> list[TestStep]:
    if redirects(provider.kind):
        return await adapters.redirecting(provider).test()
    return await adapters.password(provider).test(login)


async def _view(services: ProviderServices, tx: AsyncSession, provider: Provider) -> ProviderView:
    public_url = services.settings.effective_public_url
    [view] = await queries.views(tx, [provider], public_url=public_url)
    return view
