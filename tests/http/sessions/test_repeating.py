"""Sessions that go on: restarted in place, extended, started again."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from command_line import command_line
from databases import sql
from installation import Api, Caller
from limit_kit import limit
from people import eventually
from sqlalchemy import text


async def running(api: Api, caller: Caller, **fields: object) -> dict[str, Any]:
    made = await caller.start(**fields)
    return await api.until(caller, made["id"], "RUNNING")


async def restarted(api: Api, caller: Caller, session: str) -> dict[str, Any]:
    """The session, once it runs after a restart."""

    async def again() -> bool:
        history = (await caller.get(f"/sessions/{session}/history")).json()["items"]
        return [step["to_state"] for step in history].count("RUNNING") == 2

    await eventually(again)
    return await api.until(caller, session, "RUNNING")


async def test_a_restart_replaces_the_containers_and_keeps_session_slots_and_folders(living: Api) -> None:
    user = await living.as_("user")
    assert (await user.post("/vfolders", {"name": "data"})).status_code == 201
    session = await running(living, user, bootstrap="echo prepared", mounts=[{"folder": "data"}])
    main = session["containers"][0]["id"]
    first = living.engine.world.containers[main]
    answer = await user.post(f"/sessions/{session['id']}/restart")
    assert (answer.status_code, answer.json()["state"]) == (202, "TERMINATING")

    async def replaced() -> bool:
        return living.engine.world.containers.get(main, first) is not first

    await eventually(replaced)
    again = await living.until(user, session["id"], "RUNNING")
    assert (again["id"], again["node"]) == (session["id"], session["node"])
    assert [mount["path"] for mount in again["mounts"]] == ["/home/work/data"]
    # The new container runs the script too, and the log goes on.
    assert (await user.get(f"/sessions/{session['id']}/logs")).text == "prepared\n" * 2
    history = (await user.get(f"/sessions/{session['id']}/history")).json()["items"]
    states = [step["to_state"] for step in history if step["cause"] == "restart"]
    assert states == ["TERMINATING", "SCHEDULED"]
    async with living.database.transaction() as tx:
        query = "SELECT count(*), count(released_at) FROM allocations WHERE session_id = :id"
        assert tuple((await tx.execute(text(query), {"id": session["id"]})).one()) == (2, 0)


async def test_only_a_running_interactive_session_is_restarted(living: Api) -> None:
    user = await living.as_("user")
    batch = await running(living, user, kind="batch", command=["sleep", "1000"])
    answer = await user.post(f"/sessions/{batch['id']}/restart")
    assert (answer.status_code, answer.json()["code"]) == (409, "session.not_interactive")
    session = await running(living, user)
    assert (await user.post(f"/sessions/{session['id']}/restart")).status_code == 202
    await user.delete(f"/sessions/{session['id']}", params={"force": "true"})
    answer = await user.post(f"/sessions/{session['id']}/restart")
    assert (answer.status_code, answer.json()["code"]) == (409, "session.not_running")


async def test_a_time_limit_is_extended_within_the_policy(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user, time_limit_s=3600)
    path = f"/sessions/{session['id']}/time-limit"
    extended = (await user.ask("PUT", path, json={"time_limit_s": 7200})).json()
    assert extended["time_limit_s"] == 7200
    assert (await user.ask("PUT", path, json={"time_limit_s": 7200})).status_code == 200
    shorter = await user.ask("PUT", path, json={"time_limit_s": 60})
    assert (shorter.status_code, shorter.json()["code"]) == (422, "session.not_longer")
    history = (await user.get(f"/sessions/{session['id']}/history")).json()["items"]
    assert [step["reason"] for step in history if step["cause"] == "extended"] == [
        "Its time limit is 2:00:00 now."
    ]
    await limit(living.database, "keypair", lifetime_s=8000)
    longer = await user.ask("PUT", path, json={"time_limit_s": 8001})
    assert (longer.status_code, longer.json()["code"]) == (422, "session.lives_too_long")
    assert (await user.ask("PUT", path, json={"time_limit_s": 8000})).status_code == 200
    await user.delete(f"/sessions/{session['id']}", params={"force": "true"})
    ended = await user.ask("PUT", path, json={"time_limit_s": 8000})
    assert (ended.status_code, ended.json()["code"]) == (409, "session.ended")


async def test_a_restart_leaves_the_rest_of_the_time_limit(living: Api) -> None:
    user = await living.as_("user")
    await limit(living.database, "keypair", lifetime_s=7200)
    session = await running(living, user, time_limit_s=3600)
    path = f"/sessions/{session['id']}"
    await sql(living.database, "UPDATE sessions SET started_at = now() - interval '40 min'")
    await user.post(f"{path}/restart")
    again = await restarted(living, user, session["id"])

    async def left() -> timedelta:
        [rule] = (await user.get(f"{path}/idle")).json()["rules"]
        return datetime.fromisoformat(rule["ends_at"]) - datetime.fromisoformat(again["started_at"])

    assert timedelta(minutes=19) < await left() < timedelta(minutes=20)
    longer = {"time_limit_s": 7200}
    assert (await user.ask("PUT", f"{path}/time-limit", json=longer)).status_code == 200
    assert timedelta(minutes=79) < await left() < timedelta(minutes=80)
    refused = await user.ask("PUT", f"{path}/time-limit", json={"time_limit_s": 7201})
    assert refused.json()["code"] == "session.lives_too_long"


async def test_a_session_that_restarts_is_extended(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user, time_limit_s=3600)
    living.engine.world.hang()
    restarts = await user.post(f"/sessions/{session['id']}/restart")
    assert restarts.json()["state"] == "TERMINATING"
    path = f"/sessions/{session['id']}/time-limit"
    assert (await user.ask("PUT", path, json={"time_limit_s": 7200})).json()["time_limit_s"] == 7200
    await user.delete(f"/sessions/{session['id']}")
    ended = await user.ask("PUT", path, json={"time_limit_s": 8000})
    assert (ended.status_code, ended.json()["code"]) == (409, "session.ended")
    living.engine.world.come_back()


async def test_a_session_without_a_time_limit_cannot_be_extended(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user)
    answer = await user.ask("PUT", f"/sessions/{session['id']}/time-limit", json={"time_limit_s": 7200})
    assert (answer.status_code, answer.json()["code"]) == (409, "session.no_time_limit")


async def test_an_ended_session_starts_again_with_its_stored_definition(living: Api) -> None:
    user = await living.as_("user")
    options = {"env": {"SEED": "7"}, "bootstrap": "echo go", "workdir": "src", "description": "night"}
    session = await running(living, user, name="train-3", grace_s=3, **options)
    other = await user.post(f"/sessions/{session['id']}/again")
    assert other.status_code == 201
    assert other.json()["name"] != "train-3"
    await user.delete(f"/sessions/{session['id']}", params={"force": "true"})
    again = (await user.post(f"/sessions/{session['id']}/again")).json()
    assert again["id"] != session["id"]
    assert again["name"] == "train-3"
    assert {name: again[name] for name in options} == options
    assert again["grace_s"] == 3
    await living.until(user, again["id"], "RUNNING")


async def test_the_definition_of_a_session_has_what_was_changed_since(living: Api) -> None:
    user = await living.as_("user")
    session = await running(living, user, name="train", time_limit_s=3600, priority=20)
    path = f"/sessions/{session['id']}"
    await user.patch(path, {"name": "train-long"})
    await user.ask("PUT", f"{path}/time-limit", json={"time_limit_s": 7200})
    saved = (await user.post("/templates", {"name": "long", "from_session": session["id"]})).json()
    assert saved["session"]["time_limit_s"] == 7200
    await user.delete(path, params={"force": "true"})
    again = (await user.post(f"{path}/again")).json()
    assert (again["name"], again["time_limit_s"], again["priority"]) == ("train-long", 7200, 20)
    # A limit that the policy no longer allows, or that an administrator has set, is no reason to refuse.
    await limit(living.database, "keypair", lifetime_s=5400)
    assert (await user.post(f"{path}/again")).json()["time_limit_s"] == 5400


async def test_roles_start_again_with_the_size_that_all_their_containers_have(living: Api) -> None:
    user = await living.as_("user")
    roles = [
        {"name": "worker", "count": 2, "env": {"KEY": "7"}},
        {"name": "watch", "command": ["sleep", "1000"]},
    ]
    session = await running(living, user, name="train", slots={"cpu": 200, "mem": 64 << 20}, roles=roles)

    async def resize(container: str) -> None:
        answer = await user.post(f"/sessions/{session['id']}/resize", {"cpu": 300, "container": container})
        assert answer.status_code == 202, answer.text

        async def resized() -> bool:
            shown = (await user.get(f"/sessions/{session['id']}")).json()["containers"]
            return all(one["resize"] is None for one in shown)

        await eventually(resized)

    async def again() -> dict[str, Any]:
        made = (await user.post(f"/sessions/{session['id']}/again")).json()
        assert [one["host"] for one in made["containers"]] == ["main1", "worker1", "worker2", "watch1"]
        assert made["roles"][-2]["env"] == {"KEY": "7"}
        return {one["host"]: one["slots"]["cpu"] for one in made["containers"]}

    await resize("worker1")
    assert await again() == {"main1": 200, "worker1": 200, "worker2": 200, "watch1": 200}
    await resize("worker2")
    assert await again() == {"main1": 200, "worker1": 300, "worker2": 300, "watch1": 200}
    await resize("main")
    assert await again() == {"main1": 300, "worker1": 300, "worker2": 300, "watch1": 200}


async def test_an_array_starts_again_as_a_whole(living: Api) -> None:
    user = await living.as_("user")
    made = await user.start(
        kind="batch",
        name="sweep",
        command=["false"],
        retries=1,
        env={"SEED": "7"},
        containers=2,
        array={"first": 3, "last": 5, "max_parallel": 2},
    )
    for index in (3, 4, 5):
        await living.until(user, f"sweep-{index}", "TERMINATED")
    one = (await user.get("/sessions/sweep-4")).json()["id"]
    again = (await user.post(f"/sessions/{one}/again")).json()
    assert again["array_id"] not in (None, made["array_id"])
    array = again["array"]
    assert (array["name"], array["first"], array["last"], array["max_parallel"]) == ("sweep", 3, 5, 2)
    members = (await user.get("/sessions", params={"array": again["array_id"], "state": "all"})).json()[
        "items"
    ]
    assert [(row["name"], row["array_index"], row["cluster_size"]) for row in members] == [
        ("sweep-3", 3, 2),
        ("sweep-4", 4, 2),
        ("sweep-5", 5, 2),
    ]
    detail = (await user.get(f"/sessions/{again['id']}")).json()
    assert (detail["command"], detail["retries"], detail["env"]) == (["false"], 1, {"SEED": "7"})


async def test_only_its_owner_starts_a_session_again(living: Api) -> None:
    user = await living.as_("user")
    session = await user.start(env={"TOKEN": "secret"})
    admin = await (await living.as_("superadmin")).post(f"/sessions/{session['id']}/again")
    assert admin.status_code == 403
    assert (await (await living.as_("colleague")).post(f"/sessions/{session['id']}/again")).status_code == 404


async def test_restart_extend_and_again_on_the_command_line(living: Api, tmp_path: Path) -> None:
    user = await living.as_("user")
    command = await command_line(living, "user", tmp_path)
    session = await running(living, user, name="train-3", time_limit_s=3600)
    assert "is 3 h now" in await command.ok("session", "extend", "train-3", "2h")
    assert "train-3" in await command.ok("session", "restart", "--yes", "train-3")
    again = (await command.ok("session", "again", "-q", session["id"])).strip()
    assert (await user.get(f"/sessions/{again}")).json()["time_limit_s"] == 10_800
    unlimited = await running(living, user)
    done = await command.run("session", "extend", unlimited["id"], "2h")
    assert (done.code != 0, "has no time limit" in done.stderr) == (True, True)
