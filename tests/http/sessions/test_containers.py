"""A session of several containers, as people meet it: which there are, and each by its name."""

from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine, command_line
from installation import API, Api
from session_kit import enqueue
from sqlalchemy import text


@pytest.fixture
async def gang(living: Api) -> dict[str, Any]:
    """A running session of one main container and two others, as its owner sees it."""
    user = await living.as_("user")
    assert user.actor is not None
    session = await enqueue(living.database, user.actor, name="gang", containers=3)
    return await living.until(user, session, "RUNNING")


@pytest.fixture
async def command(living: Api, tmp_path: Path) -> CommandLine:
    return await command_line(living, "user", tmp_path)


async def test_a_session_says_which_containers_it_has(living: Api, gang: dict[str, Any]) -> None:
    assert [(one["name"], one["role"], one["index"]) for one in gang["containers"]] == [
        ("main", "main", 0),
        ("sub1", "sub", 1),
        ("sub2", "sub", 2),
    ]
    assert {(one["state"], one["node"], one["exit_code"]) for one in gang["containers"]} == {
        ("RUNNING", "local", None)
    }
    assert {one["id"] for one in gang["containers"]} == living.engine.world.containers.keys()
    assert gang["id"] not in living.engine.world.containers
    assert not any("address" in one for one in gang["containers"])


async def test_its_use_is_shown_of_each_container_and_of_the_one_that_is_named(
    living: Api, gang: dict[str, Any]
) -> None:
    user = await living.as_("user")
    async with living.database.transaction() as tx:
        await tx.execute(text("DELETE FROM usage_samples"))
        for number, one in enumerate(gang["containers"], 1):
            await tx.execute(
                text(
                    "INSERT INTO usage_samples (container_id, at, cpu_millis, mem_bytes)"
                    " VALUES (:id, date_trunc('minute', now()), :cpu, 1000)"
                ),
                {"id": one["id"], "cpu": 10 * number},
            )

    async def measured(**params: str) -> dict[str, list[float]]:
        shown = (await user.get(f"/sessions/{gang['id']}/usage", params=params)).json()
        means = {one["name"]: one["measures"]["cpu_millis"]["mean"] for one in shown["containers"]}
        return {name: [value for value in values if value is not None] for name, values in means.items()}

    assert await measured() == {"main": [10], "sub1": [20], "sub2": [30]}
    assert await measured(container="sub1") == {"sub1": [20]}
    recent = (await user.get("/usage", params={"sessions": gang["id"]})).json()["items"][gang["id"]]
    assert (recent["cpu_millis"], recent["mem_bytes"]) == ([60], [3000])


async def test_commands_and_logs_are_of_the_container_that_is_named(
    living: Api, gang: dict[str, Any], command: CommandLine
) -> None:
    for name, hostname in (("main", b"main1"), ("sub1", b"sub1"), ("sub2", b"sub2")):
        done = await command.run("session", "exec", "gang", "--container", name, "--", "hostname")
        assert (done.code, done.stdout.strip()) == (0, hostname)
    assert (await command.run("session", "exec", "gang", "--", "hostname")).stdout.strip() == b"main1"
    for one in gang["containers"]:
        fake = living.engine.world
        fake.write(fake.containers[one["id"]], f"this is {one['name']}\n".encode())
    assert await command.ok("session", "logs", "gang", "--container", "sub2") == "this is sub2\n"
    assert await command.ok("session", "logs", "gang") == "this is main\n"
    shown = await command.ok("session", "show", "gang")
    assert f"sub1 ({gang['containers'][1]['id']}), RUNNING on local" in shown


async def test_a_container_that_is_not_there_is_told_with_those_that_are(
    living: Api, gang: dict[str, Any], command: CommandLine
) -> None:
    user = await living.as_("user")
    answer = await user.get(f"/sessions/{gang['id']}/logs", params={"container": "sub3"})
    assert (answer.status_code, answer.json()["code"]) == (404, "container.not_found")
    assert answer.json()["hint"] == "It has main, sub1, sub2."
    refused = await command.run("session", "exec", "gang", "--container", "sub3", "--", "true")
    assert refused.code == 4
    assert "container.not_found" in refused.stderr


async def test_the_log_of_each_is_kept_when_all_are_gone(living: Api, gang: dict[str, Any]) -> None:
    user = await living.as_("user")
    for one in gang["containers"]:
        fake = living.engine.world
        fake.write(fake.containers[one["id"]], f"this was {one['name']}\n".encode())
    await user.delete(f"/sessions/{gang['id']}")
    ended = await living.until(user, gang["id"], "TERMINATED")
    assert {one["state"] for one in ended["containers"]} == {"GONE"}
    client = await living.client(auth=await living.keypair(user.actor))  # type: ignore[arg-type]
    for one in gang["containers"]:
        answer = await client.get(f"{API}/sessions/{gang['id']}/logs", params={"container": one["name"]})
        assert answer.text == f"this was {one['name']}\n"
