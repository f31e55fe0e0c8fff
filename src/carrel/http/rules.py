"""Rules for what people write, said in words: a pattern tells a person nothing."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import StringConstraints, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

_RULE = "rule"
# A dataclass speaks of its constructor.
_PLAINER = {"unexpected_keyword_argument": "Extra inputs are not permitted"}


def says(sentence: str) -> WrapValidator:
    """For `Annotated`, behind a type: whatever the type refuses, the answer is this sentence."""

    def check(value: Any, inner: ValidatorFunctionWrapHandler) -> Any:
        try:
            return inner(value)
        except ValidationError:
            raise broken(sentence) from None

    return WrapValidator(check)


def broken(sentence: str) -> PydanticCustomError:
    """What a validator raises for a rule that no single type can say."""
    return PydanticCustomError(_RULE, "{sentence}", {"sentence": sentence})


def is_rule(error: Mapping[str, Any]) -> bool:
    """Whether the refusal is a sentence of ours."""
    return bool(error["type"] == _RULE)


def refusal(error: Mapping[str, Any], field: str) -> str:
    """The sentence for a refused input: the rule's own, else the field and what the framework says of it."""
    if is_rule(error):
        return str(error["msg"])
    said = _PLAINER.get(error["type"], error["msg"])
    return f"{field or 'The request'}: {said}."


EnvName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=128),
    says("A variable's name has at most 128 letters, digits or _; no digit comes first."),
]
EnvValue = Annotated[str, StringConstraints(max_length=32_768)]
