"""Two databases with one label in one daemon: only the one that the label is bound to touches anything."""

import asyncio
from collections.abc import AsyncIterator, Callable

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import Claimant, ClaimedElsewhere, ContainerSpec, ObservedState

ORIGINAL = Claimant("1111", "/var/lib/carrel on alpha")
COPY = Claimant("2222", "/srv/drill on alpha")


@pytest.fixture
async def engine_of(installation: str) -> AsyncIterator[Callable[[Claimant], DockerEngine]]:
    """Makes engines over the machine's daemon, all with the same label."""
    made: list[DockerEngine] = []

    def make(claimant: Claimant) -> DockerEngine:
        made.append(DockerEngine(docker_url(), installation, claimant=claimant))
        return made[-1]

    yield make
    sweeper = DockerEngine(docker_url(), installation)
    await sweeper.purge()
    for engine in (*made, sweeper):
        await engine.close()


async def started(engine: DockerEngine) -> str:
    await engine.nodes()
    spec = ContainerSpec(new_id(), await ensure_tiny_image(), {"cpu": 100, "mem": 64 << 20})
    return (await engine.ensure(spec, ProgressLog())).id


async def test_a_copy_is_refused_everything_and_the_original_goes_on(
    engine_of: Callable[[Claimant], DockerEngine],
) -> None:
    original, copy = engine_of(ORIGINAL), engine_of(COPY)
    session = await started(original)
    attempts = (
        copy.nodes(),
        copy.list(),
        copy.usage(),
        copy.remove(session, grace_s=0),
        copy.ensure(ContainerSpec(session, await ensure_tiny_image(), {}), ProgressLog()),
        run(copy, session, "true"),
        anext(aiter(copy.logs(session, follow=False, tail=None))),
        copy.purge(),
        copy.release_if_idle(),
    )
    for attempt in attempts:
        with pytest.raises(ClaimedElsewhere, match="belong to /var/lib/carrel on alpha"):
            await attempt
    assert [one.state for one in await original.list()] == [ObservedState.RUNNING]
    assert (await run(original, session, "echo", "alive")).stdout == b"alive\n"


async def test_a_restart_of_the_same_database_is_let_in(
    engine_of: Callable[[Claimant], DockerEngine],
) -> None:
    session = await started(engine_of(ORIGINAL))
    again = engine_of(ORIGINAL)
    assert [one.id for one in await again.list()] == [session]


async def test_of_many_that_claim_at_once_one_wins(engine_of: Callable[[Claimant], DockerEngine]) -> None:
    engines = [engine_of(Claimant(str(number), f"place {number}")) for number in range(8)]
    outcomes = await asyncio.gather(*(engine.claim.require() for engine in engines), return_exceptions=True)
    assert outcomes.count(None) == 1
    assert sum(isinstance(one, ClaimedElsewhere) for one in outcomes) == 7


async def test_a_running_holder_answers_and_one_that_ended_does_not(
    engine_of: Callable[[Claimant], DockerEngine],
) -> None:
    original, copy = engine_of(ORIGINAL), engine_of(COPY)
    await original.nodes()
    answer = asyncio.create_task(copy.claim.holder_answers(within_s=60))
    while not answer.done():
        await original.nodes()
    assert await answer
    assert not await copy.claim.holder_answers(within_s=1)


async def test_a_label_that_was_taken_over_is_lost_to_its_former_holder(
    engine_of: Callable[[Claimant], DockerEngine],
) -> None:
    original, moved = engine_of(ORIGINAL), engine_of(COPY)
    session = await started(original)
    await moved.claim.take_over()
    assert [one.id for one in await moved.list()] == [session]
    with pytest.raises(ClaimedElsewhere, match="/srv/drill"):
        await original.remove(session, grace_s=0)
    with pytest.raises(ClaimedElsewhere, match="/srv/drill"):
        await original.list()


async def test_a_claim_that_somebody_deleted_is_made_again(
    engine_of: Callable[[Claimant], DockerEngine], docker: aiodocker.Docker, installation: str
) -> None:
    original = engine_of(ORIGINAL)
    await original.nodes()
    await (await docker.volumes.get(f"carrel-{installation}-claim")).delete()
    await original.nodes()
    assert await original.claim.holder() == ORIGINAL


async def test_an_idle_installation_leaves_only_its_claim(
    engine_of: Callable[[Claimant], DockerEngine], docker: aiodocker.Docker, installation: str
) -> None:
    engine = engine_of(ORIGINAL)
    session = await started(engine)
    mine = {"label": [f"carrel.installation={installation}"]}
    rules = await _rules(engine)
    assert rules
    assert await engine.release_if_idle() == 1
    assert await _rules(engine) == rules
    assert len(await docker.networks.list(filters=mine)) == 1
    assert (await run(engine, session, "echo", "alive")).stdout == b"alive\n"
    await engine.remove(session, grace_s=0)
    assert await engine.release_if_idle() == 0
    assert await docker.networks.list(filters=mine) == []
    assert await _rules(engine) == []
    assert await engine.claim.holder() == ORIGINAL
    await engine.purge()
    assert await engine.claim.holder() is None


async def _rules(engine: DockerEngine) -> list[str]:
    process = await asyncio.create_subprocess_exec(
        "iptables", "-w", "10", "-t", "mangle", "-S", stdout=asyncio.subprocess.PIPE
    )
    listed, _ = await process.communicate()
    return [rule for rule in listed.decode().splitlines() if engine._names.bridge in rule]
