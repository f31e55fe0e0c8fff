"""Sessions that start after others, over HTTP: order, refusals, cancellations, the graph, and what each may see."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from carrel_client import Carrel
from command_line import command_line
from databases import scalar
from installation import Api, Caller
from people import eventually
from people_kit import project_admin, status_and_code
from queue_kit import waits
from session_kit import SMALL, force_state, overwrite, request

from carrel.tables.session_states import Result, SessionState


def after(*refs: str, condition: str = "succeeded") -> list[dict[str, str]]:
    return [{"session": ref, "condition": condition} for ref in refs]


def batch(*command: str, **fields: object) -> dict[str, object]:
    return {"kind": "batch", "command": command, **fields}


async def shown(who: Caller, ref: str) -> dict:  # type: ignore[type-arg]
    return (await who.get(f"/sessions/{ref}")).json()  # type: ignore[no-any-return]


async def test_a_session_starts_once_the_one_before_it_has_succeeded(living: Api):
    user = await living.as_("user")
    first = await user.start(**batch("sleep", "2", name="prepare-data"))
    later = await user.start(**batch("true", name="train", after=after("prepare-data")))
    assert later["after"] == [
        {
            "id": first["id"],
            "name": "prepare-data",
            "array": None,
            "condition": "succeeded",
            "state": later["after"][0]["state"],
            "result": None,
            "met": None,
        }
    ]
    why = await waits(living, user, later["id"])
    assert (why["reason"], why["expected_start"]) == ("It waits for prepare-data to succeed.", None)
    ended = await living.until(user, later["id"], "TERMINATED")
    assert (ended["result"], ended["after"][0]["met"]) == ("success", True)
    first, later = await shown(user, first["id"]), await shown(user, later["id"])
    assert first["ended_at"] <= later["started_at"]
    [dependant] = first["dependants"]
    assert (dependant["id"], dependant["name"], dependant["met"]) == (later["id"], "train", True)


async def test_a_failure_cancels_all_that_come_after_with_the_reason(living: Api):
    user = await living.as_("user")
    await user.start(**batch("sh", "-c", "sleep 1; exit 3", name="prepare-data"))
    train = await user.start(**batch("true", name="train", after=after("prepare-data")))
    report = await user.start(**batch("true", name="report", after=after("train")))
    alarm = await user.start(**batch("true", name="alarm", after=after("prepare-data", condition="failed")))
    clean = await user.start(**batch("true", name="clean", after=after("report", condition="ended")))
    keeps = await user.start(
        **batch("true", name="keeps", after=after("prepare-data"), on_dependency_failure="wait")
    )
    assert [((await living.until(user, one["id"], "CANCELLED"))["reason"]) for one in (train, report)] == [
        "prepare-data failed, and this session was to start after its success.",
        "train was cancelled, and this session was to start after its success.",
    ]
    history = (await user.get(f"/sessions/{train['id']}/history")).json()["items"]
    assert (history[-1]["cause"], history[-1]["actor"]) == ("dependency_failed", None)
    assert [(await living.until(user, one["id"], "TERMINATED"))["result"] for one in (alarm, clean)] == [
        "success",
        "success",
    ]
    why = await waits(living, user, keeps["id"])
    assert why["reason"] == "prepare-data failed, and this session starts only after its success."
    # It goes on with another request in its place.
    body = request(**batch("true", after=after("alarm")))
    again = (await user.post("/sessions", body, params={"replaces": "keeps"})).json()
    assert (await living.until(user, again["id"], "TERMINATED"))["result"] == "success"


async def test_what_can_never_start_is_refused_at_the_door_unless_it_is_to_wait(api: Api):
    user = await api.as_("user")
    first = await user.start(name="prepare-data")
    await force_state(api.database, first["id"], SessionState.ERROR)
    body = request(after=after("prepare-data"))
    refused = await user.post("/sessions", body)
    assert (
        refused.status_code,
        refused.json()["code"],
        refused.json()["field"],
        refused.json()["detail"],
    ) == (
        409,
        "session.dependency_failed",
        "after.0.session",
        "prepare-data failed, so a session cannot start after its success.",
    )
    check = (await user.post("/sessions/check", {"slots": SMALL, "after": after("prepare-data")})).json()
    assert (check["verdict"], check["code"]) == ("never", "session.dependency_failed")
    assert (await user.try_start(after=after("prepare-data", condition="failed"))).status_code == 201
    assert (await user.try_start(after=after("prepare-data", condition="ended"))).status_code == 201
    assert (
        await user.try_start(after=after("prepare-data"), on_dependency_failure="wait")
    ).status_code == 201
    await overwrite(
        api.database,
        first["id"],
        state="TERMINATED",
        outcome="TERMINATED",
        kind="batch",
        result=Result.TIMED_OUT,
    )
    refused = await user.post("/sessions", body)
    assert refused.json()["detail"].startswith("prepare-data reached its time limit, so")


async def test_a_check_says_what_it_would_wait_for_and_what_fits_beside_that(living: Api):
    user = await living.as_("user")
    await user.start(name="prepare-data")
    await user.start(name="download")
    body = {"slots": SMALL, "after": after("prepare-data", "download", condition="ended")}
    check = (await user.post("/sessions/check", body)).json()
    assert (check["verdict"], check["reason"]) == (
        "waits",
        "It waits for prepare-data to end, and for 1 other session.",
    )
    assert check["groups"][0]["verdict"] == "starts"


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (after("nothing"), (404, "session.not_found")),
        (after("first", "second", "first"), (422, "session.dependency_repeated")),
        (after("other"), (404, "session.not_found")),
        ([{"session": "first", "condition": "started"}], (422, "invalid.request")),
    ],
)
async def test_dependencies_that_make_no_sense_are_refused(api: Api, wrong: object, problem: object):
    user, stranger = await api.as_("user"), await api.as_("stranger")
    for name in ("first", "second"):
        await user.start(name=name)
    await stranger.start(name="other")
    refused = await user.post("/sessions", request(after=wrong))
    assert status_and_code(refused) == problem
    assert await scalar(api.database, "SELECT count(*) FROM session_dependencies") == 0


async def test_a_session_of_another_user_in_another_project_is_no_dependency(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    other = await (await api.as_("stranger")).start(name="other")
    refused = await admin.post("/sessions", request(after=after(other["id"])))
    assert status_and_code(refused) == (422, "session.dependency_elsewhere")
    assert refused.json()["field"] == "after.0.session"
    assert (await user.get(f"/sessions/{other['id']}")).status_code == 404


async def test_what_replaces_a_session_takes_its_place_and_closes_no_cycle(api: Api):
    user = await api.as_("user")
    await user.start(name="prepare-data")
    train = await user.start(name="train", after=after("prepare-data"))
    report = await user.start(name="report", after=after("train"))
    for ref, path in (
        ("report", "train starts after report, which starts after train"),
        ("train", "train starts after train"),
    ):
        refused = await user.post("/sessions", request(after=after(ref)), params={"replaces": "train"})
        assert (refused.status_code, refused.json()["code"]) == (422, "session.dependency_cycle")
        assert refused.json()["detail"] == f"That is a cycle: {path}."
    refused = await user.post(
        "/sessions", request(after=after("report")), params={"replaces": "prepare-data"}
    )
    assert refused.json()["detail"].endswith(
        "prepare-data starts after report, which starts after train, which starts after prepare-data."
    )
    assert (await shown(user, "prepare-data"))["state"] == "PENDING"
    made = await user.post("/sessions", request(after=after("prepare-data")), params={"replaces": "train"})
    assert made.status_code == 201
    assert [one["id"] for one in (await shown(user, report["id"]))["after"]] == [made.json()["id"]]
    assert made.json()["name"] == "train"
    assert [one["id"] for one in made.json()["dependants"]] == [report["id"]]
    assert (await shown(user, train["id"]))["dependants"] == []


async def test_the_graph_has_all_before_and_all_after_but_nothing_beside(api: Api):
    user = await api.as_("user")
    ids = {}
    for name, needs in {
        "load": [],
        "split": ["load"],
        "train-a": ["split"],
        "train-b": ["split"],
        "report": ["train-a", "train-b"],
    }.items():
        ids[name] = (await user.start(name=name, after=after(*needs)))["id"]
    graph = (await user.get("/sessions/train-a/graph")).json()
    assert [node["name"] for node in graph["nodes"]] == ["train-a", "load", "split", "report"]
    assert {(edge["session"], edge["after"], edge["met"]) for edge in graph["edges"]} == {
        (ids["split"], ids["load"], None),
        (ids["train-a"], ids["split"], None),
        (ids["report"], ids["train-a"], None),
    }
    assert not graph["truncated"]
    alone = (await user.get(f"/sessions/{(await user.start())['id']}/graph")).json()
    assert (len(alone["nodes"]), alone["edges"]) == (1, [])


async def test_sessions_that_one_may_not_see_stay_unseen(api: Api):
    user = await api.as_("user")
    first = await user.start(name="prepare-data")
    admin = await project_admin(api)
    secret = await admin.start(name="secret-plan", after=after(first["id"]))
    assert [one["name"] for one in (await shown(admin, first["id"]))["dependants"]] == ["secret-plan"]
    assert (await shown(user, first["id"]))["dependants"] == []
    assert [one["name"] for one in (await user.get(f"/sessions/{first['id']}/graph")).json()["nodes"]] == [
        "prepare-data"
    ]
    # The administrator is none any more: what the session waits for is not theirs to see.
    superadmin = await api.as_("superadmin")
    member = f"/projects/{api.people.project}/members/{secret['owner']['id']}"
    assert (await superadmin.patch(member, {"admin": False})).status_code == 200
    [hidden] = (await shown(admin, secret["id"]))["after"]
    assert (hidden["id"], hidden["name"], hidden["state"]) == (None, None, "PENDING")


async def test_more_sessions_before_it_than_a_request_may_name_are_refused(api: Api):
    user = await api.as_("user")
    refused = await user.post("/sessions", request(after=after(*(f"s{n}" for n in range(51)))))
    assert refused.status_code == 422


async def test_the_command_line_starts_after_others_and_draws_the_graph(living: Api, tmp_path: Path):
    command = await command_line(living, "user", tmp_path)
    small = ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")

    line = command.ok
    await line("run", *small, "--detach", "--name", "prepare-data", "--", "sleep", "1000")
    await line("session", "create", *small, "--name", "desk", "--after", "prepare-data:failed", "-q")
    await line("run", *small, "--detach", "--name", "train", "--after", "prepare-data", "--", "true")
    shown = await line("session", "show", "train")
    assert re.search(
        r"^after +prepare-data:succeeded \((PENDING|SCHEDULED|PREPARING|STARTING|RUNNING)\)$", shown, re.M
    )
    assert re.search(r"^before +train \(PENDING\)$", await line("session", "show", "prepare-data"), re.M)
    drawn = (await line("session", "graph", "train")).splitlines()
    assert drawn[0].startswith("prepare-data  ")
    assert drawn[1:] == ["└─ train  PENDING  <- this session"]
    graph = await command.as_json("session", "graph", "prepare-data")
    assert {node["name"] for node in graph["nodes"]} == {"prepare-data", "desk", "train"}
    await line("session", "rm", "--yes", "prepare-data")

    async def explained() -> bool:
        cause = "prepare-data was cancelled, and this session was to start after its failure."
        return cause in await line("session", "ls", "--ended")

    await eventually(explained)


async def test_the_sdk_takes_dependencies_as_words(living: Api):
    user = await living.as_("user")
    access, secret = await living.keypair(living.people.user)

    def work() -> tuple[str | None, list[str]]:
        carrel = Carrel(living.url, access_key=access, secret_key=secret)
        small: dict[str, Any] = {"cpu": 0.1, "mem": "64m", "image": "debian:12"}
        first = carrel.sessions.create(command=["sh", "-c", "exit 3"], name="prepare-data", **small)
        later = carrel.sessions.create(after=[f"{first.id}:failed"], name="alarm", **small)
        lost = carrel.sessions.create(
            after=[{"session": "alarm"}], on_dependency_failure="wait", name="lost", **small
        )
        later.wait()
        return lost.refresh().state, [node["name"] for node in later.graph()["nodes"]]

    state, names = await asyncio.to_thread(work)
    assert (state, names) == ("PENDING", ["alarm", "prepare-data", "lost"])
    assert (await shown(user, "lost"))["on_dependency_failure"] == "wait"
