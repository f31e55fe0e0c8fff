"""Request authentication: a cookie (pages, with CSRF protection), HTTP Basic with a keypair, or a bearer token."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends
from starlette.requests import HTTPConnection
from starlette.responses import Response

from carrel.core.errors import Forbidden, Unauthorized, Unavailable
from carrel.http.rate_limits import ANONYMOUS_LIMIT
from carrel.http.services import Identity, Services, services_of
from carrel.http.shell import LATE_HEADERS
from carrel.permissions.actions import ACTIONS
from carrel.permissions.decide import Actor, refusal, widest

COOKIE = "carrel_session"
CSRF_HEADER = "X-Carrel-CSRF"
ACTION = "x-carrel-action"
OWN_TOKEN = "own_token"
"""Key in the request state: the token of the sign-in cookie."""
_MOST_COOKIES = 50
CONFIRMED_FOR = timedelta(minutes=15)
_SAFE = {"GET", "HEAD", "OPTIONS"}


def names(action: str) -> dict[str, Any]:
    """For a route's `openapi_extra`: the action that the route performs, from the permission table."""
    return {ACTION: ACTIONS[action].name}


async def identify(connection: HTTPConnection) -> Identity:
    """The identity behind a request or WebSocket, whose sign-in may still be pending.

    Raises: Unauthorized; Forbidden when a cookie request lacks its CSRF token or comes from another origin.
    """
    state = connection.scope.setdefault("state", {})
    if "identity" not in state:
        state["identity"] = await _identify(connection)
    known: Identity = state["identity"]
    return known


async def _identify(connection: HTTPConnection) -> Identity:
    authenticator = services_of(connection, Services).authenticator
    address = client_address(connection)
    if authorization := connection.headers.get("authorization"):
        identity = await authenticator.by_header(authorization, address)
        if identity is None:
            await by_address(connection)
            raise Unauthorized(
                "auth.bad_keypair",
                "This keypair or token is unknown, inactive or expired, or its secret is wrong.",
                hint="Create another one: `carrel login`.",
            )
        identity = _of_request(connection, identity)
        _count(connection, identity)
        return identity
    identity = None
    for token in cookies_named(connection, COOKIE):
        if identity := await authenticator.by_cookie(token, address):
            break
    if identity is None:
        await by_address(connection)
        raise Unauthorized("auth.required", "You are not signed in.", hint="Sign in, then try again.")
    identity = _of_request(connection, identity)
    _require_own_page(connection, identity)
    _count(connection, identity)
    state = connection.scope["state"]
    state[OWN_TOKEN] = token
    if identity.renewal_due:
        # Renewed when the response starts, because only a response can carry the cookie; a WebSocket or stream
        # cannot.
        state[LATE_HEADERS] = partial(_renewed, connection, token)
    return identity


def cookies_named(connection: HTTPConnection, name: str) -> list[str]:
    """All values of cookies with that name. Sibling hosts may have planted some of them."""
    pairs = (
        part.partition("=") for header in connection.headers.getlist("cookie") for part in header.split(";")
    )
    return list(dict.fromkeys(value.strip() for key, _, value in pairs if key.strip() == name))[
        :_MOST_COOKIES
    ]


def set_cookie(connection: HTTPConnection, response: Response, token: str, lifetime: timedelta) -> None:
    """Set the sign-in cookie in the browser."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(lifetime.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=connection.url.scheme == "https",
    )


async def _renewed(connection: HTTPConnection, token: str) -> list[tuple[bytes, bytes]]:
    authenticator = services_of(connection, Services).authenticator
    try:
        renewed = await authenticator.renewed(token)
    except Unavailable:  # the next response carries it
        return []
    if renewed is None:
        return []
    carrier = Response()
    set_cookie(connection, carrier, *renewed)
    return [header for header in carrier.raw_headers if header[0] == b"set-cookie"]


def _of_request(connection: HTTPConnection, identity: Identity) -> Identity:
    """The identity, with the request id if the request may change something, for the audit trail."""
    if connection.scope.get("method") in _SAFE:
        return identity
    state = connection.scope["state"]
    stamped = replace(identity, actor=replace(identity.actor, request_id=state.get("request_id", "")))
    state["actor"] = stamped.actor
    return stamped


def _count(connection: HTTPConnection, identity: Identity) -> None:
    """Raises: TooManyRequests."""
    actor = identity.actor
    key = f"login:{actor.login_id.hex()}" if actor.login_id else actor.credential
    limits = services_of(connection, Services).limits
    connection.scope.setdefault("state", {})["rate_limit"] = limits.count(key, identity.rate_limit)


async def by_address(connection: HTTPConnection) -> None:
    """Count a request without an identity, for public routes. Raises: TooManyRequests."""
    limits = services_of(connection, Services).limits
    key = f"address:{client_address(connection)}"
    connection.scope.setdefault("state", {})["rate_limit"] = limits.count(key, ANONYMOUS_LIMIT)


def client_address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def _require_own_page(connection: HTTPConnection, identity: Identity) -> None:
    """Reject cross-site requests that carry this browser's cookie."""
    origin = connection.headers.get("origin")
    if connection.scope["type"] == "websocket":
        if not origin or not _is_own(connection, origin):
            raise Forbidden("auth.origin", "This WebSocket comes from another site.")
        return
    if connection.scope["method"] in _SAFE:
        return
    if origin is not None and not _is_own(connection, origin):
        raise Forbidden(
            "auth.origin",
            "This request comes from another site.",
            hint="Behind a proxy, forward the Host header or set CARREL_PUBLIC_URL to the public address.",
            field="Origin",
        )
    sent = connection.headers.get(CSRF_HEADER, "")
    if not secrets.compare_digest(sent.encode(), (identity.csrf_token or "").encode()):
        raise Forbidden(
            "auth.csrf", "The request lacks its CSRF token.", hint="Reload the page.", field=CSRF_HEADER
        )


