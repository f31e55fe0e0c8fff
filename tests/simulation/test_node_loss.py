"""What becomes of sessions whose node is lost, or is emptied, and which accelerators they get, in virtual time."""

from dataclasses import replace

import pytest
from simulation.conftest import Play
from simulation.installation_life import Installation

from carrel.accelerators.fake import FakeAccelerators
from carrel.controllers.failed_starts import MAX_ATTEMPTS
from carrel.engines.port import EngineError
from carrel.tables.nodes import Draining
from carrel.tables.session_states import SessionState as S


def two_nodes(installation: Installation) -> None:
    world = installation.world
    world.nodes = [replace(world.nodes[0], name=name) for name in ("left", "right")]


def other(node: str | None) -> str:
    return {"left": "right", "right": "left"}[str(node)]


def lose(installation: Installation, name: str) -> None:
    installation.world.nodes = [node for node in installation.world.nodes if node.name != name]


def rule(installation: Installation, on_node_loss: str, node_loss_s: int = 120) -> None:
    installation.set_group(on_node_loss=on_node_loss, node_loss_s=node_loss_s)


def held(installation: Installation) -> int:
    row = installation.look.execute("SELECT count(*) FROM allocations WHERE released_at IS NULL").fetchone()
    assert row is not None
    return int(row[0])


