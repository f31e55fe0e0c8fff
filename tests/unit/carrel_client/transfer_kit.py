"""What servers answer to transfers of the SDK."""

import re

from scripted_server import answer

MADE = {"Location": "uploads/u1"}
NOW = "2026-01-02T03:04:05.250000Z"


def headed(status: str, **headers: object) -> bytes:
    """An answer without a body."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return answer(status=status, headers=lines)


def entry(name: str, size: int, **more: object) -> dict[str, object]:
    """A file as the API shows it."""
    return {
        "name": name,
        "path": name,
        "kind": "file",
        "readable": True,
        "size_bytes": size,
        "mode": "644",
        "type": None,
        "etag": '"e1"',
        "modified_at": NOW,
        **more,
    }


def listing(*items: object) -> bytes:
    return answer({"items": items, "path": "", "total": len(items), "permission": "rw", "next_cursor": None})


def problem(status: str, code: str) -> bytes:
    return answer({"code": code, "detail": "No."}, status=status)


def first_lines(requests: list[bytes]) -> list[str]:
    """Method and the end of the path of each request."""
    matches = (re.match(rb"(\w+) \S*?([\w.]+)(?:\?\S*)? ", request) for request in requests)
    return [f"{each[1].decode()} {each[2].decode()}" for each in matches if each]
