"""Verification of the audit trail: checks the hash chain part by part.

PostgreSQL computes and compares the hashes, so that this process needs neither CPU time nor memory for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import chain
from carrel.audit.chain import ENTRY, START, ChainLink

BATCH = 100_000
_SHOWN = 100
_GUARDS_NEEDED = 2


class FaultKind(StrEnum):
    """Kind of fault at a position of the chain."""

    ALTERED = "altered"
    MISSING = "missing"
    CUT = "cut"
    REWRITTEN = "rewritten"
    UNGUARDED = "unguarded"


@dataclass(frozen=True)
class Fault:
    """position: the first faulty one. entry_id: of the row there, None when there is none."""

    kind: FaultKind
    position: int
    entry_id: int | None
    sentence: str


@dataclass(frozen=True)
class Check:
    """The result of checking a part of the chain. reached: continue after it. faults: the first 100.

    start: the link before the first retained entry. cut_at: time of the retention cut, None: never. waiting: number of
    entries not sealed yet.
    """

    checked: int
    reached: int
    head: ChainLink
    start: ChainLink
    cut_at: datetime | None
    faults: Sequence[Fault]
    waiting: int
    done: bool


_BEFORE = text("SELECT position, hash FROM audit WHERE position <= :position ORDER BY position DESC LIMIT 1")
_AT = text("SELECT id, hash FROM audit WHERE position = :position")
_WAITING = text("SELECT count(*) FROM audit WHERE position IS NULL")
_GUARDS = text("""
    SELECT count(*) FROM pg_trigger WHERE tgrelid = 'audit'::regclass AND tgenabled IN ('O', 'A')
        AND tgname IN ('audit_is_kept', 'audit_is_never_emptied')
""")
_CUT_IS_NOTED = text("""
    SELECT 1 FROM audit WHERE action = 'audit.prune'
        AND details ->> 'position' = :position AND details ->> 'hash' = :hash
""")

# Each entry is compared with the stored hash of the previous one, so that an altered entry is reported alone.
_WALK = text(f"""
    WITH walked AS (
        SELECT a.id, a.position, coalesce(lag(a.position) OVER places, :before) AS before,
            a.hash IS NOT DISTINCT FROM sha256(convert_to(concat(
                encode(coalesce(lag(a.hash) OVER places, :hash), 'hex'), ' ', a.position, ' ', {ENTRY}
            ), 'UTF8')) AS true_to_hash
        FROM audit a WHERE a.position > :after AND a.position <= :until
        WINDOW places AS (ORDER BY a.position)
    ), faulty AS (
        SELECT * FROM walked WHERE position <> before + 1 OR NOT true_to_hash ORDER BY position LIMIT {_SHOWN}
    )
    SELECT (SELECT count(*) FROM walked) AS checked, id, position, before, true_to_hash
    FROM (VALUES (1)) one LEFT JOIN faulty ON true ORDER BY position
""")  # noqa: S608 - no input in it


async def check(
    tx: AsyncSession, *, after: int, expected: ChainLink | None = None, batch: int = BATCH
) -> Check:
    """Check the entries after a position. expected: a link recorded earlier, which must still exist."""
    start, anchor = await chain.begin(tx)
    end = await chain.head(tx)
    seen = (await tx.execute(_BEFORE, {"position": after})).first()
    before = ChainLink(seen.position, bytes(seen.hash or b"")) if seen else start
    after = max(after, before.position)
    until = min(after + batch, end.position)
    done = until >= end.position
    rows = (
        await tx.execute(
            _WALK, {"after": after, "until": until, "before": before.position, "hash": before.hash}
        )
    ).all()
    faults = [fault for row in rows if row.position is not None for fault in _faults(row)]
    if seen is None:
        faults = await _wrong_beginning(tx, start) + faults
    if expected and done:
        faults += await _unexpected(tx, expected, start, end)
    return Check(
        checked=rows[0].checked,
        reached=max(until, after),
        head=end,
        start=start,
        cut_at=anchor.cut_at if anchor else None,
        faults=faults[:_SHOWN],
        waiting=(await tx.execute(_WAITING)).scalar_one(),
        done=done,
    )


def _faults(row: Row[Any]) -> Iterator[Fault]:
    if row.position <= row.before:
        yield Fault(
            FaultKind.ALTERED, row.position, row.id, f"Position {row.position} occurs more than once."
        )
    elif row.position > row.before + 1:
        first, last = row.before + 1, row.position - 1
        which = f"Entry {first} is" if first == last else f"Entries {first} to {last} are"
        yield Fault(FaultKind.MISSING, first, None, f"{which} missing.")
    else:
        yield Fault(
            FaultKind.ALTERED,
            row.position,
            row.id,
            f"Entry {row.position} does not match its seal: its content, its position or its link to entry "
            f"{row.before} was altered.",
        )


async def _wrong_beginning(tx: AsyncSession, start: ChainLink) -> list[Fault]:
    """Faults of the table's trigger and of the record of the retention cut."""
    faults = []
    if (await tx.execute(_GUARDS)).scalar_one() != _GUARDS_NEEDED:
        faults.append(
            Fault(
                FaultKind.UNGUARDED,
                start.position,
                None,
                "The trigger that prevents changes to entries is disabled or missing.",
            )
        )
    if start is not START:
        noted = (
            await tx.execute(_CUT_IS_NOTED, {"position": str(start.position), "hash": start.hash.hex()})
        ).first()
        left = (await tx.execute(_BEFORE, {"position": start.position})).first()
        if noted is None or left is not None:
            faults.append(
                Fault(
                    FaultKind.CUT,
                    start.position,
                    None,
                    f"The entries up to position {start.position} were not removed by retention.",
                )
            )
    return faults


async def _unexpected(tx: AsyncSession, expected: ChainLink, start: ChainLink, end: ChainLink) -> list[Fault]:
    """The fault if the chain differs from the link recorded earlier."""
    position = expected.position
    if position > end.position:
        return [
            Fault(
                FaultKind.CUT,
                end.position + 1,
                None,
                f"The chain ends at position {end.position}, but an earlier check reached {position}: its end is gone.",
            )
        ]
    if position < start.position:
        return [
            Fault(
                FaultKind.CUT,
                position,
                None,
                f"Retention removed the entries up to position {start.position}; {position} cannot be compared.",
            )
        ]
    row = (await tx.execute(_AT, {"position": position})).first()
    hash_there = bytes(row.hash or b"") if row else start.hash if position == start.position else None
    if hash_there is None or hash_there == expected.hash:
        # A position without an entry was reported by the walk.
        return []
    return [
        Fault(
            FaultKind.REWRITTEN,
            position,
            row.id if row else None,
            f"Entry {position} does not have the recorded hash: the chain up to it was rewritten.",
        )
    ]
