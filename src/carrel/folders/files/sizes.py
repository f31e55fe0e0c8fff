"""Size limit of a file that arrives through the API; folders have quotas."""

from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import TooLarge
from carrel.core.units import format_size
from carrel.folders.files import tus
from carrel.site import service as site


async def largest(tx: AsyncSession) -> int:
    """Size limit of one file in bytes, from the installation's settings."""
    return (await site.settings(tx)).upload_most_bytes or tus.LARGEST


async def require_fitting(tx: AsyncSession, size: int) -> None:
    """Check the size of a file against the limit. Raises: TooLarge."""
    if size > (most := await largest(tx)):
        raise too_large(most)


def too_large(most: int) -> TooLarge:
    return TooLarge(
        "upload.too_large",
        f"A file can have {format_size(most)} at most.",
        hint="Split it, or ask an administrator.",
        details={"most_bytes": most},
    )
