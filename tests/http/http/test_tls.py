"""TLS by our own switch: what the page, the API and the gateway's apps are like over it."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import httpx2
import pytest
import uvicorn
from aiohttp import web
from command_line import command_line
from files_kit import folder
from gateway_kit import Gate, gate_at_work
from installation import API, Api, serving_on
from own_authority import certificates
from people import PASSWORD, People, eventually
from websockets.asyncio.client import connect

from carrel.db.database import Database
from carrel.http import tls as module
from carrel.http.guard import ConnectionLimit
from carrel.http.tls import Tls, over
from carrel.server.processes import listening
from carrel.server.settings import Settings

SMALL = {"cpu": 100, "mem": 64 << 20}


class Secured:
    """The API on a TLS port of its own, and a client's trust."""

    def __init__(self, port: int, files: Path, ca: str) -> None:
        self.port = port
        self.url = f"https://127.0.0.1:{port}"
        self.files = files
        self.ca = files / "ca.pem"
        self.ca.write_text(ca)
        self.trust = ssl.create_default_context(cadata=ca)

    def client(self, **options: object) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url + API, verify=self.trust, timeout=20, **options)  # type: ignore[arg-type]

    async def issuer(self) -> str:
        """Serial number of the certificate that a new connection is shown."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=untrusting())
        serial = writer.get_extra_info("ssl_object").getpeercert(binary_form=True).hex()
        writer.close()
        return str(serial)

    async def plain(self, request: bytes) -> bytes:
        """What the port says to somebody without TLS, until it hangs up."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer


def untrusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@asynccontextmanager
async def secured(api: Api, files: Path, **settings: object) -> AsyncIterator[Secured]:
    files.mkdir()
    ca = certificates(files, "carrel.test")
    given = Settings(
        data_dir=api.services.settings.data_dir,
        host="127.0.0.1",
        tls_cert=str(files / "server.pem"),
        tls_key=str(files / "server.key"),
        **settings,
    )  # type: ignore[arg-type]
    config = listening(api.app, given)
    config.port = 0
    server = uvicorn.Server(config)
    task = await serving_on(server)
    try:
        yield Secured(server.servers[0].sockets[0].getsockname()[1], files, ca)
    finally:
        server.should_exit = server.force_exit = True
        await task


@pytest.fixture
async def secure(living: Api, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Secured]:
    async with secured(living, tmp_path_factory.mktemp("tls") / "files") as made:
        yield made


async def test_cookies_are_for_https_alone_and_browsers_are_told_to_stay(secure: Secured) -> None:
    async with secure.client() as client:
        answer = await client.post("/auth/login", json={"email": "user@example.org", "password": PASSWORD})
        assert answer.status_code == 200, answer.text
        assert "; Secure" in answer.headers["set-cookie"]
        assert (await client.get("/auth/me")).status_code == 200
        named = await client.get("/health", headers={"Host": "carrel.test"})
        assert named.headers["strict-transport-security"] == "max-age=15552000"
        # "localhost" has other programs behind other ports, that speak plain HTTP.
        local = await client.get("/health", headers={"Host": f"localhost:{secure.port}"})
        assert "strict-transport-security" not in local.headers


async def test_plain_http_says_nothing_of_staying_encrypted(living: Api) -> None:
    answer = await (await living.as_("anonymous")).get("/health")
    assert "strict-transport-security" not in answer.headers


