"""HTTP/1.1 over one socket: connect, send, read. No pool, no retries, no interpretation of status codes.

The standard library's client imports its e-mail parser, too slow for the time limit of `carrel session ls`
(docs/decisions/0004); an API client needs little of RFC 9112.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Iterator
from io import BufferedReader
from urllib.parse import unquote, urlsplit

from carrel_client.errors import CarrelError

_LINE_LIMIT = 65536
_HEADER_LIMIT = 200
_BLOCK = 65536
_STEP = 1 << 20


class WireError(ConnectionError):
    """The server closed the connection or does not speak HTTP/1.1."""


class Stale(WireError):
    """A reused connection was closed before the response began."""


class FilePart:
    """A range of an open file as the body of a request, sent with sendfile(2).

    on_sent: called with the size of each block sent, and with the negative sum if they must be resent.
    """

    def __init__(
        self, file: BufferedReader, offset: int, length: int, on_sent: Callable[[int], None] = lambda _: None
    ) -> None:
        self.length = length
        self.sent = 0
        self._file = file
        self._offset = offset
        self._on_sent = on_sent

    def send(self, sock: socket.socket) -> None:
        """Send the range. Raises: OSError; EOFError if the file was truncated."""
        self._on_sent(-self.sent)
        self.sent = 0
        while self.sent < self.length:
            step = min(_STEP, self.length - self.sent)
            count = sock.sendfile(self._file, self._offset + self.sent, step)
            if not count:
                raise EOFError("the file was truncated while it was sent")
            self.sent += count
            self._on_sent(count)


class ServerAddress:
    """The address of a server: scheme, host, port, path prefix. Raises: ValueError unless the URL is http or https."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not an http or https address")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError(f"{url!r} has more than scheme, host, port and path")
        self.secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = parts.port or (443 if self.secure else 80)
        self.prefix = parts.path.rstrip("/")
        self.authority = parts.netloc
        self.url = f"{parts.scheme}://{parts.netloc}{self.prefix}"


def address(text: str) -> str:
    """The normalized URL of a server: a bare host is https, or http if it is this machine.

    Raises: CarrelError with status 422.
    """
    if "://" not in text:
        host = text.split("/")[0].split(":")[0]
        text = f"{'http' if host in ('localhost', '127.0.0.1') else 'https'}://{text}"
    try:
        return ServerAddress(text).url
    except ValueError as wrong:
        raise CarrelError(
            "client.bad_url", f"{wrong}.", status=422, hint="Such as https://carrel.example.org"
        ) from None


def dial(target: ServerAddress, *, timeout_s: float) -> socket.socket:
    """A connected socket, with TLS and the environment's proxy if they apply. Raises: OSError (ssl.SSLError is one)."""
    proxy = _proxy(target)
    host, port = (proxy.host, proxy.port) if proxy else (target.host, target.port)
    # An ASCII name as bytes avoids the import of the IDNA codec.
    name = host.encode() if host.isascii() else host
    sock = socket.create_connection((name, port), timeout_s)  # type: ignore[arg-type]
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if proxy:
            _tunnel(sock, target, proxy)
        return _encrypt(sock, target.host) if target.secure else sock
    except BaseException:
        sock.close()
        raise


