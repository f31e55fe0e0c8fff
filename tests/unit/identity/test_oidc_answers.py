"""What Carrel believes of what an OpenID provider answers. The provider here says whatever a test wants."""

import hmac
import json
import math
import ssl
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey
from own_authority import certificates

from carrel.core.errors import CarrelError
from carrel.identity.oidc import OidcSettings, OpenIdProvider
from carrel.identity.port import Claims, ProviderCallback, ProviderContext

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
AT = int(NOW.timestamp())
RSA = RSAKey.generate_key(2048, {"use": "sig"}, private=True, auto_kid=True)
OTHER = RSAKey.generate_key(2048, {"use": "sig"}, private=True, auto_kid=True)
EC = ECKey.generate_key("P-256", {"use": "sig"}, private=True, auto_kid=True)


@dataclass
class Liar:
    """A provider. token: what it gives for a code; keys: what it publishes; described: what it says of itself."""

    url: str = ""
    keys: list[Any] = field(default_factory=lambda: [RSA, EC])
    claims: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any]], str] = lambda claims: signed(claims, RSA)
    described: dict[str, Any] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        match request.path:
            case "/.well-known/openid-configuration":
                places = {
                    "authorization_endpoint": f"{self.url}/auth",
                    "token_endpoint": f"{self.url}/token",
                    "jwks_uri": f"{self.url}/jwks",
                    "userinfo_endpoint": f"{self.url}/me",
                }
                return web.json_response({"issuer": self.url, **places, **self.described})
            case "/jwks":
                return web.json_response({"keys": [key.as_dict(private=False) for key in self.keys]})
            case "/token":
                payload = {
                    "iss": self.url,
                    "aud": "carrel",
                    "sub": "1",
                    "nonce": "the nonce",
                    "iat": AT,
                    "exp": AT + 300,
                    "email": "ada@example.org",
                    "email_verified": True,
                    "name": "Ada",
                    **self.claims,
                }
                payload = {name: value for name, value in payload.items() if value is not None}
                return web.json_response({"id_token": self.sign(payload), "access_token": "x"})
            case "/me":
                return web.json_response(self.user_info)
        return web.Response(status=302, headers={"Location": "/jwks"})


def signed(claims: dict[str, Any], key: Any, **header: object) -> str:
    algorithm = {"RSA": "RS256", "EC": "ES256", "oct": "HS256"}[key.key_type]
    head = {"alg": algorithm, "kid": key.kid, **header}
    return jwt.encode(head, claims, key, algorithms=[str(head["alg"])])


