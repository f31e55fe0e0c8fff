"""Apps of sessions besides their images': from the catalogue, several of a kind, and opened ports."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from access_kit import World, listening, world
from aiohttp import web
from gateway_kit import Gate, gate_at_work
from installation import only
from people import eventually
from ports import free_port

from carrel.apps import app_processes, opening
from carrel.server import compose

__all__ = ["world"]

BOARD = """
import http.server, sys
print("board with", sys.argv[2:], flush=True)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(sys.argv[2].encode())
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def board(port: int, **changed: Any) -> dict[str, Any]:
    return {
        "name": "board",
        "title": "Board",
        "port": port,
        "ready": "/",
        "command": [sys.executable, "-c", BOARD, "{port}", "{dir}"],
        "options": [{"name": "dir", "title": "Folder", "default": "/data"}],
        **changed,
    }


class Apps:
    """The apps of one session, by the API."""

    def __init__(self, http: Any, session: str) -> None:
        self.http, self.path = http, f"/api/v1/sessions/{session}/apps"

    async def ask(self, method: str, path: str = "", body: Any = None) -> tuple[int, Any]:
        async with self.http.request(method, self.path + path, json=body) as answer:
            return answer.status, None if answer.status == 204 else await answer.json()

    async def ok(self, method: str, path: str = "", body: Any = None) -> Any:
        status, answer = await self.ask(method, path, body)
        assert status < 300, answer
        return answer

    async def named(self, name: str) -> dict[str, Any]:
        items = (await self.ok("GET"))["items"]
        return next(one for one in items if one["name"] == name)


@pytest.fixture
async def apps(world: World) -> AsyncIterator[Apps]:
    """Of a session of the user, whose own catalogue has a board; everything that is started is stopped."""
    session = await world.session()
    async with world.http() as http:
        async with http.post("/api/v1/app-templates", json=board(free_port())) as answer:
            assert answer.status == 201, await answer.text()
        apps = Apps(http, session)
        yield apps
        for one in (await apps.ok("GET"))["items"]:
            if one["removable"]:
                await apps.ask("POST", f"/{one['name']}/stop")


async def test_several_of_a_kind_have_ports_options_and_logs_of_their_own(apps: Apps) -> None:
    first = await apps.ok("POST", "/board/start")
    assert (first["state"], first["source"], first["chosen"]) == ("ready", "catalogue", {})
    nasty = "$(touch injected); '\"` {secret}"
    second = await apps.ok("POST", body={"template": "board", "options": {"dir": nasty}})
    assert (second["name"], second["title"], second["state"]) == ("board-2", "Board 2", "stopped")
    assert second["port"] != first["port"]
    await apps.ok("POST", "/board-2/start")
    logs = [(await apps.ok("GET", f"/{name}/logs"))["text"] for name in ("board", "board-2")]
    assert logs == ["board with ['/data']\n", f"board with {[nasty]!r}\n"]
    stopped = await apps.ok("POST", "/board-2/stop")
    assert (stopped["state"], (await apps.named("board"))["state"]) == ("stopped", "ready")
    assert await apps.ask("DELETE", "/board-2") == (204, None)
    assert [one["name"] for one in (await apps.ok("GET"))["items"] if one["removable"]] == ["board"]


async def test_options_apply_to_the_next_start(apps: Apps) -> None:
    await apps.ok("POST", "/board/start", {"options": {"dir": "/a"}})
    status, refused = await apps.ask("POST", "/board/start", {"options": {"dir": "/b"}})
    assert (status, refused["code"]) == (409, "app.running")
    await apps.ok("POST", "/board/stop")
    again = await apps.ok("POST", "/board/open", {"options": {"dir": "/b"}})
    assert "carrel_ticket" in again["url"]
    assert (await apps.named("board"))["chosen"] == {"dir": "/b"}
    status, refused = await apps.ask("POST", "/board/start", {"options": {"nothing": "x"}})
    assert (status, refused["code"]) in {(409, "app.running"), (422, "app.unknown_option")}


async def test_state_is_what_the_container_shows_after_the_api_was_replaced(world: World, apps: Apps) -> None:
    await apps.ok("POST", "/board/start")
    again = compose.api(world.settings, world.database, only(world.database, world.engine))
    async with again as app, listening(app) as url, world.http() as http:
        other = Apps(http, "")
        other.path = f"{url}{apps.path}"
        assert (await other.named("board"))["state"] == "ready"
        assert (await other.ok("POST", "/board/stop"))["state"] == "stopped"
    assert (await apps.named("board"))["state"] == "stopped"


