"""Types of query parameters that accept one spelling of each value.

Pydantic alone reads `0`, `off` and `n` as false, and `5.0` and `+5` as 5. Someone who mistypes a value then gets an
answer to another question.
"""

import re
from typing import Annotated

from pydantic import BeforeValidator

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")


def _boolean(value: object) -> object:
    if isinstance(value, str) and value not in ("true", "false"):
        raise ValueError("use true or false")
    return value


def _integer(value: object) -> object:
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        raise ValueError("use decimal digits only")
    return value


DECIMAL = BeforeValidator(_integer)
"""For an integer with limits, after them: `Annotated[int, Field(ge=1), DECIMAL]`. Before them, OpenAPI lacks them."""
QueryBool = Annotated[bool, BeforeValidator(_boolean)]
QueryInt = Annotated[int, DECIMAL]
