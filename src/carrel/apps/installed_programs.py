"""Which programs a container has, remembered for its start."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field

from carrel.apps.app_processes import AppProcesses
from carrel.core.ids import ContainerId

LOOK_AGAIN_S = 20.0
"""Missing programs are looked for again after this time, since users install them."""
_MOST_REMEMBERED = 10_000


@dataclass
class _LookedUp:
    present: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    looked_at_s: float = 0.0


class Programs:
    """One exec for all names."""

    def __init__(self, processes: AppProcesses) -> None:
        self._processes = processes
        self._known: dict[tuple[ContainerId, str], _LookedUp] = {}

    async def of(self, container: ContainerId, names: Collection[str], *, start: str) -> set[str]:
        """Those that the container has. start: of the container. Raises: EngineError."""
        known = self._known.get((container, start)) or _LookedUp()
        if time.monotonic() - known.looked_at_s > LOOK_AGAIN_S:
            known.missing.clear()
        unknown = set(names) - known.present - known.missing
        if unknown:
            present = await self._processes.programs(container, unknown)
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            known.present |= present
            known.missing |= unknown - present
            known.looked_at_s = time.monotonic()
            self._known[container, start] = known
        return set(names) & known.present
