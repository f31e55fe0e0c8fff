"""CPU and memory of running sessions change, in virtual time: the ledger is never below what the engine allows."""

import sys

import pytest
from simulation.conftest import Play
from simulation.control_planes import ControlPlane, Fate
from simulation.installation_life import Installation

from carrel.core.errors import CarrelError
from carrel.core.ids import SessionId
from carrel.engines.port import EngineError, EngineUnavailable
from carrel.queue import resize_requests
from carrel.tables.session_states import SessionState as S

GIB = 1 << 30


async def resize(installation: Installation, session: SessionId, **slots: int) -> None:
    async def request(plane: ControlPlane) -> None:
        async with plane.database.transaction() as tx:
            await resize_requests.request(tx, installation.clock, installation.actor, session, None, slots)

    installation.requests += 1
    await installation.act(request)


def held(installation: Installation, session: SessionId) -> dict[str, int]:
    rows = installation.look.execute(
        "SELECT slot, amount FROM allocations WHERE session_id = %s AND released_at IS NULL", (session,)
    )
    return dict(rows.fetchall())


def notes(installation: Installation, session: SessionId) -> list[tuple[str, str]]:
    rows = installation.look.execute(
        "SELECT cause, reason FROM session_history WHERE session_id = %s AND cause LIKE 'resize%%' ORDER BY id",
        (session,),
    )
    return rows.fetchall()


def limits(installation: Installation, session: SessionId) -> dict[str, int]:
    return dict(installation.world.containers[installation.main_of(session)].spec.slots)


async def sized(installation: Installation, cpu: int = 1000, mem: int = 4 * GIB) -> SessionId:
    session = await installation.create(cpu=cpu, more={"mem": mem})
    await installation.settle()
    return session


