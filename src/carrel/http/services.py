"""The services that routes use: one frozen object, built once in `server/compose.py`.

Each package declares the part it needs as a subclass of `Services` (`FileServices`, `SignInServices` ...), so that it
imports nothing above itself; `ApiServices` in `server/` combines them. A route takes a parameter `services:
ServicesOf[FileServices]`; other code calls `services_of`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, TypeVar

from fastapi import Depends, FastAPI
from starlette.requests import HTTPConnection
from starlette.types import Scope

from carrel.core.clock import Clock
from carrel.db.database import Database
from carrel.db.encryption import SecretBox
from carrel.http.rate_limits import RateLimits
from carrel.permissions.decide import Actor


class Identity(Protocol):
    """The result of authentication. csrf_token None: not a cookie request.

    pending: the sign-in step that is still missing; None: complete.
    rate_limit: requests per quarter of an hour.
    confirmed_at: time of the last re-authentication; None: not a cookie request.
    renewal_due: the response must set a new cookie token.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def actor(self) -> Actor: ...

    @property
    def csrf_token(self) -> str | None: ...

    @property
    def pending(self) -> str | None: ...

    @property
    def rate_limit(self) -> int: ...

    @property
    def confirmed_at(self) -> datetime | None: ...

    @property
    def renewal_due(self) -> bool: ...


class CredentialCheck(Protocol):
    """Looks up credentials."""

    async def by_cookie(self, token: str, address: str) -> Identity | None: ...

    async def by_header(self, authorization: str, address: str) -> Identity | None: ...

    async def renewed(self, token: str) -> tuple[str, timedelta] | None: ...

    def forget(self) -> None:
        """Clear the cache, so that the next credentials are read from the database."""
        ...


class ApiSettings(Protocol):
    """The server settings that routes read."""

    @property
    def data_dir(self) -> Path: ...

    @property
    def effective_public_url(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Services:
    """Services of every route."""

    settings: ApiSettings
    database: Database
    clock: Clock
    seal: SecretBox
    limits: RateLimits
    authenticator: CredentialCheck


S = TypeVar("S", bound=Services)


def install(app: FastAPI, services: Services) -> None:
    """Install these services for the application's routes."""
    app.state.services = services


def services_of(connection: HTTPConnection | Scope, kind: type[S]) -> S:
    """The services of a request or WebSocket, for code outside routes."""
    scope = connection.scope if isinstance(connection, HTTPConnection) else connection
    services = scope["app"].state.services
    assert isinstance(services, kind)
    return services


async def _installed(connection: HTTPConnection) -> Services:
    return services_of(connection, Services)


ServicesOf = Annotated[S, Depends(_installed)]
"""Type of a route parameter. tests/unit/http/test_services.py checks that `ApiServices` provides it."""
