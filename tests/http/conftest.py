"""Installations for the tests of the API."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from copies_kit import Copies, two_copies
from files_kit import Folder, folder
from installation import Api, installation
from people import People
from sso_kit import Sso, single_sign_on

from carrel.db.database import Database
from carrel.signin.logins import authenticator


@pytest.fixture
async def api(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Api]:
    """The application without controllers: sessions stay PENDING."""
    async with installation(database, people, tmp_path, controllers=False) as running:
        yield running


@pytest.fixture
async def data(api: Api, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A person's folder, on a storage host of its own."""
    return await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")


@pytest.fixture
async def living(database: Database, people: People, tmp_path: Path) -> AsyncIterator[Api]:
    """The application with its controllers: sessions run on the fake engine."""
    async with installation(database, people, tmp_path, controllers=True) as running:
        yield running


@pytest.fixture
async def sso(api: Api, tmp_path: Path) -> AsyncIterator[Sso]:
    """The same with a real OpenID provider that it is set up for."""
    async with single_sign_on(api, tmp_path) as running:
        yield running


@pytest.fixture
async def copies(
    database: Database, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Copies]:
    """Two copies of the application behind a load balancer without affinity. No cached credential expires."""
    monkeypatch.setattr(authenticator, "_CACHE_S", 3600.0)
    async with two_copies(database, people, tmp_path) as running:
        yield running
