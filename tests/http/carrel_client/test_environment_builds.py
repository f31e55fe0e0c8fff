"""`carrel environment build` and what shows its results."""

import asyncio
import json
import socket
import subprocess
from pathlib import Path

import pytest
from auth_kit import set_site
from command_line import command_line
from folder_kit import files_of, folder, in_state
from git_server import TOKEN, repository, serving
from installation import Api


async def test_a_directory_and_a_repository_are_built_shown_and_built_again(
    living: Api, tmp_path: Path
) -> None:
    command = await command_line(living, "user", tmp_path)
    living.engine.world.local_images.add("docker.io/library/debian:12")
    directory = tmp_path / "lab"
    directory.mkdir()
    (directory / "Dockerfile").write_text("FROM debian:12\nCOPY data /data\n")
    (directory / "data").write_text("1")
    (directory / "secret").write_text("hunter2")
    (directory / ".dockerignore").write_text("secret\n")
    user = await living.as_("user")
    await living.until(user, (await user.start())["id"], "RUNNING")
    built = await command.ok("environment", "build", "lab", str(directory), "--wait")
    assert "lab:1 is built" in built, built
    assert "COPY data /data" in built
    shown = json.loads(await command.ok("environment", "recipe", "lab:1", "-o", "json"))
    assert shown["context_files"] == 3
    log = await command.ok("environment", "log", "lab:1")
    assert [line for line in log.splitlines() if line.endswith(": COPY data /data")], log
    dockerfile = await command.ok("environment", "recipe", "lab:1", "--dockerfile")
    assert dockerfile == "FROM debian:12\nCOPY data /data\n"

    git = ("git", "-C", str(directory), "-c", "user.name=a", "-c", "user.email=a@b")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        await asyncio.to_thread(subprocess.run, [*git, *arguments], check=True)
    again = await command.ok("environment", "build", "lab", "--git", str(directory), "--wait")
    assert "lab:2 is built" in again, again
    source = json.loads(await command.ok("environment", "recipe", "lab:2", "-o", "json"))["source"]
    assert source.startswith(f"{directory}@")
    wrong = await command.run("environment", "build", "lab", "--git", str(directory), "--path", "nope")
    assert (wrong.code, "The repository has no directory nope." in wrong.stderr) == (1, True), wrong.stderr
    assert "lab:3 is built" in await command.ok("environment", "rebuild", "lab:2", "--wait")
    assert "unlimited" in await command.ok("environment", "quota")


async def test_a_folder_and_a_private_repository_are_read_by_the_server(
    living: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: known("127.0.0.1" if host == "git.test" else host, *rest, **more),
    )
    await set_site(living, import_sources=["git.test"])
    command = await command_line(living, "user", tmp_path)
    living.engine.world.local_images.add("docker.io/library/debian:12")
    user = await living.as_("user")
    await living.until(user, (await user.start())["id"], "RUNNING")
    made = await folder(user)
    await in_state(user, "data", "READY")
    root = await files_of(living, made["id"])
    (root / "lab/docker").mkdir(parents=True)
    (root / "lab/docker/Dockerfile").write_text("FROM debian:12\nRUN true\n")
    built = await command.ok(
        *("environment", "build", "lab", "--folder", "data:lab/", "-f", "docker/Dockerfile", "--wait")
    )
    assert "lab:1 is built" in built, built
    shown = json.loads(await command.ok("environment", "recipe", "lab:1", "-o", "json"))
    assert (shown["source"], shown["file"]) == ("vfolder data:lab", "docker/Dockerfile")

    repositories = tmp_path / "git"
    commit = repository(repositories, "private", {"sub/Dockerfile": "FROM debian:12\nRUN true\n"})
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with serving(repositories) as port:
        url = f"http://git.test:{port}/private.git"
        options = ("--git", url, "--ref", "main", "--path", "sub", "--token-file", str(tmp_path / "token"))
        built = await command.ok("environment", "build", "lab", *options, "--wait")
    assert "lab:2 is built" in built, built
    shown = json.loads(await command.ok("environment", "recipe", "lab:2", "-o", "json"))
    assert shown["source"] == f"{url}@{commit} sub"
    own = await command.ok(
        *(
            "environment",
            "build",
            "lab",
            "--git",
            str(repositories / "private.git"),
            "--path",
            "sub",
            "--wait",
        )
    )
    assert "lab:3 is built" in own, own
