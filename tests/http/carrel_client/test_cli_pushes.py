"""`carrel environment push`, and `carrel registry set --push`, which permits it."""

import json
from pathlib import Path

from command_line import command_line
from environment_kit import made
from installation import Api


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
