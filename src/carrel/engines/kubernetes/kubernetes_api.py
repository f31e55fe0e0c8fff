"""The client of the API server: requests, streams, and the distinction between errors and outages.

An error response raises `ApiError` with its status, which callers translate; a server that is unreachable, hangs, drops
the connection or refuses our credentials raises `EngineUnavailable`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import aiohttp

from carrel.engines.kubernetes.cluster_access import ApiSession, ClusterAccess, open_session
from carrel.engines.port import EngineError, EngineUnavailable

_CONNECT_S = 5.0
_ANSWER_S = 30.0
_SILENT_S = 90.0
"""A stream without any byte for so long is dead: the server sends a bookmark every minute."""
_PAGE = 500
_BUSY = 429
_ATTEMPTS = 5
_LONGEST_WAIT_S = 10.0
_PATCH = "application/json-patch+json"
_PROTOCOL = "v5.channel.k8s.io"

Params = Mapping[str, str] | Sequence[tuple[str, str]]


class ApiError(Exception):
    """An error response. reason: machine-readable, such as "AlreadyExists"."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message.rstrip(".")


class KubernetesApi:
    """Connections to one API server; opened on first use, so the object can be created outside of an event loop."""

    def __init__(self, access: ClusterAccess) -> None:
        self._access = access
        self._session: ApiSession | None = None
        self._opening = asyncio.Lock()

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Params = (),
        body: object = None,
        timeout_s: float = _ANSWER_S,
    ) -> Any:
        """The decoded response. A busy server is asked again when it says. Raises: ApiError, EngineUnavailable."""
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=_CONNECT_S)
        with self._answering():
            for attempt in range(_ATTEMPTS):
                async with self._request(method, path, params, body, timeout) as response:
                    if response.status != _BUSY or attempt == _ATTEMPTS - 1:
                        await _require_success(response)
                        return await response.json()
                    wait_s = float(response.headers.get("Retry-After") or 1)
                await asyncio.sleep(min(wait_s, _LONGEST_WAIT_S))
        raise AssertionError("unreachable")

    async def items(self, path: str, params: Mapping[str, str]) -> tuple[list[Any], str]:
        """All objects of a list, read in pages at one resource version, and that version.

        Raises: ApiError, EngineUnavailable.
        """
        items: list[Any] = []
        page = {**params, "limit": str(_PAGE)}
        while True:
            answer = await self.call("GET", path, params=page)
            items += answer["items"]
            if not (following := answer["metadata"].get("continue")):
                return items, answer["metadata"]["resourceVersion"]
            page["continue"] = following

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Params, silent_s: float | None = _SILENT_S
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """The response body as a stream. silent_s: without any byte for so long, it ends as unavailable.

        Raises: ApiError, EngineUnavailable; the latter also within the `async with` block.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=silent_s)
        with self._answering():
            async with self._request("GET", path, params, None, timeout) as response:
                await _require_success(response)
                yield response.content

    async def changes(self, path: str, params: Mapping[str, str], version: str) -> AsyncIterator[Any]:
        """Watch events from a resource version on, with bookmarks. Ends when the server ends it.

        Raises: ApiError (410: the version is too old), EngineUnavailable.
        """
        watching = {**params, "watch": "true", "allowWatchBookmarks": "true", "resourceVersion": version}
        async with self.stream(path, params=watching) as lines:
            async for line in lines:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    failed = event["object"]
                    raise ApiError(
                        failed.get("code", 500), failed.get("reason", ""), failed.get("message", "")
                    )
                yield event

    @asynccontextmanager
    async def socket(
        self, path: str, params: Sequence[tuple[str, str]]
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A connection of channels. Raises: ApiError, EngineUnavailable; the latter also within the block."""
        with self._answering():
            session = await self._open()
            try:
                connection = await session.client.ws_connect(
                    f"{session.url}/{path}",
                    params=params,
                    headers=await session.headers(),
                    protocols=(_PROTOCOL,),
                    max_msg_size=0,
                    heartbeat=30.0,
                )
            except aiohttp.WSServerHandshakeError as error:
                raise ApiError(error.status, "", error.message) from error
            try:
                yield connection
            finally:
                await connection.close()

    async def close(self) -> None:
        """Close all connections. Twice: no-op."""
        session, self._session = self._session, None
        if session is not None:
            await session.client.close()

    async def patch(self, path: str, *operations: Mapping[str, object]) -> Any:
        """Apply a JSON patch. Raises: ApiError, EngineUnavailable."""
        return await self.call("PATCH", path, body=list(operations))

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, params: Params, body: object, timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        session = await self._open()
        headers = {**await session.headers(), "Accept": "application/json"}
        headers["Content-Type"] = _PATCH if method == "PATCH" else "application/json"
        async with session.client.request(
            method,
            f"{session.url}/{path}",
            params=params,
            data=None if body is None else json.dumps(body),
            headers=headers,
            timeout=timeout,
        ) as response:
            yield response

    async def _open(self) -> ApiSession:
        async with self._opening:
            if self._session is None:
                self._session = await open_session(self._access)
            return self._session

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except ApiError as error:
            if error.status == 401:
                raise EngineUnavailable("The cluster does not accept Carrel's credentials.") from error
            if error.status in (502, 503, 504):
                raise EngineUnavailable("The API server of the cluster does not respond.") from error
            raise
        except TimeoutError as error:
            raise EngineUnavailable("The API server of the cluster took too long to respond.") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise EngineUnavailable("The API server of the cluster does not respond.") from error


@contextmanager
def sentences() -> Iterator[None]:
    """Translate unexpected error responses to an `EngineError` with the server's message."""
    try:
        yield
    except ApiError as error:
        raise EngineError(
            f"The cluster refused: {error.message}.", retriable=error.status >= 500 or error.status == _BUSY
        ) from error


async def _require_success(response: aiohttp.ClientResponse) -> None:
    if response.status < 400:
        return
    text = await response.text(errors="replace")
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {}
    raise ApiError(response.status, answer.get("reason", ""), answer.get("message", text[:500]))
