"""Whether a session is idle, and saying that it is not."""

from fastapi import APIRouter, Request

from carrel.http.auth import CurrentActor, names
from carrel.idle import service
from carrel.idle.schemas import ExemptionUpdate, IdleView
from carrel.sessions.routes import Ref

router = APIRouter(tags=["sessions"])


@router.get(
    "/sessions/{ref}/idle",
    operation_id="sessions.idle",
    summary="Show idle timeouts of a session",
    openapi_extra=names("session.read"),
)
async def show(request: Request, actor: CurrentActor, ref: Ref) -> IdleView:
    """What would end a running session by itself, and how much time it has left by each rule."""
    state = request.app.state
    async with state.database.transaction() as tx:
        return await service.show(tx, state.clock, actor, ref)


@router.post(
    "/sessions/{ref}/keep",
    operation_id="sessions.keep",
    summary="Reset the idle timeouts of a session",
    openapi_extra=names("session.keep"),
)
async def keep(request: Request, actor: CurrentActor, ref: Ref) -> IdleView:
    """Say that a running session is in use: its idle clocks begin anew. Its lifetime stays as it is."""
    state = request.app.state
    async with state.database.transaction() as tx:
        session = await service.keep(tx, state.clock, actor, ref)
    async with state.database.transaction() as tx:
        return await service.show(tx, state.clock, actor, session)


@router.put(
    "/sessions/{ref}/exemption",
    operation_id="sessions.exempt",
    summary="Exempt a session from idle timeouts",
    openapi_extra=names("session.exempt"),
)
async def exempt(request: Request, actor: CurrentActor, ref: Ref, body: ExemptionUpdate) -> IdleView:
    """Let a session never count as idle, or let it again; for administrators."""
    state = request.app.state
    async with state.database.transaction() as tx:
        session = await service.exempt(tx, state.clock, actor, ref, wanted=body.exempt)
    async with state.database.transaction() as tx:
        return await service.show(tx, state.clock, actor, session)
