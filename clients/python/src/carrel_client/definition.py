"""Session definitions: files in JSON or YAML with the fields of a session request.

The fields are those of `POST /sessions`. Amounts may also be written as on the command line: `cpu` and `mem` beside
or instead of `slots`, texts such as "4g" and "2h", and an array as "1-100%8".
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from carrel_client.errors import CarrelError
from carrel_client.slots import format_amount, parse_amount
from carrel_client.units import format_cpu, parse_cpu, parse_duration, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from carrel_client import models

_ARRAY = re.compile(r"(\d+)-(\d+)(?:%(\d+))?")
_REFERENCE = r"\$\{\w+\}"
_OPEN_ARRAY = re.compile(rf"(\d+|{_REFERENCE})-(\d+|{_REFERENCE})(?:%(\d+|{_REFERENCE}))?")
_DEFAULTS = {
    "description": "",
    "kind": "interactive",
    "command": [],
    "retries": 0,
    "priority": 50,
    "containers": 1,
    "placement": "spread",
    "on_failure": "end",
    "on_dependency_failure": "cancel",
    "rights": "plain",
    "bootstrap": "",
    "stop_signal": "SIGTERM",
    "grace_s": 10,
}
"""Of the fields that a definition leaves out if they have no other value."""
_COPIED = (
    "description",
    "kind",
    "command",
    "retries",
    "start_at",
    "time_limit_s",
    "priority",
    "rights",
    "bootstrap",
    "shm_bytes",
    "disk_bytes",
    "workdir",
    "timezone",
    "locale",
    "stop_signal",
    "grace_s",
    "placement",
    "topology",
    "on_failure",
)
_ORDER = ("name", "image", "project", "group", "alternative_groups", "node", *_COPIED)
_CLUSTER = ("placement", "topology", "on_failure")
_MAX_DEPTH = 50


def load(path: str) -> dict[str, Any]:
    """The request that a file defines; "-": standard input. Raises: CarrelError."""
    return read_file(path, request_of)


def read_file(path: str, read: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """What `read` makes of the fields of a file in JSON or YAML. Raises: CarrelError, also for its ValueError."""
    try:
        return read(fields_of(sys.stdin.read() if path == "-" else Path(path).read_text("utf-8")))
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise CarrelError(
            "client.bad_definition", f"The definition {path} cannot be used: {error}.", status=422
        ) from None


def fields_of(text: str) -> dict[str, Any]:
    """The fields of a text in YAML or JSON. Raises: ValueError."""
    import yaml  # importing it takes twenty milliseconds

    try:
        depth = 0
        # Before anything is built: a few aliases can stand for gigabytes.
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("it has an alias, *NAME")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise ValueError("it is nested too deeply")
        # JSON is YAML too.
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    if not isinstance(given, dict):
        raise ValueError("it has no fields, such as image: starter")
    return given


def request_in(text: str, *, with_references: bool = False) -> dict[str, Any]:
    """The request that a text in YAML or JSON defines, as `request_of`. Raises: ValueError."""
    try:
        return request_of(fields_of(text), with_references=with_references)
    except (TypeError, AttributeError):
        raise ValueError("a field has a value of another type") from None


def text_of(definition: Mapping[str, Any]) -> str:
    """A definition in YAML, as `request_in` takes it."""
    import yaml  # importing it takes twenty milliseconds

    return str(yaml.safe_dump(dict(definition), allow_unicode=True, sort_keys=False, width=sys.maxsize))


def request_of(given: Mapping[str, Any], *, with_references: bool = False) -> dict[str, Any]:
    """The request with all amounts in base units. with_references: texts with references to parameters of a template,
    such as ${cores}, are left as they are. Raises: ValueError.
    """
    request = _with_sizes(given, with_references)
    if "roles" in request:
        request["roles"] = [_with_sizes(role, with_references) for role in request["roles"] or ()]
    for field in ("time_limit_s", "grace_s"):
        if isinstance(value := request.get(field), str) and not _is_open(value, with_references):
            request[field] = round(parse_duration(value))
    if isinstance(request.get("array"), str):
        request["array"] = (_open_array if with_references else parse_array)(request["array"])
    if request.get("start_at") is not None:
        # YAML reads a time as such.
        start = request["start_at"]
        request["start_at"] = start if isinstance(start, str) else start.isoformat()
    return request


def _is_open(text: str, with_references: bool) -> bool:
    return with_references and "${" in text


def _with_sizes(given: Mapping[str, Any], with_references: bool) -> dict[str, Any]:
    """The fields of a session or role with slots and sizes in base units."""
    fields = dict(given)
    slots = {
        slot: parse_amount(slot, amount)
        if isinstance(amount, str) and not _is_open(amount, with_references)
        else amount
        for slot, amount in (fields.pop("slots", None) or {}).items()
    }
    for slot, parse in (("cpu", parse_cpu), ("mem", parse_size)):
        if slot in fields:
            text = str(fields.pop(slot))
            slots[slot] = text if _is_open(text, with_references) else parse(text)
    if slots:
        fields["slots"] = slots
    for field in ("shm_bytes", "disk_bytes"):
        if isinstance(size := fields.get(field), str) and not _is_open(size, with_references):
            fields[field] = parse_size(size)
    return fields


def _open_array(text: str) -> dict[str, Any]:
    match = _OPEN_ARRAY.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not FIRST-LAST or FIRST-LAST%MOST, as 1-${{count}}%8")
    first, last, most = (int(part) if part and part.isdigit() else part for part in match.groups())
    return {"first": first, "last": last, **({"max_parallel": most} if most else {})}


def parse_array(text: str) -> models.ArrayRequest:
    """An array as "1-100", or "1-100%8" for at most eight at a time. Raises: ValueError naming the text."""
    match = _ARRAY.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not FIRST-LAST or FIRST-LAST%MOST, as 1-100%8")
    first, last, most = match.groups()
    array: models.ArrayRequest = {"first": int(first), "last": int(last)}
    return {**array, "max_parallel": int(most)} if most else array


def exact_reference(container: models.ContainerView) -> str | None:
    """The reference of what the container ran, whatever the tag means now; None if that is not known."""
    digest = container.get("image_digest")
    return f"{container['image'].partition('@')[0]}@{digest}" if digest else None


def definition_of(session: models.SessionDetail, *, exact_image: bool = False) -> dict[str, Any]:
    """The definition with which the session was requested, without what is the default. exact_image: with the digests
    of the images that it ran.

    Values of its environment and its bootstrap script are left out if they are not visible. Raises: ValueError if a
    digest is not known.
    """
    array, images = session["array"], _exact_images(session) if exact_image else {}
    given: dict[str, Any] = session  # type: ignore[assignment]
    groups = [group["name"] for group in session["accepted_groups"]]
    request = {
        **{field: given[field] for field in _COPIED},
        "name": array["name"] if array else session["name"],
        "image": images.get("", session["image_name"] or session["image"]),
        "slots": session["slots"],
        "project": session["project"]["name"],
        "group": groups[0],
        "alternative_groups": groups[1:],
        "env": session["env"],
        "mounts": [
            {**one, "folder": one["folder_name"]} for one in session["mounts"] if not one["automatic"]
        ],
        "roles": [
            {**role, "image": images[role["name"]]} if exact_image and role["image"] else role
            for role in session["roles"]
        ],
        "containers": session["cluster_size"],
        "array": array,
    }
    return written(request)


def _exact_images(session: models.SessionDetail) -> dict[str, str]:
    """References of what it ran, by role; by "" of containers whose role has no own image. Raises: ValueError."""
    own = {role["name"] for role in session["roles"] if role["image"]}
    images: dict[str, str] = {}
    for container in session["containers"]:
        reference = exact_reference(container)
        if reference is None:
            raise ValueError(f"the digest of the image of {container['name']} is not known")
        role = "main" if container["role"] == "main" else container["host"].rstrip("0123456789")
        images.setdefault(role if role in own else "", reference)
    return images


def written(request: Mapping[str, Any]) -> dict[str, Any]:
    """The definition of a request in base units: its amounts as people write them, without defaults.

    What is hidden from the user is left out.
    """
    roles, array, containers = request.get("roles"), request.get("array"), request.get("containers") or 1
    plain = {field: request.get(field) for field in _ORDER}
    if not roles and containers == 1:
        plain |= dict.fromkeys(_CLUSTER)
    head = {field: plain.pop(field) for field in ("name", "image")}
    defined = {
        **head,
        **_amounts(request["slots"]),
        **{field: value for field, value in plain.items() if value not in (_DEFAULTS.get(field), HIDDEN)},
        "containers": None if roles or containers == 1 else containers,
        "env": _visible(request.get("env")),
        "mounts": [_mount(one) for one in request.get("mounts") or ()],
        "roles": [_role(one) for one in roles or ()],
        "after": [_dependency(one) for one in request.get("after") or ()],
        "on_dependency_failure": request.get("on_dependency_failure"),
        "array": _array(array) if array else None,
    }
    if defined["on_dependency_failure"] == _DEFAULTS["on_dependency_failure"]:
        del defined["on_dependency_failure"]
    return {field: value for field, value in defined.items() if value not in (None, {}, [], ())}


def _array(array: Mapping[str, Any]) -> str:
    most = f"%{array['max_parallel']}" if array.get("max_parallel") else ""
    return f"{array['first']}-{array['last']}{most}"


def _dependency(dependency: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in dependency.items() if field != "array" or value}


def _mount(mount: Mapping[str, Any]) -> dict[str, Any]:
    given = {field: mount.get(field) for field in ("folder", "path", "subpath", "read_only")}
    return {field: value for field, value in given.items() if value}


def _visible(env: Mapping[str, str] | None) -> dict[str, str]:
    return {name: value for name, value in (env or {}).items() if value != HIDDEN}


def template_request(given: Mapping[str, Any]) -> dict[str, Any]:
    """The template that a file defines: its fields with the definition as `session`, or a definition alone.

    Raises: ValueError.
    """
    if "session" not in given:
        return {"session": request_of(given, with_references=True)}
    if not isinstance(given["session"], dict):
        raise ValueError("session has no fields, such as image: starter")
    session = request_of(given["session"], with_references=True)
    return {**given, "parameters": given.get("parameters") or [], "session": session}


def template_definition(template: models.TemplateView) -> dict[str, Any]:
    """The file of a template, without what is the default."""
    parameters = [
        {field: value for field, value in parameter.items() if value not in (None, "", [])}
        # An empty text is a default.
        | ({"default": ""} if parameter["default"] == "" else {})
        for parameter in template["parameters"]
    ]
    defined: dict[str, Any] = {
        "name": template["name"],
        "description": template["description"],
        "shared": template["shared"],
        "revision": template["revision"],
        "parameters": parameters,
        "session": template_session(template["session"]),
    }
    return {field: value for field, value in defined.items() if value not in ("", [], False)}


def template_session(session: Mapping[str, Any]) -> dict[str, Any]:
    """The definition in a template, with its amounts as people write them."""
    others = dict(session)
    slots = others.pop("slots", {})
    image = {"image": others.pop("image")} if "image" in others else {}
    roles = [_portable(role) for role in others.pop("roles", ())]
    defined = {**image, **_amounts(slots), **_portable(others), "roles": roles}
    if array := defined.get("array"):
        defined["array"] = _array(array)
    return {field: value for field, value in defined.items() if value not in ({}, [])}


def _portable(holder: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with slots as people write them."""
    fields = dict(holder)
    if slots := fields.pop("slots", None):
        fields |= _amounts(slots)
    return {field: value for field, value in fields.items() if value not in ({}, [], None)}


