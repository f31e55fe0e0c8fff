"""Keyset paging: a cursor is the sort key of the last row seen, so that a page costs the same at any depth."""

import base64
import binascii
from datetime import datetime

from carrel.core.errors import Invalid

MAX_LIMIT = 200


def encode_cursor(at: datetime, row_id: str) -> str:
    """An opaque cursor after this row."""
    return base64.urlsafe_b64encode(f"{at.isoformat()}|{row_id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[datetime, str]:
    """The sort key that `encode_cursor` put in. Raises: Invalid."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        at, row_id = raw.split("|", 1)
        return datetime.fromisoformat(at), row_id
    except (ValueError, binascii.Error):
        raise Invalid(
            "invalid.cursor",
            "This cursor is not one of ours.",
            hint="Start at the first page.",
            field="cursor",
        ) from None
