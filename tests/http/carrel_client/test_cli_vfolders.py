"""`carrel vfolder ...`, `carrel storage-host ...` and mounts of sessions, against the real application."""

from pathlib import Path

import pytest
from command_line import CommandLine, command_line
from folder_kit import shared
from installation import Api


@pytest.fixture
async def user(living: Api, tmp_path: Path) -> CommandLine:
    """The command line of a user; the leader does what takes long."""
    return await command_line(living, "user", tmp_path)


async def shown(line: CommandLine, *words: str) -> dict:  # type: ignore[type-arg]
    """What a command says in JSON."""
    return await line.as_json(*words)  # type: ignore[no-any-return]


async def test_a_folder_is_made_listed_renamed_changed_and_copied(user: CommandLine):
    assert "data created on local" in await user.ok("vfolder", "create", "data")
    await user.ok("vfolder", "create", ".cache", "--usage-mode", "data")
    listing = await user.ok("vfolder", "ls")
    assert "data" in listing
    assert "user@example.org" in listing
    assert "automatically" in await user.ok("vfolder", "show", ".cache")
    assert "data is now corpus" in await user.ok("vfolder", "mv", "data", "corpus")
    await user.ok("vfolder", "rename", "corpus", "texts")
    await user.ok("vfolder", "update", "texts", "--usage-mode", "model")
    assert (await shown(user, "vfolder", "show", "texts"))["usage_mode"] == "model"
    await user.ok("vfolder", "mkdir", "texts:a/b")
    assert "texts-2 is a copy of texts" in await user.ok("vfolder", "clone", "texts", "texts-2")
    await user.ok("vfolder", "cp", "texts", "texts-3")
    for copy in ("texts-2", "texts-3"):
        assert "a/b/" in await user.ok("vfolder", "ls", "-R", copy)
    tasks = await shown(user, "vfolder", "tasks", "--folder", "texts-3")
    assert [(task["kind"], task["state"]) for task in tasks["items"]] == [("clone", "done")]
    assert "no limit" in await user.ok("vfolder", "quota")


async def test_a_folder_is_thrown_away_restored_and_deleted_for_good(user: CommandLine):
    await user.ok("vfolder", "create", "old")
    kept = await user.run("vfolder", "rm", "old", "--yes")
    assert (kept.code, "vfolder trash old" in kept.stderr) == (1, True)
    assert "until" in await user.ok("vfolder", "trash", "--yes", "old")
    assert "old" not in await user.ok("vfolder", "ls")
    assert "old" in await user.ok("vfolder", "ls", "--trash")
    assert "old restored" in await user.ok("vfolder", "restore", "old")
    await user.ok("vfolder", "trash", "--yes", "old")
    unasked = await user.run("vfolder", "rm", "old")
    assert (unasked.code, "client.no_terminal" in unasked.stderr) == (2, True)
    async with user.in_terminal("vfolder", "rm", "old") as screen:
        await screen.until(b"Type old to continue: ")
        await screen.press(b"all\n")
        await screen.until(b"old was not deleted")
        assert await screen.ended() == 1
    async with user.in_terminal("vfolder", "rm", "old") as screen:
        await screen.until(b"Type old to continue: ")
        await screen.press(b"old\n")
        await screen.until(b"old was permanently deleted")
        assert await screen.ended() == 0
    assert (await user.run("vfolder", "show", "old")).code == 4


async def test_somebody_is_invited_accepts_and_loses_it_again(living: Api, user: CommandLine, tmp_path: Path):
    colleague = await command_line(living, "colleague", tmp_path)
    await user.ok("vfolder", "create", "data")
    assert "is invited: rw" in await user.ok(
        "vfolder", "share", "data", "colleague@example.org", "--permission", "rw"
    )
    assert "data" in await colleague.ok("vfolder", "invitations")
    assert "data accepted: rw" in await colleague.ok("vfolder", "accept", "data")
    assert (await colleague.run("vfolder", "accept", "data")).code == 4
    await user.ok("vfolder", "share", "data", "COLLEAGUE@example.org", "--permission", "ro")
    assert " ro " in await user.ok("vfolder", "shares", "data")
    refused = await colleague.run("vfolder", "mkdir", "data:mine")
    assert (refused.code, "vfolder.permission" in refused.stderr) == (3, True)
    access = await user.ok("vfolder", "access", "data")
    assert "owner" in access
    assert "shared with them" in access
    assert "no longer" in await user.ok("vfolder", "unshare", "--yes", "data", "colleague@example.org")
    assert "data" not in await colleague.ok("vfolder", "ls")
    nobody = await user.run("vfolder", "share", "data", "user@example.org")
    assert nobody.code == 1
    project = (await shown(user, "whoami"))["projects"][0]["name"]
    assert "has it: ro" in await user.ok("vfolder", "share", "data", "--with-project", project)
    assert "data" in await colleague.ok("vfolder", "ls", "--of", "shared")


