"""Errors as RFC 9457 problem details: one shape for every error response."""

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from carrel.core.errors import CarrelError
from carrel.http.validation import is_rule, refusal

log = structlog.get_logger()

_TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    409: "Conflict",
    412: "Changed meanwhile",
    413: "Too large",
    415: "Unsupported media type",
    416: "No such range",
    422: "Invalid",
    423: "Locked",
    429: "Too many requests",
    431: "Headers too large",
    460: "Checksum mismatch",
    500: "Internal error",
    503: "Unavailable",
}
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_PLACES = ("body", "query", "path", "header")
# NUL errors of the PostgreSQL driver, and of PostgreSQL itself for JSON.
_NUL_SIGNS = ("NUL (0x00)", "unsupported Unicode escape sequence")


class Problem(BaseModel):
    """RFC 9457 problem details. code is stable; hint is the next step; field is the input at fault."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    hint: str = ""
    field: str | None = None
    details: dict[str, Any] = {}
    request_id: str = ""


RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "Refused: `code` says why, `hint` what to do"},
    "5XX": {
        "model": Problem,
        "description": "The server failed, or a service it depends on does not respond",
    },
}
"""Error responses of every route."""


def respond(request: Request, problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    """The problem as a response that includes the request id."""
    problem.request_id = getattr(request.state, "request_id", "")
    return JSONResponse(
        problem.model_dump(),
        status_code=problem.status,
        media_type="application/problem+json",
        headers=headers,
    )


def of_error(error: CarrelError) -> Problem:
    """A `CarrelError` as a problem."""
    return Problem(
        title=_TITLES[error.status],
        status=error.status,
        code=error.code,
        detail=error.message,
        hint=error.hint,
        field=error.field,
        details=error.details,
    )


def install(app: FastAPI) -> None:
    """Register handlers that turn every error of the application into a problem."""

    @app.exception_handler(CarrelError)
    async def _ours(request: Request, error: CarrelError) -> JSONResponse:
        headers = {}
        if error.status == 401:
            headers["WWW-Authenticate"] = 'Basic realm="carrel"' if _is_script(request) else "Cookie"
        if error.status in (429, 503):
            headers["Retry-After"] = str(error.details.get("retry_after_s", 2))
        request.state.error = error
        return respond(request, of_error(error), headers)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return respond(request, _of_validation(request, error))

    @app.exception_handler(psycopg.DataError)
    @app.exception_handler(DataError)
    async def _unstorable(request: Request, error: DataError | psycopg.DataError) -> JSONResponse:
        if not any(sign in str(error) for sign in _NUL_SIGNS):
            raise error
        problem = Problem(
            title="Invalid",
            status=422,
            code="invalid.text",
            detail="The request contains a NUL character, which is not allowed in text.",
            hint="Remove it.",
        )
        return respond(request, problem)

    @app.exception_handler(HTTPException)
    async def _starlette(request: Request, error: HTTPException) -> JSONResponse:
        title = _TITLES.get(error.status_code, "Error")
        code = "http." + title.lower().replace(" ", "_")
        problem = Problem(title=title, status=error.status_code, code=code, detail=str(error.detail))
        headers = dict(error.headers or {})
        if error.status_code == 405 and (methods := _methods(app, request)):
            headers["Allow"] = ", ".join(sorted(methods))
        return respond(request, problem, headers)


def document(openapi: dict[str, Any]) -> dict[str, Any]:
    """Mark problems in the OpenAPI document as application/problem+json. Twice: no-op."""
    for methods in openapi["paths"].values():
        for operation in methods.values():
            for status in RESPONSES:
                content = operation["responses"][status]["content"]
                if "application/json" in content:
                    content["application/problem+json"] = content.pop("application/json")
    return openapi


def _methods(app: FastAPI, request: Request) -> set[str]:
    """The methods allowed on the request's path. Each method is its own route, and the framework reports only one."""
    return {method for method in _METHODS if _has_route(app, {**request.scope, "method": method})}


def _has_route(app: FastAPI, scope: Scope) -> bool:
    return any(route.matches(dict(scope))[0] is Match.FULL for route in app.router.routes)


def log_unexpected(path: str, request_id: str, error: Exception) -> None:
    """Log an internal error with the request id."""
    log.error("http.unexpected", path=path[:200], request_id=request_id, exc_info=error)


def unexpected(request: Request) -> JSONResponse:
    """The response for an internal error, without details."""
    problem = Problem(
        title="Internal error",
        status=500,
        code="internal",
        detail="Internal server error.",
        hint="Try again; if the error persists, give the request id to an administrator.",
    )
    return respond(request, problem)


def _named(place: Sequence[object]) -> Iterator[str]:
    """The parts of a field's name without its location, since a body field may also be called "path"."""
    inner = place[1:] if place and place[0] in _PLACES else place
    return (str(part) for part in inner if part != "[key]")


def _of_validation(request: Request, error: RequestValidationError) -> Problem:
    first = error.errors()[0]
    if first["loc"] == ("body",) and isinstance(error.body, bytes) and error.body:
        return Problem(
            title=_TITLES[415],
            status=415,
            code="http.unsupported_media_type",
            detail=f"The body is {request.headers.get('content-type') or 'untyped'}; expected JSON.",
            hint="Send it with Content-Type: application/json.",
        )
    if first["type"] == "json_invalid":
        return Problem(
            title="Invalid",
            status=422,
            code="invalid.json",
            detail=f"The body is not JSON: {first['ctx']['error']} at character {first['loc'][-1]}.",
            hint="Check quotes, commas and brackets.",
        )
    field = ".".join(_named(first["loc"]))
    return Problem(
        title="Invalid",
        status=422,
        code="invalid.request",
        detail=refusal(first, field),
        hint="" if is_rule(first) else "See the API reference for this operation.",
        field=field or None,
        details={
            "errors": [{"field": ".".join(map(str, e["loc"])), "message": e["msg"]} for e in error.errors()]
        },
    )


def _is_script(request: Request) -> bool:
    # A browser's fetch would pop up its own password dialog on a Basic challenge.
    return "sec-fetch-mode" not in request.headers
