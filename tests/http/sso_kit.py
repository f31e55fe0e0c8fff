"""An installation with a real OpenID provider, and browsers that sign in by it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from installation import API, Api
from own_openid_provider import CLIENT, SECRET, OpenIdProvider, open_id_provider, sign_in_there

ADA = {"email": "ada@corp.example", "email_verified": True, "name": "Ada Lovelace", "groups": []}
START = f"{API}/auth/providers/corp/start"
CALLBACK = f"{API}/auth/providers/corp/callback"


@dataclass
class Sso:
    """An installation with the provider "corp", at which ada has an account."""

    api: Api
    there: OpenIdProvider

    async def browser(self) -> httpx2.AsyncClient:
        return await self.api.client(headers={"Sec-Fetch-Mode": "navigate"})

    async def leave(self, browser: httpx2.AsyncClient, account: str = "ada", **query: object) -> str:
        """The address at which the browser comes back, after the person signed in at the provider."""
        answer = await browser.get(START, params=query)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(self.there.issuer), answer.headers["location"]
        return await sign_in_there(browser, answer.headers["location"], account)

    async def sign_in(self, account: str = "ada", **query: object) -> httpx2.AsyncClient:
        """A browser that came back and is signed in."""
        browser = await self.browser()
        answer = await browser.get(await self.leave(browser, account, **query))
        assert "error" not in answer.headers.get("location", ""), answer.headers["location"]
        return browser

    async def refused(self, account: str = "ada") -> str:
        """The code with which somebody comes back to the sign-in page."""
        browser = await self.browser()
        code = error_of(await browser.get(await self.leave(browser, account)))
        assert (await browser.get(f"{API}/auth/me")).status_code == 401
        return code

    async def change(self, **changes: object) -> None:
        admin = await self.api.as_("superadmin")
        settings = {name: changes.pop(name) for name in [*changes] if name not in ("active", "mapping")}
        answer = await admin.patch("/providers/corp", {"settings": settings, **changes})
        assert answer.status_code == 200, answer.text

    def account(self, who: str, /, **claims: object) -> None:
        self.there.accounts[who] = {**self.there.accounts.get(who, {}), **claims}
        self.there.write()


@asynccontextmanager
async def single_sign_on(api: Api, folder: Path) -> AsyncIterator[Sso]:
    """ "corp" is set up and runs; ends with the block."""
    api.services.settings.public_url = api.url
    elsewhere = api.services.elsewhere
    elsewhere.services = replace(elsewhere.services, public_url=api.url)
    with open_id_provider(folder / "provider", redirect_uris=[api.url + CALLBACK]) as there:
        there.accounts["ada"] = dict(ADA)
        there.write()
        admin = await api.as_("superadmin")
        settings = {"issuer": there.issuer, "client_id": CLIENT, "client_secret": SECRET}
        body = {"name": "corp", "kind": "oidc", "domain": "default", "settings": settings}
        answer = await admin.post("/providers", body)
        assert answer.status_code == 201, answer.text
        assert answer.json()["redirect_uri"] == api.url + CALLBACK
        yield Sso(api, there)


def error_of(answer: httpx2.Response) -> str:
    """The code in the address of the sign-in page that a browser is sent to."""
    assert answer.status_code == 303, answer.text
    target = urlsplit(answer.headers["location"])
    assert target.path == "/signin", answer.headers["location"]
    return parse_qs(target.query)["error"][0]


async def me(browser: httpx2.AsyncClient) -> dict[str, Any]:
    answer = await browser.get(f"{API}/auth/me")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
