"""What network drives do: davfs2 itself, and the requests of Finder and Explorer in their order."""

import asyncio
import base64
import os
import re
import shutil
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import pytest
from files_kit import Folder
from installation import Api
from limit_kit import limit

_AS_ROOT = "/usr/local/sbin:/usr/sbin:/sbin"
_DAVFS = shutil.which("mount.davfs") or shutil.which("mount.davfs", path=_AS_ROOT)
_MAY_MOUNT = os.geteuid() == 0 and Path("/dev/fuse").exists()
EXPLORER = "Microsoft-WebDAV-MiniRedir/10.0.19045"
FINDER = "WebDAVFS/3.0.0 (03008000) Darwin/23.6.0 (arm64)"


async def _run(*words: str, stdin: str = "") -> str:
    """What a program prints, which must succeed."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(120):
        output, _ = await process.communicate(stdin.encode())
    assert process.returncode == 0, (words, output.decode())
    return output.decode()


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that another user reaches, unlike pytest's own."""
    with TemporaryDirectory(prefix="carrel-drive-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@asynccontextmanager
async def mounted(api: Api, data: Folder, place: Path) -> AsyncIterator[Path]:
    """The folder as a directory of this machine. Whatever was written is sent when the block ends."""
    assert _DAVFS, "mount.davfs is missing: apt-get install davfs2"
    point = place / "drive"
    point.mkdir()
    (place / "secrets").write_text(
        "{} {} {}\n".format(f"{api.url}/dav/data", *await api.keypair(data.owner.actor))
    )
    (place / "secrets").chmod(0o600)
    settings = {"secrets": place / "secrets", "backup_dir": "lost", "delay_upload": 0, "buf_size": 64}
    (place / "conf").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    await _run(_DAVFS, f"{api.url}/dav/data", str(point), "-o", f"rw,conf={place / 'conf'},uid=0")
    try:
        yield point
    finally:
        await _run("umount", str(point))


@pytest.mark.skipif(not _MAY_MOUNT, reason="mounting needs root and /dev/fuse")
async def test_davfs2_mounts_a_folder_and_works_in_it(api: Api, data: Folder, place: Path):
    (data.files / "there.txt").write_text("from a session")
    (data.files / "old").mkdir()
    (data.files / "old" / "한글 1.txt").write_text("1")
    async with mounted(api, data, place) as drive:
        script = f"""
        set -e
        cd {drive}
        ls -A1 | grep -v '^lost'
        cat there.txt 'old/한글 1.txt'; echo
        mkdir -p new/deep
        head -c 3000000 /dev/zero | tr '\\0' x > new/deep/large
        echo short > new/short
        mv new/short new/renamed
        mv new/deep new/shallow
        cp there.txt new/copy
        echo more >> new/renamed
        rm there.txt
        rm -r old
        wc -c < new/shallow/large
        """
        printed = (await _run("sh", "-c", script)).split("\n")
        assert printed == ["old", "there.txt", "from a session1", "3000000", ""]
    files = {
        path.relative_to(data.files).as_posix(): path for path in data.files.rglob("*") if path.is_file()
    }
    assert set(files) == {"new/shallow/large", "new/renamed", "new/copy"}
    assert files["new/shallow/large"].read_bytes() == b"x" * 3_000_000
    assert files["new/renamed"].read_text() == "short\nmore\n"
    assert files["new/copy"].read_text() == "from a session"
    assert {stat.S_IMODE(path.stat().st_mode) & 0o600 for path in files.values()} == {0o600}


class Drive:
    """A client program: its headers with each request, and statuses that it takes for success."""

    def __init__(self, data: Folder, agent: str, **headers: str) -> None:
        self._http = data.owner.http
        self._headers = {"User-Agent": agent, **headers}

    async def ask(
        self, status: int, method: str, path: str, content: object = b"", **headers: str
    ) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self._http.request(
            method,
            f"/dav/{path}",
            headers={**self._headers, **named},
            content=content,  # type: ignore[arg-type]
        )
        assert answer.status_code == status, (method, path, answer.status_code, answer.text)
        return answer

    async def lock(self, status: int, path: str, seconds: int) -> dict[str, str]:
        """The header that shows the lock in later requests."""
        body = _LOCK.format(path)
        answer = await self.ask(status, "LOCK", path, body.encode(), Depth="0", Timeout=f"Second-{seconds}")
        assert "locktoken" in answer.text
        return {"If": f"({answer.headers['lock-token']})"}

    async def unlock(self, path: str, held: dict[str, str]) -> None:
        await self.ask(204, "UNLOCK", path, Lock_Token=held["If"].strip("()"))


async def test_explorer_saves_renames_and_removes(api: Api, data: Folder):
    drive = Drive(data, EXPLORER, Translate="f", Connection="Keep-Alive")
    stranger = await (await api.client()).request("OPTIONS", "/dav/data", headers={"User-Agent": EXPLORER})
    assert stranger.status_code in (200, 401)
    options = await drive.ask(200, "OPTIONS", "data")
    assert {"1", "2"} <= {part.strip() for part in options.headers["dav"].split(",")}
    assert options.headers["ms-author-via"].upper() == "DAV"
    await drive.ask(207, "PROPFIND", "data", Depth="0", Content_Length="0")
    await drive.ask(207, "PROPFIND", "data", Depth="1", Content_Length="0")
    for looked_for in ("desktop.ini", "folder.jpg", "New Text Document.txt"):
        await drive.ask(404, "PROPFIND", f"data/{looked_for}", Depth="0")
    # 1. An empty file is made, locked, dated, filled, dated again.
    new = "data/New Text Document.txt"
    await drive.ask(201, "PUT", new, Content_Length="0")
    held = await drive.lock(200, new, 3600)
    for content in (b"", b"text\r\n"):
        await drive.ask(200, "HEAD", new)
        await drive.ask(204, "PUT", new, content, **held)
        dated = await drive.ask(207, "PROPPATCH", new, _WINDOWS, **held)
        assert re.findall("HTTP/1.1 ([0-9]+)", dated.text) == ["200"], dated.text
    await drive.unlock(new, held)
    shown = (await drive.ask(207, "PROPFIND", new, Depth="0")).text
    assert "getcontentlength>6<" in shown
    modified = re.search("getlastmodified>([^<]+)<", shown)
    assert modified
    assert parsedate_to_datetime(modified[1]).year == 2024
    # 2. Another name, a new folder, into it.
    to = {"Destination": f"{api.url}/dav/data/notes.txt", "Overwrite": "F"}
    await drive.ask(201, "MOVE", new, **to)
    await drive.ask(201, "MKCOL", "data/New folder", Content_Length="0")
    await drive.ask(201, "MOVE", "data/New%20folder", Destination=f"{api.url}/dav/data/kept", Overwrite="F")
    await drive.ask(201, "PUT", "data/taken.txt", b"taken")
    await drive.ask(412, "MOVE", "data/taken.txt", **to)
    await drive.ask(
        201, "MOVE", "data/notes.txt", Destination=f"{api.url}/dav/data/kept/notes.txt", Overwrite="F"
    )
    assert (data.files / "kept" / "notes.txt").read_bytes() == b"text\r\n"
    # 3. Away.
    await drive.ask(204, "DELETE", "data/taken.txt")
    await drive.ask(204, "DELETE", "data/kept")
    assert os.listdir(data.files) == []


async def test_finder_saves_with_its_own_files_beside(api: Api, data: Folder):
    drive = Drive(data, FINDER, Accept="*/*")
    options = await drive.ask(200, "OPTIONS", "data/")
    assert "2" in options.headers["dav"]
    shown = await drive.ask(207, "PROPFIND", "data/", _SPACE, Depth="0", Content_Type="text/xml")
    assert "quota-used-bytes" in shown.text
    await drive.ask(207, "PROPFIND", "data/", _PROPFIND, Depth="1", Content_Type="text/xml")
    for looked_for in (
        "._.",
        ".DS_Store",
        ".hidden",
        ".metadata_never_index",
        ".Spotlight-V100",
        "a.txt",
        "._a.txt",
    ):
        await drive.ask(404, "PROPFIND", f"data/{looked_for}", _PROPFIND, Depth="0", Content_Type="text/xml")
    # Each file is made empty, locked, and sent in chunks; one beside it has its attributes.
    contents = {"a.txt": b"text" * 50_000, "._a.txt": b"\0\5\x16\7" + bytes(4092), ".DS_Store": bytes(6148)}
    for name, content in contents.items():
        await drive.ask(201, "PUT", f"data/{name}", Content_Length="0")
        held = await drive.lock(200, f"data/{name}", 600)
        await drive.ask(207, "PROPFIND", f"data/{name}", _PROPFIND, Depth="0", Content_Type="text/xml")

        async def pieces(content: bytes = content) -> AsyncIterator[bytes]:
            for start in range(0, len(content), 32768):
                yield content[start : start + 32768]

        size = {"X_Expected_Entity_Length": str(len(content))}
        await drive.ask(204, "PUT", f"data/{name}", pieces(), **held, **size)
        await drive.unlock(f"data/{name}", held)
        assert (data.files / name).read_bytes() == content
        assert (
            f"getcontentlength>{len(content)}<"
            in (
                await drive.ask(
                    207, "PROPFIND", f"data/{name}", _PROPFIND, Depth="0", Content_Type="text/xml"
                )
            ).text
        )
    part = await drive.ask(206, "GET", "data/a.txt", Range="bytes=0-3")
    assert part.content == b"text"
    for name in ("a.txt", "._a.txt"):
        await drive.ask(
            201, "MOVE", f"data/{name}", Destination=f"{api.url}/dav/data/{name.replace('a', 'b')}"
        )
    for name in ("._b.txt", "b.txt", ".DS_Store"):
        held = await drive.lock(200, f"data/{name}", 600)
        await drive.ask(204, "DELETE", f"data/{name}", **held)
    assert os.listdir(data.files) == []


async def test_what_finder_announces_is_refused_before_it_is_sent(api: Api, data: Folder):
    drive = Drive(data, FINDER)
    await drive.ask(201, "PUT", "data/a", Content_Length="0")
    await limit(api.database, "user", folder_bytes=1000)
    headers = {"Transfer-Encoding": "chunked", "X-Expected-Entity-Length": "2000", "Expect": "100-continue"}
    reader, writer = await _begin(api, data, "PUT", "a", headers)
    first = await asyncio.wait_for(reader.readline(), 30)
    assert first.split()[1] in (b"409", b"413", b"507"), first
    writer.close()
    assert (data.files / "a").read_bytes() == b""


async def test_who_waits_to_continue_is_told_to(api: Api, data: Folder):
    reader, writer = await _begin(api, data, "PUT", "a", {"Content-Length": "4", "Expect": "100-continue"})
    assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30) == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(b"text")
    assert (await asyncio.wait_for(reader.readline(), 30)).split()[1] == b"201"
    writer.close()
    assert (data.files / "a").read_bytes() == b"text"


