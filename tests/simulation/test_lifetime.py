"""Sessions that may run, or wait, for so long only, in virtual time."""

from simulation.conftest import Play
from simulation.installation_life import Installation
from simulation.test_idle_sessions import act
from simulation.virtual_time import LoopClock

from carrel.sessions import repeating
from carrel.tables.nodes import Draining
from carrel.tables.session_states import SessionState as S


def test_a_session_ends_when_its_time_limit_is_reached_and_not_before(play: Play) -> None:
    async def story(installation: Installation) -> None:
        limited, free = await installation.create(cpu=100), await installation.create(cpu=100)
        installation.look.execute("UPDATE sessions SET time_limit_s = 600 WHERE id = %s", (limited,))
        await installation.settle()
        await installation.rounds(5, 100)
        assert installation.state(limited) == S.RUNNING
        await installation.round(120)
        await installation.settle()
        assert (installation.state(limited), installation.state(free)) == (S.TERMINATED, S.RUNNING)
        [row] = installation.look.execute("SELECT reason FROM sessions WHERE id = %s", (limited,)).fetchall()
        assert row == ("It reached its time limit of 0:10:00.",)
        [held] = installation.look.execute(
            "SELECT count(*) FROM allocations WHERE session_id = %s AND released_at IS NULL", (limited,)
        ).fetchall()
        assert held == (0,)

    play(story)


def test_a_session_is_warned_once_before_its_time_limit_and_again_after_it_was_extended(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, short = await installation.create(cpu=100), await installation.create(cpu=100)
        look = installation.look
        look.execute("UPDATE sessions SET time_limit_s = 3600 WHERE id = %s", (session,))
        look.execute("UPDATE sessions SET time_limit_s = 60 WHERE id = %s", (short,))
        await installation.settle()

        def announced() -> bool:
            [(at,)] = look.execute("SELECT limit_ends_at FROM sessions WHERE id = %s", (session,))
            return at is not None

        def warnings() -> list[tuple[str, str | None]]:
            return look.execute(
                "SELECT session_id, reason FROM session_history WHERE cause = 'time_limit_warning' ORDER BY id"
            ).fetchall()

        await installation.rounds(31, 100)
        assert not announced()
        await installation.rounds(3, 100)
        assert announced()
        [(warned, reason)] = warnings()
        assert warned == session
        assert str(reason).startswith("It reaches its time limit of 1:00:00 in ")
        await act(
            installation,
            lambda tx: repeating.extend(tx, LoopClock(), installation.actor, session, 7200),
        )
        assert not announced()
        await installation.rounds(34, 100)
        assert (installation.state(session), announced(), len(warnings())) == (S.RUNNING, True, 2)
        await installation.rounds(8, 100)
        await installation.settle()
        assert installation.state(session) == S.TERMINATED

    play(story)


def test_restarts_and_moves_do_not_stretch_a_time_limit(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.create(cpu=100)
        look = installation.look
        look.execute("UPDATE sessions SET time_limit_s = 3600 WHERE id = %s", (session,))
        await installation.settle()
        await installation.rounds(9, 100)
        await installation.restart(session)
        await installation.until_restarted(session)
        await installation.rounds(9, 100)
        await installation.drain("local", Draining.MOVE)
        await installation.until(session, S.PENDING)
        # Time in the queue does not count.
        await installation.rounds(5, 100)
        look.execute("UPDATE nodes SET draining = NULL, cordoned = false")
        await installation.settle()
        await installation.rounds(9, 100)
        assert installation.causes(session).count("time_limit_warning") == 0
        await installation.rounds(7, 100)
        assert (installation.state(session), installation.causes(session)[-1]) == (
            S.RUNNING,
            "time_limit_warning",
        )
        await installation.rounds(4, 100)
        await installation.settle()
        assert installation.state(session) == S.TERMINATED
        [(reason,)] = look.execute("SELECT reason FROM sessions WHERE id = %s", (session,))
        assert reason == "It reached its time limit of 1:00:00."

    play(story)


def test_each_attempt_of_a_batch_session_has_all_of_its_time_limit(play: Play) -> None:
    async def story(installation: Installation) -> None:
        retried = await installation.batch("sh", "-c", "sleep 500; exit 3", retries=1)
        installation.look.execute("UPDATE sessions SET time_limit_s = 600 WHERE id = %s", (retried,))
        await installation.settle()
        await installation.rounds(12, 100)
        await installation.until(retried)
        causes = installation.causes(retried)
        assert (installation.result(retried), causes.count("started"), "time_limit" in causes) == (
            "failure",
            2,
            False,
        )

    play(story)


def test_who_waits_anew_after_having_run_has_all_of_the_time_to_wait_again(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.set_group(pending_timeout_s=300)
        session = await installation.create()
        await installation.settle()
        await installation.round(1000)
        # There is no other node: it waits until this one is open again.
        await installation.drain("local", Draining.MOVE)
        await installation.rounds(8, 20)
        assert installation.state(session) == S.PENDING
        await installation.rounds(3, 100)
        assert installation.state(session) == S.CANCELLED

    play(story)


def test_who_waits_longer_than_the_group_lets_is_cancelled(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.set_group(pending_timeout_s=300)
        runs = await installation.create(cpu=8000)
        await installation.settle()
        waits = await installation.create(cpu=8000)
        await installation.rounds(2, 200)
        assert installation.state(waits) == S.PENDING
        await installation.round(1)
        assert (installation.state(waits), installation.state(runs)) == (S.CANCELLED, S.RUNNING)

    play(story)


def test_the_time_to_wait_begins_when_those_before_have_ended(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.set_group(pending_timeout_s=300)
        first = await installation.batch("sleep", "840")
        await installation.settle()
        waits = await installation.batch("true", after=[first])
        await installation.rounds(4, 200)
        assert installation.state(waits) == S.PENDING
        # It could start now, but there is no room.
        await installation.drain("local", Draining.WAIT)
        await installation.until(first)
        await installation.rounds(3, 80)
        assert installation.state(waits) == S.PENDING
        await installation.rounds(2, 80)
        assert installation.state(waits) == S.CANCELLED

    play(story)
