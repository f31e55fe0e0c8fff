"""An accelerator's attachment in a container's configuration."""

from collections.abc import Mapping
from typing import Any

from carrel.accelerators.port import Attachment
from carrel.engines.accelerated import cannot_attach

CDI = "cdi"
"""The capability of a node whose daemon injects devices by the Container Device Interface."""


def host_config(attachment: Attachment) -> dict[str, object]:
    """What the daemon's HostConfig has for it; empty for an empty attachment. Mounts are not among it: see `binds`."""
    parts: dict[str, object] = {
        "Devices": [
            {"PathOnHost": node.path, "PathInContainer": node.path, "CgroupPermissions": node.permissions}
            for node in attachment.nodes
        ],
        "GroupAdd": [str(group) for group in attachment.groups],
        "CapAdd": list(attachment.capabilities),
        "Ulimits": [
            {"Name": limit.name, "Soft": limit.soft, "Hard": limit.hard} for limit in attachment.limits
        ],
        "DeviceRequests": [{"Driver": "cdi", "DeviceIDs": list(attachment.cdi)}] if attachment.cdi else [],
        "Runtime": attachment.runtime,
    }
    return {name: value for name, value in parts.items() if value}


def binds(attachment: Attachment) -> list[dict[str, object]]:
    """The daemon's mounts for it. A path that is missing on the machine is refused by the daemon, never made."""
    return [
        {
            "Type": "bind",
            "Source": path.source,
            "Target": path.target,
            "ReadOnly": path.read_only,
            "BindOptions": {"Propagation": "rprivate"},
        }
        for path in attachment.paths
    ]


def has_cdi(info: Mapping[str, Any]) -> bool:
    """Whether the daemon reads CDI specifications: it lists where. Off by default before Docker 28."""
    return bool(info.get("CDISpecDirs"))


def require(attachment: Attachment, info: Mapping[str, Any]) -> None:
    """Refuse what this daemon cannot do. Raises: EngineError."""
    if attachment.cdi and not has_cdi(info):
        raise cannot_attach(
            f"The accelerators {', '.join(attachment.cdi)} come by CDI, which the container engine does not have "
            "or has switched off."
        )
    runtimes = info.get("Runtimes") or {}
    if attachment.runtime and attachment.runtime not in runtimes:
        raise cannot_attach(
            f"The accelerators need the runtime {attachment.runtime}, and the container engine has "
            f"{', '.join(sorted(runtimes)) or 'none'}."
        )
