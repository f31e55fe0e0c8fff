"""`carrel policy ...`, `carrel held` and what says who would be over, against the real application."""

from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from installation import Api
from session_kit import SMALL


@pytest.fixture
async def admin(api: Api, tmp_path: Path) -> CommandLine:
    """The command line of a superadmin."""
    return await command_line(api, "superadmin", tmp_path)


@pytest.fixture
async def students(admin: CommandLine) -> None:
    """A policy of that name."""
    await admin.types(
        "policy create students --kind keypair --slot cpu=8 --slot mem=32g --slot cuda.shares=0.5"
        " --sessions 2 --lifetime 12h"
    )


async def test_a_policy_is_made_and_edited(
    admin: CommandLine, students: None, tmp_path_factory: pytest.TempPathFactory
):
    await admin.ok("storage-host", "create", "posix", "fast", "--root", str(tmp_path_factory.mktemp("fast")))
    shown = await admin.as_json("policy", "show", "students")
    assert shown["limits"] == {
        "slots": {"cpu": 8000, "mem": 32 << 30, "cuda.shares": 500},
        "sessions": 2,
        "pending_sessions": "unlimited",
        "pending_slots": {"*": "unlimited"},
        "containers_per_session": "unlimited",
        "lifetime_s": 43200,
        "idle_timeout_s": "unlimited",
        "idle_use": "unlimited",
        "max_priority": 50,
        "max_rights": "plain",
        "default_disk_bytes": 21474836480,
        "max_disk_bytes": "unlimited",
        "storage_hosts": "unlimited",
        "log_bytes": 67108864,
    }
    await admin.types(
        "policy edit students --lifetime unlimited --slot *=unlimited --storage-host fast --storage-host local"
    )
    assert "storage hosts fast, local" in await admin.ok("policy", "ls", "--search", "students")
    shown = await admin.as_json("policy", "show", "students")
    assert (shown["limits"]["lifetime_s"], shown["limits"]["sessions"]) == ("unlimited", 2)
    assert shown["limits"]["slots"] == {"*": "unlimited"}, "slots are replaced completely"
    assert shown["limits"]["storage_hosts"] == ["fast", "local"]
    for given, kept in (("", []), ("unlimited", "unlimited")):
        await admin.ok("policy", "edit", "students", "--storage-host", given)
        shown = await admin.as_json("policy", "show", "students")
        assert shown["limits"]["storage_hosts"] == kept


async def test_low_utilization_of_a_policy_is_edited(admin: CommandLine, students: None):
    use = "cpu=5,accelerator_mem=10,window=90m,grace=10m"
    await admin.ok("policy", "edit", "students", "--idle-timeout", "1h", "--idle-use", use)
    assert f"idle for 1 h, idle use {use}" in await admin.ok("policy", "ls", "--search", "students")
    shown = await admin.as_json("policy", "show", "students")
    assert shown["limits"]["idle_use"] == {
        "window_s": 5400,
        "grace_s": 600,
        "below": {"cpu": 5, "accelerator_mem": 10},
    }
    for odd in ("cpu=5", "window=1h", "gpu=5,window=1h"):
        assert (await admin.run("policy", "edit", "students", "--idle-use", odd)).code == 2
    refused = await admin.run("policy", "edit", "students", "--idle-use", "cpu=5,window=1m")
    assert "limits.idle_use" in refused.stderr or "window of 120" in refused.stderr
    await admin.ok("policy", "edit", "students", "--idle-use", "unlimited")


async def test_a_policy_is_copied_assigned_and_removed(api: Api, admin: CommandLine, students: None):
    await admin.ok("policy", "copy", "students", "thesis")
    key = await (await command_line(api, "user", Path("/"))).as_json("keypair", "ls")
    given = await admin.ok(
        "policy",
        "assign",
        "students",
        "--sign-in",
        "user@example.org",
        "--keypair",
        key["items"][0]["access_key"],
    )
    assert "1 keypairs, 1 sign-ins" in given
    listing = await admin.ok("policy", "ls", "--kind", "keypair", "--search", "stud")
    assert "students" in listing
    assert "thesis" not in listing
    kept = await admin.run("policy", "rm", "--yes", "thesis", "students")
    assert (kept.code, kept.stdout) == (1, b"thesis deleted\n")
    assert "policy.in_use" in kept.stderr


async def test_project_policies_and_what_is_not_a_limit(admin: CommandLine):
    await admin.ok(
        "policy", "create", "small", "--kind", "project", "--folders", "10", "--folder-size", "500g"
    )
    shown = await admin.ok("policy", "show", "small")
    assert "500 GiB" in shown
    refused = await admin.run("policy", "edit", "small", "--sessions", "2")
    assert (refused.code, "policy.no_such_limit" in refused.stderr) == (1, True)
    for odd in ("cpu", "=1", "mem=lots"):
        assert (await admin.run("policy", "over", "small", "--slot", odd)).code == 2
    assert (await admin.run("policy", "show", "default")).code == 1, "there are three"


async def test_somebody_sees_what_limits_them_and_nothing_else(api: Api, tmp_path: Path):
    user = await command_line(api, "user", tmp_path)
    mine = await user.ok("policy", "mine")
    for scope in ("user", "sign-in", "keypair", "project"):
        assert scope in mine
    assert (await user.run("policy", "ls")).code == 3


async def test_over_and_held_say_who_has_how_much(living: Api, tmp_path: Path):
    admin, user = await command_line(living, "superadmin", tmp_path), await living.as_("user")
    session = await user.start(slots={**SMALL, "cpu": 2000})
    await living.until(user, session["id"], "RUNNING")
    over = await admin.run("policy", "over", "default-user", "--slot", "cpu=1", "--slot", "*=unlimited")
    assert over.code == 1
    row = over.stdout.decode().splitlines()[1].split()
    assert row == ["user", "user@example.org", "cpu", "1", "2"]
    enough = await admin.ok("policy", "over", "default-user", "--sessions", "1")
    assert enough == "nobody would exceed the limits\n"
    assert (await admin.run("domain", "over", "default", "--ceiling", "cpu=1")).code == 1
    await admin.ok("domain", "over", "abroad", "--ceiling", "cpu=1")
    await admin.ok("project", "over", living.people.project, "--ceiling", "cpu=2")
    held = await admin.ok("held", "--by", "project")
    assert held.splitlines()[1].startswith("default/default")
    assert "cpu 2, mem 64 MiB" in held
    rows = (await admin.as_json("held", "--by", "domain"))["items"]
    assert [(one["label"], one["slots"]["cpu"], one["sessions"]) for one in rows] == [("default", 2000, 1)]
    assert (await admin.as_json("held", "--by", "user", "--search", "nobody"))["items"] == []


async def test_policies_are_completed(admin: CommandLine):
    words = (await admin.ok("__complete", "policy", "show", "default-")).split("\n")
    assert {word.partition("\t")[0] for word in words if word} == {
        "default-keypair",
        "default-user",
        "default-project",
    }
    assert "assign" in await admin.ok("__complete", "policy", "")
