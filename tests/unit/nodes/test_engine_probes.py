"""Ids of containers that check something."""

from datetime import UTC, datetime

from carrel.core.ids import new_id
from carrel.nodes.engines.probes import LIFETIME, is_current, probe_id

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_probe_is_left_alone_only_for_its_lifetime() -> None:
    made = probe_id(NOW)
    assert made != probe_id(NOW)
    assert is_current(made, NOW)
    assert is_current(made, NOW + LIFETIME / 2)
    assert not is_current(made, NOW + LIFETIME)


def test_no_other_container_is_a_probe() -> None:
    for id_ in (new_id(), "probe", "probe-", "probe-x-y", f"other-{int(NOW.timestamp())}-x"):
        assert not is_current(id_, NOW)
