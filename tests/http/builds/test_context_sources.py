"""Contexts of builds that the server reads itself: Git repositories and folders."""

import asyncio
import shlex
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import asyncssh
import pytest
from auth_kit import set_site
from builds_kit import requested, settled
from databases import sql
from folder_kit import files_of, folder, in_state, shared
from git_server import TOKEN, repository, serving
from installation import Api, Caller
from people_kit import status_and_code

HOST = "git.test"
FILES = {
    "binder/Dockerfile": "FROM debian:12\nCOPY data /data\n",
    "data": "1",
    "sub/requirements.txt": "six\n",
}


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name leads to this machine, as far as this process knows."""
    known = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: known("127.0.0.1" if host == HOST else host, *rest, **more),
    )


@pytest.fixture
def git(tmp_path: Path, resolved: None) -> Iterator[str]:
    with serving(tmp_path) as port:
        yield f"http://{HOST}:{port}"


async def fetched(caller: Caller, url: str, **more: str) -> Any:
    return await caller.post("/environments/contexts/git", {"url": url, **more})


async def test_a_repository_is_built_by_convention_and_built_again(
    living: Api, git: str, tmp_path: Path
) -> None:
    await set_site(living, import_sources=[HOST])
    living.engine.world.local_images.add("docker.io/library/debian:12")
    commit = repository(tmp_path, "lab", FILES | {".gitattributes": "data export-ignore\n"})
    user = await living.as_("user")
    answer = await fetched(user, f"{git}/lab.git")
    assert answer.status_code == 201, answer.text
    context = answer.json()
    assert (context["files"], context["source"]) == (4, f"{git}/lab.git@{commit}")
    await requested(user, context=context["id"], source=context["source"])
    assert (await settled(user, "torch"))["state"] == "ready"
    recipe = (await user.get("/environments/torch/versions/1/recipe")).json()
    assert (recipe["kind"], recipe["source"]) == ("dockerfile", context["source"])
    assert (await user.post("/environments/torch/versions/1/rebuild", {})).status_code == 202
    assert (await settled(user, "torch", "2"))["state"] == "ready"


async def test_a_branch_a_commit_and_a_directory_are_chosen(living: Api, git: str, tmp_path: Path) -> None:
    await set_site(living, import_sources=[HOST])
    first = repository(tmp_path, "lab", FILES)
    second = repository(tmp_path, "lab", {"more": "2"})
    user = await living.as_("user")
    url = f"{git}/lab.git"
    by_branch = (await fetched(user, url, ref="main")).json()
    assert (by_branch["files"], by_branch["source"]) == (4, f"{url}@{second}")
    assert (await fetched(user, url, ref=first)).json()["files"] == 3
    below = (await fetched(user, url, path="sub")).json()
    assert (below["files"], below["source"]) == (1, f"{url}@{second} sub")
    for more, code in (
        ({"ref": "missing"}, "build.no_ref"),
        ({"path": "missing"}, "build.no_directory"),
        ({"path": "data"}, "build.no_directory"),
        ({"path": "../.."}, "import.bad_path"),
        ({"ref": "--upload-pack=x"}, "import.bad_ref"),
    ):
        assert status_and_code(await fetched(user, url, **more)) == (422, code)


async def test_a_token_opens_a_private_repository_and_is_not_kept(
    living: Api, git: str, tmp_path: Path
) -> None:
    await set_site(living, import_sources=[HOST])
    repository(tmp_path, "private", FILES)
    user = await living.as_("user")
    url = f"{git}/private.git"
    assert (await fetched(user, url, token=TOKEN)).json()["files"] == 3
    for token in ("", "wrong"):
        answer = await fetched(user, url, token=token)
        assert status_and_code(answer) == (422, "build.git_failed")
        assert "wrong" not in answer.text
    both = await fetched(user, url, token=TOKEN, key="key")
    assert status_and_code(both) == (422, "build.two_secrets")
    assert TOKEN not in str(await sql(living.database, "SELECT * FROM audit"))


async def test_the_server_connects_only_where_it_may(living: Api, git: str, tmp_path: Path) -> None:
    repository(tmp_path, "lab", FILES)
    user = await living.as_("user")
    refused = await fetched(user, f"{git}/lab.git")
    assert status_and_code(refused) == (403, "build.source_address")
    await set_site(living, import_sources=[HOST, "169.254.169.254"])
    assert status_and_code(await fetched(user, "https://github.com/a/b")) == (
        403,
        "import.source_not_permitted",
    )
    assert status_and_code(await fetched(user, "http://169.254.169.254/a/b.git")) == (
        403,
        "build.source_address",
    )
    await set_site(living, import_sources=[HOST, f"other.{HOST}:8443"])
    by_key = await fetched(user, f"https://other.{HOST}:8443/lab.git", key="key")
    assert status_and_code(by_key) == (403, "import.source_not_permitted")
    moved = await fetched(user, f"{git}/moved/lab.git")
    assert status_and_code(moved) == (422, "build.git_failed")
    for url in (
        "file:///etc/a/b.git",
        "ext::sh -c id",
        "http://user:pw@git.test/a/b.git",
        "http://[::1]/a.git",
    ):
        assert (await fetched(user, url)).status_code == 422, url


async def test_a_repository_over_the_limits_is_refused(
    living: Api, git: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_site(living, import_sources=[HOST])
    repository(tmp_path, "lab", {"Dockerfile": "FROM scratch\n", "large": token_hex(100_000)})
    user = await living.as_("user")
    monkeypatch.setattr("carrel.builds.git_fetch._MOST_TAR", 100_000)
    large = await fetched(user, f"{git}/lab.git")
    assert status_and_code(large) == (413, "build.context_too_large")
    monkeypatch.setattr("carrel.builds.git_fetch._MOST_TAR", 10_000_000)
    monkeypatch.setattr("carrel.builds.git_fetch._LIMITS", "ulimit -f 64")
    large = await fetched(user, f"{git}/lab.git")
    assert status_and_code(large) == (413, "build.context_too_large"), large.text
    monkeypatch.setattr("carrel.builds.git_fetch.LONGEST_S", 0.001)
    assert status_and_code(await fetched(user, f"{git}/lab.git")) == (422, "build.git_failed")


class _Keys(asyncssh.SSHServer):
    def __init__(self, accepted: asyncssh.SSHKey) -> None:
        self._accepted = accepted

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == "git" and key.public_data == self._accepted.public_data


async def carried(reader: Any, writer: Any) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()
    writer.write_eof()


@asynccontextmanager
async def ssh_server(root: Path, accepted: asyncssh.SSHKey) -> AsyncIterator[int]:
    async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
        command, _, path = str(process.command).partition(" ")
        assert command == "git-upload-pack"
        ran = await asyncio.create_subprocess_exec(
            *("git", "upload-pack", str(root / shlex.split(path)[0].lstrip("/"))),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert ran.stdin
        assert ran.stdout
        requests = asyncio.create_task(carried(process.stdin, ran.stdin))
        await carried(ran.stdout, process.stdout)
        await requests
        process.exit(await ran.wait())

    server = await asyncssh.create_server(
        partial(_Keys, accepted),
        *("127.0.0.1", 0),
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        process_factory=serve,
        encoding=None,
    )
    async with server:
        yield server.get_port()


async def test_a_deploy_key_opens_a_repository_by_ssh(living: Api, resolved: None, tmp_path: Path) -> None:
    await set_site(living, import_sources=[HOST])
    repository(tmp_path, "lab", FILES)
    user = await living.as_("user")
    key, other = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    async with ssh_server(tmp_path, key) as port:
        url = f"ssh://git@{HOST}:{port}/lab.git"
        answer = await fetched(user, url, key=key.export_private_key().decode())
        assert answer.status_code == 201, answer.text
        assert answer.json()["files"] == 3
        for wrong in ("", "no key", other.export_private_key().decode()):
            refused = await fetched(user, url, key=wrong)
            assert status_and_code(refused) == (422, "build.git_failed")
        token = await fetched(user, url, token=TOKEN)
        assert status_and_code(token) == (422, "import.wrong_credentials")


async def read(caller: Caller, **body: str) -> Any:
    return await caller.post("/environments/contexts/folder", {"folder": "data", **body})


async def filled(api: Api, caller: Caller) -> Path:
    made = await folder(caller)
    await in_state(caller, "data", "READY")
    root = await files_of(api, made["id"])
    (root / "lab/.git").mkdir(parents=True)
    (root / "lab/.git/config").write_text("secret")
    (root / "lab/sub").mkdir()
    for name, text in (("Dockerfile", "FROM debian:12\nCOPY . /lab\n"), ("sub/large", "x"), ("kept", "1")):
        (root / "lab" / name).write_text(text)
    (root / "lab/link").symlink_to("kept")
    (root / "lab/.dockerignore").write_text("sub\n")
    return root


async def test_a_directory_of_a_folder_is_built_and_built_again_without_it(living: Api) -> None:
    living.engine.world.local_images.add("docker.io/library/debian:12")
    user = await living.as_("user")
    root = await filled(living, user)
    context = (await read(user, path="lab")).json()
    assert (context["files"], context["source"]) == (4, "vfolder data:lab")
    await requested(user, context=context["id"], source=context["source"])
    assert (await settled(user, "torch"))["state"] == "ready"
    (root / "lab/Dockerfile").unlink()
    assert (await user.post("/environments/torch/versions/1/rebuild", {})).status_code == 202
    assert (await settled(user, "torch", "2"))["state"] == "ready"
    noted = "SELECT details FROM audit WHERE action = 'file.download'"
    assert [row[0]["paths"] for row in await sql(living.database, noted)] == [["lab"]]


async def test_a_folder_is_read_with_the_rights_of_the_person(living: Api) -> None:
    user, colleague = await living.as_("user"), await living.as_("colleague")
    await filled(living, user)
    assert status_and_code(await read(colleague, path="lab")) == (404, "vfolder.not_found")
    await shared(living, user, "data", "colleague")
    assert (await read(colleague, path="lab")).status_code == 201
    administrator = await living.as_("superadmin")
    folder_id = (await user.get("/vfolders/data")).json()["id"]
    theirs = await administrator.post("/environments/contexts/folder", {"folder": folder_id})
    assert theirs.status_code == 403


async def test_links_do_not_lead_out_of_the_directory(living: Api) -> None:
    user = await living.as_("user")
    root = await filled(living, user)
    for name, target in (("up", "../outside"), ("absolute", "/etc/passwd")):
        link = root / "lab" / name
        link.symlink_to(target)
        assert status_and_code(await read(user, path="lab")) == (422, "build.bad_context")
        link.unlink()
    (root / "elsewhere").symlink_to("/etc")
    for path, status in (("elsewhere", 409), ("../x", 422), ("missing", 404), ("lab/kept", 409)):
        assert (await read(user, path=path)).status_code == status


async def test_a_directory_over_the_limits_is_refused(living: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    user = await living.as_("user")
    root = await filled(living, user)
    with (root / "lab/sparse").open("wb") as file:
        file.truncate(33 << 20)
    assert status_and_code(await read(user, path="lab")) == (413, "build.context_too_large")
    (root / "lab/sparse").unlink()
    monkeypatch.setattr("carrel.builds.folder_contexts.MOST_FILES", 3)
    assert status_and_code(await read(user, path="lab")) == (413, "build.context_too_large")
    monkeypatch.setattr("carrel.builds.folder_contexts.MOST_FILES", 5000)
    monkeypatch.setattr("carrel.builds.folder_contexts._MOST_SEEN", 3)
    assert status_and_code(await read(user, path="lab")) == (413, "build.context_too_large")
