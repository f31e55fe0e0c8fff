"""`carrel cp` and what else moves files: trees, broken lines, names that are taken, against the real application."""

import asyncio
import json
import os
import zipfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import CommandLine, Line, command_line
from files_kit import Folder, folder
from folder_kit import shared
from installation import Api
from limit_kit import limit
from people import eventually
from tus_kit import staged

MIB = 1 << 20
ODD_NAMES = [
    "with space",
    "-rf",
    "a:b",
    "new\nline",
    "tab\t",
    "'quote\"",
    "ümläut",
    "한국어",
    "🦔",
    "\x1b[31mred",
    "*",
    "...",
]


@pytest.fixture
async def user(living: Api, tmp_path: Path) -> CommandLine:
    """The command line of a user, in a directory of its own."""
    return await command_line(living, "user", tmp_path)


@pytest.fixture
async def data(living: Api) -> Folder:
    """A folder of that user's."""
    return await folder(living)


@pytest.fixture
async def line(living: Api) -> AsyncIterator[Line]:
    """A network line to the server that can be cut."""
    line = Line(living.port)
    await line.connect()
    yield line
    await line.cut()


async def moved(line: CommandLine, *words: str) -> tuple[int, int, int]:
    """Files and bytes that a transfer moved, and files that were there already."""
    summary = await line.as_json(*words)
    return summary["files"], summary["bytes"], summary["unchanged"]


def content(root: Path) -> dict[str, bytes | None]:
    """What is below a directory: files with their bytes, directories without."""
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes() for path in root.rglob("*")
    }


def put(path: Path, size: int) -> bytes:
    """A file of bytes that nobody can guess."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(size))
    return path.read_bytes()


def size_of(path: Path) -> int:
    """Bytes of a file; none once it has gone, as what is in a stage does at any time."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


async def arrived(data: Folder, size: int) -> None:
    """Wait until so much of an upload lies in the stage."""

    async def enough() -> bool:
        return max(map(size_of, data.stage.iterdir()), default=0) >= size

    await eventually(enough, every_s=0.002)


async def test_a_tree_goes_up_and_comes_back_as_it_was(user: CommandLine, data: Folder, tmp_path: Path):
    tree = tmp_path / "tree"
    for name in ODD_NAMES:
        put(tree / "odd" / name, 10)
    put(tree / "deep/er/est/file", 5 * MIB)
    put(tree / "empty", 0)
    (tree / "hollow/inside").mkdir(parents=True)
    (tree / "odd/-rf").chmod(0o755)
    os.utime(tree / "empty", (1, 1.25))
    assert await moved(user, "cp", "-r", str(tree), "data:up") == (len(ODD_NAMES) + 2, 5 * MIB + 120, 0)
    assert content(data.files / "up/tree") == content(tree)
    assert await moved(user, "cp", "-r", str(tree), "data:up") == (0, 0, len(ODD_NAMES) + 2)
    back = tmp_path / "back"
    assert await moved(user, "vfolder", "download", "data:up/", "--to", str(back)) == (
        len(ODD_NAMES) + 2,
        5 * MIB + 120,
        0,
    )
    assert content(back / "tree") == content(tree)
    assert (back / "tree/empty").stat().st_mtime == 1.25
    assert os.access(back / "tree/odd/-rf", os.X_OK)
    assert not os.access(back / "tree/odd/*", os.X_OK)
    assert (await moved(user, "cp", "-r", "data:up/tree/", str(back / "tree")))[2] == len(ODD_NAMES) + 2


async def test_many_small_files_go_up(user: CommandLine, data: Folder, tmp_path: Path):
    tree = tmp_path / "many"
    for number in range(300):
        path = tree / f"{number % 20}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d" % number)
    process = await user.start("cp", "-r", f"{tree}/", "data:", "-o", "json")
    stdout, stderr = await asyncio.wait_for(process.communicate(), 400)
    assert (process.returncode, json.loads(stdout)["files"]) == (0, 300), stderr
    assert content(data.files) == content(tree)
    assert (await moved(user, "vfolder", "download", "data:7", "--to", str(tmp_path)))[0] == 15
    assert content(tmp_path / "7") == content(tree / "7")


@pytest.mark.parametrize("more", [(), ("--parts", "3"), ("--checksum",)])
async def test_an_upload_goes_on_over_a_new_line(
    user: CommandLine, data: Folder, line: Line, tmp_path: Path, more: tuple[str, ...]
):
    sent = put(tmp_path / "big", 90 * MIB)
    user.environment["CARREL_URL"] = f"http://127.0.0.1:{line.port}"
    process = await user.start("cp", str(tmp_path / "big"), "data:", "-o", "json", *more)
    await arrived(data, 8 * MIB)
    await line.cut()
    assert not (data.files / "big").exists()
    await line.connect()
    stdout, stderr = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, stderr.decode()
    assert json.loads(stdout)["bytes"] == len(sent), "what had arrived is counted once"
    assert (data.files / "big").read_bytes() == sent
    assert list(data.stage.glob("upload-*")) == []


