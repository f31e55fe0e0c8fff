"""Idle state of sessions, and resetting it."""

from fastapi import APIRouter

from carrel.http.auth import CurrentActor, names
from carrel.http.services import Services, ServicesOf
from carrel.sessions.routes import Ref
from carrel.usage.idle import dry_run, service
from carrel.usage.idle.schemas import DryRunPage, DryRunRequest, ExemptionUpdate, IdleView

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
    "/policies/dry-run",
    operation_id="policies.dry_run",
    summary="Try idle rules on past sessions",
    openapi_extra=names("policy.update"),
    tags=["policies"],
)
async def try_rules(services: ServicesOf[Services], actor: CurrentActor, body: DryRunRequest) -> DryRunPage:
    """Sessions of the last days that these idle rules would have ended, and when. Changes nothing. A page takes about
    a second, however many sessions it covers: continue until `next_cursor` is null.
    """
    return await dry_run.run(services.database, services.clock, actor, body)


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
