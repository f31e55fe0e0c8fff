"""The devices of nodes as the scheduler sees them."""

from collections.abc import Mapping
from typing import Any

from carrel.core.device_blocks import blocks_of
from carrel.scheduling.snapshot import DeviceSnapshot, nearness


def device_snapshot(stored: Mapping[str, Any], used: int = 0) -> DeviceSnapshot:
    """stored: as in `Node.devices`. used: thousandths."""
    blocks = stored.get("blocks")
    return DeviceSnapshot(
        stored["id"],
        stored["family"],
        used,
        stored["set"],
        stored["slots"],
        blocks_of(blocks) if blocks else (),
        # Older rows have the set only.
        nearness(stored["set"], stored["clique"], stored["switch"], stored["numa"])
        if "switch" in stored
        else (),
    )
