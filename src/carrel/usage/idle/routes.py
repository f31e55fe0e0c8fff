"""Idle state of sessions, and resetting it."""

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
    """The idle rules and lifetime of a running session, with the remaining time."""
    async with services.database.transaction() as tx:
        return await service.show(tx, services.clock, actor, ref)


@router.post(
    "/sessions/{ref}/keep",
    operation_id="sessions.keep",
    summary="Reset the idle timeouts of a session",
    openapi_extra=names("session.keep"),
)
async def keep(services: ServicesOf[Services], actor: CurrentActor, ref: Ref) -> IdleView:
    """Mark a running session as in use: its idle clocks restart. Its lifetime is unaffected."""
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
    """Exempt a session from idle rules, or revoke the exemption; for administrators."""
    async with services.database.transaction() as tx:
        session = await service.exempt(tx, services.clock, actor, ref, exempt=body.exempt)
    async with services.database.transaction() as tx:
        return await service.show(tx, services.clock, actor, session)
