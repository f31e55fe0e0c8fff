"""API representation of files, and cursors of their lists."""

import base64
import mimetypes
import os
from collections.abc import Sequence
from datetime import UTC, datetime

import orjson

from carrel.core.errors import CarrelError, Invalid
from carrel.folders.files.schemas import FilesDone, FileView, NotDone
from carrel.storage.listing import By, Entry, FileKind, Key, ListingOrder
from carrel.storage.paths import shown

_SECOND_NS = 10**9
_MOST_IN_WORDS = 5
_FIRST_S = int(datetime(1, 1, 2, tzinfo=UTC).timestamp())
_LAST_S = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())
# Independent of the media types known to the server's machine.
_TYPES = mimetypes.MimeTypes()
for _ending, _type in {
    ".ipynb": "application/x-ipynb+json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".toml": "application/toml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".jsonl": "application/jsonl",
    ".log": "text/plain",
}.items():
    _TYPES.add_type(_type, _ending)


def view(entry: Entry) -> FileView:
    is_file = entry.kind is FileKind.FILE
    return FileView(
        name=shown(entry.path).rpartition("/")[2] if entry.path else "",
        path=shown(entry.path) if entry.path else "",
        kind=entry.kind,
        readable=entry.readable,
        size_bytes=entry.size_bytes if is_file else None,
        mode=f"{entry.mode:03o}",
        type=_TYPES.guess_type(entry.name, strict=False)[0] if is_file else None,
        etag=entry.etag,
        modified_at=modified_at(entry.modified_ns),
    )


def modified_at(modified_ns: int) -> datetime:
    """The modification time, or the nearest representable one: a session can set any year."""
    seconds, rest_ns = divmod(modified_ns, _SECOND_NS)
    at = datetime.fromtimestamp(min(max(seconds, _FIRST_S), _LAST_S), UTC)
    return at.replace(microsecond=rest_ns // 1000)


def order(sort: str, cursor: str | None) -> ListingOrder:
    """The requested order. Raises: Invalid."""
    by: By = {"name": "name", "size": "size", "modified": "modified"}[sort.removeprefix("-")]  # type: ignore[assignment]
    return ListingOrder(by, sort.startswith("-"), _after(sort, cursor) if cursor else None)


def cursor(sort: str, last: Key | None) -> str | None:
    """The cursor of the next page."""
    if last is None:
        return None
    is_file, value, name = last
    # Derive the sort key from the name, whose bytes may be invalid UTF-8.
    key = [sort, is_file, value if isinstance(value, int) else None, os.fsencode(name).hex()]
    return base64.urlsafe_b64encode(orjson.dumps(key)).decode().rstrip("=")


def _after(sort: str, cursor: str) -> Key:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        sorted_by, is_file, value, encoded = orjson.loads(raw)
        name = os.fsdecode(bytes.fromhex(encoded))
        if sorted_by != sort or type(is_file) is not bool:
            raise ValueError(sorted_by)
        by_text = sort.endswith("name") or (sort.endswith("size") and not is_file)
        if (value is None) is not by_text or (value is not None and type(value) is not int):
            raise ValueError(value)
    except (ValueError, TypeError):
        raise Invalid(
            "invalid.cursor",
            "This cursor is invalid or belongs to another sort order.",
            hint="Start again at the first page.",
            field="cursor",
        ) from None
    return is_file, name.casefold() if value is None else value, name


def outcome(paths: list[str], refused: Sequence[tuple[str, CarrelError]]) -> FilesDone:
    """The outcome of a bulk operation. Raises: the first refusal, with all of them in its details, if all failed."""
    listed = [not_done(path, error) for path, error in refused]
    if refused and not paths:
        _, first = refused[0]
        if len(refused) > 1:
            sentences = " ".join(error.message for _, error in refused[:_MOST_IN_WORDS])
            more = " ..." if len(refused) > _MOST_IN_WORDS else ""
            first.message = f"None of {len(refused)} could be changed: {sentences}{more}"
        first.details = {**first.details, "refused": [each.model_dump() for each in listed]}
        raise first
    return FilesDone(paths=paths, refused=listed)


def not_done(path: str, error: CarrelError) -> NotDone:
    """A failed item of a bulk operation, with its reason."""
    return NotDone(path=shown(path), code=error.code, message=error.message)
