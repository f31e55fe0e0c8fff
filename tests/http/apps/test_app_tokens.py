"""Programs use an app with a token, over HTTP and WebSockets; no credential of Carrel's reaches the session."""

import asyncio
import base64
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from access_kit import World, world
from aiohttp import web
from databases import sql
from gateway_kit import Gate, gate_at_work
from people import eventually

from carrel.core.ids import SessionId
from carrel.gateway import authorization

__all__ = ["world"]

HOWTO = (Path(__file__).parents[3] / "docs/howto/jupyter-from-python.md").read_text()
[EXAMPLE] = re.findall(r"```python\n(.*?)```", HOWTO, re.DOTALL)


@pytest.fixture
async def gate(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gate]:
    monkeypatch.setattr(authorization, "RECHECK_S", 0.1)
    async with gate_at_work(world.database, world.people, "http://localhost:1") as gate:
        yield gate


class Jupyter:
    """Stands in for Jupyter Server: one kernel, which knows one line of code. `seen`: headers of all requests."""

    def __init__(self) -> None:
        self.seen: list[dict[str, str]] = []
        self.app = web.Application(middlewares=[self._note])
        self.app.router.add_post("/api/kernels", self._kernel)
        self.app.router.add_get("/api/kernels/one/channels", self._channels)
        self.app.router.add_delete("/api/kernels/one", self._gone)
        self.app.router.add_get("/", self._gone)

    @web.middleware
    async def _note(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.seen.append({name.lower(): value for name, value in request.headers.items()})
        return await handler(request)  # type: ignore[no-any-return]

    async def _kernel(self, request: web.Request) -> web.Response:
        return web.json_response({"id": "one", "name": "python3"}, status=201)

    async def _gone(self, request: web.Request) -> web.Response:
        return web.Response(status=204)

    async def _channels(self, request: web.Request) -> web.WebSocketResponse:
        line = web.WebSocketResponse()
        await line.prepare(request)
        answers = {"print(6 * 7)": 42}
        async for message in line:
            question = json.loads(message.data)
            for kind, content in (
                ("stream", {"name": "stdout", "text": f"{answers[question['content']['code']]}\n"}),
                ("status", {"execution_state": "idle"}),
            ):
                reply = {
                    "header": {"msg_type": kind},
                    "parent_header": question["header"],
                    "content": content,
                }
                await line.send_json({**reply, "channel": "iopub"})
        return line


async def jupyter(world: World, gate: Gate) -> tuple[Jupyter, SessionId]:
    """The app at work, and a session that has it as "jupyter"."""
    app = Jupyter()
    runner = web.AppRunner(app.app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    gate.stack.push_async_callback(runner.cleanup)
    port = runner.addresses[0][1]
    described = {"name": "jupyter", "title": "Jupyter", "protocol": "http", "port": port}
    return app, await world.session(name=f"desk-{port}", apps=[described])


async def token(world: World, session: SessionId) -> str:
    async with world.http() as http, http.post(f"/api/v1/sessions/{session}/apps/jupyter/token") as answer:
        made = await answer.json()
    assert answer.status == 200, made
    assert made["url"] == f"http://jupyter-{session}.localhost:8701/"
    return str(made["token"])


@pytest.mark.parametrize("header", ["Authorization", "X-Carrel-Authorization"])
async def test_a_token_opens_the_app_and_does_not_reach_it(world: World, gate: Gate, header: str):
    app, session = await jupyter(world, gate)
    secret = await token(world, session)
    headers = {"Host": gate.host(session, "jupyter"), header: f"Bearer {secret}"}
    if header != "Authorization":
        headers["Authorization"] = "token of-the-app"
    async with aiohttp.ClientSession(f"http://127.0.0.1:{gate.port}", headers=headers) as client:
        async with client.post("/api/kernels") as answer:
            assert answer.status == 201
        async with client.ws_connect("/api/kernels/one/channels") as line:
            await line.send_json({"header": {"msg_id": "1"}, "content": {"code": "print(6 * 7)"}})
            assert (await line.receive_json())["content"]["text"] == "42\n"
    assert secret not in json.dumps(app.seen)
    own = [seen.get("authorization") for seen in app.seen]
    assert own == ([None, None] if header == "Authorization" else ["token of-the-app"] * 2)


async def test_a_token_is_for_one_app_of_one_session(world: World, gate: Gate):
    app, session = await jupyter(world, gate)
    secret = await token(world, session)
    _, other = await jupyter(world, gate)
    elsewhere = {"Authorization": f"Bearer {secret}", "Host": gate.host(other, "jupyter")}
    assert (await gate.get(other, headers=elsewhere)).status == 401
    mistaken = {"Authorization": f"Bearer {secret}x", "Host": gate.host(session, "jupyter")}
    assert (await gate.get(session, headers=mistaken)).status == 401
    assert app.seen == []


async def test_credentials_for_the_api_open_no_app_and_do_not_reach_it(world: World, gate: Gate):
    app, session = await jupyter(world, gate)
    secret = await token(world, session)
    for sent in (world.authorization()["Authorization"], "Bearer carrel_" + "x" * 43):
        headers = {"Host": gate.host(session, "jupyter"), "Authorization": sent}
        assert (await gate.get(session, headers=headers)).status == 401
        opened = {**headers, "X-Carrel-Authorization": f"Bearer {secret}"}
        assert (await gate.get(session, headers=opened)).status == 204
    assert len(app.seen) == 2
    assert all("authorization" not in seen for seen in app.seen)


async def test_only_the_owner_gets_a_token(world: World, gate: Gate):
    _, session = await jupyter(world, gate)
    async with (
        world.http(world.people.colleague) as http,
        http.post(f"/api/v1/sessions/{session}/apps/jupyter/token") as answer,
    ):
        assert answer.status in (403, 404)


async def test_a_token_ends_with_the_keypair_that_made_it(world: World, gate: Gate):
    _, session = await jupyter(world, gate)
    headers = {
        "Host": gate.host(session, "jupyter"),
        "Authorization": f"Bearer {await token(world, session)}",
    }
    async with (
        aiohttp.ClientSession(f"http://127.0.0.1:{gate.port}", headers=headers) as client,
        client.ws_connect("/api/kernels/one/channels") as line,
    ):
        access_key = (
            base64.b64decode(world.authorization()["Authorization"].split()[1]).decode().split(":")[0]
        )
        await sql(
            world.database, "UPDATE keypairs SET active = false WHERE access_key = :key", key=access_key
        )
        ended = await asyncio.wait_for(line.receive(), 30)
        assert ended.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR, aiohttp.WSMsgType.CLOSE)

        async def refused() -> bool:
            async with client.get("/") as answer:
                return answer.status == 401

        await eventually(refused)


async def test_the_example_of_the_documents_runs_code_in_a_kernel(world: World, gate: Gate, tmp_path: Path):
    app, session = await jupyter(world, gate)
    keys = base64.b64decode(world.authorization()["Authorization"].split()[1]).decode().split(":")
    # The gateway of this test listens on a port of its own, and not every machine resolves names below localhost.
    prelude = f"""
import socket
real = socket.getaddrinfo
def getaddrinfo(host, port, *rest, **options):
    if str(host).endswith(".localhost"):
        host, port = "127.0.0.1", {gate.port}
    return real(host, port, *rest, **options)
socket.getaddrinfo = getaddrinfo
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        prelude + EXAMPLE,
        session,
        cwd=tmp_path,
        env={
            **os.environ,
            "CARREL_URL": world.url,
            "CARREL_ACCESS_KEY": keys[0],
            "CARREL_SECRET_KEY": keys[1],
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, output) == (0, b"42\n"), output.decode()
    assert "carrel_app_" not in json.dumps(app.seen)
