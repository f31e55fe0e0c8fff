"""/sessions/{ref}/save: decode, one service call, encode."""

from fastapi import APIRouter

from carrel.environments.schemas import EnvironmentView, SavePreview, SessionSave
from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.sessions import saving
from carrel.sessions.routes import Ref

router = APIRouter(tags=["environments"])


@router.get(
    "/sessions/{ref}/save",
    operation_id="sessions.save_preview",
    summary="Show what saving a session keeps",
    openapi_extra=names("session.save"),
)
async def preview(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> SavePreview:
    """What an image of your running session would have, and what is left out of it. Nothing is changed."""
    async with services.database.transaction() as tx:
        return await saving.preview(tx, actor, ref)


@router.post(
    "/sessions/{ref}/save",
    operation_id="sessions.save",
    summary="Save a session as an environment",
    openapi_extra=names("session.save"),
    status_code=202,
)
async def save(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: SessionSave
) -> EnvironmentView:
    """Make a version of an environment from the main container of your running session, which pauses for seconds. The
    first of its versions is the new one; its state tells how far it is.
    """
    async with services.database.transaction() as tx:
        return await saving.save(tx, services.clock, actor, ref, body)