async def test_an_app_that_fails_is_shown_with_its_exit_code_and_its_log(
    apps: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_AFTERLIFE_S", 0.2)
    broken = {"command": ["sh", "-c", "echo no module named board >&2; exit 3"]}
    async with apps.http.patch("/api/v1/app-templates/board", json=broken) as answer:
        assert answer.status == 200
    status, problem = await apps.ask("POST", "/board/start")
    assert (status, problem["code"]) == (503, "app.not_ready")

    async def failed() -> bool:
        shown = await apps.named("board")
        return (shown["state"], shown["exit_code"]) == ("failed", 3)

    await eventually(failed)
    assert (await apps.ok("GET", "/board/logs"))["text"] == "no module named board\n"
    # What was repaired in the catalogue is used by the next start.
    async with apps.http.patch("/api/v1/app-templates/board", json={"command": board(1)["command"]}):
        pass
    assert (await apps.ok("POST", "/board/start"))["state"] == "ready"


async def test_a_shell_that_prints_without_end_is_left(apps: Apps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_processes, "_LOG", "while :; do echo endless; done")
    monkeypatch.setattr(app_processes, "MAX_LOG_BYTES", 1 << 12)
    status, problem = await apps.ask("GET", "/board/logs")
    assert status >= 400, problem
    assert "prints without end" in problem["detail"]


async def test_an_app_whose_program_is_missing_is_marked_until_it_is_there(
    world: World, apps: Apps, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = {"requires": "board-program", "hint": "pip install board"}
    async with apps.http.patch("/api/v1/app-templates/board", json=changed):
        pass
    shown = await apps.named("board")
    assert (shown["state"], shown["hint"]) == ("missing", "pip install board")
    monkeypatch.setattr("carrel.apps.installed_programs.LOOK_AGAIN_S", 0.0)
    program = world.engine.home / ".local" / "bin" / "board-program"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert (await apps.named("board"))["state"] == "stopped"


async def test_a_process_that_ended_or_hangs_is_told_apart(world: World, apps: Apps) -> None:
    hanging = {"command": ["sh", "-c", "exec sleep 600"], "ready": ""}
    async with apps.http.patch("/api/v1/app-templates/board", json=hanging):
        pass
    starting = asyncio.create_task(apps.ask("POST", "/board/start"))
    pid = world.engine.home / ".carrel" / "apps" / "board" / "pid"
    await eventually(pid.exists)
    assert (await apps.named("board"))["state"] == "starting"
    number, _, start = (await eventually(pid.read_text)).split()
    pid.write_text(f"{number} 1 {start}\n")
    assert (await apps.named("board"))["state"] == "unreachable", "it has had long enough to start"
    os.kill(int(number), signal.SIGKILL)

    async def ended() -> bool:
        shown = await apps.named("board")
        return (shown["state"], shown["exit_code"]) == ("failed", 137)

    await eventually(ended)
    starting.cancel()


IN_A_GROUP_OF_ITS_OWN = """
import subprocess, sys
subprocess.Popen([sys.executable, *sys.argv[1:]], process_group=0).wait()
"""


async def test_processes_in_a_group_of_their_own_end_with_the_app(apps: Apps) -> None:
    command = [sys.executable, "-c", IN_A_GROUP_OF_ITS_OWN, "-c", BOARD, "{port}", "{dir}"]
    async with apps.http.patch("/api/v1/app-templates/board", json={"command": command}) as answer:
        assert answer.status == 200
    await apps.ok("POST", "/board/start")
    assert (await apps.ok("POST", "/board/stop"))["state"] == "stopped"


async def test_what_a_session_writes_there_is_not_believed(world: World, apps: Apps) -> None:
    folder = world.engine.home / ".carrel" / "apps" / "evil\nboard 1 alive"
    folder.mkdir(parents=True)
    (folder / "pid").write_text("1 1 -\n")
    assert (await apps.named("board"))["state"] == "stopped"


async def test_an_opened_port_is_reached_through_the_gateway_until_it_is_closed(
    world: World, apps: Apps
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=f"path {request.path}")

    async with gate_at_work(world.database, world.people, "http://localhost:1") as gate:
        port = await gate.app(answer)
        opened = await apps.ok("POST", body={"port": port, "name": "api", "path": "/docs/"})
        assert (opened["state"], opened["source"], opened["title"]) == ("ready", "port", "api")
        url = (await apps.ok("POST", "/api/open"))["url"]
        session = url.split("//api-")[1].split(".")[0]
        assert f"{session}.localhost:8701/docs/?carrel_ticket=" in url
        cookie = await gate.cookie(session, "api")
        assert (await got(gate, session, cookie)) == (200, b"path /docs/")
        taken = await apps.ask("POST", body={"port": port, "name": "api"})
        assert (taken[0], taken[1]["code"]) == (409, "app.name_taken")
        stopping = await apps.ask("POST", "/api/stop")
        assert (stopping[0], stopping[1]["code"]) == (409, "app.no_command")
        await apps.ask("DELETE", "/api")

        async def closed() -> bool:
            return (await got(gate, session, cookie))[0] == 401

        await eventually(closed)


async def got(gate: Gate, session: Any, cookie: str) -> tuple[int, bytes]:
    url = f"http://127.0.0.1:{gate.port}/docs/"
    headers = {"Host": gate.host(session, "api"), "Cookie": cookie}
    async with gate.client(session) as client, client.get(url, headers=headers) as answer:
        return answer.status, await answer.read()


async def test_a_tcp_app_is_not_for_browsers(world: World, apps: Apps) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        opened = await apps.ok("POST", body={"port": port, "protocol": "tcp"})
        assert (opened["name"], opened["protocol"], opened["state"]) == (f"port-{port}", "tcp", "ready")
        status, refused = await apps.ask("POST", f"/port-{port}/open")
        assert (status, refused["code"]) == (409, "app.not_http")


async def test_others_see_and_change_nothing(world: World, apps: Apps) -> None:
    session = apps.path.split("/")[4]
    async with world.http(world.people.stranger) as http:
        theirs = Apps(http, session)
        for method, path, body in (
            ("GET", "", None),
            ("POST", "", {"port": 8000}),
            ("POST", "/board/start", None),
            ("POST", "/board/stop", None),
            ("GET", "/board/logs", None),
            ("DELETE", "/board", None),
        ):
            status, refused = await theirs.ask(method, path, body)
            assert (status, refused["code"]) == (404, "session.not_found"), path


async def test_removing_what_the_image_or_the_catalogue_has_is_refused(apps: Apps) -> None:
    status, refused = await apps.ask("DELETE", "/board")
    assert (status, refused["code"]) == (409, "app.not_removable")
    status, refused = await apps.ask("DELETE", "/nothing")
    assert (status, refused["code"]) == (404, "app.not_found")
    status, refused = await apps.ask("POST", body={"template": "nothing"})
    assert (status, refused["code"]) == (404, "app.not_found")
