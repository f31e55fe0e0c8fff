"""The error tree. Each error has a stable code, a message (what, which one, what to do) and details.

CarrelError
+-- NotFound      404  missing, or not visible to the actor
+-- Conflict      409  the current state does not allow it
+-- Forbidden     403  the actor lacks permission
+-- Unauthorized  401  not authenticated
+-- Invalid       422  invalid request
+-- Refused       409  exceeds a limit, named in `details`
+-- Changed       412  modified since it was read
+-- TooLarge      413  the body is too large
+-- Locked        423  locked by another operation
+-- TooMany       429  too many requests, over time or at once
+-- Unavailable   503  a dependency does not respond; try again
"""

from collections.abc import Iterable, Mapping


class CarrelError(Exception):
    """An error that a person will read.

    code: stable, dotted, lower case. message: one sentence. hint: the next step. field: the invalid input.
    """

    status = 500

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        field: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.field = field
        self.details = dict(details or {})


class NotFound(CarrelError):
    status = 404


class Conflict(CarrelError):
    status = 409


class Forbidden(CarrelError):
    status = 403


class Unauthorized(CarrelError):
    status = 401


class Invalid(CarrelError):
    status = 422


class Refused(CarrelError):
    status = 409


class Changed(CarrelError):
    status = 412


class TooLarge(CarrelError):
    status = 413


class Locked(CarrelError):
    status = 423


class TooMany(CarrelError):
    status = 429


class Unavailable(CarrelError):
    status = 503


_MOST_IN_HINT = 5


def first_few(names: Iterable[str]) -> str:
    """The end of a hint that names possible choices: "a, b." or "a, b, c, d, e ..."."""
    choices = list(names)
    return ", ".join(choices[:_MOST_IN_HINT]) + (" ..." if len(choices) > _MOST_IN_HINT else ".")
