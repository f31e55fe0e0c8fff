"""Which sets of devices that work in blocks a container gets: valid ones only, and what is offered agrees with it."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_kit import NOW

from carrel.core.device_blocks import Block
from carrel.core.ids import NodeId, SessionId
from carrel.core.slots import WHOLE
from carrel.scheduling import devices
from carrel.scheduling.devices import available, choose, copies, units
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import (
    ClusterMode,
    DeviceSnapshot,
    GroupSnapshot,
    NodeSnapshot,
    PendingSession,
    Snapshot,
)

GAUDI = "gaudi3.device"
NPU = "atom.device"
SETS = [{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}, set(range(8)), *({n} for n in range(8))]


def gaudi(module: int, used: int = 0) -> DeviceSnapshot:
    blocks = tuple(Block(f"{size}-{module // size}", size, whole=True) for size in (2, 4, 8))
    return DeviceSnapshot(f"g{module}", "gaudi3", used, module // 2, {GAUDI: WHOLE}, blocks)


def npu(number: int, switch: int, size: int, used: int = 0) -> DeviceSnapshot:
    blocks = (Block(f"switch-{switch}", size), Block("machine", 2 * size))
    return DeviceSnapshot(f"n{number:02}", "atom", used, switch, {NPU: WHOLE}, blocks)


def modules(taken) -> set[int]:
    return {int(id[1:]) for id in taken}


free_modules = st.lists(st.booleans(), min_size=8, max_size=8)
present_modules = st.sets(st.integers(0, 7), min_size=1)


@pytest.fixture
def machine() -> tuple[DeviceSnapshot, ...]:
    return tuple(gaudi(module) for module in range(8))


@given(present_modules, present_modules)
def test_a_container_gets_a_valid_set_of_gaudis_exactly_when_one_is_free(present, in_use):
    cards = [gaudi(module, WHOLE * (module in in_use)) for module in sorted(present)]
    free = present - in_use
    for amount in (1, 2, 4, 8):
        taken = choose(cards, GAUDI, amount)
        there = any(len(one) == amount and one <= free for one in SETS)
        assert (taken is not None) == there == (amount <= available(cards, GAUDI))
        if taken:
            assert modules(taken) in SETS
            assert modules(taken) <= free


def test_the_number_offered_is_that_of_a_valid_set(machine):
    taken = [*machine[:3], *(replace(one, used=WHOLE) for one in machine[3:])]
    assert available(taken, GAUDI) == 2
    assert available(machine[1:], GAUDI) == 4
    assert available([machine[0], machine[2], machine[5]], GAUDI) == 1


def test_gaudis_come_from_the_fullest_blocks(machine):
    used = tuple(replace(one, used=WHOLE if number in (0, 4, 5) else 0) for number, one in enumerate(machine))
    assert modules(choose(used, GAUDI, 1)) == {1}
    assert modules(choose(used, GAUDI, 2)) == {6, 7}
    assert choose(used, GAUDI, 4) is None


@st.composite
def npus(draw):
    """Some of the NPUs of a machine with two switches."""
    size = draw(st.integers(1, 4))
    numbers = draw(st.sets(st.integers(0, 2 * size - 1)))
    return [npu(n, n // size, size, draw(st.sampled_from([0, 0, WHOLE]))) for n in sorted(numbers)]


@given(npus(), st.integers(1, 9))
def test_what_is_available_can_be_had_and_nothing_beyond(cards, amount):
    taken = choose(cards, NPU, amount)
    assert (taken is not None) == (amount <= available(cards, NPU))
    if taken:
        used = {one.id: one.used for one in cards}
        assert len(taken) == amount
        assert all(not used[id] for id in taken)


@given(npus(), st.integers(1, 9))
def test_several_npus_are_of_one_switch_as_far_as_it_has_as_many(cards, amount):
    for ids in combinations([one for one in cards if not one.used], min(amount, len(cards))):
        size = ids[0].blocks[0].size if ids else 1
        fewest = -(-len(ids) // size)
        taken = choose(cards, NPU, len(ids)) if ids else None
        if taken:
            assert len({one.set for one in cards if one.id in taken}) == fewest


@given(npus(), st.integers(1, 4), st.integers(0, 4))
def test_copies_are_as_many_as_can_be_taken_one_after_the_other(cards, amount, most):
    left, count = cards, 0
    while count < most and (taken := choose(left, NPU, amount)) is not None:
        left = [replace(one, used=WHOLE) if one.id in taken else one for one in left]
        count += 1
    assert copies(cards, NPU, amount, most) == count


def test_an_empty_node_has_the_largest_valid_set(machine):
    assert devices.largest({"cpu": 8, GAUDI: 7}, machine[1:]) == {"cpu": 8, GAUDI: 4}
    assert devices.largest({"cpu": 8}, ()) == {"cpu": 8}


def test_slots_of_blocks_are_known_as_such(machine):
    plain = replace(machine[0], blocks=())
    nodes = [NodeSnapshot(NodeId(n), n, {}, devices=(one,)) for n, one in (("a", plain), ("b", machine[1]))]
    assert units(nodes) == units(reversed(nodes))
    assert units(nodes)[GAUDI].in_blocks


def session(name: str, gaudis: int, **more: object) -> PendingSession:
    return PendingSession(SessionId(name), {"cpu": 1, GAUDI: gaudis}, NOW, **more)


def planned(cards, *sessions):
    node = NodeSnapshot(NodeId("n"), "n", {"cpu": 16, GAUDI: len(cards)}, devices=tuple(cards))
    made = plan(Snapshot((node,), sessions, NOW, (GroupSnapshot(sessions[0].group),)))
    placed = {one.session: [modules(part.devices[GAUDI]) for part in one.parts] for one in made.placements}
    return placed, {one.session: one.reason for one in made.refusals}


def test_a_session_waits_for_a_valid_set_and_says_what_there_is(machine):
    used = [replace(one, used=WHOLE if number % 2 else 0) for number, one in enumerate(machine)]
    placed, waiting = planned(used, session("a", 2), session("b", 1))
    assert placed == {"b": [{0}]}
    assert waiting == {"a": "1 node: needs 2 gaudi3.device, 1 gaudi3.device free."}


def test_containers_of_one_node_have_valid_sets_each(machine):
    free = [replace(one, used=0 if number in (0, 2, 3, 5) else WHOLE) for number, one in enumerate(machine)]
    placed, _ = planned(free, session("a", 1, count=2, mode=ClusterMode.SINGLE_NODE), session("b", 2))
    assert placed["b"] == [{2, 3}]
    assert sorted(map(sorted, placed["a"])) == [[0], [5]]
