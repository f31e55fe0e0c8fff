"""JSON answers of the API as gzip, for clients that take it. Plain ASGI, since it is hot.

Starlette's middleware compresses whatever comes, downloads and streams too, at eight times the cost, and does not know
files that the kernel sends. Here are only whole answers: what begins to stream, has a coding or an ETag of its own, or
is no JSON passes untouched. Static files were compressed when the page was built.

An answer's length must not tell what is in it (BREACH): somebody who reads along on the line, and whose page makes a
browser ask for what it likes, could guess a secret letter by letter beside their own words. So these stay as they
are: answers of /auth/, which hold CSRF tokens; answers to anything but GET, where new keys and tokens are shown; and
whatever another site's page has the browser ask.
"""

import asyncio
import re
import zlib

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_BYTES = 1024
_LEVEL = 1
"""The fastest: on lists of ours the others save a twentieth more, for two to eight times the work."""
_LARGE_BYTES = 256 << 10
"""From here on in a thread: it would hold all other requests up for a millisecond."""
_PREFIX, _WITH_SECRETS = "/api/", "/api/v1/auth/"
_OWN_SITE = frozenset({b"same-origin", b"none"})
_VARY = (b"vary", b"Accept-Encoding")


def takes(accepted: str, coding: str) -> bool:
    """Whether an Accept-Encoding header names the coding, and not to refuse it."""
    for part in accepted.lower().split(","):
        name, _, parameter = part.partition(";")
        if name.strip() == coding:
            return not re.fullmatch(r"q=0(\.0*)?", parameter.strip())
    return False


class Compressed:
    """Wraps the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _may_be_guessed(scope):
            await self._app(scope, receive, send)
        else:
            wanted = takes(_header(scope["headers"], b"accept-encoding").decode("latin-1"), "gzip")
            await self._app(scope, receive, _Answer(send, wanted=wanted).send)


class _Answer:
    """start: the beginning of an answer that may be compressed, kept until its body is there."""

    def __init__(self, send: Send, *, wanted: bool) -> None:
        self._send = send
        self._wanted = wanted
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_whole_json(message):
            message["headers"] = [*message["headers"], _VARY]
            if self._wanted:
                self._start = message
                return
        elif (start := self._start) is not None:
            self._start = None
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                message["body"] = body = await _gzip(message["body"])
                start["headers"] = [
                    *(each for each in start["headers"] if each[0] != b"content-length"),
                    (b"content-encoding", b"gzip"),
                    (b"content-length", b"%d" % len(body)),
                ]
            await self._send(start)
        await self._send(message)


def _may_be_guessed(scope: Scope) -> bool:
    """Whether the answer may hold a secret, or its length is of use to somebody who chose the question."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return True
    path = scope["path"]
    if not path.startswith(_PREFIX) or path.startswith(_WITH_SECRETS):
        return True
    site = _header(scope["headers"], b"sec-fetch-site")
    return bool(site) and site not in _OWN_SITE


def _is_whole_json(start: Message) -> bool:
    kind = length = b""
    for name, value in start["headers"]:
        if name == b"content-type":
            kind = value
        elif name == b"content-length":
            length = value
        elif name in (b"content-encoding", b"etag", b"content-range"):
            return False
    is_json = kind.startswith((b"application/json", b"application/problem+json"))
    return is_json and length.isdigit() and int(length) >= LEAST_BYTES


async def _gzip(body: bytes) -> bytes:
    if len(body) >= _LARGE_BYTES:
        return await asyncio.to_thread(_zipped, body)
    return _zipped(body)


def _zipped(body: bytes) -> bytes:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


def _header(headers: list[tuple[bytes, bytes]], wanted: bytes) -> bytes:
    return next((value for name, value in headers if name == wanted), b"")