async def test_plain_http_on_the_port_is_sent_to_https_or_told_why_not(secure: Secured) -> None:
    page = await secure.plain(b"GET /sessions?x=1 HTTP/1.1\r\nAccept: */*\r\nHost: carrel.test:8700\r\n\r\n")
    assert page.startswith(b"HTTP/1.1 307 ")
    assert b"\r\nLocation: https://carrel.test:8700/sessions?x=1\r\n" in page
    for request in (
        b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
        b"GET / HTTP/1.1\r\nHost: x/../evil\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ):
        answer = await secure.plain(request)
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        assert b'"http.tls_needed"' in answer


async def test_nothing_older_than_tls_1_2_is_spoken(secure: Secured) -> None:
    old = untrusting()
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1  # type: ignore[misc]
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection("127.0.0.1", secure.port, ssl=old)
    new = untrusting()
    new.maximum_version = ssl.TLSVersion.TLSv1_2
    _, writer = await asyncio.open_connection("127.0.0.1", secure.port, ssl=new)
    assert writer.get_extra_info("ssl_object").version() == "TLSv1.2"
    writer.close()


async def test_a_renewed_certificate_is_taken_and_open_connections_stay(secure: Secured) -> None:
    async with secure.client() as client:
        assert (await client.get("/health")).status_code == 200
        before = await secure.issuer()
        renewed = secure.files / "renewed"
        renewed.mkdir()
        certificates(renewed, "carrel.test")
        # One file after the other, as programs that renew do it.
        os.replace(renewed / "server.pem", secure.files / "server.pem")
        assert await secure.issuer() == before
        os.replace(renewed / "server.key", secure.files / "server.key")
        assert await secure.issuer() != before
        # The client does not trust the new one: only the connection that it has can answer.
        assert (await client.get("/health")).status_code == 200


async def test_a_certificate_that_is_lost_leaves_the_one_before_in_use(secure: Secured) -> None:
    before = await secure.issuer()
    (secure.files / "server.pem").write_text("")
    assert await secure.issuer() == before
    (secure.files / "server.pem").unlink()
    assert await secure.issuer() == before


async def test_terminals_and_files_work_over_it(
    living: Api, secure: Secured, tmp_path_factory: pytest.TempPathFactory
) -> None:
    user = await living.as_("user")
    made = await user.start()
    await living.until(user, made["id"], "RUNNING")
    data = await folder(living, root=tmp_path_factory.mktemp("disk") / "fast")
    content = os.urandom(9 << 20)
    async with secure.client() as client:
        signed = await client.post("/auth/login", json={"email": "user@example.org", "password": PASSWORD})
        cookie = signed.headers["set-cookie"].split(";")[0]
        url = f"wss://127.0.0.1:{secure.port}{API}/sessions/{made['id']}/terminal?cols=80&rows=24"
        async with connect(
            url, ssl=secure.trust, origin=secure.url, additional_headers={"Cookie": cookie}
        ) as terminal:  # type: ignore[arg-type]
            assert await asyncio.wait_for(terminal.recv(), 20)
    (data.files / "large").write_bytes(content)
    async with secure.client(auth=await living.keypair(living.people.user)) as client:
        answer = await client.get(
            f"/vfolders/{data.id}/content", params={"path": "large"}, headers={"Range": "bytes=5-"}
        )
        assert (answer.status_code, answer.content == content[5:]) == (206, True), answer.text[:300]


async def test_the_command_trusts_what_it_is_told_to_trust(
    living: Api, secure: Secured, tmp_path: Path
) -> None:
    user = await command_line(living, "user", tmp_path)
    user.environment["CARREL_URL"] = secure.url
    user.environment.pop("SSL_CERT_FILE", None)
    refused = await user.run("whoami")
    assert refused.code != 0
    assert "SSL_CERT_FILE" in refused.stderr, refused.stderr
    user.environment["SSL_CERT_FILE"] = str(secure.ca)
    assert "user@example.org" in await user.ok("whoami")


async def test_who_does_not_begin_to_talk_is_counted_and_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HANDSHAKE_S", 1.0)
    certificates(tmp_path)
    tls = Tls(str(tmp_path / "server.pem"), str(tmp_path / "server.key"))
    limit = ConnectionLimit(2)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: over(tls, limit, asyncio.Protocol), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
    begun, _ = await asyncio.open_connection("127.0.0.1", port)
    assert await asyncio.wait_for(begun.read(), 20) == b""  # one too many
    silent[0][1].write(b"\x16\x03\x01")  # begins, and goes no further
    for reader, _ in silent:
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await asyncio.wait_for(reader.readexactly(1), 20)

    async def free() -> bool:
        return limit.enter("127.0.0.1") == 0

    assert await eventually(free)
    server.close()


@pytest.fixture
async def gate(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Gate]:
    certificates(tmp_path)
    tls = Tls(str(tmp_path / "server.pem"), str(tmp_path / "server.key"))
    async with gate_at_work(database, people, "https://localhost:1", tls=tls) as gate:
        yield gate


async def test_an_app_is_the_same_over_it(gate: Gate) -> None:
    large = os.urandom(5 << 20)

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade"):
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            async for message in socket:
                await socket.send_str(message.data + request.headers["X-Forwarded-Proto"])
            return socket
        if request.method == "POST":
            return web.Response(body=str(len(await request.read())))
        return web.Response(body=large)

    session = await gate.session(await gate.app(answer))
    cookie = await gate.cookie(session)
    base, host = f"https://127.0.0.1:{gate.port}", gate.host(session)
    headers = {"Host": host, "Cookie": cookie, "Origin": f"https://{host}"}
    async with aiohttp.ClientSession(
        headers=headers, connector=aiohttp.TCPConnector(ssl=untrusting())
    ) as client:
        async with client.get(base) as got:
            assert await got.read() == large
        async with client.post(base, data=large) as got:
            assert await got.text() == str(len(large))
        async with client.ws_connect(base) as socket:
            await socket.send_str("over ")
            assert (await socket.receive(20)).data == "over https"


async def test_the_cookie_of_an_app_is_for_https_alone(gate: Gate) -> None:
    session = await gate.session(1)
    ticket = await gate.ticket(session)
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=untrusting())) as client,
        client.get(
            f"https://127.0.0.1:{gate.port}/?carrel_ticket={ticket}",
            headers={"Host": gate.host(session)},
            allow_redirects=False,
        ) as answer,
    ):
        assert answer.headers["Location"].startswith("https://")
        assert "; Secure" in answer.headers["Set-Cookie"]
