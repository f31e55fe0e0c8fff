"""Tells superadmins of accelerators that get out of order and of those that are put back, as each has chosen."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.encryption import SecretBox
from carrel.mail import device_letters, letters
from carrel.notifications import choices, deliveries
from carrel.notifications.fan_out import live_webhooks
from carrel.notifications.messages import DeviceFacts, Message, MessageContent
from carrel.site import outbox
from carrel.tables.notifications import NotificationChannel, NotificationKind, Webhook
from carrel.tables.tenancy import IS_SUPERADMIN, User

_MAIL_LIFETIME = timedelta(days=2)
_KINDS = {
    NotificationKind.DEVICE_OUT_OF_ORDER: ("device.out_of_order", device_letters.out_of_order),
    NotificationKind.DEVICE_BACK: ("device.back", device_letters.back),
}


async def announce(
    tx: AsyncSession,
    seal: SecretBox,
    kind: NotificationKind,
    devices: Sequence[DeviceFacts],
    *,
    link: str,
    now: datetime,
) -> None:
    """Queue a letter about all devices together, and a message to webhooks about each, in the transaction that found
    them.
    """
    type, letter = _KINDS[kind]
    sentences = [_sentence(one) for one in devices]
    receiving = []
    for user in await tx.scalars(select(User).where(IS_SUPERADMIN, User.active).order_by(User.email)):
        chosen = choices.of(user.notifications)[kind]
        if NotificationChannel.MAIL in chosen:
            language = letters.language_of(user.preferences.get("language"))
            await outbox.put(
                tx, seal, user.email, letter(language, sentences, link=link), now, _MAIL_LIFETIME
            )
        if NotificationChannel.WEBHOOK in chosen:
            receiving.append(user.id)
    webhooks = await live_webhooks(tx, kind, Webhook.user_id.in_(receiving))
    for one in devices:
        message = Message(type=type, timestamp=now, data=MessageContent(device=one))
        for webhook in webhooks:
            await deliveries.put(tx, webhook, message, now)


def _sentence(device: DeviceFacts) -> str:
    name = f"{device.model} ({device.id})" if device.model else device.id
    return ": ".join(part for part in (device.node.name, name, device.problem) if part)
