"""How a session of any kind ends, and what that means for those that start after it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.sessions.endings import ending, endings_of, is_met, is_met_by_array
from carrel.tables.dependencies import DependencyCondition as C
from carrel.tables.session_states import LIFECYCLE, Result, SessionKind
from carrel.tables.session_states import SessionState as S


@pytest.mark.parametrize("state", sorted(LIFECYCLE.live))
@pytest.mark.parametrize("condition", C)
def test_a_live_session_leaves_everything_open_also_with_a_result(state: S, condition: C) -> None:
    # A run that failed has its result while it terminates, before it is repeated.
    assert ending(SessionKind.BATCH, state, Result.FAILURE) is None
    assert is_met(condition, None) is None


@pytest.mark.parametrize(
    ("kind", "state", "result", "how"),
    [
        ("interactive", S.TERMINATED, None, Result.SUCCESS),
        ("interactive", S.ERROR, None, Result.FAILURE),
        ("interactive", S.CANCELLED, None, Result.CANCELLED),
        ("batch", S.TERMINATED, "success", Result.SUCCESS),
        ("batch", S.TERMINATED, "failure", Result.FAILURE),
        ("batch", S.TERMINATED, "timed_out", Result.TIMED_OUT),
        ("batch", S.TERMINATED, "cancelled", Result.CANCELLED),
        ("batch", S.ERROR, "failure", Result.FAILURE),
        ("batch", S.CANCELLED, "cancelled", Result.CANCELLED),
    ],
)
def test_a_batch_session_ends_as_its_command_and_another_by_its_state(
    kind: str, state: S, result: str | None, how: Result
) -> None:
    assert ending(kind, state, result) is how


def test_of_the_conditions_exactly_these_are_met() -> None:
    met = {(condition, how) for condition in C for how in Result if is_met(condition, how)}
    assert met == {
        (C.SUCCEEDED, Result.SUCCESS),
        (C.FAILED, Result.FAILURE),
        (C.FAILED, Result.TIMED_OUT),
        *((C.ENDED, how) for how in Result),
    }


_ITEMS = [
    (S.PENDING, None),
    # A failed run that is repeated has not ended.
    (S.TERMINATING, "failure"),
    (S.RUNNING, None),
    (S.TERMINATED, "success"),
    (S.TERMINATED, "failure"),
    (S.TERMINATED, "timed_out"),
    (S.CANCELLED, "cancelled"),
    (S.ERROR, "failure"),
]


def met_by(condition: C, items: list[tuple[S, str | None]]) -> bool | None:
    return is_met_by_array(condition, endings_of([(state, result, 1) for state, result in items]))


@given(st.sampled_from(_ITEMS), st.sampled_from(C))
def test_an_array_of_one_is_like_a_session(item: tuple[S, str | None], condition: C) -> None:
    assert met_by(condition, [item]) is is_met(condition, ending(SessionKind.BATCH, *item))


@given(st.lists(st.sampled_from(_ITEMS), min_size=1), st.sampled_from(C))
def test_an_array_must_succeed_as_a_whole_and_fails_with_any_of_its_sessions(
    items: list[tuple[S, str | None]], condition: C
) -> None:
    each = [is_met(condition, ending(SessionKind.BATCH, *item)) for item in items]
    if condition == C.FAILED:
        expected = None if None in each else True in each
    else:
        expected = False if False in each else None if None in each else True
    assert met_by(condition, items) is expected
