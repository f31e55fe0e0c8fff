"""What a comparison of the engine's list with the sessions finds, and what it leaves alone."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime

import pytest

from carrel.controllers.observe import MAX_RESTARTS, Findings, compare
from carrel.core.ids import NodeId, SessionId
from carrel.engines.port import ContainerState, Observed
from carrel.groups.model import NodeLoss
from carrel.sessions import queries
from carrel.sessions.model import Session
from carrel.sessions.states import LIFECYCLE
from carrel.sessions.states import SessionState as S

ID = SessionId("abcdefghijkl")
HERE = "10.0.0.7"


def session(state: S = S.RUNNING, **more: object) -> Session:
    row = Session(
        id=ID, state=state, attempts=0, restarts=0, warnings=[], address=HERE if state == S.RUNNING else None,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    for name, value in more.items():
        setattr(row, name, value)
    return row


def container(state: ContainerState = ContainerState.RUNNING, **more: object) -> Observed:
    address = HERE if state is ContainerState.RUNNING else None
    return Observed(**{"id": ID, "state": state, "address": address, **more})


def found(
    seen: Observed | None,
    now: Session | None,
    *,
    before: Session | None = None,
    restarts: int = 0,
    gone: Mapping[NodeId, NodeLoss | None] | None = None,
) -> Findings:
    """One comparison of at most one container with at most one session; before: the same if not given."""
    was = before or now
    return compare(
        [seen] if seen else [],
        {was.id: queries.mark(was)} if was else {},
        {now.id: now} if now else {},
        {ID: restarts},
        gone or {},
    )


def nothing_but(findings: Findings, *names: str) -> bool:
    return {field.name for field in fields(findings) if getattr(findings, field.name)} == set(names)


@pytest.mark.parametrize("state", sorted(LIFECYCLE.live))
def test_what_is_as_it_should_be_is_left_alone(state):
    here = container() if state not in (S.PENDING,) else None
    assert nothing_but(found(here, session(state)))


def test_a_container_without_a_live_session_is_an_orphan():
    assert found(container(), None).orphans == [ID]


def test_a_container_in_a_list_that_is_older_than_its_sessions_end_is_none():
    assert nothing_but(found(container(), None, before=session(S.TERMINATING)))


@pytest.mark.parametrize("state", sorted(LIFECYCLE.live))
def test_a_live_sessions_container_is_never_an_orphan(state):
    assert not found(container(), session(state)).orphans


def test_a_running_session_without_its_container_is_lost():
    assert nothing_but(found(None, session()), "lost")


def test_a_session_that_was_started_while_the_list_was_made_is_not_lost():
    assert nothing_but(found(None, session(), before=session(S.STARTING)))


def test_a_session_that_was_started_again_while_the_list_was_made_is_not_lost_either():
    again = session(restarts=1)
    assert nothing_but(found(None, again, before=session()))
    assert nothing_but(found(container(ContainerState.EXITED), again, before=session()))


def test_a_session_that_was_not_there_before_the_list_is_left_alone():
    assert nothing_but(compare([], {}, {ID: session()}, {}, {}))


def test_a_stopped_container_is_started_again_and_says_so():
    findings = found(container(ContainerState.EXITED), session())
    assert nothing_but(findings, "restart")
    assert "files are kept" in findings.restart[0][1]


def test_restarts_end_when_they_come_too_often():
    stopped = container(ContainerState.EXITED)
    assert nothing_but(found(stopped, session(), restarts=MAX_RESTARTS - 1), "restart")
    assert nothing_but(found(stopped, session(), restarts=MAX_RESTARTS), "lost")


def test_a_session_of_many_restarts_long_ago_is_started_again():
    assert nothing_but(found(container(ContainerState.EXITED), session(restarts=MAX_RESTARTS * 4)), "restart")


def test_running_out_of_memory_is_told_once():
    exhausted = container(out_of_memory=True)
    assert nothing_but(found(exhausted, session()), "out_of_memory")
    assert nothing_but(found(exhausted, session(warnings=["out_of_memory"])))


def test_a_main_process_killed_for_memory_is_told_and_started_again():
    findings = found(container(ContainerState.EXITED, out_of_memory=True), session())
    assert nothing_but(findings, "restart", "out_of_memory")
    assert "memory limit" in findings.restart[0][1]


def test_a_new_address_is_noticed():
    findings = found(container(address="10.0.0.8"), session())
    assert nothing_but(findings, "moved")
    assert findings.moved[0][1] == "10.0.0.8"


def test_a_container_of_a_session_that_waits_for_a_place_is_a_stray():
    waiting = session(S.PENDING)
    assert found(container(), waiting).strays == [waiting]


@pytest.mark.parametrize("before", [session(S.PREPARING), session(S.PENDING, attempts=1)])
def test_a_container_listed_while_the_session_went_back_to_wait_is_left_alone(before):
    assert nothing_but(found(container(), session(S.PENDING, attempts=2), before=before))


NODE = NodeId("nodenodenode")


@pytest.mark.parametrize("state", [S.RUNNING, S.STARTING])
def test_a_session_whose_node_may_come_back_yet_waits_for_it(state):
    assert nothing_but(found(None, session(state, node_id=NODE), gone={NODE: None}))


@pytest.mark.parametrize("state", [S.RUNNING, S.STARTING])
@pytest.mark.parametrize("rule", NodeLoss)
def test_a_session_whose_node_is_lost_falls_under_the_rule_of_its_group(state, rule):
    there = session(state, node_id=NODE)
    findings = found(None, there, gone={NODE: rule})
    assert nothing_but(findings, "node_lost")
    assert findings.node_lost == [(there, rule)]


def test_a_session_whose_container_is_there_outlives_its_node():
    """As when a machine gets another name."""
    assert nothing_but(found(container(), session(node_id=NODE), gone={NODE: NodeLoss.END}))


def test_what_never_ran_or_ends_already_is_not_lost_with_its_node():
    assert nothing_but(found(None, session(S.TERMINATING, node_id=NODE), gone={NODE: NodeLoss.END}))
    fresh = session(S.STARTING, node_id=NODE, started_at=None)
    assert nothing_but(found(None, fresh, gone={NODE: NodeLoss.END}))
