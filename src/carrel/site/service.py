"""Use cases of the installation's settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.audit import service as audit
from carrel.core.errors import Invalid
from carrel.core.ids import new_id
from carrel.db.encryption import SecretBox
from carrel.permissions.decide import Actor, Target, require
from carrel.site.schemas import SiteSettings, SiteUpdate, SiteView
from carrel.tables.notifications import Delivery, DeliveryState, SessionNotice
from carrel.tables.site import QueuedLetter, SiteRow

_PASSWORD_PURPOSE = "site:mail_password"
_LONGEST_ERROR = 500


@dataclass(frozen=True)
class MailAccount:
    """The mail server's connection settings."""

    settings: SiteSettings
    password: str | None


async def settings(tx: AsyncSession) -> SiteSettings:
    """The current settings."""
    values = (await tx.execute(select(SiteRow.values).where(SiteRow.id == 1))).scalar_one_or_none()
    return _read(values or {})


async def show(tx: AsyncSession, actor: Actor) -> SiteView:
    """The settings and the mail status. Raises: Forbidden."""
    require(actor, "site.read", Target())
    return await _view(tx, await _row(tx))


async def update(tx: AsyncSession, seal: SecretBox, actor: Actor, changes: SiteUpdate) -> SiteView:
    """Update the settings present in `changes`. Raises: Forbidden, Invalid."""
    require(actor, "site.update", Target())
    row = await _row(tx, lock=True)
    given = changes.model_dump(mode="json", exclude_unset=True)
    before = _read(row.values).model_dump(mode="json")
    changed = {name: value for name, value in given.items() if name in before and before[name] != value}
    after = SiteSettings.model_validate({**before, **changed})
    _require_sound(after)
    row.values = {**row.values, **changed}
    details = {"before": {name: before[name] for name in changed}, "after": dict(changed)}
    if "mail_password" in given:
        password = given["mail_password"]
        row.mail_password = seal.close(password.encode(), _PASSWORD_PURPOSE) if password else None
        details["after"]["mail_password"] = "changed" if password else "removed"
    if details["after"]:
        audit.record(tx, actor, "site.update", "site", name="site", target=Target(), details=details)
    await tx.flush()
    return await _view(tx, row)


async def mail_account(tx: AsyncSession, seal: SecretBox) -> MailAccount:
    """The mail settings."""
    row = await _row(tx)
    password = seal.open(row.mail_password, _PASSWORD_PURPOSE).decode() if row.mail_password else None
    return MailAccount(_read(row.values), password)


async def note_mail(tx: AsyncSession, now: datetime, error: str | None) -> None:
    """Store the last mail error, or its absence, for superadmins."""
    row = await _row(tx, lock=True)
    row.mail_error = error[:_LONGEST_ERROR] if error else None
    row.mail_error_at = now if error else None


def _require_sound(settings: SiteSettings) -> None:
    """Raises: Invalid for inconsistent settings."""
    if settings.sign_up and not (settings.sign_up_domain and settings.sign_up_project):
        raise Invalid(
            "site.sign_up_place",
            "Sign-up requires a domain and a project for new users.",
            hint="Set sign_up_domain and sign_up_project.",
            field="sign_up_project" if settings.sign_up_domain else "sign_up_domain",
        )
    if settings.sign_up and settings.sign_up_verification and not settings.sends_mail:
        raise Invalid(
            "site.sign_up_mail",
            "E-mail verification requires a mail server.",
            hint="Set mail_host and mail_sender, or sign_up_verification to false.",
            field="sign_up_verification",
        )
    if settings.mail_host and not settings.mail_sender:
        raise Invalid(
            "site.mail_sender",
            "Mail requires a sender address.",
            hint="Set mail_sender.",
            field="mail_sender",
        )


async def label(tx: AsyncSession) -> str:
    """The label of the installation's containers in engines."""
    return (await tx.execute(select(SiteRow.label))).scalar_one()


async def become_a_copy(tx: AsyncSession) -> str:
    """Give a copy of an installation a new label and delete what the original sends: queued letters, notices and
    pending deliveries of webhooks.

    Returns the label.
    """
    fresh = new_id()[-8:]
    (await _row(tx, lock=True)).label = fresh
    await tx.execute(delete(QueuedLetter))
    await tx.execute(delete(SessionNotice))
    await tx.execute(delete(Delivery).where(Delivery.state == DeliveryState.PENDING))
    return fresh


async def _row(tx: AsyncSession, *, lock: bool = False) -> SiteRow:
    query = select(SiteRow).where(SiteRow.id == 1)
    row = (await tx.execute(query.with_for_update() if lock else query)).scalar_one_or_none()
    if row is None:
        row = SiteRow(id=1, values={})
        if lock:
            tx.add(row)
    return row


def _read(values: Mapping[str, Any]) -> SiteSettings:
    # Settings of another version are kept and ignored.
    return SiteSettings.model_validate({k: v for k, v in values.items() if k in SiteSettings.model_fields})


async def _view(tx: AsyncSession, row: SiteRow) -> SiteView:
    waiting = await tx.execute(select(func.count()).select_from(QueuedLetter))
    return SiteView(
        **_read(row.values).model_dump(),
        mail_password_set=row.mail_password is not None,
        mail_error=row.mail_error,
        mail_error_at=row.mail_error_at,
        mail_waiting=waiting.scalar_one(),
    )
