"""The controller that measures folders, and limits on them."""

from collections.abc import AsyncIterator

import pytest
from installation import Api
from quota_kit import Care, Limit

from carrel.db.leader import lead


@pytest.fixture
async def care(api: Api) -> AsyncIterator[Care]:
    leader = await lead(api.database.url)
    care = Care(api, leader)
    yield care
    for backend in care.backends.values():
        backend.answer()
    await care.storage.close()
    care.storages.close()
    await leader.resign()


@pytest.fixture
def limit(api: Api) -> Limit:
    """Sets what the default policies of people, or of projects, allow."""

    async def change(kind: str = "user", **limits: object) -> None:
        admin = await api.as_("superadmin")
        answer = await admin.patch(f"/policies/default-{kind}", {"limits": limits})
        assert answer.status_code == 200, answer.text

    return change
