"""Arrays over HTTP: one request, many sessions; one row in lists; ended as one."""

from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from databases import scalar, sql
from installation import Api, Caller
from limit_kit import limit
from people import eventually
from session_kit import force_state, overwrite, request

from carrel.tables.session_states import Result, SessionState


async def start_array(
    user: Caller, first: int = 1, last: int = 5, *, key: str | None = None, **changes: object
):
    changes = {"name": "train", "max_parallel": None, **changes}
    array = {"first": first, "last": last, "max_parallel": changes.pop("max_parallel")}
    body = request(kind="batch", command=["true"], array=array, **changes)
    return await user.post("/sessions", body, headers={"Idempotency-Key": key} if key else {})


async def names(user: Caller, **query: object) -> list[str]:
    answer = await user.get("/sessions", params=query)
    assert answer.status_code == 200, answer.text
    return [one["name"] for one in answer.json()["items"]]


async def test_one_request_makes_a_session_for_each_index(api: Api):
    user = await api.as_("user")
    answer = await start_array(user, 3, 6, max_parallel=2, description="sweep", key="one")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["name"], made["array_id"], made["array_index"]) == ("train-3", made["id"], 3)
    assert made["array"] == {
        "id": made["id"],
        "name": "train",
        "first": 3,
        "last": 6,
        "max_parallel": 2,
        "counts": [{"state": "PENDING", "result": None, "count": 4}],
    }
    members = (await user.get("/sessions", params={"array": made["id"]})).json()["items"]
    assert [one["name"] for one in members] == ["train-3", "train-4", "train-5", "train-6"]
    assert [one["array_index"] for one in members] == [3, 4, 5, 6]
    assert all(one["array"] is None for one in members)
    last = (await user.get("/sessions/train-6")).json()
    assert (last["description"], last["command"], last["array_id"]) == ("sweep", ["true"], made["id"])
    assert [one["name"] for one in last["containers"]] == ["main"]
    history = (await user.get("/sessions/train-6/history")).json()["items"]
    assert [step["cause"] for step in history] == ["created"]
    again = await start_array(user, 3, 6, max_parallel=2, description="sweep", key="one")
    assert (again.status_code, again.json()["id"]) == (201, made["id"])
    assert await scalar(api.database, "SELECT count(*) FROM sessions") == 4


async def test_folders_are_held_by_every_session_of_an_array(api: Api):
    user = await api.as_("user")
    assert (await user.post("/vfolders", {"name": "data"})).status_code == 201
    answer = await start_array(user, 1, 3, mounts=[{"folder": "data"}])
    assert answer.status_code == 201, answer.text
    mounts = (await user.get("/vfolders/data/mounts")).json()["items"]
    assert len(mounts) == 3


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"last": 0}, "session.array_range", "array.last"),
        ({"last": 10_001}, "session.array_range", "array.last"),
        ({"last": 2000, "containers": 6}, "session.array_range", "array.last"),
        ({"name": "n" * 63}, "session.array_name", "name"),
    ],
)
async def test_impossible_arrays_are_refused(api: Api, changes: dict[str, object], code: str, field: str):
    answer = await start_array(await api.as_("user"), **changes)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, code, field)


async def test_only_batch_sessions_form_arrays(api: Api):
    user = await api.as_("user")
    answer = await user.post("/sessions", request(array={"first": 1, "last": 2}))
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
        422,
        "session.not_batch",
        "array",
    )


async def test_a_taken_name_makes_none_of_an_array(api: Api):
    user = await api.as_("user")
    await user.start(name="train-4")
    answer = await start_array(user)
    assert (answer.status_code, answer.json()["code"]) == (409, "session.name_taken")
    assert "train[1-5]" in answer.json()["detail"]
    assert await scalar(api.database, "SELECT count(*) FROM sessions") == 1


async def test_every_session_of_an_array_counts_as_pending(api: Api):
    user = await api.as_("user")
    await limit(api.database, "keypair", pending_sessions=4)
    refused = await start_array(user)
    assert (refused.status_code, refused.json()["code"]) == (409, "session.too_many_waiting")
    assert refused.json()["detail"].endswith("allows 4 pending sessions; you have 0, and this requests 5.")
    assert (await start_array(user, 1, 4)).status_code == 201


