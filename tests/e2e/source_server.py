"""A server of sources, run inside a session by the Python of its image: Git by HTTP, a hub, and files.

Reads its own directory: git/NAME.git, files/NAME and hub/KIND/OWNER/NAME/... A name that begins with "private" needs
the token. Files of the hub are stored on "another host", which refuses the token.
"""

import base64
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

ROOT = Path(__file__).resolve().parent
TOKEN = "s3cret"
PAGE = 2
PORT, STORE_PORT = 8123, 8124
ADDRESS = sys.argv[1]


class Sources(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.respond(b"")

    def do_POST(self) -> None:
        self.respond(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def respond(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        if self.server.server_port == STORE_PORT:
            if self.headers.get("Authorization"):
                return self.send(400, b"the token has come here")
            return self.send_file(ROOT / "hub" / path.lstrip("/"))
        if "/private" in path and not self.knows_token():
            return self.send(401, b"who are you?", **{"WWW-Authenticate": 'Basic realm="sources"'})
        if path.startswith("/git/"):
            return self.git(path.removeprefix("/git"), parts.query, body)
        if path.startswith("/files/"):
            return self.send_file(ROOT / path.lstrip("/"))
        return self.hub(path.strip("/").split("/"), parts.query)

    def knows_token(self) -> bool:
        basic = "Basic " + base64.b64encode(f"oauth2:{TOKEN}".encode()).decode()
        return self.headers.get("Authorization") in (basic, f"Bearer {TOKEN}")

    def git(self, path: str, query: str, body: bytes) -> None:
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(ROOT / "git"),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], env=environment, input=body, stdout=subprocess.PIPE)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send(int(headers.pop("Status", "200").split()[0]), content, **headers)

    def hub(self, names: list, query: str) -> None:
        if names[0] == "api":
            _, kinds, owner, name, _, ref = names[:6]
            root = ROOT / "hub" / kinds / owner / name
            files = sorted(one for one in root.rglob("*") if one.is_file())
            entries = [
                {"type": "file", "path": str(one.relative_to(root)), "size": one.stat().st_size}
                for one in files
            ]
            if name == "hostile":
                entries = [{"type": "file", "path": "../../outside", "size": 1}]
            start = int(query.partition("cursor=")[2] or 0)
            more = f"http://{self.headers['Host']}/{'/'.join(names)}?recursive=true&cursor={start + PAGE}"
            link = {"Link": f'<{more}>; rel="next"'} if start + PAGE < len(entries) else {}
            known = root.is_dir() and ref == "main"
            return self.send(
                200 if known else 404, json.dumps(entries[start : start + PAGE]).encode(), **link
            )
        if names[0] != "datasets":
            names = ["models", *names]
        kinds, owner, name, _, _, *path = names
        place = quote("/".join([kinds, owner, name, *path]))
        return self.send(302, b"", Location=f"http://{ADDRESS}:{STORE_PORT}/{place}")

    def send_file(self, file: Path) -> None:
        if file.is_file():
            self.send(200, file.read_bytes())
        else:
            self.send(404, b"<html>no such file</html>")

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


if os.fork() == 0:
    ThreadingHTTPServer(("0.0.0.0", STORE_PORT), Sources).serve_forever()
ThreadingHTTPServer(("0.0.0.0", PORT), Sources).serve_forever()