def _is_own(connection: HTTPConnection, origin: str) -> bool:
    """True if the origin is ours: the request's Host, or the installation's public address."""
    public = urlsplit(services_of(connection, Services).settings.effective_public_url)
    own = {connection.headers.get("host", "").lower(), public.netloc.lower()}
    return urlsplit(origin).netloc.lower() in own - {""}


async def current_identity(connection: HTTPConnection) -> Identity:
    """The identity behind this request, allowed to perform the route's action in at least one scope.

    Raises: as `identify`; Forbidden when the sign-in is incomplete or the action is not permitted in any scope.
    """
    return await _entitled(connection)


async def current_actor(connection: HTTPConnection) -> Actor:
    """The actor of this request. Raises: as `current_identity`."""
    return (await _entitled(connection)).actor


async def confirmed_actor(connection: HTTPConnection) -> Actor:
    """The actor of a sensitive request, who re-authenticated recently.

    Keypairs and tokens need no re-authentication. Raises: Forbidden, and as `current_identity`.
    """
    identity = await _entitled(connection)
    _require_confirmed(connection, identity)
    return identity.actor


def finishing(step: str) -> Callable[[HTTPConnection], Awaitable[Identity]]:
    """A dependency for routes that complete this sign-in step; fully signed-in users may call them too."""

    async def identity(connection: HTTPConnection) -> Identity:
        return await _entitled(connection, step)

    return identity


async def require_confirmed(connection: HTTPConnection) -> None:
    """Raises: Forbidden unless the user re-authenticated recently; and as `current_identity`."""
    _require_confirmed(connection, await _entitled(connection, "enrol"))


async def _entitled(connection: HTTPConnection, step: str | None = None) -> Identity:
    identity = await identify(connection)
    if identity.pending and identity.pending != step:
        raise Forbidden(
            f"auth.pending_{identity.pending}",
            _PENDING[identity.pending],
            hint="Finish signing in on the page.",
            details={"pending": identity.pending},
        )
    route = connection.scope.get("route")
    action = (getattr(route, "openapi_extra", None) or {}).get(ACTION)
    if action and not widest(identity.actor, action):
        raise refusal(identity.actor, action)
    return identity


def _require_confirmed(connection: HTTPConnection, identity: Identity) -> None:
    now = services_of(connection, Services).clock.now()
    if identity.confirmed_at and now - identity.confirmed_at > CONFIRMED_FOR:
        raise Forbidden(
            "auth.confirm_needed",
            "Confirm your identity: this change requires recent authentication.",
            hint="Confirm with your password, a code or a passkey, and try again.",
        )


def identifies(call: object) -> bool:
    """True if this route dependency rejects requests without credentials."""
    return call in _IDENTIFYING or getattr(call, "__qualname__", "").startswith(f"{finishing.__name__}.")


_PENDING = {
    "factor": "The second sign-in step is still pending.",
    "password": "You must change your password first.",
    "enrol": "You must set up two-factor authentication first.",
}

_IDENTIFYING = (identify, current_identity, current_actor, confirmed_actor, require_confirmed)

ByAddress = Depends(by_address)
CurrentActor = Annotated[Actor, Depends(current_actor)]
CurrentIdentity = Annotated[Identity, Depends(current_identity)]
Confirmed = Depends(require_confirmed)
RecentlyConfirmed = Annotated[Actor, Depends(confirmed_actor)]
UnfinishedIdentity = Annotated[Identity, Depends(identify)]
