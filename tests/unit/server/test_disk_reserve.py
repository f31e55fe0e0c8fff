"""The space that the supervisor keeps for the database."""

from pathlib import Path

import pytest

from carrel.server import reserve
from carrel.server.reserve import DiskReserve

MIB = 1 << 20


class Space:
    f_frsize = 4096

    def __init__(self, total_bytes: int, free_bytes: int) -> None:
        self.f_blocks, self.f_bavail = total_bytes // 4096, free_bytes // 4096


def test_it_is_made_with_plenty_of_space_and_released_only_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, kept = tmp_path / "reserve", DiskReserve(tmp_path)

    def disk(total: int, free: int) -> None:
        monkeypatch.setattr(reserve.os, "statvfs", lambda _: Space(total * MIB, free * MIB))

    for total, free in ((630, 630), (1000, 399)):
        disk(total, free)
        kept.restore()
        assert not file.exists()
    disk(1000, 500)
    kept.restore()
    kept.restore()
    assert file.stat().st_blocks * 512 >= 100 * MIB
    disk(1000, 32)
    assert not kept.release_if_full()
    assert file.exists()
    disk(1000, 31)
    assert kept.release_if_full()
    assert not kept.release_if_full()
    assert list(tmp_path.iterdir()) == []
