"""A client of the registry protocol (OCI distribution specification 1.1).

Every connection is checked (`http.addresses`), also those of redirects and of token servers. Credentials go to the
registry and to the token server that it names, never along a redirect to another server.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
import orjson
from yarl import URL

from carrel.http import addresses
from carrel.http.addresses import CheckedResolver, ForbiddenAddress
from carrel.images.registries.challenges import AuthChallenge, TokenCache, challenge_of, token_of
from carrel.images.registries.registry_errors import RegistryError, broken, denied, missing
from carrel.tables.registries import RegistryKind

MAX_BYTES = 8 << 20
"""Of one response. Manifests are at most 4 MiB by the specification."""
MOST_PAGES = 2000
_MOST_REQUESTS = 200_000
_TIMEOUT = aiohttp.ClientTimeout(total=60, sock_connect=10, sock_read=30)
_TIMEOUT_OF_STREAMS = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=30)
_MAX_REDIRECTS = 3
_ATTEMPTS = 5
_LONGEST_PAUSE_S = 60.0
_LINK, _NEXT = re.compile(r"<([^>]*)>([^<]*)"), re.compile(r"\brel=\"?next\b")
_AGAIN = (429, 500, 502, 503, 504)


@dataclass(frozen=True)
class RegistryConnection:
    """How to reach a registry. private: it may have an address of a private network. ca_pem: see `ImageRegistry`."""

    url: str
    kind: RegistryKind
    username: str = ""
    password: str = field(default="", repr=False)
    ca_pem: str = ""
    private: bool = False

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


@dataclass(frozen=True)
class RegistryResponse:
    """A successful response. url: where it came from, for links in it."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    host: str

    def json(self) -> Any:
        """Raises: RegistryError if the body is not JSON."""
        try:
            return orjson.loads(self.body)
        except ValueError:
            raise broken(self.host, "a body that is not JSON") from None

    @property
    def next_url(self) -> str | None:
        """The page after this one, by its Link header, which may have others, too."""
        links = _LINK.findall(self.headers.get("Link", ""))
        return next((urljoin(self.url, target) for target, about in links if _NEXT.search(about)), None)


Take = Callable[[aiohttp.StreamReader], Awaitable[None]]
"""Reads a body as it comes."""


@dataclass(frozen=True)
class _Outgoing:
    """A request. take: reads the body of the response, which is otherwise limited and kept."""

    url: str
    headers: Mapping[str, str]
    method: str = "GET"
    redirects: bool = True
    body: Mapping[str, str] | None = None
    take: Take | None = None


