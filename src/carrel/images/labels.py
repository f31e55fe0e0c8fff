"""What the labels and variables of an image say about it: Carrel's own (`carrel.*`), and those of Backend.AI
(`ai.backend.*`).

No label is needed, and labels that cannot be understood are ignored: an image is never unusable because of them. Where
both name the same, Carrel's count.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from carrel.core.units import parse_slots

_OWN, _BACKEND_AI = "carrel.", "ai.backend."
_STARTED_BY_IMAGE = "preopen"
_LAST_PORT = 65535
_MOST = 1 << 62
_APP_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_PATH = re.compile(r"/[A-Za-z0-9._~/%+-]{0,199}")
_SLOT = re.compile(r"[a-z][a-z0-9_.-]{0,60}")


@dataclass(frozen=True)
class DeclaredApp:
    """An app of the image, in the fields of `apps.app_templates.AppTemplate`."""

    name: str
    title: str
    protocol: str
    port: int
    command: tuple[str, ...] = ()
    path: str = "/"
    ready: str = ""
    auth_header: str = ""


@dataclass(frozen=True)
class ImageLabels:
    """title, description: empty if there are none. apps: by their order, with unique names. min_slots: in base units;
    accelerators with an amount of 0 are omitted. services: names of Backend.AI's services, which the image can run but
    does not say how. accelerators: kinds that it was made for, such as "cuda". distribution: such as "ubuntu22.04".
    runtime: "python", "app" ...
    """

    title: str = ""
    description: str = ""
    apps: tuple[DeclaredApp, ...] = ()
    min_slots: Mapping[str, int] = field(default_factory=dict)
    services: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    distribution: str = ""
    runtime: str = ""


def parse(labels: Mapping[str, str]) -> ImageLabels:
    """What is known from the labels alone."""
    services = tuple(_services(labels.get(f"{_BACKEND_AI}service-ports", "")))
    own = tuple(_own_apps(labels.get(f"{_OWN}apps", "")))
    opened = (app for app, by_image in services if by_image)
    apps = {app.name: app for app in (*opened, *own)}
    return ImageLabels(
        title=labels.get(f"{_OWN}title") or labels.get("org.opencontainers.image.title", ""),
        description=labels.get(f"{_OWN}description")
        or labels.get("org.opencontainers.image.description", ""),
        apps=tuple(apps.values()),
        min_slots={**_backend_ai_slots(labels), **_own_slots(labels)},
        services=tuple(app.name for app, by_image in services if not by_image),
        accelerators=_words(
            labels.get(f"{_OWN}accelerators") or labels.get(f"{_BACKEND_AI}accelerators", "")
        ),
        distribution=labels.get(f"{_BACKEND_AI}base-distro", ""),
        runtime=labels.get(f"{_BACKEND_AI}runtime-type", ""),
    )


def _own_apps(text: str) -> Iterator[DeclaredApp]:
    """Of a JSON list of templates."""
    try:
        rows = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return
    for row in rows if isinstance(rows, list) else ():
        with suppress(KeyError, TypeError, ValueError, RecursionError):
            yield DeclaredApp(
                name=_app_name(row["name"]),
                title=_text(row.get("title") or row["name"]),
                protocol=_text(row.get("protocol") or "http"),
                port=_port(row["port"]),
                command=tuple(_text(word) for word in row.get("command") or ()),
                path=_path(row.get("path") or "/"),
                ready=_text(row.get("ready") or ""),
                auth_header=_text(row.get("auth_header") or ""),
            )


def _services(text: str) -> Iterator[tuple[DeclaredApp, bool]]:
    """Of "jupyter:http:8081,board:preopen:[6006,6007]": each service, and whether the image starts it itself."""
    for part in _outside_brackets(text):
        name, _, rest = part.partition(":")
        protocol, _, ports = rest.partition(":")
        with suppress(ValueError):
            port = _port(ports.strip("[] ").split(",")[0])
            served = protocol if protocol in ("http", "tcp") else "http"
            label = _app_name(name.strip().lower().replace("_", "-"))
            yield DeclaredApp(label, name.strip(), served, port), protocol == _STARTED_BY_IMAGE


def _outside_brackets(text: str) -> Iterator[str]:
    """The parts between commas, of which those in brackets do not count."""
    part = ""
    for character in [*text, ","]:
        if character == "," and part.count("[") <= part.count("]"):
            if part.strip():
                yield part.strip()
            part = ""
        else:
            part += character


def _text(value: object) -> str:
    """What the database can store of it."""
    return str(value).replace("\0", "").encode(errors="replace").decode()


def _app_name(value: object) -> str:
    """Raises: ValueError."""
    if not _APP_NAME.fullmatch(name := str(value)):
        raise ValueError(f"{name} cannot begin an address")
    return name


def _path(value: object) -> str:
    """Raises: ValueError."""
    if not _PATH.fullmatch(path := str(value)):
        raise ValueError(f"{path} is no path")
    return path


def _port(value: object) -> int:
    """Raises: ValueError."""
    port = int(str(value))
    if not 0 < port <= _LAST_PORT:
        raise ValueError(f"{port} is no port")
    return port


def _own_slots(labels: Mapping[str, str]) -> dict[str, int]:
    return _parsed(labels, f"{_OWN}min_")


def _backend_ai_slots(labels: Mapping[str, str]) -> dict[str, int]:
    return _parsed(labels, f"{_BACKEND_AI}resource.min.")


def _parsed(labels: Mapping[str, str], prefix: str) -> dict[str, int]:
    """The amounts that are possible, by slot."""
    slots: dict[str, int] = {}
    for name, text in labels.items():
        slot = name.removeprefix(prefix)
        if slot != name and _SLOT.fullmatch(slot):
            with suppress(ValueError):
                slots |= parse_slots({slot: text})
    return {slot: amount for slot, amount in slots.items() if 0 < amount < _MOST}


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())
