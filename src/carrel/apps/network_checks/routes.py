"""/sessions/{ref}/network-check."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from carrel.apps.network_checks import service
from carrel.apps.network_checks.schemas import NetworkCheck, NetworkCheckState
from carrel.apps.services import AccessServices
from carrel.http.auth import CurrentActor, names
from carrel.http.connected import while_connected
from carrel.http.services import ServicesOf

router = APIRouter(tags=["access"])
Ref = Annotated[str, Path(max_length=64, description="An id, a unique prefix of it, or a name.")]


@router.post(
    "/sessions/{ref}/network-check",
    operation_id="sessions.check_network",
    summary="Measure the network of a session",
    openapi_extra=names("session.exec"),
)
async def check_network(
    request: Request,
    services: ServicesOf[AccessServices],
    actor: CurrentActor,
    ref: Ref,
    python: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=256,
            pattern="^[^\\x00-\\x1f]*$",
            description="The interpreter in the containers, such as /opt/venv/bin/python; default: python3.",
        ),
    ] = None,
) -> NetworkCheck:
    """Measure an all-reduce between the containers of a running session, or between the accelerators of its only one:
    latency, bandwidth by size, and the path that the messages take. It takes at most a minute, runs in the containers
    beside what runs there, and ends with the request.
    """
    checking = service.check(
        services.database, services.container_engines, services.clock, actor, ref, python=python
    )
    return await while_connected(request, checking)


@router.get(
    "/sessions/{ref}/network-check",
    operation_id="sessions.network_check",
    summary="Show the last check of a session's network",
    openapi_extra=names("session.read"),
)
async def network_check(
    services: ServicesOf[AccessServices], actor: CurrentActor, ref: Ref
) -> NetworkCheckState:
    """The last result, also of an ended session, and whether a check goes on."""
    async with services.database.transaction() as tx:
        return await service.last(tx, actor, ref, services.clock.now())
