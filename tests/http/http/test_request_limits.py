"""Hostile requests over real sockets, at the API's server and at the gateway: each is refused, and costs little."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import psutil
import pytest
import uvloop
from aiohttp import web
from gateway_kit import gate_at_work
from installation import API, Api, serving
from people import People, eventually
from prometheus_client import REGISTRY

from carrel.db.database import Database
from carrel.http.guard import ConnectionLimit, RequestLimits
from carrel.http.sendfile import ZeroCopyProtocol

MIB = 1 << 20
PATIENT = RequestLimits()
HURRIED = RequestLimits(head_s=0.3, body_s=0.3, linger_s=0.3)
DEADLINE_S = 20
FLOOD = 32 * MIB
MOST_GROWTH = 16 * MIB

# A transport of uvloop, on which the processes run, differs from one of asyncio in many small ways.
on_both_loops = pytest.mark.asyncio(loop_factories=["asyncio", "uvloop"])


@dataclass
class Target:
    """A server. head: of a POST that somebody may send there, without framing and the empty line."""

    port: int
    head: bytes
    health: bytes

    async def line(self, source: str = "127.0.0.1") -> "Line":
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(source, 0))
        return Line(reader, writer)

    async def is_well(self) -> bool:
        """Whether another client gets an answer."""
        async with open_line(self) as line:
            line.send(self.health)
            return (await line.answer())[0] == 200


@dataclass
class Line:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, content: bytes) -> None:
        self.writer.write(content)

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of one answer; (0, b"") when the connection ends without one."""
        async with asyncio.timeout(DEADLINE_S):
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return 0, b""
            lines = head.lower().split(b"\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
            return int(head.split()[1]), await self.reader.readexactly(length)

    async def ended(self) -> bool:
        """The server closes the connection; what it still says is dropped."""
        async with asyncio.timeout(DEADLINE_S):
            try:
                while await self.reader.read(MIB):
                    pass
            except ConnectionError:
                pass
            return True

    async def close(self) -> None:
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except ConnectionError:
            pass


@asynccontextmanager
async def open_line(target: Target, source: str = "127.0.0.1") -> AsyncIterator[Line]:
    line = await target.line(source)
    try:
        yield line
    finally:
        await line.close()


@pytest.fixture(params=["api", "gateway"])
def server(
    request: pytest.FixtureRequest, api: Api, database: Database, people: People
) -> Callable[..., "asynccontextmanager"]:  # type: ignore[valid-type]
    """Gives a `Target` with limits, in a block."""

    @asynccontextmanager
    async def at_work(limits: RequestLimits, connections: int = 0) -> AsyncIterator[Target]:
        async with AsyncExitStack() as stack:
            if request.param == "api":
                http = ZeroCopyProtocol.limited(limits, ConnectionLimit(connections))
                url = await stack.enter_async_context(serving(api.app, http))
                head = f"POST {API}/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                health = f"GET {API}/health HTTP/1.1\r\nHost: x\r\n\r\n"
                yield Target(int(url.rsplit(":", 1)[1]), head.encode(), health.encode())
                return
            gate = await stack.enter_async_context(
                gate_at_work(
                    database, people, "http://localhost:1", limits=limits, connections_per_address=connections
                )
            )

            async def swallow(request: web.Request) -> web.Response:
                size = 0
                async for piece in request.content.iter_any():
                    size += len(piece)
                return web.json_response({"size": size})

            session = await gate.session(await gate.app(swallow))
            cookie = await gate.cookie(session)
            head = f"POST / HTTP/1.1\r\nHost: {gate.host(session)}\r\nCookie: {cookie}\r\n"
            yield Target(gate.port, head.encode(), b"GET /.carrel/health HTTP/1.1\r\nHost: x\r\n\r\n")

    return at_work


async def flood(line: Line, piece: bytes) -> None:
    """Send the piece again and again, until much has been sent or the server hangs up."""
    try:
        for _ in range(FLOOD // len(piece)):
            line.send(piece)
            await line.writer.drain()
    except ConnectionError:
        pass


async def refused(target: Target, start: bytes, piece: bytes) -> int:
    """The status that answers an endless flood; checks what it costs meanwhile."""
    assert await target.is_well()
    before = psutil.Process().memory_info().rss
    async with open_line(target) as line:
        line.send(start)
        flooding = asyncio.create_task(flood(line, piece))
        assert await target.is_well()
        status, _ = await line.answer()
        await line.ended()
        flooding.cancel()
        await asyncio.wait([flooding])
    assert psutil.Process().memory_info().rss - before < MOST_GROWTH
    assert await target.is_well()
    return status


@pytest.mark.asyncio(loop_factories=["uvloop"])
async def test_the_mark_gives_the_other_loop() -> None:
    assert isinstance(asyncio.get_running_loop(), uvloop.Loop)


async def test_an_endless_header_line_is_refused(server):
    async with server(PATIENT) as target:
        assert await refused(target, b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"a" * MIB) == 431


@on_both_loops
async def test_endless_headers_are_refused(server):
    async with server(PATIENT) as target:
        assert await refused(target, b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-More: a\r\n" * 10_000) == 431


@pytest.mark.parametrize(
    "more", [b"X: a\r\n" * 300, b"X: " + b"a" * (200 << 10) + b"\r\n"], ids=["lines", "bytes"]
)
async def test_a_head_that_is_too_large_is_refused_though_it_ends(server, more: bytes):
    """It may come in one piece."""
    async with server(PATIENT) as target, open_line(target) as line:
        line.send(b"GET / HTTP/1.1\r\nHost: x\r\n" + more + b"\r\n")
        assert (await line.answer())[0] in (400, 431)


async def test_an_endless_request_line_is_refused(server):
    async with server(PATIENT) as target:
        assert await refused(target, b"GET /", b"a" * MIB) in (414, 431)


async def test_empty_lines_for_ever_are_refused(server):
    async with server(PATIENT) as target:
        assert await refused(target, b"\r\n", b"\r\n" * 10_000) in (400, 431)


async def test_an_endless_chunk_extension_is_cut(server):
    async with server(PATIENT) as target:
        start = target.head + b"Transfer-Encoding: chunked\r\n\r\n1;a="
        assert await refused(target, start, b"a" * MIB) in (0, 400, 408, 431, 502)


async def test_endless_trailers_are_cut(server):
    async with server(PATIENT) as target:
        start = target.head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n"
        assert await refused(target, start, b"X-More: a\r\n" * 10_000) in (0, 400, 408, 431, 502)


async def test_an_endless_trailer_is_cut(server):
    async with server(PATIENT) as target:
        start = target.head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX: "
        assert await refused(target, start, b"a" * MIB) in (0, 400, 408, 431, 502)


async def test_many_tiny_chunks_cost_no_memory_and_no_standstill(server):
    async with server(PATIENT) as target:
        before = psutil.Process().memory_info().rss
        async with open_line(target) as line:
            line.send(target.head + b"Transfer-Encoding: chunked\r\n\r\n")
            for _ in range(20):
                line.send(b"1\r\n1\r\n" * 20_000)
                assert await target.is_well()
            line.send(b"0\r\n\r\n")
            status, _ = await line.answer()
        assert status == 200 or 400 <= status < 500
        assert psutil.Process().memory_info().rss - before < MOST_GROWTH


async def test_a_body_that_is_announced_too_large_is_refused_before_it_comes(api: Api):
    async with serving(api.app) as url:
        target = Target(int(url.rsplit(":", 1)[1]), b"", b"")
        async with open_line(target) as line:
            line.send(
                f"POST {API}/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                f"Content-Length: {10 * MIB}\r\n\r\n".encode()
            )
            status, body = await line.answer()
    assert (status, json.loads(body)["code"]) == (413, "http.too_large")
    of_it = {"route": f"{API}/auth/login", "method": "POST", "status": "413"}
    assert REGISTRY.get_sample_value("carrel_http_requests_total", of_it) is not None


@on_both_loops
async def test_a_head_that_does_not_end_is_answered_408(server):
    async with server(HURRIED) as target, open_line(target) as line:
        line.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        status, body = await line.answer()
        assert status == 408
        assert json.loads(body)["code"] == "http.too_slow"
        assert await line.ended()


async def test_what_is_refused_before_it_is_a_request_is_counted(server):
    def counted(code: str) -> float:
        return REGISTRY.get_sample_value("carrel_http_refused_total", {"code": code}) or 0

    before = counted("http.too_slow"), counted("http.head_too_large")
    async with server(HURRIED) as target, open_line(target) as line:
        line.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert (await line.answer())[0] == 408
    async with server(PATIENT) as target:
        assert await refused(target, b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-More: a\r\n" * 10_000) == 431
    assert (counted("http.too_slow"), counted("http.head_too_large")) == (before[0] + 1, before[1] + 1)


async def test_a_head_that_trickles_is_answered_408(server):
    async with server(HURRIED) as target, open_line(target) as line:
        line.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        answer = asyncio.create_task(line.answer())
        while not answer.done():
            line.send(b"X-More: a\r\n")
            await asyncio.wait([answer], timeout=0.02)
        assert (await answer)[0] in (408, 431)


async def test_a_second_head_is_timed_like_the_first(server):
    async with server(HURRIED) as target, open_line(target) as line:
        line.send(target.health)
        assert (await line.answer())[0] == 200
        line.send(b"GET / HT")
        assert (await line.answer())[0] == 408


@on_both_loops
async def test_a_body_that_stalls_is_answered_408(server):
    async with server(HURRIED) as target, open_line(target) as line:
        line.send(target.head + b"Content-Length: 1000\r\n\r\n{")
        assert (await line.answer())[0] == 408
        assert await line.ended()


async def test_a_body_that_trickles_is_answered_408(server):
    async with server(HURRIED) as target, open_line(target) as line:
        line.send(target.head + b"Transfer-Encoding: chunked\r\n\r\n")
        answer = asyncio.create_task(line.answer())
        while not answer.done():
            line.send(b"1\r\n1\r\n")
            await asyncio.wait([answer], timeout=0.02)
        assert (await answer)[0] == 408


async def test_a_silent_connection_is_closed_without_a_word(server):
    async with server(HURRIED) as target, open_line(target) as line:
        assert await line.answer() == (0, b"")


@on_both_loops
async def test_connections_of_one_address_are_bounded_and_others_get_in(server):
    async with server(PATIENT, connections=3) as target:
        lines = [await target.line("127.0.0.1") for _ in range(3)]
        for line in lines:
            line.send(target.health)
            assert (await line.answer())[0] == 200
        async with open_line(target) as fourth:
            status, body = await fourth.answer()
            assert (status, json.loads(body)["code"]) == (429, "http.too_many_connections")
        async with open_line(target, "127.0.0.2") as other:
            other.send(target.health)
            assert (await other.answer())[0] == 200
        await lines.pop().close()

        async def let_in() -> bool:
            async with open_line(target) as line:
                line.send(target.health)
                return (await line.answer())[0] == 200

        assert await eventually(let_in)
        for line in lines:
            await line.close()


async def test_an_upgrade_to_websocket_with_a_body_is_refused(server):
    upgrade = (
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    )
    hidden = b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    async with server(PATIENT) as target:
        for framing in (b"Content-Length: %d\r\n\r\n" % len(hidden), b"Transfer-Encoding: chunked\r\n\r\n"):
            async with open_line(target) as line:
                line.send(target.head.replace(b"POST", b"GET") + upgrade + framing + hidden)
                assert (await line.answer())[0] == 400
                assert await line.ended()


async def test_another_upgrade_is_ignored_and_what_follows_is_the_next_request(api: Api):
    async with serving(api.app) as url:
        health = f"GET {API}/health HTTP/1.1\r\nHost: x\r\n".encode()
        target = Target(int(url.rsplit(":", 1)[1]), b"", health)
        async with open_line(target) as line:
            line.send(health + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + health + b"\r\n")
            assert (await line.answer())[0] == 200
            assert (await line.answer())[0] == 200


async def test_trailers_are_no_headers(api: Api):
    who = await api.keypair(api.people.superadmin)
    token = base64.b64encode(":".join(who).encode())
    async with serving(api.app) as url:
        target = Target(int(url.rsplit(":", 1)[1]), b"", b"")
        async with open_line(target) as line:
            line.send(
                f"PATCH {API}/site HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
                + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nAuthorization: Basic "
                + token
                + b"\r\n\r\n"
            )
            assert (await line.answer())[0] == 401


async def test_requests_in_a_queue_are_bounded(server):
    """Of a client that sends one after the other and reads no answer."""
    async with server(PATIENT) as target:
        before = psutil.Process().memory_info().rss
        async with open_line(target) as line:
            flooding = asyncio.create_task(flood(line, (target.head + b"Content-Length: 1\r\n\r\n1") * 1000))
            for _ in range(20):
                assert await target.is_well()
            flooding.cancel()
            await asyncio.wait([flooding])
        assert psutil.Process().memory_info().rss - before < MOST_GROWTH


async def test_an_upload_straight_to_the_disk_that_stalls_is_cut(api: Api):
    """Threads read its socket, past the event loop; what came is kept."""
    from files_kit import folder

    data = await folder(api)
    made = await data.ask(
        "POST",
        "/uploads",
        headers={"Tus-Resumable": "1.0.0", "Upload-Length": str(8 * MIB), "Upload-Metadata": "path YS5iaW4="},
    )
    assert made.status_code == 201, made.text
    place = f"/vfolders/{data.id}/{made.headers['location']}"
    access, secret = await api.keypair(api.people.user)
    login = base64.b64encode(f"{access}:{secret}".encode()).decode()
    http = ZeroCopyProtocol.limited(HURRIED, ConnectionLimit(0))
    async with serving(api.app, http) as url:
        target = Target(int(url.rsplit(":", 1)[1]), b"", b"")
        async with open_line(target) as line:
            line.send(
                f"PATCH {API}{place} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {login}\r\nTus-Resumable: 1.0.0\r\n"
                f"Upload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"
                f"Content-Length: {8 * MIB}\r\n\r\n".encode()
                + bytes(3 * MIB)
            )
            await line.writer.drain()
            assert (await line.answer())[0] == 408
            assert await line.ended()

        async def kept() -> bool:
            head = await data.ask("HEAD", f"/{made.headers['location']}", headers={"Tus-Resumable": "1.0.0"})
            return head.headers.get("upload-offset") == str(3 * MIB)

        assert await eventually(kept)


def test_addresses_are_counted_as_networks_where_one_client_has_many():
    limit = ConnectionLimit(1, exempt=["10.0.0.0/8"], total=100)
    assert limit.enter("2001:db8::1") == 0
    assert limit.enter("2001:db8::2") == 429
    assert limit.enter("2001:db8:0:1::2") == 0
    assert limit.enter("192.0.2.1") == 0
    assert limit.enter("::ffff:192.0.2.1") == 429
    assert [limit.enter("10.1.2.3") for _ in range(5)] == [0] * 5
    limit.leave("2001:db8::1")
    assert limit.enter("2001:db8::2") == 0


def test_all_connections_together_are_bounded():
    limit = ConnectionLimit(0, total=2)
    assert [limit.enter("10.0.0.1"), limit.enter("10.0.0.2"), limit.enter("10.0.0.3")] == [0, 0, 503]
    limit.leave("10.0.0.1")
    assert limit.enter("10.0.0.3") == 0
