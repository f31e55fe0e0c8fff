"""The context of an engine besides its settings, and the type of an engine plug-in.

PLUGIN = Plugin(MySettings, lambda settings: lambda context: MyEngine(settings.url, context.installation))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from carrel.accelerators.port import Accelerators
from carrel.engines.port import Claimant, Engine


@dataclass(frozen=True)
class EngineContext:
    """installation: label of our containers: a-z, 0-9 and -, at most 31 characters, unique per engine.

    claimant: the database that the label must be bound to, on a shared engine. accelerators: kinds on this machine,
    for the local engine.
    """

    installation: str
    claimant: Claimant | None = None
    accelerators: Sequence[Accelerators] = ()


Connect = Callable[[EngineContext], Engine]
"""Creates the engine without disk or network access."""


@runtime_checkable
class Purging(Protocol):
    """An engine in which an installation has resources besides containers, such as networks."""

    async def purge(self) -> None:
        """Delete all resources of this installation. Twice: no-op. Raises: EngineError."""
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
        """Close connections; containers are unaffected. Twice: no-op."""
        ...
