"""How sessions are ended: by a signal with a grace period, or by force, also while the engine is away."""

from pathlib import Path
from typing import Any

from command_line import command_line
from installation import Api, Caller
from people import eventually
from sqlalchemy import text

from carrel.engines.port import EngineError


async def running(api: Api, caller: Caller, **fields: object) -> dict[str, Any]:
    made = await caller.start(**fields)
    return await api.until(caller, made["id"], "RUNNING")


async def held(api: Api, session: str) -> int:
    """How many allocations of the session are not released."""
    query = "SELECT count(*) FROM allocations WHERE session_id = :id AND released_at IS NULL"
    async with api.database.transaction() as tx:
        return int((await tx.execute(text(query), {"id": session})).scalar_one())


async def test_signal_and_grace_are_those_of_the_session_unless_the_removal_has_others(living: Api) -> None:
    user = await living.as_("user")
    for query, expected in (
        ({}, ("SIGINT", 30)),
        ({"signal": "SIGUSR1"}, ("SIGUSR1", 30)),
        ({"grace_s": 0}, ("SIGINT", 0)),
    ):
        session = await running(living, user, stop_signal="SIGINT", grace_s=30)
        answer = await user.delete(f"/sessions/{session['id']}", params=query)
        assert answer.json()["state"] == "TERMINATING"
        await living.until(user, session["id"], "TERMINATED")
        assert living.engine.world.stops[session["containers"][0]["id"]] == expected


async def test_another_signal_or_a_longer_grace_is_refused(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user)
    for query in ({"signal": "SIGSTOP"}, {"grace_s": 301}):
        assert (await user.delete(f"/sessions/{session['id']}", params=query)).status_code == 422
    assert (await user.try_start(grace_s=-1)).status_code == 422


async def test_force_ends_a_session_at_once_while_the_engine_is_away(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user)
    main = session["containers"][0]["id"]
    living.engine.world.go_away()
    ended = (await user.delete(f"/sessions/{session['id']}", params={"force": "true"})).json()
    assert (ended["state"], ended["reason"]) == ("TERMINATED", "Ended by user@example.org by force.")
    assert ended["ended_at"]
    assert [one["state"] for one in ended["containers"]] == ["ABANDONED"]
    assert await held(living, session["id"]) == 2
    assert main in living.engine.world.containers
    living.engine.world.come_back()

    async def gone() -> bool:
        shown = (await user.get(f"/sessions/{session['id']}")).json()
        return shown["containers"][0]["state"] == "GONE"

    await eventually(gone)
    assert main not in living.engine.world.containers
    assert await held(living, session["id"]) == 0


async def test_force_ends_a_session_whose_termination_waits_for_the_engine(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user)
    living.engine.world.go_away()
    assert (await user.delete(f"/sessions/{session['id']}")).json()["state"] == "TERMINATING"
    ended = (await user.delete(f"/sessions/{session['id']}", params={"force": "true"})).json()
    assert ended["state"] == "TERMINATED"
    again = await user.delete(f"/sessions/{session['id']}", params={"force": "true"})
    assert (again.status_code, again.json()["state"]) == (202, "TERMINATED")
    living.engine.world.come_back()


async def test_force_ends_a_whole_array_while_the_engine_is_away(living: Api, tmp_path: Path) -> None:
    user = await living.as_("user")
    command = await command_line(living, "user", tmp_path)
    array = {"first": 1, "last": 4, "max_parallel": 2}
    await user.start(kind="batch", name="sweep", command=["sleep", "1000"], array=array)
    placed = [await living.until(user, f"sweep-{index}", "RUNNING") for index in (1, 2)]
    living.engine.world.go_away()
    done = await command.run("session", "rm", "--yes", "--force", "sweep")
    assert done.code == 0, done.stderr
    ended = [(await user.get(f"/sessions/sweep-{index}")).json() for index in range(1, 5)]
    assert [one["state"] for one in ended] == ["TERMINATED", "TERMINATED", "CANCELLED", "CANCELLED"]
    assert {one["result"] for one in ended} == {"cancelled"}
    assert "Containers of its sessions may remain" in done.stderr
    for one in placed:
        shown = await command.ok("session", "show", one["name"])
        assert "ABANDONED" in shown
        assert await held(living, one["id"]) == 2
    living.engine.world.come_back()

    async def released() -> bool:
        return not any([await held(living, one["id"]) for one in placed])

    await eventually(released)
    assert not living.engine.world.containers


async def test_a_whole_array_ends_by_the_chosen_signal(living: Api) -> None:
    user = await living.as_("user")
    made = await user.start(
        kind="batch", name="sweep", command=["sleep", "1000"], array={"first": 1, "last": 2}
    )
    running = [await living.until(user, f"sweep-{index}", "RUNNING") for index in (1, 2)]
    query = {"array": "true", "signal": "SIGINT", "grace_s": 7}
    assert (await user.delete(f"/sessions/{made['id']}", params=query)).status_code == 202
    for one in running:
        await living.until(user, one["id"], "TERMINATED")
        assert living.engine.world.stops[one["containers"][0]["id"]] == ("SIGINT", 7)


async def test_force_ends_a_session_whose_container_cannot_be_removed(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user)
    main = session["containers"][0]["id"]
    world = living.engine.world
    world.fail_next("remove.delete", EngineError("The device is busy.", retriable=True), times=1000)
    ended = (await user.delete(f"/sessions/{session['id']}", params={"force": "true"})).json()
    assert (ended["state"], ended["containers"][0]["state"]) == ("TERMINATED", "ABANDONED")

    async def tried() -> bool:
        return main in world.stops

    await eventually(tried)
    shown = (await user.get(f"/sessions/{session['id']}")).json()
    assert shown["containers"][0]["state"] == "ABANDONED"
    assert await held(living, session["id"]) == 2
    history = (await user.get(f"/sessions/{session['id']}/history")).json()["items"]
    assert (history[-1]["cause"], history[-1]["to_state"]) == ("left_behind", "TERMINATED")
    assert history[-1]["reason"] == (
        "Until the engine confirms their removal, these may remain: main on local."
    )


async def test_force_on_the_command_line_says_what_may_remain(living: Api, tmp_path: Path) -> None:
    user = await living.as_("user")
    session = await running(living, user)
    command = await command_line(living, "user", tmp_path)
    living.engine.world.go_away()
    done = await command.run("session", "rm", "--yes", "--force", session["id"])
    assert done.code == 0, done.stderr
    assert "is TERMINATED" in done.stdout.decode()
    main = session["containers"][0]["id"]
    assert f"Its container main ({main}) may remain on local" in done.stderr
    living.engine.world.come_back()
    other = await running(living, user)
    await command.ok("session", "rm", "--yes", other["id"], "--signal", "HUP", "--grace", "1m", "--wait")
    assert living.engine.world.stops[other["containers"][0]["id"]] == ("SIGHUP", 60)
