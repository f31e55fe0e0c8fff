"""The server or its database is killed between a change of files and its audit entry: the entry comes, once."""

import asyncio
import fcntl
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psycopg
import pytest
from command_line import CommandLine
from crash.control_plane import API, ControlPlaneProcess
from killing import kill_postgresql
from pack_kit import tar
from people import eventually, first_administrator
from tus_kit import BYTES, VERSION, metadata

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.embedded import Embedded
from carrel.db.migrate import migrate
from carrel.signin.keypairs import service as keypairs

EXPECTED = {
    ("file.write", "put"),
    ("file.make_directory", "made"),
    ("file.move", "d/moved"),
    ("file.remove", "removed"),
    ("file.upload", "p/a p/b"),
    ("file.upload", "whole"),
    ("file.upload", "tus"),
    ("file.write", "dav"),
    ("file.make_directory", "collection"),
    ("file.move", "d/dav-moved"),
    ("file.copy", "d/copied"),
    ("file.remove", "dav-removed"),
}


@dataclass
class Place:
    """A server of one's own, with a database of its own and a folder."""

    plane: ControlPlaneProcess
    embedded: Embedded
    client: httpx2.AsyncClient
    folder: str
    files: Path
    environment: dict[str, str]

    def kill_database(self) -> None:
        kill_postgresql(self.embedded.cluster)

    async def entries(self) -> list[tuple[str, str]]:
        def read() -> list[tuple[str, str]]:
            with psycopg.connect(self.embedded.url) as look:
                rows = look.execute(
                    "SELECT action, details FROM audit WHERE object_id = %s AND action LIKE 'file.%%'",
                    (self.folder,),
                ).fetchall()
            return [(action, " ".join(details["paths"])) for action, details in rows]

        return await asyncio.to_thread(read)


@pytest.fixture
async def place(open_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    embedded = Embedded(open_dir / tmp_path_factory.mktemp("own").name)
    url = await asyncio.to_thread(embedded.start)
    await asyncio.to_thread(migrate, url)
    database = Database(url)
    admin = await first_administrator(database)
    async with database.transaction() as tx:
        pair = await keypairs.create(tx, SystemClock(), admin)
    await database.close()
    folder = tmp_path_factory.mktemp("plane")
    plane = ControlPlaneProcess(folder, url, f"unix://{folder}/none.sock", "files-killed")
    plane.start()
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{plane.port}", auth=(pair.access_key, pair.secret_key), timeout=60
    ) as client:
        try:
            await eventually(lambda: answers(client), within_s=60)
            root = tmp_path_factory.mktemp("disk") / "fast"
            await client.post(f"{API}/storage-hosts", json={"name": "fast", "root": str(root)})
            made = await client.post(f"{API}/vfolders", json={"name": "data", "host": "fast"})
            (stage,) = root.glob("*/*/stage")
            environment = {
                "CARREL_URL": f"http://127.0.0.1:{plane.port}",
                "CARREL_ACCESS_KEY": pair.access_key,
                "CARREL_SECRET_KEY": pair.secret_key,
                "HOME": str(folder),
                "PATH": os.environ["PATH"],
            }
            yield Place(plane, embedded, client, made.json()["id"], stage.parent / "files", environment)
        finally:
            plane.kill()
            await asyncio.to_thread(embedded.stop)


async def answers(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get(f"{API}/health")).status_code == 200
    except httpx2.TransportError:
        return False


def changes(place: Place, upload: str) -> list[Awaitable[httpx2.Response]]:
    """One of every kind."""
    client, api, dav = place.client, f"{API}/vfolders/{place.folder}", f"/dav/{place.folder}"
    ask: Callable[..., Awaitable[httpx2.Response]] = client.request
    headers = {**BYTES, "Upload-Length": "5", **metadata("whole")}
    return [
        ask("PUT", f"{api}/content", params={"path": "put"}, content=b"put"),
        ask("POST", f"{api}/files/directories", json={"path": "made"}),
        ask("POST", f"{api}/files/move", json={"paths": ["from"], "rename_to": "d/moved"}),
        ask("POST", f"{api}/files/remove", json={"paths": ["removed"]}),
        ask("POST", f"{api}/files/unpack", content=tar(("p/a", b"a"), ("p/b", b"b"))),
        ask("POST", f"{api}/uploads", headers=headers, content=b"whole"),
        ask("PATCH", f"{api}/{upload}", headers={**BYTES, "Upload-Offset": "0"}, content=b"tus"),
        ask("PUT", f"{dav}/dav", content=b"dav"),
        ask("MKCOL", f"{dav}/collection"),
        ask("MOVE", f"{dav}/dav-from", headers={"Destination": f"{dav}/d/dav-moved"}),
        ask("COPY", f"{dav}/copied", headers={"Destination": f"{dav}/d/copied"}),
        ask("DELETE", f"{dav}/dav-removed"),
    ]


