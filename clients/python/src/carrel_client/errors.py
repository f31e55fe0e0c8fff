"""The one exception of the client: an answer of "no", whoever gave it."""

from __future__ import annotations


class CarrelError(Exception):
    """Why a request did not succeed.

    code: stable and dotted; codes that begin with `client.` were made here, all others by the server.
    detail: one sentence. hint: the next step, may be empty.
    status: the HTTP status of the answer, or the nearest one when no answer came (503 unreachable, 504 too slow).
    field: the input at fault. request_id: what an operator finds in the server's log.
    """

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


def from_problem(status: int, problem: object, *, request_id: str | None = None) -> CarrelError:
    """The error that an RFC 9457 body stands for; something readable when it is no such body."""
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
    """The error for a server that cannot be talked to."""
    return CarrelError(
        "client.unreachable",
        f"{address} does not answer: {_sentence(reason)}.",
        status=503,
        hint="Is the server running, and is the address right?",
    )


def too_slow(address: str, timeout_s: float) -> CarrelError:
    """The error for an answer that did not come in time."""
    return CarrelError(
        "client.timeout",
        f"{address} did not answer within {timeout_s:g} seconds.",
        status=504,
        hint="The server may still be doing it; look before you try again.",
    )


def not_carrel(address: str) -> CarrelError:
    """The error for an answer that no Carrel gives."""
    return CarrelError(
        "client.not_carrel",
        f"What answers at {address} is not Carrel's API.",
        status=502,
        hint="Give the address of the page, without a path of a page behind it.",
    )


def _sentence(reason: BaseException) -> str:
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return str(text).rstrip(".")
