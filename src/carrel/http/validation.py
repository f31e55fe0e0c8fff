"""Validation rules with readable messages: users cannot act on a regular expression."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import StringConstraints, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

_RULE = "rule"
# How pydantic shows a value that a `Literal` of enum members permits.
_ENUM_MEMBER = re.compile(r"<\w+\.\w+: ('[^']*')>")
# For a dataclass, pydantic's message names the constructor.
_PLAINER = {"unexpected_keyword_argument": "Extra inputs are not permitted"}


def says(sentence: str) -> WrapValidator:
    """For `Annotated`: whatever the type rejects, the error message is this sentence."""

    def check(value: Any, inner: ValidatorFunctionWrapHandler) -> Any:
        try:
            return inner(value)
        except ValidationError:
            raise broken(sentence) from None

    return WrapValidator(check)


def broken(sentence: str) -> PydanticCustomError:
    """Raised by a validator for a rule that spans several fields."""
    return PydanticCustomError(_RULE, "{sentence}", {"sentence": sentence})


def is_rule(error: Mapping[str, Any]) -> bool:
    """True if the message is one of our sentences."""
    return bool(error["type"] == _RULE)


def refusal(error: Mapping[str, Any], field: str) -> str:
    """The message for rejected input: the rule's own, or the field name with the framework's message."""
    if is_rule(error):
        return str(error["msg"])
    message = _ENUM_MEMBER.sub(r"\1", _PLAINER.get(error["type"], error["msg"]))
    return f"{field or 'The request'}: {message}."


EnvName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128),
    says("A variable name has at most 128 letters, digits or _ and does not start with a digit."),
]
EnvValue = Annotated[str, StringConstraints(max_length=32_768)]
# A misspelt name would silently limit nothing.
SLOT = r"cpu|mem|[a-z][a-z0-9_-]{0,29}(?:\.[a-z0-9][a-z0-9_-]{0,29})+"
SlotName = Annotated[
    str,
    StringConstraints(pattern=rf"^(?:{SLOT})$"),
    says("A slot is cpu, mem, or an accelerator such as cuda.device or cuda.shares."),
]
TimeZone = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2}$", max_length=64),
    says("A time zone has a name such as Europe/Berlin, Asia/Seoul or UTC."),
]
Locale = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_]+(?:\.[A-Za-z0-9-]+)?(?:@[A-Za-z0-9]+)?$", max_length=64),
    says("A locale has a name such as C.UTF-8, en_US.UTF-8 or ko_KR.UTF-8."),
]
