"""Export of the audit trail as a file."""

import csv
import io
from collections.abc import AsyncIterator

import orjson

from carrel.audit.queries import Exported
from carrel.http.spreadsheet import cell
from carrel.tables.audit import AuditEntry

_COLUMNS = (
    "position",
    "at",
    "actor_email",
    "actor_id",
    "action",
    "object_kind",
    "object_id",
    "object_name",
    "outcome",
    "reason",
    "credential",
    "address",
    "request_id",
    "owner_id",
    "project_id",
    "domain_id",
    "details",
    "id",
    "hash",
)
_BLOCK = 1 << 16


async def as_json_lines(entries: AsyncIterator[Exported]) -> AsyncIterator[bytes]:
    """One object per line: position, hash, previous hash, and the entry, byte for byte as it was sealed."""
    block: list[str] = []
    size = 0
    async for exported in entries:
        block.append(_json_line(exported))
        size += len(block[-1])
        if size > _BLOCK:
            yield "".join(block).encode()
            block, size = [], 0
    yield "".join(block).encode()


def _json_line(exported: Exported) -> str:
    entry = exported.entry
    before, own = (f'"{each.hex()}"' if each else "null" for each in (exported.before, entry.hash))
    position = "null" if entry.position is None else entry.position
    return f'{{"position": {position}, "hash": {own}, "before": {before}, "entry": {exported.text}}}\n'


async def as_csv(entries: AsyncIterator[Exported]) -> AsyncIterator[bytes]:
    """A table with a header, safe for spreadsheets: no cell is interpreted as a formula."""
    block = io.StringIO()
    writer = csv.writer(block)
    writer.writerow(_COLUMNS)
    async for exported in entries:
        writer.writerow([_cell(exported.entry, column) for column in _COLUMNS])
        if block.tell() > _BLOCK:
            yield block.getvalue().encode()
            block.seek(0)
            block.truncate()
    yield block.getvalue().encode()


def _cell(entry: AuditEntry, column: str) -> str:
    match column:
        case "at":
            return entry.at.isoformat()
        case "details":
            return orjson.dumps(entry.details).decode() if entry.details else ""
        case "hash":
            return entry.hash.hex() if entry.hash else ""
        case _:
            value = getattr(entry, column)
    return cell("" if value is None else str(value))
