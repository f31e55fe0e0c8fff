"""Requests to one server: credentials, JSON, problems as exceptions, kept connections, retries."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    """Sends requests to one server on behalf of one keypair or one signed-in person.

    May be used by several threads at once: each request has a connection to itself while it lasts.
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
        """Entered while an answer is awaited, so that a person can be told so."""

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        key: str | None = None,
    ) -> Any:
        """The decoded JSON of the answer, None when it has no body.

        key: an Idempotency-Key; with one, a POST is repeated after a broken connection like a GET is.
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
        """The body of a GET, piece by piece, on a connection of its own that ends with the iterator.

        patience: asked before each piece how many seconds it may take to come; None for ever.
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
        """Headers and body of the answer to a request whose body is no JSON. Not repeated after a broken connection:
        the caller knows how much of it counts. Only a kept connection that breaks is replaced, and not even that one
        for a POST or PUT.

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
        """The answer to a GET, as a context manager in whose block its body is to be read.

        sent: JSON, which makes it a POST; one that may be repeated like a GET.
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
        """The answer to any request, a refusal too, as a context manager in whose block its body is to be read.

        The body may come as slowly as it likes. Raises: CarrelError when no answer comes.
        """
        sent = {"Accept": "application/json, */*", **(headers or {})}
        with self.waiting():
            answer, connection = self._send(method, with_query(path, query), sent, body, self.timeout_s)
        connection.limit_silence(None)
        return Raw(self, answer, connection, self.timeout_s)

    def authorization(self) -> dict[str, str]:
        """The headers that say who is asking."""
        return dict(self._credentials)

    def close(self) -> None:
        """Drop the kept connections; the transport stays usable."""
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
        """The answer's head and its connection, after retries where a repeat is harmless.

        pauses: before each retry of something that the caller knows to be harmless; none of them: who asks can tell
        what became of it.
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
                    continue  # costs no pause: the pool is finite, and a fresh connection is never stale
                pause_s = next(left, None)
                certain = connection is None  # nothing was sent, so that nothing can happen twice
                if pause_s is None or not (repeatable or certain) or _hopeless(broken):
                    raise unreachable(self.target.url, broken) from broken
                self._pause(pause_s)
            except BaseException:
                _close(connection)
                raise

    def _kept(self) -> Connection | None:
        """An idle connection; it may still turn out to be stale, which not everything may learn when it is sent."""
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
        """Send the token that a cookie session must show with everything that changes something."""
        self._credentials["X-Carrel-CSRF"] = csrf_token


def with_query(path: str, query: Mapping[str, object] | None) -> str:
    """The path with those parameters that are not None; booleans as JSON spells them, a list one by one."""
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
    """An answer while its body is read; its connection is kept when that was read to the end.

    Raises: CarrelError on the way in when the answer is no, and for whatever breaks in the block.
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
    """An answer whatever its status."""

    def __enter__(self) -> Response:
        return self._answer


class _Silence:
    """A context that does nothing; the library's own would cost a millisecond of imports."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: object) -> None:
        return None


class _Explaining:
    """Turns what a socket raises while a body is read into the client's errors."""

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
    """The error that an answer with a status from 300 on stands for. text: its body."""
    if answer.status < 400:
        return CarrelError(
            "client.redirected",
            f"The server is not here but at {answer.headers.get('location', 'an address it does not tell')}.",
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
    """Whether trying again cannot help: no such host, or a certificate that nobody trusts."""
    return type(broken).__name__ in ("gaierror", "SSLCertVerificationError")
