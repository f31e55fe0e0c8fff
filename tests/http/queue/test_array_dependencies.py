"""Sessions that start after whole arrays, over HTTP: order, cancellations, refusals, the graph."""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from carrel_client import Carrel
from command_line import command_line
from databases import scalar, sql
from installation import Api, Caller
from people import eventually
from people_kit import status_and_code
from queue_kit import waits
from session_kit import SMALL, force_state, overwrite, request

from carrel.tables.session_states import Result, SessionState


def after(ref: str, condition: str = "succeeded", **more: object) -> list[dict[str, object]]:
    return [{"session": ref, "condition": condition, **more}]


async def start_array(
    user: Caller, name: str, *command: str, count: int = 3, **fields: object
) -> dict[str, Any]:
    array = {"first": 1, "last": count, "max_parallel": fields.pop("max_parallel", None)}
    return await user.start(kind="batch", name=name, command=command or ("true",), array=array, **fields)


async def start_batch(user: Caller, name: str, **fields: object) -> dict[str, Any]:
    return await user.start(kind="batch", name=name, command=["true"], **fields)


async def shown(who: Caller, ref: str) -> dict[str, Any]:
    return (await who.get(f"/sessions/{ref}")).json()  # type: ignore[no-any-return]


async def end_item(api: Api, user: Caller, ref: str, result: Result) -> None:
    one = (await shown(user, ref))["id"]
    await force_state(api.database, one, SessionState.TERMINATED)
    await overwrite(api.database, one, result=result)


async def test_a_session_starts_once_all_of_an_array_have_succeeded(living: Api):
    user = await living.as_("user")
    sweep = await start_array(user, "sweep", "sleep", "1", max_parallel=1)
    report = await start_batch(user, "report", after=after("sweep"))
    [one] = report["after"]
    assert (one["id"], one["array"]["name"], one["array"]["last"], one["met"]) == (
        sweep["id"],
        "sweep",
        3,
        None,
    )
    why = await waits(living, user, report["id"])
    assert re.fullmatch(r"It waits for sweep\[1-3\] \([0-3] of 3 have ended\) to succeed\.", why["reason"])
    # What is stored does not change with each session that ends.
    assert (await shown(user, "report"))["reason"] == "It waits for sweep[1-3] to succeed."
    report = await living.until(user, report["id"], "TERMINATED")
    assert (report["result"], report["after"][0]["met"]) == ("success", True)
    ends = [(await shown(user, f"sweep-{number}"))["ended_at"] for number in (1, 2, 3)]
    assert max(ends) <= report["started_at"]


async def test_one_failure_cancels_what_needs_all_and_starts_what_needs_a_failure(living: Api):
    user = await living.as_("user")
    await start_array(user, "sweep", "sh", "-c", "sleep 1; [ $CARREL_ARRAY_INDEX != 2 ]")
    train = await start_array(user, "train", after=after("sweep"))
    alarm = await start_batch(user, "alarm", after=after("sweep", "failed"))
    clean = await start_array(user, "clean", after=after("sweep", "ended"), count=2)
    calm = await start_batch(user, "calm", after=after("clean", "failed"))
    train = await living.until(user, train["id"], "CANCELLED")
    assert (
        train["reason"] == "Not all of sweep[1-3] succeeded, and this session was to start after its success."
    )
    assert (await living.until(user, alarm["id"], "TERMINATED"))["result"] == "success"
    assert (await living.until(user, clean["id"], "TERMINATED"))["result"] == "success"
    calm = await living.until(user, calm["id"], "CANCELLED")
    assert (
        calm["reason"] == "No session of clean[1-2] failed, and this session was to start after its failure."
    )


async def test_an_array_that_is_terminated_blocks_nobody(living: Api):
    user = await living.as_("user")
    await start_array(user, "sweep", "sleep", "1000", max_parallel=1)
    train = await start_batch(user, "train", after=after("sweep"))
    clean = await start_batch(user, "clean", after=after("sweep", "ended"))
    await waits(living, user, clean["id"])
    assert (await user.delete("/sessions/sweep")).status_code == 202
    assert (await living.until(user, train["id"], "CANCELLED"))["result"] == "cancelled"
    assert (await living.until(user, clean["id"], "TERMINATED"))["result"] == "success"


