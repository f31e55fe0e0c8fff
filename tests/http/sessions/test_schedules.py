"""Schedules over HTTP and by `carrel schedule`: made, changed, paused, run, and their histories."""

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, command_line
from databases import scalar, sql
from installation import Api
from limit_kit import limit
from session_kit import request

from carrel.db.encryption import SecretBox
from carrel.sessions.schedules import service
from carrel.sessions.schedules.plain_variables import seal_stored

JOB = request(kind="batch", command=["true"], env={"TOKEN": "secret"})


def schedule(**changes: object) -> dict[str, Any]:
    """The body of a request for a schedule."""
    return {"name": "nightly", "cron": "0 6 * * *", "timezone": "Europe/Berlin", "session": JOB, **changes}


async def test_a_schedule_is_made_changed_paused_and_removed(api: Api):
    user, colleague = await api.as_("user"), await api.as_("colleague")
    answer = await user.post("/schedules", schedule())
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["active"], made["missed"], made["overlap"], made["last"]) == (True, "skip", "allow", None)
    assert len(made["next_times"]) == 5
    assert all(time[11:16] in ("04:00", "05:00") for time in made["next_times"])
    assert made["session"]["env"] == {"TOKEN": "secret"}
    assert (await user.post("/schedules", schedule())).json()["code"] == "schedule.name_taken"
    assert (await colleague.get(f"/schedules/{made['id']}")).status_code == 404
    assert (await colleague.get("/schedules/nightly")).status_code == 404
    assert [one["id"] for one in (await user.get("/schedules")).json()["items"]] == [made["id"]]
    assert (await colleague.get("/schedules")).json()["items"] == []
    changed = (await user.patch("/schedules/nightly", {"cron": "*/5 * * * *", "overlap": "forbid"})).json()
    assert (changed["cron"], changed["overlap"], changed["timezone"]) == (
        "*/5 * * * *",
        "forbid",
        "Europe/Berlin",
    )
    paused = (await user.post("/schedules/nightly/pause")).json()
    assert (paused["active"], paused["next_times"]) == (False, [])
    assert (await user.post("/schedules/nightly/resume")).json()["active"]
    assert (await user.delete("/schedules/nightly")).status_code == 204
    assert (await user.get("/schedules/nightly")).json()["code"] == "schedule.not_found"


async def test_schedules_are_searched_by_name(api: Api):
    user = await api.as_("user")
    for name in ("nightly", "weekly_report", "weeklyXreport"):
        assert (await user.post("/schedules", schedule(name=name))).status_code == 201
    for part, names in (
        ("WEEKLY_", ["weekly_report"]),
        ("ly", ["nightly", "weekly_report", "weeklyXreport"]),
    ):
        items = (await user.get("/schedules", params={"q": part})).json()["items"]
        assert sorted(one["name"] for one in items) == sorted(names)


async def test_only_its_owner_decides_what_runs_in_their_name(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    made = (await user.post("/schedules", schedule())).json()
    seen = (await admin.get(f"/schedules/{made['id']}")).json()
    assert seen["session"]["env"] == {"TOKEN": "********"}
    assert (await admin.patch(f"/schedules/{made['id']}", {"session": JOB})).status_code == 403
    assert (await admin.post(f"/schedules/{made['id']}/run")).status_code == 403
    assert (await admin.post(f"/schedules/{made['id']}/pause")).status_code == 200
    assert (await admin.delete(f"/schedules/{made['id']}")).status_code == 204


async def test_secrets_of_roles_and_scripts_are_for_the_owner_and_sealed_at_rest(api: Api):
    user, admin = await api.as_("user"), await api.as_("superadmin")
    roles = [{"name": "sub", "env": {"TOKEN": "hunter2"}}]
    job = request(kind="batch", command=["true"], roles=roles, bootstrap="login hunter2")
    made = (await user.post("/schedules", schedule(session=job))).json()
    assert (made["session"]["roles"][0]["env"], made["session"]["bootstrap"]) == (
        {"TOKEN": "hunter2"},
        "login hunter2",
    )
    seen = (await admin.get(f"/schedules/{made['id']}")).json()["session"]
    assert (seen["roles"][0]["env"], seen["bootstrap"]) == ({"TOKEN": "********"}, "********")
    assert "hunter2" not in await scalar(api.database, "SELECT CAST(spec -> 'roles' AS text) FROM schedules")
    run = await user.post(f"/schedules/{made['id']}/run")
    session = (await user.get(f"/sessions/{run.json()['session']}")).json()
    assert session["roles"][0]["env"] == {"TOKEN": "hunter2"}
    before = await scalar(api.database, "SELECT CAST(spec AS text) FROM schedules")
    async with api.database.transaction() as tx:
        await seal_stored(tx, SecretBox(b"0" * 32))
    assert await scalar(api.database, "SELECT CAST(spec AS text) FROM schedules") == before


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"cron": "every day"}, "schedule.bad_cron", "cron"),
        ({"cron": "0 0 30 2 *"}, "schedule.bad_cron", "cron"),
        ({"timezone": "Mars/Olympus"}, "schedule.bad_timezone", "timezone"),
        ({"session": request(kind="batch")}, "session.no_command", "command"),
        ({"missed": "later"}, "invalid.request", "missed"),
    ],
)
async def test_bad_schedules_name_the_field(api: Api, changes: dict[str, Any], code: str, field: str):
    answer = await (await api.as_("user")).post("/schedules", schedule(**changes))
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, code, field)


