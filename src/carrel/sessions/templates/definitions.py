"""Definitions of templates: session requests whose texts refer to parameters.

A definition has the fields of `POST /sessions`, and is checked by the same model once the values are in it. Amounts may
be texts in units for people, as in the files of the command line: cpu "2", mem "4g", time_limit_s "2h".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError

from carrel.core.errors import CarrelError, Invalid
from carrel.core.units import parse_duration, parse_size, parse_slots
from carrel.http.validation import is_rule, refusal
from carrel.sessions import arrays, startup
from carrel.sessions import service as sessions
from carrel.sessions.schemas import SessionCreate
from carrel.sessions.spec import SessionSpec
from carrel.sessions.templates import placeholders
from carrel.sessions.templates.parameters import Parameter, invalid_value

_REQUEST: TypeAdapter[SessionCreate] = TypeAdapter(SessionCreate)
# Whatever the values are, these are wrong: a value stands for a text, not for a list or object.
_SHAPES = set("missing dict_type mapping_type list_type tuple_type dataclass_type".split())
_SHAPES |= set("model_type model_attributes_type unexpected_keyword_argument".split())


def escaped(request: Mapping[str, Any]) -> dict[str, Any]:
    """The definition of a literal request: `filled` gives the same request."""
    return {field: placeholders.changed(value, placeholders.escape) for field, value in request.items()}


def filled(definition: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The request with the values of all parameters, amounts in base units. Raises: Invalid."""
    request = {}
    for field, value in definition.items():
        try:
            request[field] = placeholders.changed(value, lambda text: placeholders.substitute(text, values))
        except ValueError as wrong:
            raise _bad(f"{wrong}", field) from None
    return _with_amounts(request, definition)


def spec_of(definition: Mapping[str, Any], values: Mapping[str, str]) -> SessionSpec:
    """The session that the definition requests with these values. Raises: Invalid."""
    spec, faults = _validated(definition, filled(definition, values))
    if spec is None:
        raise faults[0]
    return spec


def _validated(
    definition: Mapping[str, Any], request: Mapping[str, Any]
) -> tuple[SessionSpec | None, list[Invalid]]:
    try:
        made = _REQUEST.validate_python(request)
    except ValidationError as error:
        return None, [_of_validation(definition, each) for each in error.errors()]
    return SessionSpec(**{one.name: getattr(made, one.name) for one in fields(SessionSpec)}), []


def require_sound(definition: Mapping[str, Any], parameters: Sequence[Parameter]) -> None:
    """Check a definition as far as possible before the values of all parameters are known. Raises: Invalid."""
    # 1. references
    known = {parameter.name for parameter in parameters}
    for path, used in _references(definition).items():
        if unknown := sorted(used - known):
            raise Invalid(
                "template.unknown_reference",
                f"The template has no parameter {unknown[0][:60]}, which {path[:100]} refers to.",
                hint=f"Add the parameter, or write $${{{unknown[0][:60]}}} for the text itself.",
                field=f"session.{path}",
            )
    # 2. fields; what depends on a parameter without default is not known yet
    open_names = {parameter.name for parameter in parameters if parameter.default is None}
    samples = {parameter.name: parameter.sample for parameter in parameters}
    try:
        spec, faults = _validated(definition, filled(definition, samples))
    except Invalid as error:
        spec, faults = None, [error]
    for fault in faults:
        if fault.details.get("shape") or not names_behind(definition, fault.field) & open_names:
            raise fault
    # 3. rules across fields
    if spec and not open_names & set().union(*_references(definition).values()):
        try:
            sessions.require_command(spec)
            arrays.require_possible(spec)
            startup.require(spec)
        except CarrelError as error:
            error.field = f"session.{error.field}" if error.field else "session"
            raise


def names_behind(definition: Mapping[str, Any], field: str | None) -> set[str]:
    """The parameters that the field of an error depends on. field: of the session, or a parameter."""
    if field is None or field.startswith("parameters."):
        return {field.removeprefix("parameters.")} if field else set()
    place = f"{field.removeprefix('session.')}."
    used = (
        names
        for path, names in _references(definition).items()
        if f"{path}.".startswith(place) or place.startswith(f"{path}.")
    )
    return set().union(*used)


def blamed(definition: Mapping[str, Any], field: str | None) -> str | None:
    """The field that a start shows for an error: the parameter, if it depends on one; None: it concerns no field."""
    used = names_behind(definition, field) if field else set()
    return f"parameters.{used.pop()}" if len(used) == 1 else field


def _references(definition: Mapping[str, Any]) -> dict[str, set[str]]:
    """Path of a text -> the parameters that it refers to; others are omitted. Raises: Invalid."""
    used = {}
    try:
        for path, text in placeholders.texts(dict(definition)):
            where = ".".join(path)
            try:
                if names := set(placeholders.names(text)):
                    used[where] = names
            except ValueError as wrong:
                raise _bad(str(wrong), where) from None
    except ValueError as wrong:
        raise _bad(str(wrong), "") from None
    return used


def _with_amounts(request: dict[str, Any], definition: Mapping[str, Any]) -> dict[str, Any]:
    """The request with texts in units for people in base units. Raises: Invalid."""
    for field, parse in _PARSERS.items():
        if isinstance(text := request.get(field), str):
            request[field] = _amount(definition, field, parse, text)
    _with_slots(request, definition, "slots")
    roles = request.get("roles")
    for number, role in enumerate(roles if isinstance(roles, list) else ()):
        if isinstance(role, dict):
            _with_slots(role, definition, f"roles.{number}.slots")
            if isinstance(size := role.get("shm_bytes"), str):
                role["shm_bytes"] = _amount(definition, f"roles.{number}.shm_bytes", parse_size, size)
    return request


_PARSERS: Mapping[str, Callable[[str], int]] = {
    "time_limit_s": parse_duration,
    "grace_s": parse_duration,
    "shm_bytes": parse_size,
}


def _with_slots(holder: dict[str, Any], definition: Mapping[str, Any], path: str) -> None:
    slots = holder.get("slots")
    if isinstance(slots, dict):
        for slot, text in slots.items():
            if isinstance(text, str):
                slots[slot] = _amount(definition, f"{path}.{slot}", partial(_slot_amount, slot), text)


def _slot_amount(slot: str, text: str) -> int:
    return parse_slots({slot: text})[slot]


def _amount(definition: Mapping[str, Any], path: str, parse: Callable[[str], int], text: str) -> int:
    try:
        return parse(text)
    except ValueError as wrong:
        raise _at_fault(definition, path, f"{path}: {wrong}.") from None


def _of_validation(definition: Mapping[str, Any], error: Mapping[str, Any]) -> Invalid:
    path = ".".join(str(part) for part in error["loc"] if part != "[key]")
    if error["type"] not in _SHAPES or is_rule(error):
        return _at_fault(definition, path, refusal(error, path))
    fault = _bad(refusal(error, path), path)
    fault.details["shape"] = error["type"]
    return fault


def _at_fault(definition: Mapping[str, Any], path: str, sentence: str) -> Invalid:
    used = names_behind(definition, path)
    return invalid_value(next(iter(used)), sentence) if len(used) == 1 else _bad(sentence, path)


def _bad(sentence: str, path: str) -> Invalid:
    return Invalid(
        "template.bad_definition",
        f"The definition is not valid: {sentence}",
        hint="Its fields are those of POST /sessions.",
        field=f"session.{path}" if path else "session",
    )
