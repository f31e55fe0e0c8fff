"""Small servers of the standard library that say what a test tells them to, byte for byte or route by route."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Wire:
    """A server whose n-th connection gets the n-th script: what it answers to each request, then it hangs up."""

    url: str
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def wire_server(*scripts: list[bytes]) -> Iterator[Wire]:
    """Each script is the list of answers on one connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    wire = Wire(f"http://127.0.0.1:{listener.getsockname()[1]}")

    def serve() -> None:
        for script in scripts:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                for answer in script:
                    request = _read_request(connection)
                    if not request:
                        break
                    wire.requests.append(request)
                    connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for a connection
        listener.close()
        thread.join(5)


def _read_request(connection: socket.socket) -> bytes:
    content = b""
    while b"\r\n\r\n" not in content:
        block = connection.recv(65536)
        if not block:
            return b""
        content += block
    head, _, body = content.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
    while len(body) < length:
        block = connection.recv(65536)
        if not block:
            break
        body += block
    return head + b"\r\n\r\n" + body


def answer(body: bytes | object = b"", *, status: str = "200 OK", headers: str = "") -> bytes:
    """An answer with a length; anything but bytes goes as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{headers}\r\n".encode() + content


@dataclass
class Request:
    """A request as a route sees it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: object


Route = Callable[[Request], tuple[int, object]]


@dataclass
class Api:
    """A server with routes such as "GET /api/v1/images"; what it was asked is in `asked`, in order."""

    url: str
    routes: dict[str, Route | tuple[int, object]]
    requests: list[Request] = field(default_factory=list)


@contextmanager
def api_server(routes: dict[str, Route | tuple[int, object]]) -> Iterator[Api]:
    """Answers go as JSON, text as it is; what has no route is a problem with status 404."""
    api = Api("", routes)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                headers,
                json.loads(content) if content else None,
            )
            api.requests.append(request)
            missing = (404, {"code": "http.not_found", "detail": f"no route {self.command} {parts.path}"})
            route = api.routes.get(f"{self.command} {parts.path}", missing)
            status, body = route(request) if callable(route) else route
            text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
            self.send_response(status)
            if status == 200 and parts.path.endswith("/auth/login"):
                self.send_header("Set-Cookie", "carrel_session=cookie-1; HttpOnly; Path=/")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = do_DELETE = do_PATCH = _answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
