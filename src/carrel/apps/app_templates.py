"""App templates: what an app is, and how its options and its session's values go into its command."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from carrel.core.errors import Invalid

SECRET_VARIABLE = "CARREL_APP_SECRET"
"""Environment variable with the secret that an app must require."""

TCP = "tcp"

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class OptionType(StrEnum):
    """PATH: of a file or folder in the session."""

    TEXT = "text"
    PATH = "path"
    INTEGER = "integer"
    BOOLEAN = "boolean"


@dataclass(frozen=True)
class AppOption:
    """A value that is chosen before an app starts. choices: if any, the only permitted values."""

    name: str
    title: str
    type: OptionType = OptionType.TEXT
    default: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class AppTemplate:
    """An app template of a session.

    name: a DNS label. port: where it listens, or the preferred port. command: started on demand; empty when the app
    starts by itself. ready: path whose answer below 500 shows that it serves; empty means that an open port is enough.
    path: where its pages begin, perhaps with a query. auth_header: a header line that the gateway adds to each request,
    with "{secret}" where the session's secret goes; may be empty. requires: a program without which it cannot start;
    empty: none. hint: how users get that program.

    Words of the command and values of env may contain {port}, {secret}, {base_url} (the path without its query) and the
    names of options.
    """

    name: str
    title: str
    protocol: str
    port: int
    command: tuple[str, ...] = ()
    ready: str = ""
    auth_header: str = ""
    path: str = "/"
    icon: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    options: tuple[AppOption, ...] = ()
    requires: str = ""
    hint: str = ""

    def auth(self, secret: str) -> tuple[str, str] | None:
        """Name and value of the app's authentication header, or None if it needs none."""
        name, colon, value = self.auth_header.replace("{secret}", secret).partition(":")
        return (name.strip(), value.strip()) if colon else None

    def words(self, secret: str, options: Mapping[str, str]) -> tuple[str, ...]:
        """The command as arguments of a program, never of a shell. A word that is only an empty option is left out."""
        values = self._values(secret, options)
        words = (_filled(word, values) for word in self.command)
        return tuple(word for word, source in zip(words, self.command, strict=True) if word or word == source)

    def variables(self, secret: str, options: Mapping[str, str]) -> dict[str, str]:
        """The environment variables of the app."""
        values = self._values(secret, options)
        return {SECRET_VARIABLE: secret, **{name: _filled(text, values) for name, text in self.env.items()}}

    def _values(self, secret: str, options: Mapping[str, str]) -> dict[str, str]:
        own = {"port": str(self.port), "secret": secret, "base_url": self.path.partition("?")[0]}
        return {**{option.name: option.default for option in self.options}, **options, **own}

    def checked(self, options: Mapping[str, str]) -> dict[str, str]:
        """The options as given. Raises: Invalid."""
        known = {option.name: option for option in self.options}
        for name, value in options.items():
            if name not in known:
                raise Invalid(
                    "app.unknown_option",
                    f"{self.title} has no option {name}.",
                    hint=f"It has: {', '.join(known) or 'none'}.",
                    field="options",
                )
            if problem := _problem(known[name], value):
                raise Invalid("app.bad_option", f"{known[name].title} {problem}.", field=f"options.{name}")
        return dict(options)


def _problem(option: AppOption, value: str) -> str | None:
    if option.choices and value not in option.choices:
        return f"is one of {', '.join(option.choices)}"
    if option.type is OptionType.INTEGER and not re.fullmatch(r"-?\d{1,18}", value):
        return "is a whole number"
    if option.type is OptionType.BOOLEAN and value not in ("true", "false"):
        return "is true or false"
    if "\0" in value:
        return "must not contain a NUL character"
    return None


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with known placeholders replaced, once: a value is never searched for placeholders."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def templates(rows: Iterable[Mapping[str, Any]]) -> dict[str, AppTemplate]:
    """The templates in a session's `apps` column, by name and in their order."""
    return {row["name"]: template(row) for row in rows}


def template(row: Mapping[str, Any]) -> AppTemplate:
    """A template from JSON, of an image's label or of the catalogue."""
    return AppTemplate(
        name=str(row["name"]),
        title=str(row["title"]),
        protocol=str(row["protocol"]),
        port=int(row["port"]),
        command=tuple(str(word) for word in row.get("command") or ()),
        ready=str(row.get("ready") or ""),
        auth_header=str(row.get("auth_header") or ""),
        path=str(row.get("path") or "/"),
        icon=str(row.get("icon") or ""),
        env={str(name): str(value) for name, value in (row.get("env") or {}).items()},
        options=tuple(_option(option) for option in row.get("options") or ()),
        requires=str(row.get("requires") or ""),
        hint=str(row.get("hint") or ""),
    )


def _option(row: Mapping[str, Any]) -> AppOption:
    return AppOption(
        name=str(row["name"]),
        title=str(row.get("title") or row["name"]),
        type=OptionType(row.get("type") or OptionType.TEXT),
        default=str(row.get("default") or ""),
        help=str(row.get("help") or ""),
        choices=tuple(str(choice) for choice in row.get("choices") or ()),
    )
