"""The exceptions of the client.

    CarrelError
    |- AuthenticationError      401: sign in, or use other credentials
    |- PermissionDeniedError    403
    |- NotFoundError            404
    |- ConflictError            409, 412, 423: conflict with the current state
    |  `- SessionFailedError    it ended instead of running
    |- InvalidRequestError      400, 413, 415, 416, 422: change the request
    |- RateLimitedError         429: try again later
    `- UnavailableError         502, 503, 504: no response, or temporarily unavailable
       `- WaitTimeoutError      timed out

Raising a CarrelError creates the subclass for its code and status.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


class CarrelError(Exception):
    """Why a request did not succeed.

    code: stable and dotted; codes with the prefix `client.` are from the client, all others from the server.
    detail: one sentence. hint: the next step, may be empty.
    status: the HTTP status, or the nearest one without a response (503 unreachable, 504 timeout).
    field: the invalid input. request_id: for finding the request in the server's log.
    """

    def __new__(cls, code: str, detail: str, *, status: int, **rest: object) -> Self:
        """The subclass for this code or status, unless a subclass was named."""
        named = _BY_CODE.get(code) or _BY_STATUS.get(status, cls) if cls is CarrelError else cls
        made: Self = super().__new__(named)  # type: ignore[assignment]
        return made

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int,
        hint: str = "",
        field: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{detail} ({code})")
        self.code = code
        self.detail = detail
        self.status = status
        self.hint = hint
        self.field = field
        self.request_id = request_id

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are pickled with their arguments alone, and these have names.
        return _restored, (dict(self.__dict__),)


class AuthenticationError(CarrelError):
    """The credentials are missing, unknown or expired (401)."""


class PermissionDeniedError(CarrelError):
    """The credentials do not permit this (403)."""


class NotFoundError(CarrelError):
    """Not found, or not visible (404)."""


class ConflictError(CarrelError):
    """Conflict with the current state (409, 412, 423)."""


class SessionFailedError(ConflictError):
    """A session ended instead of running; the detail has its reason."""


class InvalidRequestError(CarrelError):
    """The request is invalid; `field` names the input (400, 413, 415, 416, 422)."""


class RateLimitedError(CarrelError):
    """Too many requests; try again later (429)."""


class UnavailableError(CarrelError):
    """The server, or a component, is temporarily unavailable (502, 503, 504)."""


class WaitTimeoutError(UnavailableError):
    """The wait timed out."""


_BY_CODE: dict[str, type[CarrelError]] = {
    "client.session_failed": SessionFailedError,
    "client.wait_timeout": WaitTimeoutError,
}
_BY_STATUS: dict[int, type[CarrelError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    429: RateLimitedError,
    **dict.fromkeys((409, 412, 423), ConflictError),
    **dict.fromkeys((400, 413, 415, 416, 422), InvalidRequestError),
    **dict.fromkeys((502, 503, 504), UnavailableError),
}


def _restored(fields: dict[str, object]) -> CarrelError:
    return CarrelError(**fields)  # type: ignore[arg-type]


def from_problem(status: int, problem: object, *, request_id: str | None = None) -> CarrelError:
    """The error of an RFC 9457 body, with a fallback for other bodies."""
    body = problem if isinstance(problem, dict) else {}
    detail = str(body.get("detail") or body.get("title") or f"The server answered with status {status}.")
    field = body.get("field")
    return CarrelError(
        str(body.get("code") or f"http.{status}"),
        detail,
        status=status,
        hint=str(body.get("hint") or ""),
        field=str(field) if field else None,
        request_id=str(body.get("request_id") or request_id or "") or None,
    )


def unreachable(address: str, reason: BaseException) -> CarrelError:
    """The error for an unreachable server."""
    hint = "Is the server running, and is the address right?"
    if type(reason).__name__ == "SSLCertVerificationError":
        why = getattr(reason, "verify_message", "")
        reason = OSError(f"its certificate is not trusted here ({why})")
        hint = "Name the file of the authority that signed it: export SSL_CERT_FILE=/path/to/ca.pem"
    return CarrelError(
        "client.unreachable", f"{address} does not respond: {_sentence(reason)}.", status=503, hint=hint
    )


def too_slow(address: str, timeout_s: float) -> CarrelError:
    """The error for a timeout."""
    return CarrelError(
        "client.timeout",
        f"{address} did not respond within {timeout_s:g} seconds.",
        status=504,
        hint="The server may still process the request; check before you retry.",
    )


def not_carrel(address: str) -> CarrelError:
    """The error for a response that is not from Carrel."""
    return CarrelError(
        "client.not_carrel",
        f"The server at {address} is not a Carrel API.",
        status=502,
        hint="Use the base URL of the installation, without a path.",
    )


def _sentence(reason: BaseException) -> str:
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return str(text).rstrip(".")
