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
        events = await service.latest(tx, actor, before=cursor, limit=limit)
    full = len(events) == limit
    return EventList(items=[_view(h) for h in events], next_cursor=events[-1].position if full else None)


async def _frames(
    request: Request, services: EventServices, actor: Actor, position: str | None
) -> AsyncIterator[bytes]:
    """Frames of text/event-stream; a comment every 15 s keeps proxies from closing an idle line."""
    with _STREAMS.track_inprogress():
        async with services.events.following(actor, position) as events:
            yield b"event: hello\ndata: {}\n\n"
            upcoming = asyncio.ensure_future(anext(events, None))
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
                    event = upcoming.result()
                    if event is None:
                        return
                    yield _frame(event)
                    upcoming = asyncio.ensure_future(anext(events, None))
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


def _frame(event: PublishedEvent) -> bytes:
    head = f"id: {event.position}\n".encode() if event.position else b""
    body = orjson.dumps(event.data if event.position is None else _view(event).model_dump())
    return head + b"event: " + event.kind.encode() + b"\ndata: " + body + b"\n\n"


def _view(event: PublishedEvent) -> EventView:
    return EventView(
        id=event.position,
        at=event.at,
        kind=event.kind,
        object=EventObject(kind=event.object_kind, id=event.object_id),
        data=dict(event.data),
    )
