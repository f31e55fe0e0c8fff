"""OpenID Connect: the authorization code flow with PKCE.

Source: OpenID Connect Core 1.0 (3.1), Discovery 1.0, RFC 7636 (PKCE), RFC 9207 (issuer identification), RFC 9700.
"""

import asyncio
import base64
import re
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import aiohttp
import orjson
from joserfc import jwt
from joserfc.errors import ClaimError, InvalidClaimError, JoseError
from joserfc.jwk import KeySet
from pydantic import Field, field_validator

from carrel.core.errors import CarrelError
from carrel.core.host_names import is_this_machine
from carrel.identity.port import (
    TIMEOUT_S,
    Claims,
    ProviderCallback,
    ProviderContext,
    ProviderRedirect,
    TestStep,
    challenge_of,
    misconfigured,
    texts,
    trusting,
    unreachable,
    untrue,
)
from carrel.identity.settings import Certificates, GivenText, ProviderSettings, Secret, Word
from carrel.plugins import Plugin

_ISSUER = re.compile(r"https?://[^\s?#@]+$")
_SKEW_S = 60
_KEEP_S = 600.0
_MAX_BYTES = 1 << 20
_LONGEST_SUBJECT = 255
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Only signatures with a private key of the provider; never "none", never a shared secret."""
_WRONG = {
    "iss": ("issuer", "another issuer signed it"),
    "aud": ("audience", "it is for another application"),
    "azp": ("audience", "it is for another application"),
    "exp": ("expired", "it has expired; the clocks of the two servers may differ"),
    "iat": ("issued", "it comes from the future; the clocks of the two servers differ"),
    "nbf": ("issued", "it comes from the future; the clocks of the two servers differ"),
    "nonce": ("nonce", "it belongs to another sign-in"),
    "sub": ("subject", "it does not say whom it is about"),
}
"""By claim: the failed check and its message."""


class OidcSettings(ProviderSettings):
    """Users sign in at the provider, which redirects their browser back."""

    issuer: GivenText = Field(title="Issuer", examples=["https://login.example.org/realms/staff"])
    client_id: GivenText = Field(title="Client ID", examples=["carrel"])
    client_secret: Secret | None = Field(default=None, title="Client secret")
    scopes: list[Word] = Field(default=["openid", "email", "profile"], max_length=20, title="Scopes")
    email_claim: Word = Field(default="email", title="E-mail claim")
    name_claim: Word = Field(default="name", title="Name claim")
    groups_claim: Word = Field(default="groups", title="Groups claim")
    require_verified_email: bool = Field(default=True, title="Require a verified e-mail address")
    sign_in_confirms: bool = Field(
        default=False,
        title="Accept a sign-in without auth_time as recent",
        description="Dangerous changes are then open for 15 minutes after a sign-in.",
    )
    trusted_factors: list[Word] = Field(
        default=[],
        max_length=20,
        title="Counts as two-factor authentication",
        description="Values of the amr or acr claim, such as mfa. Users who sign in with one of them skip two-factor "
        "authentication here.",
        examples=[["mfa"]],
    )
    ca: Certificates = ""

    @field_validator("issuer")
    @classmethod
    def _require_address(cls, issuer: str) -> str:
        if not _ISSUER.match(issuer):
            raise ValueError("An issuer is an address such as https://login.example.org, without ? and #")
        return issuer

    @property
    def server(self) -> str:
        return self.issuer


class OpenIdProvider:
    """A `Redirecting` provider. Caches the provider's metadata for ten minutes."""

    def __init__(self, settings: OidcSettings, context: ProviderContext) -> None:
        self._settings = settings
        self._name = context.name
        self._wants_groups = context.wants_groups
        self._tls = trusting(settings.ca)
        self._published: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._asking = asyncio.Lock()

    async def depart(self, *, state: str, redirect_uri: str, max_age: timedelta) -> ProviderRedirect:
        published = await self._discover()
        nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        parameters = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(dict.fromkeys(["openid", *self._settings.scopes])),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
            # With max_age, the provider must return auth_time.
            "max_age": int(max_age.total_seconds()),
        }
        at = published["authorization_endpoint"]
        return ProviderRedirect(f"{at}{'&' if '?' in at else '?'}{urlencode(parameters)}", nonce, verifier)

    async def arrive(self, arrival: ProviderCallback, *, redirect_uri: str, now: datetime) -> Claims:
        published = await self._discover()
        # 1. Issuer: another provider's code must not be redeemed here.
        expected = bool(published.get("authorization_response_iss_parameter_supported"))
        if (arrival.issuer or expected) and arrival.issuer != self._settings.issuer:
            raise untrue(self._name, "issuer", "another provider sent it")
        # 2. Redeem the code and verify the token.
        tokens = await self._spend(published, arrival, redirect_uri)
        token_claims = await self._read(str(tokens.get("id_token", "")), arrival.nonce, now)
        # 3. Claims that the token omits.
        if self._lacks(token_claims):
            token_claims = {**await self._user_info(published, tokens, token_claims["sub"]), **token_claims}
        return self._claims(token_claims, now)

    async def test(self) -> list[TestStep]:
        self._published = self._keys = None
        steps = []
        try:
            published = await self._discover()
            steps.append(TestStep("discovery", True, f"{self._settings.issuer} describes itself."))
            keys = await self._key_set(published, fresh=True)
            steps.append(
                TestStep("keys", True, f"It published {len(keys.keys)} keys that sign what it says.")
            )
        except CarrelError as error:
            steps.append(TestStep("keys" if steps else "discovery", False, error.message))
        return steps

    def close(self) -> None:
        """No-op: each request has its own connection."""

    async def _discover(self) -> dict[str, Any]:
        """The provider's metadata. Raises: Unavailable."""
        async with self._asking:
            if self._published and self._published[0] > time.monotonic():
                return self._published[1]
            issuer = self._settings.issuer
            self._require_safe(issuer)
            document = await self._get(issuer.rstrip("/") + "/.well-known/openid-configuration")
            if document.get("issuer") != issuer:
                raise self._misconfigured(f"its issuer is {document.get('issuer')}, not {issuer}")
            for place in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not isinstance(document.get(place), str):
                    raise self._misconfigured(f"its configuration has no {place}")
                self._require_safe(document[place])
            self._published = (time.monotonic() + _KEEP_S, document)
            return document

    async def _spend(
        self, published: Mapping[str, Any], arrival: ProviderCallback, redirect_uri: str
    ) -> dict[str, Any]:
        """Redeem a code for tokens. Raises: Unauthorized, Unavailable."""
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": arrival.code,
            "redirect_uri": redirect_uri,
            "code_verifier": arrival.verifier,
        }
        headers = {}
        ways = published.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if settings.client_secret is None:
            form["client_id"] = settings.client_id
        elif "client_secret_basic" in ways:
            # Both parts are form-encoded before they are joined (RFC 6749, 2.3.1).
            pair = f"{quote_plus(settings.client_id)}:{quote_plus(settings.client_secret.get_secret_value())}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            form |= {
                "client_id": settings.client_id,
                "client_secret": settings.client_secret.get_secret_value(),
            }
        status, answer = await self._ask("POST", published["token_endpoint"], headers=headers, form=form)
        if status == 200:
            return answer
        reason = str(answer.get("error", f"status {status}"))[:100]
        if reason == "invalid_grant":
            raise untrue(self._name, "code", "it does not accept its own code")
        if status >= 500:
            raise unreachable(self._name, f"it answers {status}")
        raise self._misconfigured(f"it refuses to issue tokens ({reason})")

    async def _read(self, token: str, nonce: str, now: datetime) -> dict[str, Any]:
        """The verified claims of an ID token. Raises: Unauthorized, Unavailable."""
        token_claims, settings = await self._verified(token), self._settings
        several = isinstance(token_claims.get("aud"), list) and len(token_claims["aud"]) > 1
        demanded = jwt.JWTClaimsRegistry(
            int(now.timestamp()),
            _SKEW_S,
            iss={"essential": True, "value": settings.issuer},
            aud={"essential": True, "value": settings.client_id},
            azp={"essential": several, "value": settings.client_id},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
            sub={"essential": True},
        )
        try:
            demanded.validate(token_claims)
            if len(token_claims["sub"]) > _LONGEST_SUBJECT:
                raise InvalidClaimError("sub")
        except ClaimError as error:
            claim = error.claim.split(",")[0]
            check, why = _WRONG.get(claim, (claim, f"its claim {claim} cannot be read"))
            raise untrue(self._name, check, why) from error
        return token_claims

    async def _verified(self, token: str) -> dict[str, Any]:
        """The claims of a token with a valid signature; reloads the provider's keys if a key is unknown."""
        published = await self._discover()
        for fresh in (False, True):
            keys = await self._key_set(published, fresh=fresh)
            try:
                return dict(jwt.decode(token, keys, algorithms=_ALGORITHMS).claims)
            except (JoseError, ValueError, TypeError, KeyError) as error:
                wrong = error
        raise untrue(self._name, "signature", "none of its keys signed it") from wrong

    async def _key_set(self, published: Mapping[str, Any], *, fresh: bool) -> KeySet:
        if self._keys and not fresh and self._keys[0] > time.monotonic():
            return self._keys[1]
        document = await self._get(published["jwks_uri"])
        # Skip keys of unknown types.
        usable = [key for key in _list(document.get("keys")) if _signs(key)]
        try:
            keys = KeySet.import_key_set({"keys": usable})
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise self._misconfigured("its keys cannot be read") from error
        if not keys.keys:
            raise self._misconfigured("it publishes no signing key")
        self._keys = (time.monotonic() + _KEEP_S, keys)
        return keys

    def _lacks(self, token_claims: Mapping[str, Any]) -> bool:
        settings = self._settings
        claims = [settings.email_claim, settings.name_claim, *[settings.groups_claim] * self._wants_groups]
        return any(claim not in token_claims for claim in claims)

    async def _user_info(
        self, published: Mapping[str, Any], tokens: Mapping[str, Any], subject: str
    ) -> dict[str, Any]:
        at, token = published.get("userinfo_endpoint"), tokens.get("access_token")
        if not isinstance(at, str) or not isinstance(token, str):
            return {}
        self._require_safe(at)
        status, document = await self._ask("GET", at, headers={"Authorization": f"Bearer {token}"})
        if status != 200:
            raise unreachable(self._name, f"it answers {status} to the user-info request")
        if document.get("sub") != subject:
            raise untrue(self._name, "subject", "it speaks of two people")
        return document

    def _claims(self, token_claims: Mapping[str, Any], now: datetime) -> Claims:
        settings = self._settings
        emails = texts(token_claims, settings.email_claim)
        names = texts(token_claims, settings.name_claim)
        return Claims(
            subject=token_claims["sub"],
            email=emails[0].strip() if emails else None,
            email_verified=token_claims.get("email_verified") in (True, "true")
            or not settings.require_verified_email,
            name=names[0] if names else "",
            groups=frozenset(texts(token_claims, settings.groups_claim)),
            second_factor=not set(settings.trusted_factors).isdisjoint(
                [*texts(token_claims, "amr"), *texts(token_claims, "acr")]
            ),
            proved_at=_time(token_claims.get("auth_time"), now)
            or (now if settings.sign_in_confirms else None),
        )

    async def _get(self, url: str) -> dict[str, Any]:
        status, document = await self._ask("GET", url)
        if status != 200:
            raise unreachable(self._name, f"{url} answers {status}")
        return document

    async def _ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> tuple[int, dict[str, Any]]:
        """Status and JSON of a response. Does not follow redirects. Raises: Unavailable."""
        host = urlsplit(url).netloc
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session,
                session.request(
                    method,
                    url,
                    headers={"Accept": "application/json", **(headers or {})},
                    data=form,
                    ssl=self._tls,
                    allow_redirects=False,
                ) as answer,
            ):
                body = await answer.content.read(_MAX_BYTES + 1)
                while len(body) <= _MAX_BYTES and (more := await answer.content.read(_MAX_BYTES)):
                    body += more
        except aiohttp.ClientConnectorCertificateError as error:
            raise unreachable(self._name, f"{host} has an untrusted certificate") from error
        except TimeoutError as error:
            raise unreachable(self._name, f"{host} took more than {TIMEOUT_S:.0f} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise unreachable(self._name, f"{host} cannot be reached") from error
        if len(body) > _MAX_BYTES:
            raise self._misconfigured(f"{host} answers with more than 1 MiB")
        try:
            document = orjson.loads(body)
        except ValueError:
            document = None
        if isinstance(document, dict):
            return answer.status, document
        if answer.status == 200:
            raise self._misconfigured(f"{host} does not return JSON")
        return answer.status, {}

    def _require_safe(self, url: str) -> None:
        """Require https for secrets and keys, except on this machine."""
        parts = urlsplit(url)
        if parts.scheme == "https" or (parts.scheme == "http" and is_this_machine(parts.hostname or "")):
            return
        raise self._misconfigured(f"{url} is not encrypted (https)")

    def _misconfigured(self, why: str) -> CarrelError:
        return misconfigured(self._name, why)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _signs(key: object) -> bool:
    return (
        isinstance(key, dict)
        and key.get("kty") in ("RSA", "EC", "OKP")
        and key.get("use", "sig") == "sig"
        and key.get("crv") in (None, "P-256", "P-384", "P-521", "Ed25519")
    )


def _time(value: object, now: datetime) -> datetime | None:
    """The time of a timestamp claim, at most now, since clocks differ."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return min(datetime.fromtimestamp(value, UTC), now) if 0 <= value <= now.timestamp() + _SKEW_S else None


PLUGIN = Plugin(
    OidcSettings, lambda settings: partial(OpenIdProvider, settings), "OpenID Connect", OpenIdProvider
)
