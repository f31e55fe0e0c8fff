"""Whatever depends on whatever: exactly the sessions that can never start are cancelled, and none starts early."""

import asyncio
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from people import People
from session_kit import rows
from sqlalchemy import select, text, update

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.sessions import dependencies
from carrel.sessions.pending_since import WAITS_FOR_OTHERS
from carrel.tables.dependencies import DependencyCondition, DependencyFailure, SessionDependency
from carrel.tables.session_states import Result, SessionKind, SessionState
from carrel.tables.sessions import Session, SessionArray

S, C = SessionState, DependencyCondition
ENDINGS = {
    "runs": (S.RUNNING, None),
    "retried": (S.TERMINATING, None),
    "pending": (S.PENDING, None),
    "success": (S.TERMINATED, Result.SUCCESS),
    "failure": (S.TERMINATED, Result.FAILURE),
    "timed_out": (S.TERMINATED, Result.TIMED_OUT),
    "error": (S.ERROR, Result.FAILURE),
    "cancelled": (S.CANCELLED, Result.CANCELLED),
}
SUCCEEDS, FAILS, CANCELLED = {"success"}, {"failure", "timed_out", "error"}, {"cancelled"}


Edges = dict[tuple[int, int, bool], C]
"""By session, the one that it starts after, and whether that stands for its array."""


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[bool], Edges, dict[int, int]]:
    """States of the sessions; which keep waiting; their dependencies, always on earlier ones; the last session of each
    array by its first one.
    """
    count = draw(st.integers(1, 9))
    roots = draw(st.integers(1, count))
    states = [draw(st.sampled_from(sorted(ENDINGS))) if n < roots else "pending" for n in range(count)]
    edges = {
        (n, draw(st.integers(0, n - 1)), False): draw(st.sampled_from(C))
        for n in range(roots, count)
        for _ in range(draw(st.integers(0, 3)))
    }
    arrays: dict[int, int] = {}
    first = 0
    while first < count:
        last = draw(st.integers(first, min(first + 3, count - 1)))
        if draw(st.booleans()):
            arrays[first] = last
            edges |= {
                (n, first, True): draw(st.sampled_from(C))
                for n in range(max(roots, last + 1), count)
                if draw(st.booleans())
            }
        first = last + 1
    return states, [draw(st.booleans()) for _ in range(count)], edges, arrays


def expected(
    states: list[str], waits: list[bool], edges: Edges, arrays: dict[int, int]
) -> tuple[set[int], set[int]]:
    """Cancelled sessions, and those that may start: a model of its own, one pass in the order of creation."""
    states = list(states)
    cancelled, startable = set(), set()
    for n, state in enumerate(states):
        if state != "pending":
            continue
        verdicts = []
        for (session, other, of_array), condition in edges.items():
            if session == n:
                those = states[other : arrays[other] + 1] if of_array else [states[other]]
                verdicts.append(verdict(condition, those))
        if "never" in verdicts and not waits[n]:
            states[n] = "cancelled"
            cancelled.add(n)
        elif set(verdicts) <= {"met"}:
            startable.add(n)
    return cancelled, startable


def verdict(condition: C, states: list[str]) -> str:
    """Of one session, or of those of an array."""
    over = [state in SUCCEEDS | FAILS | CANCELLED for state in states]
    if condition == C.SUCCEEDED and any(
        how and state not in SUCCEEDS for how, state in zip(over, states, strict=True)
    ):
        return "never"
    if not all(over):
        return "open"
    return "never" if condition == C.FAILED and not FAILS & {*states} else "met"


async def test_exactly_those_that_can_never_start_are_cancelled(database: Database, people: People):
    clock = SystemClock()
    loop = asyncio.get_running_loop()

    async def check(graph: tuple[list[str], list[bool], Edges, dict[int, int]]) -> None:
        states, waits, edges, arrays = graph
        made = [
            await _store(n, state, keeps) for n, (state, keeps) in enumerate(zip(states, waits, strict=True))
        ]
        async with database.transaction() as tx:
            for first, last in arrays.items():
                tx.add(SessionArray(id=made[first], name="sweep", first_index=first, last_index=last))
                await tx.flush()
                for n in range(first, last + 1):
                    changes = {"array_id": made[first], "array_index": n}
                    await tx.execute(update(Session).where(Session.id == made[n]).values(changes))
            tx.add_all(
                SessionDependency(
                    session_id=made[n], after_id=made[other], whole_array=of_array, condition=condition
                )
                for (n, other, of_array), condition in edges.items()
            )
        async with database.transaction() as tx:
            while await dependencies.cancel_failed(tx, clock.now()):
                pass
        async with database.transaction() as tx:
            ended = set((await tx.execute(select(Session.id).where(Session.state == S.CANCELLED))).scalars())
            pending = (await tx.execute(select(Session.id).where(Session.state == S.PENDING))).scalars().all()
            after = await dependencies.of_pending(tx)
            of_others = select(Session.id).where(Session.state == S.PENDING, WAITS_FOR_OTHERS)
            waiting = (await tx.execute(of_others)).scalars().all()
            await tx.execute(text("DELETE FROM session_dependencies"))
            await tx.execute(text("UPDATE sessions SET state = 'RUNNING', ended_at = NULL"))
        cancelled, startable = expected(states, waits, edges, arrays)
        assert {n for n, one in enumerate(made) if one in ended and states[n] == "pending"} == cancelled
        free = {one for one in pending if not dependencies.sentence(after.get(one, ()))}
        assert {n for n, one in enumerate(made) if one in free} == startable
        # Metrics and time-outs know who waits for others by the rows alone.
        running = {n for n, one in enumerate(made) if states[n] in ("runs", "retried") or one in pending}
        assert {n for n, one in enumerate(made) if one in waiting} == {
            n
            for (n, other, of_array) in edges
            if made[n] in pending and running & {*range(other, (arrays[other] if of_array else other) + 1)}
        }

    async def _store(n: int, name: str, keeps: bool) -> str:
        state, result = ENDINGS[name]
        at = clock.now() + timedelta(seconds=n)
        final = state in (S.TERMINATED, S.ERROR, S.CANCELLED)
        columns: dict[str, Any] = {
            "kind": SessionKind.BATCH,
            "state": state,
            "outcome": S.PENDING if state == S.TERMINATING else None,
            "result": result,
            "created_at": at,
            "ended_at": at if final else None,
        }
        session, main = rows(people, **columns)
        if keeps:
            session.spec = {**session.spec, "on_dependency_failure": DependencyFailure.WAIT}
        async with database.transaction() as tx:
            tx.add(session)
            await tx.flush()
            tx.add(main)
        return session.id

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(graphs())
    # One failure decides, also while the first session of the array runs.
    @example((["runs", "failure", "pending"], [False] * 3, {(2, 0, True): C.SUCCEEDED}, {0: 1}))
    @example((["success", "runs", "pending"], [False] * 3, {(2, 0, True): C.ENDED}, {0: 1}))
    def every(graph: Any) -> None:
        asyncio.run_coroutine_threadsafe(check(graph), loop).result(60)

    await asyncio.to_thread(every)
