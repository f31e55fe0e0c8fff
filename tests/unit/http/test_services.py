"""What routes are handed is what `compose.api` makes; a request's parameter names no type that nobody provides."""

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass
from typing import Any, cast, get_type_hints

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from carrel.http.services import Services, ServicesOf, install, services_of
from carrel.server import compose
from carrel.server.services import ApiServices


@dataclass(frozen=True, kw_only=True)
class Unprovided(Services):
    """Of no room."""


def handed(routes: list[Any]) -> Iterator[tuple[str, type[Services]]]:
    """Operations, and the services that each takes."""
    for route in routes:
        if isinstance(route, APIRoute):
            for hint in get_type_hints(route.endpoint).values():
                if isinstance(hint, type) and issubclass(hint, Services):
                    yield route.operation_id or route.path, hint


def test_every_route_takes_services_that_the_server_provides():
    services = list(handed([route for router in compose._ROUTERS for route in router.routes]))
    assert len(services) > 150
    assert [one for one in services if not issubclass(ApiServices, one[1])] == []


def test_a_route_that_takes_others_is_noticed():
    router = APIRouter()

    @router.get("/")
    async def show(services: ServicesOf[Unprovided]) -> None: ...

    assert list(handed(router.routes)) == [("/", Unprovided)]
    assert not issubclass(ApiServices, Unprovided)


def services(kind: type[Services]) -> Services:
    nothing = cast(Any, None)
    return kind(
        settings=nothing, database=nothing, clock=nothing, seal=nothing, limits=nothing, authenticator=nothing
    )


def test_services_of_another_kind_are_refused():
    app = FastAPI()
    install(app, services(Services))
    assert type(services_of({"app": app}, Services)) is Services
    with pytest.raises(AssertionError):
        services_of({"app": app}, Unprovided)


def test_services_do_not_change():
    with pytest.raises(FrozenInstanceError):
        services(Services).database = cast(Any, None)  # type: ignore[misc]
