"""The timeline of a start, as recorded by the launch and by the first opening of an app."""

from datetime import datetime
from pathlib import Path
from typing import Any

from command_line import command_line
from installation import Api, Caller
from people import eventually
from session_kit import request


async def timeline(caller: Caller, ref: str) -> dict[str, Any]:
    return (await caller.get(f"/sessions/{ref}/timeline")).json()  # type: ignore[no-any-return]


def ordered(*moments: str | None) -> bool:
    times = [datetime.fromisoformat(one) for one in moments if one]
    return len(times) == len(moments) and times == sorted(times)


async def test_every_step_of_a_start_is_recorded_with_its_folder(living: Api) -> None:
    user = await living.as_("user")
    await user.post("/vfolders", {"name": "data"})
    made = await user.start(mounts=[{"folder": "data"}])
    await living.until(user, made["id"], "RUNNING")
    shown = await timeline(user, made["id"])
    assert [(one["step"], one["container"]) for one in shown["steps"]] == [
        ("queue", None),
        ("mounts", None),
        ("image", "main"),
        ("container", "main"),
    ]
    assert ordered(
        *(one[side] for one in shown["steps"] for side in ("begins_at", "ends_at")), shown["ready_at"]
    )
    assert (shown["number"], shown["stopped_at"]) == (1, None)


async def test_each_container_of_a_cluster_has_its_own_times(living: Api) -> None:
    user = await living.as_("user")
    made = (await user.post("/sessions", request(containers=2))).json()
    await living.until(user, made["id"], "RUNNING")
    steps = (await timeline(user, made["id"]))["steps"]
    assert [(one["step"], one["container"]) for one in steps[1:]] == [
        ("image", "main"),
        ("container", "main"),
        ("image", "sub1"),
        ("container", "sub1"),
        ("barrier", None),
    ]
    assert all(one["ends_at"] for one in steps)


async def test_a_restart_has_a_timeline_of_its_own(living: Api) -> None:
    user = await living.as_("user")
    made = await user.start()
    await living.until(user, made["id"], "RUNNING")
    first = await timeline(user, made["id"])
    await user.post(f"/sessions/{made['id']}/restart")

    async def runs_again() -> bool:
        shown = await timeline(user, made["id"])
        return bool(shown["number"] == 2 and shown["ready_at"])

    await eventually(runs_again)
    second = await timeline(user, made["id"])
    assert [one["step"] for one in second["steps"]] == ["image", "container"]
    assert ordered(first["ready_at"], *(one["ends_at"] for one in second["steps"]))


async def test_a_stranger_sees_no_timeline(api: Api) -> None:
    made = await (await api.as_("user")).start()
    assert (await (await api.as_("colleague")).get(f"/sessions/{made['id']}/timeline")).status_code == 404


async def test_the_command_prints_the_steps(living: Api, tmp_path: Path) -> None:
    command = await command_line(living, "user", tmp_path)
    user = await living.as_("user")
    made = await user.start()
    await living.until(user, made["id"], "RUNNING")
    lines = (await command.ok("session", "timeline", made["id"])).splitlines()
    assert [line.split()[0] for line in lines] == ["STEP", "queue", "image", "container"]
    assert all(line.endswith((" s", " ms")) for line in lines[1:])
    assert (await command.as_json("session", "timeline", made["id"]))["number"] == 1
