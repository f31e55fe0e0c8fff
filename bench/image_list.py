"""First pages of images and of their families for a user, with 10,000 images of which some are limited or hidden."""

import statistics
from urllib.parse import urlencode

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from bench.control_plane import EMAIL, ControlPlane, control_plane
from bench.load import load, request
from bench.table import Line

_IMAGES = 10_000
_FAMILIES = 40
_SECONDS = 2.0
_GOAL_MS = 50
_LISTS = {
    "images": "images?" + urlencode({"limit": 50}),
    "images by version": "images?" + urlencode({"limit": 50, "sort": "-version"}),
    "families of images": "image-families?" + urlencode({"limit": 50}),
}
_REGISTRY = """INSERT INTO registries (id, name, kind, url, host)
    VALUES ('bench', 'bench', 'generic', 'https://registry.example.org', 'registry.example.org')"""
_FILL = r"""INSERT INTO images (id, name, full_name, reference, title, description, present, min_slots, apps,
        registry_id, host, repository, tag, digest, family, version, version_key, architectures, layers, contents)
    SELECT 'i' || lpad(n::text, 11, '0'), md5(n::text), reference, reference, 'Image ' || n, repeat('about it ', 10),
        false, '{"cpu"\: 1000, "mem"\: 1073741824}', '[]', 'bench', 'registry.example.org', 'team/image' || family,
        version, 'sha256:' || md5(n::text) || md5(n::text), 'image' || family, version,
        'n' || lpad(major::text, 18, '0') || ' c', '{x86_64}', 10, '{"python"\: "3.13", "cuda"\: "12.8"}'
    FROM (SELECT n, n % :families AS family, n / :families AS major, n / :families || '.0' AS version,
            'registry.example.org/team/image' || n % :families || '\:' || n / :families || '.0' AS reference
        FROM generate_series(1, CAST(:images AS int)) n) numbered"""
_SETTINGS = """INSERT INTO image_settings (image, hidden, deprecated, groups)
    SELECT full_name, n % 50 = 0, n % 20 = 0,
        CASE WHEN n % 40 = 0 THEN ARRAY(SELECT id FROM resource_groups LIMIT 1) ELSE '{}' END
    FROM (SELECT full_name, row_number() OVER (ORDER BY id) n FROM images WHERE full_name IS NOT NULL) listed
    WHERE n % 10 = 0"""


async def measure() -> list[Line]:
    async with control_plane(controllers=False) as own:
        async with own.database.transaction() as tx:
            await _fill(tx)
        async with own.database.transaction() as tx:
            await tx.execute(text("ANALYZE"))
        return [await _line(own, name, path) for name, path in _LISTS.items()]


async def _fill(tx: AsyncSession) -> None:
    """The images; and the administrator is a user, to whom conditions apply."""
    await tx.execute(text(_REGISTRY))
    await tx.execute(text(_FILL), {"images": _IMAGES, "families": _FAMILIES})
    await tx.execute(text(_SETTINGS))
    await tx.execute(text("UPDATE users SET role = 'user' WHERE email = :email"), {"email": EMAIL})


async def _line(own: ControlPlane, name: str, path: str) -> Line:
    payload = request(f"{own.url}/api/v1/{path}", Authorization=own.basic)
    taken = (await load(payload, own.port, seconds=_SECONDS, connections=1)).latencies
    took_ms = statistics.median(taken) * 1000
    return Line(
        f"{name}, {_IMAGES:,}",
        f"{took_ms:.0f} ms",
        f"first 50 for a user, {_FAMILIES} families, one connection",
        goal=_GOAL_MS,
        value=took_ms,
    )
