"""Requests to one server: credentials, JSON, errors as exceptions, connection reuse, retries."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from urllib.parse import quote, urlencode

from carrel_client import __version__
from carrel_client.errors import CarrelError, from_problem, not_carrel, too_slow, unreachable
from carrel_client.wire import Connection, FilePart, Response, ServerAddress, Stale, basic

TYPE_CHECKING = False  # spelled this way because importing `typing` takes 3 ms of a 50 ms budget
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

USER_AGENT = f"carrel-client/{__version__}"
CONNECT_TIMEOUT_S = 10.0
_PAUSES_S = (0.2, 0.6)
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS", "PATCH", "DELETE"})
_MOST_IDLE = 16


class Transport:
    """Sends requests to one server with the credentials of a keypair or a signed-in user.

    Thread-safe: each request has its own connection.
    """

    def __init__(
        self,
        url: str,
        *,
        keypair: tuple[str, str] | None = None,
        token: str | None = None,
        timeout_s: float = 60.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            self.target = ServerAddress(url)
        except ValueError as wrong:
            raise CarrelError("client.bad_url", f"{wrong}.", status=422) from None
        self.timeout_s = timeout_s
        self._pause = pause
        self._credentials = {"Authorization": basic(":".join(keypair))} if keypair else {}
        if token:
            self._credentials = {"Authorization": f"Bearer {token}"}
        self._idle: list[Connection] = []
        self.waiting: Callable[[], AbstractContextManager[object]] = _Silence
        """Entered while a response is awaited, so that commands can show progress."""

    def patient(self, timeout_s: float) -> Transport:
        """This transport with another limit; the connections are shared."""
        other = copy(self)
        other.timeout_s = timeout_s
        return other

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        key: str | None = None,
    ) -> Any:
        """The decoded JSON of the response, None without a body.

        key: an Idempotency-Key; with one, a POST is retried after a connection failure, as a GET is.
        Raises: CarrelError.
        """
        headers = {"Accept": "application/json"} | ({"Idempotency-Key": key} if key else {})
        payload = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            payload = json.dumps(body).encode()
        with self.waiting():
            answer, connection = self._send(method, with_query(path, query), headers, payload, self.timeout_s)
        try:
            with _Explaining(self.target.url, self.timeout_s):
                text = answer.read()
        except CarrelError:
            connection.close()
            raise
        self._keep(connection, answer)
        self._remember_sign_in(answer)
        if answer.status >= 300:
            raise refusal(answer, text)
        return _decoded(text, self.target.url) if text else None

    def stream(
        self,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        patience: Callable[[], float | None] = lambda: None,
    ) -> Iterator[bytes]:
        """The body of a GET, streamed over its own connection, which the iterator closes.

        patience: returns the timeout of the next piece in seconds; None for no timeout.
        """
        sent = dict(headers or {})
        with self.waiting():
            answer, connection = self._send("GET", with_query(path, query), sent, None, self.timeout_s)
        try:
            with _Explaining(self.target.url, patience() or self.timeout_s):
                if answer.status >= 300:
                    raise refusal(answer, answer.read())
                connection.limit_silence(patience())
                for block in answer.blocks():
                    yield block
                    connection.limit_silence(patience())
        finally:
            connection.close()

    def exchange(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | FilePart | None = None,
        timeout_s: float | None = None,
    ) -> tuple[dict[str, str], bytes]:
        """Headers and body of the response to a request with a binary body.

        Not retried after a connection failure: the caller knows how much has arrived. Only a reused connection that was
        closed meanwhile is replaced, and not for a POST or PUT.
        Raises: CarrelError.
        """
        limit_s = timeout_s or self.timeout_s
        sent = dict(headers or {})
        answer, connection = self._send(method, with_query(path, query), sent, body, limit_s, pauses=())
        with Opened(self, answer, connection, limit_s):
            return answer.headers, answer.read()

    def open(
        self,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        sent: object = None,
    ) -> Opened:
        """The response to a GET, as a context manager in whose block its body is read.

        sent: JSON for a POST, which is retried as a GET is.
        """
        given = dict(headers or {})
        body = None
        if sent is not None:
            given["Content-Type"], body = "application/json", json.dumps(sent).encode()
        answer, connection = self._send(
            "GET" if body is None else "POST",
            with_query(path, query),
            given,
            body,
            self.timeout_s,
            pauses=_PAUSES_S,
        )
        return Opened(self, answer, connection, self.timeout_s)

    def raw(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Raw:
        """The response to any request, also an error, as a context manager in whose block its body is read.

        Reading the body has no timeout. Raises: CarrelError without a response.
        """
        sent = {"Accept": "application/json, */*", **(headers or {})}
        with self.waiting():
            answer, connection = self._send(method, with_query(path, query), sent, body, self.timeout_s)
        connection.limit_silence(None)
        return Raw(self, answer, connection, self.timeout_s)

    def authorization(self) -> dict[str, str]:
        """The headers with the credentials."""
        return dict(self._credentials)

    def close(self) -> None:
        """Close idle connections. The transport stays usable."""
        while self._idle:
            self._idle.pop().close()

    def _send(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes | FilePart | None,
        timeout_s: float,
        *,
        pauses: Sequence[float] | None = None,
    ) -> tuple[Response, Connection]:
        """Headers of the response and its connection, after retries where repeating is safe.

        pauses: before each retry of a request that is safe to repeat; empty: do not retry.
        """
        everything = {"User-Agent": USER_AGENT, **self._credentials, **headers}
        repeatable = bool(pauses) or method in _REPEATABLE or "Idempotency-Key" in headers
        knowing = pauses is not None
        left = iter(_PAUSES_S if pauses is None else pauses)
        while True:
            connection = None
            try:
                connection = self._kept() if repeatable or knowing else None
                connection = connection or Connection(self.target, connect_timeout_s=CONNECT_TIMEOUT_S)
                return connection.ask(method, path, everything, body, timeout_s=timeout_s), connection
            except TimeoutError:
                _close(connection)
                limit = timeout_s if connection else CONNECT_TIMEOUT_S
                raise too_slow(self.target.url, limit) from None
            except OSError as broken:
                _close(connection)
                if isinstance(broken, Stale) and repeatable:
                    continue  # without a pause: the pool is finite, and a new connection is never stale
                pause_s = next(left, None)
                certain = connection is None  # nothing was sent, so retrying is safe
                if pause_s is None or not (repeatable or certain) or _hopeless(broken):
                    raise unreachable(self.target.url, broken) from broken
                self._pause(pause_s)
            except BaseException:
                _close(connection)
                raise

    def _kept(self) -> Connection | None:
        """An idle connection. It may be stale, so requests that are unsafe to repeat do not use one."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.quiet:
                return connection
            connection.close()

    def _keep(self, connection: Connection, answer: Response) -> None:
        if answer.keeps and len(self._idle) < _MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _remember_sign_in(self, answer: Response) -> None:
        for cookie in answer.headers.get("set-cookie", "").splitlines():
            name, _, value = cookie.split(";")[0].partition("=")
            if name.strip() == "carrel_session":
                self._credentials["Cookie"] = f"carrel_session={value.strip()}"

    def prove_page(self, csrf_token: str) -> None:
        """Send the CSRF token with every change, as cookie sessions must."""
        self._credentials["X-Carrel-CSRF"] = csrf_token


