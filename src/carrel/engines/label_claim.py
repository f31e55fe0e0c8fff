"""The binding of an installation's label to its database, kept in the engine.

A copy of a database has the label of the original, so it would treat the original's containers as its own. Both use the
same engine: an object there names the database that owns the label, and installations with another database keep away.

A second object asks whether the holder is running: a running holder deletes it.
"""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from carrel.engines.port import Claimant, ClaimedElsewhere

_LOOK_S = 0.5
ANSWERS_WITHIN_S = 30.0
"""Three rounds of a running holder, which checks for questions every ten seconds."""


class ClaimStore(Protocol):
    """Objects of the engine with a unique name, each with a claimant or none. Raises: EngineError."""

    async def read(self, name: str) -> Claimant | None:
        """The claimant of the object; None if there is no object."""
        ...

    async def create(self, name: str, claimant: Claimant | None) -> Claimant | None:
        """Create the object; its claimant, or that of the one which exists. Of several at once, one wins."""
        ...

    async def delete(self, name: str) -> None:
        """Delete the object. Twice: no-op."""
        ...

    async def claims(self) -> Mapping[str, Claimant]:
        """All objects with a claimant, by name, of any installation."""
        ...


class LabelClaim:
    """The claim of an installation's label. claimant: this installation; None: accept any holder."""

    def __init__(self, store: ClaimStore, installation: str, claimant: Claimant | None) -> None:
        self._store = store
        self._installation = installation
        self._claimant = claimant
        self._name = f"carrel-{installation}-claim"
        self._question = f"carrel-{installation}-question"

    async def require(self) -> None:
        """Check that the label is ours; bind it if it is free. Raises: ClaimedElsewhere."""
        if self._claimant is None:
            return
        holder = await self.holder() or await self._store.create(self._name, self._claimant)
        if holder and holder.fingerprint != self._claimant.fingerprint:
            raise ClaimedElsewhere(self._installation, holder.place)

    async def holder(self) -> Claimant | None:
        """The holder of the label; None if it is free. Raises: EngineError."""
        return await self._store.read(self._name)

    async def others(self) -> list[str]:
        """Locations of the other installations with a label in this engine. Raises: EngineError."""
        claims = await self._store.claims()
        return sorted(claimant.place for name, claimant in claims.items() if name != self._name)

    async def answer(self) -> None:
        """Confirm as the holder that this installation is running."""
        if self._claimant is not None:
            await self._store.delete(self._question)

    async def holder_answers(self, *, within_s: float) -> bool:
        """True if the holder responds within this time, so it is running. Raises: EngineError."""
        await self._store.create(self._question, None)
        try:
            async with asyncio.timeout(within_s):
                await self._until_answered()
                return True
        except TimeoutError:
            return False
        finally:
            await self._store.delete(self._question)

    async def _until_answered(self) -> None:
        while True:
            if await self._store.read(self._question) is None:
                return
            await asyncio.sleep(_LOOK_S)

    async def take_over(self) -> None:
        """Bind the label to us, whoever holds it. Raises: ClaimedElsewhere if another installation was faster."""
        await self._store.delete(self._name)
        await self.require()

    async def release(self) -> None:
        """Release the label. Twice: no-op."""
        await self._store.delete(self._question)
        await self._store.delete(self._name)