async def test_an_upload_whose_name_is_taken_meanwhile_is_refused(
    user: CommandLine, data: Folder, tmp_path: Path
):
    put(tmp_path / "big", 90 * MIB)
    process = await user.start("cp", str(tmp_path / "big"), "data:")
    await arrived(data, 8 * MIB)
    taken = put(data.files / "big", 3)
    _, stderr = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, b"file.exists" in stderr) == (1, True), stderr.decode()
    assert (data.files / "big").read_bytes() == taken
    again = await user.run("cp", str(tmp_path / "big"), "data:")
    assert (again.code, "client.taken" in again.stderr) == (1, True)
    (data.files / "big").unlink()
    await user.ok("cp", str(tmp_path / "big"), "data:")
    assert (data.files / "big").stat().st_size == 90 * MIB, "it had arrived, and only wanted a place"
    assert (await data.get("/uploads")).json()["items"] == []


async def test_what_comes_through_a_pipe_becomes_a_file(user: CommandLine, data: Folder):
    content = os.urandom(9 * MIB)
    process = await user.start("cp", "-", "data:in/piped", "-q", stdin=asyncio.subprocess.PIPE)
    _, stderr = await asyncio.wait_for(process.communicate(content), 60)
    assert process.returncode == 0, stderr.decode()
    assert (data.files / "in" / "piped").read_bytes() == content
    again = await user.start("vfolder", "upload", "data:in/piped", "-", stdin=asyncio.subprocess.PIPE)
    _, stderr = await asyncio.wait_for(again.communicate(b""), 60)
    assert (again.returncode, b"file.exists" in stderr) == (1, True), stderr.decode()


async def test_nothing_is_kept_of_a_pipe_that_did_not_end_well(api: Api, user: CommandLine, data: Folder):
    process = await user.start("cp", "-", "data:piped", "-q", stdin=asyncio.subprocess.PIPE)
    assert process.stdin
    process.stdin.write(bytes(20 * MIB))
    await arrived(data, 8 * MIB)
    await limit(api.database, "user", folder_bytes=1 * MIB)
    with suppress(ConnectionError):
        await process.communicate(bytes(20 * MIB))
    assert process.returncode
    assert (await data.get("/uploads")).json()["items"] == []
    assert (await data.names(), staged(data)) == ([], [])


async def test_parts_go_on_after_the_command_was_killed(user: CommandLine, data: Folder, tmp_path: Path):
    sent = put(tmp_path / "big", 150 * MIB)
    words = ("cp", str(tmp_path / "big"), "data:", "--parts", "3")
    process = await user.start(*words)

    async def all_begun() -> bool:
        begun = (await data.get("/uploads")).json()["items"]
        return [(each["path"], each["partial"]) for each in begun] == [("big", True)] * 3

    await eventually(all_begun)
    await arrived(data, 8 * MIB)
    process.kill()
    await process.wait()
    assert await all_begun()
    assert (await moved(user, *words))[1] == len(sent)
    assert (data.files / "big").read_bytes() == sent
    assert (await data.get("/uploads")).json()["items"] == [], "they are the same parts"


async def test_an_upload_goes_on_after_the_command_was_killed(
    user: CommandLine, data: Folder, tmp_path: Path
):
    sent = put(tmp_path / "big", 200 * MIB)
    process = await user.start("cp", str(tmp_path / "big"), "data:")
    await arrived(data, 16 * MIB)
    process.kill()
    await process.wait()
    (begun,) = (await data.get("/uploads")).json()["items"]
    assert begun["offset_bytes"] >= 16 * MIB
    assert (await moved(user, "cp", str(tmp_path / "big"), "data:"))[1] == len(sent)
    assert (data.files / "big").read_bytes() == sent
    assert (await data.get("/uploads")).json()["items"] == [], "it is the same upload"
    os.utime(tmp_path / "big", (5, 5))
    process = await user.start("cp", str(tmp_path / "big"), "data:other")
    await arrived(data, 16 * MIB)
    process.kill()
    await process.wait()
    put(tmp_path / "big", 200 * MIB)
    await user.ok("cp", str(tmp_path / "big"), "data:other")
    assert (data.files / "other").read_bytes() == (tmp_path / "big").read_bytes(), "another file begins anew"


