"""Carrel from Python: a typed SDK, and the `carrel` command on top of it.

    from carrel_client import Carrel

    with Carrel.from_environment() as client:
        session = client.sessions.create("starter", cpu=2, mem="4g").wait()
        print(session.exec(["python3", "--version"]).text)
        session.terminate()

`AsyncCarrel` is the same for asyncio. `client.api` has one method per operation of the HTTP API, whose answers are
its JSON, typed in `carrel_client.models`. Belongs here: code for API clients. Not here: server code.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client.errors import (
        AuthenticationError,
        CarrelError,
        ConflictError,
        InvalidRequestError,
        NotFoundError,
        PermissionDeniedError,
        RateLimitedError,
        SessionFailedError,
        UnavailableError,
        WaitTimeoutError,
    )
    from carrel_client.sdk.aio import AsyncApp, AsyncCarrel, AsyncFolder, AsyncSession, AsyncTemplate
    from carrel_client.sdk.client import Carrel
    from carrel_client.sdk.folders import Folder
    from carrel_client.sdk.paging import items
    from carrel_client.sdk.sessions import App, AppAccess, ExecResult, Session
    from carrel_client.sdk.templates import Template

__version__ = "0.5.0"
__all__ = [
    "App",
    "AppAccess",
    "AsyncApp",
    "AsyncCarrel",
    "AsyncFolder",
    "AsyncSession",
    "AsyncTemplate",
    "AuthenticationError",
    "Carrel",
    "CarrelError",
    "ConflictError",
    "ExecResult",
    "Folder",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitedError",
    "Session",
    "SessionFailedError",
    "Template",
    "UnavailableError",
    "WaitTimeoutError",
    "__version__",
    "items",
]
_MODULES = {
    "Carrel": "sdk.client",
    "Folder": "sdk.folders",
    "Template": "sdk.templates",
    "items": "sdk.paging",
    **dict.fromkeys(("App", "AppAccess", "ExecResult", "Session"), "sdk.sessions"),
    **dict.fromkeys(("AsyncApp", "AsyncCarrel", "AsyncFolder", "AsyncSession", "AsyncTemplate"), "sdk.aio"),
}


def __getattr__(name: str) -> object:
    # Lazy, because the command imports this package at startup and must not load the SDK needlessly.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'errors')}"), name)
