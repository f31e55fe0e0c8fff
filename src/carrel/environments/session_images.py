"""Environments as images of sessions: what a request names, and on which engines the image is."""

import re
from collections import defaultdict
from collections.abc import Iterable

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.errors import Conflict
from carrel.core.ids import EngineId, ImageId
from carrel.environments import environment_access as access
from carrel.environments import image_origins
from carrel.permissions.decide import Actor
from carrel.scheduling.snapshot import Without
from carrel.tables.environments import REPOSITORY, Environment, EnvironmentVersion, VersionState
from carrel.tables.images import Image

PREFIX = "env:"
_REF = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]*)(?::(?P<version>[A-Za-z0-9][A-Za-z0-9_.-]*))?$")

# Only in an installation with several engines is an image not where it is needed.
_WITHOUT = text("""
    SELECT e.id AS engine_id, v.reference, x.name || ':' || v.name AS name
    FROM environment_versions v JOIN environments x ON x.id = v.environment_id, engines e
    WHERE (SELECT count(*) > 1 FROM engines) AND v.reference = ANY(:references) AND e.id <> v.engine_id
        AND NOT EXISTS (SELECT FROM nodes n WHERE n.engine_id = e.id AND n.images @> to_jsonb(v.reference))
    ORDER BY 2, 1
""")
_IN_PENDING = text(f"""
    SELECT c.session_id, array_agg(DISTINCT c.image) AS images
    FROM containers c JOIN sessions s ON s.id = c.session_id
    WHERE (SELECT count(*) > 1 FROM engines) AND s.state = 'PENDING' AND c.image LIKE '{REPOSITORY}/%'
    GROUP BY 1
""")  # noqa: S608 - no input in it


def is_environment(ref: str) -> bool:
    """True for what can only mean an environment: env:NAME or the reference of one's image."""
    return ref.startswith((PREFIX, f"{REPOSITORY}/"))


async def image_of(tx: AsyncSession, actor: Actor, ref: str) -> Image | None:
    """The image of an environment that the actor may start: env:NAME, env:NAME:VERSION, or a reference; NAME is
    only one of their own, or others could take names of images. It is no row of the catalogue. None: there is no such
    environment, and ref may mean something else.

    Raises: NotFound if it can mean nothing else, or has no such version; Conflict if the version is not ready, or
    several environments have the name.
    """
    if ref.startswith(f"{REPOSITORY}/"):
        same = EnvironmentVersion.reference == ref
        row = await _startable(tx, actor, same)
        if row is None:
            raise access.missing(ref)
        return await _image(tx, *row)
    match = _REF.match(ref.removeprefix(PREFIX))
    if not ref.startswith(PREFIX) and (match is None or match["version"]):
        return None
    if match is None:
        raise access.missing(ref.removeprefix(PREFIX))
    named = (Environment.id == match["name"]) | (Environment.name == match["name"])
    whose = access.startable(actor) if ref.startswith(PREFIX) else access.own(actor)
    rows = select(Environment).where(named, access.IN_USE, whose)
    matches = list((await tx.execute(rows)).scalars())
    if not matches and not ref.startswith(PREFIX):
        return None
    environment = access.nearest(actor, matches, match["name"])
    return await _image(tx, environment, await access.version_of(tx, environment, match["version"]))


async def of_reference(tx: AsyncSession, reference: str) -> Image | None:
    """The image of an environment that a session has already."""
    statement = (
        select(Environment, EnvironmentVersion)
        .join(EnvironmentVersion, EnvironmentVersion.environment_id == Environment.id)
        .where(EnvironmentVersion.reference == reference, EnvironmentVersion.state == VersionState.READY)
    )
    row = (await tx.execute(statement)).one_or_none()
    return await _image(tx, row[0], row[1]) if row else None


async def _startable(
    tx: AsyncSession, actor: Actor, condition: ColumnElement[bool]
) -> tuple[Environment, EnvironmentVersion] | None:
    statement = (
        select(Environment, EnvironmentVersion)
        .join(EnvironmentVersion, EnvironmentVersion.environment_id == Environment.id)
        .where(condition, EnvironmentVersion.state != VersionState.REMOVING, access.startable(actor))
    )
    row = (await tx.execute(statement)).one_or_none()
    return (row[0], row[1]) if row else None


async def _image(tx: AsyncSession, environment: Environment, version: EnvironmentVersion) -> Image:
    if version.state != VersionState.READY:
        raise Conflict(
            "environment.not_ready",
            f"Version {version.name} of the environment {environment.name} is not ready.",
            hint=f"See `carrel environment show {environment.name}`.",
            field="image",
            details={"state": version.state},
        )
    return Image(
        id=ImageId(version.id),
        name=f"{PREFIX}{environment.name}:{version.name}",
        reference=version.reference,
        title=environment.name,
        description=environment.description,
        architecture=version.architecture,
        size_bytes=version.size_bytes,
        present=True,
        min_slots=await image_origins.least_slots(tx, version),
        apps=version.apps,
    )


async def without(tx: AsyncSession, references: Iterable[str]) -> Without:
    """The engines that do not have one of these images, with what is missing there."""
    ours = sorted({one for one in references if one.startswith(f"{REPOSITORY}/")})
    if not ours:
        return ()
    rows = await tx.execute(_WITHOUT, {"references": ours})
    return tuple([(row.engine_id, f"does not have the environment {row.name}") for row in rows])


async def without_of_pending(tx: AsyncSession) -> dict[str, Without]:
    """The same by pending session."""
    by_session = {row.session_id: row.images for row in await tx.execute(_IN_PENDING)}
    references = {image for images in by_session.values() for image in images}
    known: defaultdict[str, list[tuple[EngineId, str]]] = defaultdict(list)
    for row in await tx.execute(_WITHOUT, {"references": sorted(references)}) if references else ():
        known[row.reference].append((row.engine_id, f"does not have the environment {row.name}"))
    return {
        session: tuple(pair for image in images for pair in known[image])
        for session, images in by_session.items()
    }