async def test_a_condition_on_an_array_is_met_by_all_of_its_sessions(api: Api):
    user = await api.as_("user")
    await start_array(user, "sweep", count=2)
    for name, condition in (("good", "succeeded"), ("worse", "failed"), ("over", "ended")):
        await start_batch(user, name, after=after("sweep", condition), on_dependency_failure="wait")

    async def met() -> list[bool | None]:
        return [(await shown(user, name))["after"][0]["met"] for name in ("good", "worse", "over")]

    assert await met() == [None, None, None]
    await end_item(api, user, "sweep-2", Result.FAILURE)
    assert await met() == [False, None, None]
    assert [one["met"] for one in (await shown(user, "sweep-1"))["dependants"]] == [False, None, None]
    refused = await user.post("/sessions", request(after=after("sweep")))
    assert status_and_code(refused) == (409, "session.dependency_failed")
    assert (
        refused.json()["detail"]
        == "Not all of sweep[1-2] succeeded, so a session cannot start after its success."
    )
    await end_item(api, user, "sweep-1", Result.SUCCESS)
    assert await met() == [False, True, True]
    # A session whose row is gone leaves the others to decide.
    await sql(api.database, "UPDATE sessions SET array_id = NULL, array_index = NULL WHERE name = 'sweep-2'")
    assert await met() == [True, False, True]


async def test_an_array_is_named_by_its_name_its_id_or_one_of_its_sessions(api: Api):
    user = await api.as_("user")
    sweep = await start_array(user, "sweep")
    for ref, array, of_array in (
        ("sweep", False, True),
        ("sweep", True, True),
        (sweep["id"], True, True),
        (sweep["id"], False, False),
        ("sweep-2", True, True),
        ("sweep-2", False, False),
    ):
        [one] = (await user.start(after=after(ref, array=array)))["after"]
        assert (one["array"] is not None) is of_array
        if of_array:
            assert one["id"] == sweep["id"]
    # A session of this name comes first, unless an array is requested.
    await user.start(name="sweep")
    assert (await user.start(after=after("sweep")))["after"][0]["array"] is None
    assert (await user.start(after=after("sweep", array=True)))["after"][0]["array"]["name"] == "sweep"


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (after("nothing", array=True), (404, "session.not_found")),
        (after("desk", array=True), (422, "session.no_array")),
        ([*after("sweep"), *after("sweep-2", "ended", array=True)], (422, "session.dependency_repeated")),
        (after("secret"), (404, "session.not_found")),
    ],
)
async def test_arrays_that_make_no_sense_are_refused(api: Api, wrong: object, problem: object):
    user = await api.as_("user")
    await start_array(user, "sweep")
    await user.start(name="desk")
    await start_array(await api.as_("stranger"), "secret")
    before = await scalar(api.database, "SELECT count(*) FROM session_dependencies")
    assert status_and_code(await user.post("/sessions", request(after=wrong))) == problem
    assert await scalar(api.database, "SELECT count(*) FROM session_dependencies") == before
    both = [*after("sweep"), *after("sweep-1", "ended")]
    assert len((await user.start(after=both))["after"]) == 2


async def test_an_array_takes_the_place_of_a_session_and_closes_no_cycle(api: Api):
    user = await api.as_("user")
    await user.start(name="prepare")
    await start_array(user, "train", after=after("prepare"))
    report = await user.start(name="report", after=after("train", "ended"))
    array = {"kind": "batch", "command": ["true"], "array": {"first": 1, "last": 2}}
    refused = await user.post(
        "/sessions", request(**array, after=after("report")), params={"replaces": "prepare"}
    )
    assert status_and_code(refused) == (422, "session.dependency_cycle")
    assert refused.json()["detail"] == (
        "That is a cycle: prepare-1 starts after report, which starts after train-1, which starts after prepare-1."
    )
    # One session of an array that was cancelled alone does not hide the others.
    assert (await user.delete(f"/sessions/{(await shown(user, 'train-1'))['id']}")).status_code == 202
    refused = await user.post("/sessions", request(after=after("report")), params={"replaces": "prepare"})
    assert status_and_code(refused) == (422, "session.dependency_cycle")
    made = await user.post("/sessions", request(**array), params={"replaces": "prepare"})
    assert made.status_code == 201, made.text
    for name in ("train-1", "train-2"):
        [one] = (await shown(user, name))["after"]
        assert (one["id"], one["array"]["name"]) == (made.json()["id"], "prepare")
    # A session that takes the place of the first one of an array does not take that of the array.
    await user.post("/sessions", request(), params={"replaces": "train-2"})
    [one] = (await shown(user, report["id"]))["after"]
    assert one["array"]["name"] == "train"


async def test_in_the_graph_an_array_is_one(api: Api):
    user = await api.as_("user")
    await user.start(name="load")
    await start_array(user, "train", count=40, after=after("load"))
    await user.start(name="peek", after=after("train-2", "ended"))
    await start_array(user, "report", after=after("train"))
    for own in ("train-1", "train-7"):
        graph = (await user.get(f"/sessions/{own}/graph")).json()
        names = {one["id"]: (one["array"] or one)["name"] for one in graph["nodes"]}
        assert list(names.values()) == ["train", "load", "peek", "report"]
        assert {
            (names[edge["session"]], names[edge["after"]], edge["index"], edge["met"])
            for edge in graph["edges"]
        } == {
            ("train", "load", None, None),
            ("peek", "train", 2, None),
            ("report", "train", None, None),
        }
    assert [one["name"] for one in (await shown(user, "train-2"))["dependants"]] == ["peek", "report-1"]
    assert [one["name"] for one in (await shown(user, "train-1"))["dependants"]] == ["report-1"]
    assert [one["array"]["name"] for one in (await shown(user, "load"))["dependants"]] == ["train"]


