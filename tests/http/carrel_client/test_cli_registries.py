"""`carrel registry`, against the real application."""

from pathlib import Path

from command_line import command_line
from installation import Api


async def test_a_registry_from_its_creation_to_its_removal(api: Api, tmp_path: Path) -> None:
    admin = await command_line(api, "superadmin", tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("correct horse\n")
    words = ("--url", "http://127.0.0.1:9", "--namespace", "team", "--repository", "a", "--repository", "b*")
    await admin.ok("registry", "add", "ours", *words, "--username", "robot", "--secret-file", str(secret))
    shown = await admin.as_json("registry", "show", "ours")
    assert (shown["repositories"], shown["has_secret"]) == (["a", "b*"], True)
    assert "127.0.0.1:9/team" in await admin.ok("registry", "show", "ours")
    await admin.ok("registry", "set", "ours", "--repository", "", "--tag", "1.*", "--no-secret")
    [listed] = (await admin.as_json("registry", "ls"))["items"]
    assert (listed["repositories"], listed["tags"], listed["has_secret"]) == ([], ["1.*"], False)
    assert "installation" in await admin.ok("registry", "ls", "--search", "OUR")
    assert (await admin.run("registry", "set", "ours")).code == 2
    missing = await admin.run("registry", "set", "ours", "--ca-file", str(tmp_path / "none"))
    assert missing.code == 2
    checked = await admin.run("registry", "check", "ours")
    assert (checked.code, "cannot be reached" in checked.stdout.decode()) == (1, True)
    await admin.ok("registry", "rm", "--yes", "ours")
    assert (await admin.as_json("registry", "ls"))["items"] == []


async def test_a_scan_is_requested_listed_and_cancelled(api: Api, tmp_path: Path) -> None:
    admin = await command_line(api, "superadmin", tmp_path)
    await admin.ok("registry", "add", "ours", "--url", "http://127.0.0.1:9")
    # Nobody scans here.
    scan = await admin.as_json("registry", "scan", "ours", "--no-wait")
    assert (scan["state"], scan["repositories"]) == ("waiting", None)
    assert "waiting" in await admin.ok("registry", "scan", "ours", "--list")
    assert (await admin.as_json("registry", "scan", "ours", "--cancel"))["cancel"]


async def test_a_failed_scan_has_an_exit_code(living: Api, tmp_path: Path) -> None:
    admin = await command_line(living, "superadmin", tmp_path)
    await admin.ok("registry", "add", "ours", "--url", "http://127.0.0.1:9")
    failed = await admin.run("registry", "scan", "ours")
    assert (failed.code, "cannot be reached" in failed.stdout.decode()) == (1, True)
    assert (await admin.as_json("image", "ls", "--search", "none", "--family", "x", "--sort=-version"))[
        "items"
    ] == []
