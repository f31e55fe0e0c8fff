"""GET /events: recent events as a list, or a live stream."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from prometheus_client import Gauge
from pydantic import Field

from carrel.core.errors import Unauthorized, Unavailable
from carrel.events import service
from carrel.events.schemas import EventList, EventObject, EventView
from carrel.events.service import PublishedEvent
from carrel.events.services import EventServices
from carrel.http.auth import CurrentActor, current_actor, names
from carrel.http.query import DECIMAL, QueryBool
from carrel.http.services import ServicesOf
from carrel.permissions.decide import Actor

router = APIRouter(tags=["events"])
_STREAM = {
    "schema": {
        "type": "string",
        "description": (
            "With follow=true: server-sent events, until the client disconnects. `event` is the kind, `id` the "
            "position to resume after, `data` an EventView as JSON. The first one is hello; a comment comes every 15 s."
        ),
    }
}
PING_S = 15.0
_STREAMS = Gauge("carrel_event_streams_open", "Clients that follow the event stream.")


@router.get(
    "/events",
    operation_id="events.list",
    summary="List or follow events",
    openapi_extra=names("event.read"),
    response_model=EventList,
    responses={200: {"content": {"text/event-stream": _STREAM}}},
)
async def list_events(
    request: Request,
    services: ServicesOf[EventServices],
    actor: CurrentActor,
    follow: QueryBool = False,
    last_event_id: Annotated[str | None, Query(max_length=50)] = None,
    resume: Annotated[str | None, Header(alias="Last-Event-ID", max_length=50)] = None,
    cursor: Annotated[str | None, Query(max_length=50)] = None,
    limit: Annotated[int, Field(ge=1, le=200), DECIMAL, Query()] = 100,
) -> EventList | StreamingResponse:
    """Events about objects that you may see. With follow=true: server-sent events, resumable by Last-Event-ID."""
    if follow:
        position = resume or last_event_id
        if position:
            service.parse(position)
        return StreamingResponse(
            _frames(request, services, actor, position),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    async with services.database.transaction() as tx:
        happenings = await service.latest(tx, actor, before=cursor, limit=limit)
    full = len(happenings) == limit
    return EventList(
        items=[_view(h) for h in happenings], next_cursor=happenings[-1].position if full else None
    )


async def _frames(
    request: Request, services: EventServices, actor: Actor, position: str | None
) -> AsyncIterator[bytes]:
    """Frames of text/event-stream; a comment every 15 s keeps proxies from closing an idle line."""
    with _STREAMS.track_inprogress(), services.events.following(actor, position) as happenings:
        yield b"event: hello\ndata: {}\n\n"
        upcoming = asyncio.ensure_future(anext(happenings, None))
        looked = asyncio.get_running_loop().time()
        try:
            while True:
                done, _ = await asyncio.wait([upcoming], timeout=PING_S)
                if asyncio.get_running_loop().time() - looked >= PING_S:
                    looked = asyncio.get_running_loop().time()
                    if not await _still_known(request):
                        return
                if not done:
                    yield b": ping\n\n"
                    continue
                happening = upcoming.result()
                if happening is None:
                    return
                yield _frame(happening)
                upcoming = asyncio.ensure_future(anext(happenings, None))
        finally:
            upcoming.cancel()


async def _still_known(request: Request) -> bool:
    """False if the follower signed out or their keypair was removed since the stream began."""
    # The identity at the start of the stream may be outdated.
    request.scope["state"].pop("identity", None)
    try:
        await current_actor(request)
    except Unauthorized:
        return False
    except Unavailable:
        pass
    return True


def _frame(happening: PublishedEvent) -> bytes:
    head = f"id: {happening.position}\n".encode() if happening.position else b""
    body = orjson.dumps(happening.data if happening.position is None else _view(happening).model_dump())
    return head + b"event: " + happening.kind.encode() + b"\ndata: " + body + b"\n\n"


def _view(happening: PublishedEvent) -> EventView:
    return EventView(
        id=happening.position,
        at=happening.at,
        kind=happening.kind,
        object=EventObject(kind=happening.object_kind, id=happening.object_id),
        data=dict(happening.data),
    )
