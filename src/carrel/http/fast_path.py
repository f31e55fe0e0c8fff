"""Routes for hot GET requests: matched by path alone, with the query decoded by one model.

For each request the framework scans its routes and inspects the type of each parameter, which costs a list more time
than the database query. Parameters and errors are the same as on any other route.
"""

import inspect
from collections.abc import Callable, Coroutine, Iterable
from functools import lru_cache
from typing import Any, get_args, get_origin
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from carrel.http.auth import current_actor
from carrel.http.services import Services, services_of

_REMEMBERED = 512
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class FastRoute(APIRoute):
    """For endpoints `(services, actor, query)` that give a Response; `query` is a model of the query."""

    def get_route_handler(self) -> Handler:
        endpoint = self.endpoint
        model = _query_model(endpoint)

        @lru_cache(maxsize=_REMEMBERED)
        def decoded(query: bytes) -> BaseModel:
            return model.model_validate(dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)))

        async def handle(request: Request) -> Response:
            actor = await current_actor(request)
            try:
                query = decoded(request.scope["query_string"])
            except ValidationError as error:
                problems = [{**each, "loc": ("query", *each["loc"])} for each in error.errors()]
                raise RequestValidationError(problems) from None
            response: Response = await endpoint(services_of(request, Services), actor, query)
            return response

        return handle


class FastPath:
    """Middleware that serves GET on fast-path routes and passes everything else to the framework."""

    def __init__(self, app: ASGIApp, framework: FastAPI, prefix: str, routes: Iterable[FastRoute]) -> None:
        self._app = app
        self._routes = {
            prefix + route.path: ExceptionMiddleware(_answering(route), handlers=framework.exception_handlers)
            for route in routes
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get(scope["path"]) if scope.get("method") == "GET" else None
        await (route or self._app)(scope, receive, send)


def _answering(route: FastRoute) -> ASGIApp:
    handle = route.get_route_handler()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = route
        response = await handle(Request(scope, receive))
        await response(scope, receive, send)

    return answer


def _query_model(endpoint: Callable[..., Any]) -> type[BaseModel]:
    annotation = list(inspect.signature(endpoint).parameters.values())[2].annotation
    model: type[BaseModel] = get_args(annotation)[0] if get_origin(annotation) else annotation
    return model
