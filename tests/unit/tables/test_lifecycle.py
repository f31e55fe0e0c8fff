"""The one table of a session's states is whole: everything can end, and nothing can get stuck."""

from carrel.tables.session_states import LAUNCHING, LIFECYCLE, PLACED
from carrel.tables.session_states import SessionState as S


def reachable(source: S) -> set[S]:
    states, fresh = {source}, {source}
    while fresh:
        fresh = {target for state in fresh for target in LIFECYCLE.moves[state]} - states
        states |= fresh
    return states


def test_every_state_is_in_the_table_and_can_be_reached():
    assert set(LIFECYCLE.moves) == set(S)
    assert reachable(S.PENDING) == set(S)


def test_three_states_are_final():
    assert LIFECYCLE.final == {S.TERMINATED, S.CANCELLED, S.ERROR}


def test_from_every_live_state_every_end_that_makes_sense_is_near():
    for state in LIFECYCLE.live - {S.PENDING, S.TERMINATING}:
        assert S.TERMINATING in LIFECYCLE.moves[state]
    assert S.CANCELLED in LIFECYCLE.moves[S.PENDING]
    assert LIFECYCLE.moves[S.TERMINATING] == LIFECYCLE.final | {S.PENDING, S.SCHEDULED}


def test_what_holds_slots_ends_only_by_way_of_the_engines_word():
    """So the slots are given back in two places: finish, and requeue."""
    for state in PLACED - {S.TERMINATING}:
        assert not LIFECYCLE.moves[state] & LIFECYCLE.final


def test_every_transitional_state_has_a_deadline_and_no_other_has():
    assert set(LIFECYCLE.deadlines) == LAUNCHING | {S.TERMINATING}


def test_sources_are_the_moves_read_backwards():
    for target in S:
        assert LIFECYCLE.sources(target) == {state for state in S if target in LIFECYCLE.moves[state]}


def test_the_diagram_draws_every_move_once():
    arrows = LIFECYCLE.mermaid().splitlines()[1:]
    assert len(arrows) == len(set(arrows)) == sum(len(targets) for targets in LIFECYCLE.moves.values())
