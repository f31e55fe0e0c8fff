"""What tests of signing in share: time that moves, an authenticator app, a security key, a browser that signs in."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import cbor2
import httpx2
import pyotp
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from installation import API, Api, Caller
from people import PASSWORD

ORIGIN = "http://localhost:8700"
NEW = "another fine password 7"
# Somebody who signs up.
ADA = {"email": "ada@example.org", "name": "Ada", "password": NEW}


class Clock:
    """The present, and so much more."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def wind(api: Api, **ahead: float) -> datetime:
    """Let so much time go by for the server; gives its time."""
    clock = api.services.clock
    if not isinstance(clock, Clock):
        clock = api.services.authenticator._clock = api.services.mailer._clock = Clock()
        api.replace_services(clock=clock)
    clock.ahead += timedelta(**ahead)
    api.services.authenticator.forget()
    return clock.now()


async def sign_in(api: Api, name: str, password: str = PASSWORD, **options) -> Caller:  # type: ignore[no-untyped-def]
    """A browser after the first step, whatever is still missing."""
    client = await api.client(headers={"Sec-Fetch-Mode": "cors", **options.pop("headers", {})}, **options)
    body = {"email": f"{name}@example.org", "password": password}
    accept(client, await client.post(f"{API}/auth/login", json=body))
    return Caller(name, getattr(api.people, name, None), client)


def accept(client: httpx2.AsyncClient, answer: httpx2.Response) -> dict:  # type: ignore[type-arg]
    """Go on with the CSRF token that an answer gave."""
    assert answer.status_code in (200, 201), answer.text
    if token := answer.json().get("csrf_token"):
        client.headers["X-Carrel-CSRF"] = token
    return answer.json()  # type: ignore[no-any-return]


async def set_site(api: Api, **settings: object) -> None:
    """Change the site's settings, as a superadmin does."""
    answer = await (await api.as_("superadmin")).patch("/site", settings)
    assert answer.status_code == 200, answer.text


async def add_totp(api: Api, caller: Caller) -> tuple[pyotp.TOTP, list[str]]:
    """An authenticator app of the caller's, and the recovery codes that came with it."""
    offer = (await caller.post("/factors/totp")).json()
    app = pyotp.TOTP(offer["secret"])
    confirmed = await caller.post("/factors/totp/confirm", {"code": app.at(wind(api))})
    return app, accept(caller.http, confirmed)["recovery_codes"]


@dataclass
class SecurityKey:
    """A software authenticator: makes and proves credentials as browsers hand them on (WebAuthn level 3)."""

    origin: str = ORIGIN
    verifies: bool = True
    keys: dict[bytes, tuple[ec.EllipticCurvePrivateKey, bytes]] = field(default_factory=dict)
    count: int = 0

    def make(self, options: dict, **changed: object) -> dict:  # type: ignore[type-arg]
        """The answer to options for making a passkey."""
        private, key_id = ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(32)
        self.keys[key_id] = (private, plain(options["user"]["id"]))
        numbers = private.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        described = bytes(16) + len(key_id).to_bytes(2, "big") + key_id + cbor2.dumps(cose)
        seen = self._seen(options["rp"]["id"], 0x40) + described
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": seen})
        response = {
            "clientDataJSON": coded(self._client_data("webauthn.create", options, changed)),
            "attestationObject": coded(attestation),
            "transports": ["internal"],
        }
        return self._credential(key_id, response)

    def prove(self, options: dict, **changed: object) -> dict:  # type: ignore[type-arg]
        """The answer to options for proving a passkey, by the first that fits."""
        allowed = [plain(key["id"]) for key in options.get("allowCredentials") or []]
        key_id = next(key for key in self.keys if not allowed or key in allowed)
        private, owner = self.keys[key_id]
        client_data = self._client_data("webauthn.get", options, changed)
        seen = self._seen(options["rpId"], 0)
        signature = private.sign(seen + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": coded(client_data),
            "authenticatorData": coded(seen),
            "signature": coded(signature),
            "userHandle": coded(owner),
        }
        return self._credential(key_id, response)

    def _seen(self, host: str, more: int) -> bytes:
        self.count += 1
        flags = 0x01 | (0x04 if self.verifies else 0) | more
        return hashlib.sha256(host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, options: dict, changed: dict) -> bytes:  # type: ignore[type-arg]
        content = {
            "type": kind,
            "challenge": options["challenge"],
            "origin": self.origin,
            "crossOrigin": False,
        }
        return json.dumps({**content, **changed}).encode()

    def _credential(self, key_id: bytes, response: dict) -> dict:  # type: ignore[type-arg]
        return {"id": coded(key_id), "rawId": coded(key_id), "type": "public-key", "response": response}


async def add_passkey(caller: Caller, key: SecurityKey, name: str = "key") -> dict:  # type: ignore[type-arg]
    """A passkey of the caller's on this key, as the API shows it."""
    options = (await caller.post("/factors/passkeys/options")).json()["options"]
    made = await caller.post("/factors/passkeys", {"name": name, "credential": key.make(options)})
    return accept(caller.http, made)


def coded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def plain(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


async def post(api: Api, path: str, body: object, **headers: str):  # type: ignore[no-untyped-def]
    return await (await api.client()).post(f"{API}{path}", json=body, headers=headers)


async def login(api: Api, password: str, name: str = "user@example.org") -> int:
    return (await post(api, "/auth/login", {"email": name, "password": password})).status_code


async def open_sign_up(api: Api, **settings: object) -> None:
    await set_site(
        api, sign_up=True, sign_up_domain=api.people.domain, sign_up_project=api.people.project, **settings
    )