def test_cpu_and_memory_change_while_it_runs(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await sized(installation)
        starts = dict(installation.world.starts)
        await resize(installation, session, cpu=3000, mem=2 * GIB)
        await installation.settle()
        new = {"cpu": 3000, "mem": 2 * GIB}
        assert limits(installation, session) == held(installation, session) == new
        [(slots, mixed)] = installation.look.execute(
            "SELECT slots, mixed FROM sessions WHERE id = %s", (session,)
        ).fetchall()
        assert (slots, mixed) == (new, False)
        assert notes(installation, session) == [("resized", "It has 3 CPU, 2 GiB now.")]
        assert dict(installation.world.starts) == starts
        # What was held when is still known.
        rows = installation.look.execute(
            "SELECT slot, amount, released_at IS NULL FROM allocations WHERE session_id = %s ORDER BY id",
            (session,),
        ).fetchall()
        assert ("cpu", 1000, False) in rows
        assert ("mem", 4 * GIB, False) in rows
        assert len(rows) == 4
        # A restart in place has the new amounts.
        await installation.restart(session)
        await installation.until_restarted(session)
        assert limits(installation, session) == held(installation, session) == new

    play(story)


def test_no_more_than_the_node_has_and_the_limits_allow(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, other = await sized(installation), await sized(installation, cpu=5000)
        with pytest.raises(CarrelError) as refused:
            await resize(installation, session, cpu=3001)
        assert (refused.value.code, held(installation, session)["cpu"]) == ("session.no_room_to_grow", 1000)
        await resize(installation, session, cpu=3000)
        await installation.settle()
        assert held(installation, session)["cpu"] == 3000
        installation.look.execute("""UPDATE projects SET ceilings = '{"cpu": 8000, "sessions": 2}'""")
        try:
            await resize(installation, other, cpu=2000)
            await installation.settle()
            await resize(installation, other, cpu=5000)
            await installation.settle()
            with pytest.raises(CarrelError) as refused:
                await resize(installation, other, cpu=5001)
            assert refused.value.message.startswith("Project default may use 8 CPU")
        finally:
            installation.look.execute("UPDATE projects SET ceilings = '{}'")

    play(story)


def test_whose_room_is_taken_before_the_leader_sees_it_stays_as_it_is(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session, other = await sized(installation), await sized(installation)
        await resize(installation, session, cpu=7000)
        await resize(installation, other, cpu=7000)
        await installation.settle()
        assert sorted(held(installation, one)["cpu"] for one in (session, other)) == [1000, 7000]
        assert {limits(installation, one)["cpu"] for one in (session, other)} == {1000, 7000}
        causes = [notes(installation, one)[0][0] for one in (session, other)]
        assert sorted(causes) == ["resize_refused", "resized"]

    play(story)


def test_less_memory_than_it_uses_is_refused(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await sized(installation)
        container = installation.world.containers[installation.main_of(session)]
        container.mem_bytes = 3 * GIB
        # Not measured yet: the engine refuses, and everything is as before.
        await resize(installation, session, cpu=2000, mem=2 * GIB)
        await installation.settle()
        old = {"cpu": 1000, "mem": 4 * GIB}
        assert limits(installation, session) == held(installation, session) == old
        [(cause, reason)] = notes(installation, session)
        assert cause == "resize_refused"
        assert reason.endswith("It uses 3 GiB of memory, more than it would have.")
        await installation.rounds(3, 10)
        with pytest.raises(CarrelError) as refused:
            await resize(installation, session, mem=2 * GIB)
        assert refused.value.code == "session.memory_in_use"

    play(story)


def test_an_engine_that_is_away_delays_a_change_and_refuses_nothing(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await sized(installation)
        unreachable = EngineUnavailable("No response.")
        installation.world.fail_next("set_limits", unreachable)
        await resize(installation, session, cpu=3000)
        await installation.settle()
        await installation.rounds(3, 10)
        assert limits(installation, session)["cpu"] == held(installation, session)["cpu"] == 3000
        assert [cause for cause, _ in notes(installation, session)] == ["resized"]

    play(story)


def test_the_ledger_keeps_what_an_engine_may_still_allow(play: Play) -> None:
    """It fails to change the limits, and then to restore them: which it has is unknown."""

    async def story(installation: Installation) -> None:
        session = await sized(installation)
        error = EngineError("No.", retriable=False, code="limits_refused")
        installation.world.fail_next("set_limits", error, times=2)
        await resize(installation, session, cpu=3000, mem=2 * GIB)
        await installation.settle()
        assert held(installation, session) == {"cpu": 3000, "mem": 4 * GIB}
        assert [cause for cause, _ in notes(installation, session)] == ["resize_refused"]

    play(story)


def test_a_node_without_the_capability_refuses(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await sized(installation)
        installation.look.execute("UPDATE nodes SET capabilities = '[]'")
        with pytest.raises(CarrelError) as refused:
            await resize(installation, session, cpu=2000)
        assert refused.value.code == "session.cannot_resize"

    play(story)


class InResize(Fate):
    """Counts only points that the controller passes; at each, the ledger covers what the engine allows."""

    def __init__(self, kill_at: int, installation: Installation, session: SessionId) -> None:
        super().__init__(kill_at=kill_at)
        self.installation, self.session = installation, session

    def point(self, name: str) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and not frame.f_code.co_filename.endswith("controllers/resize.py"):
            frame = frame.f_back
        if frame.f_back is not None:
            ledger, allowed = (look(self.installation, self.session) for look in (held, limits))
            assert all(ledger[slot] >= amount for slot, amount in allowed.items()), (name, ledger, allowed)
            super().point(name)


@pytest.mark.parametrize("refused", [False, True])
def test_a_leader_killed_anywhere_in_it_leaves_no_difference_behind(play: Play, refused: bool) -> None:
    async def story(installation: Installation) -> None:
        session = await sized(installation)
        sizes = [{"cpu": 3000, "mem": 2 * GIB}, {"cpu": 1000, "mem": 4 * GIB}]
        for kill_at in range(1, 30):
            await installation.close()
            installation._plane = None
            fate = InResize(kill_at, installation, session)
            installation.world.forgive()
            before = held(installation, session)
            [new] = [size for size in sizes if size != before]
            await resize(installation, session, **new)
            installation._fates.append(fate)
            await installation.close()
            installation._plane = None
            if refused:
                error = EngineError("No.", retriable=False, code="limits_refused")
                installation.world.fail_next("set_limits", error)
            await installation.rounds(2)
            await installation.settle()
            assert limits(installation, session) == held(installation, session)
            assert refused or held(installation, session) == new
            assert held(installation, session) in (before, new)
            assert installation.state(session) == S.RUNNING
            if not fate.struck.is_set():
                assert kill_at > 8
                return
        raise AssertionError("there is no end of its points")

    play(story)
