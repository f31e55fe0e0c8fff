"""Templates as objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from carrel_client import models
from carrel_client.client import ApiClient
from carrel_client.definition import template_request
from carrel_client.sdk.paging import items
from carrel_client.sdk.sessions import Session, accepted_groups, amounts
from carrel_client.units import parse_duration


class Template:
    """A saved definition of sessions, with parameters."""

    def __init__(self, api: ApiClient, raw: models.TemplateView) -> None:
        self._api = api
        self._raw = raw

    def __repr__(self) -> str:
        return f"<Template {self.id} {self.name!r}>"

    @property
    def raw(self) -> models.TemplateView:
        """The answer of the API that this object holds."""
        return self._raw

    @property
    def id(self) -> str:
        """The id, unique for ever."""
        return self._raw["id"]

    @property
    def name(self) -> str:
        """The name."""
        return self._raw["name"]

    @property
    def revision(self) -> int:
        """From 1; each change adds 1."""
        return self._raw["revision"]

    @property
    def parameters(self) -> list[models.Parameter]:
        """What a start can give values for."""
        return self._raw["parameters"]

    def refresh(self) -> Template:
        """This object with the current attributes."""
        self._raw = self._api.templates.show(self.id)
        return self

    def start(
        self,
        parameters: Mapping[str, str | float | bool] | None = None,
        *,
        name: str | None = None,
        project: str | None = None,
        group: str | Sequence[str] | None = None,
        cpu: float | str | None = None,
        mem: int | str | None = None,
        accelerators: Mapping[str, float | str] | None = None,
        priority: int | None = None,
        time_limit: float | str | None = None,
        start_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Session:
        """A new session from the template, PENDING. parameters: values by name.

        The other arguments are those of `Sessions.create`, and replace what the template has.
        """
        given: dict[str, Any] = {
            "parameters": dict(parameters) if parameters else None,
            "name": name,
            "project": project,
            **accepted_groups(group),
            "slots": amounts(cpu, mem, accelerators) or None,
            "priority": priority,
            "time_limit_s": None if time_limit is None else round(parse_duration(str(time_limit))),
            "start_at": start_at.astimezone().isoformat() if start_at else None,
        }
        given = {field: value for field, value in given.items() if value is not None}
        return Session(
            self._api, self._api.templates.start(self.id, idempotency_key=idempotency_key, **given)
        )

    def update(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        shared: bool | None = None,
        session: Mapping[str, Any] | None = None,
        parameters: Sequence[models.Parameter] | None = None,
    ) -> Template:
        """Change the template, if this object has its latest revision. Raises: CarrelError with status 412."""
        given: dict[str, Any] = {
            "name": name,
            "description": description,
            "shared": shared,
            "session": template_request(session)["session"] if session is not None else None,
            "parameters": list(parameters) if parameters is not None else None,
        }
        given = {field: value for field, value in given.items() if value is not None}
        self._raw = self._api.templates.update(self.id, revision=self.revision, **given)
        return self

    def delete(self) -> None:
        """Delete the template; sessions that were started from it are unaffected."""
        self._api.templates.remove(self.id)


class Templates:
    """Saves and finds templates."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api

    def create(
        self,
        name: str,
        session: Mapping[str, Any] | None = None,
        *,
        from_session: str | None = None,
        parameters: Sequence[models.Parameter] = (),
        description: str = "",
        shared: bool = False,
    ) -> Template:
        """A new template.

        session: a definition, as in a file of `carrel session create -f`, whose texts refer to parameters as ${name}.
        from_session: instead, the id or name of a session of yours. shared: its project's members see and start it.
        """
        given: dict[str, Any] = {
            "session": template_request(session)["session"] if session is not None else None,
            "from_session": from_session,
            "parameters": list(parameters) or None,
            "description": description or None,
            "shared": shared or None,
        }
        given = {field: value for field, value in given.items() if value is not None}
        return Template(self._api, self._api.templates.create(name=name, **given))

    def get(self, ref: str) -> Template:
        """A template by id, or by the name of one that you can start. Raises: NotFoundError."""
        return Template(self._api, self._api.templates.show(ref))

    def list(
        self,
        *,
        owner: models.TemplateOwner | None = None,
        search: str | None = None,
        project: str | None = None,
    ) -> Iterator[Template]:
        """Templates by name, fetched page by page.

        owner: "me", "usable" (the default: yours and those shared in your projects) or "all" that you may see.
        """
        views = items(self._api.templates.list, owner=owner, q=search, project=project, limit=200)
        return (Template(self._api, each) for each in views)
