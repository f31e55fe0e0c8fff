"""Batch sessions: a command that runs once, with a result, and `carrel run`."""

import json
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, command_line
from installation import Api
from people import eventually
from session_kit import SMALL, request

_SMALL = ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")


def batch(*command: str, **changes: object) -> dict[str, Any]:
    """The body of a request for a small batch session."""
    return request(kind="batch", command=command, **changes)


@pytest.fixture
async def command(living: Api, tmp_path: Path) -> CommandLine:
    return await command_line(living, "user", tmp_path)


async def test_the_exit_code_of_the_command_is_the_result(living: Api) -> None:
    user = await living.as_("user")
    for script, result, code in (("exit 0", "success", 0), ("exit 3", "failure", 3)):
        made = (await user.post("/sessions", batch("sh", "-c", script))).json()
        assert (made["kind"], made["result"], made["command"]) == ("batch", None, ["sh", "-c", script])
        ended = await living.until(user, made["id"], "TERMINATED")
        assert (ended["result"], ended["containers"][0]["exit_code"]) == (result, code)
        listed = (await user.get("/sessions", params={"kind": "batch"})).json()["items"][0]
        assert (listed["id"], listed["result"]) == (made["id"], result)


async def test_a_failed_command_is_repeated_as_often_as_requested(living: Api) -> None:
    user = await living.as_("user")
    made = (await user.post("/sessions", batch("sh", "-c", "exit 137", retries=1))).json()
    ended = await living.until(user, made["id"], "TERMINATED")
    assert ended["result"] == "failure"
    assert set(living.engine.world.starts.values()) == {2}
    steps = (await user.get(f"/sessions/{made['id']}/history")).json()["items"]
    assert [step["reason"] for step in steps if step["cause"] == "completed"] == [
        "Its command was killed by SIGKILL. Retrying; attempts left: 1.",
        "Its command was killed by SIGKILL.",
    ]


async def test_a_cancelled_batch_session_is_neither_a_success_nor_a_failure(living: Api) -> None:
    user = await living.as_("user")
    made = (await user.post("/sessions", batch("sleep", "1000", retries=5))).json()
    await living.until(user, made["id"], "RUNNING")
    await user.delete(f"/sessions/{made['id']}")
    assert (await living.until(user, made["id"], "TERMINATED"))["result"] == "cancelled"


async def test_it_does_not_start_before_its_time(living: Api) -> None:
    user = await living.as_("user")
    later = datetime.now(UTC) + timedelta(hours=3)
    made = (await user.post("/sessions", batch("true", start_at=later.isoformat()))).json()
    assert datetime.fromisoformat(made["start_at"]) == later
    assert made["reason"] == f"It starts no earlier than {later:%Y-%m-%d %H:%M:%S} UTC, as requested."
    why = (await user.get(f"/sessions/{made['id']}/why")).json()
    assert made["reason"] in json.dumps(why)
    body = {"slots": made["slots"], "kind": "batch", "start_at": later.isoformat()}
    checked = (await user.post("/sessions/check", body)).json()
    assert (checked["verdict"], checked["reason"]) == ("waits", made["reason"])
    soon = datetime.now(UTC) + timedelta(seconds=0.5)
    other = (await user.post("/sessions", batch("true", start_at=soon.isoformat()))).json()
    ended = await living.until(user, other["id"], "TERMINATED")
    assert datetime.fromisoformat(ended["started_at"]) >= soon
    assert (await user.get(f"/sessions/{made['id']}")).json()["state"] == "PENDING"


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"kind": "batch"}, "session.no_command", "command"),
        ({"kind": "batch", "command": [""]}, "session.no_command", "command"),
        ({"command": ["true"]}, "session.not_batch", "command"),
        ({"retries": 1}, "session.not_batch", "retries"),
        ({"start_at": "0001-01-01T00:00:00+12:00"}, "invalid.request", "start_at"),
        ({"roles": [{"name": "worker", "slots": {**SMALL, "": 1}}]}, "invalid.request", "roles.0.slots"),
        ({"kind": "inference"}, "invalid.request", "kind"),
        ({"kind": "batch", "command": ["a\0b"]}, "invalid.request", "command.0"),
        ({"kind": "batch", "command": ["true"], "retries": 101}, "invalid.request", "retries"),
        (
            {"kind": "batch", "command": ["true"], "start_at": "2026-01-01T00:00"},
            "invalid.request",
            "start_at",
        ),
    ],
)
async def test_bad_requests_name_the_field(api: Api, changes: dict[str, Any], code: str, field: str) -> None:
    user = await api.as_("user")
    answer = await user.post("/sessions", request(**changes))
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, code, field)


async def test_run_prints_the_log_and_returns_the_exit_code(command: CommandLine) -> None:
    ran = await command.run("run", *_SMALL, "--", "sh", "-c", "echo first; sleep 0.1; echo last; exit 7")
    assert (ran.code, ran.stdout) == (7, b"first\nlast\n")
    done = await command.run("run", *_SMALL, "-o", "json", "--", "true")
    assert (done.code, json.loads(done.stdout)["result"]) == (0, "success")
    detached = await command.run("run", *_SMALL, "--detach", "--", "sleep", "1000")
    shown = await command.as_json("session", "show", detached.stdout.decode().strip())
    assert (detached.code, shown["command"]) == (0, ["sleep", "1000"])


async def test_run_without_a_terminal_detaches_at_ctrl_c(command: CommandLine) -> None:
    process = await command.start("run", *_SMALL, "--name", "long-run", "--", "sleep", "1000")

    async def runs() -> bool:
        listed = await command.as_json("session", "ls")
        return [one["state"] for one in listed["items"]] == ["RUNNING"]

    await eventually(runs)
    process.send_signal(signal.SIGINT)
    _, stderr = await process.communicate()
    assert process.returncode == 130
    assert b"long-run continues" in stderr
    assert await runs()


async def test_run_tells_why_it_did_not_succeed(command: CommandLine) -> None:
    process = await command.start("run", *_SMALL, "--name", "long-run", "--", "sleep", "1000")

    async def runs() -> bool:
        listed = await command.as_json("session", "ls")
        return [one["state"] for one in listed["items"]] == ["RUNNING"]

    await eventually(runs)
    await command.ok("session", "rm", "--yes", "long-run")
    _, stderr = await process.communicate()
    assert process.returncode == 130
    assert b"long-run was cancelled: Ended by" in stderr


async def test_a_script_that_is_not_there_starts_nothing(command: CommandLine) -> None:
    refused = await command.run("run", *_SMALL, "--script", "nowhere.sh")
    assert (refused.code, "client.bad_script" in refused.stderr) == (1, True)
    assert (await command.run("run", *_SMALL)).code == 2
    assert (await command.as_json("session", "ls", "--all"))["items"] == []
