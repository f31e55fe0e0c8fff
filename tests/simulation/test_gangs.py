"""Sessions of several containers: placed all or none, running when all are up, ended as one."""

from dataclasses import replace
from typing import Any

import pytest
from simulation.conftest import Play
from simulation.installation_life import Installation

from carrel.engines.fake import FakeWorld
from carrel.engines.port import EngineError, ObservedState
from carrel.sessions.spec import ClusterRole
from carrel.tables.session_states import Result
from carrel.tables.session_states import SessionState as S


def of_nodes(world: FakeWorld, *cpus: int) -> None:
    """Nodes with so many millicores."""
    first = world.nodes[0]
    world.nodes = [
        replace(first, name=f"node{number}", slots={**first.slots, "cpu": cpu})
        for number, cpu in enumerate(cpus)
    ]


def rows(installation: Installation, columns: str) -> list[Any]:
    """Of all containers, in the order of their sessions' age."""
    return installation.look.execute(
        f"SELECT {columns} FROM containers c JOIN sessions s ON s.id = c.session_id"
        " LEFT JOIN nodes n ON n.id = c.node_id ORDER BY s.created_at, c.index"
    ).fetchall()


def test_all_containers_are_placed_or_none(play: Play) -> None:
    async def story(installation: Installation) -> None:
        of_nodes(installation.world, 4000, 2000)
        session = await installation.create(cpu=2000, containers=3)
        await installation.settle()
        assert sorted(rows(installation, "n.name, c.state")) == [
            ("node0", "RUNNING"),
            ("node0", "RUNNING"),
            ("node1", "RUNNING"),
        ]
        await installation.remove(session)
        await installation.settle()
        single = await installation.create(cpu=2000)
        await installation.settle()
        waits = await installation.create(cpu=2000, containers=3)
        await installation.settle(queue=True)
        assert installation.state(waits) == S.PENDING
        assert rows(installation, "c.state")[-3:] == [("PENDING",)] * 3
        await installation.remove(single)
        await installation.until(waits, S.RUNNING)
        assert installation.state(waits) == S.RUNNING

    play(story)