async def test_lists_show_an_array_as_one_row_with_its_counts(api: Api):
    user = await api.as_("user")
    await user.start(name="before")
    array = (await start_array(user)).json()
    await user.start(name="after")
    for number, result in ((1, Result.FAILURE), (2, Result.SUCCESS), (3, Result.SUCCESS)):
        one = (await user.get(f"/sessions/train-{number}")).json()["id"]
        await force_state(api.database, one, SessionState.TERMINATED)
        await overwrite(api.database, one, result=result)
    running = (await user.get("/sessions/train-5")).json()["id"]
    await force_state(api.database, running, SessionState.RUNNING)
    answer = (await user.get("/sessions", params={"state": "live"})).json()["items"]
    assert [one["name"] for one in answer] == ["after", "train-1", "before"]
    assert [one["array"] is not None for one in answer] == [False, True, False]
    assert answer[1]["array"]["counts"] == [
        {"state": "PENDING", "result": None, "count": 1},
        {"state": "RUNNING", "result": None, "count": 1},
        {"state": "TERMINATED", "result": "failure", "count": 1},
        {"state": "TERMINATED", "result": "success", "count": 2},
    ]
    # It is live while one of its sessions is, and matches every state that one of them has.
    assert await names(user, state="all") == ["after", "train-1", "before"]
    assert await names(user, state="ended") == []
    assert await names(user, state="RUNNING") == ["train-1"]
    assert await names(user, state="TERMINATED") == ["train-1"]
    assert await names(user, state="ERROR") == []
    assert await names(user, state="all", q="train") == ["train-1"]
    assert await names(user, state="live", array="expanded") == ["after", "train-5", "train-4", "before"]
    assert await names(user, state="all", array=array["id"]) == [f"train-{number}" for number in range(1, 6)]
    assert await names(user, state="ended", array=array["id"]) == ["train-1", "train-2", "train-3"]
    await sql(
        api.database, "UPDATE sessions SET state = 'TERMINATED', ended_at = now() WHERE ended_at IS NULL"
    )
    assert await names(user, state="ended") == ["after", "train-1", "before"]
    assert await names(user, state="live") == []


async def test_pages_of_collapsed_arrays_have_each_row_once(api: Api):
    user = await api.as_("user")
    expected = []
    for number in range(4):
        await start_array(user, 1, 30, name=f"array{number}")
        await user.start(name=f"desk-{number}")
        expected = [f"desk-{number}", f"array{number}-1", *expected]
    for state in ("all", "live"):
        seen: list[str] = []
        cursor = None
        while True:
            query = {"state": state, "limit": 3, **({"cursor": cursor} if cursor else {})}
            page = (await user.get("/sessions", params=query)).json()
            seen += [one["name"] for one in page["items"]]
            cursor = page["next_cursor"]
            if not cursor:
                break
        assert seen == expected


