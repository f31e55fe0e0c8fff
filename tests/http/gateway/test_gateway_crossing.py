"""What crosses the gateway: headers, bodies of any size, odd answers."""

import asyncio
import errno
import gzip
import hashlib
import json
import os
import resource
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientPayloadError, web
from gateway_kit import KEY, Gate, gate, head_of
from people import stops_growing

from carrel.apps import service as apps
from carrel.gateway import bulk

__all__ = ["gate"]
MIB = 1 << 20


async def echo_headers(request: web.Request) -> web.Response:
    return web.json_response([[name, value] for name, value in request.headers.items()])


async def test_app_sees_nothing_of_the_control_plane(gate: Gate) -> None:
    session = await gate.session(await gate.app(echo_headers))
    cookie = await gate.cookie(session)
    sent = {
        "Cookie": f"theme=dark; {cookie}; carrel_session=secret; carrel_x=1; _xsrf=2|3",
        "X-Carrel-CSRF": "secret",
        "Authorization": "Basic Q0tBQkM6c2VjcmV0",  # CKABC:secret
        "X-Forwarded-For": "6.6.6.6",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "gopher",
        "Forwarded": "for=6.6.6.6",
        "X-Real-IP": "6.6.6.6",
        "Connection": "keep-alive, X-Hop",
        "X-Hop": "1",
        "TE": "trailers",
        "X-Mine": "kept",
        "Accept-Encoding": "gzip, br",
    }
    answer = await gate.get(session, headers=sent)
    got = {name.lower(): value for name, value in json.loads(answer.body)}
    assert b"secret" not in answer.body
    assert cookie.encode() not in answer.body
    assert got.pop("cookie") == "theme=dark; _xsrf=2|3"
    assert got.pop("host") == gate.host(session)
    assert got.pop("x-forwarded-for") == "127.0.0.1"
    assert got.pop("x-forwarded-host") == gate.host(session)
    assert got.pop("x-forwarded-proto") == "http"
    assert got.pop("x-mine") == "kept"
    assert got.pop("accept-encoding") == "gzip, br"
    assert set(got) <= {"accept", "user-agent"}


async def test_app_gets_its_own_secret_and_nobody_elses(gate: Gate) -> None:
    session = await gate.session(await gate.app(echo_headers), auth_header="Authorization: token {secret}")
    cookie = await gate.cookie(session)
    answer = await gate.get(session, cookie=cookie, headers={"Authorization": "token guessed"})
    values = [value for name, value in json.loads(answer.body) if name == "Authorization"]
    assert values == [f"token {apps.app_secret(KEY, session)}"]


async def test_app_without_a_secret_gets_the_clients_own_authorization(gate: Gate) -> None:
    session = await gate.session(await gate.app(echo_headers))
    for own in ("Bearer of-the-app", "Basic dXNlcjpwYXNz"):
        answer = await gate.get(session, cookie=await gate.cookie(session), headers={"Authorization": own})
        assert ["Authorization", own] in json.loads(answer.body)


async def test_app_cannot_set_cookies_for_others(gate: Gate) -> None:
    async def handle(_: web.Request) -> web.Response:
        response = web.Response(
            text="x", headers={"X-Carrel-Error": "gateway.no_grant", "Keep-Alive": "timeout=5"}
        )
        for cookie in (
            "a=1; Domain=localhost; Path=/; HttpOnly",
            "b=2;domain=.example.org",
            "carrel_session=stolen; Path=/",
            " carrel_app=planted",
            "c=3; Path=/x; SameSite=Lax",
        ):
            response.headers.add("Set-Cookie", cookie)
        return response

    session = await gate.session(await gate.app(handle))
    answer = await gate.get(session, cookie=await gate.cookie(session))
    assert answer.headers.getall("Set-Cookie") == [
        "a=1; Path=/; HttpOnly",
        "b=2",
        "c=3; Path=/x; SameSite=Lax",
    ]
    assert "X-Carrel-Error" not in answer.headers
    assert "Keep-Alive" not in answer.headers
    assert answer.headers["Referrer-Policy"] == "same-origin"


