"""A storage host on Btrfs, from the API through the controllers to the kernel."""

import base64
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from btrfs_disk import btrfs_disk
from files_kit import Folder, known
from folder_kit import ended, files_of, in_state
from installation import Api
from people import eventually
from people_kit import status_and_code

from carrel.storage.btrfs import BtrfsBackend

MIB = 1 << 20


@pytest.fixture
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with btrfs_disk(tmp_path_factory.mktemp("disk")) as disk:
        yield disk


def printed(*words: str) -> str:
    return subprocess.run(["btrfs", *words], check=True, capture_output=True, text=True).stdout


async def uploaded(data: Folder, path: str, content: bytes) -> tuple[int, str]:
    """As the command and the page do it."""
    metadata = f"path {base64.b64encode(path.encode()).decode()}"
    headers = {
        "Tus-Resumable": "1.0.0",
        "Upload-Length": str(len(content)),
        "Upload-Metadata": metadata,
        "Content-Type": "application/offset+octet-stream",
    }
    return status_and_code(await data.post("/uploads", content=content, headers=headers))


async def test_folders_on_btrfs_from_their_making_to_their_end(
    living: Api, disk: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(BtrfsBackend, "usage_late_s", 0.0)  # what is here is synced before it is looked at
    admin, user = await living.as_("superadmin"), await living.as_("user")
    body = {"name": "fast", "backend": "btrfs", "root": str(disk / "folders")}
    host = (await admin.post("/storage-hosts", body)).json()
    assert (host["state"], host["hard_quota"], host["instant_clone"]) == ("ok", True, True)
    made = await user.post("/vfolders", {"name": "data", "host": "fast"})
    assert (made.status_code, made.json()["state"]) == (201, "READY"), made.text
    data = await known(living, user, made.json()["id"])

    # 1. The policy's limit becomes the kernel's.
    limit = await admin.patch("/policies/default-user", {"limits": {"folder_bytes": 8 * MIB}})
    assert limit.status_code == 200, limit.text

    async def has_limit() -> bool:
        return str(8 * MIB) in printed("qgroup", "show", "--raw", "-r", str(disk))

    await eventually(has_limit)
    # 2. What a session wrote meanwhile, nobody has counted yet but the kernel.
    (data.files / "of-a-session").write_bytes(os.urandom(6 * MIB))
    content = os.urandom(4 * MIB)
    assert status_and_code(await data.write("more", content)) == (409, "storage.over_quota")
    assert await uploaded(data, "more", content) == (409, "storage.over_quota")
    assert await data.names() == ["of-a-session"], "nothing half is seen"
    assert (await data.get("/uploads")).json()["items"] == [], "nor kept of one whose address nobody knows"
    # 3. What is deleted makes room, and what is there is measured.
    removed = await data.post("/files/remove", {"paths": ["of-a-session"]})
    assert removed.json()["paths"] == ["of-a-session"], removed.text
    os.sync()
    content = os.urandom(3 * MIB)
    assert (await data.write("kept", content)).status_code == 200
    os.sync()

    async def measured() -> bool:
        shown = (await user.get("/vfolders/data")).json()
        return shown["measured_at"] is not None and 3 * MIB <= shown["used_bytes"] < 4 * MIB

    await eventually(measured)
    # 4. A clone shares its blocks; it counts in full for its owner.
    copy = (await user.post("/vfolders/data/clone", {"name": "copy"})).json()
    await in_state(user, copy["id"], "READY")
    there = await files_of(living, copy["id"])
    assert (there / "kept").read_bytes() == content
    exclusive = printed("filesystem", "du", "-s", "--raw", str(there)).splitlines()[-1].split()[1]
    assert int(exclusive) == 0
    refused = await user.post("/vfolders/data/clone", {"name": "third"})
    assert status_and_code(refused) == (409, "quota.bytes"), "3 and 3 and 3 are more than 8"
    # 5. To the trash, and away for good.
    assert (await user.post("/vfolders/copy/trash")).status_code == 200
    removal = (await user.delete("/vfolders/copy?name=copy")).json()
    assert (await ended(user, removal["id"]))["state"] == "done"
    assert not there.parent.exists()
    assert copy["id"] not in printed("subvolume", "list", str(disk))
