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

    async def release_if_idle(self) -> int:
        """Delete what only containers need, unless there are any; how many there are. Raises: EngineError."""
        ...


class Claim(Protocol):
    """Which claimant a label belongs to in an engine that several installations may use. Raises: EngineError."""

    async def require(self) -> None:
        """Return when the label is ours; one that nobody holds becomes ours. Raises: ClaimedElsewhere."""
        ...

    async def holder(self) -> Claimant | None:
        """Who holds the label; None when nobody does."""
        ...

    async def others(self) -> list[str]:
        """Where the other installations are whose labels are claimed in this engine."""
        ...

    async def holder_answers(self, *, within_s: float) -> bool:
        """Ask whether the holder runs, and wait that long for its answer."""
        ...

    async def take_over(self) -> None:
        """Hold the label from now on, whoever held it. Raises: ClaimedElsewhere when somebody was faster."""
        ...


@runtime_checkable
class Claimable(Protocol):
    """An engine that several installations may use, each by a label of its own."""

    @property
    def claim(self) -> Claim:
        """That of this installation's label."""
        ...


@runtime_checkable
class Closing(Protocol):
    """An engine that holds connections."""

    async def close(self) -> None:
        """Close them; containers are left alone. Twice: no-op."""
        ...
