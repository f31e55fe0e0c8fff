"""Two engines at once: what happens to one of them is no concern of the other."""

from collections.abc import Callable

import pytest
from simulation.conftest import Play
from simulation.installation_life import Installation

from carrel.controllers.comparison import Findings
from carrel.core.ids import LOCAL_ENGINE, SessionId
from carrel.engines.fake import FakeEngine, FakeWorld
from carrel.engines.port import ContainerSpec
from carrel.tables.session_states import SessionState as S
from carrel.tables.sessions import Session

Trouble = Callable[[FakeWorld], None]
TROUBLES = pytest.mark.parametrize("trouble", [FakeWorld.go_away, FakeWorld.hang], ids=["killed", "hung"])
FULL = 8000
"""Millicores of the one node that each of the two has."""


def states(installation: Installation) -> dict[str, tuple[str, str]]:
    """Of each engine, its own state and that of its node."""
    rows = installation.look.execute(
        "SELECT e.name, e.state, n.state FROM engines e LEFT JOIN nodes n ON n.engine_id = e.id"
    )
    return {name: (engine, node) for name, engine, node in rows}


def engine_of(installation: Installation, session: SessionId) -> str:
    row = installation.look.execute(
        "SELECT n.engine_id FROM containers c JOIN nodes n ON n.id = c.node_id WHERE c.session_id = %s",
        (session,),
    ).fetchone()
    assert row is not None
    return str(row[0])


async def one_on_each(installation: Installation) -> tuple[FakeWorld, SessionId, SessionId]:
    """The world of the second engine, the session there, and the one on the first."""
    other = installation.add_engine("other")
    sessions = [await installation.create(cpu=FULL // 2 + 1) for _ in range(2)]
    await installation.settle()
    on = {engine_of(installation, session): session for session in sessions}
    return other, on["other"], on["local"]


def test_nodes_of_one_name_on_two_engines_are_two_nodes(play: Play) -> None:
    async def story(installation: Installation) -> None:
        _, there, here = await one_on_each(installation)
        assert installation.node_of(there) == installation.node_of(here) == "local"
        assert states(installation) == {"local": ("READY", "READY"), "other": ("READY", "READY")}

    play(story)


@TROUBLES
def test_while_one_engine_does_not_answer_the_other_launches_and_ends(play: Play, trouble: Trouble) -> None:
    async def story(installation: Installation) -> None:
        other, there, here = await one_on_each(installation)
        trouble(other)
        await installation.rounds(5, 30)
        assert states(installation) == {"local": ("READY", "READY"), "other": ("DOWN", "DOWN")}
        # 1. What runs on the one goes on, ends, and makes room for the next there.
        assert (installation.state(there), installation.state(here)) == (S.RUNNING, S.RUNNING)
        await installation.remove(here)
        await installation.until(here, S.TERMINATED)
        following = await installation.create(cpu=FULL)
        await installation.until(following, S.RUNNING)
        assert engine_of(installation, following) == "local"
        # 2. The other comes back with all that it had.
        other.come_back()
        await installation.settle()
        assert states(installation) == {"local": ("READY", "READY"), "other": ("READY", "READY")}
        assert installation.state(there) == S.RUNNING
        assert installation.causes(there).count("restarted") == 0

    play(story)


@TROUBLES
def test_an_hour_without_one_engine_makes_nothing_on_the_other_take_longer(
    play: Play, trouble: Trouble
) -> None:
    """Counted in rounds of all controllers, and in calls to the one that does not answer."""

    async def story(installation: Installation) -> None:
        other, there, here = await one_on_each(installation)
        await installation.remove(here)
        await installation.until(here, S.TERMINATED)
        usual = await _pace(installation)
        calls: list[str] = []
        other.before = calls.append
        trouble(other)
        await installation.rounds(60, 60)
        assert len(calls) <= 2 * 60
        # A step of an hour ago that still waits would take tens of rounds.
        assert await _pace(installation) <= usual + 3
        other.come_back()
        await installation.settle()
        assert installation.state(there) == S.RUNNING

    play(story)


async def _pace(installation: Installation) -> int:
    """The rounds in which three sessions start and end, one after another, on the first engine."""
    rounds = 0
    for _ in range(3):
        session = await installation.create(cpu=FULL)
        for state in (S.RUNNING, S.TERMINATED):
            while installation.state(session) != state:
                rounds += 1
                await installation.round()
            if state == S.RUNNING:
                assert engine_of(installation, session) == "local"
                await installation.remove(session)
    return rounds


@TROUBLES
def test_what_is_to_end_on_an_engine_that_does_not_answer_holds_up_no_other_end(
    play: Play, trouble: Trouble
) -> None:
    async def story(installation: Installation) -> None:
        other = installation.add_engine("other")
        small = [await installation.create(cpu=400) for _ in range(36)]
        await installation.settle()
        there = [session for session in small if engine_of(installation, session) == "other"]
        here = [session for session in small if engine_of(installation, session) == "local"]
        assert len(there) > 16, "more than are ended at once"
        trouble(other)
        for session in there + here:
            await installation.remove(session)
        for session in here:
            await installation.until(session, S.TERMINATED)
        assert {installation.state(session) for session in there} == {S.TERMINATING}
        other.come_back()
        await installation.settle()
        assert {installation.state(session) for session in there} == {S.TERMINATED}

    play(story)


def test_a_container_that_another_engine_has_by_now_is_removed_where_it_was(play: Play) -> None:
    async def story(installation: Installation) -> None:
        other, _, here = await one_on_each(installation)
        stale = installation.main_of(here)
        await FakeEngine(other).ensure(ContainerSpec(stale, "debian:12", {"cpu": 1}), lambda progress: None)
        await installation.settle()
        assert stale not in other.containers
        assert stale in installation.world.containers
        assert installation.state(here) == S.RUNNING

    play(story)


def test_a_stray_that_belongs_there_by_now_stays(play: Play) -> None:
    async def story(installation: Installation) -> None:
        _, _, here = await one_on_each(installation)
        container = installation.main_of(here)

        async def clean_up(plane: object) -> None:
            observe = plane.controllers[0]  # type: ignore[attr-defined]
            async with observe._tools.database.transaction() as tx:
                session = await tx.get_one(Session, here)
            engine = await observe._tools.engines.of(LOCAL_ENGINE)
            await observe._clean_up(LOCAL_ENGINE, engine, Findings(strays=[(session, container)]))

        await installation.act(clean_up)
        assert container in installation.world.containers

    play(story)


def test_an_engine_that_is_added_and_removed_while_we_lead_is_followed(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await installation.round()
        installation.add_engine("other")

        async def forget(plane: object) -> None:
            plane.controllers[0]._tools.engines.forget()  # type: ignore[attr-defined]

        await installation.act(forget)
        await installation.round()
        assert states(installation)["other"] == ("READY", "READY")
        installation.look.execute("DELETE FROM nodes WHERE engine_id = 'other'")
        installation.look.execute("DELETE FROM engines WHERE id = 'other'")
        await installation.act(forget)
        await installation.round()
        assert states(installation) == {"local": ("READY", "READY")}

    play(story)
