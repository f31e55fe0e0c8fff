"""`carrel engine` as a superadmin types it."""

from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from installation import Api


@pytest.fixture
async def admin(api: Api, tmp_path: Path) -> CommandLine:
    return await command_line(api, "superadmin", tmp_path)


async def test_an_engine_is_added_looked_at_changed_and_removed(admin: CommandLine):
    output = await admin.ok(
        *("engine", "add", "fake", "second", "--nodes", "2", "--password", "-"), stdin=b"open sesame\n"
    )
    assert output.startswith("second added")
    assert "- It offers no accelerators." in output
    shown = await admin.ok("engine", "show", "second")
    assert "password" in shown
    assert "Fake" in shown
    assert "Fake" in await admin.ok("engine", "ls")
    assert "sesame" not in shown
    assert (await admin.as_json("engine", "show", "second"))["settings"] == {"nodes": 2}
    checked = await admin.ok("engine", "check", "second")
    assert "fake-2" in checked
    assert "- It offers no accelerators." in checked
    await admin.ok("engine", "edit", "second", "--name", "other", "--nodes", "3", "--unset", "password")
    listed = (await admin.as_json("engine", "ls"))["items"]
    assert [(one["name"], one["settings"], one["secrets"]) for one in listed if not one["local"]] == [
        ("other", {"nodes": 3}, [])
    ]
    assert "removed" in await admin.ok("engine", "rm", "other", "--yes")


async def test_what_can_be_set_is_listed_and_what_cannot_is_refused(admin: CommandLine):
    kinds = await admin.ok("engine", "kinds")
    assert "unix:///var/run/docker.sock" in kinds
    wrong = await admin.run("engine", "add", "fake", "second", "--url", "unix:///run/second.sock")
    assert (wrong.code, "--url" in wrong.stderr) == (2, True)
    offered = await admin.ok("__complete", "engine", "add", "docker", "--")
    assert ("--url\tAddress." in offered, "--nodes" in offered) == (True, False)
    assert "fake" in await admin.ok("__complete", "engine", "add", "")


async def test_settings_are_checked_without_adding_an_engine(admin: CommandLine, tmp_path: Path):
    checked = await admin.ok("engine", "add", "fake", "third", "--nodes", "3", "--check")
    assert "fake-3" in checked
    assert "capacity for sessions: cpu 24, mem 96 GiB" in checked
    assert "third" not in await admin.ok("engine", "ls")
    broken = tmp_path / "kubeconfig"
    broken.write_text("clusters: []\nusers: []\ncontexts: []\n")
    refused = await admin.run("engine", "add", "kubernetes", "k", "--kubeconfig", str(broken), "--check")
    assert refused.code == 1
    assert "The kubeconfig has no current context" in refused.stdout.decode()


async def test_a_check_fails_when_the_engine_does_not_answer(admin: CommandLine, api: Api):
    api.engine.world.go_away()
    checked = await admin.run("engine", "check", "local")
    assert (checked.code, checked.stdout) == (1, b"The fake engine does not respond.\n")
