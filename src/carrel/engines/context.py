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
        """Delete resources that only containers need, unless containers exist; returns their number."""
        ...


class Claim(Protocol):
    """The binding of a label to a claimant, in an engine shared by several installations. Raises: EngineError."""

    async def require(self) -> None:
        """Check that the label is ours; bind it if it is free. Raises: ClaimedElsewhere."""
        ...

    async def holder(self) -> Claimant | None:
        """The holder of the label; None if it is free."""
        ...

    async def others(self) -> list[str]:
        """Locations of the other installations with a label in this engine."""
        ...

    async def holder_answers(self, *, within_s: float) -> bool:
        """True if the holder responds within this time, so it is running."""
        ...

    async def take_over(self) -> None:
        """Bind the label to us, whoever holds it. Raises: ClaimedElsewhere if another installation was faster."""
        ...


@runtime_checkable
class Claimable(Protocol):
    """An engine that several installations may share, each with its own label."""

    @property
    def claim(self) -> Claim:
        """The claim of this installation's label."""
        ...


@runtime_checkable
class Closing(Protocol):
    """An engine that holds connections."""

    async def close(self) -> None:
        """Close connections; containers are unaffected. Twice: no-op."""
        ...
