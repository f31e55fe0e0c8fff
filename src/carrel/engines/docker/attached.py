"""Accelerator attachments in container configurations."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from carrel.accelerators.port import Attachment, MachinePath
from carrel.engines import runtimes
from carrel.engines.accelerated import cannot_attach

CDI = "cdi"
"""The capability of a node whose daemon injects devices by the Container Device Interface."""

_PLAIN = "runc"
_OF_VENDORS = frozenset({"nvidia", "nvidia-cdi", "nvidia-legacy", "habana", "amd"})
_RESOLVER = MachinePath("/etc/resolv.conf", "/etc/resolv.conf")
"""Of the machine: the network of gVisor's kernel does not reach the name server that Docker has within a network."""


def host_config(attachment: Attachment) -> dict[str, object]:
    """The HostConfig for it; empty for an empty attachment. Without mounts: see `binds`."""
    parts: dict[str, object] = {
        "Devices": [
            {
                "PathOnHost": node.machine_path,
                "PathInContainer": node.path,
                "CgroupPermissions": node.permissions,
            }
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
    """The mounts for it. The daemon rejects a missing source path and never creates it."""
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


def with_shares(attachment: Attachment, shares: Attachment) -> Attachment:
    """With the variables and paths that its shares add."""
    return replace(attachment, env={**attachment.env, **shares.env}, paths=(*attachment.paths, *shares.paths))


def with_runtime(attachment: Attachment, runtime: str, offered: Mapping[str, Any]) -> Attachment:
    """With the runtime of the resource group. offered: those of the daemon, as it describes them.

    Raises: EngineError if the accelerators need another one, or if the daemon does not have it.
    """
    if runtime not in offered:
        raise runtimes.missing(runtime, offered)
    if attachment.runtime not in ("", runtime):
        raise cannot_attach(
            f"The accelerators need the runtime {attachment.runtime}, and sessions of the resource group have the "
            f"runtime {runtime}."
        )
    described = offered[runtime]
    names = (str(described.get(key, "")) for key in ("path", "runtimeType"))
    paths = (_RESOLVER,) if any("runsc" in one for one in names) else ()
    return replace(attachment, runtime=runtime, paths=(*attachment.paths, *paths))


def plain_runtime(info: Mapping[str, Any]) -> str:
    """The runtime of containers that need none of a vendor; empty: the daemon's default.

    Those of vendors give devices to containers that ask for them, or to all.
    """
    has_plain = _PLAIN in (info.get("Runtimes") or {})
    return _PLAIN if has_plain and info.get("DefaultRuntime") in _OF_VENDORS else ""


def require(attachment: Attachment, info: Mapping[str, Any], *, has_cdi: bool) -> None:
    """Check that the daemon supports the attachment. Raises: EngineError."""
    if attachment.cdi and not has_cdi:
        raise cannot_attach(
            f"The accelerators {', '.join(attachment.cdi)} need CDI, which the container engine does not support "
            "or has disabled."
        )
    offered = info.get("Runtimes") or {}
    if attachment.runtime and attachment.runtime not in offered:
        raise cannot_attach(
            f"The accelerators need the runtime {attachment.runtime}, and the container engine has "
            f"{', '.join(sorted(offered)) or 'none'}."
        )
