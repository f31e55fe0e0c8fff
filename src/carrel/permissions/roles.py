"""What roles mean beside the table of actions: who ranks above whom, and from whom nothing is hidden.

The only place that compares roles; `tests/unit/test_habits.py` holds to that.
"""

from collections.abc import Iterable

from carrel.permissions.actions import Role
from carrel.permissions.decide import Actor

_RANKS = [Role.USER, Role.DOMAIN_ADMIN, Role.SUPERADMIN]


def sees_everything(actor: Actor) -> bool:
    """Whether nothing of the installation is hidden from the actor: groups, nodes, images, storage hosts."""
    return is_superadmin(actor.role)


def is_superadmin(role: str | None) -> bool:
    """Whether who has it administers everything."""
    return role == Role.SUPERADMIN


def is_domain_admin(role: str | None) -> bool:
    """Whether who has it administers one domain, as a whole."""
    return role == Role.DOMAIN_ADMIN


def is_administrator(role: str) -> bool:
    """Whether it is more than a user's."""
    return role != Role.USER


def outranks(one: str, other: str) -> bool:
    """Whether one role is above the other."""
    return _RANKS.index(Role(one)) > _RANKS.index(Role(other))


def highest(roles: Iterable[Role]) -> Role:
    """The one that ranks above the others, of at least one."""
    return max(roles, key=_RANKS.index)


def is_of_projects(role: str) -> bool:
    """Whether people have it in single projects, instead of everywhere."""
    return role == Role.PROJECT_ADMIN
