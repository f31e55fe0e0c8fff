"""Queries on sessions that may be idle."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.tables.idle import SessionActivity
from carrel.tables.keypairs import Keypair
from carrel.tables.limits import HAS_IDLE_RULE, ResourcePolicy
from carrel.tables.policies import keypair_policy
from carrel.tables.session_states import SessionState
from carrel.tables.sessions import Container, Session
from carrel.tables.tenancy import User
from carrel.usage import service as usage
from carrel.usage.idle import rules
from carrel.usage.idle.rules import Life, Minute, Rules, rules_of

_PLAIN = frozenset({"cpu", "mem"})


@dataclass(frozen=True)
class Case:
    """A running session with its rules and activity. warned_of: as in its row."""

    session: SessionId
    rules: Rules
    life: Life
    slots: Mapping[str, int]
    warned_of: datetime | None


_SIZES = (
    select(func.json_agg(Container.slots))
    .where(Container.session_id == Session.id)
    .correlate(Session)
    .scalar_subquery()
)


def _chosen() -> Select[*tuple[Any, ...]]:
    # If the keypair was removed, the limits of use without a keypair apply.
    policy = func.coalesce(Keypair.policy_id, User.keypair_policy_id)
    return (
        select(
            Session.id,
            Session.kind,
            Session.started_at,
            Session.time_limit_s,
            Session.limit_used_s,
            Session.idle_ends_at,
            ResourcePolicy.limits,
            SessionActivity.active_at,
            SessionActivity.kept_at,
            SessionActivity.exempt,
            _SIZES.label("sizes"),
        )
        .join(User, User.id == Session.owner_id)
        .outerjoin(Keypair, Keypair.access_key == Session.access_key)
        .join(ResourcePolicy, ResourcePolicy.id == policy)
        .outerjoin(SessionActivity, SessionActivity.session_id == Session.id)
        .where(Session.state == SessionState.RUNNING, Session.started_at.is_not(None))
    )


async def watched(tx: AsyncSession) -> list[Case]:
    """Running sessions with an idle rule, or with a warning from one."""
    ruled = or_(HAS_IDLE_RULE, Session.idle_ends_at.is_not(None))
    return [_case(row) for row in await tx.execute(_chosen().where(ruled).order_by(Session.id))]


async def one(tx: AsyncSession, session: SessionId) -> Case | None:
    """One running session with its rules; None if it does not run."""
    row = (await tx.execute(_chosen().where(Session.id == session))).first()
    return _case(row) if row else None


async def activity(tx: AsyncSession, session: SessionId) -> SessionActivity | None:
    """The recorded activity; None: none."""
    return await tx.get(SessionActivity, session, populate_existing=True)


async def minutes(
    tx: AsyncSession, cases: Iterable[Case], now: datetime
) -> Mapping[SessionId, Sequence[Minute]]:
    """Usage per minute, as far back as it matters for each session's rule; sessions without such a rule are omitted."""
    limited = {case.session: (case, rules.lookback(case.rules.use)) for case in cases if case.rules.use}
    if not limited:
        return {}
    since = {key: now - lookback for key, (_, lookback) in limited.items()}
    means = await usage.minute_means(tx, since)
    return {
        key: [minute_of(case.slots, mean) for mean in means.get(key, ())]
        for key, (case, _) in limited.items()
    }


def total(sizes: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    """The slots of several containers together."""
    slots: Counter[str] = Counter()
    for size in sizes:
        slots.update(size)
    return slots


def is_accelerated(slots: Mapping[str, int]) -> bool:
    """True if an accelerator is among the slots."""
    return any(amount for slot, amount in slots.items() if slot not in _PLAIN)


def _case(row: Any) -> Case:
    slots = total(row.sizes)
    return Case(
        session=row.id,
        rules=rules_of(keypair_policy(row.limits), row.time_limit_s),
        life=Life(
            kind=row.kind,
            started_at=row.started_at,
            active_at=row.active_at,
            kept_at=row.kept_at,
            exempt=bool(row.exempt),
            accelerated=is_accelerated(slots),
            limit_used_s=row.limit_used_s,
        ),
        slots=slots,
        warned_of=row.idle_ends_at,
    )


def minute_of(slots: Mapping[str, int], mean: usage.Mean) -> Minute:
    """Usage in percent of the slots."""
    percent = {
        "cpu": 100 * mean.cpu_millis / max(slots.get("cpu", 0), 1),
        "mem": 100 * mean.mem_bytes / max(slots.get("mem", 0), 1),
    }
    if mean.accelerator_percent is not None:
        percent["accelerator"] = mean.accelerator_percent
    if mean.accelerator_mem_percent is not None:
        percent["accelerator_mem"] = mean.accelerator_mem_percent
    return Minute(mean.at, percent)
