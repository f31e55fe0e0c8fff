"""`carrel template` and templates in the SDK."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml
from carrel_client import AsyncCarrel, Carrel, CarrelError
from command_line import command_line
from installation import Api
from node_kit import group
from template_kit import saved

FILE = """
name: training
shared: true
parameters:
- {name: epochs, type: integer, max: 9}
- {name: mem, type: choice, choices: [64m, 128m], default: 64m}
session:
  image: debian:12
  cpu: 0.1
  mem: ${mem}
  kind: batch
  command: [train, "${epochs}", "$${HOME}"]
"""


async def test_a_template_goes_from_a_file_to_a_session_and_back(living: Api, tmp_path: Path):
    command = await command_line(living, "user", tmp_path)
    file = tmp_path / "training.yaml"
    file.write_text(FILE)
    made = await command.ok("template", "create", "-f", str(file))
    assert "epochs: integer, at most 9, required" in made
    assert "mem: choice of 64m, 128m, default 64m" in made
    other = await command_line(living, "colleague", tmp_path / "colleague")
    assert "training" in await other.ok("template", "ls")
    words = ("template", "start", "training", "-p", "epochs=3", "-p", "mem=128m")
    request = yaml.safe_load(await other.ok(*words, "--dry-run"))
    assert (request["command"], request["slots"]) == (
        ["train", "3", "${HOME}"],
        {"cpu": 100, "mem": 128 << 20},
    )
    session = await other.as_json(*words, "--cpu", "0.2", "--name", "mine_1", "--time-limit", "10m", "--wait")
    assert (session["name"], session["slots"]) == ("mine_1", {"cpu": 200, "mem": 128 << 20})
    assert session["started_at"] is not None
    shown = await other.ok("session", "show", "mine_1")
    assert "training, revision 1" in shown
    missing = await other.run("template", "start", "training")
    assert missing.code != 0
    assert "needs a value for epochs" in missing.stderr
    # Export, change, and save what was exported.
    exported = await command.ok("template", "export", "training")
    file.write_text(exported.replace("max: 9", "max: 5"))
    assert "at most 5" in await command.ok("template", "edit", "training", "-f", str(file))
    late = await command.run("template", "edit", "training", "-f", str(file))
    assert late.code != 0
    assert "has changed since revision 1" in late.stderr
    assert json.loads(await command.ok("template", "export", "training", "-o", "json"))["revision"] == 2
    await command.ok("template", "edit", "training", "--private", "--description", "mine alone")
    assert (await other.as_json("template", "ls"))["items"] == []
    await command.ok("template", "rm", "training", "--yes")
    assert (await command.as_json("template", "ls", "--mine"))["items"] == []


async def test_a_session_is_saved_from_the_command_line(living: Api, tmp_path: Path):
    command = await command_line(living, "user", tmp_path)
    small = ("--cpu", "0.1", "--mem", "64m", "--image", "debian:12")
    await command.ok("session", "create", "--name", "desk", "--env", "A=${B}", *small)
    made = await command.as_json("template", "create", "my-desk", "--from-session", "desk", "--share")
    assert (made["shared"], made["session"]["env"]) == (True, {"A": "$${B}"})
    quiet = (await command.ok("template", "start", "-q", "my-desk")).strip()
    assert (await command.as_json("session", "show", quiet))["env"] == {"A": "${B}"}
    unnamed = await command.run("template", "create", "--from-session", "desk")
    assert (unnamed.code, "has no name" in unnamed.stderr) == (1, True)


async def test_the_sdk_saves_changes_and_starts_templates(living: Api):
    await group(living.database, "spare")
    access_key, secret_key = await living.keypair(living.people.user)

    def use() -> None:
        with Carrel(living.url, access_key, secret_key) as client:
            definition = {"image": "debian:12", "cpu": "${cores}", "mem": "64m", "name": "run-${tag}"}
            parameters = [{"name": "cores", "type": "number", "default": 0.1}, {"name": "tag"}]
            made = client.templates.create("training", definition, parameters=parameters)  # type: ignore[arg-type]
            stale = client.templates.get("training")
            session = made.update(description="x").start({"tag": "red", "cores": 0.2}, mem="128m")
            assert (session.name, session.raw["slots"]) == ("run-red", {"cpu": 200, "mem": 128 << 20})
            with pytest.raises(CarrelError) as error:
                stale.update(name="other")
            assert error.value.status == 412
            assert stale.refresh().revision == 2
            session = made.start({"tag": "green"}, group=["spare", "default"])
            assert [one["name"] for one in session.raw["accepted_groups"]] == ["spare", "default"]
            copied = client.templates.create("copied", from_session=session.id)
            assert [one.name for one in client.templates.list(search="cop")] == ["copied"]
            copied.delete()

    await asyncio.to_thread(use)
    async with AsyncCarrel(living.url, access_key, secret_key) as client:
        template = await client.templates.get("training")
        session = await template.start({"tag": "blue"})
        assert session.name == "run-blue"
        session = await template.start({"tag": "black"}, group="spare")
        assert [one["name"] for one in session.raw["accepted_groups"]] == ["spare"]


async def test_values_that_one_may_not_see_survive_an_edit_of_the_exported_file(living: Api, tmp_path: Path):
    made = await saved(await living.as_("user"))
    admin = await command_line(living, "superadmin", tmp_path)
    done = await admin.run("template", "export", made["id"])
    assert b"********" in done.stdout
    file = tmp_path / "t.yaml"
    file.write_bytes(done.stdout)
    await admin.ok("template", "edit", made["id"], "-f", str(file), "--description", "checked")
    now = (await (await living.as_("user")).get("/templates/training")).json()
    assert (now["description"], now["session"]["env"]["TOKEN"]) == ("checked", "secret")