PACKED = gzip.compress(b"hello" * 1000)


async def various(request: web.Request) -> web.StreamResponse:
    match request.path:
        case "/gzip":
            return web.Response(body=PACKED, headers={"Content-Encoding": "gzip", "ETag": '"1"'})
        case "/range":
            assert request.headers["Range"] == "bytes=2-3"
            return web.Response(status=206, body=b"cd", headers={"Content-Range": "bytes 2-3/6"})
        case "/not-modified":
            return web.Response(status=304, headers={"ETag": '"1"'})
        case "/nothing":
            return web.Response(status=204)
        case "/elsewhere":
            return web.Response(status=307, headers={"Location": "/here"})
        case "/teapot":
            return web.Response(status=418, reason="Short and stout", text="tea")
    chunked = web.StreamResponse()
    await chunked.prepare(request)
    for piece in (b"one", b"two"):
        await chunked.write(piece)
    return chunked


async def test_answers_pass_as_they_are(gate: Gate) -> None:
    session = await gate.session(await gate.app(various))
    cookie = await gate.cookie(session)

    async def get(path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
        answer = await gate.get(session, path, cookie=cookie, method=method, headers=headers)
        seen[path, method] = answer.headers
        return answer.status, answer.body

    seen: dict[tuple[str, str], object] = {}
    assert await get("/gzip") == (200, PACKED)
    assert await get("/gzip", "HEAD") == (200, b"")
    assert seen["/gzip", "HEAD"]["Content-Length"] == str(len(PACKED))  # type: ignore[index]
    assert await get("/range", Range="bytes=2-3") == (206, b"cd")
    assert await get("/not-modified") == (304, b"")
    assert await get("/nothing") == (204, b"")
    assert await get("/elsewhere") == (307, b"")
    assert seen["/elsewhere", "GET"]["Location"] == "/here"  # type: ignore[index]
    assert await get("/teapot") == (418, b"tea")
    assert await get("/chunked") == (200, b"onetwo")
    assert await get("/chunked", "HEAD") == (200, b"")


async def test_one_connection_serves_one_request_after_another(gate: Gate) -> None:
    peers = set()

    async def handle(request: web.Request) -> web.Response:
        assert request.transport
        peers.add(request.transport.get_extra_info("peername"))
        return web.Response(text=request.path)

    session = await gate.session(await gate.app(handle))
    async with gate.client(session, await gate.cookie(session)) as client:
        for number in range(20):
            async with client.get(f"/{number}") as answer:
                assert await answer.text() == f"/{number}"
    assert len(peers) == 1


@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_uploads_arrive_whole(gate: Gate, framing: str) -> None:
    async def handle(request: web.Request) -> web.Response:
        digest = hashlib.sha256()
        async for chunk in request.content.iter_any():
            digest.update(chunk)
        return web.json_response([digest.hexdigest(), request.headers.get("Content-Length")])

    session = await gate.session(await gate.app(handle))
    content = bytes(range(256)) * (32 * MIB // 256)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(content), 100_000):
            yield content[start : start + 100_000]

    data = content if framing == "length" else pieces()
    cookie = await gate.cookie(session)
    # A body that claims to be compressed passes as it is.
    headers = {"Content-Encoding": "gzip"}
    answer = await gate.get(session, cookie=cookie, method="POST", data=data, headers=headers)
    length = str(len(content)) if framing == "length" else None
    assert json.loads(answer.body) == [hashlib.sha256(content).hexdigest(), length]


@pytest.mark.parametrize("inside_the_kernel", [True, False])
async def test_large_bodies_arrive_whole_and_leave_connections_usable(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, inside_the_kernel: bool
) -> None:
    assert bulk.AVAILABLE
    monkeypatch.setattr(bulk, "AVAILABLE", inside_the_kernel)
    content = os.urandom(MIB) * 48 + b"end"
    peers = set()

    async def handle(request: web.Request) -> web.Response:
        assert request.transport
        peers.add(request.transport.get_extra_info("peername"))
        return web.Response(body=content if request.path == "/large" else b"small")

    session = await gate.session(await gate.app(handle))
    async with gate.client(session, await gate.cookie(session)) as client:
        for _ in range(2):
            async with client.get("/large") as answer:
                assert hashlib.sha256(await answer.read()).digest() == hashlib.sha256(content).digest()
            async with client.get("/small") as answer:
                assert await answer.read() == b"small"
    assert len(peers) == 1


async def test_large_body_cut_short_looks_cut_short(gate: Gate) -> None:
    port, _ = await scripted(gate, b"HTTP/1.1 200 OK\r\nContent-Length: 90000000\r\n\r\n" + bytes(30 * MIB))
    session = await gate.session(port)
    with pytest.raises(ClientPayloadError):
        await gate.get(session, cookie=await gate.cookie(session))


async def test_kernel_that_cannot_splice_is_no_trouble(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EINVAL, "not between these")

    monkeypatch.setattr(os, "splice", refuse)
    content = os.urandom(MIB) * 8

    async def handle(_: web.Request) -> web.Response:
        return web.Response(body=content)

    session = await gate.session(await gate.app(handle))
    assert (await gate.get(session, cookie=await gate.cookie(session))).body == content


@pytest.mark.parametrize("length", [{}, {"Content-Length": str(2000 * MIB)}], ids=["chunked", "length"])
async def test_slow_reader_slows_the_app_and_costs_no_memory(gate: Gate, length: dict[str, str]) -> None:
    sent = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers=length)
        await response.prepare(request)
        for _ in range(2000):
            await response.write(bytes(MIB))
            sent += 1
        return response

    session = await gate.session(await gate.app(handle))
    host, cookie = gate.host(session), await gate.cookie(session)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reader, writer = await gate.speak(f"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
    assert (await head_of(reader)).startswith(b"HTTP/1.1 200")

    assert await stops_growing(lambda: sent) < 60, "MiB, most of them in the kernel"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024, "KiB"
    writer.transport.abort()


async def test_client_that_leaves_ends_the_apps_work(gate: Gate) -> None:
    ended = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_of(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        assert await reader.read() == b""
        ended.set()

    session = await gate.session(await gate.raw_app(handle))
    host, cookie = gate.host(session), await gate.cookie(session)
    reader, writer = await gate.speak(f"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
    assert b"chunked" in await head_of(reader)
    assert await reader.readexactly(14) == b"9\r\ndata: 1\n\n\r\n", "events pass at once"
    writer.close()
    await asyncio.wait_for(ended.wait(), 60)


async def scripted(gate: Gate, *answers: bytes) -> tuple[int, list[bytes]]:
    """An app that gives each connection's first request the next answer and hangs up; and what it was asked."""
    requests: list[bytes] = []
    left = list(answers)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await head_of(reader))
        writer.write(left.pop(0))
        await writer.drain()

    return await gate.raw_app(handle), requests


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"", "gateway.not_answering"),
        (b"HTTP/1.1 200 OK\r\nContent-", "gateway.not_answering"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "gateway.broken_answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "gateway.broken_answer"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "gateway.broken_answer"),
        (b"HTTP/1.1 101 Hm\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "gateway.broken_answer"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000, "gateway.broken_answer"),
    ],
)
async def test_app_that_makes_no_sense_is_a_page(gate: Gate, answer: bytes, code: str) -> None:
    port, requests = await scripted(gate, answer)
    session = await gate.session(port)
    got = await gate.get(session, cookie=await gate.cookie(session))
    assert (got.status, got.headers["X-Carrel-Error"]) == (502, code)
    assert len(requests) == 1


@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
)
async def test_body_cut_short_looks_cut_short(gate: Gate, cut: bytes) -> None:
    port, _ = await scripted(gate, cut)
    session = await gate.session(port)
    with pytest.raises(ClientPayloadError):
        await gate.get(session, cookie=await gate.cookie(session))


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ],
)
async def test_bytes_after_an_answer_never_become_part_of_another(gate: Gate, first: bytes) -> None:
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
    honest = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue"
    connections = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await head_of(reader)
        if connections > 1:
            writer.write(honest)
            return
        # The end of the forgery waits until somebody asks again on this connection.
        writer.write(first + forged[:20])
        await head_of(reader)
        writer.write(forged[20:])

    session = await gate.session(await gate.raw_app(handle))
    async with gate.client(session, await gate.cookie(session)) as client:
        async with client.get("/") as answer:
            assert await answer.read() in (b"ok", b"")
        async with client.get("/") as answer:
            assert await answer.read() == b"true"
    assert connections == 2


