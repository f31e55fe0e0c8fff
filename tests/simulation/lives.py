"""The lives of a session that the simulation interrupts: what people do, what breaks, how it must end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from simulation.installation_life import Installation

from carrel.core.ids import SessionId
from carrel.engines.fake import FakeWorld
from carrel.engines.port import EngineError
from carrel.sessions.spec import ClusterRole
from carrel.tables.nodes import Draining
from carrel.tables.session_states import OnFailure, Result
from carrel.tables.session_states import SessionState as S

IMAGE = "debian:12"


@dataclass(frozen=True)
class Life:
    """prepare: what is wrong with the world. live: what happens, giving the session. ends: how it may end.

    late: how else it may end when a leader's last call reaches the engine after it was replaced. Nobody can
    call back a removal (of an attempt that failed) which is already under way. result: of a batch session; runs: how
    often its command may start. complete: none of its containers ends before a start.
    """

    live: Callable[[Installation], Awaitable[SessionId]]
    ends: frozenset[S]
    prepare: Callable[[FakeWorld], None] = lambda world: None
    late: frozenset[S] = frozenset()
    result: Result | None = None
    runs: int = 99
    complete: bool = True


async def _run(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE)
    await installation.until(session, S.RUNNING)
    return session


async def _run_and_end(installation: Installation) -> SessionId:
    session = await _run(installation)
    await installation.remove(session)
    return session


async def _cancel_while_waiting(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE)
    await installation.remove(session)
    return session


async def _cancel_while_pulling(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE)
    await installation.until(session, S.PREPARING, S.STARTING, S.RUNNING)
    await installation.remove(session)
    return session


async def _end_while_starting(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE)
    await installation.until(session, S.STARTING, S.RUNNING)
    await installation.remove(session, force=True)
    return session


async def _start(installation: Installation) -> SessionId:
    return await installation.create(IMAGE)


async def _engine_restarts(installation: Installation) -> SessionId:
    session = await _run(installation)
    installation.world.restart()
    await installation.round()
    return session


async def _out_of_memory(installation: Installation) -> SessionId:
    session = await _run(installation)
    installation.world.run_out_of_memory(installation.main_of(session))
    await installation.round()
    return session


async def _container_vanishes(installation: Installation) -> SessionId:
    session = await _run(installation)
    installation.world.vanish(installation.main_of(session))
    await installation.round()
    return session


async def _engine_away_while_starting(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE)
    await installation.until(session, S.PREPARING, S.STARTING, S.RUNNING)
    await installation.outage(2, 3)
    return session


async def _engine_away_while_ending(installation: Installation) -> SessionId:
    session = await _run(installation)
    installation.world.go_away()
    await installation.remove(session)
    await installation.rounds(2, 3)
    installation.world.come_back()
    return session


async def _force_while_the_engine_is_away(installation: Installation) -> SessionId:
    session = await _run(installation)
    installation.world.go_away()
    await installation.remove(session, force=True)
    assert installation.state(session) in CALLED_OFF
    await installation.rounds(2, 3)
    installation.world.come_back()
    await installation.until_gone(session)
    return session


async def _force_while_ending(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE, containers=3)
    await installation.until(session, S.RUNNING)
    await installation.remove(session)
    await installation.remove(session, force=True)
    assert installation.state(session) in CALLED_OFF
    await installation.until_gone(session)
    return session


async def _restart(installation: Installation) -> SessionId:
    session = await _run(installation)
    await installation.restart(session)
    await installation.until_restarted(session)
    return session


async def _restart_three(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE, containers=3)
    await installation.until(session, S.RUNNING)
    await installation.restart(session)
    await installation.until_restarted(session)
    return session


async def _restart_while_the_engine_is_away(installation: Installation) -> SessionId:
    session = await _run(installation)
    installation.world.go_away()
    await installation.restart(session)
    await installation.rounds(2, 3)
    installation.world.come_back()
    await installation.until_restarted(session)
    return session


async def _end_while_restarting(installation: Installation) -> SessionId:
    session = await _run(installation)
    await installation.restart(session)
    await installation.round()
    await installation.remove(session)
    return session


async def _lose_its_node(installation: Installation) -> SessionId:
    installation.set_group(on_node_loss="reschedule", node_loss_s=5)
    session = await _run(installation)
    lost = installation.node_of(session)
    there = installation.world.nodes
    installation.world.nodes = [node for node in there if node.name != lost]
    await installation.rounds(3, 4)
    installation.world.nodes = there
    return session


async def _move_off_its_node(installation: Installation) -> SessionId:
    session = await _run(installation)
    node = installation.node_of(session)
    if node is not None:
        await installation.drain(node, Draining.MOVE)
    return session


async def _leave_its_node_while_pulling(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE)
    await installation.until(session, S.PREPARING, S.STARTING, S.RUNNING)
    node = installation.node_of(session)
    if node is not None:
        await installation.drain(node, Draining.WAIT)
    return session


async def _gang_stops_and_ends(installation: Installation) -> SessionId:
    session = await installation.create(IMAGE, containers=3)
    await installation.until(session, S.RUNNING)
    own = installation.containers_of(session)
    if own[1] in installation.world.containers:
        installation.world.exit(own[1], 1)
    await installation.round()
    await installation.remove(session)
    return session


async def _gang_starts(installation: Installation) -> SessionId:
    return await installation.create(IMAGE, containers=3)


def _batch(*command: str, retries: int = 0) -> Callable[[Installation], Awaitable[SessionId]]:
    async def live(installation: Installation) -> SessionId:
        session = await installation.batch(*command, retries=retries)
        await installation.until(session)
        return session

    return live


def _cluster(
    *command: str, worker: tuple[str, ...], on_failure: OnFailure = OnFailure.END
) -> Callable[[Installation], Awaitable[SessionId]]:
    """A batch session with two workers."""

    async def live(installation: Installation) -> SessionId:
        session = await installation.cluster(
            ClusterRole(name="worker", count=2, command=worker),
            kind="batch",
            command=command,
            on_failure=on_failure,
        )
        await installation.until(session)
        return session

    return live


async def _stop_idle_members(installation: Installation) -> SessionId:
    session = await installation.cluster(
        ClusterRole(name="worker", command=("sleep", "2")), ClusterRole(name="idle")
    )
    await installation.until(session, S.RUNNING)
    await installation.rounds(3)
    own = installation.containers_of(session)
    if own[2] in installation.world.containers:
        installation.world.exit(own[2], 137)
    await installation.rounds(3)
    return session


async def _array(installation: Installation) -> SessionId:
    sessions = await installation.array("sleep", "3", count=3, max_parallel=1)
    for session in sessions:
        await installation.until(session)
        assert installation.result(session) == Result.SUCCESS
    return sessions[-1]


async def _end_array(installation: Installation) -> SessionId:
    sessions = await installation.array("sleep", "100000", count=3, max_parallel=2)
    await installation.until(sessions[0], S.RUNNING)
    await installation.remove(sessions[1], array=True)
    for session in sessions:
        await installation.until(session)
        assert installation.result(session) == Result.CANCELLED
    return sessions[-1]


async def _after_array(installation: Installation) -> SessionId:
    first = await installation.array("sleep", "3", count=3, max_parallel=2)
    second = await installation.array("sleep", "2", count=2, max_parallel=1, after=first[0])
    last = await installation.batch("sleep", "1", after_array=second[0])
    await installation.until(last)
    assert {installation.result(one) for one in (*first, *second)} == {Result.SUCCESS}
    return last


async def _after_failed_array(installation: Installation) -> SessionId:
    """Each item fails twice; what needs their success is cancelled, with all that needs it in turn."""
    first = await installation.array("sh", "-c", "sleep 1; exit 3", count=2, max_parallel=1, retries=1)
    second = await installation.array("true", count=2, max_parallel=1, after=first[0])
    alarm = await installation.batch("sleep", "1", after_array=first[0], condition="failed")
    last = await installation.batch("sleep", "1", after_array=second[0])
    for one in (alarm, last):
        await installation.until(one)
    assert {installation.result(one) for one in second} == {Result.CANCELLED}
    assert installation.result(alarm) == Result.SUCCESS
    return last


async def _after_ended_array(installation: Installation) -> SessionId:
    first = await installation.array("sleep", "100000", count=3, max_parallel=2)
    last = await installation.batch("sleep", "1", after_array=first[0], condition="ended")
    await installation.until(first[0], S.RUNNING)
    await installation.remove(first[1], array=True)
    await installation.until(last)
    return last


async def _array_loses_its_engine(installation: Installation) -> SessionId:
    sessions = await installation.array("sleep", "20", count=3, max_parallel=2)
    await installation.until(sessions[0], S.STARTING, S.RUNNING)
    await installation.outage(2, 3)
    for session in sessions:
        await installation.until(session)
        assert installation.result(session) == Result.SUCCESS
    return sessions[-1]


async def _run_on_schedule(installation: Installation) -> SessionId:
    schedule = await installation.schedule("sleep", "3", cron="* * * * *")
    while not installation.sessions_of(schedule):
        await installation.round(10)
    await installation.pause(schedule)
    sessions = installation.sessions_of(schedule)
    for session in sessions:
        await installation.until(session)
    return sessions[-1]


async def _cancel_batch(installation: Installation) -> SessionId:
    session = await installation.batch("sleep", "100000", retries=3)
    await installation.until(session, S.RUNNING)
    await installation.remove(session)
    return session


async def _batch_loses_its_engine(installation: Installation) -> SessionId:
    session = await installation.batch("sleep", "20")
    await installation.until(session, S.STARTING, S.RUNNING)
    await installation.outage(2, 3)
    await installation.until(session)
    return session


async def _drain_under_batch(installation: Installation) -> SessionId:
    session = await installation.batch("sleep", "20")
    await installation.until(session, S.STARTING, S.RUNNING)
    node = installation.node_of(session)
    if node is not None:
        await installation.drain(node, Draining.MOVE)
    await installation.until(session)
    return session


async def _lose_node_under_batch(installation: Installation) -> SessionId:
    installation.set_group(on_node_loss="reschedule", node_loss_s=5)
    session = await installation.batch("sleep", "100000")
    await installation.until(session, S.RUNNING)
    lost = installation.node_of(session)
    installation.world.nodes = [node for node in installation.world.nodes if node.name != lost]
    await installation.rounds(4, 4)
    return session


def _chain(*first: str, retries: int = 0) -> Callable[[Installation], Awaitable[SessionId]]:
    """Three sessions, each after the success of the one before; the last one is returned."""

    async def live(installation: Installation) -> SessionId:
        session = await installation.batch(*first, retries=retries)
        for _ in range(2):
            session = await installation.batch("sleep", "3", after=[session])
        await installation.until(session)
        return session

    return live


async def _cancel_the_first(installation: Installation) -> SessionId:
    first = await installation.batch("sleep", "100000")
    second = await installation.batch("true", after=[first])
    third = await installation.batch("true", after=[second])
    await installation.until(first, S.STARTING, S.RUNNING)
    await installation.remove(first)
    await installation.until(third)
    return third


def _two_nodes(world: FakeWorld) -> None:
    world.nodes = [replace(world.nodes[0], name=name) for name in ("left", "right")]


def _two_nodes_and_a_slow_pull(world: FakeWorld) -> None:
    _two_nodes(world)
    _slow_pull(world)


def _slow_pull(world: FakeWorld) -> None:
    world.pull_s = 8


def _no_such_image(world: FakeWorld) -> None:
    world.unknown_images.add(IMAGE)


def _failing(step: str, times: int) -> Callable[[FakeWorld], None]:
    def prepare(world: FakeWorld) -> None:
        error = EngineError("The disk is full.", retriable=True, code="disk_full")
        world.fail_next(step, error, times=times)

    return prepare


_FAILS = ("sh", "-c", "sleep 2; exit 3")
RUNS = frozenset({S.RUNNING})
ENDED = frozenset({S.TERMINATED})
CALLED_OFF = frozenset({S.CANCELLED, S.TERMINATED})
CANCELLED = frozenset({S.CANCELLED})
FAILED = frozenset({S.ERROR})

LIVES = {
    "runs and is ended": Life(_run_and_end, ENDED),
    "cancelled while it waits": Life(_cancel_while_waiting, CALLED_OFF),
    "cancelled while pulling": Life(_cancel_while_pulling, CALLED_OFF, _slow_pull),
    "ended while starting": Life(_end_while_starting, CALLED_OFF),
    "no such image": Life(_start, FAILED, _no_such_image),
    "fails once, then starts": Life(_start, RUNS, _failing("ensure.start", 1), late=FAILED),
    "fails until given up": Life(_start, FAILED, _failing("ensure.create", 99)),
    "engine restarts": Life(_engine_restarts, RUNS),
    "out of memory": Life(_out_of_memory, RUNS),
    "container vanishes": Life(_container_vanishes, FAILED),
    "engine away while starting": Life(_engine_away_while_starting, RUNS, _slow_pull),
    "engine away while ending": Life(_engine_away_while_ending, ENDED),
    "engine away, ended by force": Life(_force_while_the_engine_is_away, CALLED_OFF),
    "three containers, ended by force": Life(_force_while_ending, CALLED_OFF, _two_nodes),
    "restarted in place": Life(_restart, RUNS, late=FAILED),
    "three containers, restarted in place": Life(_restart_three, RUNS, _two_nodes, late=FAILED),
    "engine away while restarting": Life(_restart_while_the_engine_is_away, RUNS, late=FAILED),
    "ended while restarting": Life(_end_while_restarting, CALLED_OFF),
    "node lost": Life(_lose_its_node, RUNS, _two_nodes, late=FAILED),
    "moved off its node": Life(_move_off_its_node, RUNS, _two_nodes, late=FAILED),
    "three containers, one stops": Life(_gang_stops_and_ends, CALLED_OFF, _two_nodes),
    "three containers, one fails once": Life(_gang_starts, RUNS, _failing("ensure.start", 1), late=FAILED),
    "batch succeeds": Life(_batch("sleep", "3"), ENDED, result=Result.SUCCESS, runs=1),
    "array, one at a time": Life(_array, ENDED, result=Result.SUCCESS, runs=1),
    "array is ended": Life(_end_array, CALLED_OFF, result=Result.CANCELLED, runs=1),
    "recurring": Life(_run_on_schedule, ENDED, result=Result.SUCCESS, runs=1),
    "batch ends at once": Life(_batch("true"), ENDED, result=Result.SUCCESS, runs=1),
    "batch fails": Life(_batch("sh", "-c", "sleep 3; exit 3"), ENDED, result=Result.FAILURE, runs=1),
    "batch fails twice": Life(
        _batch("sh", "-c", "sleep 3; exit 3", retries=1), ENDED, result=Result.FAILURE, runs=2
    ),
    "batch is cancelled": Life(_cancel_batch, CALLED_OFF, result=Result.CANCELLED, runs=1),
    "batch, engine away": Life(_batch_loses_its_engine, ENDED, result=Result.SUCCESS, runs=1),
    "batch, node emptied": Life(_drain_under_batch, ENDED, _two_nodes, result=Result.SUCCESS, runs=1),
    "batch, node lost": Life(_lose_node_under_batch, FAILED, _two_nodes, result=Result.FAILURE, runs=1),
    "cluster of a batch": Life(
        _cluster("sleep", "5", worker=("sleep", "2")), ENDED, _two_nodes, result=Result.SUCCESS, runs=1
    ),
    "cluster, a worker fails": Life(
        _cluster("sleep", "100000", worker=_FAILS), ENDED, _two_nodes, result=Result.FAILURE, runs=1
    ),
    "cluster, a worker may fail": Life(
        _cluster("sleep", "9", worker=_FAILS, on_failure=OnFailure.CONTINUE),
        ENDED,
        _two_nodes,
        result=Result.SUCCESS,
        runs=1,
    ),
    "cluster, one idles and stops": Life(_stop_idle_members, RUNS, _two_nodes, complete=False),
    "node emptied while pulling": Life(
        _leave_its_node_while_pulling, RUNS, _two_nodes_and_a_slow_pull, late=FAILED
    ),
    "chain succeeds": Life(_chain("sleep", "3"), ENDED, result=Result.SUCCESS, runs=1),
    "chain, first fails": Life(_chain("sh", "-c", "exit 3"), CANCELLED, result=Result.CANCELLED, runs=1),
    "chain, first fails twice": Life(
        _chain("sh", "-c", "exit 3", retries=1), CANCELLED, result=Result.CANCELLED, runs=2
    ),
    "chain, first is cancelled": Life(_cancel_the_first, CANCELLED, result=Result.CANCELLED, runs=1),
    "array, engine away": Life(_array_loses_its_engine, ENDED, result=Result.SUCCESS, runs=1),
    "after arrays": Life(_after_array, ENDED, result=Result.SUCCESS, runs=1),
    "after an array, which fails": Life(_after_failed_array, CANCELLED, result=Result.CANCELLED, runs=2),
    "after an array, which is ended": Life(_after_ended_array, ENDED, result=Result.SUCCESS, runs=1),
}
