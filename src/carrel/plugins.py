"""Plug-ins by entry points, for built-in and third-party back ends alike.

Each port has a group of entry points. The name of an entry point is the kind of the back end; its object is a `Plugin`.
A lookup imports only the module of that kind. The settings model of a plug-in is the only description of its settings:
API, command line and page use its JSON schema.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, distribution, entry_points
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from carrel.core.errors import Invalid, Unavailable, first_few

DISTRIBUTION = "carrel-compute"
Settings = TypeVar("Settings", bound=BaseModel)
Backend = TypeVar("Backend")


class Port(StrEnum):
    """The groups of entry points."""

    ACCELERATOR = "carrel.accelerators"
    ENGINE = "carrel.engines"
    IDENTITY = "carrel.identity"
    STORAGE = "carrel.storage"


@dataclass(frozen=True)
class Plugin(Generic[Settings, Backend]):
    """A kind of back end.

    settings: its settings model; secrets are SecretStr. make: creates a back end without disk or network access.
    Raises: Invalid for settings that cannot work. title: display name; empty: its kind.
    makes: the class of the back end, which tells its capabilities without an instance; None: unknown.
    """

    settings: type[Settings]
    make: Callable[[Settings], Backend]
    title: str = ""
    makes: type | None = None

    def made(self, **values: object) -> Backend:
        """A back end with these settings; unknown ones are dropped. Raises: as `make`."""
        return self.make(self.settings.model_validate(values))

    def checked(self, values: Mapping[str, object]) -> Settings:
        """The validated settings. Raises: Invalid naming the first setting that is wrong or unknown."""
        unknown = sorted(values.keys() - self.settings.model_fields.keys())
        if unknown:
            raise _wrong(unknown[0], "there is no such setting")
        try:
            return self.settings.model_validate(values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            why = first["msg"].removeprefix("Value error, ")
            raise _wrong(".".join(map(str, first["loc"])), why) from None

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the settings, for forms and command lines.

        Shape: {"type": "object", "properties": {name: {...}}, "required": [name, ...]}, in the order of the model,
        without $ref; nullable settings have the schema of their non-null type. Secrets have "format": "password" and
        "writeOnly": true.
        """
        return settings_schema(self.settings)


def settings_schema(settings: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a settings model; see `Plugin.schema`."""
    document = settings.model_json_schema()
    definitions = document.pop("$defs", {})
    schema: dict[str, Any] = _without_references(document, definitions)
    schema.pop("title", None)
    schema.setdefault("properties", {})
    schema.setdefault("required", [])
    return schema


@cache
def find(port: Port, kind: str) -> Plugin[Any, Any]:
    """The plug-in of this kind. Built-in ones take precedence, so that they cannot be replaced.

    Raises: Unavailable if no distribution has it, several have it, or it does not load.
    """
    own = distribution(DISTRIBUTION).entry_points.select(group=port, name=kind)
    plugins = list(own or entry_points(group=port, name=kind))
    if len(plugins) != 1:
        names = sorted(each.dist.name for each in plugins if each.dist)
        raise _unusable(
            port, kind, f"{' and '.join(names)} both bring it" if names else "nothing installed brings it"
        )
    return _loaded(port, plugins[0])


def kinds(port: Port) -> dict[str, Plugin[Any, Any]]:
    """Every usable kind of this port, by name, built-in ones first. A plug-in that does not load is omitted."""
    own = {entry.name: None for entry in distribution(DISTRIBUTION).entry_points.select(group=port)}
    usable = {}
    for kind in [*own, *sorted({entry.name for entry in entry_points(group=port)} - own.keys())]:
        try:
            usable[kind] = find(port, kind)
        except Unavailable:
            continue
    return usable


def title(port: Port, kind: str) -> str:
    """What people call the kind; the kind itself if it is not installed."""
    try:
        return find(port, kind).title or kind
    except Unavailable:
        return kind


def require_kind(port: Port, kind: str, *, field: str) -> None:
    """Check that the kind is installed. Raises: Invalid."""
    if kind not in kinds(port):
        raise Invalid(
            "plugin.kind_unknown",
            f"No plug-in of the kind {kind!r} is installed.",
            hint=f"Installed: {first_few(kinds(port))}",
            field=field,
        )


def _without_references(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema with each $ref resolved, and without null alternatives."""
    if isinstance(schema, list):
        return [_without_references(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        named = definitions[reference.removeprefix("#/$defs/")]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _without_references({**named, **rest}, definitions)
    choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return _without_references({**choices[0], **rest}, definitions)
    return {key: _without_references(value, definitions) for key, value in schema.items()}


def _wrong(setting: str, why: str) -> Invalid:
    return Invalid(
        "plugin.setting_invalid",
        f"The setting {setting} cannot be used: {why}.",
        hint="See the settings of this kind.",
        field=f"settings.{setting}" if setting else "settings",
    )


def _loaded(port: Port, entry: EntryPoint) -> Plugin[Any, Any]:
    try:
        plugin = entry.load()
    except (ImportError, AttributeError) as error:
        raise _unusable(port, entry.name, f"it does not load ({error})") from error
    if not isinstance(plugin, Plugin):
        raise _unusable(port, entry.name, f"{entry.value} is no Plugin")
    return plugin


def _unusable(port: Port, kind: str, why: str) -> Unavailable:
    return Unavailable(
        "plugin.unusable",
        f"The plug-in {kind} of {port} cannot be used: {why}.",
        hint="An administrator must install its distribution and restart Carrel.",
        details={"port": port, "kind": kind},
    )
