"""What an engine is connected with besides its settings, and what a plug-in of an engine makes.

PLUGIN = Plugin(MySettings, lambda settings: lambda context: MyEngine(settings.url, context.installation))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from carrel.accelerators.port import Accelerators
from carrel.engines.port import Claimant, Engine


@dataclass(frozen=True)
class EngineContext:
    """installation: marks our containers there: a-z, 0-9 and -, at most 31; no two engines have the same.

    claimant: whose database that label must be bound to, where others may use the engine too. accelerators: the kinds
    that this machine has, for an engine whose node it is.
    """

    installation: str
    claimant: Claimant | None = None
    accelerators: Sequence[Accelerators] = ()


Connect = Callable[[EngineContext], Engine]
"""Makes the engine; touches neither disk nor network."""


@runtime_checkable
class Purging(Protocol):
    """An engine in which an installation has more than its containers, such as networks."""

    async def purge(self) -> None:
        """Delete all that this installation has there. Twice: no-op. Raises: EngineError."""
        ...


@runtime_checkable
class Closing(Protocol):
    """An engine that holds connections."""

    async def close(self) -> None:
        """Close them; containers are left alone. Twice: no-op."""
        ...
