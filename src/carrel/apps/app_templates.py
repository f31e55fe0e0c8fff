"""App templates, as declared by images."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.errors import NotFound

SECRET_VARIABLE = "CARREL_APP_SECRET"
"""Environment variable with the secret that an app must require."""

_PLACEHOLDER = "{secret}"


@dataclass(frozen=True)
class AppTemplate:
    """An app template of a session.

    name: a DNS label. command: started on demand; empty when the app starts by itself. ready: path whose
    answer below 500 shows that it serves; empty means that an open port is enough. auth_header: a header
    line that the gateway adds to each request, with "{secret}" where the session's secret goes; may be empty.
    """

    name: str
    title: str
    protocol: str
    port: int
    command: tuple[str, ...] = ()
    ready: str = ""
    auth_header: str = ""

    def auth(self, secret: str) -> tuple[str, str] | None:
        """Name and value of the app's authentication header, or None if it needs none."""
        name, colon, value = self.auth_header.replace(_PLACEHOLDER, secret).partition(":")
        return (name.strip(), value.strip()) if colon else None


def templates(rows: Iterable[Mapping[str, Any]]) -> dict[str, AppTemplate]:
    """The templates in a session's `apps` column, by name and in their order."""
    return {row["name"]: _template(row) for row in rows}


def template(rows: Iterable[Mapping[str, Any]], name: str) -> AppTemplate:
    """The template of that name. Raises: NotFound."""
    known = templates(rows)
    if name not in known:
        listed = ", ".join(known) or "none"
        raise NotFound("app.not_found", f"This session has no app {name}.", hint=f"It has: {listed}.")
    return known[name]


def _template(row: Mapping[str, Any]) -> AppTemplate:
    return AppTemplate(
        name=str(row["name"]),
        title=str(row["title"]),
        protocol=str(row["protocol"]),
        port=int(row["port"]),
        command=tuple(str(word) for word in row.get("command") or ()),
        ready=str(row.get("ready") or ""),
        auth_header=str(row.get("auth_header") or ""),
    )
