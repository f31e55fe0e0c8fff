"""A route for what pages ask all the time: its query is decoded by one model.

The framework looks at the type of each parameter at every request, which costs a list as much as the database
does. What such a route takes, and how it says no, is the same as of any other.
"""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, get_args, get_origin

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from carrel.http.auth import current_actor

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class QuickRoute(APIRoute):
    """For endpoints `(request, actor, wanted)` that give a Response; `wanted` is a model of the query."""

    def get_route_handler(self) -> Handler:
        endpoint = self.endpoint
        model = _query_model(endpoint)

        async def handle(request: Request) -> Response:
            actor = await current_actor(request)
            try:
                wanted = model.model_validate(dict(request.query_params))
            except ValidationError as error:
                found = [{**each, "loc": ("query", *each["loc"])} for each in error.errors()]
                raise RequestValidationError(found) from None
            response: Response = await endpoint(request, actor, wanted)
            return response

        return handle


def _query_model(endpoint: Callable[..., Any]) -> type[BaseModel]:
    annotation = list(inspect.signature(endpoint).parameters.values())[2].annotation
    model: type[BaseModel] = get_args(annotation)[0] if get_origin(annotation) else annotation
    return model
