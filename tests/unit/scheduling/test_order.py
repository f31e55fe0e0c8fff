"""Who is asked next."""

from datetime import timedelta

import pytest
from plan_kit import NOW, pending

from carrel.scheduling import order
from carrel.scheduling.snapshot import (
    DEFAULT_PRIORITY,
    GroupSnapshot,
    QueueOrder,
    ShareSnapshot,
)

CAPACITY = {"cpu": 100, "mem": 100}


def waits(name, minutes=1.0, *, path=("d", "p", "u"), priority=DEFAULT_PRIORITY, aside="", **slots):
    since = NOW - timedelta(minutes=minutes)
    return pending(name, slots or {"cpu": 10}, since, path=path, priority=priority, aside=aside)


def of(owner, project="p", domain="d"):
    return (domain, project, owner)


def order_of(kind, *waiting, shares=None, placed=True):
    """In which order, if each gets a place."""
    group = GroupSnapshot("g", order=kind, patience=timedelta(minutes=5), shares=shares or {})
    queue = order.queue(group, CAPACITY, NOW)
    names = []
    for one in queue.line(waiting):
        names.append(one.id)
        if placed:
            queue.placed(one)
    return names


@pytest.mark.parametrize("kind", QueueOrder)
def test_priority_comes_before_everything(kind):
    line = [waits("low", 60, priority=10), waits("high", 1, priority=90), waits("usual", 2)]
    assert order_of(kind, *line) == ["high", "usual", "low"]


@pytest.mark.parametrize("kind", QueueOrder)
def test_everybody_is_asked_once(kind):
    line = [waits(f"s{n}", n % 9, path=of(f"u{n % 3}", f"p{n % 2}"), priority=n % 2) for n in range(40)]
    assert sorted(order_of(kind, *line)) == sorted(one.id for one in line)
    assert sorted(order_of(kind, *line, placed=False)) == sorted(one.id for one in line)


@pytest.mark.parametrize("kind", QueueOrder)
def test_everybody_is_asked_once_when_one_of_the_patient_is_set_aside(kind):
    line = [waits("aside", 9, aside="It failed to start."), waits("older", 8), waits("fresh", 1)]
    assert sorted(order_of(kind, *line)) == ["aside", "fresh", "older"]


def test_fifo_is_by_arrival():
    assert order_of(QueueOrder.FIFO, waits("b", 2), waits("c", 1), waits("a", 3)) == ["a", "b", "c"]


def test_lifo_is_the_other_way_round_but_for_those_who_have_waited_long():
    line = [waits("fresh", 1), waits("older", 2), waits("long", 6), waits("longest", 7)]
    assert order_of(QueueOrder.LIFO, *line) == ["longest", "long", "fresh", "older"]


def test_drf_ranks_by_the_dominant_share_and_anew_after_each_placement():
    line = [waits(f"a{n}", 4, path=of("a"), cpu=10, mem=1) for n in range(3)]
    line += [waits(f"b{n}", 3, path=of("b"), cpu=1, mem=20) for n in range(3)]
    # 0:0, 10:0, 10:20, 20:20, 30:20 or the like
    assert order_of(QueueOrder.DRF, *line) == ["a0", "b0", "a1", "a2", "b1", "b2"]


def test_drf_counts_what_somebody_holds_in_all_projects():
    shares = {("a",): ShareSnapshot(held={"cpu": 50.0})}
    line = [waits("a", 4, path=of("a", "other")), waits("b", 1, path=of("b"))]
    assert order_of(QueueOrder.DRF, *line, shares=shares) == ["b", "a"]


def test_fair_share_counts_the_past_and_divides_by_the_weight():
    shares = {
        ("d1",): ShareSnapshot(held={"cpu": 10.0}, past={"cpu": 10.0}, weight=4.0),
        ("d2",): ShareSnapshot(past={"cpu": 10.0}),
    }
    line = [waits("two", 4, path=("d2", "p", "u")), waits("one", 1, path=("d1", "p", "v"))]
    assert order_of(QueueOrder.FAIR_SHARE, *line, shares=shares) == ["one", "two"]


def test_fair_share_descends_from_domain_to_project_to_owner():
    """A poor owner in a rich project waits for the poor project's."""
    shares = {
        ("d", "rich"): ShareSnapshot(held={"cpu": 50.0}),
        ("d", "rich", "x"): ShareSnapshot(held={"cpu": 50.0}),
    }
    line = [
        waits("x", 4, path=of("x", "rich")),
        waits("y", 3, path=of("y", "rich")),
        waits("z", 2, path=of("z", "poor")),
    ]
    assert order_of(QueueOrder.FAIR_SHARE, *line, shares=shares) == ["z", "y", "x"]


@pytest.mark.parametrize("kind", [QueueOrder.DRF, QueueOrder.FAIR_SHARE])
def test_one_who_has_waited_long_goes_before_who_has_hardly_less(kind):
    keys = [("a",), ("b",)] if kind is QueueOrder.DRF else [("a",), ("b",), ("a", "p"), ("b", "p")]
    shares = {key: ShareSnapshot(held={"cpu": 30.0 if key[0] == "a" else 25.0}) for key in keys}
    line = [
        waits("a0", 9, path=("a", "p", "a"), cpu=10),
        waits("a1", 8, path=("a", "p", "a"), cpu=10),
        waits("b0", 7, path=("b", "p", "b"), cpu=10),
    ]
    # a0 for its age; then the shares are 40 and 25.
    assert order_of(kind, *line, shares=shares) == ["a0", "b0", "a1"]


@pytest.mark.parametrize("kind", [QueueOrder.DRF, QueueOrder.FAIR_SHARE])
def test_but_not_before_who_has_much_less(kind):
    keys = [("a",)] if kind is QueueOrder.DRF else [("a",), ("a", "p")]
    shares = {key: ShareSnapshot(held={"cpu": 50.0}) for key in keys}
    line = [waits("old", 9, path=("a", "p", "a")), waits("poor", 1, path=("b", "p", "b"))]
    assert order_of(kind, *line, shares=shares) == ["poor", "old"]