async def test_a_user_has_a_limited_number_of_schedules(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service, "MAX_SCHEDULES", 2)
    user, colleague = await api.as_("user"), await api.as_("colleague")
    for name in ("first", "second"):
        assert (await user.post("/schedules", schedule(name=name))).status_code == 201
    refused = await user.post("/schedules", schedule(name="third"))
    assert (refused.status_code, refused.json()["code"]) == (409, "schedule.too_many")
    assert (await colleague.post("/schedules", schedule(name="third"))).status_code == 201


async def test_a_run_on_request_makes_a_session_and_is_in_the_history(api: Api):
    user = await api.as_("user")
    await user.post("/schedules", schedule(overlap="forbid"))
    ran = (await user.post("/schedules/nightly/run")).json()
    assert (ran["outcome"], ran["on_request"], ran["state"]) == ("started", True, "PENDING")
    session = (await user.get(f"/sessions/{ran['session']}")).json()
    assert session["name"].startswith("nightly-2")
    assert (session["command"], session["env"]) == (["true"], {"TOKEN": "secret"})
    again = (await user.post("/schedules/nightly/run")).json()
    assert (again["outcome"], again["reason"]) == ("skipped", "The session of an earlier run has not ended.")
    await user.patch("/schedules/nightly", {"overlap": "replace"})
    third = (await user.post("/schedules/nightly/run")).json()
    assert third["outcome"] == "started"
    former = (await user.get(f"/sessions/{ran['session']}")).json()
    assert (former["state"], former["reason"]) == ("CANCELLED", "Replaced by the next run of its schedule.")
    page = (await user.get("/schedules/nightly/runs", params={"limit": 2})).json()
    assert [one["outcome"] for one in page["items"]] == ["started", "skipped"]
    rest = (await user.get("/schedules/nightly/runs", params={"cursor": page["next_cursor"]})).json()
    assert [(one["session"], one["result"]) for one in rest["items"]] == [(ran["session"], "cancelled")]


async def test_what_is_refused_when_it_runs_is_in_the_history_with_the_reason(api: Api):
    user = await api.as_("user")
    await user.post("/schedules", schedule())
    await limit(api.database, "keypair", pending_sessions=0)
    ran = (await user.post("/schedules/nightly/run")).json()
    assert (ran["outcome"], ran["session"]) == ("refused", None)
    assert ran["reason"] == "Your resource policy allows 0 pending sessions; you have 0."
    await sql(api.database, "UPDATE projects SET archived_at = now()")
    ran = (await user.post("/schedules/nightly/run")).json()
    assert (ran["outcome"], "archived" in ran["reason"]) == ("refused", True)


async def test_the_next_times_are_shown_without_a_schedule(api: Api):
    user = await api.as_("user")
    query = {"cron": "30 2 29 2 *", "timezone": "Asia/Seoul"}
    times = (await user.get("/schedule-times", params=query)).json()["items"]
    assert [time[4:16] for time in times] == ["-02-28T17:30"] * 5


async def test_the_command_line_does_it_all(living: Api, tmp_path: Path):
    command: CommandLine = await command_line(living, "user", tmp_path)
    small = ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")
    made = await command.ok("schedule", "create", "nightly", "--cron", "0 6 * * *", *small, "--", "true")
    assert "0 6 * * * (UTC)" in made
    assert "nightly" in await command.ok("schedule", "ls")
    await command.ok("schedule", "edit", "nightly", "--timezone", "Asia/Seoul", "--missed", "run_once")
    assert "Asia/Seoul" in await command.ok("schedule", "show", "nightly")
    assert "is paused" in await command.ok("schedule", "pause", "nightly")
    assert "runs next at" in await command.ok("schedule", "resume", "nightly")
    assert "nightly-2" in await command.ok("schedule", "run", "nightly")
    assert "started" in await command.ok("schedule", "history", "nightly")
    await command.ok("schedule", "rm", "nightly", "--yes")
    assert (await command.as_json("schedule", "ls"))["items"] == []
