"""Follow events, and wait for a session by them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

from carrel_client.errors import CarrelError
from carrel_client.sse import Frame, frames
from carrel_client.transport import Transport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models
    from carrel_client.operations import Sessions

# The server sends something at least every 15 s.
_SILENCE_S = 40.0
_LOOK_AGAIN_S = 10.0
_PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0, 5.0, 5.0, 10.0, 10.0, 10.0)


class _Over(Exception):
    """The timeout has passed. Not a CarrelError, which would cause a reconnection."""


def follow(
    transport: Transport,
    last_event_id: str | None,
    *,
    patience: Callable[[], float | None] = lambda: _SILENCE_S,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[models.EventView | None]:
    """Events without end; None for a keep-alive.

    An error of the first connection is raised. Later connections are retried with growing pauses, until the server
    refuses one or all retries have failed.
    """
    pauses = iter(_PAUSES_S)
    joined = False
    while True:
        headers = {"Accept": "text/event-stream"} | (
            {"Last-Event-ID": last_event_id} if last_event_id else {}
        )
        blocks = transport.stream(
            "/api/v1/events", query={"follow": True}, headers=headers, patience=patience
        )
        pause_s = _PAUSES_S[0]
        try:
            for frame in frames(blocks):
                pauses, joined = iter(_PAUSES_S), True
                last_event_id = frame.id or last_event_id if frame else last_event_id
                yield _event(frame) if frame else None
        except CarrelError as error:
            pause_s = next(pauses, -1.0)
            if pause_s < 0 or not joined or error.status not in (502, 503, 504):
                raise
        pause(pause_s)


def watch(
    sessions: Sessions,
    transport: Transport,
    ref: str,
    *,
    timeout_s: float | None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[models.SessionDetail]:
    """The session now and after each change, until the caller stops.

    An event only triggers `sessions.show`, so a missed event costs nothing but time.
    Raises: CarrelError with code client.wait_timeout.
    """
    ends_at = None if timeout_s is None else clock() + timeout_s
    session = sessions.show(ref)
    yield session

    def patience() -> float:
        left_s = _SILENCE_S if ends_at is None else ends_at - clock()
        if left_s <= 0:
            raise _Over
        return min(_SILENCE_S, left_s)

    try:
        looked_at = clock()
        for event in follow(transport, None, patience=patience):
            concerns = event is None or event["kind"] == "hello" or event["object"]["id"] == session["id"]
            if concerns or clock() - looked_at > _LOOK_AGAIN_S:
                looked_at = clock()
                session = sessions.show(session["id"])
                yield session
    except _Over:
        raise CarrelError(
            "client.wait_timeout",
            f"{session['name']} is still {session['state']} after {timeout_s:g} seconds.",
            status=504,
            hint=f"It continues; see its state with: carrel session show {session['id']}",
        ) from None


def _event(frame: Frame) -> models.EventView:
    content = json.loads(frame.text)
    if "kind" in content and "object" in content:
        event: models.EventView = content
        return event
    # Events that are not stored, such as measured usage, consist of their data only.
    return {"id": None, "at": None, "kind": frame.kind, "object": {"kind": "", "id": ""}, "data": content}
