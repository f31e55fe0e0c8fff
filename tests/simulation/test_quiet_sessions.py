"""Sessions to which nothing happens: their rows are not loaded, and those that are measured by turns have samples."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence

import pytest
from simulation.conftest import Play
from simulation.control_planes import ControlPlane
from simulation.installation_life import Installation
from sqlalchemy import event

from carrel.engines.fake import FakeEngine
from carrel.engines.port import ContainerUsage, EngineUnavailable, LogRecord, ObservedState
from carrel.tables.session_states import SessionState as S
from carrel.tables.sessions import Container, Session


def test_a_look_at_the_engine_loads_only_sessions_that_differ(play: Play) -> None:
    async def story(installation: Installation) -> None:
        async def loaded() -> list[str]:
            """The sessions whose rows a look loads."""
            loads: list[str] = []

            def note(row: Session | Container, _context: object) -> None:
                loads.append(row.session_id if isinstance(row, Container) else row.id)

            async def look(plane: ControlPlane) -> None:
                await next(one for one in plane.controllers if one.name == "observe").step()

            for table in (Session, Container):
                event.listen(table, "load", note)
            try:
                await installation.act(look)
            finally:
                for table in (Session, Container):
                    event.remove(table, "load", note)
            return loads

        sessions = [await installation.create(cpu=100) for _ in range(4)]
        await installation.settle()
        assert await loaded() == []
        stopped = installation.world.containers[installation.main_of(sessions[1])]
        stopped.state = ObservedState.EXITED
        assert set(await loaded()) == {sessions[1]}
        await installation.settle()
        assert {installation.state(one) for one in sessions} == {S.RUNNING}

    play(story)


def test_new_addresses_of_all_containers_are_one_query(play: Play) -> None:
    async def story(installation: Installation) -> None:
        statements: list[str] = []

        def note(_conn: object, _cursor: object, statement: str, *_rest: object) -> None:
            statements.append(statement)

        async def look(plane: ControlPlane) -> None:
            engine = plane.database._engine.sync_engine
            event.listen(engine, "before_cursor_execute", note)
            await next(one for one in plane.controllers if one.name == "observe").step()
            event.remove(engine, "before_cursor_execute", note)

        for _ in range(3):
            await installation.create(cpu=100)
        await installation.settle()
        installation.world.address_of = lambda container: "127.0.0.9"
        await installation.act(look)
        assert sum("SET address" in statement for statement in statements) == 1
        rows = installation.look.execute("SELECT DISTINCT address FROM containers WHERE state = 'RUNNING'")
        assert rows.fetchall() == [("127.0.0.9",)]

    play(story)


def test_containers_that_are_read_by_turns_have_samples(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    every = FakeEngine.usage
    turns = itertools.count()

    async def by_turns(engine: FakeEngine) -> Sequence[ContainerUsage]:
        readings = sorted(await every(engine), key=lambda one: one.id)
        return readings[next(turns) % 2 :: 2]

    async def story(installation: Installation) -> None:
        for _ in range(2):
            await installation.create(cpu=100)
        await installation.settle()
        installation.look.execute("DELETE FROM usage_samples")
        monkeypatch.setattr(FakeEngine, "usage", by_turns)

        async def sweep(plane: ControlPlane) -> None:
            for _ in range(6):
                await next(one for one in plane.controllers if one.name == "usage").step()
                await asyncio.sleep(10)

        await installation.act(sweep)
        [(measured,)] = installation.look.execute("SELECT count(DISTINCT container_id) FROM usage_samples")
        assert measured == 2

    play(story)


def test_a_log_that_cannot_be_followed_is_tried_less_and_less_often(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = itertools.count()

    async def unreadable(*_: object, **__: object) -> AsyncIterator[Sequence[LogRecord]]:
        next(attempts)
        raise EngineUnavailable("The node of the container does not respond.")
        yield

    async def story(installation: Installation) -> None:
        await installation.create(cpu=100)
        await installation.settle()
        monkeypatch.setattr(FakeEngine, "logs", unreadable)
        # Another control plane leads, which follows no log yet.
        await installation.close()
        installation._plane = None

        async def collect(plane: ControlPlane) -> None:
            collection = next(one for one in plane.controllers if one.name == "logs")
            for _ in range(300):
                await collection.step()
                await asyncio.sleep(1)

        await installation.act(collect)
        assert 5 < next(attempts) < 20

    play(story)
