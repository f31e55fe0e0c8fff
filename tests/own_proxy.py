"""nginx and Caddy as deploy/ sets them up, as child processes on ports of their own."""

import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from people import eventually
from ports import free_port

DEPLOY = Path(__file__).parents[1] / "deploy"
KINDS = ("nginx", "caddy")
PAGE, APPS = "carrel.example.org", "apps.example.org"
_PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
_FILES = "/etc/ssl/carrel/fullchain.pem", "/etc/ssl/carrel/privkey.pem"
_NGINX = """daemon off; master_process off; pid {own}/pid; error_log {own}/error.log info;
events {{}}
http {{ access_log off; client_body_temp_path {own}/bodies; proxy_temp_path {own}/answers;
fastcgi_temp_path {own}/f; uwsgi_temp_path {own}/u; scgi_temp_path {own}/s; include {own}/carrel.conf; }}
"""


@asynccontextmanager
async def proxy(kind: str, own: Path, *, page: int, apps: int, files: Path) -> AsyncIterator[int]:
    """The port that it serves https on. page, apps: ports of Carrel's. files: with server.pem and server.key.

    What differs from the file in deploy/ is what that says to change, and the ports.
    """
    port, plain = free_port(), free_port()
    changes = {
        "127.0.0.1:8700": f"127.0.0.1:{page}",
        "127.0.0.1:8701": f"127.0.0.1:{apps}",
        _FILES[0]: str(files / "server.pem"),
        _FILES[1]: str(files / "server.key"),
    }
    if kind == "nginx":
        changes |= {"listen [::]": "#", "listen 80;": f"listen {plain};", "listen 443 ": f"listen {port} "}
        _change(DEPLOY / "nginx" / "carrel.conf", own / "carrel.conf", changes)
        (own / "nginx.conf").write_text(_NGINX.format(own=own))
        words = ["-p", str(own), "-c", str(own / "nginx.conf")]
    else:
        changes["# tls /"] = "tls /"
        _change(DEPLOY / "caddy" / "Caddyfile", own / "Caddyfile", changes)
        options = f"{{\nadmin off\nhttp_port {plain}\nhttps_port {port}\n}}\n"
        (own / "Caddyfile").write_text(options + (own / "Caddyfile").read_text())
        words = ["run", "--adapter", "caddyfile", "--config", str(own / "Caddyfile")]
    program = shutil.which(kind, path=_PATH)
    assert program, f"{kind} is missing: apt-get install --no-install-recommends {kind}"
    environment = {**os.environ, "HOME": str(own), "XDG_DATA_HOME": str(own), "XDG_CONFIG_HOME": str(own)}
    with (own / "log").open("wb") as log:
        process = subprocess.Popen([program, *words], stdout=log, stderr=log, env=environment)
    try:

        async def listens() -> bool:
            assert process.poll() is None, (own / "log").read_text()
            with closing(socket.socket()) as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        await eventually(listens)
        yield port
    finally:
        process.terminate()
        process.wait()


def _change(source: Path, target: Path, changes: dict[str, str]) -> None:
    text = source.read_text()
    for old, new in changes.items():
        assert old in text, f"{source} does not say {old}"
        text = text.replace(old, new)
    target.write_text(text)
