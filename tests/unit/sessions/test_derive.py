"""The state of a session follows from its containers, whatever became of each of them."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from carrel.sessions.derive import END_RULES, Member, derive
from carrel.tables.session_states import LIFECYCLE, ContainerRole, OnFailure, Result
from carrel.tables.session_states import ContainerState as C
from carrel.tables.session_states import SessionState as S

ENDED = frozenset({C.EXITED, C.ABANDONED, C.GONE})
LEFT = frozenset({C.ABANDONED, C.GONE})
"""Nothing is to be waited for."""
IN_ORDER = (C.SCHEDULED, C.PREPARING, C.STARTING, C.RUNNING)
OUTCOMES = sorted((*LIFECYCLE.final, S.PENDING))

on_failures = st.sampled_from(OnFailure)
kinds = st.sampled_from(sorted(END_RULES))
outcomes = st.sampled_from(OUTCOMES)


@st.composite
def sessions(draw: st.DrawFn, states: frozenset[C] = frozenset(C)) -> list[Member]:
    """The containers of one session, in these states; the first is the main one."""
    drawn = draw(st.lists(st.sampled_from(sorted(states)), min_size=1, max_size=5))
    return [
        Member(
            ContainerRole.SUB if index else ContainerRole.MAIN,
            state,
            draw(st.none() | st.integers(0, 3)) if state in ENDED else None,
            has_command=draw(st.booleans()),
        )
        for index, state in enumerate(drawn)
    ]


def states(members: list[Member]) -> set[C]:
    return {member.state for member in members}


@given(kinds, sessions(), st.none() | outcomes)
def test_of_one_container_or_many_the_same_is_said_in_any_order(kind, members, outcome):
    assert derive(kind, members, outcome) == derive(kind, members[::-1], outcome)
    assert derive(kind, members, outcome) == derive(kind, [*members, members[0]], outcome)


def spared(member: Member, on_failure: OnFailure) -> bool:
    """A session continues without a sub container that has done its part, or that may fail."""
    done = member.has_command and member.exit_code == 0
    return (
        member.role == ContainerRole.SUB
        and member.state in ENDED
        and (done or on_failure == OnFailure.CONTINUE)
    )


@given(kinds, sessions(), on_failures)
def test_it_runs_when_all_run_that_are_needed_and_never_before(kind, members, on_failure):
    goes_on = [member for member in members if not spared(member, on_failure)]
    derived = derive(kind, members, None, on_failure=on_failure)
    assert (derived.state == S.RUNNING) == (states(goes_on) == {C.RUNNING})


@given(kinds, sessions(), on_failures)
def test_nothing_ends_without_its_main_container_where_failures_of_others_are_accepted(
    kind, members, on_failure
):
    assume(members[0].state in ENDED)
    assert derive(kind, members, None, on_failure=on_failure).outcome is not None


@given(kinds, sessions(frozenset(C) - ENDED))
def test_it_counts_as_placed_when_all_are_and_never_before(kind, members):
    assert (derive(kind, members, None).state == S.PENDING) == (C.PENDING in states(members))


@given(kinds, sessions(frozenset(IN_ORDER)))
def test_progress_of_one_container_never_takes_its_session_back(kind, members):
    order = [S.SCHEDULED, S.PREPARING, S.STARTING, S.RUNNING]
    before = order.index(derive(kind, members, None).state)
    for index, member in enumerate(members):
        for later in IN_ORDER[IN_ORDER.index(member.state) :]:
            further = [*members[:index], replace(member, state=later), *members[index + 1 :]]
            assert order.index(derive(kind, further, None).state) >= before


@given(kinds, sessions(), outcomes)
def test_what_is_to_end_ends_with_the_last_container_and_where_it_is_to(kind, members, outcome):
    derived = derive(kind, members, outcome)
    assert derived.outcome == outcome
    assert derived.state == (outcome if states(members) <= LEFT else S.TERMINATING)


@given(sessions())
def test_an_interactive_session_ends_with_the_first_container_that_is_lost_main_or_sub(members):
    assume(any(one.state in ENDED and not spared(one, OnFailure.END) for one in members))
    derived = derive("interactive", members, None)
    assert derived.outcome == S.ERROR
    assert derived.state == (S.ERROR if states(members) <= LEFT else S.TERMINATING)


@pytest.mark.parametrize("kind", sorted(END_RULES))
def test_a_sub_container_whose_command_succeeded_is_no_longer_needed(kind):
    def with_sub(main: C, sub: Member, on_failure: OnFailure = OnFailure.END) -> S:
        return derive(kind, [Member(ContainerRole.MAIN, main), sub], None, on_failure=on_failure).state

    done = Member(ContainerRole.SUB, C.EXITED, 0, has_command=True)
    assert with_sub(C.RUNNING, done) == with_sub(C.RUNNING, replace(done, state=C.GONE)) == S.RUNNING
    assert with_sub(C.STARTING, done) == S.STARTING
    assert with_sub(C.RUNNING, replace(done, exit_code=1)) == S.TERMINATING
    assert with_sub(C.RUNNING, replace(done, exit_code=1), OnFailure.CONTINUE) == S.RUNNING
    assert with_sub(C.RUNNING, replace(done, exit_code=None)) == S.TERMINATING
    assert with_sub(C.RUNNING, replace(done, has_command=False)) == S.TERMINATING
    assert with_sub(C.EXITED, done) == S.TERMINATING


@given(sessions(), st.integers(0, 3))
def test_a_batch_session_ends_with_its_main_container_or_the_first_failure(members, retries):
    ended = [member for member in members if member.state in ENDED]
    derived = derive("batch", members, None, retries=retries)
    if members[0] in ended and members[0].exit_code == 0:
        assert (derived.outcome, derived.result) == (S.TERMINATED, Result.SUCCESS)
    elif any(not spared(one, OnFailure.END) for one in ended):
        assert derived.result == Result.FAILURE
        assert derived.outcome == (S.PENDING if retries else S.TERMINATED)
    else:
        assert (derived.outcome, derived.result) == (None, None)


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([C.PENDING], S.PENDING),
        ([C.SCHEDULED, C.SCHEDULED], S.SCHEDULED),
        ([C.SCHEDULED, C.PREPARING], S.PREPARING),
        ([C.PREPARING, C.RUNNING], S.PREPARING),
        ([C.STARTING, C.RUNNING], S.STARTING),
        ([C.RUNNING, C.RUNNING], S.RUNNING),
        ([C.RUNNING, C.EXITED], S.TERMINATING),
        ([C.GONE, C.EXITED], S.TERMINATING),
    ],
)
def test_each_row_of_the_table(containers, expected):
    members = [Member(ContainerRole.MAIN, state) for state in containers]
    assert derive("interactive", members, None).state == expected
