"""Sessions that accept several resource groups, whose nodes are lost and come back, in virtual time."""

from dataclasses import replace

from session_kit import SMALL, spec
from simulation.conftest import Play
from simulation.installation_life import Installation

from carrel.core.ids import SessionId
from carrel.tables.session_states import SessionState as S

FULL = {**SMALL, "cpu": 4000}


async def two_groups(installation: Installation) -> None:
    """The default group and cloud have a node each, left and right, with room for one of these sessions."""
    node = installation.world.nodes[0]
    installation.world.nodes = [
        replace(node, name=name, slots={**node.slots, "cpu": 4000}) for name in ("left", "right")
    ]
    installation.look.execute("INSERT INTO resource_groups (id, name) VALUES ('cloud', 'cloud')")
    installation.set_group(on_node_loss="reschedule", node_loss_s=5)
    await installation.settle()
    installation.look.execute("UPDATE nodes SET group_id = 'cloud', group_fixed = true WHERE name = 'right'")


async def request(installation: Installation, *groups: str) -> SessionId:
    installation.requests += 1
    return await installation.enqueue(
        spec(image="debian:12", slots=FULL, group=groups[0], alternative_groups=groups[1:])
    )


def group_of(installation: Installation, session: SessionId) -> str:
    row = installation.look.execute("SELECT group_id FROM sessions WHERE id = %s", [session]).fetchone()
    assert row is not None
    return str(row[0])


def test_a_session_moves_to_another_group_with_its_lost_node_only_if_it_accepts_that(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await two_groups(installation)
        session = await request(installation, "default", "cloud")
        await installation.settle()
        assert (installation.node_of(session), group_of(installation, session)) == ("left", "default")
        there = installation.world.nodes
        installation.world.nodes = [there[1]]
        await installation.rounds(4, 12)
        await installation.settle()
        assert (installation.node_of(session), group_of(installation, session)) == ("right", "cloud")
        # One that accepts its own group only waits for it.
        other = await request(installation, "default")
        await installation.rounds(5)
        assert installation.state(other) == S.PENDING
        installation.world.nodes = there
        await installation.settle()
        assert (installation.node_of(other), group_of(installation, other)) == ("left", "default")

    play(story)


def test_one_that_waits_in_two_queues_is_placed_once(play: Play) -> None:
    async def story(installation: Installation) -> None:
        await two_groups(installation)
        first = [await request(installation, group) for group in ("default", "cloud")]
        await installation.settle()
        both = [await request(installation, "cloud", "default") for _ in range(3)]
        await installation.rounds(5)
        assert [installation.state(one) for one in both] == [S.PENDING] * 3
        for session in first:
            await installation.remove(session)
        await installation.rounds(20)
        run = [one for one in both if installation.state(one) == S.RUNNING]
        assert sorted(group_of(installation, one) for one in run) == ["cloud", "default"]
        [left] = set(both) - set(run)
        assert (installation.state(left), group_of(installation, left)) == (S.PENDING, "cloud")

    play(story)