async def test_answer_without_a_length_ends_with_its_connection(gate: Gate) -> None:
    port, _ = await scripted(gate, b"HTTP/1.0 200 OK\r\n\r\nold", b"HTTP/1.0 200 OK\r\n\r\nold")
    session = await gate.session(port)
    cookie = await gate.cookie(session)
    assert (await gate.get(session, cookie=cookie)).body == b"old"
    reader, _ = await gate.speak(
        f"GET / HTTP/1.0\r\nHost: {gate.host(session)}\r\nCookie: {cookie}\r\n\r\n".encode()
    )
    answer = await asyncio.wait_for(reader.read(), 60)
    assert answer.endswith(b"\r\n\r\nold"), "a client of HTTP/1.0 knows no chunks"


async def stale(gate: Gate) -> tuple[int, list[bytes]]:
    """An app that keeps a connection open for one answer and drops it when it is asked again."""
    requests: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await head_of(reader))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        requests.append(await head_of(reader))

    return await gate.raw_app(handle), requests


async def test_stale_connection_is_not_the_clients_trouble(gate: Gate) -> None:
    port, requests = await stale(gate)
    session = await gate.session(port)
    cookie = await gate.cookie(session)
    for _ in range(3):
        assert (await gate.get(session, cookie=cookie)).body == b"ok"
    assert len(requests) > 3, "at least one was asked twice"


