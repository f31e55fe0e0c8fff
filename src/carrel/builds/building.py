"""Builds in progress: which are due, their logs, and what an engine is given."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import BytesIO

from sqlalchemy import delete, exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.builds import contexts
from carrel.builds import dockerfile as dockerfiles
from carrel.builds.build_recipes import OWN
from carrel.engines.optional import BuildLimits, BuildMarks
from carrel.environments import making
from carrel.tables.builds import BuildContext, BuildLog, BuiltVersion
from carrel.tables.environments import Environment, EnvironmentVersion, VersionState

ATTEMPTS = 3
"""Of which all but the last were interrupted."""
DEFAULT_LIMITS = BuildLimits(cpu_millis=2000, mem_bytes=4 << 30, disk_bytes=20 << 30, time_s=3600)
_OPEN = (VersionState.WAITING, VersionState.RUNNING)
_CONTEXT_KEPT = timedelta(days=1)
_AUTHORITIES = f"{OWN}/ca-certificates.crt"
_AUTHORITIES_THERE = "/usr/local/share/carrel/ca-certificates.crt"
_TRUSTING = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
)
_PREDEFINED = frozenset({"http_proxy", "https_proxy", "no_proxy"})


@dataclass(frozen=True)
class BuildRules:
    """limits: of each build. at_once: builds of all people. arguments: of every build, such as the package index.
    authorities: certificates that steps trust instead of those of their image, as PEM; empty: only those.
    """

    limits: BuildLimits = DEFAULT_LIMITS
    at_once: int = 2
    arguments: Mapping[str, str] = field(default_factory=dict)
    authorities: bytes = b""


async def to_do(tx: AsyncSession) -> list[EnvironmentVersion]:
    """Versions that are to be built, oldest first; those whose build was interrupted before others."""
    statement = select(EnvironmentVersion).where(
        EnvironmentVersion.recipe.is_not(None), EnvironmentVersion.state.in_(_OPEN)
    )
    order = (EnvironmentVersion.state, EnvironmentVersion.created_at, EnvironmentVersion.id)
    return list((await tx.execute(statement.order_by(*order))).scalars())


def startable(
    versions: Sequence[EnvironmentVersion], active: Collection[str], *, at_once: int
) -> list[EnvironmentVersion]:
    """Those that may begin: at once so many, and one for each person and each environment. Pure."""
    running = [one for one in versions if one.id in active]
    people = Counter(one.created_by for one in running)
    environments = {one.environment_id for one in running}
    chosen: list[EnvironmentVersion] = []
    for one in versions:
        free = not people[one.created_by] and one.environment_id not in environments
        if one.id in active or one.cancel or not free or len(running) + len(chosen) >= at_once:
            continue
        chosen.append(one)
        people[one.created_by] += 1
        environments.add(one.environment_id)
    return chosen


async def begin(tx: AsyncSession, version: str) -> BuiltVersion | None:
    """The build, now running, with a new log, whose parts are numbered after those of the one before: who follows it
    misses nothing. None if it is no longer to be built.
    """
    if await making.begin(tx, version) is None:
        return None
    build = await tx.get_one(BuiltVersion, version, populate_existing=True)
    build.attempts += 1
    last = await _last_part(tx, version)
    await tx.execute(delete(BuildLog).where(BuildLog.version_id == version))
    again = ["It was interrupted, and begins again."] if build.attempts > 1 or last else []
    if notes := [*again, *build.notes]:
        text = "".join(f"{line}\n" for line in notes)
        tx.add(BuildLog(version_id=build.version_id, number=last + 1, text=text))
    await tx.flush()
    return build


async def hindered(tx: AsyncSession, version: str, problem: str) -> None:
    """Record why it waits: that is no attempt."""
    build = await tx.get(BuiltVersion, version, with_for_update=True)
    if build is not None:
        build.attempts -= 1
        await making.hindered(tx, version, problem)


async def add_to_log(tx: AsyncSession, version: str, text: str) -> None:
    """Add a part to the log, as long as there is the build."""
    if not text or await tx.get(BuiltVersion, version) is None:
        return
    number = await _last_part(tx, version) + 1
    tx.add(BuildLog(version_id=version, number=number, text=text.replace("\0", "")))
    await tx.flush()


async def _last_part(tx: AsyncSession, version: str) -> int:
    last = select(func.coalesce(func.max(BuildLog.number), 0)).where(BuildLog.version_id == version)
    return (await tx.execute(last)).scalar_one()


async def kept(tx: AsyncSession) -> set[str]:
    """The environments whose cached steps may be of use."""
    statement = select(Environment.id).where(
        exists().where(
            EnvironmentVersion.environment_id == Environment.id,
            EnvironmentVersion.recipe.is_not(None),
            EnvironmentVersion.state != VersionState.REMOVING,
        )
    )
    return set((await tx.execute(statement)).scalars())


async def remove_old_contexts(tx: AsyncSession, now: datetime) -> None:
    """Delete contexts that no build uses."""
    used = exists().where(BuiltVersion.context_id == BuildContext.id)
    await tx.execute(delete(BuildContext).where(~used, BuildContext.created_at < now - _CONTEXT_KEPT))


async def context_of(tx: AsyncSession, build: BuiltVersion) -> bytes | None:
    """The files that the person sent; None: none."""
    if build.context_id is None:
        return None
    statement = select(BuildContext.content).where(BuildContext.id == build.context_id)
    return (await tx.execute(statement)).scalar_one()


def arguments_of(rules: BuildRules) -> Mapping[str, str]:
    """Build arguments: none of them is in the image."""
    trusted = dict.fromkeys(_TRUSTING, _AUTHORITIES_THERE) if rules.authorities else {}
    return {**rules.arguments, **trusted}


def input_of(
    build: BuiltVersion,
    content: bytes | None,
    rules: BuildRules,
    *,
    images: Mapping[str, str],
    marks: BuildMarks,
) -> BytesIO:
    """What an engine is given: the files, and the Dockerfile with images as they are pulled."""
    file = dockerfiles.read(build.dockerfile)
    names = [name for name in arguments_of(rules) if name.lower() not in _PREDEFINED]
    copied = [f'COPY ["{_AUTHORITIES}", "{_AUTHORITIES_THERE}"]'] if rules.authorities else []
    text = file.render(images, marks=marks, files=copied, arguments=[f"ARG {name}" for name in names])
    added = {path: body.encode() for path, body in build.added.items()}
    own = {_AUTHORITIES: rules.authorities} if rules.authorities else {}
    return contexts.for_engine(content, {**added, **own, dockerfiles.FILE: text.encode()})
