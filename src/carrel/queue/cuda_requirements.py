"""What the images of sessions require of NVIDIA drivers. No statement if no container has devices of NVIDIA."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.cuda import uses_cuda
from carrel.core.ids import ProjectId, SessionId

ProjectImage = tuple[ProjectId, str]
"""The reference of an image, for sessions of the project."""

# An environment requires what the images below it require. A reference that ends in a digest means any image with it,
# and otherwise its tag. As in `images.availability.scoped`, registries of others do not count: anybody may write there
# what they like.
_REQUIRED = text("""
    WITH requested AS (
        SELECT a.project, p.domain_id AS domain, a.reference
        FROM unnest(CAST(:projects AS varchar[]), CAST(:references AS varchar[])) AS a(project, reference)
            JOIN projects p ON p.id = a.project
    )
    SELECT n.project, n.reference, string_agg(DISTINCT n.requires_cuda, E'\\n') AS required
    FROM (
        SELECT a.*, i.requires_cuda, i.registry_id
        FROM requested a JOIN images i ON i.reference = split_part(a.reference, '@', 1) AND i.requires_cuda <> ''
        UNION
        SELECT a.*, i.requires_cuda, i.registry_id
        FROM requested a JOIN images i ON i.digest = split_part(a.reference, '@', 2) AND i.requires_cuda <> ''
        WHERE a.reference LIKE '%@%'
        UNION
        SELECT a.*, i.requires_cuda, i.registry_id
        FROM requested a JOIN environment_versions v ON v.reference = a.reference,
            jsonb_array_elements(v.origins) AS o
            JOIN images i ON i.reference = split_part(o.value->>'reference', '@', 1) AND i.requires_cuda <> ''
        WHERE (o.value->>'below')::boolean
    ) AS n LEFT JOIN registries r ON r.id = n.registry_id
    WHERE coalesce(r.project_id = n.project, r.domain_id = n.domain, true)
    GROUP BY 1, 2
""")


async def of_images(tx: AsyncSession, images: Collection[ProjectImage]) -> Mapping[ProjectImage, str]:
    """In the form of `PendingSession.cuda`; those that require nothing are absent."""
    if not images:
        return {}
    projects, references = zip(*sorted(images), strict=True)
    rows = await tx.execute(_REQUIRED, {"projects": list(projects), "references": list(references)})
    return {(row.project, row.reference): row.required for row in rows}


async def of_pending(tx: AsyncSession, rows: Sequence[Any]) -> Mapping[SessionId, str]:
    """By session. rows: with project_id, slots, mixed, image and images, each of which is of one container."""
    images = {row.id: needing for row in rows if (needing := _with_devices(row))}
    required = await of_images(tx, {one for needing in images.values() for one in needing})
    return {session: text for session, needing in images.items() if (text := together(required, needing))}


def together(required: Mapping[ProjectImage, str], images: Iterable[ProjectImage]) -> str:
    """All that these images require."""
    return "\n".join(sorted({required[one] for one in images if one in required}))


def _with_devices(row: Any) -> set[ProjectImage]:
    """The images of its containers that have devices of NVIDIA."""
    images = row.images or [row.image]
    sizes = row.mixed or [row.slots] * len(images)
    return {(row.project_id, image) for image, slots in zip(images, sizes, strict=True) if uses_cuda(slots)}