async def test_a_folder_is_given_up_declined_and_handed_over(living: Api, user: CommandLine, tmp_path: Path):
    colleague = await command_line(living, "colleague", tmp_path)
    made = await shown(user, "vfolder", "create", "data")
    await shared(living, await living.as_("user"), made["id"], "colleague")
    assert "you left" in await colleague.ok("vfolder", "leave", "--yes", "data")
    await user.ok("vfolder", "share", "data", "colleague@example.org")
    assert "data declined" in await colleague.ok("vfolder", "decline", "--yes", "data")
    assert (await colleague.run("vfolder", "decline", "--yes", "data")).code == 4
    assert "now belongs to" in await user.ok(
        "vfolder", "hand-over", "--yes", "data", "--user", "colleague@example.org"
    )
    assert (await shown(colleague, "vfolder", "show", "data"))["owner"]["email"] == "colleague@example.org"
    await user.ok("vfolder", "create", "results")
    output = await user.ok("vfolder", "clone", "results", "copy", "--owner", "colleague@example.org")
    assert "copy is a copy of results" in output
    assert (await shown(colleague, "vfolder", "show", "copy"))["owner"]["email"] == "colleague@example.org"


async def test_a_session_says_which_folders_it_has(user: CommandLine):
    await user.ok("vfolder", "create", "data")
    await user.ok("vfolder", "mkdir", "data:train")
    session = await shown(
        user,
        "session",
        "create",
        "--image",
        "debian:12",
        "--cpu",
        "100m",
        "--mem",
        "64m",
        "-v",
        "data",
        "-v",
        "data:train:/corpus:ro",
    )
    facts = await user.ok("session", "show", session["id"])
    assert "data at /home/work/data" in facts
    assert "data/train at /corpus, read-only" in facts
    mounts = await user.ok("vfolder", "mount-info", "data")
    assert session["name"] in mounts
    assert "read-only" in mounts
    assert (await user.run("session", "create", "-v", "nowhere")).code == 4


async def test_storage_hosts_are_added_opened_changed_and_forgotten(
    living: Api, user: CommandLine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    admin = await command_line(living, "superadmin", tmp_path)
    root = tmp_path_factory.mktemp("fast")
    assert "fast added" in await admin.ok(
        "storage-host", "create", "posix", "fast", "--root", str(root), "--closed"
    )
    assert "fast" in await admin.ok("storage-host", "ls")
    assert "fast" not in await user.ok("storage-host", "ls")
    assert "default" in await admin.ok("storage-host", "access", "fast", "--domain", "default")
    assert "fast" in await user.ok("storage-host", "ls")
    await user.ok("vfolder", "create", "data", "--host", "local")
    assert "has moved to fast" in await user.ok("vfolder", "move", "data", "fast")
    assert (await user.run("storage-host", "access", "fast")).code == 3
    refused = await admin.run("storage-host", "rm", "--yes", "fast")
    assert refused.code == 1
    await user.ok("vfolder", "move", "data", "local")
    at = "/mnt/fast"
    assert at in await admin.ok("storage-host", "location", "fast", "local", "--at", at)
    assert "nowhere" in await admin.ok("storage-host", "location", "fast", "local", "--nowhere")
    assert at not in await admin.ok("storage-host", "location", "fast", "local", "--same-path")
    await admin.ok("storage-host", "update", "fast", "--inactive", "--name", "old")
    assert "none" in await admin.ok("storage-host", "show", "old")
    assert "old removed" in await admin.ok("storage-host", "rm", "--yes", "old")


async def test_folders_and_places_in_them_are_completed(user: CommandLine):
    await user.ok("vfolder", "create", "data")
    await user.ok("vfolder", "mkdir", "data:train/first")

    async def offered(*words: str) -> list[str]:
        return [line.split("\t")[0] for line in (await user.ok("__complete", *words)).splitlines()]

    assert await offered("vfolder", "show", "d") == ["data"]
    assert await offered("vfolder", "ls", "d") == ["data:"]
    assert await offered("vfolder", "ls", "data:tr") == ["data:train/"]
    assert await offered("cp", "-r", "data:train/f") == ["data:train/first/"]
    assert "data:" in await offered("cp", "README.md", "other", "da")
    assert await offered("session", "create", "-v", "d") == ["data"]
    await user.ok("vfolder", "trash", "--yes", "data")
    assert await offered("vfolder", "restore", "") == ["data"]
