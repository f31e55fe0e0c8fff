"""Changes of a folder lock its row before its owner's quota, all of them, so that no two wait for each other."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from folder_kit import folder
from installation import Api
from people import eventually
from sqlalchemy import select
from tus_kit import VERSION, metadata

from carrel.core.ids import FolderId
from carrel.folders import measuring, quotas
from carrel.storage.port import Measure
from carrel.tables.folders import VFolder

WAITING = """SELECT 'waits' FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1"""


async def measured(api: Api, ref: str) -> None:
    async with api.database.transaction() as tx:
        row = await tx.get_one(VFolder, FolderId(ref))
        await measuring.record(tx, row, Measure(used_bytes=1, files=1), as_of=datetime.now(UTC))


async def uploaded(api: Api, ref: str) -> None:
    user = await api.as_("user")
    headers = {**VERSION, "Upload-Length": "10", **metadata("file")}
    answer = await user.ask("POST", f"/vfolders/{ref}/uploads", headers=headers)
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("other", [measured, uploaded])
async def test_a_clone_and_another_change_of_its_source_do_not_deadlock(
    api: Api, other: Callable[[Api, str], Awaitable[None]]
):
    admin = await api.as_("superadmin")
    limits = {"limits": {"folder_bytes": 10 << 20}}
    assert (await admin.patch("/policies/default-user", limits)).status_code == 200
    made = await folder(await api.as_("user"))

    async def waits() -> bool:
        return bool(await api.database.texts(WAITING, {}))

    # The two steps of a clone, with the other change in between.
    async with api.database.transaction() as clone:
        row = select(VFolder).where(VFolder.id == made["id"]).with_for_update()
        source = (await clone.execute(row)).scalar_one()
        beside = asyncio.create_task(other(api, made["id"]))
        await eventually(waits)
        await quotas.require_folder(clone, source.scope)
    await beside