def all_are_made(files: Path) -> bool:
    there = {str(each.relative_to(files)) for each in files.rglob("*")}
    expected = {
        "put",
        "made",
        "d/moved",
        "p/a",
        "p/b",
        "whole",
        "tus",
        "dav",
        "collection",
        "d/dav-moved",
        "d/copied",
    }
    return expected <= there and not {"from", "dav-from", "removed", "dav-removed"} & there


@pytest.mark.parametrize("victim", ["server", "database"])
async def test_what_was_changed_has_its_entry_after_a_kill(place: Place, victim: str):
    for name in ("from", "removed", "dav-from", "dav-removed", "copied", "d/other"):
        written = await place.client.put(
            f"{API}/vfolders/{place.folder}/content", params={"path": name}, content=b"old"
        )
        assert written.is_success, written.text
    headers = {**VERSION, "Upload-Length": "3", **metadata("tus")}
    answer = await place.client.post(f"{API}/vfolders/{place.folder}/uploads", headers=headers)
    before = Counter(await place.entries())
    with psycopg.connect(place.embedded.url) as lock:
        # Whoever writes an entry waits for this: everything is changed, and nothing is written down.
        lock.execute("LOCK TABLE audit IN SHARE MODE")
        sending = [asyncio.ensure_future(each) for each in changes(place, answer.headers["location"])]
        await eventually(lambda: all_are_made(place.files), within_s=60)
        if victim == "server":
            place.plane.kill()
            await asyncio.wait(sending)
            lock.rollback()
        else:
            place.kill_database()
            lock.close()
    if victim == "server":
        place.plane.start()
    else:
        await asyncio.to_thread(place.embedded.start)
        await asyncio.wait(sending)

    async def written_down() -> bool:
        return set(await place.entries()) >= EXPECTED

    await eventually(written_down, within_s=120, every_s=0.2)
    intents = place.files.parents[2] / ".intents"
    await eventually(lambda: not any(each.stat().st_size for each in intents.iterdir()))
    assert Counter(await place.entries()) - before == Counter(EXPECTED)


@pytest.mark.parametrize(("is_placed", "victim"), [(True, "server"), (True, "database"), (False, "database")])
async def test_the_command_finishes_a_file_whose_last_bytes_were_cut_off(
    place: Place, tmp_path: Path, victim: str, is_placed: bool
):
    content = os.urandom(6 << 20)
    (tmp_path / "big").write_bytes(content)
    stage = place.files.parent / "stage"
    with ExitStack() as stack:
        if is_placed:
            lock = stack.enter_context(closing(psycopg.connect(place.embedded.url)))
            lock.execute("LOCK TABLE audit IN SHARE MODE")
        else:
            # Whoever puts a file into its place waits for this.
            fcntl.flock(stack.enter_context((stage / ".lock").open("w")), fcntl.LOCK_EX)
        running = await CommandLine(place.environment).start("cp", str(tmp_path / "big"), f"{place.folder}:")

        def has_arrived() -> bool:
            files = [place.files / "big"] if is_placed else list(stage.glob("upload-*"))
            return any(each.exists() and each.stat().st_size == len(content) for each in files)

        await eventually(has_arrived, within_s=60)
        if victim == "server":
            place.plane.kill()
        else:
            place.kill_database()
    if victim == "server":
        place.plane.start()
    else:
        await asyncio.to_thread(place.embedded.start)
    _, output = await asyncio.wait_for(running.communicate(), 120)
    assert running.returncode == 0, output.decode()
    assert (place.files / "big").read_bytes() == content
    assert await place.entries() == [("file.upload", "big")]
