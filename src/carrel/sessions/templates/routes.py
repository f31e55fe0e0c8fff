"""/templates: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.sessions import session_json
from carrel.sessions.schemas import SessionDetail
from carrel.sessions.templates import service, template_starts
from carrel.sessions.templates.schemas import (
    TemplateCreate,
    TemplateDetail,
    TemplateList,
    TemplateQuery,
    TemplateRequest,
    TemplateStart,
    TemplateUpdate,
    TemplateView,
)

router = APIRouter(tags=["templates"])
Ref = Annotated[
    str,
    Path(max_length=64, description="An id, or the name of a template of yours or of one of your projects."),
]


@router.get(
    "/templates",
    operation_id="templates.list",
    summary="List templates",
    openapi_extra=names("template.read"),
)
async def list_templates(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[TemplateQuery, Query()]
) -> TemplateList:
    """Your templates and those shared in your projects; with owner=all, every one that you may see."""
    async with services.database.transaction() as tx:
        return await service.listed(tx, actor, services.seal, query)


@router.post(
    "/templates",
    operation_id="templates.create",
    summary="Save a template",
    openapi_extra=names("template.create"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: TemplateCreate) -> TemplateView:
    """Save a session definition, or that of one of your sessions, as a template."""
    async with services.database.transaction() as tx:
        return await service.create(tx, services.clock, actor, services.seal, body)


@router.get(
    "/templates/{ref}",
    operation_id="templates.show",
    summary="Get a template",
    openapi_extra=names("template.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> TemplateDetail:
    """One template with its parameters and its definition."""
    async with services.database.transaction() as tx:
        return await service.show(tx, actor, services.seal, ref)


@router.patch(
    "/templates/{ref}",
    operation_id="templates.update",
    summary="Update a template",
    openapi_extra=names("template.update"),
)
async def update(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: TemplateUpdate
) -> TemplateView:
    """Change a template. Of a shared one, its owner and the administrators of its project may."""
    async with services.database.transaction() as tx:
        return await service.update(tx, services.clock, actor, services.seal, ref, body)


@router.delete(
    "/templates/{ref}",
    operation_id="templates.remove",
    summary="Delete a template",
    openapi_extra=names("template.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> None:
    """Delete a template; sessions that were started from it are unaffected."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, ref)


@router.post(
    "/templates/{ref}/start",
    operation_id="templates.start",
    summary="Start a session from a template",
    openapi_extra=names("template.start"),
    status_code=201,
    response_model=SessionDetail,
)
async def start(
    services: ServicesOf[Services],
    actor: CurrentActor,
    ref: Ref,
    body: TemplateStart,
    idempotency_key: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Create a session from a template, with your rights and limits. Errors of values name the parameter."""
    session = await template_starts.start(
        services.database,
        services.clock,
        actor,
        services.seal,
        ref,
        body,
        idempotency_key=idempotency_key,
    )
    async with services.database.transaction() as tx:
        content = await session_json.detail(tx, services.seal, actor, session)
    return Response(content, status_code=201, media_type="application/json")


@router.post(
    "/templates/{ref}/preview",
    operation_id="templates.preview",
    summary="Show the request of a start",
    openapi_extra=names("template.start"),
)
async def preview(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: TemplateStart
) -> TemplateRequest:
    """The request that a start with these values would make. Nothing is created."""
    async with services.database.transaction() as tx:
        return await template_starts.preview(tx, actor, services.seal, ref, body)
