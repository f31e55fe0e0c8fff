"""Mail to superadmins about updates of images."""

from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.db.encryption import SecretBox
from carrel.mail import letters
from carrel.site import outbox
from carrel.tables.images import Image, ImageWatch
from carrel.tables.tenancy import IS_SUPERADMIN, User

_LIFETIME = timedelta(days=2)
_LISTED = 20


async def announce(tx: AsyncSession, seal: SecretBox, public_url: str, now: datetime) -> bool:
    """Queue one letter for each superadmin about all that is new, once; False: nothing is new."""
    told = update(ImageWatch).where(ImageWatch.news).values(news=False)
    those = told.returning(ImageWatch.image_id, ImageWatch.offered, ImageWatch.missing).cte("told")
    rows = await tx.execute(
        select(Image.reference, those.c.offered, those.c.missing)
        .join(those, those.c.image_id == Image.id)
        .order_by(Image.reference)
    )
    news: dict[letters.ImageNews, list[str]] = {}
    for name, offered, missing in rows:
        kind = letters.ImageNews.AVAILABLE if offered else letters.ImageNews.TAKEN
        news.setdefault(letters.ImageNews.MISSING if missing else kind, []).append(name)
    if not news:
        return False
    link = f"{public_url.rstrip('/')}/environments/images?state=watched"
    people = select(User.email, User.preferences).where(IS_SUPERADMIN, User.active)
    for email, preferences in await tx.execute(people.order_by(User.email)):
        language = letters.language_of(preferences.get("language"))
        letter = letters.image_updates(language, news, most=_LISTED, link=link)
        await outbox.put(tx, seal, email, letter, now, _LIFETIME)
    return True
