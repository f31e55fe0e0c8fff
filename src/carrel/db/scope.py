"""Visibility filter of lists. Every list query uses it."""

from typing import Any

from sqlalchemy import ColumnElement, false, or_, true
from sqlalchemy.orm import InstrumentedAttribute

from carrel.permissions.decide import Actor, sight

Column = ColumnElement[Any] | InstrumentedAttribute[Any] | None


def permitted(
    actor: Actor,
    action: str,
    *,
    owner: Column = None,
    domain: Column = None,
    project: Column = None,
) -> ColumnElement[bool]:
    """A condition for the rows on which the actor may perform the action.

    owner, domain, project: columns of the row's owner; omit those that the table lacks.
    """
    seen = sight(actor, action)
    if seen.everything:
        return true()
    places: list[ColumnElement[bool]] = []
    if owner is not None and seen.owner_id:
        places.append(owner == seen.owner_id)
    if domain is not None and seen.domain_id:
        places.append(domain == seen.domain_id)
    if project is not None and seen.project_ids:
        places.append(project.in_(sorted(seen.project_ids)))
    return or_(false(), *places)
