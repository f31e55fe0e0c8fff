"""Warn about idle sessions, and end them when their time is up."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.controllers.loop import Tools
from carrel.core.ids import SessionId
from carrel.core.units import format_duration
from carrel.sessions import queries as sessions
from carrel.sessions import transitions, updates
from carrel.tables import limits as limits
from carrel.tables.notifications import IDLE_WARNING
from carrel.tables.policies import UseLimit
from carrel.tables.session_states import SessionState
from carrel.usage.idle import queries, rules
from carrel.usage.idle.queries import Case
from carrel.usage.idle.rules import Decision, Finding, IdleAction, Minute

WARNING = "It looks idle: it ends in {} unless it is used or marked as in use."


class Idle:
    """Samples of a session are read again only when they can matter (`rules.look_again_at`)."""

    name = "idle"
    topics = (limits.TOPIC,)
    tick_s = 15.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._look_at: dict[SessionId, tuple[UseLimit, datetime]] = {}

    async def close(self) -> None:
        """No-op: there are no background tasks."""

    async def step(self) -> None:
        """Evaluate every running session with an idle rule once."""
        tools, now = self._tools, self._tools.clock.now()
        async with tools.database.transaction() as tx:
            cases = await queries.watched(tx)
            self._forget_others(cases)
            looked = await self._looked_at(tx, cases, now)
        judged = ((case.session, self._judge(case, looked.get(case.session), now)) for case in cases)
        due = [session for session, (_, decided) in judged if decided.step is not IdleAction.NOTHING]
        for session in due:
            async with tools.transaction() as tx:
                await self._act(tx, session, now)

    async def _looked_at(
        self, tx: AsyncSession, cases: Iterable[Case], now: datetime
    ) -> Mapping[SessionId, Sequence[Minute]]:
        return await queries.minutes(tx, [case for case in cases if self._must_look(case, now)], now)

    def _judge(
        self, case: Case, minutes: Sequence[Minute] | None, now: datetime
    ) -> tuple[Finding | None, Decision]:
        """minutes: None if not read."""
        findings = rules.findings(case.rules, case.life, minutes or (), now)
        if case.rules.use and minutes is not None:
            self._look_at[case.session] = case.rules.use, rules.look_again_at(case.rules.use, findings, now)
        first = rules.first_to_end(findings)
        return first, rules.decide(first, case.warned_of, now)

    def _must_look(self, case: Case, now: datetime) -> bool:
        rule, at = self._look_at.get(case.session, (None, now))
        return case.rules.use is not None and (
            rule != case.rules.use or at <= now or case.warned_of is not None
        )

    def _forget_others(self, cases: Sequence[Case]) -> None:
        known = {case.session for case in cases}
        self._look_at = {session: look for session, look in self._look_at.items() if session in known}

    async def _act(self, tx: AsyncSession, session: SessionId, now: datetime) -> None:
        """Warn, end, or clear the warning. A concurrent "keep" takes the same lock."""
        if not await sessions.lock(tx, session, SessionState.RUNNING):
            return
        known = await queries.one(tx, session)
        if known is None:
            return
        looked = await self._looked_at(tx, [known], now)
        finding, decided = self._judge(known, looked.get(session), now)
        match decided.step:
            case IdleAction.END if finding:
                await transitions.move(
                    tx,
                    [session],
                    SessionState.TERMINATING,
                    sources=[SessionState.RUNNING],
                    outcome=SessionState.TERMINATED,
                    cause=f"idle_{finding.rule}",
                    reason=finding.why,
                    now=now,
                )
            case IdleAction.WARN if decided.ends_at and known.warned_of is None:
                left_s = (decided.ends_at - now).total_seconds()
                await updates.expect_idle_end(
                    tx,
                    session,
                    decided.ends_at,
                    now=now,
                    cause=IDLE_WARNING,
                    reason=WARNING.format(format_duration(left_s)),
                )
            case IdleAction.WARN | IdleAction.CLEAR:
                await updates.expect_idle_end(tx, session, decided.ends_at, now=now)
