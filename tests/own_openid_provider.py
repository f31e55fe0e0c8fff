"""A real OpenID provider (the certified oidc-provider from npm) as a child process, and a browser that uses it."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx2
from joserfc.jwk import RSAKey
from ports import free_port

FOLDER = Path(__file__).parent / "openid_provider"
CLIENT, SECRET = "carrel", "the secret of carrel"


@dataclass
class OpenIdProvider:
    """Accounts are changed in `accounts`, then `write()`. Its login page takes any password."""

    folder: Path
    port: int
    redirect_uris: list[str]
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    in_token: bool = False
    """Whether claims are in the token of identity, or only to be asked for."""
    _process: "subprocess.Popen[str] | None" = None

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def write(self, *, fresh_keys: bool = False) -> None:
        """Let it know what changed. Keys count from the next start on."""
        path = self.folder / "config.json"
        known = json.loads(path.read_text())["keys"] if path.exists() and not fresh_keys else [_key()]
        client = {"client_id": CLIENT, "client_secret": SECRET, "redirect_uris": self.redirect_uris}
        config = {
            "port": self.port,
            "issuer": self.issuer,
            "clients": [client],
            "accounts": self.accounts,
            "keys": known,
            "idTokenClaims": self.in_token,
        }
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(config))
        draft.replace(path)

    def start(self) -> None:
        command = ["node", "provider.mjs", str(self.folder / "config.json")]
        with (self.folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                command, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line == "ready\n", (line, (self.folder / "log").read_text())

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextmanager
def open_id_provider(
    folder: Path, *, redirect_uris: list[str], in_token: bool = False
) -> Iterator[OpenIdProvider]:
    """One that runs, with nobody in it."""
    install()
    folder.mkdir()
    provider = OpenIdProvider(folder, free_port(), redirect_uris, in_token=in_token)
    provider.write()
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()


def install() -> None:
    """Its packages, once. npm's own record is written last."""
    record = FOLDER / "node_modules" / ".package-lock.json"
    if record.exists() and record.stat().st_mtime >= (FOLDER / "package-lock.json").stat().st_mtime:
        return
    npm = shutil.which("npm")
    assert npm, "npm is missing: run ./carrel test, or install Node.js"
    subprocess.run([npm, "ci", "--ignore-scripts"], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
    record.touch()


async def sign_in_there(browser: httpx2.AsyncClient, address: str, account: str) -> str:
    """Fill the provider's pages in as a person does; where it sends the browser at the end."""
    answer = await browser.get(address)
    for _ in range(12):
        if answer.status_code in (302, 303):
            target = urljoin(str(answer.url), answer.headers["location"])
            if "/auth/providers/" in target:
                return target
            answer = await browser.get(target)
            continue
        assert answer.status_code == 200, answer.text[:500]
        action = re.search(r'<form[^>]*action="([^"]+)"', answer.text)
        assert action, answer.text[:500]
        fields = {"prompt": "login", "login": account, "password": "any"}
        if 'name="login"' not in answer.text:
            fields = {"prompt": "consent"}
        answer = await browser.post(urljoin(str(answer.url), unescape(action[1])), data=fields)
    raise AssertionError("the provider's pages do not end")


def _key() -> dict[str, Any]:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, private=True, auto_kid=True)
    return dict(key.as_dict(private=True))
