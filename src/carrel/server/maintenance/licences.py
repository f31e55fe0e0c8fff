"""The packages that Carrel consists of, with versions and licences."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from carrel.server import page

DISTRIBUTION = "carrel-compute"
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"extra\s*==\s*[\"']([^\"']+)[\"']")
_CLASSIFIER = "License :: OSI Approved :: "
_LONGEST = 80
"""Some packages have the whole text of their licence where its name belongs."""


@dataclass(frozen=True, order=True)
class Package:
    """part: "server" or "page". licence: an SPDX expression or a name; empty if the package states none."""

    part: str
    name: str
    version: str
    licence: str


@cache
def packages() -> tuple[Package, ...]:
    """Those of the server, which are installed, and those in the page, which its build records; by name."""
    return tuple(sorted({*_of_server(), *_of_page()}))


def _of_server() -> Iterator[Package]:
    seen: set[tuple[str, frozenset[str]]] = set()
    open_ = [(DISTRIBUTION, frozenset[str]())]
    while open_:
        name, extras = one = open_.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # required elsewhere only, such as on another system
        yield Package("server", distribution.metadata["Name"], distribution.version, _licence(distribution))
        for requirement in distribution.requires or ():
            text, _, marker = requirement.partition(";")
            extra = _EXTRA.search(marker)
            if (match := _REQUIREMENT.match(text)) and (not extra or extra[1] in extras):
                given = (match[2] or "").replace(" ", "").split(",")
                open_.append((match[1].lower(), frozenset(given) - {""}))


def _licence(distribution: metadata.Distribution) -> str:
    facts = distribution.metadata.json
    stated = str(facts.get("license_expression") or facts.get("license") or "")
    if stated and len(stated) <= _LONGEST and "\n" not in stated:
        return stated
    return " OR ".join(
        line.removeprefix(_CLASSIFIER) for line in facts.get("classifier", ()) if line.startswith(_CLASSIFIER)
    )


def _of_page() -> Iterator[Package]:
    try:
        rows = json.loads((page.BUILT / "packages.json").read_text())
    except OSError:
        return  # the page is not built
    for row in rows:
        yield Package("page", row["name"], row["version"], row["licence"])
