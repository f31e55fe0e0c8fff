"""Build environments from recipes.

A version's row is the task. Whatever an interrupted attempt leaves in the engine is marked with its environment: the
next attempt, the end of the build, or the sweep removes it. An engine ends a build whose process is gone.
"""

import asyncio
import re
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from carrel.builds import building
from carrel.controllers.active_tasks import ActiveTasks, Work
from carrel.controllers.loop import Tools, beside, end
from carrel.core.errors import CarrelError, NotFound, Refused, Unavailable
from carrel.core.ids import EngineId, ProjectId
from carrel.db.leader import LeadershipLost
from carrel.engines.optional import BuildOutput, CommittedImage, ImageStore, LimitedBuilding
from carrel.engines.port import EngineError, EngineUnavailable, ImageUnusable, Progress
from carrel.engines.references import LOCAL, registry_of
from carrel.environments import making
from carrel.images.node_images import service as node_images
from carrel.images.registries import pulls
from carrel.images.registries.pulls import PullSource
from carrel.nodes.engines.connections import in_time
from carrel.tables.builds import BUILDS_TOPIC, BuiltVersion
from carrel.tables.environments import TOPIC, Environment, EnvironmentVersion, VersionState

log = structlog.get_logger()

_STORE_EVERY_S = 0.5
_PAUSE_S = 5.0
_SWEEP_EVERY = timedelta(minutes=10)
_MOST_LOG = 1 << 20
_TAIL_LINES = 100
_SHOWN_LINES = 5
_NOISE = re.compile(r"^(?:---> |Removing intermediate container|Successfully (?:built|tagged) )")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_NOT_HERE = "The engine cannot build images."
_TOO_OFTEN = f"It was interrupted {building.ATTEMPTS} times."
_TOO_LONG = "It took too long: the images below could not be pulled in time."
_UNEXPECTED = "The image could not be built; Carrel's log has the reason."


@dataclass
class _BuildAttempt:
    """pending: output that is not stored yet. tail: the last of it; of a long log, only this is stored at the end.
    step: the step that runs.
    """

    pending: list[str] = field(default_factory=list)
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    stored: int = 0
    step: BuildOutput | None = None
    unneeded: bool = False

    def add(self, output: BuildOutput) -> None:
        for line in _COLOURS.sub("", output.text).replace("\r", "\n").split("\n"):
            if not line.strip() or _NOISE.match(line):
                continue
            if output.step:
                self.step, output = output, replace(output, step=0)
                self.tail.clear()
            else:
                self.tail.append(line)
            if self.stored < _MOST_LOG:
                self.pending.append(line)
                self.stored += len(line) + 1
                if self.stored >= _MOST_LOG:
                    self.pending.append("[The log is long: what follows is left out, but for its end.]")

    def taken(self) -> str:
        """What is to be stored now."""
        lines, self.pending = self.pending, []
        return "".join(f"{line}\n" for line in lines)

    def rest(self) -> str:
        """What is to be stored at the end."""
        tail = self.tail if self.stored >= _MOST_LOG else ()
        return self.taken() + "".join(f"{line}\n" for line in tail)

    @property
    def progress(self) -> Progress | None:
        if self.step is None:
            return Progress("build")
        return Progress("build", (self.step.step - 1) / max(self.step.steps, 1))

    def problem(self, error: EngineError) -> str:
        """Which step failed, and its last lines."""
        cause = error.message.rpartition("could not be built: ")[2]
        if self.step is None:
            return cause
        number, steps, text = self.step.step, self.step.steps, self.step.text.partition(" : ")[2][:200]
        where = f"Step {number} of {steps} failed ({text}): {cause}"
        lines = [line[:300] for line in list(self.tail)[-_SHOWN_LINES:]]
        return where + (" Its last lines: " + " / ".join(lines) if lines else "")


