"""What must hold of an installation whatever happened to it. Shared by the simulation and the real engine.

`always` holds after every single commit; `at_rest` once the control plane has had time to finish its work.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from carrel.engines.port import Observed, ObservedState
from carrel.sessions.arrays import as_json
from carrel.sessions.derive import Member, derive
from carrel.sessions.endings import ending, endings_of, is_met, is_met_by_array
from carrel.tables.session_states import LIFECYCLE, ContainerRole, ContainerState, SessionState

Row = dict[str, Any]

TRANSITIONAL = frozenset(LIFECYCLE.deadlines)
HOLDING = frozenset(ContainerState) - {ContainerState.PENDING, ContainerState.GONE}
"""States in which a container holds its slots."""


def always(connection: psycopg.Connection[Any]) -> list[str]:
    """Violations of what every commit must keep; empty when all is well."""
    with _one_moment(connection):
        sessions = _rows(connection, "SELECT * FROM sessions")
        containers = _containers(connection)
        return [
            *_ledger_agrees(connection, containers),
            *_capacity_holds(connection),
            *_rows_are_coherent(sessions),
            *_containers_are_coherent(containers),
            *_states_follow_from_containers(sessions, containers),
            *_history_is_a_chain(connection, sessions),
            *_every_move_was_told(connection, sessions),
            *_folders_are_held(connection),
            *_nobody_starts_too_early(connection),
            *_arrays_hold_their_limits(connection),
            *_sessions_are_in_a_group_that_they_accept(connection),
            *_each_planned_time_has_one_session(connection),
        ]


def at_rest(connection: psycopg.Connection[Any], seen: Collection[Observed], now: datetime) -> list[str]:
    """Violations of what holds when nothing is in hand. seen: the engine's own list."""
    with _one_moment(connection):
        sessions = _rows(connection, "SELECT * FROM sessions")
        containers = _containers(connection)
    return [
        *always(connection),
        *_nobody_is_overdue(sessions, now),
        *_nobody_waits_in_vain(connection),
        *_containers_belong(containers, seen),
        *_running_means_running(containers, seen),
    ]


