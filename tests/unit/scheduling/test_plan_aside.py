"""Who pauses, or lacks their storage, keeps their place in the queue and takes nobody's."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from plan_draws import GROUPS, snapshots
from plan_kit import NOW, node_with, pending

from carrel.core.ids import DEFAULT_GROUP
from carrel.scheduling.plan import Planning, plan
from carrel.scheduling.snapshot import (
    Cause,
    GroupSnapshot,
    PendingSession,
    QueueOrder,
    ShareSnapshot,
    Snapshot,
)

PAUSES = "The engine was busy."


@given(snapshots(), st.sets(st.integers(0, 8)))
def test_who_is_set_aside_changes_nothing_for_the_others(snapshot: Snapshot, aside: set[int]) -> None:
    waiting = [
        replace(one, group=GROUPS[0], aside=PAUSES if number in aside else "")
        for number, one in enumerate(snapshot.waiting)
    ]
    others = replace(snapshot, waiting=tuple(one for one in waiting if not one.aside))
    everybody = replace(snapshot, waiting=tuple(waiting))
    decided, without = plan(everybody), plan(others)
    assert decided.placements == without.placements
    assert tuple(Planning(everybody).decide()) == tuple(Planning(others).decide())
    assert [(one.session, one.reason) for one in decided.refusals if one.cause is not Cause.NOT_YET] == [
        (one.session, one.reason) for one in without.refusals
    ]
    passed_over = {one.session: one.reason for one in decided.refusals if one.cause is Cause.NOT_YET}
    assert passed_over == {one.id: PAUSES for one in waiting if one.aside}
    assert [one.position for one in decided.refusals] == list(range(1, len(decided.refusals) + 1))


def test_who_is_set_aside_does_not_speak_for_the_patient() -> None:
    def asker(who: str, cpu: int, *, waited: int, aside: str = "") -> PendingSession:
        return pending(who, {"cpu": cpu}, NOW - timedelta(minutes=waited), path=("d", "p", who), aside=aside)

    held = {
        ("u1",): ShareSnapshot({"cpu": 5}),
        ("u2",): ShareSnapshot({"cpu": 2}),
        ("u3",): ShareSnapshot({"cpu": 1}),
    }
    snapshot = Snapshot(
        (node_with("n", {"cpu": 12}, {"cpu": 8}),),
        (asker("u1", 1, waited=30, aside=PAUSES), asker("u2", 4, waited=20), asker("u3", 3, waited=1)),
        NOW,
        (GroupSnapshot(DEFAULT_GROUP, order=QueueOrder.DRF, shares=held),),
    )
    assert [placement.session for placement in plan(snapshot).placements] == ["u2"]
