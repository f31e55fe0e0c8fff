"""What a start's timeline says, by history and recorded moments."""

from datetime import UTC, datetime, timedelta

from carrel.core.ids import SessionId
from carrel.sessions.timeline import timeline
from carrel.tables.apps import AppStart
from carrel.tables.session_states import ContainerRole, SessionState
from carrel.tables.sessions import Container, HistoryEntry

_BEGIN = datetime(2026, 1, 31, 12, tzinfo=UTC)
_WAY = [SessionState[name] for name in ("PENDING", "SCHEDULED", "PREPARING", "STARTING", "RUNNING")]


def at(second: float) -> datetime:
    return _BEGIN + timedelta(seconds=second)


def history(*moves: tuple[SessionState | None, SessionState, float]) -> list[HistoryEntry]:
    return [HistoryEntry(from_state=one, to_state=other, at=at(second)) for one, other, second in moves]


def start(*seconds: float) -> list[HistoryEntry]:
    """The states on the way to RUNNING, as far as there are times."""
    return history(*zip([None, *_WAY], _WAY, seconds, strict=False))


def container(index: int = 0, **moments: float) -> Container:
    role = ContainerRole.SUB if index else ContainerRole.MAIN
    return Container(role=role, index=index, host=f"sub{index}", **{k: at(v) for k, v in moments.items()})


def seconds(
    entries: list[HistoryEntry], *members: Container, folders: bool = False
) -> list[tuple[object, ...]]:
    """Each step with its container and its begin and end in seconds."""

    def since(moment: datetime | None) -> float | None:
        return (moment - _BEGIN).total_seconds() if moment else None

    return [
        (str(one.step), one.container, since(one.begins_at), since(one.ends_at))
        for one in timeline(entries, members, [], folders=folders).steps
    ]


def test_a_complete_start_has_every_step():
    main = container(mounted_at=12, image_at=30, launched_at=31)
    assert seconds(start(0, 10, 11, 30, 32), main, folders=True) == [
        ("queue", None, 0, 10),
        ("mounts", None, 11, 12),
        ("image", "main", 12, 30),
        ("container", "main", 30, 31),
    ]


def test_each_container_of_a_cluster_has_its_own_steps_and_waits_for_the_last_one():
    members = container(image_at=12, launched_at=13), container(1, image_at=20, launched_at=22)
    assert seconds(start(0, 10, 11, 12, 23), *members)[1:] == [
        ("image", "main", 11, 12),
        ("container", "main", 12, 13),
        ("image", "sub1", 11, 20),
        ("container", "sub1", 20, 22),
        ("barrier", None, 22, 23),
    ]


def test_a_step_that_goes_on_has_no_end_and_later_ones_are_absent():
    assert seconds(start(0), container()) == [("queue", None, 0, None)]
    assert seconds(start(0, 1, 2), container(), folders=True)[1:] == [("mounts", None, 2, None)]
    assert seconds(start(0, 1, 2), container(mounted_at=3), folders=True)[1:] == [
        ("mounts", None, 2, 3),
        ("image", "main", 3, None),
    ]


def test_a_session_of_an_earlier_version_has_what_its_history_says():
    assert seconds(start(0, 1, 2, 5, 6), container(), folders=True)[1:] == [
        ("image", "main", 2, 5),
        ("container", "main", 5, 6),
    ]


def test_a_start_that_was_given_up_says_when():
    entries = [*start(0, 1, 2), *history((SessionState.PREPARING, SessionState.ERROR, 9))]
    shown = timeline(entries, [container()], [], folders=False)
    assert (shown.ready_at, shown.stopped_at) == (None, at(9))
    assert shown.steps[-1].ends_at is None


def test_only_the_last_start_counts_with_its_own_moments():
    requeued = history((SessionState.STARTING, SessionState.PENDING, 40))
    entries = [*start(0, 1, 2, 3), *requeued, *history((SessionState.PENDING, SessionState.SCHEDULED, 50))]
    shown = timeline(entries, [container(image_at=3)], [], folders=False)
    assert (shown.number, shown.begins_at, len(shown.steps)) == (2, at(40), 1)
    again = [*start(0, 1, 2, 3, 4), *history((SessionState.RUNNING, SessionState.STARTING, 60))]
    assert seconds(again, container(image_at=3, launched_at=4)) == [
        ("image", "main", 60, 60),
        ("container", "main", 60, None),
    ]


def test_an_app_counts_once_the_session_runs_and_not_in_its_next_start():
    def app(name: str, opened: float, ready: float) -> AppStart:
        return AppStart(session_id=SessionId("s"), app=name, opened_at=at(opened), ready_at=at(ready))

    apps = [app("jupyter", 2, 3), app("code", 20, 24)]
    shown = timeline(start(0, 1, 2, 8, 9), [container(image_at=8)], apps, folders=False)
    [step] = [one for one in shown.steps if one.step == "app"]
    assert (step.app, step.begins_at, step.ends_at) == ("code", at(20), at(24))
