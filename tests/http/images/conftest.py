"""One registry for all tests of a process; each test has repositories of its own there."""

from collections.abc import AsyncIterator, Iterator

import pytest
from fake_registry import FakeRegistry
from own_registry import OwnRegistry, own_registry


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRegistry]:
    with own_registry(tmp_path_factory.mktemp("registry") / "files") as running:
        yield running


@pytest.fixture
async def fake() -> AsyncIterator[FakeRegistry]:
    async with FakeRegistry() as running:
        yield running
