"""The ASGI application at /dav: authenticates, sends files itself, and runs WsgiDAV in a thread for everything else."""

import asyncio
import base64
import binascii
from collections import Counter
from concurrent.futures import Future
from io import BytesIO
from threading import Thread
from types import SimpleNamespace
from typing import Any

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send
from wsgidav.error_printer import ErrorPrinter
from wsgidav.request_resolver import RequestResolver
from wsgidav.wsgidav_app import WsgiDAVApp

from carrel.core.errors import Unauthorized, Unavailable
from carrel.folders.files import authorization, downloads
from carrel.folders.files.services import FileServices
from carrel.folders.files.transfer_routes import file_request, file_response
from carrel.folders.webdav.locks import Locks
from carrel.folders.webdav.mount import MOUNT
from carrel.folders.webdav.properties import Properties
from carrel.folders.webdav.resources import CALL, FolderProvider
from carrel.folders.webdav.work import Call
from carrel.http.auth import current_actor, names
from carrel.http.body import Body
from carrel.http.rate_limits import TooManyRequests
from carrel.http.services import services_of
from carrel.permissions.decide import Actor
from carrel.signin.keypairs.tokens import PREFIX

_ROUTE = SimpleNamespace(openapi_extra=names("vfolder.use"))
"""The action of a request, as in the routes of the API."""
_THREADS = 128
_PER_PERSON = 8
"""Concurrent requests: an upload occupies its thread until it is complete."""
_FORBIDDEN = 403
_FOREVER_DEEP = b'<?xml version="1.0" encoding="utf-8"?><error xmlns="DAV:"><propfind-finite-depth/></error>'
_CONFIG = {
    "mount_path": MOUNT,
    "middleware_stack": [ErrorPrinter, RequestResolver],
    "hotfixes": {"emulate_win32_lastmod": True},
    "suppress_version_info": True,
    "logging": {"enable": False},
    "verbose": 0,
}


class WebDav:
    """Handles requests below /dav."""

    def __init__(self) -> None:
        kept = {"lock_storage": Locks(), "property_manager": Properties()}
        self._library = WsgiDAVApp(_CONFIG | {"provider_mapping": {"/": FolderProvider()}} | kept)
        self._busy: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        folder, _, path = scope["path"].removeprefix(MOUNT).strip("/").partition("/")
        scope["route"], scope["path_params"] = _ROUTE, {"ref": folder}
        request = Request(_with_token(scope), receive)
        try:
            actor, services = await _actor(request), services_of(request, FileServices)
            if request.method in ("GET", "HEAD") and folder:
                opened = await authorization.outward(services, actor, folder)
                outcome = await downloads.sent(services, opened, path, file_request(request))
                answer = file_response(request, outcome)
            else:
                answer = await self._answer(request, services, actor)
        except Unauthorized as error:
            challenge = {"WWW-Authenticate": 'Basic realm="Carrel", charset="UTF-8"'}
            answer = Response(f"{error.message}\n", 401, challenge, "text/plain")
        await answer(scope, receive, send)

    async def _answer(self, request: Request, services: FileServices, actor: Actor) -> Response:
        depth = request.headers.get("depth", "infinity").lower()
        if request.method == "PROPFIND" and depth == "infinity":
            return Response(_FOREVER_DEEP, 403, media_type="application/xml")
        body = b"" if request.method == "PUT" else await request.body()
        call = Call(asyncio.get_running_loop(), services, Body(request), actor)
        answer = await self._in_thread(call, _environ(request, body, call))
        if call.refused and answer.status_code == _FORBIDDEN:  # for the recording of refused requests
            request.scope["state"]["error"] = call.refused[-1]
        return answer

    async def _in_thread(self, call: Call, environ: dict[str, Any]) -> Response:
        """WsgiDAV's response. Raises: TooManyRequests, Unavailable."""
        who = call.actor.user_id
        if self._busy[who] >= _PER_PERSON:
            raise TooManyRequests(
                "webdav.busy",
                f"You have reached your limit of {_PER_PERSON} requests at a time.",
                hint="Transfer fewer files at a time.",
                details={"retry_after_s": 1},
            )
        if self._busy.total() >= _THREADS:
            raise Unavailable(
                "webdav.busy", "Too many WebDAV requests are in progress.", hint="Try again in a minute."
            )
        self._busy[who] += 1
        future: Future[Response] = Future()
        # A daemon thread: the process can exit while an upload is pending.
        Thread(target=self._run, args=(future, environ), daemon=True, name="webdav").start()
        try:
            return await asyncio.wrap_future(future)
        finally:
            self._busy[who] -= 1
            if not self._busy[who]:
                del self._busy[who]

    def _run(self, future: Future[Response], environ: dict[str, Any]) -> None:
        try:
            answer = self._respond(environ)
        except BaseException as error:
            if not future.cancelled():
                future.set_exception(error)
        else:
            if not future.cancelled():
                future.set_result(answer)

    def _respond(self, environ: dict[str, Any]) -> Response:
        begun: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(status: str, headers: list[tuple[str, str]], *_: object) -> None:
            begun.append((status, headers))

        body = b"".join(self._library(environ, start_response))
        status, headers = begun[-1]
        answer = Response(body, int(status[:3]))
        kept = [(name.lower(), value) for name, value in headers if name.lower() not in _OURS]
        answer.raw_headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in kept]
        return answer


_OURS = frozenset({"content-length", "date", "server", "connection"})


async def _actor(request: Request) -> Actor:
    """The actor, by keypair or token. Cookies are not accepted: other sites' pages could use them."""
    if "authorization" not in request.headers:
        raise Unauthorized("auth.required", "Sign in with a keypair, or with a token as the password.")
    return await current_actor(request)


def _with_token(scope: Scope) -> Scope:
    """The request with a password that is a token converted to a bearer header."""
    headers = [
        (name, _bearer(value) if name == b"authorization" else value) for name, value in scope["headers"]
    ]
    return {**scope, "headers": headers}


def _bearer(value: bytes) -> bytes:
    scheme, _, encoded = value.partition(b" ")
    if scheme.lower() != b"basic":
        return value
    try:
        _, _, password = base64.b64decode(encoded, validate=True).partition(b":")
    except binascii.Error:
        return value
    return b"Bearer " + password if password.startswith(PREFIX.encode()) else value


def _environ(request: Request, body: bytes, call: Call) -> dict[str, Any]:
    """The request as a WSGI environ (PEP 3333). The body of a PUT is not included: see `resources.File`."""
    path = request.scope["path"].removeprefix(MOUNT)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path.encode("utf-8", "surrogateescape").decode("latin-1") or "/",
        "QUERY_STRING": "",
        "SERVER_NAME": request.url.hostname or "",
        "SERVER_PORT": str(request.url.port or ""),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": request.url.scheme,
        "wsgi.input": BytesIO(body),
        "wsgidav.auth.user_name": call.actor.user_id,
        CALL: call,
    }
    for name, value in request.headers.items():
        if name not in ("content-type", "content-length"):
            environ["HTTP_" + name.upper().replace("-", "_")] = value
    return environ
