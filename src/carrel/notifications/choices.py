"""Which notifications reach a user on which channel."""

from collections.abc import Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.permissions.decide import Actor, require
from carrel.tables.notifications import NotificationChannel, NotificationKind
from carrel.tables.tenancy import User
from carrel.tenancy import queries as tenancy

DEFAULT: Sequence[NotificationChannel] = (NotificationChannel.PAGE, NotificationChannel.WEBHOOK)
"""Until a user chooses: on the open page, and to the webhooks that the user has set up."""
_DEFAULTS = {NotificationKind.DEVICE_OUT_OF_ORDER: (*DEFAULT, NotificationChannel.MAIL)}


def of(stored: Mapping[str, Sequence[str]]) -> dict[NotificationKind, list[NotificationChannel]]:
    """The channels of each kind. stored: of a user's row."""
    return {
        kind: [
            channel
            for channel in NotificationChannel
            if channel in stored.get(kind, _DEFAULTS.get(kind, DEFAULT))
        ]
        for kind in NotificationKind
    }


async def show(tx: AsyncSession, actor: Actor) -> dict[NotificationKind, list[NotificationChannel]]:
    """The actor's own choices."""
    user = await tx.get_one(User, actor.user_id)
    require(actor, "notification.read", tenancy.user_target(user))
    return of(user.notifications)


async def update(
    tx: AsyncSession, actor: Actor, chosen: Mapping[NotificationKind, Sequence[NotificationChannel]]
) -> dict[NotificationKind, list[NotificationChannel]]:
    """Replace the channels of these kinds; other kinds stay."""
    user = await tx.get_one(User, actor.user_id, with_for_update={"key_share": True})
    target = tenancy.user_target(user)
    require(actor, "notification.update", target)
    before = of(user.notifications)
    after = before | {
        kind: [channel for channel in NotificationChannel if channel in channels]
        for kind, channels in chosen.items()
    }
    if after != before:
        user.notifications = {str(kind): [str(one) for one in channels] for kind, channels in after.items()}
        changed = [kind for kind in after if after[kind] != before[kind]]
        details = {
            "before": {str(kind): before[kind] for kind in changed},
            "after": {str(kind): after[kind] for kind in changed},
        }
        audit.record(
            tx, actor, "notification.update", user.id, name=user.email, target=target, details=details
        )
    return after
