"""Parameters of templates: their types, and the values that a start gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Annotated, ClassVar, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from carrel.core.errors import Invalid, first_few
from carrel.http.validation import says

MAX_PARAMETERS = 50
_MAX_INTEGER = 2**53


def _plain(value: object) -> object:
    """Numbers as texts, which YAML reads from `[16, 32]`."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


ParameterName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$"),
    says("A parameter has a name of 1 to 40 letters, digits or _, which starts with a letter."),
]
ParameterText = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]
ParameterChoice = Annotated[
    str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]*$"), BeforeValidator(_plain)
]
ParameterNumber = Annotated[int | float, Field(allow_inf_nan=False)]
ParameterValue: TypeAlias = ParameterText | bool | ParameterNumber


class ParameterType(StrEnum):
    """FOLDER: the name or id of a folder. IMAGE: a name in the catalogue, or an image reference."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    BOOLEAN = "boolean"
    FOLDER = "folder"
    IMAGE = "image"


_NUMERIC = (ParameterType.INTEGER, ParameterType.NUMBER)
_NAMED = {ParameterType.FOLDER: "a folder", ParameterType.IMAGE: "an image"}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a template, used as `${name}` in the texts of its session.

    default: its value unless a start gives one; null: a start must. min, max: of numbers. choices: of a choice.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    name: ParameterName
    type: ParameterType = ParameterType.TEXT
    default: ParameterValue | None = None
    description: Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00]*$")] = ""
    min: ParameterNumber | None = None
    max: ParameterNumber | None = None
    choices: Annotated[tuple[ParameterChoice, ...], Field(max_length=100)] = ()

    @property
    def sample(self) -> str:
        """Its default as text, or some valid value of its type."""
        if self.default is not None:
            return read(self, self.default)
        match self.type:
            case ParameterType.INTEGER | ParameterType.NUMBER:
                given = self.min if self.min is not None else self.max
                return read(self, 1 if given is None else given)
            case ParameterType.CHOICE:
                return self.choices[0]
            case ParameterType.BOOLEAN:
                return "false"
        return "text"


def read(parameter: Parameter, value: object) -> str:
    """The value as it stands in the session. Text is accepted for every type. Raises: ValueError with a sentence."""
    name = parameter.name
    if parameter.type in _NUMERIC:
        return _number_text(parameter, value)
    if parameter.type == ParameterType.BOOLEAN:
        word = str(value).strip().lower()
        if word not in ("true", "false"):
            raise ValueError(f"{name} is true or false.")
        return word
    text = _plain(value)
    if not isinstance(text, str):
        raise ValueError(f"{name} is a text.")
    if parameter.type == ParameterType.CHOICE and text not in parameter.choices:
        raise ValueError(f"{name} is one of {first_few(parameter.choices)}")
    if parameter.type in _NAMED and not text.strip():
        raise ValueError(f"{name} is the name of {_NAMED[parameter.type]}.")
    return text


def _number_text(parameter: Parameter, value: object) -> str:
    least, most = parameter.min, parameter.max
    number = _number(value)
    if parameter.type == ParameterType.INTEGER and isinstance(number, float):
        number = _number(int(number)) if number.is_integer() else None
    if number is None:
        kind = "a whole number" if parameter.type == ParameterType.INTEGER else "a number"
        raise ValueError(f"{parameter.name} is {kind}.")
    if (least is not None and number < least) or (most is not None and number > most):
        if least is not None and most is not None:
            raise ValueError(f"{parameter.name} is from {least} to {most}.")
        raise ValueError(f"{parameter.name} is at {f'least {least}' if most is None else f'most {most}'}.")
    return str(number)


def _number(value: object) -> int | float | None:
    """The number, as int if it is written without a fraction; None: it is none, or too large to be exact."""
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                return None
    if isinstance(value, float):
        return value if isfinite(value) else None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and abs(value) <= _MAX_INTEGER else None  # type: ignore[arg-type, return-value]


def require_sound(parameters: Sequence[Parameter]) -> None:
    """Raises: Invalid, naming the field."""
    names = [parameter.name for parameter in parameters]
    for number, parameter in enumerate(parameters):
        numeric, least, most = parameter.type in _NUMERIC, parameter.min, parameter.max
        if parameter.name in names[:number]:
            raise _bad(number, "name", f"There are two parameters {parameter.name}.")
        if (parameter.type == ParameterType.CHOICE) != bool(parameter.choices):
            raise _bad(number, "choices", "Parameters of type choice have choices, and no others do.")
        for field, limit in (("min", least), ("max", most)):
            if limit is not None and not numeric:
                raise _bad(number, field, "Only integers and numbers have a minimum and a maximum.")
        if least is not None and most is not None and least > most:
            raise _bad(number, "max", f"The maximum of {parameter.name} is less than its minimum.")
        if parameter.default is not None:
            try:
                read(parameter, parameter.default)
            except ValueError as wrong:
                raise _bad(number, "default", f"The default is not valid: {wrong}") from None


def _bad(number: int, field: str, message: str) -> Invalid:
    return Invalid("template.bad_parameter", message, field=f"parameters.{number}.{field}")


def text_values(
    parameters: Sequence[Parameter], given: Mapping[str, ParameterValue | None]
) -> dict[str, str]:
    """The values of all parameters as texts. given: by name; null is as not given.

    Raises: Invalid for the first parameter at fault, with all of them in `details.parameters`.
    """
    values, faults = {}, {}
    for parameter in parameters:
        value = given.get(parameter.name)
        if value is None:
            value = parameter.default
        if value is None:
            faults[parameter.name] = _missing(parameter)
            continue
        try:
            values[parameter.name] = read(parameter, value)
        except ValueError as wrong:
            faults[parameter.name] = invalid_value(parameter.name, str(wrong), hint=parameter.description)
    known = {parameter.name for parameter in parameters}
    for name in given.keys() - known:
        faults[name] = Invalid(
            "template.unknown_parameter",
            f"The template has no parameter {name[:60]}.",
            hint=f"It has {first_few(sorted(known))}" if known else "It has no parameters.",
            field=f"parameters.{name[:60]}",
        )
    if faults:
        first = next(iter(faults.values()))
        first.details["parameters"] = {
            name: {"code": fault.code, "detail": fault.message, "hint": fault.hint}
            for name, fault in faults.items()
        }
        raise first
    return values


def _missing(parameter: Parameter) -> Invalid:
    return Invalid(
        "template.parameter_missing",
        f"The template needs a value for {parameter.name}.",
        hint=parameter.description or "Give a value.",
        field=f"parameters.{parameter.name}",
    )


def invalid_value(name: str, sentence: str, *, hint: str = "") -> Invalid:
    """The error for the value of a parameter."""
    return Invalid(
        "template.parameter_invalid",
        sentence,
        hint=hint or "Give another value.",
        field=f"parameters.{name}",
    )