@asynccontextmanager
async def running(context: ssl.SSLContext | None = None) -> AsyncIterator[Liar]:
    liar, app = Liar(), web.Application()
    app.router.add_route("*", "/{path:.*}", liar.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    port = runner.addresses[0][1]
    liar.url = f"http{'s' if context else ''}://127.0.0.1:{port}"
    yield liar
    await runner.cleanup()


@pytest.fixture
async def liar() -> AsyncIterator[Liar]:
    async with running() as server:
        yield server


def made(liar: Liar, *, wants_groups: bool = False, **changes: Any) -> OpenIdProvider:
    settings = OidcSettings(
        **{"issuer": liar.url, "client_id": "carrel", "client_secret": "s", "scopes": ["openid"], **changes}
    )
    return OpenIdProvider(settings, ProviderContext("corp", wants_groups=wants_groups))


async def arrive(liar: Liar, **changes: Any) -> Claims:
    provider = made(liar, **changes)
    arrival = ProviderCallback(code="c", issuer=liar.url, nonce="the nonce", verifier="v" * 43)
    return await provider.arrive(arrival, redirect_uri="http://127.0.0.1/back", now=NOW)


async def refused(liar: Liar, **changes: Any) -> tuple[str, object]:
    with pytest.raises(CarrelError) as error:
        await arrive(liar, **changes)
    assert error.value.message.startswith("The")
    return error.value.code, error.value.details.get("check")


async def test_a_true_answer_is_believed(liar: Liar):
    claims = await arrive(liar)
    assert (claims.subject, claims.email, claims.email_verified, claims.name) == (
        "1",
        "ada@example.org",
        True,
        "Ada",
    )
    liar.sign = lambda payload: signed(payload, EC)
    assert (await arrive(liar)).subject == "1"


@pytest.mark.parametrize(
    ("auth_time", "ago"),
    [
        (AT - 100, 100),
        (AT - 100.5, 100.5),
        (AT + 30, 0),
        (AT + 61, None),
        (-1, None),
        (None, None),
        ("long ago", None),
        (True, None),
    ],
)
async def test_when_somebody_proved_it_is_believed_if_it_is_a_time(
    liar: Liar, auth_time: object, ago: float | None
):
    liar.claims = {"auth_time": auth_time}
    proved = (await arrive(liar)).proved_at
    assert proved == (None if ago is None else NOW - timedelta(seconds=ago))


@pytest.mark.parametrize(
    ("lie", "check"),
    [
        ({"iss": "https://other.example"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"aud": "another"}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": []}, "audience"),
        ({"aud": ["carrel", "another"]}, "audience"),
        ({"aud": ["carrel", "another"], "azp": "another"}, "audience"),
        ({"azp": "another"}, "audience"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"exp": AT - 61}, "expired"),
        ({"exp": None}, "expired"),
        ({"exp": "never"}, "expired"),
        ({"exp": math.nan}, "expired"),
        ({"exp": True}, "expired"),
        ({"iat": AT + 61}, "issued"),
        ({"iat": None}, "issued"),
        ({"nbf": AT + 61}, "issued"),
        ({"jti": 7}, "jti"),
        ({"sub": ""}, "subject"),
        ({"sub": None}, "subject"),
        ({"sub": 7}, "subject"),
        ({"sub": "x" * 256}, "subject"),
    ],
)
async def test_a_lie_is_not_believed(liar: Liar, lie: dict[str, Any], check: str):
    liar.claims = lie
    assert await refused(liar) == ("provider.bad_answer", check)


@pytest.mark.parametrize(
    "truth",
    [
        {"exp": AT - 50},
        {"iat": AT + 50},
        {"aud": ["carrel"]},
        {"aud": ["carrel", "another"], "azp": "carrel"},
    ],
)
async def test_clocks_may_differ_a_little_and_tokens_may_be_for_others_too(liar: Liar, truth: dict[str, Any]):
    liar.claims = truth
    assert (await arrive(liar)).subject == "1"


def unsigned(payload: dict[str, Any]) -> str:
    _, body, _ = signed(payload, RSA).split(".")
    return f"eyJhbGciOiJub25lIn0.{body}."


def tampered(payload: dict[str, Any]) -> str:
    head, _, signature = signed(payload, RSA).split(".")
    return ".".join([head, signed({**payload, "email": "boss@example.org"}, RSA).split(".")[1], signature])


def by_public_key(payload: dict[str, Any]) -> str:
    parts = [{"alg": "HS256", "kid": RSA.kid}, payload]
    text = ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    mac = hmac.digest(RSA.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{urlsafe_b64encode(mac).decode().rstrip('=')}"


FORGERIES: dict[str, Callable[[dict[str, Any]], str]] = {
    "another's key": lambda payload: signed(payload, OTHER),
    "another's key under a known name": lambda payload: signed(payload, OTHER, kid=RSA.kid),
    "no signature": unsigned,
    "another body": tampered,
    "the client's secret": lambda payload: signed(payload, OctKey.import_key("s" * 32), kid=RSA.kid),
    "the public key as a secret": by_public_key,
    "no token": lambda payload: "",
    "rubbish": lambda payload: "a.b.c",
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_forgery_is_not_believed(liar: Liar, forgery: str):
    liar.sign = FORGERIES[forgery]
    assert await refused(liar) == ("provider.bad_answer", "signature")


async def test_what_the_token_leaves_out_is_asked_for_about_the_same_person(liar: Liar):
    liar.claims = {"email": None, "name": None, "email_verified": None}
    liar.user_info = {"sub": "1", "email": "ada@example.org", "email_verified": True, "groups": ["a", 7, "b"]}
    claims = await arrive(liar, wants_groups=True)
    assert (claims.email, claims.email_verified, claims.groups) == ("ada@example.org", True, {"a", "b"})
    liar.user_info = {**liar.user_info, "sub": "2"}
    assert await refused(liar) == ("provider.bad_answer", "subject")


async def test_what_was_published_is_asked_for_once_and_keys_again_when_one_is_new(liar: Liar):
    provider = made(liar)
    arrival = ProviderCallback(code="c", issuer="", nonce="the nonce", verifier="v" * 43)
    for _ in range(2):
        await provider.arrive(arrival, redirect_uri="http://127.0.0.1/back", now=NOW)
    assert (liar.paths.count("/.well-known/openid-configuration"), liar.paths.count("/jwks")) == (1, 1)
    liar.keys, liar.sign = [OTHER], lambda payload: signed(payload, OTHER)
    await provider.arrive(arrival, redirect_uri="http://127.0.0.1/back", now=NOW)
    assert liar.paths.count("/jwks") == 2


@pytest.mark.parametrize(
    "described",
    [
        {"issuer": "https://other.example"},
        {"token_endpoint": None},
        {"token_endpoint": "http://login.example/token"},
        {"jwks_uri": "file:///etc/passwd"},
    ],
)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(liar: Liar, described: dict[str, Any]):
    liar.described = described
    assert await refused(liar) == ("provider.misconfigured", None)


async def test_secrets_do_not_travel_in_the_open(liar: Liar):
    assert await refused(liar, issuer="http://login.example") == ("provider.misconfigured", None)
    assert liar.paths == []


async def test_a_redirect_is_not_followed(liar: Liar):
    liar.described = {"jwks_uri": f"{liar.url}/elsewhere"}
    assert await refused(liar) == ("provider.unreachable", None)


async def test_a_certificate_must_be_trusted(tmp_path: Path):
    ca = certificates(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    async with running(context) as liar:
        assert (await arrive(liar, ca=ca)).subject == "1"
        assert await refused(liar) == ("provider.unreachable", None)
        [step] = await made(liar).test()
        assert "certificate" in step.sentence


def test_what_are_no_certificates_is_refused():
    with pytest.raises(CarrelError) as error:
        made(Liar("https://login.example"), ca="-----BEGIN CERTIFICATE-----\nno")
    assert error.value.code == "provider.bad_ca"


async def test_a_provider_that_does_not_say_when_is_believed_where_an_administrator_wants_so(liar: Liar):
    assert (await arrive(liar)).proved_at is None
    assert (await arrive(liar, sign_in_confirms=True)).proved_at == NOW
    liar.claims = {"auth_time": AT - 3600}
    assert (await arrive(liar, sign_in_confirms=True)).proved_at == NOW - timedelta(hours=1)
