"""Imports of notebooks, repositories and archives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel_client import models
from carrel_client.client import ApiClient
from carrel_client.sdk.sessions import Session, accepted_groups, amounts


class Imports:
    """Fetches sources into sessions and folders, by their address."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api

    def preview(
        self,
        url: str,
        *,
        kind: models.SourceKind | None = None,
        ref: str | None = None,
        path: str | None = None,
        folder: str | None = None,
        image: str | None = None,
        install: bool = False,
        credentials: models.ImportCredentials = "none",
    ) -> models.ImportPreview:
        """What an import would do, with its script. Starts nothing."""
        given: dict[str, Any] = {"kind": kind, "ref": ref, "path": path, "folder": folder, "image": image}
        given = {field: value for field, value in given.items() if value is not None}
        return self._api.imports.preview(url=url, install=install, credentials=credentials, **given)

    def start(
        self,
        url: str,
        *,
        kind: models.SourceKind | None = None,
        ref: str | None = None,
        path: str | None = None,
        folder: str | None = None,
        image: str | None = None,
        install: bool = False,
        token: str | None = None,
        key: str | None = None,
        name: str | None = None,
        project: str | None = None,
        group: str | None = None,
        cpu: float | str | None = None,
        mem: int | str | None = None,
        accelerators: Mapping[str, float | str] | None = None,
    ) -> Session:
        """A new session that fetches the source: a batch session that ends if it fetches into a folder.

        token: of a private source. key: instead, a private SSH key. They become a variable of the session.
        """
        shown = self.preview(
            url,
            kind=kind,
            ref=ref,
            path=path,
            folder=folder,
            image=image,
            install=install,
            credentials="token" if token else "key" if key else "none",
        )
        request: dict[str, Any] = dict(shown["session"])
        request["slots"] = {**request["slots"], **amounts(cpu, mem, accelerators)}
        if shown["variable"]:
            request["env"] = {shown["variable"]: token or key}
        chosen = {"name": name, "project": project, **accepted_groups(group)}
        request |= {field: value for field, value in chosen.items() if value is not None}
        return Session(self._api, self._api.sessions.create(**request))
