"""The priority of all pending sessions of an array at once."""

from pathlib import Path

from command_line import command_line
from installation import Api
from people_kit import status_and_code
from queue_kit import put
from session_kit import force_state, request

from carrel.tables.session_states import SessionState


async def test_the_priority_of_an_array_is_that_of_its_pending_sessions(api: Api, tmp_path: Path) -> None:
    user = await api.as_("user")
    fields = {"kind": "batch", "command": ["true"], "array": {"first": 1, "last": 3}}
    sweep = (await user.post("/sessions", request(name="sweep", **fields))).json()
    desk = await user.start(name="desk")
    await force_state(api.database, sweep["id"], SessionState.RUNNING)

    async def priorities() -> dict[str, int]:
        listed = (await user.get("/sessions?array=expanded")).json()["items"]
        return {one["name"]: one["priority"] for one in listed}

    changed = await put(user, f"/sessions/{sweep['id']}/priority?array=true", {"priority": 20})
    assert changed.status_code == 200, changed.text
    assert await priorities() == {"sweep-1": 50, "sweep-2": 20, "sweep-3": 20, "desk": 50}
    alone = await put(user, f"/sessions/{sweep['id']}/priority", {"priority": 20})
    assert status_and_code(alone) == (409, "session.not_waiting")
    no_array = await put(user, f"/sessions/{desk['id']}/priority?array=true", {"priority": 20})
    assert status_and_code(no_array) == (422, "session.no_array")
    command = await command_line(api, "user", tmp_path)
    printed = await command.ok("session", "priority", "sweep", "desk", "30")
    assert printed.splitlines() == [
        "sweep is pending with priority 30.",
        "desk is pending with priority 30.",
    ]
    assert await priorities() == {"sweep-1": 50, "sweep-2": 30, "sweep-3": 30, "desk": 30}
