"""An API server of Kubernetes in one process, with as much of it as tests of its clients need.

async with TinyApiServer() as server:
    server.objects["api/v1/nodes/a"] = {...}        what GET answers; lists are made of it
    server.on_exec = shell                          what a command does: gets the socket
    KubernetesEngine(server.access(), ...)

Objects are created, deleted and patched as in the real one, without their life: nothing starts pods.
"""

import asyncio
import json
import re
import ssl
import uuid
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from aiohttp import web

from carrel.engines.kubernetes.credentials import ClusterAccess

Exec = Callable[[web.Request, web.WebSocketResponse], Awaitable[None]]
_PROTOCOL = "v5.channel.k8s.io"


class TinyApiServer:
    """On a free port of 127.0.0.1. Accepts every credential. It is a proxy too: of servers with its own objects."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.objects: dict[str, Any] = {"api": {}}
        """By path."""
        self.refuse: Callable[[web.Request], web.StreamResponse | None] = lambda request: None
        """Answers in its place unless it returns None."""
        self.on_exec: Exec = _succeeds
        self.seen: list[str] = []
        """Methods and addresses of the requests, in order."""

    def access(self) -> ClusterAccess:
        return ClusterAccess(url=self.url, token="t")

    def paths(self, kind: str) -> list[str]:
        """Of the objects of a kind, plural."""
        return [path for path in self.objects if path.split("/")[-2:-1] == [kind]]

    async def __aenter__(self) -> "TinyApiServer":
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"{'https' if self._tls else 'http'}://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        self.seen.append(f"{request.method} {request.path_qs}")
        if refused := self.refuse(request):
            return refused
        if path.endswith("/exec"):
            socket = web.WebSocketResponse(protocols=(_PROTOCOL,), max_msg_size=0)
            await socket.prepare(request)
            await self.on_exec(request, socket)
            return socket
        body = json.loads(await request.read() or b"null")
        match request.method:
            case "POST":
                return self._create(f"{path}/{body['metadata']['name']}", body)
            case "PATCH":
                return self._patch(path, body)
            case "DELETE":
                return web.json_response(gone) if (gone := self.objects.pop(path, None)) else status(404)
        if path in self.objects:
            return web.json_response(self.objects[path])
        if path.split("/")[-1].endswith("s"):
            labels = dict(re.findall(r"([\w./-]+)=([\w.-]+)", request.query.get("labelSelector", "")))
            items = [
                one
                for at, one in self.objects.items()
                if at.rpartition("/")[0] == path
                and labels.items() <= one["metadata"].get("labels", {}).items()
            ]
            return web.json_response({"items": items, "metadata": {"resourceVersion": "1"}})
        return status(404)

    def _create(self, path: str, body: Any) -> web.Response:
        inside = re.search(r"/namespaces/([^/]+)/", path)
        if inside and f"api/v1/namespaces/{inside[1]}" not in self.objects:
            return status(404)
        if path in self.objects:
            return status(409, "AlreadyExists")
        body["metadata"] |= {"uid": str(uuid.uuid4()), "resourceVersion": "1"}
        self.objects[path] = {"status": {}, **body}
        return web.json_response(self.objects[path], status=201)

    def _patch(self, path: str, body: Any) -> web.Response:
        if not isinstance(body, dict):
            return web.json_response(self.objects[path])
        if path not in self.objects:
            return self._create(path, body)
        self.objects[path]["metadata"] |= body["metadata"]
        return web.json_response(self.objects[path])


def status(code: int, reason: str = "", message: str = "no") -> web.Response:
    """A refusal."""
    body = {"kind": "Status", "status": "Failure", "reason": reason, "code": code, "message": message}
    return web.json_response(body, status=code)


async def exits(socket: web.WebSocketResponse, code: int = 0) -> None:
    """End the command of a socket."""
    causes = {"details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}} if code else {}
    result = {"status": "Failure" if code else "Success", **causes}
    await socket.send_bytes(b"\x03" + json.dumps(result).encode())
    await socket.close()


async def run_here(request: web.Request, socket: web.WebSocketResponse) -> None:
    """Run the command of a socket on this machine, without a terminal."""
    process = await asyncio.create_subprocess_exec(
        *request.query.getall("command"), stdin=PIPE, stdout=PIPE, stderr=STDOUT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answering = asyncio.create_task(_answer(process, process.stdout, socket))
    with suppress(ConnectionError):
        async for message in socket:
            match message.data[0]:
                case 0:
                    process.stdin.write(message.data[1:])
                case 255:
                    process.stdin.close()
    await answering


async def _answer(process: Process, output: asyncio.StreamReader, socket: web.WebSocketResponse) -> None:
    while content := await output.read(1 << 15):
        await socket.send_bytes(b"\x01" + content)
    await exits(socket, await process.wait())


async def _succeeds(request: web.Request, socket: web.WebSocketResponse) -> None:
    await exits(socket)


def running(container: str, node: str = "a") -> Any:
    """A pod."""
    return {
        "metadata": {
            "name": f"carrel-lab-{container}",
            "uid": container,
            "resourceVersion": "1",
            "labels": {"carrel.installation": "lab", "carrel.id": container, "carrel.epoch": "1"},
        },
        "spec": {"nodeName": node, "containers": [{"name": "session"}]},
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.9",
            "containerStatuses": [
                {"name": "session", "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}}
            ],
        },
    }


def machine(name: str = "a") -> Any:
    """A node that is ready."""
    return {
        "metadata": {"name": name, "labels": {}},
        "spec": {},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.36.3"},
        },
    }
