"""How connections to PostgreSQL are opened, by every form of its URL, several hosts included."""

from typing import Any

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL

OPTIONS: dict[str, Any] = {
    "connect_timeout": 5,
    # A server whose machine or network is gone sends nothing: notice it within about ten seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""For each host in the URL. Ignored for sockets of this machine."""


def driver_url(url: str) -> URL:
    """The database URL for SQLAlchemy, which cannot parse all that PostgreSQL's library can."""
    parts = conninfo_to_dict(url)
    user, password, name = (parts.pop(part, None) for part in ("user", "password", "dbname"))
    rest = {part: str(value) for part, value in parts.items() if value is not None}
    return URL.create("postgresql+psycopg", _text(user), _text(password), database=_text(name), query=rest)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