class RegistryClient:
    """Requests to one registry. requests: how many were sent, with those for tokens.

    pause: waits between attempts.
    """

    def __init__(
        self,
        connection: RegistryConnection,
        http: aiohttp.ClientSession,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.connection = connection
        self.requests = 0
        self._http = http
        self._pause = pause
        self._challenge: AuthChallenge | None = None
        self._tokens = TokenCache()

    @property
    def host(self) -> str:
        return self.connection.host

    async def get(
        self,
        path: str,
        *,
        accept: str = "application/json",
        scope: str = "",
        authorization: str | None = None,
        method: str = "GET",
        take: Take | None = None,
    ) -> RegistryResponse:
        """The response to a GET or HEAD. path: or a whole URL. scope: of the token, such as "repository:a:pull".
        authorization: for an API besides the protocol, which has no challenges; "": without. take: see `_Outgoing`.

        Raises: RegistryError.
        """
        url = urljoin(self.connection.url + "/", path)
        headers = {"Accept": accept}
        if authorization:
            headers["Authorization"] = authorization
        elif authorization is None and self._is_own(url):
            headers |= await self._authorization(scope)
        for again in (True, False):
            status, response = await self._patiently(_Outgoing(url, headers, method, take=take))
            if status != 401 or authorization is not None or not again:
                break
            # What a redirect leads to must not say where credentials go.
            if not self._is_own(url) or not self._is_own(response.url):
                break
            # 1. the first request shows how to sign in; 2. later ones may find the token expired
            self._challenge = challenge_of(response.headers)
            self._tokens.forget(scope)
            renewed = await self._authorization(scope)
            if not renewed:
                break
            headers |= renewed
        return self._checked(status, response, path)

    async def post(self, url: str, body: Mapping[str, str]) -> RegistryResponse:
        """The response of an API besides the protocol, which is not followed elsewhere. Raises: RegistryError."""
        headers = {"Accept": "application/json"}
        status, response = await self._patiently(_Outgoing(url, headers, "POST", redirects=False, body=body))
        return self._checked(status, response, url)

    async def pages(
        self,
        path: str,
        *,
        scope: str = "",
        authorization: str | None = None,
        following: Callable[[RegistryResponse], str | None] = lambda page: page.next_url,
    ) -> AsyncIterator[RegistryResponse]:
        """The response and those that follow, by its Link header if nothing else is said, from the same server."""
        url: str | None = path
        seen = set[str]()
        while url is not None and url not in seen:
            seen.add(url)
            if len(seen) > MOST_PAGES:
                raise broken(self.host, f"more than {MOST_PAGES} pages")
            response = await self.get(url, scope=scope, authorization=authorization)
            yield response
            url = following(response)
            if url is not None and self._origin(url) != self._origin(path):
                raise broken(response.host, "a link to another server")

    async def realm(self) -> str:
        """The URL of the token server; "" if it has none. Raises: RegistryError."""
        if self._challenge is None:
            try:
                await self.get("v2/")
            except RegistryError as error:
                if error.code != "registry.denied":
                    raise
        realm = self._challenge.realm if self._challenge else ""
        return str(self._token_url(realm)) if realm else ""

    def _is_own(self, url: str) -> bool:
        return self._origin(url) == self._origin("")

    def _origin(self, path: str) -> URL:
        return URL(urljoin(self.connection.url + "/", path)).origin()

    async def _authorization(self, scope: str) -> dict[str, str]:
        """The header by the last challenge; empty if there was none, or if it cannot be met."""
        challenge = self._challenge
        if challenge is None:
            return {}
        if challenge.scheme == "basic":
            return {"Authorization": self.basic} if self.connection.password else {}
        token = self._tokens.get(scope)
        if token is None:
            token, lifetime_s = await self._token(challenge, scope)
            self._tokens.put(scope, token, lifetime_s)
        return {"Authorization": f"Bearer {token}"}

    async def _token(self, challenge: AuthChallenge, scope: str) -> tuple[str, float]:
        realm = self._token_url(challenge.realm)
        # NGC names no service, and other registries expect theirs again.
        query = {"service": challenge.service} if challenge.service else {}
        if scope or challenge.scope:
            query["scope"] = scope or challenge.scope
        headers = {"Authorization": self.basic} if self.connection.password else {}
        status, response = await self._patiently(
            _Outgoing(str(realm.update_query(query)), headers, redirects=False)
        )
        return token_of(self._checked(status, response, "token").json(), self.host)

    def _token_url(self, realm: str) -> URL:
        url = URL(urljoin(self.connection.url + "/", realm))
        if url.scheme != "https" and urlsplit(self.connection.url).scheme == "https":
            raise broken(self.host, "a token server without encryption")
        return url

    @property
    def basic(self) -> str:
        """The header for Basic authentication; "" without credentials."""
        if not self.connection.password:
            return ""
        return aiohttp.encode_basic_auth(self.connection.username, self.connection.password, "utf-8")

    async def _patiently(self, request: _Outgoing) -> tuple[int, RegistryResponse]:
        """The status and the response, after retries where the registry is busy."""
        for attempt in range(_ATTEMPTS):
            status, response = await self._once(request)
            pause = response.headers.get("Retry-After", "")
            # GitHub limits rates with 403, too.
            again = status in _AGAIN or (status == 403 and pause)
            if not again or attempt == _ATTEMPTS - 1:
                return status, response
            await self._pause(_pause_s(pause, attempt))
        raise AssertionError("unreachable")

    async def _once(self, request: _Outgoing) -> tuple[int, RegistryResponse]:
        host = urlsplit(request.url).netloc
        if self.requests >= _MOST_REQUESTS:
            raise broken(host, f"what takes more than {_MOST_REQUESTS} requests")
        self.requests += 1
        try:
            async with self._http.request(
                request.method,
                request.url,
                headers=request.headers,
                json=request.body,
                allow_redirects=request.redirects,
                max_redirects=_MAX_REDIRECTS,
                timeout=_TIMEOUT if request.take is None else _TIMEOUT_OF_STREAMS,
            ) as response:
                content = bytearray()
                if request.take and response.status == 200:
                    await request.take(response.content)
                async for piece in response.content.iter_chunked(64 * 1024):
                    content += piece
                    if len(content) > MAX_BYTES:
                        raise broken(host, f"more than {MAX_BYTES >> 20} MiB at once")
                return response.status, RegistryResponse(
                    str(response.url), response.headers, bytes(content), host
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable(host, error) from error

    def _checked(self, status: int, response: RegistryResponse, path: str) -> RegistryResponse:
        host = response.host
        pause = response.headers.get("Retry-After", "")
        limited = status == 403 and (pause or response.headers.get("X-RateLimit-Remaining") == "0")
        if status == 429 or limited:
            wait = f" for {pause} s" if pause.isdecimal() else " for now"
            raise RegistryError("busy", f"{host} refuses more requests{wait} (rate limit).", retriable=True)
        if status in (401, 403):
            raise denied(host, status, signed_in=bool(self.connection.password))
        if status == 404:
            raise missing(host, path.split("?")[0])
        if status in _AGAIN:
            raise RegistryError("failing", f"{host} responds with an error ({status}).", retriable=True)
        if status != 200:
            raise broken(host, f"status {status}")
        return response


@asynccontextmanager
async def connected(
    connection: RegistryConnection, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncIterator[RegistryClient]:
    """A client, until the block ends."""
    trusted = ssl.create_default_context()
    if connection.ca_pem:
        trusted.load_verify_locations(cadata=connection.ca_pem)
    connector = aiohttp.TCPConnector(
        resolver=CheckedResolver(private=connection.private),
        # The resolver is not used for a literal address.
        socket_factory=partial(addresses.checked_socket, private=connection.private),
        ssl=trusted,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=_TIMEOUT,
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": "Carrel"},
    ) as http:
        yield RegistryClient(connection, http, pause)


def _pause_s(retry_after: str, attempt: int) -> float:
    """Retry-After as seconds; as a date, which few registries send, it counts as absent."""
    seconds = float(retry_after) if retry_after.isdecimal() else 2.0**attempt
    return min(seconds, _LONGEST_PAUSE_S)


def _unreachable(host: str, error: Exception) -> RegistryError:
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return RegistryError(
            "untrusted",
            f"The certificate of {host} is not trusted: {_reason(error.certificate_error)}. "
            "Set the certificates of its authority."
            if isinstance(error, aiohttp.ClientConnectorCertificateError)
            else f"{host} does not speak TLS. Use a URL with http:// if it is not encrypted.",
        )
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ForbiddenAddress):
        return RegistryError(
            "private",
            f"{error.os_error} Only registries of the installation may have such an address, "
            "and others at the same address.",
        )
    if isinstance(error, TimeoutError):
        return RegistryError("unreachable", f"{host} does not respond in time.", retriable=True)
    return RegistryError(
        "unreachable", f"{host} cannot be reached: {error or type(error).__name__}.", retriable=True
    )


def _reason(error: Exception) -> str:
    return str(getattr(error, "verify_message", "") or error)
