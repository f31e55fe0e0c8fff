"""Sessions that wait: asking for all of a node, and why they wait."""

from installation import Api, Caller
from node_kit import GIB
from people import eventually

ALL = {"cpu": 8000, "mem": 1 * GIB}


async def put(who: Caller, path: str, json: object):  # type: ignore[no-untyped-def]
    return await who.ask("PUT", path, json=json)


async def waits(api: Api, who: Caller, session: str) -> dict:  # type: ignore[type-arg]
    """Why it waits, once the scheduler has looked at it."""

    async def refused() -> dict | None:  # type: ignore[type-arg]
        reasons = (await who.get(f"/sessions/{session}/why")).json()
        return reasons if reasons["waiting"] and reasons["position"] else None

    return await eventually(refused)  # type: ignore[no-any-return]
