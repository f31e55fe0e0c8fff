"""Admission counts what a whole session would hold: all of its containers, in limits, on nodes and in the queue."""

from collections.abc import Mapping

import pytest
from limit_kit import limit, set_ceilings
from node_kit import GIB, join, machine
from people import People
from session_kit import enqueue

from carrel.core.errors import Refused
from carrel.core.ids import SessionId
from carrel.db.database import Database


class Desk:
    """Somebody who asks for sessions."""

    def __init__(self, database: Database, people: People) -> None:
        self._database = database
        self._people = people

    async def ask(self, containers: int) -> SessionId:
        return await enqueue(self._database, self._people.user, containers=containers)

    async def refusal(self, containers: int) -> tuple[str, str | None, Mapping[str, object]]:
        """Code, field and details of the refusal of so many containers."""
        with pytest.raises(Refused) as refused:
            await self.ask(containers)
        return refused.value.code, refused.value.field, refused.value.details

    async def set_ceilings(self, **ceilings: int) -> None:
        await set_ceilings(self._database, self._people.project, **ceilings)

    async def limit(self, **limits: object) -> None:
        await limit(self._database, "keypair", **limits)

    async def join(self, *cpu: int) -> None:
        """A node with so much CPU, for each."""
        machines = [machine(f"n{number}", cpu=each, mem=8 * GIB) for number, each in enumerate(cpu)]
        await join(self._database, *machines)


@pytest.fixture
def desk(database: Database, people: People) -> Desk:
    return Desk(database, people)


async def test_a_ceiling_counts_all_containers(desk: Desk) -> None:
    await desk.set_ceilings(cpu=250)
    code, field, details = await desk.refusal(3)
    assert (code, field) == ("session.over_ceiling", "slots.cpu")
    assert (details["asked"], details["ceiling"]) == (300, 250)
    await desk.ask(2)


async def test_a_session_has_no_more_containers_than_its_policy_lets_it(desk: Desk) -> None:
    await desk.limit(containers_per_session=2)
    code, field, details = await desk.refusal(3)
    assert (code, field) == ("session.over_ceiling", "containers")
    assert (details["asked"], details["ceiling"]) == (3, 2)
    await desk.ask(2)


async def test_what_all_nodes_together_have_no_room_for_is_refused(desk: Desk) -> None:
    await desk.join(250, 250)
    code, field, details = await desk.refusal(5)
    assert (code, field) == ("session.too_large", "containers")
    assert details == {"slot": "containers", "asked": 5, "largest": 4}
    await desk.ask(4)


async def test_what_waits_is_counted_with_all_containers(desk: Desk) -> None:
    await desk.limit(pending_slots={"cpu": 250, "*": "unlimited"})
    code, field, details = await desk.refusal(3)
    assert (code, field, details["asked"]) == ("session.too_much_waiting", "slots.cpu", 300)
    await desk.ask(2)
    code, _, details = await desk.refusal(1)
    assert (code, details["waiting"], details["asked"]) == ("session.too_much_waiting", 200, 100)


async def test_a_session_of_several_containers_waits_as_one(desk: Desk) -> None:
    await desk.limit(pending_sessions=2)
    await desk.ask(3)
    await desk.ask(1)
    code, _, details = await desk.refusal(1)
    assert (code, details["waiting"]) == ("session.too_many_waiting", 2)
