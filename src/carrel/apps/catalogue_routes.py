"""/app-templates: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from carrel.apps import app_catalogue
from carrel.apps.catalogue_schemas import (
    AppTemplateCreate,
    AppTemplateList,
    AppTemplateQuery,
    AppTemplateUpdate,
    AppTemplateView,
)
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf

router = APIRouter(tags=["apps"])
AppTemplateRef = Annotated[
    str, Path(max_length=64, description="An id, or a name: of several with it, the nearest to you.")
]


@router.get(
    "/app-templates",
    operation_id="app_templates.list",
    summary="List app templates",
    openapi_extra=names("app_template.read"),
)
async def list_app_templates(
    services: ServicesOf[Services], actor: CurrentActor, query: Annotated[AppTemplateQuery, Query()]
) -> AppTemplateList:
    """The catalogue of apps: built-in ones, the installation's, those of your projects, and your own."""
    async with services.database.transaction() as tx:
        return await app_catalogue.listed(tx, actor, query)


@router.post(
    "/app-templates",
    operation_id="app_templates.create",
    summary="Add an app template",
    openapi_extra=names("app_template.create"),
    status_code=201,
)
async def create(
    services: ServicesOf[Services], actor: CurrentActor, body: AppTemplateCreate
) -> AppTemplateView:
    """Add an app to the catalogue: for yourself, for a project that you administer, or, as a superadmin, for the
    installation. In a session, an entry replaces those of the same name that are further away.
    """
    async with services.database.transaction() as tx:
        return await app_catalogue.create(tx, services.clock, actor, body)


@router.get(
    "/app-templates/{app_template}",
    operation_id="app_templates.show",
    summary="Get an app template",
    openapi_extra=names("app_template.read"),
)
async def show(
    services: ServicesOf[Services], actor: CurrentActor, app_template: AppTemplateRef
) -> AppTemplateView:
    """One entry of the catalogue."""
    async with services.database.transaction() as tx:
        return await app_catalogue.show(tx, actor, app_template)


@router.patch(
    "/app-templates/{app_template}",
    operation_id="app_templates.update",
    summary="Update an app template",
    openapi_extra=names("app_template.update"),
)
async def update(
    services: ServicesOf[Services],
    actor: CurrentActor,
    app_template: AppTemplateRef,
    body: AppTemplateUpdate,
) -> AppTemplateView:
    """Change an app template. An app that runs has the changes when it starts again."""
    async with services.database.transaction() as tx:
        return await app_catalogue.update(tx, services.clock, actor, app_template, body)


@router.delete(
    "/app-templates/{app_template}",
    operation_id="app_templates.remove",
    summary="Delete an app template",
    openapi_extra=names("app_template.remove"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, app_template: AppTemplateRef) -> None:
    """Delete an app template. Apps that were started from it keep running."""
    async with services.database.transaction() as tx:
        await app_catalogue.remove(tx, actor, app_template)
