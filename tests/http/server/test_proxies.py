"""Carrel behind nginx and Caddy, set up as deploy/ has them: what a person and their programs get through them."""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import own_proxy
import pytest
import uvicorn
from aiohttp import web
from files_kit import Folder
from gateway_kit import Gate, gate_at_work
from installation import API, Api, serving_on
from own_authority import certificates
from people import PASSWORD, eventually
from websockets.asyncio.client import connect

from carrel.server.processes import listening

MIB = 1 << 20
COMES_FROM = "127.0.0.9"
"""The address of the client, which must not be taken for the proxy's."""


@dataclass
class Behind:
    """Carrel behind a proxy that listens on `port`."""

    api: Api
    gate: Gate
    port: int
    ca: Path

    def url(self, path: str = "", host: str = own_proxy.PAGE) -> str:
        return f"https://{host}:{self.port}{path}"

    def curl_words(self, *words: str) -> list[str]:
        to = f"::127.0.0.1:{self.port}"
        return [
            "curl",
            "-sS",
            "--noproxy",
            "*",
            "--cacert",
            str(self.ca),
            "--interface",
            COMES_FROM,
            "--connect-to",
            to,
            "--max-time",
            "120",
            *words,
        ]

    async def curl(self, *words: str) -> bytes:
        process = await self.curling(*words)
        out, wrong = await process.communicate()
        assert process.returncode == 0, wrong.decode()
        return out

    async def curling(self, *words: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *self.curl_words(*words), stdin=pipe, stdout=pipe, stderr=pipe
        )

    async def user(self) -> str:
        """`name:password` for Basic authentication."""
        return ":".join(await self.api.keypair(self.api.people.user))

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca))


@pytest.fixture(params=own_proxy.KINDS)
async def behind(request: pytest.FixtureRequest, api: Api, tmp_path: Path) -> AsyncIterator[Behind]:
    async with _behind(request.param, api, tmp_path / "proxy") as made:
        yield made


@pytest.fixture(params=own_proxy.KINDS)
async def behind_living(request: pytest.FixtureRequest, living: Api, tmp_path: Path) -> AsyncIterator[Behind]:
    """With controllers, to which the sessions of `Gate` would be such as have lost their containers."""
    async with _behind(request.param, living, tmp_path / "proxy") as made:
        yield made


@asynccontextmanager
async def _behind(kind: str, api: Api, own: Path) -> AsyncIterator[Behind]:
    own.mkdir()
    (own / "ca.pem").write_text(certificates(own, own_proxy.PAGE, f"*.{own_proxy.APPS}"))
    async with AsyncExitStack() as stack:
        gate = await stack.enter_async_context(
            gate_at_work(api.database, api.people, f"https://{own_proxy.APPS}")
        )
        given = api.services.settings.model_copy(update={"trusted_proxies": "127.0.0.1"})
        config = listening(api.app, given)
        config.port = 0
        server = uvicorn.Server(config)
        task = await serving_on(server)
        stack.push_async_callback(asyncio.wait, [task])
        stack.callback(setattr, server, "should_exit", True)
        page = server.servers[0].sockets[0].getsockname()[1]
        port = await stack.enter_async_context(
            own_proxy.proxy(kind, own, page=page, apps=gate.port, files=own)
        )
        yield Behind(api, gate, port, own / "ca.pem")


async def test_http_2_is_spoken_and_a_person_signs_in_from_their_own_address(
    behind: Behind, tmp_path: Path
) -> None:
    version = await behind.curl(
        "-o", "/dev/null", "-w", "%{http_version} %{http_code}", behind.url(API + "/health")
    )
    assert version == b"2 200"
    body = json.dumps({"email": "user@example.org", "password": PASSWORD})
    answer = (
        await behind.curl(
            "-i",
            "-c",
            str(tmp_path / "jar"),
            "-H",
            "Content-Type: application/json",
            "-d",
            body,
            # Nobody believes what a client says of itself.
            "-H",
            "X-Forwarded-For: 203.0.113.7",
            "-H",
            "X-Forwarded-Proto: http",
            behind.url(API + "/auth/login"),
        )
    ).decode()
    assert answer.startswith("HTTP/2 200"), answer
    assert "; Secure" in answer, answer
    assert "strict-transport-security: max-age=" in answer
    # Its page may act: the request's origin is what the proxy passed on as Host.
    csrf = json.loads(answer.splitlines()[-1])["csrf_token"]
    made = await behind.curl(
        "-b",
        str(tmp_path / "jar"),
        "-H",
        f"X-Carrel-CSRF: {csrf}",
        "-H",
        f"Origin: {behind.url()}",
        "-H",
        "Content-Type: application/json",
        "-d",
        "{}",
        "-w",
        "%{http_code}",
        behind.url(API + "/keypairs"),
    )
    assert made.endswith(b"201"), made
    entries = (await (await behind.api.as_("superadmin")).get("/audit?limit=50")).json()["items"]
    assert COMES_FROM in [one["address"] for one in entries if one["action"] == "keypair.create"]


