"""CSV files that spreadsheets open without interpreting a cell as a formula."""

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def cell(text: str) -> str:
    """The text, with an apostrophe before a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A small file. None is an empty cell; numbers stay numbers."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(header)
    writer.writerows([cell(value) if isinstance(value, str) else value for value in row] for row in rows)
    return written.getvalue()
