"""Back ends by entry points: our own, and those of other distributions, in the same way.

Each port has a group of entry points. The name of an entry point is the kind of the back end; what it names is a
`Plugin`. Looking one up loads the module of that kind and of no other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, distribution, entry_points
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from carrel.core.errors import Unavailable

DISTRIBUTION = "carrel-compute"
Settings = TypeVar("Settings", bound=BaseModel)
Backend = TypeVar("Backend")


class Port(StrEnum):
    """The groups of entry points."""

    IDENTITY = "carrel.identity"
    STORAGE = "carrel.storage"


@dataclass(frozen=True)
class Plugin(Generic[Settings, Backend]):
    """One kind of back end.

    settings: what one is made from; secrets are SecretStr. make: touches neither disk nor network. Raises: Invalid for
    settings with which none could work.
    """

    settings: type[Settings]
    make: Callable[[Settings], Backend]

    def made(self, **values: object) -> Backend:
        """A back end with these settings; those that it has no use for are left out. Raises: as `make`."""
        return self.make(self.settings.model_validate(values))


@cache
def find(port: Port, kind: str) -> Plugin[Any, Any]:
    """The plug-in of this kind. Ours come first, so that nobody can stand in for them.

    Raises: Unavailable when no distribution has it, several have it, or it does not load.
    """
    own = distribution(DISTRIBUTION).entry_points.select(group=port, name=kind)
    found = list(own or entry_points(group=port, name=kind))
    if len(found) != 1:
        names = sorted(each.dist.name for each in found if each.dist)
        raise _unusable(port, kind, f"{' and '.join(names)} both bring it" if names else "nothing installed brings it")
    return _loaded(port, found[0])


def _loaded(port: Port, entry: EntryPoint) -> Plugin[Any, Any]:
    try:
        plugin = entry.load()
    except (ImportError, AttributeError) as error:
        raise _unusable(port, entry.name, f"it does not load ({error})") from error
    if not isinstance(plugin, Plugin):
        raise _unusable(port, entry.name, f"{entry.value} is no Plugin")
    return plugin


def _unusable(port: Port, kind: str, why: str) -> Unavailable:
    return Unavailable(
        "plugin.unusable",
        f"The plug-in {kind} of {port} cannot be used: {why}.",
        hint="An administrator must install the distribution that has it, and start Carrel again.",
        details={"port": port, "kind": kind},
    )
