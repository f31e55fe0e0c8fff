"""What uploads left is deleted wherever it can be, whatever is in the way elsewhere."""

import base64
import os
from contextlib import asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest
from files_kit import Folder, folder
from installation import Api
from sqlalchemy import text

from carrel.audit import retention
from carrel.controllers import housekeeping
from carrel.controllers.housekeeping import Housekeeping
from carrel.core.clock import SystemClock
from carrel.core.errors import Unavailable
from carrel.folders.files import leftovers, upload_rows
from carrel.folders.hosts.storages import HostStorage
from carrel.storage import staged
from carrel.storage.port import StorageUnavailable


async def begun(data: Folder, path: str) -> str:
    """The id of a new upload."""
    about = {"Upload-Length": "9", "Upload-Metadata": f"path {base64.b64encode(path.encode()).decode()}"}
    answer = await data.post("/uploads", headers={"Tus-Resumable": "1.0.0", **about})
    assert answer.status_code == 201, answer.text
    return answer.headers["location"].rpartition("/")[2]


async def known(api: Api) -> set[str]:
    async with api.database.transaction() as tx:
        return set((await tx.execute(text("SELECT id FROM uploads"))).scalars())


def spoil(data: Folder, name: str) -> None:
    """The system says no to whoever would open it."""
    (data.stage / name).unlink(missing_ok=True)
    (data.stage / name).mkdir()


async def test_one_that_cannot_be_deleted_keeps_no_other(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(leftovers, "PRUNED_AT_ONCE", 2)
    uploads = [await begun(data, f"file{number}") for number in range(6)]
    for upload in uploads[:3]:
        spoil(data, leftovers.staged_name(upload))
    later = SystemClock().now() + upload_rows.KEPT + timedelta(minutes=1)
    await leftovers.prune(api.database.transaction, api.services.storages, later)
    assert await known(api) == set(uploads[:3])


async def test_uploads_into_a_folder_whose_directory_is_gone_keep_no_other(api: Api, data: Folder):
    lost = await folder(api, name="lost", host="fast")
    kept = await begun(lost, "file")
    await begun(data, "file")
    os.rename(lost.stage.parent, data.stage.parent.parent / f"{data.id}-elsewhere")
    later = SystemClock().now() + upload_rows.KEPT + timedelta(minutes=1)
    await leftovers.prune(api.database.transaction, api.services.storages, later)
    assert await known(api) == {kept}


async def test_a_host_that_is_away_is_asked_once_and_holds_up_no_other(
    api: Api, data: Folder, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    other = await folder(api, name="other", root=tmp_path_factory.mktemp("disk") / "slow")
    away = [await begun(data, f"file{number}") for number in range(3)]
    here = await begun(other, "file")
    hosts = []
    call = HostStorage.call

    async def called(storage: HostStorage, *given: object, **options: object) -> object:
        hosts.append(storage.name)
        if storage.name == "fast":
            raise Unavailable("storage.unavailable", "It does not respond.")
        return await call(storage, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(HostStorage, "call", called)
    later = SystemClock().now() + upload_rows.KEPT + timedelta(minutes=1)
    await leftovers.prune(api.database.transaction, api.services.storages, later)
    assert (await known(api), hosts) == (set(away), ["fast", "slow"])
    assert here not in await known(api)


async def test_a_stage_that_cannot_be_swept_keeps_no_other(api: Api, data: Folder):
    stages = [data.stage, *[(await folder(api, name=f"more{n}", host="fast")).stage for n in range(2)]]
    stages.sort(key=str)
    for stage in stages:
        (stage / f"{staged.WRITTEN}dead").touch()
    spoilt = stages[0]
    (spoilt / f"{staged.WRITTEN}dead").unlink()
    os.rename(spoilt, f"{spoilt}-elsewhere")
    spoilt.touch()
    later = SystemClock().now() + leftovers.OLD + timedelta(minutes=1)
    await leftovers.sweep(api.database.transaction, api.services.storages, later)
    assert [list(stage.glob(f"{staged.WRITTEN}*")) for stage in stages[1:]] == [[], []]


async def test_housekeeping_cuts_the_audit_trail_and_sweeps_again_when_a_sweep_did_not_end(
    api: Api, data: Folder, monkeypatch: pytest.MonkeyPatch
):
    swept = []

    async def sweep(*_: object) -> None:
        swept.append(len(swept))
        if len(swept) == 1:
            raise StorageUnavailable("It broke off.")

    cut = []
    monkeypatch.setattr(leftovers, "sweep", sweep)
    monkeypatch.setattr(retention, "oldest_kept", lambda now, days: cut.append(now))
    monkeypatch.setattr(housekeeping, "SWEPT_EVERY", timedelta(days=1))

    @asynccontextmanager
    async def transaction():
        async with api.database.transaction() as tx:
            yield tx

    tools = SimpleNamespace(
        clock=SystemClock(),
        transaction=transaction,
        storages=api.services.storages,
        seal=api.services.seal,
    )
    keeper = Housekeeping(tools)  # type: ignore[arg-type]
    with pytest.raises(StorageUnavailable):
        await keeper.step()
    assert len(cut) == 1
    await keeper.step()
    await keeper.step()
    assert (len(cut), swept) == (3, [0, 1])
