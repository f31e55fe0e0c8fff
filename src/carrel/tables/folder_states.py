"""States of a folder and their transitions.

CREATING --> READY <--> TRASHED --> DELETING --> (gone)
COPYING  --> READY        MOVING <--> READY
CREATING, COPYING --> FAILED --> DELETING
"""

from enum import StrEnum

from carrel.core.lifecycle import Lifecycle


class FolderState(StrEnum):
    """CREATING: its directory is being created. COPYING: it is being filled with a copy.

    MOVING: to another storage host; read-only. FAILED: creation failed; it can only be deleted. DELETING: permanently,
    irreversible.
    """

    CREATING = "CREATING"
    COPYING = "COPYING"
    READY = "READY"
    MOVING = "MOVING"
    TRASHED = "TRASHED"
    DELETING = "DELETING"
    FAILED = "FAILED"


_F = FolderState


def remedy(state: FolderState) -> str:
    """A hint for a user who wants to use or change a folder in this state."""
    return _REMEDIES.get(state, "Wait until it is ready.")


_REMEDIES = {
    FolderState.TRASHED: "Restore it first.",
    FolderState.FAILED: "Delete it for good.",
    FolderState.DELETING: "It does not come back.",
}
LIFECYCLE = Lifecycle(
    moves={
        _F.CREATING: frozenset({_F.READY, _F.FAILED}),
        _F.COPYING: frozenset({_F.READY, _F.FAILED}),
        _F.READY: frozenset({_F.MOVING, _F.TRASHED}),
        _F.MOVING: frozenset({_F.READY}),
        _F.TRASHED: frozenset({_F.READY, _F.DELETING}),
        _F.FAILED: frozenset({_F.DELETING}),
        _F.DELETING: frozenset(),
    },
    deadlines={},
)
"""A permanently deleted folder has no row."""
