"""/views: decode, one service call, encode."""

from typing import Annotated

from fastapi import APIRouter, Path

from carrel.accounts.views import service
from carrel.accounts.views.schemas import ViewCreate, ViewList, ViewUpdate, ViewView
from carrel.core.ids import ViewId
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.tables.saved_views import SavedView

router = APIRouter(tags=["views"])
Id = Annotated[ViewId, Path(max_length=64, description="The id of a view.")]


def _view(saved: SavedView) -> ViewView:
    return ViewView.model_validate(saved, from_attributes=True)


@router.get("/views", operation_id="views.list", summary="List saved views", openapi_extra=names("view.read"))
async def list_views(services: ServicesOf[Services], actor: CurrentActor) -> ViewList:
    """Your saved views of lists, by name."""
    async with services.database.transaction() as tx:
        return ViewList(items=[_view(one) for one in await service.list_own(tx, actor)])


@router.post(
    "/views",
    operation_id="views.create",
    summary="Save a view",
    openapi_extra=names("view.update"),
    status_code=201,
)
async def create(services: ServicesOf[Services], actor: CurrentActor, body: ViewCreate) -> ViewView:
    """Save the filter, order and columns of a list under a name; at most 50."""
    async with services.database.transaction() as tx:
        return _view(await service.create(tx, services.clock, actor, body))


@router.patch(
    "/views/{view}",
    operation_id="views.update",
    summary="Change a saved view",
    openapi_extra=names("view.update"),
)
async def update(services: ServicesOf[Services], actor: CurrentActor, view: Id, body: ViewUpdate) -> ViewView:
    """Rename a view, or replace what it shows."""
    async with services.database.transaction() as tx:
        return _view(await service.update(tx, actor, view, body))


@router.delete(
    "/views/{view}",
    operation_id="views.remove",
    summary="Delete a saved view",
    openapi_extra=names("view.update"),
    status_code=204,
)
async def remove(services: ServicesOf[Services], actor: CurrentActor, view: Id) -> None:
    """Delete a view; the list keeps all its rows."""
    async with services.database.transaction() as tx:
        await service.remove(tx, actor, view)
