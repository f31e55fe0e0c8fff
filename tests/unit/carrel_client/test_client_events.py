"""Following events and waiting by them."""

import json
from collections.abc import Iterator

import pytest
from carrel_client import CarrelError
from carrel_client.client import ApiClient
from carrel_client.sse import Frame, frames
from carrel_client.waiting import follow, watch
from scripted_server import answer, wire_server

_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
_HELLO = b"event: hello\ndata: {}\n\n"


def _event(number: int, kind: str = "session.updated", session: str = "s1") -> bytes:
    body = {
        "id": str(number),
        "at": None,
        "kind": kind,
        "object": {"kind": "session", "id": session},
        "data": {},
    }
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(body)}\n\n".encode()


def _session(state: str) -> bytes:
    return answer({"id": "s1", "name": "train-3", "state": state})


def _fields(frame: Frame | None) -> tuple[str, str, str | None] | None:
    return (frame.kind, frame.text, frame.id) if frame else None


def test_frames_are_found_wherever_the_blocks_are_cut() -> None:
    stream = b"id: 1\nevent: a\ndata: x\ndata: y\n\n: ping\n\ndata:\xc3\xa9\r\n\r\nevent: cut\ndata: off"
    expected = [("a", "x\ny", "1"), None, ("message", "é", "1")]
    for size in range(1, len(stream)):
        blocks = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [_fields(frame) for frame in frames(blocks)] == expected


def test_following_resumes_behind_the_last_event_after_a_break() -> None:
    broken = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" + _HELLO + _event(7)
    pauses: list[float] = []
    with wire_server(
        [broken], [_STREAM + _HELLO + _event(8)], [answer({}, status="401 Unauthorized")]
    ) as wire:
        transport = ApiClient(wire.url, "AK", "s").transport
        seen: list[str] = []
        happened = (event for event in follow(transport, None, pause=pauses.append) if event)
        with pytest.raises(CarrelError):
            seen.extend(event["id"] or event["kind"] for event in happened)
    assert seen == ["hello", "7", "hello", "8"]
    assert b"Last-Event-ID" not in wire.requests[0]
    assert b"Last-Event-ID: 7" in wire.requests[1]
    assert len(pauses) == 2


def test_a_first_connection_that_fails_is_not_retried_for_long() -> None:
    refusal = answer({"code": "auth.bad_keypair", "detail": "No."}, status="401 Unauthorized")
    with wire_server([refusal]) as wire, pytest.raises(CarrelError) as raised:
        next(ApiClient(wire.url, "AK", "s").events.follow())
    assert raised.value.code == "auth.bad_keypair"


def test_waiting_asks_again_after_an_event_and_ignores_other_sessions() -> None:
    stream = _STREAM + _HELLO + _event(1, session="other") + _event(2)
    with wire_server([_session("PENDING")], [stream], [_session("STARTING"), _session("RUNNING")]) as wire:
        session = ApiClient(wire.url, "AK", "s").sessions.wait("train-3")
    assert session["state"] == "RUNNING"
    assert sum(b"GET /api/v1/sessions/" in request for request in wire.requests) == 3


def test_waiting_ends_with_the_time_given_for_it() -> None:
    ticks: Iterator[float] = iter(range(0, 1000, 4))
    stream = _STREAM + _HELLO + b": ping\n\n" * 50
    with wire_server([_session("PENDING")], [stream], [_session("PENDING")] * 60) as wire:
        client = ApiClient(wire.url, "AK", "s")
        with pytest.raises(CarrelError) as raised:
            for _ in watch(client.sessions, client.transport, "s1", timeout_s=20, clock=lambda: next(ticks)):
                pass
    assert raised.value.code == "client.wait_timeout"
    assert raised.value.status == 504
