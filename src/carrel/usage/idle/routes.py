"""Whether a session is idle, and saying that it is not."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.sessions.routes import Ref
from carrel.usage.idle import service
from carrel.usage.idle.schemas import ExemptionUpdate, IdleView

router = APIRouter(tags=["sessions"])


@router.get(
    "/sessions/{ref}/idle",
    operation_id="sessions.idle",
    summary="Show idle timeouts of a session",
    openapi_extra=names("session.read"),
)
async def show(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> IdleView:
    """What would end a running session by itself, and how much time it has left by each rule."""
    async with services.database.transaction() as tx:
        return await service.show(tx, services.clock, actor, ref)


@router.post(
    "/sessions/{ref}/keep",
    operation_id="sessions.keep",
    summary="Reset the idle timeouts of a session",
    openapi_extra=names("session.keep"),
)
async def keep(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> IdleView:
    """Say that a running session is in use: its idle clocks begin anew. Its lifetime stays as it is."""
    async with services.database.transaction() as tx:
        session = await service.keep(tx, services.clock, actor, ref)
    async with services.database.transaction() as tx:
        return await service.show(tx, services.clock, actor, session)


@router.put(
    "/sessions/{ref}/exemption",
    operation_id="sessions.exempt",
    summary="Exempt a session from idle timeouts",
    openapi_extra=names("session.exempt"),
)
async def exempt(
    services: ServicesOf[Services], actor: CurrentActor, ref: Ref, body: ExemptionUpdate
) -> IdleView:
    """Let a session never count as idle, or let it again; for administrators."""
    async with services.database.transaction() as tx:
        session = await service.exempt(tx, services.clock, actor, ref, wanted=body.exempt)
    async with services.database.transaction() as tx:
        return await service.show(tx, services.clock, actor, session)