def test_sessions_of_a_lost_node_end_after_a_while_and_their_containers_when_it_comes_back(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        rule(installation, "end")
        session = await installation.create()
        await installation.settle()
        there, node = installation.world.nodes, installation.node_of(session)
        lose(installation, str(node))
        await installation.rounds(9, 12)
        assert installation.state(session) == S.RUNNING, "it may come back yet"
        assert held(installation) == 2
        await installation.round(12)
        await installation.rounds(2)
        assert installation.state(session) == S.ERROR
        assert "node_lost" in installation.causes(session)
        assert held(installation) == 0
        assert installation.main_of(session) in installation.world.containers
        installation.world.nodes = there
        await installation.settle()
        assert installation.main_of(session) not in installation.world.containers

    play(story)


def test_a_node_that_comes_back_in_time_has_its_sessions_still(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        session = await installation.create()
        await installation.settle()
        container, there = (
            installation.world.containers[installation.main_of(session)],
            installation.world.nodes,
        )
        for _ in range(3):
            lose(installation, str(installation.node_of(session)))
            await installation.rounds(9, 12)
            installation.world.nodes = there
            await installation.round()
        assert installation.state(session) == S.RUNNING
        assert installation.world.containers[installation.main_of(session)] is container

    play(story)


def test_sessions_of_a_lost_node_start_elsewhere_where_the_group_says_so(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        rule(installation, "reschedule", 60)
        session = await installation.create()
        await installation.settle()
        there, first = installation.world.nodes, installation.node_of(session)
        lose(installation, str(first))
        await installation.rounds(7, 12)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.node_of(session) == other(first)
        assert installation.causes(session).count("node_lost") == 1
        installation.world.nodes = there
        await installation.settle()
        assert installation.node_of(session) == other(first)

    play(story)


def test_a_session_whose_only_node_is_lost_waits_for_it_and_starts_anew(play: Play):
    async def story(installation: Installation) -> None:
        rule(installation, "reschedule", 60)
        session = await installation.create()
        await installation.settle()
        there, container = (
            installation.world.nodes,
            installation.world.containers[installation.main_of(session)],
        )
        installation.world.nodes = []
        await installation.rounds(8, 12)
        assert installation.state(session) == S.PENDING
        assert held(installation) == 0
        installation.world.nodes = there
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        now = installation.world.containers[installation.main_of(session)]
        assert now is not container, "not what the node had left of it"

    play(story)


@pytest.mark.parametrize("on_node_loss", ["end", "reschedule"])
def test_a_node_that_is_forgotten_is_lost_at_once_and_back_when_the_engine_names_it(
    play: Play, on_node_loss: str
):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        rule(installation, on_node_loss, 3600)
        session = await installation.create()
        await installation.settle()
        there, node = installation.world.nodes, str(installation.node_of(session))
        lose(installation, node)
        await installation.rounds(3, 12)
        assert installation.state(session) == S.RUNNING
        await installation.forget(node)
        await installation.rounds(3)
        await installation.settle()
        assert "node_lost" in installation.causes(session)
        if on_node_loss == "end":
            assert (installation.state(session), held(installation)) == (S.ERROR, 0)
        else:
            assert (installation.state(session), held(installation)) == (S.RUNNING, 2)
            assert installation.node_of(session) == other(node)
        lose(installation, other(node))
        await installation.rounds(3, 12)
        await installation.forget(other(node))
        waits = await installation.create()
        await installation.rounds(3)
        assert installation.state(waits) == S.PENDING, "there is no node"
        installation.world.nodes = there
        await installation.settle()
        assert installation.state(waits) == S.RUNNING

    play(story)


def test_an_engine_that_does_not_answer_for_hours_loses_no_session(play: Play):
    async def story(installation: Installation) -> None:
        session, container = await installation.running()
        await installation.outage(20, 600)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.world.containers[installation.main_of(session)] is container

    play(story)


def test_a_node_has_its_whole_time_from_when_the_engine_answers_again(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        rule(installation, "end")
        session = await installation.create()
        await installation.settle()
        there = installation.world.nodes
        installation.world.go_away()
        await installation.rounds(5, 600)
        lose(installation, str(installation.node_of(session)))
        installation.world.come_back()
        await installation.rounds(9, 12)
        assert installation.state(session) == S.RUNNING
        installation.world.nodes = there
        await installation.settle()
        assert installation.state(session) == S.RUNNING

    play(story)


def test_what_was_being_started_on_a_lost_node_starts_elsewhere_whatever_the_rule(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        rule(installation, "end", 30)
        installation.world.pull_s = 1000
        session = await installation.create()
        await installation.until(session, S.PREPARING)
        first = installation.node_of(session)
        lose(installation, str(first))
        await installation.rounds(5, 12)
        installation.world.pull_s = 0
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.node_of(session) == other(first)

    play(story)


def test_a_node_that_is_emptied_patiently_keeps_what_runs_and_takes_nothing_new(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        runs = await installation.create()
        await installation.settle()
        node = str(installation.node_of(runs))
        installation.world.pull_s = 1000
        pulls = await installation.create("other:1", cpu=7000)
        rest = await installation.create("other:1", cpu=7000)
        await installation.until(rest, S.PREPARING)
        leaves = pulls if installation.node_of(pulls) == node else rest
        stays = rest if leaves is pulls else pulls
        await installation.drain(node, Draining.WAIT)
        await installation.rounds(3)
        assert installation.state(runs) == S.RUNNING
        assert installation.state(leaves) == S.PENDING
        assert "node_closed" in installation.causes(leaves)
        installation.world.pull_s = 0
        await installation.remove(stays)
        await installation.settle()
        assert installation.state(leaves) == S.RUNNING
        assert installation.node_of(leaves) == other(node)

    play(story)


def test_being_moved_is_no_failed_start(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        full = EngineError("The disk is full.", retriable=True)
        installation.world.fail_next("ensure.start", full, times=MAX_ATTEMPTS - 1)
        session = await installation.create()
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        await installation.drain(str(installation.node_of(session)), Draining.MOVE)
        installation.world.fail_next("ensure.start", full, times=MAX_ATTEMPTS - 1)
        await installation.settle()
        assert installation.state(session) == S.RUNNING
        assert installation.causes(session).count("retry") == 2 * (MAX_ATTEMPTS - 1)
        installation.world.fail_next("ensure.start", full, times=MAX_ATTEMPTS)
        fails = await installation.create()
        await installation.settle()
        assert installation.state(fails) == S.ERROR

    play(story)


def test_sessions_are_moved_off_a_node(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        made = [await installation.create() for _ in range(4)]
        await installation.settle()
        moved = [session for session in made if installation.node_of(session) == "left"]
        assert 0 < len(moved) < 4
        await installation.drain("left", Draining.MOVE)
        await installation.settle()
        assert {installation.node_of(session) for session in made} == {"right"}
        assert {installation.state(session) for session in made} == {S.RUNNING}
        for session in made:
            assert ("drained" in installation.causes(session)) == (session in moved)

    play(story)


def test_sessions_are_ended_on_a_node(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        made = [await installation.create() for _ in range(4)]
        await installation.settle()
        ended = [session for session in made if installation.node_of(session) == "left"]
        await installation.drain("left", Draining.END)
        await installation.settle()
        for session in made:
            assert installation.state(session) == (S.TERMINATED if session in ended else S.RUNNING)

    play(story)


@pytest.mark.parametrize("force", [False, True])
def test_who_ends_a_session_while_it_is_moved_does_not_see_it_again(play: Play, force: bool):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        session = await installation.create()
        await installation.settle()
        await installation.drain(str(installation.node_of(session)), Draining.MOVE)
        await installation.act(lambda plane: controller(plane, "drain").step())
        assert installation.state(session) == S.TERMINATING
        await installation.remove(session, force=force)
        await installation.settle()
        assert installation.state(session) == S.TERMINATED

    play(story)


def controller(plane, name):  # type: ignore[no-untyped-def]
    return next(each for each in plane.controllers if each.name == name)


def test_a_failed_start_is_tried_again_on_another_node(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        installation.world.fail_next("ensure.start", EngineError("The disk is full.", retriable=True))
        session = await installation.create()
        await installation.until(session, S.SCHEDULED, S.PREPARING, S.STARTING)
        first = installation.node_of(session)
        await installation.settle()
        assert installation.node_of(session) == other(first)

    play(story)


def test_a_container_gets_the_devices_that_its_session_holds_and_no_two_more_than_there_is(play: Play):
    async def story(installation: Installation) -> None:
        two_nodes(installation)
        for name in ("left", "right"):
            installation.world.equip(name, FakeAccelerators(4))
        # However the halves fall on the two nodes, two devices stay whole on each of two, or four on one.
        made = [await installation.create(more={"fake.shares": 500}) for _ in range(4)]
        made += [await installation.create(more={"fake.device": 2}) for _ in range(2)]
        await installation.settle(queue=True)
        totals: dict[tuple[str, str], int] = {}
        for session in made:
            assert installation.state(session) == S.RUNNING
            spec = installation.world.containers[installation.main_of(session)].spec
            env = installation.world.environment(installation.world.containers[installation.main_of(session)])
            assert env["CARREL_DEVICES"] == ",".join(f"{d}:{n}" for d, n in sorted(spec.devices.items()))
            for device, amount in spec.devices.items():
                totals[spec.node, device] = totals.get((spec.node, device), 0) + amount
        assert sum(totals.values()) == 4 * 500 + 4 * 1000
        assert max(totals.values()) <= 1000

    play(story)
