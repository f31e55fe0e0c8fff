"""`carrel environment push`, and `carrel registry set --push`, which permits it."""

import json
from pathlib import Path

from command_line import CommandLine, command_line
from environment_kit import made
from installation import Api
from people import eventually


async def test_a_version_is_pushed_listed_and_cancelled(living: Api, tmp_path: Path) -> None:
    user = await living.as_("user")
    await made(user, "/environments/builds", name="torch", files={"Dockerfile": "FROM debian:12\nRUN true"})
    admin = await command_line(living, "superadmin", tmp_path / "admin")
    await admin.ok("registry", "add", "ours", "--url", "https://r.example.org", "--namespace", "ml")
    command = await command_line(living, "user", tmp_path / "user")
    refused = await command.run("environment", "push", "torch")
    assert (refused.code, "no registry" in refused.stderr) == (3, True), refused.stderr
    shown = await admin.ok("registry", "set", "ours", "--push", "members", "--push-repository", "team/*")
    assert "members, to team/*" in shown

    targets = await command.ok("environment", "push", "torch", "--list")
    assert "r.example.org/ml/team/*" in targets
    pushed = await command.ok("environment", "push", "torch:1", "--as", "team/lab:first", "--wait")
    digest, _ = living.engine.world.pushed["r.example.org/ml/team/lab:first"]
    assert pushed == (
        f"torch:1 is pushed as r.example.org/ml/team/lab:first\nr.example.org/ml/team/lab@{digest}\n"
    )
    living.engine.world.push_s = 3600.0
    begun = json.loads(await command.ok("environment", "push", "torch", "-o", "json"))
    assert begun["reference"] == "r.example.org/ml/team/torch:1"
    cancelled = await command.ok("environment", "push", "torch", "--cancel")
    assert cancelled == "r.example.org/ml/team/torch:1 is being canceled\n"
    listed = await command.ok("environment", "pushes", "torch")
    assert "r.example.org/ml/team/lab:first" in listed
    assert len((await command.as_json("environment", "pushes", "torch", "--limit", "1"))["items"]) == 1
    await _until(command, {"first": "done", "1": "cancelled"})


async def test_only_the_pushes_to_a_registry_or_name_are_cancelled(living: Api, tmp_path: Path) -> None:
    user = await living.as_("user")
    await made(user, "/environments/builds", name="torch", files={"Dockerfile": "FROM debian:12\nRUN true"})
    admin = await command_line(living, "superadmin", tmp_path / "admin")
    permit = ("--push", "members", "--push-repository", "team/*")
    await admin.ok("registry", "add", "ours", "--url", "https://r.example.org", *permit)
    theirs = await admin.as_json("registry", "add", "theirs", "--url", "https://s.example.org", *permit)
    command = await command_line(living, "user", tmp_path / "user")
    push = ("environment", "push", "torch")
    assert "s.example.org" not in await command.ok(*push, "--list", "--registry", "ours")
    assert "s.example.org" not in await command.ok(*push, "--list", "--as", "other/torch")
    living.engine.world.push_s = 3600.0
    for registry, tag in (("ours", "a"), ("ours", "b"), (theirs["id"], "c"), ("theirs", "d")):
        await command.ok(*push, "--registry", registry, "--as", f"team/torch:{tag}")
    none = await command.run(*push, "--cancel", "--registry", "ours", "--as", "torch")
    assert (none.code, "No such version" in none.stderr) == (1, True), none.stderr
    cancelled = await command.ok(*push, "--cancel", "--registry", theirs["id"], "--as", "team/torch:c")
    assert cancelled == "s.example.org/team/torch:c is being canceled\n"
    assert await command.ok(*push, "--cancel", "--registry", "ours") == (
        "r.example.org/team/torch:b is being canceled\nr.example.org/team/torch:a is being canceled\n"
    )
    await _until(command, {"a": "cancelled", "b": "cancelled", "c": "cancelled"})
    assert (await _states(command))["d"] in ("waiting", "running")


async def _states(command: CommandLine) -> dict[str, str]:
    """By tag."""
    items = (await command.as_json("environment", "pushes", "torch"))["items"]
    return {one["reference"].rpartition(":")[2]: one["state"] for one in items}


async def _until(command: CommandLine, states: dict[str, str]) -> None:
    async def there() -> bool:
        return states.items() <= (await _states(command)).items()

    await eventually(there)