async def test_an_array_that_one_may_not_see_stays_unseen(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    await start_array(user, "sweep")
    made = await user.start(name="later", after=after("sweep"))
    await sql(
        api.database,
        "UPDATE sessions SET owner_id = :admin, project_id = project_id WHERE name LIKE 'sweep-%'",
        admin=api.people.superadmin.user_id,
    )
    assert (await shown(admin, made["id"]))["after"][0]["array"]["name"] == "sweep"
    [hidden] = (await shown(user, made["id"]))["after"]
    assert (hidden["id"], hidden["name"], hidden["array"]) == (None, None, None)


async def test_a_check_tells_which_array_it_would_wait_for(living: Api):
    user = await living.as_("user")
    await start_array(user, "sweep", "sleep", "1000", time_limit_s=3600, max_parallel=1)
    body = {"slots": SMALL, "after": after("sweep")}

    async def estimated() -> dict[str, Any] | None:
        check = (await user.post("/sessions/check", body)).json()
        return check if check["expected_start"] else None  # once the first of them is placed

    check = await eventually(estimated)
    assert (check["verdict"], check["reason"], check["no_estimate"]) == (
        "waits",
        "It waits for sweep[1-3] (0 of 3 have ended) to succeed.",
        "",
    )
    # Three time limits, one after the other.
    in_s = (datetime.fromisoformat(check["expected_start"]) - datetime.now(UTC)).total_seconds()
    assert 3 * 3600 - 300 < in_s <= 3 * 3600


async def test_the_command_line_and_definitions_name_arrays(living: Api, tmp_path: Path):
    command = await command_line(living, "user", tmp_path)
    line, small = command.ok, ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")
    array = ("run", *small, "--detach", "--array", "1-2")
    first = (await line(*array, "--name", "sweep", "--", "sleep", "1000")).strip()
    await line("session", "create", *small, "--name", "desk", "--after", f"array:{first}:ended", "-q")
    await line(*array, "--name", "report", "--after", "sweep:ended", "--", "true")
    assert re.search(
        r"^after +sweep\[1-2\]:ended \([0-9a-z, ]+\)$", await line("session", "show", "desk"), re.M
    )
    shown = await line("session", "show", "sweep-2")
    assert re.search(r"^before +desk \(PENDING\)$", shown, re.M)
    assert re.search(r"^before +report\[1-2\] \(2 pending\)$", shown, re.M)
    drawn = (await line("session", "graph", "sweep")).splitlines()
    assert re.fullmatch(r"sweep\[1-2\]  .+  <- this array", drawn[0])
    assert drawn[1:] == ["├─ desk  PENDING, after it ended", "└─ report[1-2]  2 pending, after it ended"]
    job = tmp_path / "job.yaml"
    job.write_text(
        "image: debian:12\ncpu: 0.1\nmem: 64m\nkind: batch\ncommand: [echo, done]\n"
        "after:\n- {session: sweep-1, array: true, condition: ended}\n- {session: sweep-2, condition: ended}\n"
    )
    await line("run", "-f", str(job), "--detach", "--name", "last")
    [both, single] = (await command.as_json("session", "show", "last"))["after"]
    assert (both["array"]["name"], single["name"], single["array"]) == ("sweep", "sweep-2", None)
    await line("session", "rm", "--yes", "--wait", "sweep")
    assert await line("session", "logs", "-f", "last") == "done\n"


async def test_the_sdk_takes_arrays_as_words(living: Api):
    access, secret = await living.keypair(living.people.user)

    def work() -> tuple[str, str]:
        carrel = Carrel(living.url, access_key=access, secret_key=secret)
        small: dict[str, Any] = {"cpu": 0.1, "mem": "64m", "image": "debian:12"}
        sweep = carrel.sessions.create(command=["true"], name="sweep", array="1-3%1", **small)
        report = carrel.sessions.create(command=["true"], after=[f"array:{sweep.id}"], name="report", **small)
        alarm = carrel.sessions.create(after=["sweep:failed"], name="alarm", **small)
        return report.id, alarm.id

    report, alarm = await asyncio.to_thread(work)
    user = await living.as_("user")
    assert (await living.until(user, report, "TERMINATED"))["result"] == "success"
    assert (await living.until(user, alarm, "CANCELLED"))["reason"].startswith(
        "No session of sweep[1-3] failed"
    )
