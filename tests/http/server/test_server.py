"""/health, /server, the OpenAPI document, and whose WebSockets are let in."""

import json
from pathlib import Path

import pytest
from installation import API, Api, document
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

import carrel
from carrel import version

ROOT = Path(__file__).parents[3]


def test_operation_ids_are_a_noun_and_a_verb_and_unique():
    operation_ids = [
        operation["operationId"] for methods in document()["paths"].values() for operation in methods.values()
    ]
    assert len(operation_ids) == len(set(operation_ids))
    assert all(part.isidentifier() for name in operation_ids for part in name.split(".", 1)), operation_ids
    assert all(name.count(".") == 1 for name in operation_ids)


async def test_the_document_is_served_as_it_is_committed(api: Api):
    anonymous = await api.as_("anonymous")
    served = (await anonymous.get("/openapi.json")).json()
    assert served == document()
    assert served["info"]["version"] == carrel.__version__


async def test_health_is_for_everybody_and_says_nothing_else(api: Api):
    anonymous = await api.as_("anonymous")
    answer = await anonymous.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert answer.headers["cache-control"] == "no-store"


async def test_the_parts_are_shown_with_their_state(api: Api):
    user = await api.as_("user")
    shown = (await user.get("/server")).json()
    assert shown["version"] == version.full()
    parts = {part["name"]: part for part in shown["parts"]}
    assert " free" in parts.pop("disk")["detail"]
    assert {name: part["state"] for name, part in parts.items()} == {
        "api": "ok",
        "database": "ok",
        "engine": "ok",
        "gateway": "down",
    }
    assert parts["database"]["version"].startswith("PostgreSQL ")
    assert parts["engine"]["version"] == "Fake 1"
    assert api.database.url not in json.dumps(shown)
    api.engine.world.go_away()
    parts = {part["name"]: part for part in (await user.get("/server")).json()["parts"]}
    assert (parts["engine"]["state"], bool(parts["engine"]["detail"])) == ("down", True)


async def test_nothing_of_the_api_is_kept_by_caches(api: Api):
    user = await api.as_("user")
    for path in ("/sessions", "/auth/me", "/images", "/nothing"):
        assert (await user.get(path)).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("kind", ["terminal", "exec"])
async def test_websockets_of_other_sites_are_refused(living: Api, kind: str):
    browser, script = await living.browser("user"), await living.as_("user")
    made = await browser.start()
    await living.until(browser, made["id"], "RUNNING")
    url = f"ws://127.0.0.1:{living.port}{API}/sessions/{made['id']}/{kind}"
    cookie = f"carrel_session={browser.http.cookies['carrel_session']}"
    own = f"http://127.0.0.1:{living.port}"

    async def code(**headers: str) -> int:
        """The close code, or 0 when one is let in."""
        named = {name.replace("_", "-").title(): value for name, value in headers.items()}
        async with connect(url, additional_headers=named) as socket:
            try:
                await socket.send(json.dumps({"command": ["echo", "in"]}))
                await socket.recv()
            except ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 0
            return 0

    assert await code() == 4401
    for origin in (
        "http://evil.example",
        "null",
        own.replace("http", "https") + "1",
        f"http://x.{own[7:]}",
        "",
    ):
        assert await code(cookie=cookie, origin=origin) == 4403, origin
    assert await code(cookie=cookie) == 4403
    assert await code(cookie=cookie, origin=own) == 0
    keypair = script.http.auth._auth_header  # type: ignore[union-attr]
    assert await code(authorization=keypair) == 0
    other = await living.as_("colleague")
    assert await code(authorization=other.http.auth._auth_header) == 4404  # type: ignore[union-attr]
