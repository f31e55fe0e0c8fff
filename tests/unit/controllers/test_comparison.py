"""What a comparison of the engine's list with the sessions finds, and what it leaves alone."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from carrel.controllers.comparison import (
    Before,
    Findings,
    LiveSessions,
    OneEngine,
    compare,
    is_settled,
    unlisted,
)
from carrel.controllers.taken_away import MAX_RESTARTS
from carrel.core.ids import ContainerId, NodeId, SessionId
from carrel.engines.port import IN_PLACE_RESTART, Observed, ObservedState
from carrel.nodes.service import EngineNode
from carrel.sessions import queries
from carrel.sessions.containers import ContainerChange, PlacedRow
from carrel.tables.groups import NodeLoss
from carrel.tables.notifications import NODE_LEAVING
from carrel.tables.session_states import LIFECYCLE, ContainerRole, OnFailure, SessionKind
from carrel.tables.session_states import ContainerState as C
from carrel.tables.session_states import SessionState as S
from carrel.tables.sessions import Container, Session

ID = SessionId("abcdefghijkl")
MAIN, SUB = ContainerId("mainmainmain"), ContainerId("subsubsubsub")
HERE = "10.0.0.7"
NODE, OTHER_NODE = NodeId("nodenodenode"), NodeId("othernode")
KEEPS = frozenset({IN_PLACE_RESTART})
EMPTY = OneEngine({}, {NODE: EngineNode("gpu-1", KEEPS)}, {}, {})


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
    closed: str = "",
    on_loss: NodeLoss = NodeLoss.END,
    ending: frozenset[str] = frozenset(),
) -> Findings:
    """One comparison of a list with at most one session; before: the same if not given. rows: the main one.

    elsewhere: nodes of another engine. capabilities, closed, on_loss: of all other nodes, which are called gpu-1.
    """
    was = before or now
    own = rows or [row(node=None if was and was.state == S.PENDING else NODE)]
    node = EngineNode("gpu-1", capabilities, closed, on_loss)
    here = {one.node_id: node for one in own if one.node_id and one.node_id not in elsewhere}
    listed = {one.id: one for one in seen if one}
    findings = compare(
        OneEngine(listed, here, gone or {}, {ID: restarts}, ending=ending),
        Before({was.id: queries.mark(was)}, frozenset(one.id for one in own))
        if was
        else Before({}, frozenset()),
        LiveSessions({now.id: now}, {now.id: own}) if now else LiveSessions({}, {}),
    )
    # What is not even compared has no findings.
    if now and all(is_settled(placed(one, now), listed.get(one.id), here, ending) for one in own):
        assert nothing_but(findings)
    return findings


def placed(one: Container, session: Session) -> PlacedRow:
    warned = NODE_LEAVING in session.warnings
    return PlacedRow(one.id, session.id, S(session.state), C(one.state), one.node_id, one.address, warned)


def nothing_but(findings: Findings, *names: str) -> bool:
    return {field.name for field in fields(findings) if getattr(findings, field.name)} == set(names)


@pytest.mark.parametrize("state", sorted(LIFECYCLE.live))
def test_what_is_as_it_should_be_is_left_alone(state):
    here = container() if state not in (S.PENDING,) else None
    assert nothing_but(compared(here, now=session(state)))


def test_only_what_is_as_it_should_be_is_settled():
    def settled(session: Session, seen: Observed | None, *, here: bool = True, ending: str = "") -> bool:
        own = {NODE: EngineNode("gpu-1")} if here else {}
        return is_settled(placed(row(), session), seen, own, {ending})

    as_it_is = container(node="gpu-1")
    assert settled(session(), as_it_is)
    assert not settled(session(), None)
    assert not settled(session(), container(ObservedState.EXITED))
    for change in ({"address": "10.9.9.9"}, {"out_of_memory": True}, {"evicted": True}, {"node": "gpu-2"}):
        assert not settled(session(), replace(as_it_is, **change))
    assert not settled(session(S.TERMINATING), as_it_is)
    assert not settled(session(), as_it_is, ending="gpu-1")
    assert not settled(session(warnings=[NODE_LEAVING]), as_it_is)
    # Of another engine.
    assert settled(session(), None, here=False)
    assert not settled(session(), as_it_is, here=False)


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
    assert [(one.session, one.rule) for one in findings.node_lost] == [(there, rule)]


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
    assert [one.rule for one in findings.node_lost] == [NodeLoss.END]


def test_a_session_waits_for_the_node_of_one_container_while_another_runs():
    rows = [row(), row(SUB, node=NODE)]
    assert nothing_but(compared(container(), now=session(), rows=rows, gone={NODE: None}))


def test_a_session_that_ended_while_the_live_ones_were_read_is_left_alone():
    """Its row was read, and its containers, a moment later, no longer are those of a live session."""
    now = session()
    before = Before({ID: queries.mark(now)}, frozenset([MAIN]))
    assert nothing_but(compare(EMPTY, before, LiveSessions({ID: now}, {})))


# Containers that are taken from their nodes, and nodes that are taken away

ELSEWHERE = " It is requeued and restarts on another node, without the files outside mounted folders."


def evicted_at_work(**more: Any) -> Observed:
    return container(evicted=True, **more)


@pytest.mark.parametrize("rule", NodeLoss)
@pytest.mark.parametrize(
    "there",
    [evicted_at_work(), evicted_at_work(state=ObservedState.EXITED, exit_code=137)],
    ids=["drained", "killed"],
)
def test_an_evicted_container_is_lost_by_the_rule_of_its_group(there, rule):
    now = session()
    findings = compared(there, now=now, on_loss=rule)
    assert nothing_but(findings, "evicted")
    [one] = findings.evicted
    assert (one.session, one.rule) == (now, rule)
    assert one.reason == "Its container was evicted from gpu-1." + (
        ELSEWHERE if rule is NodeLoss.RESCHEDULE else ""
    )


def test_the_reason_of_an_eviction_is_in_the_words_of_the_engine():
    words = "It was evicted because its node was low on memory."
    findings = compared(evicted_at_work(reason=words), now=session(), on_loss=NodeLoss.RESCHEDULE)
    assert findings.evicted[0].reason == words + ELSEWHERE


def test_a_session_that_is_evicted_again_and_again_ends():
    again = {"on_loss": NodeLoss.RESCHEDULE, "now": session()}
    [moved] = compared(evicted_at_work(), restarts=4, **again).evicted
    assert moved.rule is NodeLoss.RESCHEDULE
    [ended] = compared(evicted_at_work(), restarts=5, **again).evicted
    assert ended.rule is NodeLoss.END
    assert ended.reason.endswith("It has been started again 5 times already.")


def test_a_container_that_is_missing_from_a_closed_node_was_evicted():
    """A drain that ended while nobody looked."""
    findings = compared(None, now=session(), closed="cordoned in the cluster", on_loss=NodeLoss.RESCHEDULE)
    assert nothing_but(findings, "evicted")
    assert (
        findings.evicted[0].reason
        == "Its container was evicted from gpu-1 (cordoned in the cluster)." + ELSEWHERE
    )
    assert nothing_but(compared(None, now=session(), on_loss=NodeLoss.RESCHEDULE), "lost")
    assert nothing_but(compared(container(), now=session(), closed="cordoned in the cluster"))


@pytest.mark.parametrize(("retries", "rule"), [(0, NodeLoss.END), (2, NodeLoss.RESCHEDULE)])
def test_an_evicted_batch_session_is_repeated_as_often_as_was_requested(retries, rule):
    now = session(kind=SessionKind.BATCH, retries_left=retries)
    findings = compared(evicted_at_work(), now=now, on_loss=NodeLoss.RESCHEDULE)
    assert [one.rule for one in findings.evicted] == [rule]


def test_a_command_that_succeeded_has_succeeded_even_if_its_container_was_evicted_then():
    done = evicted_at_work(state=ObservedState.EXITED, exit_code=0)
    assert nothing_but(compared(done, now=session(kind=SessionKind.BATCH, retries_left=1)), "completed")
    assert nothing_but(compared(done, now=session()), "evicted")


def test_a_session_that_goes_on_without_a_part_of_it_does_so_after_an_eviction():
    rows = [row(), row(SUB)]
    now = session(on_failure=OnFailure.CONTINUE)
    away = compared(container(), None, now=now, rows=rows, closed="cordoned in the cluster")
    assert nothing_but(away, "lost", "spared")
    ends = compared(evicted_at_work(), container(id=SUB), now=now, rows=rows)
    assert nothing_but(ends, "evicted")
    assert ends.evicted[0].reason == "Containers of it were evicted from gpu-1."


def test_a_session_that_cannot_start_again_on_a_closed_node_moves_if_it_may():
    """As when a kubelet refuses a pod that it had, and the node is short of disk from then on."""
    closed = "has the taint node.kubernetes.io/disk-pressure:NoSchedule, which sessions do not tolerate"
    now = session(S.STARTING)
    for seen in (None, container(ObservedState.STARTING), container(ObservedState.EXITED)):
        moves = compared(seen, now=now, closed=closed, on_loss=NodeLoss.RESCHEDULE)
        assert nothing_but(moves, "evicted")
        assert nothing_but(compared(seen, now=now, closed=closed))
        assert nothing_but(compared(seen, now=now, on_loss=NodeLoss.RESCHEDULE))
    fresh = session(S.STARTING, started_at=None)
    assert nothing_but(compared(None, now=fresh, closed=closed, on_loss=NodeLoss.RESCHEDULE))
    assert nothing_but(compared(container(), now=now, closed=closed, on_loss=NodeLoss.RESCHEDULE))


def test_a_container_on_a_node_that_it_has_left_is_not_that_of_the_session():
    """As when a cluster was restored from a backup."""
    assert nothing_but(compared(container(node="gpu-1"), now=session()))
    assert nothing_but(compared(container(node="gpu-2"), now=session()), "lost")


def test_what_ends_or_starts_already_is_not_evicted():
    for state in (S.TERMINATING, S.STARTING, S.PREPARING):
        assert nothing_but(compared(evicted_at_work(), now=session(state)))


def test_a_session_is_warned_once_that_its_node_will_go_and_the_warning_ends_when_it_stays():
    gone = "about to be taken away (karpenter.sh/disrupted)"
    now, ending = session(), frozenset({"gpu-1"})
    findings = compared(container(), now=now, closed=gone, ending=ending)
    assert nothing_but(findings, "ending")
    text = f"Its node gpu-1 is {gone}. Files outside mounted folders are lost with it."
    assert findings.ending == [(now, text)]
    warned = session(warnings=["node_leaving"])
    assert nothing_but(compared(container(), now=warned, closed=gone, ending=ending))
    assert compared(container(), now=warned).staying == [warned]
    assert nothing_but(compared(container(), now=warned, elsewhere=frozenset({NODE})), "strays")
