"""Query parameter types that accept exactly one spelling of each value.

Pydantic alone reads `0`, `off` and `n` as false, and `5.0` and `+5` as 5. A mistyped value would silently be read as
another one.
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
"""Put it after the limits of an integer, `Annotated[int, Field(ge=1), DECIMAL]`, or OpenAPI lacks the limits."""
QueryBool = Annotated[bool, BeforeValidator(_boolean)]
QueryInt = Annotated[int, DECIMAL]
