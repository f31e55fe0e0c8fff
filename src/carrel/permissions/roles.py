"""Role semantics beyond the table of actions: ranks and visibility.

The only module that compares roles; `tests/unit/test_habits.py` enforces it.
"""

from collections.abc import Iterable

from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor

_RANKS = [Role.USER, Role.DOMAIN_ADMIN, Role.SUPERADMIN]


def sees_everything(actor: Actor) -> bool:
    """True if the actor sees everything: groups, nodes, images, storage hosts."""
    return is_superadmin(actor.role)


def is_superadmin(role: str | None) -> bool:
    """True for the role that administers everything."""
    return role == Role.SUPERADMIN


def is_domain_admin(role: str | None) -> bool:
    """True for the role that administers a whole domain."""
    return role == Role.DOMAIN_ADMIN


def is_administrator(role: str) -> bool:
    """True for any administrator role."""
    return role != Role.USER


def outranks(one: str, other: str) -> bool:
    """True if one role ranks above the other."""
    return _RANKS.index(Role(one)) > _RANKS.index(Role(other))


def highest(roles: Iterable[Role]) -> Role:
    """The highest of at least one role."""
    return max(roles, key=_RANKS.index)


def is_of_projects(role: str) -> bool:
    """True for the role that is assigned per project."""
    return role == Role.PROJECT_ADMIN
