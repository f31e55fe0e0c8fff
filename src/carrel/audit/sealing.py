"""Sealing: entries get their position in the chain in commit order."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ARRAY, BigInteger, LargeBinary, bindparam, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import chain
from carrel.audit.chain import ENTRY, ChainLink

BATCH = 1000


@dataclass(frozen=True)
class SealedEntry:
    """The position and hash of one entry."""

    entry_id: int
    link: ChainLink


@dataclass(frozen=True)
class Unsealed:
    """Entries waiting for a position, oldest first, at most BATCH. head: the link that they follow.

    held: more entries exist, but an older transaction is still running that may commit an earlier one.
    """

    head: ChainLink
    entries: Sequence[tuple[int, str]]
    held: bool

    @property
    def full(self) -> bool:
        return len(self.entries) == BATCH


# A row with a future transaction id came with a dump of another server: it is committed.
_UNSEALED = text(f"""
    SELECT a.id, {ENTRY} AS entry, a.xid < pg_snapshot_xmin(now.seen) OR a.xid >= pg_snapshot_xmax(now.seen) AS settled
    FROM audit a, (SELECT pg_current_snapshot() AS seen) now
    WHERE a.position IS NULL ORDER BY a.xid, a.id LIMIT {BATCH}
""")  # noqa: S608 - no input in it

_SEAL = text("""
    UPDATE audit SET position = sealed.position, hash = sealed.hash
    FROM unnest(:ids, :positions, :hashes) AS sealed (id, position, hash)
    WHERE audit.id = sealed.id AND audit.position IS NULL RETURNING audit.id
""").bindparams(
    bindparam("ids", type_=ARRAY(BigInteger)),
    bindparam("positions", type_=ARRAY(BigInteger)),
    bindparam("hashes", type_=ARRAY(LargeBinary)),
)


async def load(tx: AsyncSession) -> Unsealed:
    """The entries that can be sealed now."""
    # Read the head first: after a concurrent sealing it no longer matches, and this batch is dropped.
    head = await chain.head(tx)
    rows = (await tx.execute(_UNSEALED)).all()
    settled = [(row.id, row.entry) for row in rows if row.settled]
    return Unsealed(head, settled, held=len(settled) < len(rows))


def decide(unsealed: Unsealed) -> list[SealedEntry]:
    """The position and hash of each entry, in sequence."""
    seals: list[SealedEntry] = []
    before = unsealed.head
    for entry_id, entry in unsealed.entries:
        before = chain.link(before, entry)
        seals.append(SealedEntry(entry_id, before))
    return seals


async def apply(tx: AsyncSession, unsealed: Unsealed, seals: Sequence[SealedEntry]) -> bool:
    """Write the positions, all or none. False: another process was faster."""
    if await chain.head(tx) != unsealed.head:
        return False
    bound = {
        "ids": [seal.entry_id for seal in seals],
        "positions": [seal.link.position for seal in seals],
        "hashes": [seal.link.hash for seal in seals],
    }
    sealed = len((await tx.execute(_SEAL, bound)).all())
    if sealed != len(seals):
        await tx.rollback()
    return sealed == len(seals)
