"""One registry for all tests of a process; each test has repositories of its own there."""

from collections.abc import AsyncIterator, Iterator

import pytest
from fake_registry import FakeRegistry
from own_registry import OwnRegistry, own_registry

from carrel.controllers.image_inventory import ImageInventory


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRegistry]:
    with own_registry(tmp_path_factory.mktemp("registry") / "files") as running:
        yield running


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node's images are listed as soon as something changes."""
    monkeypatch.setattr(ImageInventory, "calm_s", 0.05)


@pytest.fixture
async def fake() -> AsyncIterator[FakeRegistry]:
    async with FakeRegistry() as running:
        yield running