def test_nobody_runs_before_all_are_up(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.create(containers=2)
        away = EngineError("The machine is busy.", retriable=True)
        installation.world.fail_next("ensure.start", away)
        seen = set()
        for _ in range(12):
            await installation.round(0.2)
            states = {one.state for one in installation.seen()}
            seen.add((installation.state(session) == S.RUNNING, states == {ObservedState.RUNNING}))
        await installation.settle()
        assert (True, False) not in seen
        assert installation.state(session) == S.RUNNING
        assert "retry" in installation.causes(session)

    play(story)


def test_one_that_cannot_start_takes_the_others_back_and_only_its_node_is_avoided(play: Play) -> None:
    async def story(installation: Installation) -> None:
        of_nodes(installation.world, 1000, 1000)
        session = await installation.create(cpu=1000, containers=2)
        installation.world.fail_next("ensure.create", EngineError("The disk is full.", retriable=True))
        for _ in range(40):
            if "retry" in installation.causes(session):
                break
            await installation.round(0.1)
        assert installation.state(session) == S.PENDING
        assert not installation.seen()
        [(avoided,)] = installation.look.execute("SELECT avoided_nodes FROM sessions").fetchall()
        assert len(avoided) == 1
        await installation.settle()
        assert installation.state(session) == S.RUNNING

    play(story)


def test_a_batch_cluster_that_cannot_start_is_tried_again_since_no_command_has_begun(play: Play) -> None:
    async def story(installation: Installation) -> None:
        failure = EngineError("The disk is full.", retriable=True)
        installation.world.fail_next("ensure.start", failure)
        worker = ClusterRole(name="worker", count=2, command=("sleep", "2"))
        session = await installation.cluster(worker, kind="batch", command=("sleep", "4"))
        await installation.until(session)
        await installation.settle()
        assert installation.causes(session).count("retry") == 1
        assert installation.result(session) == Result.SUCCESS
        opened = [spec.network.host for spec, _ in installation.world.opened if spec.network]
        assert sorted(opened) == ["main1", "worker1", "worker2"]

    play(story)


def test_one_that_fails_names_itself_and_its_exit_code(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.cluster(
            ClusterRole(name="worker", count=2, command=("sh", "-c", "exit 7"))
        )
        await installation.until(session, S.ERROR)
        [(reason,)] = installation.look.execute("SELECT reason FROM sessions").fetchall()
        assert reason == "The command of worker1 failed with exit code 7."

    play(story)


def test_a_session_that_accepts_failures_goes_on_with_a_warning(play: Play) -> None:
    async def story(installation: Installation) -> None:
        failing = ClusterRole(name="worker", count=2, command=("sh", "-c", "exit 7"))
        session = await installation.cluster(failing, on_failure="continue")
        await installation.until(session, S.RUNNING)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert rows(installation, "c.host, c.state, c.exit_code") == [
            ("main1", "RUNNING", None),
            ("worker1", "EXITED", 7),
            ("worker2", "EXITED", 7),
        ]
        [(warnings,)] = installation.look.execute("SELECT warnings FROM sessions").fetchall()
        assert warnings == ["container_failed"]

    play(story)


def test_together_means_one_node_and_containers_may_differ(play: Play) -> None:
    async def story(installation: Installation) -> None:
        of_nodes(installation.world, 3000, 3100, 3000)
        large = ClusterRole(name="ps", slots={"cpu": 3000, "mem": 1 << 30})
        await installation.settle()
        await installation.cluster(large, placement="together")
        await installation.settle()
        assert rows(installation, "c.host, n.name, c.slots ->> 'cpu'") == [
            ("main1", "node1", "100"),
            ("ps1", "node1", "3000"),
        ]

    play(story)


@pytest.mark.parametrize("which", [0, 1])
def test_one_that_stops_is_started_again_and_the_other_goes_on(play: Play, which: int) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.create(containers=2)
        await installation.settle()
        both = [installation.world.containers[one] for one in installation.containers_of(session)]
        installation.world.exit(both[which].spec.id, 137)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert [one.starts for one in both] == [2 if number == which else 1 for number in range(2)]
        assert installation.causes(session)[-2:] == ["restarted", "started"]

    play(story)


@pytest.mark.parametrize("which", [0, 1])
def test_one_that_is_lost_ends_all(play: Play, which: int) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.create(containers=2)
        await installation.settle()
        installation.world.vanish(installation.containers_of(session)[which])
        await installation.settle()
        assert installation.state(session) == S.ERROR
        assert not installation.seen()

    play(story)


def test_what_of_it_is_gone_gives_back_its_slots_while_the_rest_cannot_be_removed(play: Play) -> None:
    async def story(installation: Installation) -> None:
        session = await installation.create(cpu=1000, containers=2)
        await installation.settle()
        installation.world.fail_next("remove.delete", EngineError("No.", retriable=True))
        await installation.remove(session)
        await installation.round(0.5)
        assert installation.state(session) == S.TERMINATING
        assert sorted(rows(installation, "c.state")) == [("GONE",), ("RUNNING",)]
        held = installation.look.execute(
            "SELECT sum(amount) FROM allocations WHERE released_at IS NULL AND slot = 'cpu'"
        ).fetchone()
        assert held == (1000,)
        await installation.settle()
        assert installation.state(session) == S.TERMINATED

    play(story)


def test_a_session_moves_off_a_lost_node_with_all_its_containers(play: Play) -> None:
    async def story(installation: Installation) -> None:
        of_nodes(installation.world, 1000, 1000, 2000)
        installation.set_group(on_node_loss="reschedule", node_loss_s=5)
        session = await installation.create(cpu=1000, containers=2)
        await installation.settle()
        before = {name for (name,) in rows(installation, "n.name")}
        lost = sorted(before)[0]
        installation.world.nodes = [node for node in installation.world.nodes if node.name != lost]
        await installation.rounds(4, 4)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert lost not in {name for (name,) in rows(installation, "n.name")}
        assert len(installation.seen()) == 2

    play(story)
