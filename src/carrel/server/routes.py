"""/server and /health."""

from fastapi import APIRouter
from pydantic import BaseModel

from carrel import version
from carrel.http.auth import CurrentActor, names
from carrel.http.services import ServicesOf
from carrel.server import components
from carrel.server.services import ApiServices

router = APIRouter(tags=["server"])
_RUNNING = version.full()
"""Revision of this process; the checkout may be newer."""


class PartView(BaseModel):
    name: str
    state: str
    version: str
    detail: str
    address: str


class ServerView(BaseModel):
    name: str
    version: str
    apps_url: str
    parts: list[PartView]


class Health(BaseModel):
    status: str


@router.get(
    "/health",
    operation_id="server.health",
    summary="Check the health of the server",
    openapi_extra=names("server.health"),
)
async def health(services: ServicesOf[ApiServices]) -> Health:
    """200 if the server can reach its database, otherwise 503."""
    await services.database.ping()
    return Health(status="ok")


@router.get(
    "/server",
    operation_id="server.show",
    summary="Show the version and status of the server",
    openapi_extra=names("server.read"),
)
async def show(services: ServicesOf[ApiServices], actor: CurrentActor) -> ServerView:
    """The version, and the state of each component."""
    shown = await components.look(services.settings, services.database, services.engines)
    own = PartView(
        name="api",
        state="ok",
        version=_RUNNING,
        detail="",
        address=services.settings.effective_public_url,
    )
    return ServerView(
        name="Carrel",
        version=_RUNNING,
        apps_url=services.settings.effective_apps_url,
        parts=[own, *(PartView(**vars(part)) for part in shown)],
    )
