"""The three kinds of resource policies, parsed from a row's JSON. None: unlimited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from carrel.tables.session_states import Rights

UNLIMITED: Literal["unlimited"] = "unlimited"
Slots = Mapping[str, int | None]
"""By slot; "*" applies to slots that are not listed; without it, they are not permitted."""


@dataclass(frozen=True)
class UseLimit:
    """See `limits.schemas.IdleUse`."""

    window_s: int
    grace_s: int
    below: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class KeypairPolicy:
    """Limits for one keypair, or for use without a keypair. Its fields: see `limits.schemas.KeypairLimits`."""

    slots: Slots
    sessions: int | None
    pending_sessions: int | None
    pending_slots: Slots
    containers_per_session: int | None
    lifetime_s: int | None
    idle_timeout_s: int | None
    idle_use: UseLimit | None
    max_priority: int
    storage_hosts: tuple[str, ...] | None
    log_bytes: int | None
    max_rights: Rights
    default_disk_bytes: int | None
    max_disk_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class UserPolicy:
    """Limits for one user, with any keypair."""

    slots: Slots
    sessions: int | None
    folders: int | None
    folder_bytes: int | None
    environment_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class ProjectPolicy:
    """Limits for the folders of one project, and the rights inside its sessions."""

    folders: int | None
    folder_bytes: int | None
    environment_bytes: int | None
    max_rights: Rights


FolderPolicy = UserPolicy | ProjectPolicy
"""Folder limits of a user or a project."""


def keypair_policy(limits: Mapping[str, Any]) -> KeypairPolicy:
    """limits: of a row of this kind."""
    use, hosts = limits["idle_use"], limits["storage_hosts"]
    return KeypairPolicy(
        slots=_slots(limits["slots"]),
        sessions=most(limits["sessions"]),
        pending_sessions=most(limits["pending_sessions"]),
        pending_slots=_slots(limits["pending_slots"]),
        containers_per_session=most(limits["containers_per_session"]),
        lifetime_s=most(limits["lifetime_s"]),
        idle_timeout_s=most(limits["idle_timeout_s"]),
        idle_use=None if use == UNLIMITED else UseLimit(**use),
        max_priority=int(limits["max_priority"]),
        storage_hosts=None if hosts == UNLIMITED else tuple(hosts),
        log_bytes=most(limits["log_bytes"]),
        max_rights=Rights(limits["max_rights"]),
        default_disk_bytes=most(limits["default_disk_bytes"]),
        max_disk_bytes=most(limits["max_disk_bytes"]),
    )


def user_policy(limits: Mapping[str, Any]) -> UserPolicy:
    """limits: of a row of this kind."""
    return UserPolicy(
        slots=_slots(limits["slots"]),
        sessions=most(limits["sessions"]),
        folders=most(limits["folders"]),
        folder_bytes=most(limits["folder_bytes"]),
        environment_bytes=environment_bytes(limits),
    )


def project_policy(limits: Mapping[str, Any]) -> ProjectPolicy:
    """limits: of a row of this kind."""
    return ProjectPolicy(
        folders=most(limits["folders"]),
        folder_bytes=most(limits["folder_bytes"]),
        environment_bytes=environment_bytes(limits),
        max_rights=Rights(limits["max_rights"]),
    )


def folder_policy(kind: str, limits: Mapping[str, Any]) -> FolderPolicy:
    """kind: "user" or "project"."""
    return project_policy(limits) if kind == "project" else user_policy(limits)


def environment_bytes(limits: Mapping[str, Any]) -> int | None:
    """limits: of a row of a user or project; older ones lack it."""
    return most(limits.get("environment_bytes", UNLIMITED))


def most(limit: int | str) -> int | None:
    """One stored limit."""
    return None if limit == UNLIMITED else int(limit)


def _slots(limits: Mapping[str, int | str]) -> Slots:
    return {slot: most(limit) for slot, limit in limits.items()}
