"""Who is asking: from a cookie (pages, with CSRF protection), HTTP Basic with a keypair, or a bearer token."""

import secrets
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from fastapi import Depends
from starlette.requests import HTTPConnection

from carrel.core.errors import Forbidden, Unauthorized
from carrel.policy.actions import ACTIONS
from carrel.policy.decide import Actor, refusal, widest

COOKIE = "carrel_session"
CSRF_HEADER = "X-Carrel-CSRF"
ACTION = "x-carrel-action"
_SAFE = {"GET", "HEAD", "OPTIONS"}


class Identity(Protocol):
    """What an authenticator gives back. csrf_token None: no cookie was involved.

    pending: what the sign-in still needs before it counts; None: nothing.
    """

    @property
    def actor(self) -> Actor: ...

    @property
    def csrf_token(self) -> str | None: ...

    @property
    def pending(self) -> str | None: ...


class Authenticator(Protocol):
    """Looks credentials up; lives in `app.state.authenticator`."""

    async def by_cookie(self, token: str, address: str) -> Identity | None: ...

    async def by_header(self, authorization: str, address: str) -> Identity | None: ...


def names(action: str) -> dict[str, Any]:
    """For a route's `openapi_extra`: the action from the one table that it performs."""
    return {ACTION: ACTIONS[action].name}


async def identify(connection: HTTPConnection) -> Identity:
    """The identity behind a request or WebSocket, whose sign-in may still be pending.

    Raises: Unauthorized; Forbidden when a page's request lacks its CSRF token or comes from elsewhere.
    """
    authenticator: Authenticator = connection.app.state.authenticator
    address = client_address(connection)
    if authorization := connection.headers.get("authorization"):
        identity = await authenticator.by_header(authorization, address)
        if identity is None:
            raise Unauthorized(
                "auth.bad_keypair",
                "This keypair or token is unknown, inactive or expired, or its secret is wrong.",
                hint="Make another with `carrel login`.",
            )
        return identity
    token = connection.cookies.get(COOKIE)
    identity = await authenticator.by_cookie(token, address) if token else None
    if identity is None:
        raise Unauthorized("auth.required", "You are not signed in.", hint="Sign in, then try again.")
    _require_own_page(connection, identity)
    return identity


def client_address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def _require_own_page(connection: HTTPConnection, identity: Identity) -> None:
    """Another site's page must not act with this browser's cookie."""
    if connection.scope["type"] == "websocket":
        origin = connection.headers.get("origin", "")
        if urlsplit(origin).netloc != connection.headers.get("host"):
            raise Forbidden("auth.origin", "This WebSocket comes from another site.")
        return
    if connection.scope["method"] in _SAFE:
        return
    sent = connection.headers.get(CSRF_HEADER, "")
    if not secrets.compare_digest(sent.encode(), (identity.csrf_token or "").encode()):
        raise Forbidden(
            "auth.csrf", "The request lacks its CSRF token.", hint="Load the page again.", field=CSRF_HEADER
        )


async def current_actor(connection: HTTPConnection) -> Actor:
    """The actor of this request, for routes; one who may do what the route is for, somewhere at least.

    Raises: as `identify`; Forbidden when the sign-in is not finished, or the action is not theirs anywhere.
    """
    identity = await identify(connection)
    if identity.pending:
        raise Forbidden(
            f"auth.pending_{identity.pending}",
            _PENDING[identity.pending],
            hint="Finish signing in, on the page.",
            details={"pending": identity.pending},
        )
    route = connection.scope.get("route")
    action = (getattr(route, "openapi_extra", None) or {}).get(ACTION)
    if action and not widest(identity.actor, action):
        raise refusal(identity.actor, action)
    return identity.actor


_PENDING = {
    "factor": "The second step of signing in is still missing.",
    "password": "You must change your password first.",
    "enrol": "You must set up a second factor first.",
}

CurrentActor = Annotated[Actor, Depends(current_actor)]
CurrentIdentity = Annotated[Identity, Depends(identify)]
