"""The entry point of the SDK: one server with one set of credentials."""

from __future__ import annotations

from collections.abc import Iterator

from carrel_client import models
from carrel_client.client import ApiClient
from carrel_client.sdk.folders import Folders
from carrel_client.sdk.imports import Imports
from carrel_client.sdk.paging import items
from carrel_client.sdk.sessions import Sessions
from carrel_client.sdk.templates import Templates


class Carrel:
    """A Carrel server. Thread-safe; use it as a context manager, or call `close()`.

    Without arguments `from_environment()` uses the sign-in of the `carrel` command. `api` has one method per operation
    of the HTTP API, with plain dictionaries, for what the objects here do not cover.
    """

    def __init__(
        self,
        url: str,
        access_key: str | None = None,
        secret_key: str | None = None,
        *,
        token: str | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        self._api = ApiClient(url, access_key, secret_key, token=token, timeout_s=timeout_s)
        self._sessions = Sessions(self._api)
        self._folders = Folders(self._api)
        self._templates = Templates(self._api)
        self._imports = Imports(self._api)

    @classmethod
    def from_environment(cls, profile: str | None = None, *, timeout_s: float = 60.0) -> Carrel:
        """The client for the credentials that the `carrel` command would use here.

        In this order: the named profile; CARREL_URL with CARREL_ACCESS_KEY and CARREL_SECRET_KEY, or with the
        profile of that server; the profile named by CARREL_PROFILE; the profile "default".
        """
        import os

        from carrel_client.profiles import resolve

        resolved = resolve(profile, os.environ)
        return cls(
            resolved.url, resolved.access_key, resolved.secret_key, token=resolved.token, timeout_s=timeout_s
        )

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._api.transport.target.url

    @property
    def api(self) -> ApiClient:
        """Every operation of the HTTP API, with plain dictionaries; synchronous."""
        return self._api

    @property
    def sessions(self) -> Sessions:
        """Create, get and list sessions."""
        return self._sessions

    @property
    def folders(self) -> Folders:
        """Create, get and list folders."""
        return self._folders

    @property
    def templates(self) -> Templates:
        """Save, get and list templates."""
        return self._templates

    @property
    def imports(self) -> Imports:
        """Preview and start imports of notebooks, repositories and archives."""
        return self._imports

    def me(self) -> models.Me:
        """The current user, with projects and permitted actions."""
        return self._api.auth.me()

    def images(self) -> list[models.ImageView]:
        """The images in the catalogue."""
        return list(items(self._api.images.list, limit=200))

    def events(self, *, last_event_id: str | None = None) -> Iterator[models.EventView]:
        """Every event from now on, or after that one; reconnects by itself and never ends by itself."""
        return self._api.events.follow(last_event_id=last_event_id)

    def close(self) -> None:
        """Close idle connections. The client stays usable."""
        self._api.close()

    def __enter__(self) -> Carrel:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
