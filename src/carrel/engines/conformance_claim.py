"""The conformance suite of claims: of two databases with one label, only the one that it is bound to does anything."""

import asyncio
from typing import Any, Protocol

from carrel.engines.conformance_kit import EngineHarness, ProgressLog, refused, run, spec
from carrel.engines.context import Claimable
from carrel.engines.optional import PortForwarding
from carrel.engines.port import Claimant, ClaimedElsewhere, ObservedState

ORIGINAL = Claimant("1111", "/var/lib/carrel on alpha")
COPY = Claimant("2222", "/srv/drill on alpha")


class ClaimHarness(EngineHarness, Protocol):
    """Its own engine accepts any holder."""

    def claiming(self, claimant: Claimant) -> Any:
        """Another engine with the same label, for this claimant; it is `Claimable` and `Purging`."""
        ...

    def neighbour(self) -> Any:
        """An engine with another label, also `Claimable`."""
        ...


async def started(harness: EngineHarness, engine: Any) -> str:
    """The id of a new container of this engine."""
    await engine.nodes()
    return str((await engine.ensure(spec(harness), ProgressLog())).id)


class ClaimConformance:
    """One test per statement of `Claim`."""

    async def test_a_copy_is_refused_everything_and_the_original_goes_on(self, harness: ClaimHarness) -> None:
        original, copy = harness.claiming(ORIGINAL), harness.claiming(COPY)
        assert isinstance(harness.claiming(ORIGINAL), Claimable)
        session = await started(harness, original)
        attempts = [
            copy.nodes(),
            copy.list(),
            copy.usage(),
            copy.remove(session, grace_s=0),
            copy.ensure(spec(harness), ProgressLog()),
            copy.send(session, b""),
            run(copy, session, "true"),
            anext(aiter(copy.logs(session, follow=False, tail=None))),
            copy.purge(),
            copy.release_if_idle(),
        ]
        if isinstance(copy, PortForwarding):
            attempts.append(copy.connect_port(session, 8080))
        for attempt in attempts:
            error = await refused(ClaimedElsewhere, attempt)
            assert "belong to /var/lib/carrel on alpha" in error.message
        assert [one.state for one in await original.list()] == [ObservedState.RUNNING]
        assert (await run(original, session, "echo", "alive")).stdout == b"alive\n"

    async def test_a_restart_of_the_same_database_is_let_in(self, harness: ClaimHarness) -> None:
        session = await started(harness, harness.claiming(ORIGINAL))
        assert [one.id for one in await harness.claiming(ORIGINAL).list()] == [session]

    async def test_of_many_that_claim_at_once_one_wins(self, harness: ClaimHarness) -> None:
        engines = [harness.claiming(Claimant(str(number), f"place {number}")) for number in range(8)]
        claims = (engine.claim.require() for engine in engines)
        outcomes = await asyncio.gather(*claims, return_exceptions=True)
        assert outcomes.count(None) == 1
        assert sum(isinstance(one, ClaimedElsewhere) for one in outcomes) == 7

    async def test_a_running_holder_answers_and_one_that_ended_does_not(self, harness: ClaimHarness) -> None:
        original, copy = harness.claiming(ORIGINAL), harness.claiming(COPY)
        await original.nodes()
        answer = asyncio.create_task(copy.claim.holder_answers(within_s=60))
        while not answer.done():
            await original.nodes()
        assert await answer
        assert not await copy.claim.holder_answers(within_s=1)

    async def test_a_label_that_was_taken_over_is_lost_to_its_former_holder(
        self, harness: ClaimHarness
    ) -> None:
        original, moved = harness.claiming(ORIGINAL), harness.claiming(COPY)
        session = await started(harness, original)
        await moved.claim.take_over()
        assert [one.id for one in await moved.list()] == [session]
        for attempt in (original.remove(session, grace_s=0), original.list()):
            assert "/srv/drill" in (await refused(ClaimedElsewhere, attempt)).message

    async def test_the_claim_stays_while_the_installation_is_idle_and_goes_with_it(
        self, harness: ClaimHarness
    ) -> None:
        engine = harness.claiming(ORIGINAL)
        session = await started(harness, engine)
        assert await engine.release_if_idle() == 1
        await engine.remove(session, grace_s=0)
        assert await engine.release_if_idle() == 0
        assert await engine.claim.holder() == ORIGINAL
        assert ORIGINAL.place in await harness.neighbour().claim.others()
        await engine.purge()
        assert await engine.claim.holder() is None