async def test_an_upload_of_any_size_passes_as_it_comes(behind: Behind, data: Folder) -> None:
    content = os.urandom(24 * MIB)
    sending = await behind.curling(
        "-u",
        await behind.user(),
        "-X",
        "PUT",
        "-T",
        "-",
        "-H",
        "Expect:",
        "-w",
        "%{http_code}",
        "-o",
        "/dev/null",
        behind.url(f"{API}/vfolders/{data.id}/content?path=large"),
    )
    assert sending.stdin
    sending.stdin.write(content[: 16 * MIB])
    await sending.stdin.drain()

    async def arrived() -> bool:
        return sum(file.stat().st_size for file in data.stage.rglob("*") if file.is_file()) >= 8 * MIB

    await eventually(arrived)
    out, wrong = await sending.communicate(content[16 * MIB :])
    assert out == b"200", (out, wrong)
    assert (data.files / "large").read_bytes() == content


async def test_a_part_of_a_file_can_be_asked_for(behind: Behind, data: Folder) -> None:
    content = os.urandom(9 * MIB)
    (data.files / "large").write_bytes(content)
    url = behind.url(f"{API}/vfolders/{data.id}/content?path=large")
    assert await behind.curl("-u", await behind.user(), "-r", "5000000-", url) == content[5_000_000:]
    assert await behind.curl("-u", await behind.user(), url) == content


async def test_events_arrive_at_once(behind: Behind) -> None:
    following = await behind.curling("-N", "-u", await behind.user(), behind.url(f"{API}/events?follow=true"))
    assert following.stdout
    assert await asyncio.wait_for(following.stdout.readline(), 60) == b"event: hello\n"
    made = await (await behind.api.as_("user")).start()
    seen = b""
    while made["id"].encode() not in seen:
        line = await asyncio.wait_for(following.stdout.readline(), 60)
        assert line, seen
        seen += line
    following.terminate()
    await following.wait()


async def test_a_terminal_opens(behind_living: Behind) -> None:
    behind = behind_living
    user = await behind.api.as_("user")
    made = await user.start()
    await behind.api.until(user, made["id"], "RUNNING")
    body = json.dumps({"email": "user@example.org", "password": PASSWORD})
    signed = await behind.curl(
        "-i", "-H", "Content-Type: application/json", "-d", body, behind.url(API + "/auth/login")
    )
    [cookie] = [line.split(b" ", 1)[1] for line in signed.splitlines() if line.startswith(b"set-cookie: ")]
    url = behind.url(f"{API}/sessions/{made['id']}/terminal?cols=80&rows=24").replace("https", "wss")
    async with connect(
        url,
        host="127.0.0.1",
        port=behind.port,
        ssl=behind.trust(),
        proxy=None,
        origin=behind.url(),  # type: ignore[arg-type]
        additional_headers={"Cookie": cookie.split(b";")[0].decode()},
    ) as terminal:
        assert await asyncio.wait_for(terminal.recv(), 60)


async def test_an_app_has_a_host_name_of_its_own(behind: Behind) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade"):
            sockets = web.WebSocketResponse()
            await sockets.prepare(request)
            async for message in sockets:
                await sockets.send_str(message.data)
            return sockets
        return web.Response(text=f"{request.headers['X-Forwarded-Proto']} {len(await request.read())}")

    gate = behind.gate
    session = await gate.session(await gate.app(answer))
    host = f"web-{session}.{own_proxy.APPS}"
    opened = (
        await behind.curl("-i", behind.url(f"/lab?carrel_ticket={await gate.ticket(session)}", host))
    ).decode()
    assert opened.startswith("HTTP/2 302"), opened
    assert f"location: {behind.url('/lab', host)}\r\n" in opened, opened
    [cookie] = [line[12:].split(";")[0] for line in opened.splitlines() if line.startswith("set-cookie: ")]
    sent = await behind.curl(
        "-H",
        f"Cookie: {cookie}",
        "-H",
        f"Origin: {behind.url('', host)}",
        "-d",
        "x" * 100,
        behind.url("/", host),
    )
    assert sent == b"https 100", sent.decode()
    async with connect(
        behind.url("/", host).replace("https", "wss"),
        host="127.0.0.1",
        port=behind.port,
        ssl=behind.trust(),
        proxy=None,
        origin=behind.url("", host),
        additional_headers={"Cookie": cookie},  # type: ignore[arg-type]
    ) as socket:
        await socket.send("through both")
        assert await asyncio.wait_for(socket.recv(), 60) == "through both"
