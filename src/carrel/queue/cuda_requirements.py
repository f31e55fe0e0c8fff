"""What the images of sessions require of NVIDIA drivers. No statement if no container has devices of NVIDIA."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.cuda import uses_cuda
from carrel.core.ids import SessionId

# An environment requires what the images below it require. A reference that ends in a digest means any image with it,
# and otherwise its tag.
_REQUIRED = text("""
    SELECT n.reference, string_agg(DISTINCT i.requires_cuda, E'\\n') AS required
    FROM (
        SELECT r AS reference, split_part(r, '@', 1) AS image FROM unnest(CAST(:references AS varchar[])) AS r
        UNION
        SELECT r, d.reference FROM unnest(CAST(:references AS varchar[])) AS r
            JOIN images d ON d.digest = split_part(r, '@', 2) AND d.requires_cuda <> ''
        WHERE r LIKE '%@%'
        UNION
        SELECT v.reference, split_part(o.value->>'reference', '@', 1)
        FROM environment_versions v, jsonb_array_elements(v.origins) AS o
        WHERE v.reference = ANY(:references) AND (o.value->>'below')::boolean
    ) AS n JOIN images i ON i.reference = n.image AND i.requires_cuda <> ''
    GROUP BY 1
""")


async def of_images(tx: AsyncSession, references: Collection[str]) -> Mapping[str, str]:
    """By reference, in the form of `PendingSession.cuda`; those that require nothing are absent."""
    if not references:
        return {}
    rows = await tx.execute(_REQUIRED, {"references": sorted(references)})
    return {row.reference: row.required for row in rows}


async def of_pending(tx: AsyncSession, rows: Sequence[Any]) -> Mapping[SessionId, str]:
    """By session. rows: with slots, mixed, image and images, each of which is of one container."""
    images = {row.id: needing for row in rows if (needing := _with_devices(row))}
    required = await of_images(tx, {one for needing in images.values() for one in needing})
    return {session: text for session, needing in images.items() if (text := together(required, needing))}


def together(required: Mapping[str, str], images: Iterable[str]) -> str:
    """All that these images require."""
    return "\n".join(sorted({required[one] for one in images if one in required}))


def _with_devices(row: Any) -> set[str]:
    """The images of its containers that have devices of NVIDIA."""
    images = row.images or [row.image]
    sizes = row.mixed or [row.slots] * len(images)
    return {image for image, slots in zip(images, sizes, strict=True) if uses_cuda(slots)}
