#!/usr/bin/python3
"""Stands in for RStudio Server, which no package index has: what matters of it to whoever starts it and passes its
traffic on.

It refuses unknown options, and as an ordinary user every place that only root may write. A visitor without a cookie is
redirected by an absolute address to the page that signs them in and back. Its page evaluates what is typed by a request
whose header repeats a cookie. Source: rstudio/rstudio, src/cpp/server/server-options.json and ServerMain.cpp (2025).
"""

import argparse
import json
import os
import pwd
import secrets
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGE = """<!doctype html><title>RStudio</title><input id=console aria-label=Console><output id=result></output>
<script>
document.getElementById("console").onchange = async ({ target }) => {
  const token = /rs-csrf-token=([^;]+)/.exec(document.cookie)[1];
  const body = JSON.stringify({ params: [target.value] });
  const response = await fetch("rpc/console_input", { method: "POST", headers: { "X-RS-CSRF-Token": token }, body });
  document.getElementById("result").textContent = "[1] " + (await response.json()).result;
};
</script>"""
TOKEN = secrets.token_hex(8)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--server-daemonize", type=int, default=int(os.geteuid() == 0))
    parser.add_argument("--server-user", default="rstudio-server")
    parser.add_argument("--server-data-dir", default="/var/run/rstudio-server")
    parser.add_argument("--secure-cookie-key-file", default="/var/lib/rstudio-server/secure-cookie-key")
    parser.add_argument("--database-config-file", default="/etc/rstudio/database.conf")
    parser.add_argument("--auth-none", type=int, default=int(os.geteuid() != 0))
    parser.add_argument("--www-address", default="0.0.0.0")
    parser.add_argument("--www-port", type=int, default=8787)
    parser.add_argument("--www-verify-user-agent", type=int, default=1)
    return parser.parse_args()


def prepare(chosen: argparse.Namespace) -> None:
    """Raises: SystemExit, OSError."""
    if chosen.server_daemonize or not chosen.auth_none:
        raise SystemExit("an ordinary user can neither daemonize it nor authenticate others")
    if (
        pwd.getpwnam(chosen.server_user).pw_uid != os.geteuid()
        or os.environ.get("USER") != chosen.server_user
    ):
        raise SystemExit(f"the user {chosen.server_user} is not the one who runs it")
    database = dict(line.split("=") for line in Path(chosen.database_config_file).read_text().split())
    folder = Path(database.get("directory", "/var/lib/rstudio-server"))
    (folder / "rstudio.sqlite").touch()
    Path(chosen.secure_cookie_key_file).write_text(secrets.token_hex())
    (Path(chosen.server_data_dir) / "rstudio-rsession").mkdir(parents=True, exist_ok=True)


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        here = f"{self.headers.get('X-Forwarded-Proto', 'http')}://{self.headers['Host']}"
        if self.path.startswith("/auth-sign-in"):
            return self.send(
                302, "", ("Location", f"{here}/"), ("Set-Cookie", f"rs-csrf-token={TOKEN}; Path=/")
            )
        if self.token() != TOKEN:
            return self.send(302, "", ("Location", f"{here}/auth-sign-in?appUri=%2F"))
        return self.send(200, PAGE)

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.token() == self.headers.get("X-RS-CSRF-Token") == TOKEN:
            return self.send(400, "Invalid CSRF token")
        terms = [int(number) for number in sent["params"][0].split("+")]
        return self.send(200, json.dumps({"result": sum(terms)}))

    def token(self) -> str:
        cookie = SimpleCookie(self.headers.get("Cookie")).get("rs-csrf-token")
        return cookie.value if cookie else ""

    def send(self, status: int, body: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body.encode())))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())


if __name__ == "__main__":
    chosen = options()
    prepare(chosen)
    ThreadingHTTPServer((chosen.www_address, chosen.www_port), Server).serve_forever()
