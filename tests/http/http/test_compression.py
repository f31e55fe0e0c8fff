"""Which answers are compressed, and which must not be."""

import asyncio
import gzip
import json
from collections.abc import Iterator

import pytest
from files_kit import folder
from installation import API, Api, Caller, document
from people import PASSWORD

LIST = "/sessions?limit=50"
SENT = {"Accept-Encoding": "br, gzip"}


@pytest.fixture
async def user(api: Api) -> Caller:
    """Somebody with enough sessions for a list of more than 1 KiB."""
    caller = await api.as_("user")
    for _ in range(5):
        await caller.start()
    return caller


async def raw(who: Caller, path: str, **headers: str) -> tuple[dict[str, str], bytes]:
    """The answer's headers and its body as it came."""
    async with who.http.stream(
        "GET", API + path, headers={"Accept-Encoding": "identity", **headers}
    ) as answer:
        return dict(answer.headers), b"".join([part async for part in answer.aiter_raw()])


async def test_lists_come_compressed_to_those_who_take_it(user: Caller) -> None:
    plain_headers, plain = await raw(user, LIST)
    headers, body = await raw(user, LIST, **SENT)
    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(body) == plain
    assert int(headers["content-length"]) == len(body) < len(plain) / 2
    assert ("content-encoding" in plain_headers, plain_headers["vary"]) == (False, "Accept-Encoding")
    assert "content-encoding" not in (await raw(user, LIST, **{"Accept-Encoding": "gzip;q=0, br"}))[0]


async def test_short_answers_and_events_are_left_alone(api: Api, user: Caller) -> None:
    assert "content-encoding" not in (await raw(user, "/health", **SENT))[0]
    async with user.http.stream("GET", f"{API}/events?follow=true", headers=SENT) as events:
        assert "content-encoding" not in events.headers
        assert (await asyncio.wait_for(anext(events.aiter_raw()), 60)).startswith(b"event: hello\n")


async def test_files_come_as_they_are(api: Api, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")
    content = json.dumps(["a"] * 5000).encode()
    (data.files / "some.json").write_bytes(content)
    headers, body = await raw(await api.as_("user"), f"/vfolders/{data.id}/content?path=some.json", **SENT)
    assert ("content-encoding" in headers, body == content) == (False, True)


async def test_what_holds_secrets_or_was_asked_by_another_site_is_not_compressed(
    api: Api, user: Caller
) -> None:
    browser = await api.browser("user")
    for path in ("/auth/me", "/auth/greeting", "/auth/browsers", "/auth/attempts?limit=50"):
        assert "content-encoding" not in (await raw(browser, path, **SENT))[0]
    for site in ("cross-site", "same-site"):
        headers, _ = await raw(user, LIST, **SENT, **{"Sec-Fetch-Site": site})
        assert "content-encoding" not in headers
    headers, _ = await raw(user, LIST, **SENT, **{"Sec-Fetch-Site": "same-origin"})
    assert headers["content-encoding"] == "gzip"
    signed = await api.client()
    async with signed.stream(
        "POST", f"{API}/auth/login", json={"email": "user@example.org", "password": PASSWORD}, headers=SENT
    ) as answer:
        assert "content-encoding" not in answer.headers


def test_nothing_that_is_compressed_shows_a_secret() -> None:
    """By the names of fields. A new one belongs below /auth/, or into an answer to POST."""
    harmless = {
        # Of the problem of a push.
        "code",
        "secrets",
        "has_secret",
        "old_secret_until",
        "recovery_codes_left",
        "exit_code",
        "status_code",
    }
    shown = {
        (path, name)
        for path, methods in document()["paths"].items()
        for name in _fields(methods.get("get", {}).get("responses", {}).get("200", {}), set())
        if not path.startswith(f"{API}/auth/")
        and any(word in name for word in ("token", "secret", "csrf", "code"))
    }
    assert {name for _, name in shown} <= harmless, shown


def _fields(part: object, seen: set[str]) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _fields(each, seen)
    elif isinstance(part, dict):
        name = str(part.get("$ref", "")).rsplit("/", 1)[-1]
        if name and name not in seen:
            seen.add(name)
            yield from _fields(document()["components"]["schemas"][name], seen)
        yield from part.get("properties", {})
        for each in part.values():
            yield from _fields(each, seen)


async def test_large_answers_are_compressed_too(api: Api) -> None:
    headers, body = await raw(await api.as_("anonymous"), "/openapi.json", **SENT)
    assert headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(body))["info"]["title"] == "Carrel"
