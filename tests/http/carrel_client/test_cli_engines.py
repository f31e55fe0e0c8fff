"""`carrel engine` as a superadmin types it."""

import json

import pytest
from command_line import CommandLine
from installation import Api


@pytest.fixture
async def admin(api: Api) -> CommandLine:
    access_key, secret_key = await api.keypair(api.people.superadmin)
    keys = {"CARREL_ACCESS_KEY": access_key, "CARREL_SECRET_KEY": secret_key}
    return CommandLine({"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "CARREL_URL": api.url, **keys})


async def test_an_engine_is_added_looked_at_changed_and_removed(admin: CommandLine):
    said = await admin.ok(
        *("engine", "add", "fake", "second", "--nodes", "2", "--password", "-"), stdin=b"open sesame\n"
    )
    assert said.startswith("second added")
    shown = await admin.ok("engine", "show", "second")
    assert "password" in shown
    assert "Fake" in shown
    assert "Fake" in await admin.ok("engine", "ls")
    assert "sesame" not in shown
    assert json.loads(await admin.ok("engine", "show", "second", "-o", "json"))["settings"] == {"nodes": 2}
    assert "fake-1, fake-2" in await admin.ok("engine", "check", "second")
    await admin.ok("engine", "edit", "second", "--name", "other", "--nodes", "3", "--unset", "password")
    listed = json.loads(await admin.ok("engine", "ls", "-o", "json"))["items"]
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


async def test_a_check_fails_when_the_engine_does_not_answer(admin: CommandLine, api: Api):
    api.engine.world.go_away()
    checked = await admin.run("engine", "check", "local")
    assert (checked.code, checked.stdout) == (1, b"The fake engine does not answer.\n")
