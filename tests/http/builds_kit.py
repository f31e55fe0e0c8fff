"""Builds of environments in tests of the API: requested, and waited for."""

from typing import Any

from installation import Caller
from people import eventually
from people_kit import status_and_code


async def settled(caller: Caller, name: str, version: str | None = None) -> dict[str, Any]:
    """The version of an environment, the latest if none is given, once it is built or not."""

    async def ended() -> dict[str, Any] | None:
        versions = (await caller.get(f"/environments/{name}")).json()["versions"]
        one = next(one for one in versions if version in (None, one["name"]))
        return one if one["state"] not in ("waiting", "running") else None

    return await eventually(ended)  # type: ignore[no-any-return]


async def requested(caller: Caller, **body: Any) -> dict[str, Any]:
    """The answer to a request for a build, which is accepted once the engine is known."""

    async def accepted() -> dict[str, Any] | None:
        answer = await caller.post("/environments/builds", {"name": "torch", **body})
        assert answer.status_code == 202 or status_and_code(answer) == (409, "build.no_engine"), answer.text
        return answer.json() if answer.status_code == 202 else None

    return await eventually(accepted)  # type: ignore[no-any-return]
