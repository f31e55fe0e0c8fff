"""Dry runs of idle rules on past sessions, in pages of bounded duration."""

import asyncio
import base64
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from carrel.core.clock import Clock
from carrel.core.errors import Invalid
from carrel.core.ids import PolicyId, SessionId
from carrel.db.database import Database
from carrel.limits import service as policies
from carrel.permissions.decide import Actor, Target, require
from carrel.tables.limits import PolicyKind
from carrel.tables.policies import UNLIMITED, UseLimit, keypair_policy, most
from carrel.tenancy.schemas import ProjectRef, UserRef
from carrel.usage.idle import past, replay, rules
from carrel.usage.idle.past import PastSession
from carrel.usage.idle.replay import ProposedEnd
from carrel.usage.idle.rules import Rules
from carrel.usage.idle.schemas import DryRunEnding, DryRunPage, DryRunRequest

PAGE_S = 1.0
"""How long a page takes, about."""
_AT_ONCE = 32
_CURSOR: TypeAdapter[tuple[SessionId, int, int]] = TypeAdapter(tuple[SessionId, int, int])
"""The last session that was checked, the number of those checked, and of all."""

_Checked = Sequence[tuple[PastSession, ProposedEnd | None]]


async def run(database: Database, clock: Clock, actor: Actor, request: DryRunRequest) -> DryRunPage:
    """Which sessions these rules would have ended. Several pages, because a month of usage may be much to read.

    Raises: Forbidden; NotFound; Invalid without a rule, or for a policy of another kind.
    """
    now, began = clock.now(), time.monotonic()
    since = now - timedelta(days=request.days)
    async with database.transaction() as tx:
        proposed, policy = await _rules(tx, actor, request)
        after, checked, total = _position(request.cursor)
        if after is None:
            total = await past.count(tx, since, policy)
    endings: list[DryRunEnding] = []
    # At least one batch, or a page might not get further.
    while True:
        async with database.transaction() as tx:
            some = await past.load(tx, since, now, policy, after, _AT_ONCE)
        results = await asyncio.to_thread(_replayed, proposed, some, began + PAGE_S)
        endings += [_view(session, ended) for session, ended in results if ended]
        checked += len(results)
        if results:
            after = results[-1][0].row.Session.id
        if not results or time.monotonic() >= began + PAGE_S:
            break
    return DryRunPage(
        items=endings,
        checked=checked,
        total=max(total, checked),
        next_cursor=_cursor(after, checked, total) if results and after else None,
    )


def _replayed(proposed: Rules, sessions: Sequence[PastSession], until: float) -> _Checked:
    """At least one, as many as there is time for."""
    results: list[tuple[PastSession, ProposedEnd | None]] = []
    for session in sessions:
        results.append((session, replay.ending(proposed, session.past)))
        if time.monotonic() >= until:
            break
    return results


async def _rules(tx: Any, actor: Actor, request: DryRunRequest) -> tuple[Rules, PolicyId | None]:
    """The rules to try, and the policy whose sessions are meant. What is omitted is as in the policy."""
    require(actor, "policy.update", Target())
    given = request.model_fields_set
    proposed, policy = Rules(), None
    if request.policy:
        row = await policies.find(tx, actor, request.policy, kind=PolicyKind.KEYPAIR)
        if row.kind != PolicyKind.KEYPAIR:
            raise Invalid(
                "policy.no_idle_rule",
                f"{row.name} is not a policy for keypairs.",
                hint="Only policies for keypairs have idle rules.",
                field="policy",
            )
        proposed, policy = rules.rules_of(keypair_policy(row.limits)), row.id
    traffic_s = most(request.idle_timeout_s) if "idle_timeout_s" in given else proposed.traffic_s
    use = proposed.use
    if "idle_use" in given:
        use = None if request.idle_use == UNLIMITED else UseLimit(**request.idle_use.model_dump())
    if not traffic_s and not use:
        raise Invalid(
            "policy.no_idle_rule",
            "There is no idle rule to try.",
            hint="Give an idle timeout, or thresholds of utilization.",
            field="idle_use",
        )
    return Rules(traffic_s, use), policy


def _view(session: PastSession, ended: ProposedEnd) -> DryRunEnding:
    row, finding = session.row, ended.finding
    return DryRunEnding(
        session=row.Session.id,
        name=row.Session.name,
        kind=row.Session.kind,
        owner=UserRef(id=row.User.id, email=row.User.email),
        project=ProjectRef(id=row.Project.id, name=row.Project.name),
        slots=dict(session.slots),
        started_at=row.Session.started_at,
        ended_at=row.Session.ended_at,
        ends_at=ended.at,
        freed_s=round(_seconds(ended.at, session.past.end)),
        rule=finding.rule,
        why=finding.why,
        measured={measure: round(percent, 2) for measure, percent in finding.measured.items()},
    )


def _seconds(start: datetime, end: datetime) -> float:
    return max((end - start).total_seconds(), 0.0)


def _cursor(after: SessionId, checked: int, total: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([after, checked, total])).decode()


def _position(cursor: str | None) -> tuple[SessionId | None, int, int]:
    if cursor is None:
        return None, 0, 0
    try:
        return _CURSOR.validate_json(base64.b64decode(cursor, altchars=b"-_", validate=True), strict=True)
    except (ValueError, ValidationError):
        raise Invalid(
            "invalid.cursor",
            "This cursor is invalid.",
            hint="Start again at the first page.",
            field="cursor",
        ) from None
