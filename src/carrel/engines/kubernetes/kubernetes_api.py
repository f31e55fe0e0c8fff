"""The client of the API server: requests, streams, and the distinction between errors and outages.

An error response raises `ApiError` with its status, which callers translate; a server that is unreachable, hangs, drops
the connection or refuses our credentials raises `EngineUnavailable`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import orjson

from carrel.engines.kubernetes.admission_errors import refusal
from carrel.engines.kubernetes.cluster_access import ApiSession, open_session
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.port import EngineError, EngineUnavailable

_CONNECT_S = 5.0
_ANSWER_S = 30.0
_SILENT_S = 90.0
"""A stream without any byte for so long is dead: the server sends a bookmark every minute."""
_PAGE = 500
_UNAUTHORIZED = 401
_BUSY = 429
GONE = 410
"""The status for a resource version that is too old."""
_ATTEMPTS = 5
_LONGEST_WAIT_S = 10.0
_JSON = "application/json"
METADATA = f"{_JSON};as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
"""Accept only the metadata of an object."""
_PATCH = "application/json-patch+json"
_APPLY = "application/apply-patch+yaml"
_PAUSE_S = 1.0
PING_S = 20.0
"""Load balancers and proxies close a connection that carries nothing for a minute, often less."""
_ENDING = "because it is being terminated"
"""Of a namespace that was deleted; it is gone some seconds later."""
_POD_SECURITY = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("warn", "audit")}
"""Folders of nodes are all that `restricted` refuses of sessions, so it is not enforced."""
_PROTOCOL = "v5.channel.k8s.io"

T = TypeVar("T")
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
        self._former: list[ApiSession] = []
        """With other certificates; streams may still use their connections."""
        self._opening = asyncio.Lock()
        self._namespaces: dict[str, str] = {}
        """Those that it has created, and their uids."""

    @property
    def protected(self) -> bool:
        """True unless its settings give up the protection of the connection; known once there is one."""
        return self._session is None or self._session.credentials.protected

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Params = (),
        body: object = None,
        timeout_s: float | None = None,
        accept: str = _JSON,
    ) -> Any:
        """The decoded response. A busy server is asked again when it says. Raises: ApiError, EngineUnavailable."""
        timeout = aiohttp.ClientTimeout(total=timeout_s or _ANSWER_S, sock_connect=_CONNECT_S)
        with self._answering():
            for attempt in range(_ATTEMPTS):
                async with self._request(method, path, params, body, timeout, accept) as response:
                    if response.status != _BUSY or attempt == _ATTEMPTS - 1:
                        await _require_success(response)
                        return _object(await response.read())
                    wait_s = _retry_after_s(response)
                await asyncio.sleep(min(wait_s, _LONGEST_WAIT_S))
        raise AssertionError("unreachable")

    async def create(self, namespace: str, kind: str, body: object) -> Any:
        """Create an object in a namespace, which is created too if it is missing. kind: plural.

        Raises: ApiError, EngineUnavailable; EngineError if the namespace is missing and we may not create it.
        """
        path = f"api/v1/namespaces/{namespace}/{kind}"
        while True:
            try:
                return await self.call("POST", path, body=body)
            except ApiError as error:
                if _ENDING not in error.message and error.status != 404:
                    raise
                if error.status != 404:
                    await asyncio.sleep(_PAUSE_S)
                    continue
            await self.create_namespace(namespace)

    async def create_namespace(self, name: str) -> None:
        """Twice: no-op. Raises: ApiError, EngineUnavailable; EngineError if we may not create it."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": _POD_SECURITY}}
        try:
            created = await self.call("POST", "api/v1/namespaces", body=body)
            self._namespaces[name] = created["metadata"]["uid"]
        except ApiError as error:
            if error.status == 403:
                message = f"There is no namespace {name} in the cluster, and Carrel may not create it."
                raise EngineError(message, retriable=True) from error
            if error.reason != "AlreadyExists":
                raise

    async def delete_created_namespaces(self) -> None:
        """Those that this client has created. Twice: no-op. Raises: ApiError, EngineUnavailable."""
        while self._namespaces:
            name, uid = self._namespaces.popitem()
            try:
                await self.call("DELETE", f"api/v1/namespaces/{name}", body={"preconditions": {"uid": uid}})
            except ApiError as error:
                if error.status not in (403, 404, 409):
                    raise

    async def items(self, path: str, params: Mapping[str, str]) -> tuple[list[Any], str]:
        """All objects of a list, read in pages at one resource version, and that version.

        Raises: ApiError, EngineUnavailable.
        """
        return await self.reduced_items(path, params, lambda item: item)

    async def reduced_items(
        self, path: str, params: Mapping[str, str], keep: Callable[[Any], T]
    ) -> tuple[list[T], str]:
        """As `items`, with what is kept of each object: a page at a time is decoded as a whole."""
        items: list[T] = []
        page = {**params, "limit": str(_PAGE)}
        while True:
            try:
                answer = await self.call("GET", path, params=page)
            except ApiError as error:
                if error.status != GONE or "continue" not in page:
                    raise
                # That version is compacted already: all at once, at a newer one.
                items, page = [], {**params}
                continue
            if not isinstance(answer.get("items"), list) or not isinstance(answer.get("metadata"), dict):
                raise _no_server()
            items += map(keep, answer["items"])
            if not (following := answer["metadata"].get("continue")):
                return items, answer["metadata"]["resourceVersion"]
            page["continue"] = following

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Params, may_be_silent: bool = False
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """The response body as a stream. Without any byte for long, it ends as unavailable, unless it may be silent.

        Raises: ApiError, EngineUnavailable; the latter also within the `async with` block.
        """
        silent_s = None if may_be_silent else _SILENT_S
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
                event = orjson.loads(line)
                if event["type"] == "ERROR":
                    failed = event["object"]
                    raise ApiError(
                        failed.get("code", 500), failed.get("reason", ""), failed.get("message", "")
                    )
                yield event

    @asynccontextmanager
    async def socket(
        self, path: str, params: Sequence[tuple[str, str]], *, protocol: str = _PROTOCOL
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """A connection of channels. Raises: ApiError, EngineUnavailable; the latter also within the block."""
        with self._answering():
            session = await self._open()
            try:
                connection = await self._connect(session, path, params, protocol)
            except ApiError as error:
                if error.status != _UNAUTHORIZED or not await self._renew(session):
                    raise
                connection = await self._connect(await self._open(), path, params, protocol)
            pinging = asyncio.create_task(_ping(connection))
            try:
                yield connection
            finally:
                pinging.cancel()
                await connection.close()

    async def _connect(
        self, session: ApiSession, path: str, params: Sequence[tuple[str, str]], protocol: str
    ) -> aiohttp.ClientWebSocketResponse:
        try:
            return await session.client.ws_connect(
                f"{session.url}/{path}",
                params=params,
                headers=session.headers,
                proxy=session.credentials.proxy,
                server_hostname=session.credentials.tls.server_name,
                protocols=(protocol,),
                max_msg_size=0,
            )
        except aiohttp.WSServerHandshakeError as error:
            # Its body, which explains it, is lost.
            raise ApiError(error.status, "", HTTPStatus(error.status).phrase) from error

    async def close(self) -> None:
        """Close all connections. Twice: no-op."""
        sessions, self._former = [*self._former, *filter(None, [self._session])], []
        self._session = None
        for session in sessions:
            await session.client.close()

    async def patch(self, path: str, *operations: Mapping[str, object]) -> Any:
        """Apply a JSON patch. Raises: ApiError, EngineUnavailable."""
        return await self.call("PATCH", path, body=list(operations))

    async def apply(self, path: str, body: Mapping[str, Any], *, manager: str) -> Any:
        """Create the object, or change it so that it has these fields, whoever has set them. Fields that this manager
        has set before and that are missing now are removed; those of others stay. Twice: no-op.

        body: with the metadata, without the name.
        Source: server-side apply (Kubernetes 1.22). Raises: ApiError, EngineUnavailable.
        """
        chosen = {"fieldManager": manager, "force": "true"}
        named = {**body, "metadata": {**body["metadata"], "name": path.rsplit("/", 1)[1]}}
        return await self.call("PATCH", path, params=chosen, body=named)

    async def servers(self) -> list[tuple[str, int]]:
        """Addresses or names of the API server, and ports: ours, and those that it reports."""
        reported = (await self.call("GET", "api")).get("serverAddressByClientCIDRs") or ()
        addresses = [f"//{one['serverAddress']}" for one in reported]
        urls = [urlsplit(one) for one in ((await self._open()).url, *addresses)]
        return [(one.hostname or "", one.port or 443) for one in urls]

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        path: str,
        params: Params,
        body: object,
        timeout: aiohttp.ClientTimeout,
        accept: str = _JSON,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        for last in (False, True):
            session = await self._open()
            headers = {**session.headers, "Accept": accept}
            patch = _PATCH if isinstance(body, list) else _APPLY
            headers["Content-Type"] = patch if method == "PATCH" else _JSON
            async with session.client.request(
                method,
                f"{session.url}/{path}",
                params=params,
                data=None if body is None else orjson.dumps(body),
                headers=headers,
                timeout=timeout,
                proxy=session.credentials.proxy,
                server_hostname=session.credentials.tls.server_name,
                allow_redirects=False,
            ) as response:
                if response.status != _UNAUTHORIZED or last or not await self._renew(session):
                    yield response
                    return

    async def _renew(self, session: ApiSession) -> bool:
        """Read the credentials again, which the server does not accept. False if they are the same."""
        if not self._access.may_change:
            return False
        async with self._opening:
            if self._session is session:
                renewed = await open_session(self._access, session)
                if renewed.client is not session.client:
                    self._former.append(session)
                elif renewed.credentials == session.credentials:
                    return False
                self._session = renewed
            return True

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
            if error.status == _UNAUTHORIZED:
                raise EngineUnavailable("The cluster does not accept Carrel's credentials.") from error
            if error.status in (502, 503, 504):
                raise EngineUnavailable("The API server of the cluster does not respond.") from error
            raise
        except TimeoutError as error:
            raise EngineUnavailable("The API server of the cluster took too long to respond.") from error
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError) as error:
            raise EngineUnavailable(
                "The certificate of the cluster's API server is not trusted: its authority is missing or another one."
            ) from error
        except aiohttp.ClientConnectorDNSError as error:
            raise EngineUnavailable(f"The address {error.host} of the API server is unknown.") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise EngineUnavailable("The API server of the cluster does not respond.") from error


