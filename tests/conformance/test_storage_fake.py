"""The fake storage does what every storage does, and fails when it is told to."""

import errno
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from storage_kit import OfRoot, rooted_at

from carrel.storage.conformance import StorageConformance
from carrel.storage.conformance_kit import place, refused
from carrel.storage.conformance_more import RescopeConformance
from carrel.storage.fake import FakeBackend, FakeQuotaBackend
from carrel.storage.port import Capacity, HardQuota


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[OfRoot]:
    with rooted_at(tmp_path / "root", FakeBackend) as harness:
        yield harness


class TestFakeStorage(StorageConformance, RescopeConformance):
    pass


@pytest.fixture
def fake(tmp_path: Path) -> FakeQuotaBackend:
    return FakeQuotaBackend(tmp_path / "root")


def test_a_hung_host_blocks_each_call_until_it_answers(fake: FakeQuotaBackend) -> None:
    fake.hang()
    answered = threading.Event()
    thread = threading.Thread(target=lambda: (fake.probe(), answered.set()), daemon=True)
    thread.start()
    assert not answered.wait(0.1)
    fake.answer()
    assert answered.wait(10)
    thread.join()


def test_a_host_that_is_away_or_full_says_so(fake: FakeQuotaBackend) -> None:
    fake.probe()
    fake.claim()
    fake.full = True
    assert refused(OSError, fake.create, place()).errno == errno.ENOSPC
    fake.away = True
    assert refused(OSError, fake.places).errno == errno.ESTALE
    fake.away = fake.full = False
    fake.create(place())


def test_capacity_can_be_chosen(fake: FakeQuotaBackend) -> None:
    fake.capacity = Capacity(total_bytes=100, free_bytes=1)
    assert fake.probe() == fake.capacity


def test_quotas_are_remembered(fake: FakeQuotaBackend) -> None:
    assert isinstance(fake, HardQuota)
    fake.set_quota("user-a", 5)
    fake.set_quota("user-b", 6)
    fake.set_quota("user-a", None)
    assert fake.limits == {"user-b": 6}