def with_query(path: str, query: Mapping[str, object] | None) -> str:
    """The path with the parameters that are not None; booleans as in JSON, a list as repeated parameters."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in (query or {}).items()
        if value is not None
    }
    joint = "&" if "?" in path else "?"
    return f"{path}{joint}{urlencode(given, doseq=True)}" if given else path


def segment(text: str) -> str:
    """The text as one segment of a path."""
    return quote(text, safe="")


class Opened:
    """A response while its body is read; its connection is reused if that was read to the end.

    Raises: CarrelError on entry for an error response, and for connection failures in the block.
    """

    def __init__(
        self, transport: Transport, answer: Response, connection: Connection, timeout_s: float
    ) -> None:
        self._transport = transport
        self._answer = answer
        self._connection = connection
        self._explaining = _Explaining(transport.target.url, timeout_s)

    def __enter__(self) -> Response:
        if self._answer.status >= 300:
            try:
                raise refusal(self._answer, self._answer.read())
            except BaseException as raised:
                self.__exit__(type(raised), raised, None)
                raise
        return self._answer

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if self._answer.exhausted:
            self._transport._keep(self._connection, self._answer)
        else:
            self._connection.close()
        self._explaining.__exit__(kind, raised, trace)


class Raw(Opened):
    """A response of any status."""

    def __enter__(self) -> Response:
        return self._answer


class _Silence:
    """A context that does nothing; importing the standard library's takes a millisecond."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: object) -> None:
        return None


class _Explaining:
    """Converts socket errors while a body is read to CarrelError."""

    def __init__(self, address: str, timeout_s: float) -> None:
        self._address = address
        self._timeout_s = timeout_s

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if isinstance(raised, TimeoutError):
            raise too_slow(self._address, self._timeout_s) from None
        if isinstance(raised, OSError):
            raise unreachable(self._address, raised) from raised


def refusal(answer: Response, text: bytes) -> CarrelError:
    """The error of a response with a status from 300 on. text: its body."""
    if answer.status < 400:
        return CarrelError(
            "client.redirected",
            f"The server redirects to {answer.headers.get('location', 'an unknown address')}.",
            status=answer.status,
            hint="Use that address.",
        )
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    return from_problem(answer.status, problem, request_id=answer.headers.get("x-request-id"))


def _decoded(text: bytes, address: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise not_carrel(address) from None


def _close(connection: Connection | None) -> None:
    if connection:
        connection.close()


def _hopeless(broken: OSError) -> bool:
    """True for permanent errors: an unknown host, or an untrusted certificate."""
    return type(broken).__name__ in ("gaierror", "SSLCertVerificationError")
