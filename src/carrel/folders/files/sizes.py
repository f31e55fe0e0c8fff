"""How large a file may be that comes in through the API; folders as a whole have quotas."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import TooLarge
from carrel.core.units import format_size
from carrel.folders.files import tus
from carrel.site import service as site


async def largest(tx: AsyncSession) -> int:
    """Most bytes of one file, as the installation says."""
    return (await site.settings(tx)).upload_most_bytes or tus.LARGEST


async def require_fitting(tx: AsyncSession, size: int) -> None:
    """Return when a file may have so many bytes. Raises: TooLarge."""
    if size > (most := await largest(tx)):
        raise too_large(most)


def too_large(most: int) -> TooLarge:
    return TooLarge(
        "upload.too_large",
        f"A file may have {format_size(most)} at most.",
        hint="Split it, or ask an administrator.",
        details={"most_bytes": most},
    )