async def test_a_download_goes_on_over_a_new_line_and_after_a_kill(
    user: CommandLine, data: Folder, line: Line, tmp_path: Path
):
    sent = put(data.files / "big", 120 * MIB)
    user.environment["CARREL_URL"] = f"http://127.0.0.1:{line.port}"

    async def coming() -> bool:
        return sum(map(size_of, tmp_path.glob(".big.*.part"))) > 8 * MIB

    process = await user.start("cp", "data:big", str(tmp_path))
    await eventually(coming, every_s=0.002)
    process.kill()
    await process.wait()
    (part,) = tmp_path.glob(".big.*.part")
    kept = part.stat().st_size
    assert not (tmp_path / "big").exists()
    process = await user.start("cp", "data:big", str(tmp_path))

    async def further() -> bool:
        return size_of(part) > kept + 8 * MIB

    await eventually(further, every_s=0.002)
    await line.cut()
    assert 0 < size_of(part) < len(sent)
    await line.connect()
    _, stderr = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, stderr.decode()
    assert (tmp_path / "big").read_bytes() == sent
    assert list(tmp_path.glob(".*.part")) == []


async def test_a_name_that_is_taken_is_refused_replaced_numbered_or_skipped(
    user: CommandLine, data: Folder, tmp_path: Path
):
    here = tmp_path / "a.txt"
    here.write_text("new")
    put(data.files / "a.txt", 4)
    (data.files / "a.txt").write_text("old!")
    refused = await user.run("cp", str(here), "data:")
    assert (refused.code, "client.taken" in refused.stderr) == (1, True)
    skipped = await user.run("cp", str(here), "data:", "--clash", "skip")
    assert (skipped.code, "its name is taken" in skipped.stderr) == (0, True)
    assert (data.files / "a.txt").read_text() == "old!"
    await user.ok("cp", str(here), "data:", "--clash", "rename")
    assert sorted(path.read_text() for path in data.files.iterdir()) == ["new", "old!"]
    await user.ok("cp", str(here), "data:", "--clash", "replace")
    assert (data.files / "a.txt").read_text() == "new"
    # the same on the way back
    here.write_text("mine")
    refused = await user.run("cp", "data:a.txt", str(here))
    assert (refused.code, here.read_text()) == (1, "mine")
    await user.ok("cp", "data:a.txt", str(here), "--clash", "rename")
    assert (tmp_path / "a (1).txt").read_text() == "new"
    await user.ok("cp", "data:a.txt", str(here), "--clash", "replace")
    assert here.read_text() == "new"


async def test_on_a_terminal_somebody_is_asked(user: CommandLine, data: Folder, tmp_path: Path):
    for name in ("a", "b", "c"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text("new")
        (data.files / name).write_text("old!")
    async with user.in_terminal("cp", "-r", f"{tmp_path}/in/", "data:", cols=200) as screen:
        await screen.until(b"exists and differs")
        await screen.press(b"s\n")
        await screen.until(b"exists and differs")
        await screen.press(b"R\n")
        await screen.until(b"sent 2 files")
        assert await screen.ended() == 0
    assert sorted(path.read_text() for path in data.files.iterdir()) == ["new", "new", "old!"]


async def test_links_and_odd_things_of_a_local_tree_stay_here(
    user: CommandLine, data: Folder, tmp_path: Path
):
    tree = tmp_path / "tree"
    put(tree / "file", 3)
    put(tmp_path / "outside/secret", 3)
    (tree / "link").symlink_to("file")
    (tree / "out").symlink_to(tmp_path / "outside")
    (tree / "round").symlink_to(tree)
    os.mkfifo(tree / "pipe")
    done = await user.run("cp", "-r", str(tree), "data:")
    assert (done.code, done.stderr.count("a symbolic link;"), done.stderr.count("neither")) == (0, 3, 1)
    assert set(content(data.files)) == {"tree", "tree/file"}
    done = await user.run("cp", "-r", "--follow", str(tree), "data:")
    assert (done.code, "to a directory above it" in done.stderr) == (0, True)
    assert {"tree/link", "tree/out/secret"} < set(content(data.files))
    (tree / os.fsdecode(b"\xff")).write_bytes(b"x")
    odd = await user.run("cp", "-r", str(tree), "data:")
    assert (odd.code, "client.odd_name" in odd.stderr) == (1, True)


async def test_links_of_a_folder_stay_there(user: CommandLine, data: Folder, tmp_path: Path):
    put(data.files / "file", 3)
    (data.files / "passwd").symlink_to("/etc/passwd")
    (data.files / "dir").symlink_to("/etc")
    (data.files / os.fsdecode(b"\xff")).write_bytes(b"x")
    done = await user.run("vfolder", "download", "data", "--to", str(tmp_path))
    assert (done.code, done.stderr.count("skipped")) == (0, 3), done.stderr
    assert set(content(tmp_path / "data")) == {"file"}


async def test_what_cannot_be_made_here_keeps_nothing_else_from_coming(
    user: CommandLine, data: Folder, tmp_path: Path
):
    for path in ("a/in", "z/in"):
        put(data.files / path, 10)
    for name in (b"odd-\xff", b"odd-\xfe"):
        (data.files / os.fsdecode(name)).mkdir()
    # Deeper than any path of this machine may be long.
    above = os.open(data.files, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=above)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=above))
    os.close(above)
    done = await user.run("vfolder", "download", "data:", "--to", str(tmp_path / "here"))
    assert (done.code, done.stderr.count("File name too long")) == (1, 1), done.stderr
    assert done.stderr.count("its name is not UTF-8") == 2
    here = tmp_path / "here" / "data"
    assert sorted(path.name for path in here.iterdir()) == ["a", "d" * 200, "z"]
    assert [(here / path).stat().st_size for path in ("a/in", "z/in")] == [10, 10]
    assert (await user.run("vfolder", "download", "data:nowhere", "--to", str(tmp_path))).code == 4


