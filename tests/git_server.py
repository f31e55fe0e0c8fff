"""A Git server over HTTP, by Git's own back end. Repositories whose names begin with "private" need the token."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

TOKEN = "s3cret"


def repository(root: Path, name: str, files: Mapping[str, str]) -> str:
    """Make, or add a commit to, a bare repository; its commit."""
    work = root / f"{name}.work"
    work.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    git = ("git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b.org")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*git, *arguments], check=True)
    bare = root / f"{name}.git"
    if not bare.exists():
        subprocess.run(["git", "clone", "-q", "--bare", str(work), str(bare)], check=True)
    subprocess.run([*git, "push", "-q", "--force", "--all", str(bare)], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return head.stdout.strip()


@contextmanager
def serving(root: Path, host: str = "127.0.0.1") -> Iterator[int]:
    """The port of a server of the repositories below root."""
    with ThreadingHTTPServer((host, 0), partial(_Repositories, root)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Repositories(BaseHTTPRequestHandler):
    def __init__(self, root: Path, *arguments: object) -> None:
        self._root = root
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        basic = "Basic " + base64.b64encode(f"oauth2:{TOKEN}".encode()).decode()
        if path.startswith("/moved/"):
            return self._send(301, b"", {"Location": self.path.removeprefix("/moved")})
        if path.startswith("/private") and self.headers.get("Authorization") != basic:
            return self._send(401, b"who are you?", {"WWW-Authenticate": 'Basic realm="git"'})
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self._root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=body, stdout=subprocess.PIPE, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        return self._send(int(headers.pop("Status", "200").split()[0]), content, headers)

    def _send(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
