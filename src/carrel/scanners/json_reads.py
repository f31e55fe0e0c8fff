"""Reads of JSON documents that anybody may have written: what has another type than expected counts as missing."""

from collections.abc import Iterator, Mapping
from typing import Any

from carrel.scanners.reports import LONGEST

Document = Mapping[str, Any]


def text(document: Document, key: str, kind: str) -> str:
    """The text under the key, at most as long as texts of this kind, in one line."""
    value = document.get(key)
    return " ".join(value.replace("\0", "").split())[: LONGEST[kind]] if isinstance(value, str) else ""


def number(document: Document, key: str, most: float) -> float | None:
    """The number under the key, from 0 to the most."""
    value = document.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= most else None


def part(document: Document, key: str) -> Document:
    """The object under the key; empty if there is none."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def parts(document: Document, key: str) -> Iterator[Document]:
    """The objects of the list under the key."""
    value = document.get(key)
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def words(document: Document, key: str, kind: str) -> str:
    """The texts of the list under the key, as one."""
    value = document.get(key)
    texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    return text({"": ", ".join(texts)}, "", kind)


def link(document: Document, key: str) -> str:
    """A web address under the key; "" for anything else, as people will follow it."""
    address = text(document, key, "link")
    return address if address.startswith(("https://", "http://")) else ""


def purl_type(purl: str) -> str:
    """The package system of a package URL, such as deb; "" if it is none."""
    return purl.removeprefix("pkg:").partition("/")[0][: LONGEST["type"]] if purl.startswith("pkg:") else ""


def named(document: Document) -> str:
    """Name and version of a tool."""
    return f"{text(document, 'name', 'name')} {text(document, 'version', 'version')}".strip()[:100]