class Connection:
    """A connection for one request at a time."""

    def __init__(self, target: ServerAddress, *, connect_timeout_s: float) -> None:
        self.target = target
        self._sock = dial(target, timeout_s=connect_timeout_s)
        self._reader: BufferedReader = self._sock.makefile("rb")
        self._used = False

    def ask(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes | FilePart | None,
        *,
        timeout_s: float | None,
    ) -> Response:
        """Send a request; returns the response, whose body is not yet read.

        Raises: Stale if a reused connection was closed meanwhile, TimeoutError, OSError.
        """
        self._sock.settimeout(timeout_s)
        lines = [f"{method} {self.target.prefix}{path} HTTP/1.1", f"Host: {self.target.authority}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body is not None:
            lines.append(f"Content-Length: {body.length if isinstance(body, FilePart) else len(body)}")
        head = "\r\n".join(lines)
        if head.count("\r\n") != len(lines) - 1:
            raise ValueError("a header with a line break in it")
        kept, self._used = self._used, True
        complete = True
        try:
            self._sock.sendall(
                head.encode("latin-1") + b"\r\n\r\n" + (body if isinstance(body, bytes) else b"")
            )
            if isinstance(body, FilePart):
                complete = self._send(body)
            first = self._reader.readline(_LINE_LIMIT)
        except ConnectionError as broken:
            raise (Stale(str(broken)) if kept else broken) from broken
        if not first:
            raise Stale("closed") if kept else WireError("the connection was closed without a response")
        answer = Response(self._reader, method, first)
        answer.keeps = answer.keeps and complete
        return answer

    def _send(self, body: FilePart) -> bool:
        """True if all was sent: a server that refuses a body may respond and close without reading it."""
        try:
            body.send(self._sock)
        except ConnectionError:
            if not self._reader.peek(1):
                raise
            return False
        return True

    @property
    def quiet(self) -> bool:
        """True if nothing has arrived since the last response; unexpected input means that the connection has ended."""
        ears = select.poll()
        ears.register(self._sock, select.POLLIN)
        return not ears.poll(0)

    def limit_silence(self, silence_s: float | None) -> None:
        """Set the read timeout; None for no timeout."""
        self._sock.settimeout(silence_s)

    def close(self) -> None:
        """Close the connection. Twice: no-op."""
        self._reader.close()
        self._sock.close()


class Response:
    """A response: status, headers (names in lower case), and the body as a stream."""

    def __init__(self, reader: BufferedReader, method: str, first: bytes) -> None:
        self._reader = reader
        version, self.status = _status_line(first)
        self.headers = _headers(reader)
        while 100 <= self.status < 200 and self.status != 101:
            version, self.status = _status_line(reader.readline(_LINE_LIMIT))
            self.headers = _headers(reader)
        empty = method == "HEAD" or self.status in (204, 304)
        length = self.headers.get("content-length")
        self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked" and not empty
        self._left = 0 if empty else _number(length, 10) if length and not self._chunked else None
        closes = self.headers.get("connection", "").lower()
        self.keeps = version == "1.1" and closes != "close" and (self._chunked or self._left is not None)

    @property
    def exhausted(self) -> bool:
        """True if the body was read to its end, according to its length."""
        return self._left == 0

    def blocks(self, size: int = _BLOCK) -> Iterator[bytes]:
        """The body as it arrives, in blocks of at most that size."""
        if self._chunked:
            yield from self._chunks()
            self._left = 0
            return
        while self._left is None or self._left > 0:
            block = self._reader.read1(size if self._left is None else min(self._left, size))
            if not block and self._left is None:
                return
            if not block:
                raise WireError("the response was incomplete")
            if self._left is not None:
                self._left -= len(block)
            yield block

    def read(self) -> bytes:
        """The whole body."""
        return b"".join(self.blocks())

    def _chunks(self) -> Iterator[bytes]:
        while size := _number(self._line().split(b";")[0].decode("latin-1"), 16):
            while size:
                block = self._reader.read1(min(size, _BLOCK))
                if not block:
                    raise WireError("the response was incomplete")
                size -= len(block)
                yield block
            self._line()
        while self._line().strip():
            continue

    def _line(self) -> bytes:
        line = self._reader.readline(_LINE_LIMIT)
        if not line.endswith(b"\n"):
            raise WireError("the response was incomplete")
        return line


def _status_line(line: bytes) -> tuple[str, int]:
    words = line.decode("latin-1").split(None, 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
        raise WireError("this is not an HTTP/1.1 server")
    return words[0].removeprefix("HTTP/"), int(words[1])


def _headers(reader: BufferedReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(_HEADER_LIMIT):
        line = reader.readline(_LINE_LIMIT)
        if line in (b"\r\n", b"\n"):
            return headers
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not line.endswith(b"\n"):
            raise WireError("the response headers were incomplete")
        key = name.lower()
        # Only cookies are repeated, one per line.
        headers[key] = f"{headers[key]}\n{value.strip()}" if key in headers else value.strip()
    raise WireError("the response has too many headers")


def _number(text: str, base: int) -> int:
    try:
        value = int(text.strip(), base)
    except ValueError:
        value = -1
    if value < 0:
        raise WireError(f"the response gives {text!r} as a length")
    return value


def _encrypt(sock: socket.socket, host: str) -> socket.socket:
    import ssl

    return ssl.create_default_context().wrap_socket(sock, server_hostname=host)


def _proxy(target: ServerAddress) -> _ProxyAddress | None:
    """The proxy for this target, from the usual environment variables."""
    kind = "https_proxy" if target.secure else "http_proxy"
    names = (kind, kind.upper(), "all_proxy", "ALL_PROXY")
    url = next((os.environ[name] for name in names if os.environ.get(name)), None)
    if not url:
        return None
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

    return None if proxy_bypass_environment(f"{target.host}:{target.port}") else _ProxyAddress(url)


class _ProxyAddress(ServerAddress):
    """A proxy; its URL may contain a user name and a password."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme != "http":
            raise OSError(f"a {parts.scheme} proxy is not supported, only an http one")
        self.credentials = (
            f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
        )
        super().__init__(f"http://{parts.netloc.rpartition('@')[2]}")
        self.port = parts.port or 3128


def _tunnel(sock: socket.socket, target: ServerAddress, proxy: _ProxyAddress) -> None:
    """Request a tunnel from the proxy; afterwards the socket is connected to the target."""
    end = f"[{target.host}]:{target.port}" if ":" in target.host else f"{target.host}:{target.port}"
    request = f"CONNECT {end} HTTP/1.1\r\nHost: {end}\r\n"
    if proxy.credentials:
        request += f"Proxy-Authorization: {basic(proxy.credentials)}\r\n"
    sock.sendall(request.encode("latin-1") + b"\r\n")
    # Byte by byte: bytes after the head belong to the tunnel.
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        if not byte or len(head) > _LINE_LIMIT:
            raise WireError("the proxy closed the connection")
        head += byte
    if _status_line(head)[1] != 200:
        raise WireError(f"the proxy refuses: {head.decode('latin-1').splitlines()[0]}")


def basic(credentials: str) -> str:
    """The value of an Authorization header for "name:password"."""
    from binascii import b2a_base64

    return "Basic " + b2a_base64(credentials.encode(), newline=False).decode()
