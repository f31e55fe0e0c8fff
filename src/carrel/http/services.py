"""What routes work with: one frozen object, made once in `server/compose.py`.

Every room names the part that it needs as a subclass of `Services` (`FileServices`, `SignInServices` ...), so that it
imports nothing above itself; `ApiServices` in `server/` is all of them. A route takes it as a parameter,
`services: ServicesOf[FileServices]`; what is no route asks `services_of`.
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
from carrel.http.limits import RateLimits
from carrel.permissions.decide import Actor


class Identity(Protocol):
    """What an authenticator gives back. csrf_token None: no cookie was involved.

    pending: what the sign-in still needs before it counts; None: nothing.
    rate_limit: requests per quarter of an hour.
    confirmed_at: when they last proved that it is them; None: no cookie was involved.
    renewal_due: the answer is to bring another token for the cookie.
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
    """Looks credentials up."""

    async def by_cookie(self, token: str, address: str) -> Identity | None: ...

    async def by_header(self, authorization: str, address: str) -> Identity | None: ...

    async def renewed(self, token: str) -> tuple[str, timedelta] | None: ...

    def forget(self) -> None:
        """Read the next credentials from the database: what was remembered may no longer hold."""
        ...


class ApiSettings(Protocol):
    """What routes read of the server's settings."""

    @property
    def data_dir(self) -> Path: ...

    @property
    def effective_public_url(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Services:
    """What every route may use."""

    settings: ApiSettings
    database: Database
    clock: Clock
    seal: SecretBox
    limits: RateLimits
    authenticator: CredentialCheck


S = TypeVar("S", bound=Services)


def install(app: FastAPI, services: Services) -> None:
    """Give the application's routes these services from now on."""
    app.state.services = services


def services_of(connection: HTTPConnection | Scope, kind: type[S]) -> S:
    """The services behind a request or WebSocket, for what is no route."""
    scope = connection.scope if isinstance(connection, HTTPConnection) else connection
    services = scope["app"].state.services
    assert isinstance(services, kind)
    return services


async def _installed(connection: HTTPConnection) -> Services:
    return services_of(connection, Services)


ServicesOf = Annotated[S, Depends(_installed)]
"""A route's parameter. tests/unit/http/test_services.py holds every route's to what `ApiServices` is."""
