"""Dotfiles, by the API and the command line."""

from pathlib import Path

from command_line import command_line
from installation import Api
from sqlalchemy import text


async def put(api: Api, path: str, content: str = "x") -> tuple[int, str | None]:
    user = await api.as_("user")
    answer = await user.ask("PUT", f"/dotfiles/{path}", json={"content": content})
    return answer.status_code, answer.json().get("code")


async def test_a_dotfile_is_stored_encrypted_listed_replaced_and_removed(api: Api) -> None:
    user = await api.as_("user")
    assert await put(api, ".netrc", "first") == (200, None)
    assert await put(api, ".netrc", "second") == (200, None)
    assert await put(api, ".config/git/config", "[user]") == (200, None)
    listed = (await user.get("/dotfiles")).json()["items"]
    assert [(one["path"], one["size_bytes"]) for one in listed] == [(".config/git/config", 6), (".netrc", 6)]
    assert (await user.get("/dotfiles/.netrc")).json()["content"] == "second"
    async with api.database.transaction() as tx:
        stored = (await tx.execute(text("SELECT content FROM dotfiles"))).scalars().all()
    assert not any(b"second" in each for each in stored)
    assert (await user.delete("/dotfiles/.netrc")).status_code == 204
    assert (await user.delete("/dotfiles/.netrc")).json()["code"] == "dotfile.not_found"


async def test_dotfiles_are_of_one_person(api: Api) -> None:
    await put(api, ".bashrc")
    other = await api.as_("colleague")
    assert (await other.get("/dotfiles")).json()["items"] == []
    assert (await other.get("/dotfiles/.bashrc")).status_code == 404
    assert (await other.delete("/dotfiles/.bashrc")).status_code == 404


async def test_what_cannot_be_a_dotfile_is_refused(api: Api) -> None:
    for path in ("bashrc", "..", ".a/../../etc/passwd", "./b", ".a//b", ".a/.."):
        assert (await put(api, path))[0] in (404, 405, 422), path
    assert await put(api, ".big", "가" * 30_000) == (422, "dotfile.too_large")
    assert await put(api, ".vim/vimrc") == (200, None)
    assert await put(api, ".vim") == (409, "dotfile.nested")
    assert await put(api, ".vim/vimrc/more") == (409, "dotfile.nested")
    for number in range(49):
        assert await put(api, f".file{number}") == (200, None)
    assert await put(api, ".one-more") == (409, "dotfile.too_many")
    assert await put(api, ".file0", "new") == (200, None)


async def test_changes_are_audited_without_the_content(api: Api) -> None:
    await put(api, ".netrc", "password")
    admin = await api.as_("superadmin")
    entries = (await admin.get("/audit", params={"action": "dotfile.update"})).json()["items"]
    assert len(entries) == 1
    assert "password" not in str(entries)


async def test_dotfiles_on_the_command_line(api: Api, tmp_path: Path) -> None:
    user = await command_line(api, "user", tmp_path)
    file = tmp_path / "bashrc"
    file.write_text("alias ll='ls -l'\n")
    assert ".bashrc is stored" in await user.ok("dotfile", "set", ".bashrc", str(file))
    await user.run("dotfile", "set", ".vimrc", "-", stdin=b"set nocp\n")
    assert ".vimrc" in await user.ok("dotfile", "ls")
    assert await user.ok("dotfile", "show", ".bashrc") == "alias ll='ls -l'\n"
    assert "is deleted" in await user.ok("dotfile", "rm", "--yes", ".vimrc")
    assert "no dotfile .vimrc" in (await user.run("dotfile", "show", ".vimrc")).stderr