async def test_an_array_ends_as_one(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    array = (await start_array(user)).json()
    running = (await user.get("/sessions/train-2")).json()["id"]
    await force_state(api.database, running, SessionState.RUNNING)
    assert (await colleague.delete("/sessions/train")).status_code == 404
    assert (await user.get("/sessions/train")).json()["id"] == array["id"]
    # Its id is also that of its first session, which ends alone.
    ended = (await user.delete(f"/sessions/{array['id']}")).json()
    assert {(one["state"], one["count"]) for one in ended["array"]["counts"]} == {
        ("CANCELLED", 1),
        ("PENDING", 3),
        ("RUNNING", 1),
    }
    ended = (await user.delete("/sessions/train")).json()
    assert {(one["state"], one["count"]) for one in ended["array"]["counts"]} == {
        ("CANCELLED", 4),
        ("TERMINATING", 1),
    }
    # Only those that had not ended were ended by it.
    admin = await api.as_("superadmin")
    [entry, *_] = (await admin.get("/audit", params={"action": "session.remove"})).json()["items"]
    assert entry["details"]["array"] == 4
    other = (await start_array(user, 6, 8)).json()
    ended = (await user.delete("/sessions/train-7", params={"array": True})).json()
    assert {(one["state"], one["count"]) for one in ended["array"]["counts"]} == {("CANCELLED", 3)}
    assert other["id"] == ended["array"]["id"]
    alone = await user.start(name="desk")
    answer = await user.delete("/sessions/desk", params={"array": True})
    assert (answer.status_code, answer.json()["code"]) == (422, "session.no_array")
    assert (await user.get(f"/sessions/{alone['id']}")).json()["state"] == "PENDING"


@pytest.fixture
async def command(living: Api, tmp_path: Path) -> CommandLine:
    return await command_line(living, "user", tmp_path)


_SMALL = ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")


async def test_run_waits_for_an_array_and_tells_how_many_failed(command: CommandLine) -> None:
    array = ("run", *_SMALL, "--name", "sweep", "--array", "0-2%2")
    ran = await command.run(*array, "--", "sh", "-c", "exit $CARREL_ARRAY_INDEX")
    assert (ran.code, ran.stdout) == (1, b"")
    assert "sweep[0-2]: 1 done, 2 failed." in ran.stderr
    members = (await command.as_json("session", "ls", "--array", "sweep"))["items"]
    assert [one["result"] for one in members] == ["success", "failure", "failure"]
    shown = await command.as_json("session", "show", "sweep-2")
    assert shown["containers"][0]["exit_code"] == 2
    assert "sweep[0-2]" in await command.ok("session", "ls", "--all")
    assert "sweep-2" in await command.ok("session", "ls", "--array", "sweep-1", "--state", "TERMINATED")
    assert (await command.run("session", "ls", "--array", "nothing")).code == 4


async def test_the_name_of_an_array_ends_all_its_sessions(command: CommandLine) -> None:
    array = ("run", *_SMALL, "--name", "sweep", "--array", "1-4%2", "--detach")
    first = (await command.ok(*array, "--", "sleep", "1000")).strip()

    async def runs() -> bool:
        [row] = (await command.as_json("session", "ls"))["items"]
        counts = {one["state"]: one["count"] for one in row["array"]["counts"]}
        return counts == {"RUNNING": 2, "PENDING": 2}

    await eventually(runs)
    pending = await command.as_json("session", "show", "sweep-4")
    assert pending["reason"] == "Its array runs at most 2 at a time."
    assert pending["queue_position"] is None
    ended = await command.ok("session", "rm", "--yes", "--wait", "sweep")
    assert ended == "sweep[1-4]: 4 cancelled\n"
    assert (await command.as_json("session", "show", first))["state"] == "TERMINATED"


async def test_an_exported_definition_starts_the_same_again(command: CommandLine, tmp_path: Path) -> None:
    script = "echo $CARREL_ARRAY_INDEX of $CARREL_ARRAY_COUNT in $CARREL_ARRAY_ID"
    array = ("run", *_SMALL, "--name", "sweep", "--array", "1-2", "--env", "A=b")
    assert (await command.run(*array, "--", "sh", "-c", script)).code == 0
    job = tmp_path / "job.yaml"
    job.write_text(await command.ok("session", "export", "sweep"))
    assert "array: 1-2\n" in job.read_text()
    assert (await command.run("run", "-f", str(job), "--name", "again")).code == 0
    first, again = [await command.as_json("session", "show", name) for name in ("sweep", "again")]
    for field in ("command", "slots", "env", "image", "project", "kind"):
        assert first[field] == again[field]
    assert again["array"]["name"] == "again"
    array = again["array"]["id"]
    assert await command.ok("session", "logs", "again-1") == f"1 of 2 in {array}\n"
    assert await command.ok("session", "logs", "again-2") == f"2 of 2 in {array}\n"
    refused = await command.run("session", "create", "-f", str(tmp_path / "nothing.yaml"))
    assert (refused.code, "client.bad_definition" in refused.stderr) == (1, True)