async def _begin(
    api: Api, data: Folder, method: str, path: str, headers: dict[str, str]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The head of a request on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    auth = base64.b64encode(":".join(await api.keypair(data.owner.actor)).encode()).decode()
    lines = {
        "Host": f"127.0.0.1:{api.port}",
        "Authorization": f"Basic {auth}",
        "User-Agent": FINDER,
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"{method} /dav/data/{path} HTTP/1.1\r\n{head}\r\n".encode())
    return reader, writer


_LOCK = """<?xml version="1.0" encoding="utf-8"?>
<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>
<D:owner><D:href>{}</D:href></D:owner></D:lockinfo>"""
_SPACE = b"""<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:"><D:prop><D:quota-available-bytes/><D:quota-used-bytes/><D:quota/><D:quotaused/></D:prop>
</D:propfind>"""
_PROPFIND = b"""<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:"><D:prop><D:getlastmodified/><D:getcontentlength/><D:creationdate/><D:resourcetype/></D:prop>
</D:propfind>"""
_WINDOWS = b"""<?xml version="1.0" encoding="utf-8" ?>
<D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>
<Z:Win32CreationTime>Mon, 01 Jan 2024 00:00:00 GMT</Z:Win32CreationTime>
<Z:Win32LastAccessTime>Mon, 01 Jan 2024 00:00:00 GMT</Z:Win32LastAccessTime>
<Z:Win32LastModifiedTime>Mon, 01 Jan 2024 00:00:00 GMT</Z:Win32LastModifiedTime>
<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>"""
