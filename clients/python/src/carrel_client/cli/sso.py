"""Sign in with an identity provider through a local browser, which returns a code.

The code arrives on a loopback port and is useless without the verifier, which never leaves this process (RFC 8252,
RFC 7636).
"""

from __future__ import annotations

import base64
import hashlib
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

from carrel_client.cli.output import say
from carrel_client.cli.progress import ProgressLine
from carrel_client.client import ApiClient
from carrel_client.errors import CarrelError
from carrel_client.transport import segment, with_query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client import models

_PATIENCE_S = 600.0
_DONE = b"<!doctype html><title>Carrel</title><p>Go back to the terminal; this page can be closed.</p>\n"


def sign_in(client: ApiClient, provider: str, *, print_url: bool) -> models.Me:
    """The user who signed in; the client then acts as them. print_url: do not open a browser.

    Raises: CarrelError.
    """
    _require_known(client, provider)
    verifier = _url_safe(os.urandom(48))
    challenge = _url_safe(hashlib.sha256(verifier.encode()).digest())
    with _Mailbox() as mailbox:
        path = f"/api/v1/auth/providers/{segment(provider)}/start"
        query = {"port": mailbox.server_port, "challenge": challenge}
        link = client.transport.target.url + with_query(path, query)
        if print_url or not _opened(link):
            say("Open this in a browser on this machine:")
            say(link)
        say(f"The browser asks for confirmation and must show the number {_number(challenge)}.")
        code = mailbox.wait(provider)
    return client.auth.providers_exchange(code=code, verifier=verifier)


def _require_known(client: ApiClient, provider: str) -> None:
    known = [each["name"] for each in client.auth.greeting()["providers"] if each["start"]]
    if provider not in known:
        raise CarrelError(
            "provider.not_found",
            f"{client.transport.target.url} has no identity provider {provider}.",
            status=404,
            hint=f"It has: {', '.join(known)}." if known else "It has none; remove --sso.",
        )


def _opened(link: str) -> bool:
    import webbrowser

    return webbrowser.open(link)


class _Mailbox(HTTPServer):
    """Waits on a free loopback port for the browser's redirect."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.code = ""
        self.error = ""

    def wait(self, provider: str) -> str:
        """The code. Raises: CarrelError if the sign-in fails or times out."""
        until = time.monotonic() + _PATIENCE_S
        with ProgressLine() as line:
            line.update(f"Waiting for the sign-in with {provider} in the browser")
            while not self.code and not self.error:
                self.timeout = until - time.monotonic()
                if self.timeout <= 0:
                    raise CarrelError(
                        "client.sso_timeout", "Nobody signed in.", status=408, hint="Try again."
                    )
                self.handle_request()
        if self.error:
            raise CarrelError(
                self.error,
                f"{provider} did not sign you in.",
                status=403,
                hint="Sign in on the page to read why, or ask an administrator.",
            )
        return self.code


class _Visit(BaseHTTPRequestHandler):
    timeout = 10
    server: _Mailbox

    def do_GET(self) -> None:
        brought = parse_qs(urlsplit(self.path).query)
        self.server.code = brought.get("code", [""])[0]
        self.server.error = brought.get("error", [""])[0]
        answered = bool(self.server.code or self.server.error)
        self.send_response(200 if answered else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(_DONE)))
        self.end_headers()
        self.wfile.write(_DONE)

    def log_message(self, *args: object) -> None:
        """The terminal is for people."""


def _url_safe(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _number(challenge: str) -> str:
    """As the server's page shows it."""
    number = int.from_bytes(hashlib.sha256(challenge.encode()).digest()[:4], "big") % 1_000_000
    return f"{number // 1000:03} {number % 1000:03}"
