"""Creation of all installed kinds of accelerators."""

from collections.abc import Mapping
from typing import Any

from carrel.accelerators.port import Accelerators
from carrel.plugins import Port, find, kinds


def make(settings: Mapping[str, Mapping[str, Any]]) -> list[Accelerators]:
    """One object per installed kind, with defaults for kinds without settings. settings: by kind.

    Raises: Unavailable for settings of a kind that is not installed; Invalid for invalid settings.
    """
    plugins = {**kinds(Port.ACCELERATOR), **{kind: find(Port.ACCELERATOR, kind) for kind in settings}}
    return [plugin.make(plugin.checked(settings.get(kind, {}))) for kind, plugin in plugins.items()]
