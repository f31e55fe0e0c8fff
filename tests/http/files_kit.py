"""A folder of somebody's, to work with its files through the API and behind its back."""

from dataclasses import dataclass
from pathlib import Path

import httpx2
from installation import Api, Caller

from carrel.storage.port import FolderLocation
from carrel.tables.folders import VFolder


@dataclass
class Folder:
    """As its owner uses it. files: its directory, as sessions see it. stage: what nobody sees."""

    owner: Caller
    id: str
    files: Path
    stage: Path

    async def get(self, path: str = "", **options: object) -> httpx2.Response:
        return await self.owner.get(f"/vfolders/{self.id}{path}", **options)

    async def post(self, path: str, json: object = None, **options: object) -> httpx2.Response:
        return await self.owner.post(f"/vfolders/{self.id}{path}", json, **options)

    async def ask(self, method: str, path: str, **options: object) -> httpx2.Response:
        return await self.owner.ask(method, f"/vfolders/{self.id}{path}", **options)

    async def write(self, path: str, content: bytes, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.ask("PUT", "/content", params={"path": path}, content=content, headers=names)

    async def content(self, path: str, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.get("/content", params={"path": path}, headers=names)

    async def names(self, path: str = "", **query: object) -> list[str]:
        answer = await self.get("/files", params={"path": path, **query})
        assert answer.status_code == 200, answer.text
        return [each["name"] for each in answer.json()["items"]]


async def folder(
    api: Api, owner: str = "user", name: str = "data", root: Path | None = None, **more: str
) -> Folder:
    """A new folder, on a new storage host when a root is given."""
    body = {"name": name, **more}
    if root is not None:
        admin = await api.as_("superadmin")
        made = await admin.post("/storage-hosts", {"name": root.name.lower(), "root": str(root)})
        assert made.status_code == 201, made.text
        body["host"] = made.json()["id"]
    who = await api.as_(owner)
    answer = await who.post("/vfolders", body)
    assert answer.status_code == 201, answer.text
    return await known(api, who, answer.json()["id"])


async def known(api: Api, who: Caller, id_: str) -> Folder:
    """A folder that there is, as somebody uses it."""
    async with api.database.transaction() as tx:
        row = await tx.get(VFolder, id_)
    assert row is not None
    backend = (await api.services.storages.of(row.host_id)).backend
    place = FolderLocation(row.scope, row.id)
    return Folder(who, row.id, backend.files(place), backend.stage(place))
