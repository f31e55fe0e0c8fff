"""CSV files of users: tolerant of spreadsheet dialects on input, safe from formula injection on output."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client.models import UserRow

MOST_ROWS = 10_000
_MOST_BYTES = 16 << 20
_TEXTS = ("email", "name", "domain", "role", "state", "password", "description")
_LISTS = ("projects", "addresses")
_SWITCH = "must_change_password"
COLUMNS = (
    "email",
    "name",
    "projects",
    "role",
    "state",
    "password",
    _SWITCH,
    "domain",
    "addresses",
    "description",
)
_YES, _NO = ("yes", "true", "1", "y"), ("no", "false", "0", "n")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Row:
    """A row of the file. line: its line number."""

    __slots__ = ("line", "user")

    def __init__(self, line: int, user: UserRow) -> None:
        self.line = line
        self.user = user


def template() -> str:
    """A template file."""
    return _written(
        [
            COLUMNS,
            ("ada@example.org", "Ada Lovelace", "default", "user", "active", "", "yes", "", "", "an example"),
        ]
    )


def read(path: str) -> list[Row]:
    """The rows of a file, or of standard input for "-". Raises: CarrelError naming the line at fault."""
    try:
        raw = sys.stdin.buffer.read(_MOST_BYTES + 1) if path == "-" else _content(Path(path))
    except OSError as error:
        raise _refused(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(raw) > _MOST_BYTES:
        raise _refused(f"{path} is larger than {_MOST_BYTES >> 20} MiB.", "Split the file.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _refused(f"Line {line} is not UTF-8.", "Save the sheet as CSV in UTF-8.") from None
    return _parsed(text)


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _parsed(text: str) -> list[Row]:
    first = text.split("\n", 1)[0]
    # Many locales' spreadsheets write semicolons.
    delimiter = ";" if first.count(";") > first.count(",") else ","
    # Keep line ends, so that those within quotes survive.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    try:
        names = _header(next(reader, []))
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(rows) == MOST_ROWS:
                raise _refused(f"The file has more than {MOST_ROWS} users.", "Split the file.")
            rows.append(Row(reader.line_num, _user(names, cells, reader.line_num)))
    except csv.Error as error:
        raise _refused(
            f"Line {reader.line_num} is not valid CSV: {error}.", "Look for an unbalanced quotation mark."
        ) from None
    if not rows:
        raise _refused("The file contains no users.", "carrel user import --template prints a template.")
    return rows


def _header(cells: Sequence[str]) -> list[str]:
    names = [cell.strip().lower().replace(" ", "_").replace("-", "_") for cell in cells]
    names = ["email" if name == "e_mail" else name for name in names]
    hint = f"The columns are {', '.join(COLUMNS)}; carrel user import --template writes them."
    for name in names:
        if name not in COLUMNS:
            raise _refused(f"The file has a column {name!r}, which is unknown.", hint)
        if names.count(name) > 1:
            raise _refused(f"The file has the column {name} twice.", hint)
    for name in ("email", "name"):
        if name not in names:
            raise _refused(f"The file has no column {name} in its first line.", hint)
    return names


def _user(names: Sequence[str], cells: Sequence[str], line: int) -> UserRow:
    if len(cells) > len(names):
        raise _refused(
            f"Line {line} has {len(cells)} cells for {len(names)} columns.", "Put quotes around commas."
        )
    user: UserRow = {}
    for name, cell in zip(names, cells, strict=False):
        value = cell if name == "password" else cell.strip()
        if not value:
            continue
        if name in _LISTS:
            user[name] = [part.strip() for part in value.split(";") if part.strip()]  # type: ignore[literal-required]
        elif name == _SWITCH:
            user["must_change_password"] = _switch(value, line)
        elif name in _TEXTS:
            user[name] = value  # type: ignore[literal-required]
    return user


def _switch(value: str, line: int) -> bool:
    if value.lower() not in _YES + _NO:
        raise _refused(f"Line {line}: {_SWITCH} is yes or no, not {value!r}.")
    return value.lower() in _YES


def results(made: Iterable[tuple[str, str, str]]) -> str:
    """E-mails with the password or link that each got, as a sheet."""
    return _written([("email", "password", "link"), *made])


def _written(rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: str) -> str:
    """What a spreadsheet would take for a formula, made a text."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _refused(detail: str, hint: str = "") -> CarrelError:
    return CarrelError("client.sheet", detail, status=422, hint=hint)