async def test_who_may_only_read_cannot_send(living: Api, user: CommandLine, data: Folder, tmp_path: Path):
    await shared(living, data.owner, data.id, "colleague")
    colleague = await command_line(living, "colleague", tmp_path)
    put(data.files / "file", 3)
    tree = tmp_path / "tree"
    for number in range(50):
        put(tree / str(number), 3)
    for words in (("-r", str(tree)), (str(tree / "1"),)):
        refused = await colleague.run("cp", *words, "data:")
        assert (refused.code, refused.stderr.count("vfolder.permission")) == (3, 1), refused.stderr
    assert (await moved(colleague, "cp", "data:file", str(tmp_path)))[0] == 1
    await user.ok("vfolder", "share", "data", "colleague@example.org", "--permission", "rw")
    await colleague.ok("cp", str(tmp_path / "file"), "data:other")
    assert (await colleague.run("vfolder", "rm", "--yes", "data:file")).code == 3


async def test_files_are_found_read_moved_copied_packed_and_deleted(
    user: CommandLine, data: Folder, tmp_path: Path
):
    put(data.files / "a/table.csv", 3000)
    put(data.files / "b.csv", 10)
    assert "data:a/table.csv" in await user.ok("vfolder", "find", "data", "TABLE")
    assert (await user.run("vfolder", "cat", "data:b.csv")).stdout == (data.files / "b.csv").read_bytes()
    await user.ok("vfolder", "mkdir", "data:c/d")
    await user.ok("vfolder", "mv", "data:b.csv", "data:c/")
    await user.ok("vfolder", "mv", "data:c/b.csv", "data:c/e.csv")
    assert "2 files" in await user.ok("cp", "-r", "data:a", "data:c/e.csv", "data:c/d/")
    assert (data.files / "c/d/a/table.csv").read_bytes() == (data.files / "a/table.csv").read_bytes()
    assert "1 file" in await user.ok("vfolder", "cp", "-r", "data:a", "data:c/d/again")
    assert (data.files / "c/d/again/table.csv").stat().st_size == 3000
    await user.ok("vfolder", "create", "other")
    await user.ok("cp", "-r", "data:c", "other:")
    assert "c/d/a/table.csv" in await user.ok("vfolder", "ls", "-R", "other")
    assert "--limit" in (await user.run("vfolder", "ls", "data", "--limit", "1")).stderr
    await user.ok("vfolder", "zip", "data:a", "data:c/e.csv", str(tmp_path / "some.zip"))
    names = {name for name in zipfile.ZipFile(tmp_path / "some.zip").namelist() if not name.endswith("/")}
    assert names == {"a/table.csv", "e.csv"}
    assert "deleted" in await user.ok("vfolder", "rm", "--yes", "data:a", "data:c/d")
    assert set(content(data.files)) == {"c", "c/e.csv"}
    missing = await user.run("vfolder", "rm", "--yes", "data:nowhere")
    assert (missing.code, "nowhere" in missing.stderr) == (4, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("cp", "tree", "data:"), "Use -r"),
        (("cp", "data:dir", "."), "Use -r"),
        (("cp", "nowhere", "data:"), "No such file"),
        (("cp", "data:nowhere", "."), "nowhere"),
        (("cp", "tree", "data:x", "data:"), "cannot be mixed"),
        (("cp", "tree", "other"), "None of these is a folder path"),
        (("vfolder", "rm", "--yes", "data:"), "the whole folder"),
        (("vfolder", "rm", "--yes", "data:a", "data"), "Files and folders"),
        (("vfolder", "mv", "data:a", "other:b"), "several folders"),
    ],
)
async def test_what_makes_no_sense_is_said(
    user: CommandLine, data: Folder, tmp_path: Path, words: tuple[str, ...], sentence: str
):
    put(tmp_path / "tree/file", 1)
    put(data.files / "dir/file", 1)
    named = [str(tmp_path / word) if word in ("tree", ".") else word for word in words]
    done = await user.run(*named)
    assert done.code in (1, 2, 4)
    assert sentence in done.stderr
