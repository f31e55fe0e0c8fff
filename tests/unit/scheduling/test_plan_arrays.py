"""Arrays: no more of their sessions start than they allow, and those that wait for that keep their places."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from plan_draws import snapshots
from plan_kit import NOW, node_with, pending

from carrel.core.ids import SessionId
from carrel.scheduling.array_limits import ArrayLimit, set_aside
from carrel.scheduling.plan import plan
from carrel.scheduling.snapshot import Cause, Snapshot

X, Y = SessionId("x"), SessionId("y")
limits = st.builds(ArrayLimit, most=st.integers(1, 3), running=st.integers(0, 4))


@given(snapshots(), st.lists(st.sampled_from([None, X, Y]), min_size=9, max_size=9), limits)
def test_no_more_start_than_the_array_allows_and_the_others_go_on(
    snapshot: Snapshot, arrays: list[SessionId | None], limit: ArrayLimit
) -> None:
    waiting = [replace(one, array=array) for one, array in zip(snapshot.waiting, arrays, strict=False)]
    limited = set_aside(waiting, {X: limit})
    # Only sessions of the limited array are set aside, the last ones in the queue, and never too many.
    assert [replace(one, aside="", in_array_queue=False) for one in limited] == waiting
    assert not any(one.aside for one in limited if one.array != X)
    queue = sorted(
        (one for one in limited if one.array == X), key=lambda one: (-one.priority, one.since, one.id)
    )
    allowed = max(limit.most - limit.running, 0)
    assert [bool(one.aside) for one in queue] == [number >= allowed for number in range(len(queue))]
    array_of = {one.id: one.array for one in limited}
    placed = Counter(
        array_of[one.session] for one in plan(replace(snapshot, waiting=tuple(limited))).placements
    )
    assert placed[X] <= allowed


def test_the_reason_tells_the_limit_of_the_array() -> None:
    members = [pending(f"s{number}", {"cpu": 1}, array=X) for number in range(5)]
    waiting = tuple(set_aside(members, {X: ArrayLimit(most=3, running=1)}))
    decided = plan(Snapshot((node_with("n", {"cpu": 9}),), waiting, NOW))
    assert [one.session for one in decided.placements] == ["s0", "s1"]
    assert {(one.cause, one.reason) for one in decided.refusals} == {
        (Cause.NOT_YET, "Its array runs at most 3 at a time.")
    }
