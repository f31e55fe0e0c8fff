"""What a session has before it is used: bootstrap script, dotfiles, variables, working directory."""

from pathlib import Path
from typing import Any

import pytest
from command_line import command_line
from installation import Api, Caller
from people import eventually

from carrel.engines.fake import FakeContainer


def container(api: Api, session: dict[str, Any]) -> FakeContainer:
    return api.engine.world.containers[session["containers"][0]["id"]]


async def running(api: Api, caller: Caller, **fields: object) -> dict[str, Any]:
    made = await caller.start(**fields)
    return await api.until(caller, made["id"], "RUNNING")


async def test_a_session_has_what_was_asked_for(living: Api) -> None:
    user = await living.as_("user")
    session = await running(
        living,
        user,
        slots={"cpu": 2500, "mem": 1 << 28},
        bootstrap="echo prepared",
        shm_bytes=1 << 26,
        workdir="project",
        timezone="Asia/Seoul",
        locale="ko_KR.UTF-8",
        env={"OMP_NUM_THREADS": "1", "LANG": "C"},
    )
    spec = container(living, session).spec
    assert (spec.workdir, spec.shm_bytes) == ("/home/work/project", 1 << 26)
    assert {name: spec.env[name] for name in ("TZ", "LANG", "GOMAXPROCS", "MKL_NUM_THREADS")} == {
        "TZ": "Asia/Seoul",
        "LANG": "C",
        "GOMAXPROCS": "2",
        "MKL_NUM_THREADS": "2",
    }
    assert spec.env["OMP_NUM_THREADS"] == "1"
    assert (await user.get(f"/sessions/{session['id']}/logs")).text == "prepared\n"
    assert (session["bootstrap"], session["workdir"]) == ("echo prepared", "project")
    admin = (await (await living.as_("superadmin")).get(f"/sessions/{session['id']}")).json()
    assert admin["bootstrap"] == "********"


async def test_a_failed_bootstrap_script_ends_the_session_with_the_reason(living: Api) -> None:
    user = await living.as_("user")
    made = await user.start(bootstrap="#!/bin/sh\necho half-way\nfalse\n")
    ended = await living.until(user, made["id"], "ERROR")
    assert ended["reason"] == "Its bootstrap script failed; the end of the log shows why."
    log = (await user.get(f"/sessions/{made['id']}/logs")).text
    assert log == "half-way\nThe bootstrap script failed with exit code 1.\n"
    history = (await user.get(f"/sessions/{made['id']}/history")).json()["items"]
    assert "bootstrap_failed" in [step["cause"] for step in history]


@pytest.mark.parametrize(("on_failure", "state"), [("end", "ERROR"), ("continue", "RUNNING")])
async def test_a_bootstrap_script_that_fails_in_one_container_ends_all_or_not(
    living: Api, on_failure: str, state: str
) -> None:
    user = await living.as_("user")
    worker = {"name": "worker", "env": {"CODE": "3"}}
    made = await user.start(bootstrap="exit $CODE", env={"CODE": "0"}, roles=[worker], on_failure=on_failure)

    async def recorded() -> bool:
        shown = (await user.get(f"/sessions/{made['id']}")).json()
        return bool(shown["warnings"] or shown["state"] == "ERROR")

    await eventually(recorded)
    session = await living.until(user, made["id"], state)
    log = (await user.get(f"/sessions/{made['id']}/logs", params={"container": "worker1"})).text
    assert log == "The bootstrap script failed with exit code 3.\n"
    if on_failure == "end":
        assert session["reason"] == "Its bootstrap script failed; the end of the log shows why."
    else:
        assert session["warnings"] == ["container_failed"]
        assert {one["host"]: one["state"] for one in session["containers"]}["main1"] == "RUNNING"


async def test_a_batch_session_whose_bootstrap_script_fails_is_a_failure(living: Api) -> None:
    user = await living.as_("user")
    made = await user.start(kind="batch", command=["echo", "began"], bootstrap="false")
    ended = await living.until(user, made["id"], "TERMINATED")
    assert (ended["result"], ended["reason"]) == (
        "failure",
        "Its bootstrap script failed; the end of the log shows why.",
    )
    assert "began" not in (await user.get(f"/sessions/{made['id']}/logs")).text


async def test_an_interactive_session_that_stops_later_starts_again_without_its_bootstrap_script(
    living: Api,
) -> None:
    user = await living.as_("user")
    session = await running(living, user, bootstrap="echo prepared")
    main = session["containers"][0]["id"]
    living.engine.world.exit(main, 137)

    async def started_again() -> bool:
        return living.engine.world.starts[main] == 2

    await eventually(started_again)
    await living.until(user, session["id"], "RUNNING")
    assert (await user.get(f"/sessions/{session['id']}/logs")).text == "prepared\n"


async def test_dotfiles_are_in_the_home_unless_a_folder_is_mounted_there(living: Api) -> None:
    user = await living.as_("user")
    for path in (".bashrc", ".config/tool"):
        assert (await user.ask("PUT", f"/dotfiles/{path}", json={"content": path})).status_code == 200
    assert (await user.post("/vfolders", {"name": ".config"})).status_code == 201
    session = await running(living, user)
    files = {file.path: file for file in container(living, session).spec.files}
    assert files.keys() == {"/home/work/.bashrc"}
    assert (files["/home/work/.bashrc"].content, files["/home/work/.bashrc"].private) == (b".bashrc", True)


async def test_time_zone_and_locale_are_those_of_the_preferences_unless_requested(living: Api) -> None:
    user = await living.as_("user")
    preferences = {"timezone": "Asia/Tokyo", "locale": "ja_JP.UTF-8"}
    assert (await user.patch("/auth/me", {"preferences": preferences})).status_code == 200
    session = await running(living, user, locale="C.UTF-8")
    env = container(living, session).spec.env
    assert (env["TZ"], env["LANG"]) == ("Asia/Tokyo", "C.UTF-8")
    assert (session["timezone"], session["locale"]) == ("Asia/Tokyo", "C.UTF-8")


async def test_start_up_options_that_cannot_be_are_refused(living: Api) -> None:
    user = await living.as_("user")
    for wrong, code in (
        ({"shm_bytes": 1 << 40}, "session.shm_too_large"),
        ({"roles": [{"name": "a", "shm_bytes": 1 << 40}]}, "session.shm_too_large"),
        ({"workdir": "a/../../b"}, "session.workdir"),
        ({"timezone": "Mars; rm"}, "invalid.request"),
        ({"locale": "a b"}, "invalid.request"),
        ({"bootstrap": "\0"}, "invalid.request"),
    ):
        answer = await user.try_start(**wrong)
        assert (answer.status_code, answer.json()["code"]) == (422, code)


async def test_start_up_options_on_the_command_line(living: Api, tmp_path: Path) -> None:
    user = await command_line(living, "user", tmp_path)
    script = tmp_path / "prepare.sh"
    script.write_text("# first\necho one\necho two\n")
    options = [
        "--bootstrap",
        str(script),
        "--shm",
        "32m",
        "--workdir",
        "/home/work/here",
        "--timezone",
        "UTC",
    ]
    made = await user.as_json(
        "session", "create", "--image", "debian:12", *options, "--locale", "C.UTF-8", "--mem", "64m", "--wait"
    )
    assert (made["shm_bytes"], made["workdir"], made["timezone"]) == (32 << 20, "/home/work/here", "UTC")
    shown = await user.ok("session", "show", made["id"])
    assert "echo one (3 lines)" in shown
