"""The client of the daemon: requests, streams, and the distinction between errors and outages.

An error response raises `aiodocker.DockerError` with its HTTP status, which callers translate; a daemon that is
unreachable, hangs or drops the connection raises `EngineUnavailable`.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import IO, Any

import aiodocker
import aiohttp
from prometheus_client import Counter, Histogram

from carrel.engines.docker.pipe import Pipe, open_pipe
from carrel.engines.port import EngineError, EngineUnavailable

CONNECT_S = 5.0
ANSWER_S = 60.0
START_S = 180.0
"""Starts are the slowest calls: a daemon queues bursts of them."""
_NO_ANSWER = (900, 503)
_VERBS = frozenset(
    "archive changes connect create disconnect exec export json kill logs pause prune resize restart start stats stop "
    "tag top unpause update wait".split()
)
"""Last path segments that are neither an id nor a name."""

Params = Mapping[str, str]

_SECONDS = Histogram(
    "carrel_engine_request_duration_seconds",
    "Duration of requests to the container engine, without streams.",
    ("operation",),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
_ERRORS = Counter(
    "carrel_engine_errors_total",
    "Requests to the container engine that failed: unavailable when it gave no answer, server_error when it said so.",
    ("operation", "cause"),
)


class DockerApi:
    """Connections to one daemon; opened on first use, so the object can be created outside of an event loop."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._docker: aiodocker.Docker | None = None

    @property
    def is_local(self) -> bool:
        return self.url.startswith("unix://")

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: object = None,
        timeout_s: float = ANSWER_S,
    ) -> Any:
        """The decoded response (None if empty).

        Raises: DockerError, EngineUnavailable.
        """
        operation = _operation(method, path)
        with self._answering(operation), _SECONDS.labels(operation).time():
            return await self._client()._query_json(
                path,
                method,
                params=dict(params or {}),
                data=None if body is None else json.dumps(body),
                timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_S),
            )

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: bytes | IO[bytes] | AsyncIterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """The response body as a stream.

        Raises: DockerError, EngineUnavailable; the latter also within the `async with` block.
        """
        with self._answering(_operation(method, path)):
            response = await self._client()._do_query(
                path,
                method,
                params=dict(params or {}),
                data=body,
                headers={"Content-Type": "application/x-tar"} if body is not None else headers,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
            )
            try:
                yield response.content
            finally:
                response.close()

    @asynccontextmanager
    async def hijack(self, path: str, body: object = None, *, terminal: bool) -> AsyncIterator[Pipe]:
        """Post a request and take over its connection. Raises: DockerError, EngineUnavailable."""
        pipe = await open_pipe(self.url, self._client().api_version, path, body, terminal=terminal)
        try:
            yield pipe
        finally:
            pipe.close()

    async def close(self) -> None:
        """Close all connections. Twice: no-op."""
        docker, self._docker = self._docker, None
        if docker is not None:
            await docker.close()

    def _client(self) -> aiodocker.Docker:
        if self._docker is None:
            self._docker = aiodocker.Docker(url=self.url)
            # Terminals and followed logs hold one connection each, so the pool must be unbounded (default 100); a
            # custom connector would lose aiodocker's support for TLS and ssh.
            self._docker.connector._limit = 0
        return self._docker

    @contextmanager
    def _answering(self, operation: str) -> Iterator[None]:
        try:
            with _counting(operation):
                yield
        except aiodocker.DockerError as error:
            if error.status not in _NO_ANSWER:
                raise
            raise EngineUnavailable(f"The container engine at {self.url} does not respond.") from error
        except TimeoutError as error:
            raise EngineUnavailable(
                f"The container engine at {self.url} took too long to respond."
            ) from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise EngineUnavailable(
                f"The container engine at {self.url} closed the connection early."
            ) from error


def _operation(method: str, path: str) -> str:
    """The request without ids and names, such as "POST containers/start"."""
    kind, *rest = path.split("/")
    return f"{method} {kind}/{rest[-1]}" if rest and rest[-1] in _VERBS else f"{method} {kind}"


@contextmanager
def _counting(operation: str) -> Iterator[None]:
    try:
        yield
    except aiodocker.DockerError as error:
        if error.status in _NO_ANSWER:
            _ERRORS.labels(operation, "unavailable").inc()
        elif error.status >= 500:
            _ERRORS.labels(operation, "server_error").inc()
        raise
    except (TimeoutError, aiohttp.ClientError, ConnectionError):
        _ERRORS.labels(operation, "unavailable").inc()
        raise


def filters(**chosen: list[str]) -> Params:
    """Query parameters for the daemon's `filters`."""
    return {"filters": json.dumps(chosen)}


@contextmanager
def sentences() -> Iterator[None]:
    """Translate unexpected error responses to an `EngineError` with the daemon's message."""
    try:
        yield
    except aiodocker.DockerError as error:
        if full := disk_full(error.message):
            raise full from error
        message = f"The container engine refused: {error.message.rstrip('.')}."
        raise EngineError(message, retriable=error.status >= 500) from error


def disk_full(text: str) -> EngineError | None:
    """The error for a full disk; None for other errors."""
    if "no space left on device" not in text:
        return None
    return EngineError(
        "The container engine's disk is full. Sessions that use much of it must end, "
        "or an administrator must free space.",
        retriable=True,
        code="disk_full",
    )