@contextmanager
def sentences() -> Iterator[None]:
    """Translate unexpected error responses to an `EngineError` with the server's message."""
    try:
        yield
    except ApiError as error:
        retriable = error.status >= 500 or error.status == _BUSY
        raise refusal(error.message) or EngineError(
            f"The cluster refused: {error.message}.", retriable=retriable
        ) from error


def _retry_after_s(response: aiohttp.ClientResponse) -> float:
    """Servers send seconds; proxies before them may send a date of their own clock."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 1.0


async def _require_success(response: aiohttp.ClientResponse) -> None:
    if response.status < 300:
        return
    if response.status < 400:
        raise EngineUnavailable("The API server of the cluster redirects to another address: use that one.")
    try:
        answer = json.loads(await response.read())
    except ValueError:
        answer = None
    # Whatever else stands there, such as a page of a proxy, may show what the settings' author may not see.
    is_status = isinstance(answer, dict) and answer.get("kind") == "Status"
    answer = answer if is_status else {}
    message = answer.get("message") or f"it responds with {response.status}"
    raise ApiError(response.status, str(answer.get("reason", "")), str(message))


def _object(content: bytes) -> Any:
    """The decoded response. Raises: EngineUnavailable if it is none of an API server."""
    try:
        answer = orjson.loads(content)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise _no_server()
    return answer


def _no_server() -> EngineUnavailable:
    return EngineUnavailable("There is no API server of Kubernetes at the address.")


async def _ping(connection: aiohttp.ClientWebSocketResponse) -> None:
    """Keep the connection in use. No answer is required: a client that does not read now reads none."""
    with suppress(ConnectionError):
        while True:
            await asyncio.sleep(PING_S)
            await connection.ping()
