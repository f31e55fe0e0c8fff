"""The hash chain over the sealed entries.

An entry's hash is the SHA-256 of one line of text (UTF-8, without an end of line):

    <hash of the previous entry, 64 hexadecimal digits> <position> <entry as JSON>

Positions start at 1; the first entry uses 64 zeros as the previous hash. The JSON is PostgreSQL's own text of a jsonb
object of all other fields, byte for byte as in an export. docs/explanation/audit-trail.md shows how to check it by
hand.
"""

import hashlib
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.tables.audit import AuditAnchor

ENTRY = """jsonb_build_object(
    'id', a.id, 'transaction', a.xid::text,
    'at', to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'actor_id', a.actor_id, 'actor_email', a.actor_email, 'action', a.action,
    'object_kind', a.object_kind, 'object_id', a.object_id, 'object_name', a.object_name,
    'owner_id', a.owner_id, 'project_id', a.project_id, 'domain_id', a.domain_id,
    'outcome', a.outcome, 'reason', a.reason, 'credential', a.credential, 'address', a.address,
    'request_id', a.request_id, 'details', a.details)::text"""
"""The JSON of the entry `a`: every field except position and hash."""


@dataclass(frozen=True)
class ChainLink:
    """A position in the chain with its hash."""

    position: int
    hash: bytes


START = ChainLink(0, bytes(32))


def link(before: ChainLink, entry: str) -> ChainLink:
    """The link of the entry that follows another."""
    position = before.position + 1
    return ChainLink(position, hashlib.sha256(f"{before.hash.hex()} {position} {entry}".encode()).digest())


_HEAD = text("SELECT position, hash FROM audit WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1")


async def begin(tx: AsyncSession) -> tuple[ChainLink, AuditAnchor | None]:
    """The link before the first retained entry, and the record of the last retention cut, if any."""
    anchor = await tx.get(AuditAnchor, 1)
    return (ChainLink(anchor.position, anchor.hash) if anchor else START), anchor


async def head(tx: AsyncSession) -> ChainLink:
    """The link of the last entry; START for an empty chain."""
    last = (await tx.execute(_HEAD)).first()
    return ChainLink(last.position, bytes(last.hash or b"")) if last else (await begin(tx))[0]