def _amounts(slots: Mapping[str, Any]) -> dict[str, Any]:
    others = {
        slot: format_amount(slot, amount) if slot.endswith(".shares") and isinstance(amount, int) else amount
        for slot, amount in slots.items()
        if slot not in ("cpu", "mem") and amount
    }
    amounts = {
        slot: slots[slot] if isinstance(slots[slot], str) else form(slots[slot])
        for slot, form in (("cpu", lambda cpu: _number(format_cpu(cpu))), ("mem", _exact_size))
        if slot in slots
    }
    return {**amounts, "slots": others} if others else amounts


def _role(role: Mapping[str, Any]) -> dict[str, Any]:
    amounts = _amounts(role["slots"]) if role.get("slots") else {}
    given = {field: role.get(field) for field in ("name", "count", "image", "shm_bytes", "command")}
    defined = {**given, **amounts, "env": _visible(role.get("env"))}
    return {field: value for field, value in defined.items() if value not in (None, {}, [], ())}


HIDDEN = "********"
"""What the API shows of a variable in the environment of another user's session."""


def _number(text: str) -> float | int:
    return int(text) if text.isdigit() else float(text)


def _exact_size(size_bytes: int) -> str | int:
    """The largest unit that gives a whole number: "4g"."""
    for power, unit in ((40, "t"), (30, "g"), (20, "m"), (10, "k")):
        if size_bytes and size_bytes % (1 << power) == 0:
            return f"{size_bytes >> power}{unit}"
    return size_bytes
