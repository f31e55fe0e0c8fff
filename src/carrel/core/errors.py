"""The one error tree. Each has a stable code, a message (what, which one, what to do) and details.

CarrelError
+-- NotFound      404  there is none, or you may not know of it
+-- Conflict      409  the state of the thing does not allow it
+-- Forbidden     403  you may not
+-- Unauthorized  401  we do not know who you are
+-- Invalid       422  the request makes no sense as it stands
+-- Refused       409  a limit says no; `details` name it
+-- Changed       412  it is no longer what was read
+-- TooLarge      413  more bytes than may come
+-- Locked        423  somebody is at work with it
+-- TooMany       429  too often, or too much at a time
+-- Unavailable   503  a part we need does not answer; try again
"""

from collections.abc import Mapping


class CarrelError(Exception):
    """An answer of "no" that a person will read.

    code: stable, dotted, lower case. message: one sentence. hint: the next step. field: the input at fault.
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