@contextmanager
def _one_moment(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """All queries of the block see the same commits."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _rows(connection: psycopg.Connection[Any], query: str) -> list[Row]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query).fetchall()


def _containers(connection: psycopg.Connection[Any]) -> list[Row]:
    """Each with the state and the kind of its session."""
    return _rows(
        connection,
        "SELECT c.*, s.name AS session, s.state AS session_state, s.kind AS session_kind FROM containers c"
        " JOIN sessions s ON s.id = c.session_id ORDER BY c.session_id, c.index",
    )


def _ledger_agrees(connection: psycopg.Connection[Any], containers: list[Row]) -> Iterable[str]:
    """A container that was placed holds exactly its slots on exactly its node, or on that of the elastic group whose
    machine it is on; any other holds nothing.
    """
    query = """
        SELECT a.container_id, a.session_id, a.slot, a.amount,
            CASE WHEN n.elastic AND m.engine_id = n.engine_id THEN m.id ELSE a.node_id END AS node_id
        FROM allocations a JOIN nodes n ON n.id = a.node_id JOIN containers c ON c.id = a.container_id
            LEFT JOIN nodes m ON m.id = c.node_id
        WHERE a.released_at IS NULL"""
    held: dict[str, dict[tuple[str, str, str], int]] = {}
    for row in _rows(connection, query):
        where = row["session_id"], row["node_id"], row["slot"]
        held.setdefault(row["container_id"], {})[where] = row["amount"]
    for one in containers:
        holds = held.pop(one["id"], {})
        due = {
            (one["session_id"], one["node_id"], slot): amount
            for slot, amount in one["slots"].items()
            if amount and one["state"] in HOLDING
        }
        if holds != due:
            yield f"{_container(one)} holds {holds or 'nothing'} instead of {due or 'nothing'}"
    for container, holds in held.items():
        yield f"there is no container {container}, which holds {holds}"


def _capacity_holds(connection: psycopg.Connection[Any]) -> Iterable[str]:
    query = """
        SELECT n.name, a.slot, sum(a.amount) AS held, (n.slots ->> a.slot)::bigint AS capacity
        FROM allocations a JOIN nodes n ON n.id = a.node_id WHERE a.released_at IS NULL
        GROUP BY n.id, a.slot"""
    for row in _rows(connection, query):
        if row["held"] > (row["capacity"] or 0):
            yield f"node {row['name']} has {row['capacity']} {row['slot']} and {row['held']} are held"


def _rows_are_coherent(sessions: list[Row]) -> Iterable[str]:
    for session in sessions:
        state = session["state"]
        if (state in TRANSITIONAL) != (session["deadline"] is not None):
            yield f"{_name(session)} has the deadline {session['deadline']}"
        if state == SessionState.RUNNING and session["started_at"] is None:
            yield f"{_name(session)} never started"
        if state in LIFECYCLE.final and session["outcome"] not in (None, state):
            yield f"{_name(session)} was to end in {session['outcome']}"
        if state == SessionState.ERROR and not session["reason"]:
            yield f"{_name(session)} does not say what went wrong"


def _containers_are_coherent(containers: list[Row]) -> Iterable[str]:
    for one in containers:
        state = one["state"]
        # A command may have ended before its start is recorded.
        may_lack = state == ContainerState.RUNNING and one["session_kind"] == "batch"
        if (state == ContainerState.RUNNING) != (one["address"] is not None) and not may_lack:
            yield f"{_container(one)} has the address {one['address']}"
        if (state in HOLDING) and one["node_id"] is None:
            yield f"{_container(one)} is on no node"
        if state == ContainerState.RUNNING and one["started_at"] is None:
            yield f"{_container(one)} never started"
        if (state in (ContainerState.EXITED, ContainerState.ABANDONED, ContainerState.GONE)) != (
            one["ended_at"] is not None
        ):
            yield f"{_container(one)} ended at {one['ended_at']}"


def _states_follow_from_containers(sessions: list[Row], containers: list[Row]) -> Iterable[str]:
    """Whatever wrote it: the state of a session is the one that its containers give it."""
    members: dict[str, list[Member]] = {}
    for one in containers:
        member = Member(
            ContainerRole(one["role"]), ContainerState(one["state"]), one["exit_code"], one["has_command"]
        )
        members.setdefault(one["session_id"], []).append(member)
    for session in sessions:
        own = members.get(session["id"], [])
        outcome = SessionState(session["outcome"]) if session["outcome"] else None
        if not own:
            yield f"{_name(session)} has no container"
        elif (
            derive(session["kind"], own, outcome, on_failure=session["on_failure"]).state != session["state"]
        ):
            yield f"{_name(session)} does not follow from {[str(member.state) for member in own]}"


def _history_is_a_chain(connection: psycopg.Connection[Any], sessions: list[Row]) -> Iterable[str]:
    steps: dict[str, list[Row]] = {}
    for row in _rows(connection, "SELECT * FROM session_history ORDER BY id"):
        steps.setdefault(row["session_id"], []).append(row)
    for session in sessions:
        at = None
        for step in steps.get(session["id"], []):
            before, after = step["from_state"], step["to_state"]
            note = before == after
            if before != at:
                yield f"{_name(session)}: history goes on from {before} after {at}"
            elif at is None and after != SessionState.PENDING:
                yield f"{_name(session)}: history begins with {after}"
            elif at is not None and not note and after not in LIFECYCLE.moves[SessionState(at)]:
                yield f"{_name(session)}: {at} -> {after} is not a move"
            at = after
        if at != session["state"]:
            yield f"{_name(session)}: history ends with {at}"


def _folders_are_held(connection: psycopg.Connection[Any]) -> Iterable[str]:
    """A live session holds all its folders, one that has ended holds none."""
    query = """
        SELECT s.id, s.name, s.state, m.folder_name, m.released_at
        FROM vfolder_mounts m JOIN sessions s ON s.id = m.session_id"""
    for row in _rows(connection, query):
        if (row["state"] in LIFECYCLE.final) == (row["released_at"] is None):
            yield f"{_name(row)} has let go of {row['folder_name']} at {row['released_at']}"


_DEPENDENCIES = """
    SELECT s.*, d.condition, d.whole_array, array_agg(p.kind) AS kinds, array_agg(p.state) AS states,
        array_agg(p.result) AS results
    FROM session_dependencies d JOIN sessions s ON s.id = d.session_id
        JOIN sessions p ON p.id = d.after_id OR d.whole_array AND p.array_id = d.after_id
    GROUP BY s.id, d.condition, d.after_id, d.whole_array"""


def _met(row: Row) -> bool | None:
    if row["whole_array"]:
        items = zip(row["states"], row["results"], [1] * len(row["states"]), strict=True)
        return is_met_by_array(row["condition"], endings_of(items))
    how = ending(*row["kinds"], *row["states"], *row["results"])
    return is_met(row["condition"], how)


def _nobody_starts_too_early(connection: psycopg.Connection[Any]) -> Iterable[str]:
    """What starts after others has left the queue only once they had ended as it needs."""
    for row in _rows(connection, _DEPENDENCIES):
        if row["state"] not in (SessionState.PENDING, SessionState.CANCELLED) and not _met(row):
            yield f"{_name(row)} did not wait for {row['states']}"


def _nobody_waits_in_vain(connection: psycopg.Connection[Any]) -> Iterable[str]:
    for row in _rows(connection, _DEPENDENCIES):
        if row["state"] == SessionState.PENDING and _met(row) is False:
            yield f"{_name(row)} waits for {row['states']}"


def _arrays_hold_their_limits(connection: psycopg.Connection[Any]) -> Iterable[str]:
    query = f"""
        SELECT a.id, a.max_parallel, a.last_index - a.first_index + 1 AS count, count(*) AS made,
            {as_json("a.id")}::jsonb -> 'counts' AS shown,
            (SELECT jsonb_agg(c) FROM (SELECT m.state, m.result, count(*) FROM sessions m
                WHERE m.array_id = a.id GROUP BY 1, 2 ORDER BY 1, 2) c) AS counted,
            count(*) FILTER (WHERE EXISTS (SELECT FROM containers c WHERE c.session_id = s.id
                AND c.state NOT IN ('PENDING', 'EXITED', 'GONE'))) AS placed
        FROM session_arrays a JOIN sessions s ON s.array_id = a.id GROUP BY a.id"""
    for row in _rows(connection, query):
        if row["made"] != row["count"]:
            yield f"array {row['id']} has {row['made']} of {row['count']} sessions"
        if row["shown"] != row["counted"]:
            yield f"array {row['id']} shows the counts {row['shown']} instead of {row['counted']}"
        if row["max_parallel"] and row["placed"] > row["max_parallel"]:
            yield f"array {row['id']} has {row['placed']} sessions at once, and may have {row['max_parallel']}"


def _sessions_are_in_a_group_that_they_accept(connection: psycopg.Connection[Any]) -> Iterable[str]:
    query = """
        SELECT s.id, s.state, s.group_id, s.accepted_groups, array_agg(DISTINCT n.group_id) AS placed
        FROM sessions s JOIN containers c ON c.session_id = s.id LEFT JOIN nodes n ON n.id = c.node_id
        WHERE s.accepted_groups <> '{}' GROUP BY s.id"""
    for row in _rows(connection, query):
        pending = row["state"] == SessionState.PENDING
        if pending and row["group_id"] != row["accepted_groups"][0]:
            yield f"{row['id']} is pending in {row['group_id']} and prefers {row['accepted_groups'][0]}"
        if not pending and row["placed"] not in ([None], [row["group_id"]]):
            yield f"{row['id']} is in {row['group_id']}, and its containers are in {row['placed']}"
        if row["group_id"] not in row["accepted_groups"]:
            yield f"{row['id']} is in {row['group_id']}, which it does not accept"


def _each_planned_time_has_one_session(connection: psycopg.Connection[Any]) -> Iterable[str]:
    query = """
        SELECT d.name, (SELECT count(*) FROM sessions s WHERE s.name LIKE d.name || '-%') AS sessions,
            (SELECT count(DISTINCT session_id) FROM schedule_runs r WHERE r.schedule_id = d.id) AS runs
        FROM schedules d"""
    for row in _rows(connection, query):
        if row["sessions"] != row["runs"]:
            yield f"schedule {row['name']} has {row['sessions']} sessions for {row['runs']} runs"


def _every_move_was_told(connection: psycopg.Connection[Any], sessions: list[Row]) -> Iterable[str]:
    """The states that the events show, repeats left out, are those of the history."""
    moves: dict[str, list[str]] = {}
    for row in _rows(
        connection,
        "SELECT session_id, to_state FROM session_history"
        " WHERE from_state IS DISTINCT FROM to_state ORDER BY id",
    ):
        moves.setdefault(row["session_id"], []).append(row["to_state"])
    states_of: dict[str, list[str]] = {}
    for row in _rows(
        connection,
        "SELECT object_id, data ->> 'state' AS state FROM events WHERE object_kind = 'session' ORDER BY id",
    ):
        states = states_of.setdefault(row["object_id"], [])
        if not states or states[-1] != row["state"]:
            states.append(row["state"])
    for session in sessions:
        if states_of.get(session["id"]) != moves.get(session["id"]):
            yield f"{_name(session)}: events tell {states_of.get(session['id'])}, not {moves.get(session['id'])}"


def _nobody_is_overdue(sessions: list[Row], now: datetime) -> Iterable[str]:
    for session in sessions:
        if session["state"] in TRANSITIONAL and session["deadline"] < now:
            yield f"{_name(session)} is past its deadline"


def _containers_belong(containers: list[Row], seen: Collection[Observed]) -> Iterable[str]:
    """Nothing runs that no container stands for, or one that holds nothing."""
    holding = {one["id"] for one in containers if one["state"] in HOLDING}
    for observed in seen:
        if observed.id not in holding:
            yield f"the container {observed.id} ({observed.state}) has no row that holds slots"


def _running_means_running(containers: list[Row], seen: Collection[Observed]) -> Iterable[str]:
    running = {observed.id: observed for observed in seen if observed.state is ObservedState.RUNNING}
    for one in containers:
        if one["session_state"] != SessionState.RUNNING or one["state"] == ContainerState.EXITED:
            continue
        observed = running.get(one["id"])
        if observed is None:
            yield f"{_container(one)} does not run"
        elif observed.address != one["address"]:
            yield f"{_container(one)} is at {observed.address}, not at {one['address']}"


def _container(one: Row) -> str:
    return f"container {one['index']} of {one['session']} ({one['state']})"


def _name(session: Row) -> str:
    return f"session {session['id']} ({session['state']})"
