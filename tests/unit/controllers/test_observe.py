"""What a comparison of the engine's list with the sessions finds, and what it leaves alone."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from carrel.controllers.observe import (
    MAX_RESTARTS,
    Before,
    Findings,
    LiveSessions,
    OneEngine,
    compare,
    is_settled,
    unlisted,
)
from carrel.core.ids import ContainerId, NodeId, SessionId
from carrel.engines.port import IN_PLACE_RESTART, Observed, ObservedState
from carrel.sessions import queries
from carrel.sessions.containers import ContainerChange, PlacedRow
from carrel.tables.groups import NodeLoss
from carrel.tables.session_states import LIFECYCLE, ContainerRole, OnFailure, SessionKind
from carrel.tables.session_states import ContainerState as C
from carrel.tables.session_states import SessionState as S
from carrel.tables.sessions import Container, Session

ID = SessionId("abcdefghijkl")
MAIN, SUB = ContainerId("mainmainmain"), ContainerId("subsubsubsub")
HERE = "10.0.0.7"
NODE, OTHER_NODE = NodeId("nodenodenode"), NodeId("othernode")
KEEPS = frozenset({IN_PLACE_RESTART})
EMPTY = OneEngine({}, {NODE: KEEPS}, {}, {})


def session(state: S = S.RUNNING, **more: object) -> Session:
    row = Session(
        id=ID, state=state, attempts=0, restarts=0, warnings=[], started_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    for name, value in more.items():
        setattr(row, name, value)
    return row


def container(state: ObservedState = ObservedState.RUNNING, **more: object) -> Observed:
    address = HERE if state is ObservedState.RUNNING else None
    return Observed(**{"id": MAIN, "state": state, "address": address, **more})


def row(id_: ContainerId = MAIN, *, node: NodeId | None = NODE, **more: object) -> Container:
    is_main = id_ == MAIN
    return Container(
        id=id_,
        session_id=ID,
        role=ContainerRole.MAIN if is_main else ContainerRole.SUB,
        index=int(not is_main),
        host="main1" if is_main else "sub1",
        state=C.RUNNING,
        node_id=node,
        address=HERE,
        **more,
    )


def compared(
    *seen: Observed | None,
    now: Session | None,
    before: Session | None = None,
    rows: Sequence[Container] = (),
    restarts: int = 0,
    gone: Mapping[NodeId, NodeLoss | None] | None = None,
    elsewhere: frozenset[NodeId] = frozenset(),
    capabilities: frozenset[str] = KEEPS,
) -> Findings:
    """One comparison of a list with at most one session; before: the same if not given. rows: the main one.

    elsewhere: nodes of another engine. capabilities: of all other nodes.
    """
    was = before or now
    own = rows or [row(node=None if was and was.state == S.PENDING else NODE)]
    here = {one.node_id: capabilities for one in own if one.node_id and one.node_id not in elsewhere}
    listed = {one.id: one for one in seen if one}
    findings = compare(
        OneEngine(listed, here, gone or {}, {ID: restarts}),
        Before({was.id: queries.mark(was)}, frozenset(one.id for one in own))
        if was
        else Before({}, frozenset()),
        LiveSessions({now.id: now}, {now.id: own}) if now else LiveSessions({}, {}),
    )
    # What is not even compared has no findings.
    if now and all(is_settled(placed(one, now), listed.get(one.id), here) for one in own):
        assert nothing_but(findings)
    return findings


def placed(one: Container, session: Session) -> PlacedRow:
    return PlacedRow(one.id, session.id, S(session.state), C(one.state), one.node_id, one.address)


def nothing_but(findings: Findings, *names: str) -> bool:
    return {field.name for field in fields(findings) if getattr(findings, field.name)} == set(names)


@pytest.mark.parametrize("state", sorted(LIFECYCLE.live))
def test_what_is_as_it_should_be_is_left_alone(state):
    here = container() if state not in (S.PENDING,) else None
    assert nothing_but(compared(here, now=session(state)))


def test_only_what_is_as_it_should_be_is_settled():
    here, as_it_is = frozenset({NODE}), container()
    assert is_settled(placed(row(), session()), as_it_is, here)
    assert not is_settled(placed(row(), session()), None, here)
    assert not is_settled(placed(row(), session()), container(ObservedState.EXITED), here)
    assert not is_settled(placed(row(), session()), replace(as_it_is, address="10.9.9.9"), here)
    assert not is_settled(placed(row(), session()), replace(as_it_is, out_of_memory=True), here)
    assert not is_settled(placed(row(), session(S.TERMINATING)), as_it_is, here)
    # Of another engine.
    assert is_settled(placed(row(), session()), None, frozenset())
    assert not is_settled(placed(row(), session()), as_it_is, frozenset())


def test_a_container_without_a_live_session_is_an_orphan():
    assert compared(container(), now=None).orphans == [MAIN]


def test_a_container_in_a_list_that_is_older_than_its_sessions_end_is_none():
    assert nothing_but(compared(container(), now=None, before=session(S.TERMINATING)))


@pytest.mark.parametrize("state", sorted(LIFECYCLE.live))
def test_a_live_sessions_container_is_never_an_orphan(state):
    assert not compared(container(), now=session(state)).orphans


def test_a_running_session_without_its_container_is_lost():
    assert nothing_but(compared(None, now=session()), "lost")


def test_a_session_that_was_started_while_the_list_was_made_is_not_lost():
    assert nothing_but(compared(None, now=session(), before=session(S.STARTING)))


def test_a_session_that_was_started_again_while_the_list_was_made_is_not_lost_either():
    again = session(restarts=1)
    assert nothing_but(compared(None, now=again, before=session()))
    assert nothing_but(compared(container(ObservedState.EXITED), now=again, before=session()))


def test_a_session_that_was_not_there_before_the_list_is_left_alone():
    assert nothing_but(compare(EMPTY, Before({}, frozenset()), LiveSessions({ID: session()}, {ID: [row()]})))


def test_a_stopped_container_is_started_again_and_says_so():
    findings = compared(container(ObservedState.EXITED), now=session())
    assert nothing_but(findings, "restart")
    assert "files are kept" in findings.restart[0].reason


def test_a_restart_without_its_files_says_so():
    findings = compared(container(ObservedState.EXITED), now=session(), capabilities=frozenset())
    assert nothing_but(findings, "restart")
    assert "files outside mounted folders are lost" in findings.restart[0].reason


def test_a_container_that_the_engine_ended_says_why():
    evicted = container(ObservedState.EXITED, reason="It was evicted from its node: memory.")
    [restart] = compared(evicted, now=session()).restart
    assert restart.reason.startswith("It was evicted from its node: memory. It was started again")
    [completed] = compared(replace(evicted, exit_code=137), now=session(kind=SessionKind.BATCH)).completed
    assert completed.reason == "Its command was killed by SIGKILL. It was evicted from its node: memory."


def test_a_container_that_disappeared_has_the_last_report_of_the_engine():
    engine = replace(EMPTY, reports={MAIN: ["Its node is not ready.", "It was evicted."]})
    live = LiveSessions({ID: session()}, {ID: [row()]})
    before = Before({ID: queries.mark(session())}, frozenset([MAIN]))
    [lost] = compare(engine, before, live).lost
    assert lost.reason == "Its container disappeared from the engine. It was evicted."
    assert unlisted(engine, before, live) == {MAIN: ID}
    assert unlisted(replace(engine, listed={MAIN: container()}), before, live) == {}


def test_restarts_end_when_they_come_too_often():
    stopped = container(ObservedState.EXITED)
    assert nothing_but(compared(stopped, now=session(), restarts=MAX_RESTARTS - 1), "restart")
    assert nothing_but(compared(stopped, now=session(), restarts=MAX_RESTARTS), "lost")


def test_a_session_of_many_restarts_long_ago_is_started_again():
    assert nothing_but(
        compared(container(ObservedState.EXITED), now=session(restarts=MAX_RESTARTS * 4)), "restart"
    )


def test_running_out_of_memory_is_told_once():
    exhausted = container(out_of_memory=True)
    assert nothing_but(compared(exhausted, now=session()), "out_of_memory")
    assert nothing_but(compared(exhausted, now=session(warnings=["out_of_memory"])))


def test_a_main_process_killed_for_memory_is_told_and_started_again():
    findings = compared(container(ObservedState.EXITED, out_of_memory=True), now=session())
    assert nothing_but(findings, "restart", "out_of_memory")
    assert "memory limit" in findings.restart[0].reason


def test_a_new_address_is_noticed():
    findings = compared(container(address="10.0.0.8"), now=session())
    assert nothing_but(findings, "moved")
    assert findings.moved[0][1] == "10.0.0.8"


def test_a_container_of_a_session_that_waits_for_a_place_is_a_stray():
    waiting = session(S.PENDING)
    assert compared(container(), now=waiting).strays == [(waiting, MAIN)]


@pytest.mark.parametrize("before", [session(S.PREPARING), session(S.PENDING, attempts=1)])
def test_a_container_listed_while_the_session_went_back_to_wait_is_left_alone(before):
    assert nothing_but(compared(container(), now=session(S.PENDING, attempts=2), before=before))


@pytest.mark.parametrize("state", [S.RUNNING, S.STARTING])
def test_a_session_whose_node_may_come_back_yet_waits_for_it(state):
    assert nothing_but(compared(None, now=session(state), rows=[row(node=NODE)], gone={NODE: None}))


@pytest.mark.parametrize("state", [S.RUNNING, S.STARTING])
@pytest.mark.parametrize("rule", NodeLoss)
def test_a_session_whose_node_is_lost_falls_under_the_rule_of_its_group(state, rule):
    there = session(state)
    findings = compared(None, now=there, rows=[row(node=NODE)], gone={NODE: rule})
    assert nothing_but(findings, "node_lost")
    assert findings.node_lost == [(there, rule)]


def test_a_session_whose_container_is_there_outlives_its_node():
    """As when a machine gets another name."""
    assert nothing_but(compared(container(), now=session(), rows=[row(node=NODE)], gone={NODE: NodeLoss.END}))


def test_what_never_ran_or_ends_already_is_not_lost_with_its_node():
    assert nothing_but(
        compared(None, now=session(S.TERMINATING), rows=[row(node=NODE)], gone={NODE: NodeLoss.END})
    )
    fresh = session(S.STARTING, started_at=None)
    assert nothing_but(compared(None, now=fresh, rows=[row(node=NODE)], gone={NODE: NodeLoss.END}))


def of_two(main: Observed | None, sub: Observed | None, **more: Any) -> Findings:
    return compared(main, sub, now=session(), rows=[row(), row(SUB)], **more)


def sub(state: ObservedState = ObservedState.RUNNING, **more: object) -> Observed:
    return replace(container(state, **more), id=SUB)


def test_of_several_containers_only_the_one_that_stopped_is_started_again():
    findings = of_two(container(), sub(ObservedState.EXITED))
    assert nothing_but(findings, "restart")
    assert findings.restart[0].containers == (ContainerChange(SUB),)
    assert "Its container sub1 stopped" in findings.restart[0].reason


def test_all_containers_that_an_engine_stopped_are_started_again_as_one_restart():
    findings = of_two(container(ObservedState.EXITED), sub(ObservedState.EXITED))
    assert [len(one.containers) for one in findings.restart] == [2]


def test_a_missing_container_is_lost_though_others_stopped_and_what_it_ended_with_is_kept():
    assert nothing_but(of_two(None, sub(ObservedState.EXITED)), "lost")
    findings = of_two(container(), sub(ObservedState.EXITED, exit_code=3), restarts=MAX_RESTARTS)
    assert findings.lost[0].containers == (ContainerChange(SUB, exit_code=3),)


def test_a_container_whose_command_has_ended_is_not_started_again():
    rows = [row(), row(SUB, has_command=True)]
    for exit_code in (0, 3):
        exited = sub(ObservedState.EXITED, exit_code=exit_code)
        findings = compared(container(), exited, now=session(), rows=rows)
        assert nothing_but(findings, "completed")
        assert findings.completed[0].containers == (ContainerChange(SUB, exit_code=exit_code),)
    assert findings.completed[0].reason == "The command of sub1 failed with exit code 3."


@pytest.mark.parametrize("state", [C.EXITED, C.GONE])
def test_a_container_that_its_session_goes_on_without_is_looked_at_once(state):
    rows = [row(), row(SUB, has_command=True)]
    rows[1].state = state
    for seen in (None, sub(ObservedState.EXITED, exit_code=3)):
        assert nothing_but(compared(container(), seen, now=session(), rows=rows))


def test_a_failure_that_a_session_accepts_is_a_warning_unless_it_is_that_of_the_main_container():
    rows = [row(), row(SUB, has_command=True)]
    now = session(on_failure=OnFailure.CONTINUE)
    findings = compared(container(), sub(ObservedState.EXITED, exit_code=3), now=now, rows=rows)
    assert nothing_but(findings, "completed", "spared")
    assert findings.spared[0][1] == (
        "The command of sub1 failed with exit code 3. The session continues without it, as requested."
    )
    assert nothing_but(compared(container(), None, now=now, rows=rows), "lost", "spared")
    assert nothing_but(compared(None, sub(), now=now, rows=rows), "lost")
    done = sub(ObservedState.EXITED, exit_code=0)
    assert nothing_but(compared(container(), done, now=now, rows=rows), "completed")


@pytest.mark.parametrize("rules", [(NodeLoss.END, NodeLoss.RESCHEDULE), (NodeLoss.RESCHEDULE, NodeLoss.END)])
def test_a_session_whose_nodes_are_all_lost_ends_if_one_of_their_groups_says_so(rules):
    other = NodeId("otherothernode")
    findings = compared(
        now=session(),
        rows=[row(node=NODE), row(SUB, node=other)],
        gone=dict(zip((NODE, other), rules, strict=True)),
    )
    assert [rule for _, rule in findings.node_lost] == [NodeLoss.END]


def test_a_session_waits_for_the_node_of_one_container_while_another_runs():
    rows = [row(), row(SUB, node=NODE)]
    assert nothing_but(compared(container(), now=session(), rows=rows, gone={NODE: None}))


def test_a_session_that_ended_while_the_live_ones_were_read_is_left_alone():
    """Its row was read, and its containers, a moment later, no longer are those of a live session."""
    now = session()
    before = Before({ID: queries.mark(now)}, frozenset([MAIN]))
    assert nothing_but(compare(EMPTY, before, LiveSessions({ID: now}, {})))