async def test_what_may_not_be_repeated_is_never_sent_twice(gate: Gate) -> None:
    port, requests = await stale(gate)
    session = await gate.session(port)
    cookie = await gate.cookie(session)
    for number in range(3):
        assert (await gate.get(session, f"/{number}", cookie=cookie, method="POST")).body == b"ok"
    assert [head.split()[1] for head in requests] == [b"/0", b"/1", b"/2"]


async def test_client_may_wait_for_leave_to_send_its_body(gate: Gate) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"100-continue" in await head_of(reader)
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
        assert await reader.readexactly(4) == b"body"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    session = await gate.session(await gate.raw_app(handle))
    host, cookie = gate.host(session), await gate.cookie(session)
    reader, writer = await gate.speak(
        f"POST / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n"
        "Expect: 100-continue\r\nContent-Length: 4\r\n\r\n".encode()
    )
    assert b"103 Early Hints" in await head_of(reader)
    assert b"100 Continue" in await head_of(reader)
    writer.write(b"body")
    assert (await head_of(reader)).startswith(b"HTTP/1.1 200 OK")


async def test_early_answer_reaches_a_client_that_still_sends(gate: Gate) -> None:
    port, _ = await scripted(
        gate, b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    session = await gate.session(port)
    host, cookie = gate.host(session), await gate.cookie(session)
    reader, writer = await gate.speak(
        f"POST / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nContent-Length: 1000000\r\n\r\nabc".encode()
    )
    assert (await head_of(reader)).startswith(b"HTTP/1.1 413 Too Large")
    writer.close()


async def test_nobody_listening_is_a_page(gate: Gate) -> None:
    port, _ = await scripted(gate)
    await gate.stack.aclose()
    session = await gate.session(port)
    answer = await gate.get(session, cookie=await gate.cookie(session))
    assert (answer.status, answer.headers["X-Carrel-Error"]) == (502, "gateway.not_answering")
