"""Whose word is taken on where somebody comes from."""

from typing import Any

import pytest

from carrel.core.errors import Invalid
from carrel.server.processes import listening
from carrel.server.settings import Settings


async def seen(peer: str, forwarded: str, **settings: str) -> tuple[str, str]:
    """The address and the scheme that the application sees."""
    scopes: list[dict[str, Any]] = []

    async def app(scope: dict[str, Any], receive: object, send: object) -> None:
        scopes.append(scope)

    config = listening(app, Settings(**settings))  # type: ignore[arg-type]
    config.load()
    headers = [(b"x-forwarded-for", forwarded.encode()), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "client": (peer, 5000), "scheme": "http", "headers": headers}
    await config.loaded_app(scope, None, None)  # type: ignore[arg-type]
    return scopes[0]["client"][0], scopes[0]["scheme"]


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "192.0.2.7", "172.17.0.2"])
async def test_the_word_of_strangers_means_nothing(peer: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    assert await seen(peer, "198.51.100.1") == (peer, "http")
    assert await seen(peer, "198.51.100.1", trusted_proxies="10.0.0.0/8") == (peer, "http")


async def test_that_of_proxies_does_as_far_as_proxies_wrote_it():
    trusted = {"trusted_proxies": "127.0.0.1, 10.0.0.0/8"}
    assert await seen("127.0.0.1", "198.51.100.1", **trusted) == ("198.51.100.1", "https")
    # What the client wrote in front of what our proxies added is only its own word.
    assert await seen("10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9", **trusted) == ("198.51.100.1", "https")


@pytest.mark.parametrize("given", ["*", "proxy.example.org", "10.0.0.1/8", "127.0.0.1;10.0.0.1"])
def test_what_is_no_address_is_refused(given: str):
    with pytest.raises(Invalid) as refused:
        _ = Settings(trusted_proxies=given).effective_trusted_proxies
    assert refused.value.code == "setup.trusted_proxies"
