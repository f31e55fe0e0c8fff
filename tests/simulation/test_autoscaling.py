"""Groups whose machines the cluster adds and removes: it chooses the nodes, and the group's limit holds."""

import re
from dataclasses import replace

from simulation.conftest import Play
from simulation.installation_life import Installation

from carrel.core.ids import SessionId
from carrel.engines.optional import NETWORK_POLICY
from carrel.engines.port import ELASTIC, NodeInfo
from carrel.nodes.groups.schemas import GroupUpdate
from carrel.tables.nodes import Draining
from carrel.tables.session_states import SessionState as S

LIMIT = {"cpu": 4000, "mem": 64 << 30}


def machine(name: str) -> NodeInfo:
    capabilities = frozenset({"fake", ELASTIC})
    return NodeInfo(
        name, "x86_64", {"cpu": 2000, "mem": 32 << 30}, "Fake 1", capabilities, labels={"pool": "burst"}
    )


def reason(installation: Installation, session: SessionId) -> str:
    row = installation.look.execute("SELECT reason FROM sessions WHERE id = %s", (session,)).fetchone()
    assert row is not None
    return str(row[0])


def held(installation: Installation, node: str) -> int:
    """CPU that is held of a node, as administrators see it."""
    row = installation.look.execute(
        "SELECT coalesce(sum(a.amount), 0) FROM allocations a JOIN containers c ON c.id = a.container_id"
        " JOIN nodes n ON n.id = a.node_id OR n.id = c.node_id"
        " WHERE a.released_at IS NULL AND a.slot = 'cpu' AND n.name = %s",
        (node,),
    ).fetchone()
    assert row is not None
    return int(row[0])


async def empty_cluster(installation: Installation, *, wait_s: int = 900) -> None:
    installation.world.nodes = [replace(machine("system"), labels={})]
    await installation.round(6)
    await installation.make_elastic(LIMIT, wait_s=wait_s)


def test_a_session_waits_until_the_cluster_has_added_a_machine_and_is_on_it(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await empty_cluster(installation)
        session = await installation.create()
        await installation.rounds(5, 12)
        assert installation.state(session) == S.PREPARING
        assert reason(installation, session) == (
            "A machine is being added; how long that takes is not known yet. No node has the labels and room."
        )
        assert held(installation, "elastic group default") == 1000
        installation.world.nodes.append(machine("burst-1"))
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.node_of(session) == "burst-1"
        # Of the limit as well as of the machine.
        assert held(installation, "elastic group default") == held(installation, "burst-1") == 1000
        second = await installation.create(cpu=2000)
        await installation.rounds(3, 12)
        assert re.match(
            r"A machine is being added; that took 1(\.\d)? min the last time\. ", reason(installation, second)
        )
        for one in (session, second):
            await installation.remove(one)
        await installation.settle()
        assert held(installation, "elastic group default") == held(installation, "burst-1") == 0
        assert not installation.world.containers

    play(story)


def test_a_start_that_gets_no_machine_in_time_returns_to_the_queue_and_fails_in_the_end(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await empty_cluster(installation, wait_s=120)
        session = await installation.create()
        await installation.rounds(12, 12)
        assert installation.state(session) == S.PENDING
        assert reason(installation, session) == (
            "No machine was added within 2 min. No node has the labels and room."
        )
        assert held(installation, "elastic group default") == 0
        await installation.settle()
        assert installation.state(session) == S.ERROR
        assert reason(installation, session).startswith("No machine was added within 2 min.")
        assert installation.causes(session).count("retry") == 3
        assert held(installation, "elastic group default") == 0

    play(story)


def test_the_limit_of_the_group_holds_whatever_its_machines_could_take(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await empty_cluster(installation)
        installation.world.nodes += [machine(f"burst-{number}") for number in range(3)]
        running = [await installation.create(cpu=2000) for _ in range(2)]
        await installation.settle()
        waiting = await installation.create(cpu=1000)
        await installation.rounds(3)
        assert {installation.state(one) for one in running} == {S.RUNNING}
        assert installation.state(waiting) == S.PENDING
        assert reason(installation, waiting) == (
            "The limit of its elastic group is reached: it needs 1 CPU, 0 CPU free."
        )
        await installation.remove(running[0])
        await installation.settle()
        assert installation.state(waiting) == S.RUNNING

    play(story)


def test_a_session_whose_machine_the_cluster_removes_starts_on_another_by_the_rule_of_lost_nodes(
    play: Play,
) -> None:
    async def story(installation: Installation) -> None:
        await empty_cluster(installation)
        installation.set_group(on_node_loss="reschedule", node_loss_s=60)
        installation.world.nodes.append(machine("spot-1"))
        session = await installation.create()
        await installation.settle()
        system = installation.world.nodes[0]
        installation.world.nodes = [system]
        await installation.rounds(8, 12)
        assert "node_lost" in installation.causes(session)
        installation.world.nodes = [system, machine("spot-2")]
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.node_of(session) == "spot-2"
        # The machine that the cluster removed is no longer listed.
        gone = installation.look.execute("SELECT forgotten_at FROM nodes WHERE name = 'spot-1'").fetchone()
        assert gone is not None
        assert gone[0] is not None

    play(story)


def test_several_containers_wait_for_machines_together(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await empty_cluster(installation)
        installation.world.nodes.append(machine("burst-1"))
        session = await installation.create(cpu=2000, containers=2)
        await installation.rounds(3, 12)
        assert installation.state(session) == S.PREPARING
        assert held(installation, "burst-1") == 2000
        installation.world.nodes.append(machine("burst-2"))
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert held(installation, "elastic group default") == 4000
        assert held(installation, "burst-2") == 2000

    play(story)


def test_a_command_that_waited_for_a_machine_runs_elsewhere_when_its_group_is_no_longer_elastic(
    play: Play,
) -> None:
    async def story(installation: Installation) -> None:
        await empty_cluster(installation)
        session = await installation.batch("true")
        await installation.rounds(3, 12)
        assert installation.state(session) == S.PREPARING
        await installation.change_group(GroupUpdate(elastic=None, node_selector=None))
        await installation.settle()
        assert installation.node_of(session) == "system"
        assert "node_closed" in installation.causes(session)
        assert "node_lost" not in installation.causes(session)
        assert installation.state(session) == S.TERMINATED

    play(story)


def test_a_cluster_that_never_had_a_node_takes_sessions_unless_isolation_is_required(play: Play) -> None:
    async def story(installation: Installation) -> None:
        installation.world.nodes = []
        await installation.round(6)
        await installation.make_elastic(LIMIT)
        installation.set_group(required_capabilities=[NETWORK_POLICY, "seccomp"])
        session = await installation.create()
        await installation.rounds(3, 12)
        assert installation.state(session) == S.PENDING
        assert "does not enforce network policies" in reason(installation, session)
        installation.set_group(required_capabilities=["seccomp"])
        await installation.rounds(3, 12)
        assert installation.state(session) == S.PREPARING

    play(story)


def test_a_session_that_is_drained_from_a_machine_starts_on_another(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await empty_cluster(installation)
        installation.world.nodes.append(machine("burst-1"))
        session = await installation.create()
        await installation.settle()
        assert installation.node_of(session) == "burst-1"
        await installation.drain("burst-1", Draining.MOVE)
        installation.world.nodes.append(machine("burst-2"))
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.node_of(session) == "burst-2"
        assert installation.causes(session).count("drained") == 1

    play(story)
