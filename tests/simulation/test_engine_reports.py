"""What engines report about containers, in the histories of their sessions, in virtual time."""

from dataclasses import replace
from typing import LiteralString

from simulation.conftest import Play
from simulation.installation_life import Installation

from carrel.controllers.failed_starts import MAX_ATTEMPTS
from carrel.core.ids import SessionId
from carrel.engines.port import EngineError, QuotaExhausted
from carrel.tables.session_states import SessionState as S

_ADDING = "The cluster's autoscaler is adding a machine for it."
_AWAY = "Its node is not ready in the cluster."
_FULL = "The quota lab of the namespace is exhausted: pods=1 requested, pods=4 used, pods=4 at most."


def reported(installation: Installation, session: SessionId) -> list[str]:
    """The noted reports, in order."""
    query: LiteralString = (
        "SELECT reason FROM session_history WHERE session_id = %s AND cause = 'engine_event' ORDER BY id"
    )
    return [str(row[0]) for row in installation.look.execute(query, (session,))]


def reason(installation: Installation, session: SessionId) -> str:
    row = installation.look.execute("SELECT reason FROM sessions WHERE id = %s", (session,)).fetchone()
    assert row is not None
    return str(row[0])


def test_what_the_engine_reports_about_a_start_is_noted_once(play: Play) -> None:
    async def story(installation: Installation) -> None:
        world = installation.world
        world.start_events = [_ADDING]
        world.fail_next("ensure.start", EngineError("The machine is busy.", retriable=True), times=2)
        session = await installation.create()
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.causes(session).count("retry") == 2
        assert reported(installation, session) == [_ADDING]

    play(story)


def test_reports_that_differ_each_time_do_not_flood_the_history(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, _ = await installation.running()
        main = installation.main_of(session)
        installation.world.reports[main] = [f"The cluster reports X: run-{number}." for number in range(40)]
        del installation.world.containers[main]
        await installation.settle()
        assert reported(installation, session) == installation.world.reports[main][:10]

    play(story)


def test_a_session_whose_container_disappeared_says_what_the_engine_reports(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, _ = await installation.running()
        main = installation.main_of(session)
        installation.world.reports[main] = ["It was evicted from its node: memory."]
        del installation.world.containers[main]
        await installation.settle()
        assert installation.state(session) == S.ERROR
        assert reported(installation, session) == ["It was evicted from its node: memory."]
        assert reason(installation, session) == (
            "Its container disappeared from the engine. It was evicted from its node: memory."
        )

    play(story)


def test_an_engine_that_cannot_report_ends_what_disappeared_all_the_same(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, _ = await installation.running()
        installation.world.fail_next("reports", EngineError("Forbidden.", retriable=False), times=100)
        del installation.world.containers[installation.main_of(session)]
        await installation.settle()
        assert installation.state(session) == S.ERROR
        assert reason(installation, session) == "Its container disappeared from the engine."

    play(story)


def test_a_report_that_comes_while_a_node_is_away_is_noted_once(play: Play) -> None:
    async def story(installation: Installation) -> None:
        world = installation.world
        there = world.nodes = [replace(world.nodes[0], name=name) for name in ("left", "right")]
        installation.set_group(on_node_loss="end", node_loss_s=3600)
        session, _ = await installation.running()
        calls: list[str] = []
        world.before = lambda step: calls.append(step) if step == "reports" else None
        world.nodes = [one for one in world.nodes if one.name != installation.node_of(session)]
        await installation.rounds(3, 12)
        world.reports[installation.main_of(session)] = [_AWAY]
        await installation.rounds(20, 12)
        assert reported(installation, session) == [_AWAY]
        assert installation.state(session) == S.RUNNING
        assert len(calls) <= 6, "once a minute"
        world.nodes = there
        await installation.settle()

    play(story)


def test_a_session_that_a_quota_refuses_waits_until_it_is_free(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.world.fail_next("ensure.create", QuotaExhausted(_FULL), times=MAX_ATTEMPTS + 3)
        session = await installation.create()
        await installation.rounds(4)
        assert installation.state(session) == S.PENDING
        await installation.rounds(20, 120)
        assert installation.state(session) == S.RUNNING
        causes = installation.causes(session)
        assert causes.count("quota_exhausted") == MAX_ATTEMPTS + 3
        row = installation.look.execute(
            "SELECT avoided_nodes FROM sessions WHERE id = %s", (session,)
        ).fetchone()
        assert row == ([],)

    play(story)