class EnvironmentBuilds:
    """At most so many at once, and one for each person and each environment."""

    name = "environment-builds"
    topics = (BUILDS_TOPIC, TOPIC)
    tick_s = 5.0

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._active = ActiveTasks[str]()
        self._swept: dict[EngineId, datetime] = {}

    async def step(self) -> None:
        """Start builds that are due, end those that are to be cancelled, and sweep now and then."""
        async with self._tools.transaction() as tx:
            versions = await building.to_do(tx)
        for version in versions:
            if version.cancel and version.id not in self._active:
                self._begin(version.id, partial(self._end, version, VersionState.CANCELLED, None))
        at_once = self._tools.builds.at_once
        for version in building.startable(versions, set(self._active), at_once=at_once):
            self._begin(version.id, partial(self._build, version))
        now = self._tools.clock.now()
        for engine in await self._tools.engines.ids():
            if now - self._swept.get(engine, now - _SWEEP_EVERY) >= _SWEEP_EVERY:
                self._swept[engine] = now
                self._begin(f"sweep {engine}", partial(self._sweep, engine))

    async def drain(self) -> None:
        """Wait until no build is running."""
        await self._active.drain()

    async def close(self) -> None:
        """Cancel all builds: they begin again with the next leader."""
        await self._active.close()

    def _begin(self, key: str, work: Work) -> None:
        self._active.begin(key, partial(beside, "builds", work, key=key))

    async def _build(self, version: EnvironmentVersion) -> None:
        async with self._tools.transaction() as tx:
            build = await building.begin(tx, version.id)
            content = await building.context_of(tx, build) if build else None
        if build is None:
            return
        attempt = _BuildAttempt()
        try:
            engine = await self._engine(version)
            if engine is None:
                await self._end(version, VersionState.FAILED, _NOT_HERE)
            elif build.attempts > building.ATTEMPTS:
                await self._end(version, VersionState.FAILED, _TOO_OFTEN)
            else:
                await self._attempt(version, build, content, engine, attempt)
        except (EngineUnavailable, Unavailable) as error:
            await self._hindered(version, error.message)
        except EngineError as error:
            await self._store(version, attempt, closing=True)
            await self._end(version, VersionState.FAILED, attempt.problem(error))
        except Refused as error:
            await self._end(version, VersionState.FAILED, error.message)
        except (CarrelError, LookupError, TypeError, ValueError):
            log.exception("builds.failed", version=version.id)
            await self._end(version, VersionState.FAILED, _UNEXPECTED)

    async def _attempt(
        self,
        version: EnvironmentVersion,
        build: BuiltVersion,
        content: bytes | None,
        engine: LimitedBuilding,
        attempt: _BuildAttempt,
    ) -> None:
        if version.state == VersionState.RUNNING:  # before this attempt
            # The process may have been suspended since the transaction before.
            await self._tools.confirm()
            await in_time(engine.discard_commit(version.id))
        work = asyncio.create_task(self._built(version, build, content, engine, attempt))
        storing = asyncio.Lock()
        reporter = asyncio.create_task(self._report(version, attempt, work, storing))
        try:
            # Pulls of the images below have no limit of their own.
            _, late = await asyncio.wait([work], timeout=2 * self._tools.builds.limits.time_s)
        finally:
            await end(reporter, storing)
            work.cancel()
            await asyncio.wait([work])
        if work.cancelled():
            if attempt.unneeded:
                await self._end(version, VersionState.CANCELLED, None)
            elif late:
                await self._end(version, VersionState.FAILED, _TOO_LONG)
            return
        image = work.result()
        async with self._tools.transaction() as tx:
            await building.add_to_log(tx, version.id, attempt.rest())
            complete = await making.made(tx, version.id, image, self._tools.clock.now())
        if not complete:
            await self._end(version, VersionState.CANCELLED, None)
            return
        log.info("builds.built", version=version.id, added_bytes=image.added_bytes)
        # Cached steps of former attempts that failed.
        await in_time(engine.discard_builds(version.environment_id))

    async def _built(
        self,
        version: EnvironmentVersion,
        build: BuiltVersion,
        content: bytes | None,
        engine: LimitedBuilding,
        attempt: _BuildAttempt,
    ) -> CommittedImage:
        # 1. The images below, pulled by us: the builder has no credentials.
        images, sizes = dict[str, str](), dict[str, int]()
        for name, reference in build.images.items():
            source = await self._source(version, reference)
            images[name] = source.reference
            sizes[name] = await self._below(version, reference, source, engine, attempt)
        # 2. The build.
        rules = self._tools.builds
        marks = engine.build_marks(version.environment_id, version.id)
        given = await asyncio.to_thread(building.input_of, build, content, rules, images=images, marks=marks)
        made = await engine.build(
            given,
            version.reference,
            version.id,
            group=version.environment_id,
            arguments=building.arguments_of(rules),
            limits=rules.limits,
            output=attempt.add,
        )
        below = sizes.get(build.below, 0) if build.below else 0
        return replace(made, added_bytes=max(made.added_bytes - below, 0))

    async def _below(
        self,
        version: EnvironmentVersion,
        reference: str,
        source: PullSource,
        engine: LimitedBuilding,
        attempt: _BuildAttempt,
    ) -> int:
        """Have an image below ready; its size. One that is pulled for it can be cleaned up when nothing needs it."""
        node = version.node_id if await _is_missing(engine, source) else None
        if node:
            async with self._tools.transaction() as tx:
                now = self._tools.clock.now()
                await node_images.note_pull(tx, node, source.reference, now, name=reference)
        try:
            return await engine.build_base(
                source.reference, source.credentials, attempt.add, always=source.always
            )
        except EngineError:
            if node:
                async with self._tools.transaction() as tx:
                    await node_images.forget_pull(tx, node, reference)
            raise

    async def _source(self, version: EnvironmentVersion, reference: str) -> PullSource:
        """Where an image is pulled from, as for a session of the environment's project."""
        if registry_of(reference) == LOCAL:
            return PullSource(reference)
        async with self._tools.transaction() as tx:
            environment = await tx.get_one(Environment, version.environment_id)
            return await pulls.source(
                tx,
                self._tools.seal,
                reference,
                project=environment.project_id or ProjectId(""),
                domain=environment.domain_id,
            )

    async def _report(
        self,
        version: EnvironmentVersion,
        attempt: _BuildAttempt,
        work: "asyncio.Task[CommittedImage]",
        storing: asyncio.Lock,
    ) -> None:
        """Store output and progress twice a second, and stop the work once it is not to go on."""
        try:
            while not attempt.unneeded:
                async with storing:
                    attempt.unneeded = await self._store(version, attempt)
                if not attempt.unneeded:
                    await asyncio.sleep(_STORE_EVERY_S)
        except (Unavailable, LeadershipLost) as error:
            log.warning("builds.not_stored", version=version.id, error=str(error))
        work.cancel()

    async def _store(
        self, version: EnvironmentVersion, attempt: _BuildAttempt, *, closing: bool = False
    ) -> bool:
        """True if it is no longer to be built. closing: the log is complete."""
        text = attempt.rest() if closing else attempt.taken()
        async with self._tools.transaction() as tx:
            await building.add_to_log(tx, version.id, text)
            return await making.advanced(tx, version.id, attempt.progress)

    async def _end(self, version: EnvironmentVersion, state: VersionState, problem: str | None) -> None:
        """Remove what there is of it, then record how it ended. A failed one keeps its cached steps for the next."""
        if engine := await self._engine(version):
            await in_time(engine.discard_commit(version.id))
            if state == VersionState.CANCELLED:
                await in_time(engine.discard_builds(version.environment_id))
        async with self._tools.transaction() as tx:
            await making.not_made(tx, version.id, state, problem, self._tools.clock.now())
        log.info("builds.not_built", version=version.id, state=state, problem=problem)

    async def _hindered(self, version: EnvironmentVersion, problem: str) -> None:
        log.warning("builds.hindered", version=version.id, error=problem)
        async with self._tools.transaction() as tx:
            await building.hindered(tx, version.id, problem)
        await asyncio.sleep(_PAUSE_S)

    async def _sweep(self, engine_id: EngineId) -> None:
        """Remove cached steps of environments that are gone, and contexts without builds."""
        async with self._tools.transaction() as tx:
            await building.remove_old_contexts(tx, self._tools.clock.now())
        try:
            engine = await self._tools.engines.of(engine_id)
            if not isinstance(engine, LimitedBuilding):
                return
            groups = await in_time(engine.builds())
            async with self._tools.transaction() as tx:
                needed = await building.kept(tx)
            for group in sorted(set(groups) - needed):
                await in_time(engine.discard_builds(group))
                log.info("builds.swept", engine=engine_id, environment=group)
        except (EngineError, NotFound) as error:
            log.warning("builds.not_swept", engine=engine_id, error=str(error))

    async def _engine(self, version: EnvironmentVersion) -> LimitedBuilding | None:
        """None if it cannot build images, or is gone."""
        try:
            engine = await self._tools.engines.of(version.engine_id)
        except NotFound:
            return None
        return engine if isinstance(engine, LimitedBuilding) else None


async def _is_missing(engine: LimitedBuilding, source: PullSource) -> bool:
    """False too if it is always pulled: whether the node had it is not known then."""
    if source.always or not isinstance(engine, ImageStore):
        return False
    try:
        await in_time(engine.image(source.reference))
    except ImageUnusable:
        return True
    return False
