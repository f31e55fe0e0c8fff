"""Which sessions an actor may see, as a condition for statements."""

from typing import Any

from carrel.permissions.decide import Actor, sight


def visible_as_text(alias: str) -> str:
    """The condition for rows of `sessions` with this alias; its parameters are those of `visibility`."""
    return f"""(
    :everything OR {alias}.owner_id = :user OR {alias}.domain_id = :domain
    OR {alias}.project_id = ANY(:projects)
)"""


def visibility(actor: Actor) -> dict[str, Any]:
    """Parameters of the condition."""
    seen = sight(actor, "session.read")
    return {
        "everything": seen.everything,
        "user": seen.owner_id,
        "domain": seen.domain_id,
        "projects": sorted(seen.project_ids),
    }
