"""The chain of hashes over the sealed entries.

An entry's hash is the SHA-256 of one line of text (UTF-8, without an end of line):

    <hash of the entry before, 64 hexadecimal digits> <position> <entry as JSON>

Positions count from 1; before the first entry stand 64 zeros. The JSON is PostgreSQL's own text of a jsonb object of
all other fields, the same bytes that an export holds. docs/explanation/audit-trail.md shows how to check it by hand.
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
"""The JSON of the entry `a`: every field but position and hash."""


@dataclass(frozen=True)
class ChainLink:
    """A place in the chain."""

    position: int
    hash: bytes


START = ChainLink(0, bytes(32))


def link(before: ChainLink, entry: str) -> ChainLink:
    """The place of an entry right behind another."""
    position = before.position + 1
    return ChainLink(position, hashlib.sha256(f"{before.hash.hex()} {position} {entry}".encode()).digest())


_HEAD = text("SELECT position, hash FROM audit WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1")


async def begin(tx: AsyncSession) -> tuple[ChainLink, AuditAnchor | None]:
    """What stands before the first entry that is kept, and the note of where retention cut, if ever."""
    anchor = await tx.get(AuditAnchor, 1)
    return (ChainLink(anchor.position, anchor.hash) if anchor else START), anchor


async def head(tx: AsyncSession) -> ChainLink:
    """The last entry's place in the chain; START when there never was one."""
    last = (await tx.execute(_HEAD)).first()
    return ChainLink(last.position, bytes(last.hash or b"")) if last else (await begin(tx))[0]
