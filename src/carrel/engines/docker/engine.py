"""The engine port over one Docker daemon."""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import aiodocker
import structlog

from carrel.accelerators.fake import FakeAccelerators
from carrel.accelerators.port import NOTHING, Accelerators
from carrel.engines.accelerated import attachment_of, node_with, numa_of
from carrel.engines.accelerator_use import AcceleratorUse, of_label
from carrel.engines.docker import answers, attached, host, mounts, near_cpus, nvidia_driver, rights
from carrel.engines.docker.adjusting import Adjusting
from carrel.engines.docker.api import ANSWER_S, START_S, DockerApi, filters, sentences
from carrel.engines.docker.claim_volumes import ClaimVolumes
from carrel.engines.docker.container_config import (
    LABEL_CPUS,
    LABEL_DEVICES,
    LABEL_ID,
    LABEL_NETWORK,
    LABEL_SHARES,
    Names,
    configuration,
    files_archive,
)
from carrel.engines.docker.daemon_events import DaemonEvents
from carrel.engines.docker.device_shares import Shares, behind_barrier
from carrel.engines.docker.disk_limit import DiskLimit
from carrel.engines.docker.disk_use import DiskUse
from carrel.engines.docker.exec_streams import run_process, send_input
from carrel.engines.docker.firewall import Firewall
from carrel.engines.docker.home import Homes
from carrel.engines.docker.image_identity import ImageIdentities
from carrel.engines.docker.logs import read_logs
from carrel.engines.docker.network import DEFAULT_RANGE, Networks
from carrel.engines.label_claim import LabelClaim
from carrel.engines.optional import BUILDS, COMMITS, PUSHES, DiskSpace
from carrel.engines.port import (
    DISK_LIMIT,
    IDLE,
    Claimant,
    ContainerSpec,
    ContainerUsage,
    EngineError,
    ExecStream,
    ImageUnusable,
    LogRecord,
    NodeInfo,
    Observed,
    Permit,
    Progress,
    ProgressSink,
    TerminalSize,
)

log = structlog.get_logger()

_LOOKS_AT_ONCE = 16
"""Concurrent inspections; each costs the daemon a millisecond."""
_READINGS_AT_ONCE = 256
"""Concurrent readings. The daemon collects them once per second for all waiting requests, so a sweep takes about a
second for any number of containers, unless requests are queued here.
"""
_DELETE_ATTEMPTS = 6


class DockerEngine(Adjusting):
    """One Docker daemon, or Podman through its compatible socket.

    url: "unix:///var/run/docker.sock", "tcp://..." as in DOCKER_HOST.
    installation: label that distinguishes our containers from those of other installations; letters, digits, -.
    claimant: the database that the label must be bound to; None: not checked.
    addresses: range of session networks. accelerators: kinds on this machine. host_root: of its files.

    Capabilities of its node: `shared-network` (one bridge for all sessions; else one each), `host-firewall` (sessions
    cannot connect to services of this machine), `seccomp-profile` (Carrel's; else the engine's own), `root-inside` (it
    remaps users), `disk-limit` (of what containers write), `live-limits` (of running containers),
    `commits` (images of containers), `builds` (of files of users), `pushes` (to registries),
    `in-place-restart`, `log-streams`, `oom-events`,
    `cdi` (Container Device Interface), `init`, `seccomp`, `apparmor`, `rootless`, `cgroup-v2`, `memory-limit`,
    `swap-limit`, `cpu-limit`, `pids-limit`, and its `runtimes`.
    """

    def __init__(
        self,
        url: str,
        installation: str,
        *,
        claimant: Claimant | None = None,
        addresses: IPv4Network = DEFAULT_RANGE,
        accelerators: Sequence[Accelerators] = (),
        host_root: Path = Path("/"),
    ) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", installation):
            raise ValueError(f"{installation!r} cannot name an installation: use a-z, 0-9 and -, at most 31.")
        self._accelerators = accelerators
        self._accelerator_use = AcceleratorUse(accelerators)
        self._host_root = host_root
        api, names = DockerApi(url), Names(installation)
        super().__init__(api, names, LabelClaim(ClaimVolumes(api, names), installation, claimant))
        self._networks = self._builds.networks = Networks(self._api, self._names, addresses)
        self._firewall = Firewall(self._api, self._names)
        self._shares = Shares(self._api, self._names)
        self._homes = Homes(self._api)
        self._identities = ImageIdentities(self._api)
        self._events = DaemonEvents(self._api, self._names)
        self._events.forget = self._forget
        self._disk = DiskUse(self._api, self._names)
        self._disk_place: tuple[str, str] | None = None
        self._disk_limit = DiskLimit(self._api, self._names)
        self._seen: dict[str, tuple[object, Observed]] = {}
        self._looking: dict[str, object] = {}
        """The last inspections in progress whose containers have not changed since, by a mark of each."""
        self._private: dict[str, str | None] = {}
        """Private networks of the containers that were started here."""
        self._has_init: bool | None = None
        self._plain_runtime: str | None = None
        self._takes_profile: bool | None = None

    async def disk_space(self) -> Sequence[DiskSpace]:
        """Of the daemon's machine, if that is this one."""
        if not self._api.is_local:
            return ()
        with sentences():
            if self._disk_place is None:
                info = await self._api.call("GET", "info")
                self._disk_place = info["Name"], info["DockerRootDir"]
        node, directory = self._disk_place
        try:
            space = os.statvfs(directory)
        except OSError:
            return ()
        size, free = (blocks * space.f_frsize for blocks in (space.f_blocks, space.f_bavail))
        return (DiskSpace(node, size - free, size),)

    async def written(self) -> Mapping[str, int]:
        with sentences():
            await self.claim.require()
            return await self._disk.now()

    async def nodes(self) -> Sequence[NodeInfo]:
        """The machine of the daemon. Also checks and repairs network and firewall."""
        with sentences():
            await self.claim.require()
            await self.claim.answer()
            info = await self._api.call("GET", "info")
            version = await self._api.call("GET", "version")
            images = await self._api.call("GET", "images/json")
            self._networks.forget()
            shared = await self._networks.shared()
            await self._networks.sweep()
            await self._firewall.recheck()
        capabilities = {
            "shared-network": shared,
            "host-firewall": self._firewall.holds,
            "seccomp-profile": await self._knows_profile(info),
            attached.CDI: answers.has_cdi(info, version),
            DISK_LIMIT: await self._disk_limit.works(info),
            COMMITS: True,
            BUILDS: True,
            PUSHES: True,
        }
        node = answers.node(
            info, version, images, frozenset(name for name, holds in capabilities.items() if holds)
        )
        if host.is_here(self._api, info):
            node = replace(node, labels={**nvidia_driver.labels(self._host_root), **node.labels})
        self._plain_runtime = attached.plain_runtime(info)
        usable = self._usable(info)
        failed = await self._shares.keep(usable)
        return (await asyncio.to_thread(node_with, usable, node, without=failed),)

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        with sentences():
            await self.claim.require()
            name = self._names.container(spec.id)
            self._events.listen()
            self._private[spec.id] = spec.network.id if spec.network else None
            with self._networks.joining(spec.network), self._shares.starting(spec.id):
                # 1. Create it; pull the image only if the daemon reports it missing.
                async with self._push_names.use(spec.image):
                    there = await self._create(spec, progress)
                if there and (there["State"]["Running"] or (spec.once and answers.has_run(there))):
                    await self._enforce_shares(spec, there)
                    return await self._with_image(spec, there)
                # 2. Conditions for its first process.
                if there is None or not answers.has_run(there):
                    await self._furnish(spec)
                await self._firewall.apply()
                # 3. Start it and check the result.
                progress(Progress("start"))
                if permit:
                    await permit()
                await self._start(spec)
            inspected = await self._look(spec.id, name)
            if not spec.mounts:
                await self._homes.check(name, spec, inspected["Image"])
            # 4. Its command begins.
            await self._enforce_shares(spec, inspected)
            return await self._with_image(spec, inspected)

    async def remove(self, container: str, *, grace_s: float, signal: str = "SIGTERM") -> None:
        with sentences():
            await self.claim.require()
            name = self._names.container(container)
            if grace_s > 0:
                await self._stop(name, grace_s, signal)
            await self._shares.leave(container)
            known = container in self._private
            private = self._private[container] if known else await self._private_network_of(name)
            await self._delete(name)
            await self._networks.leave(container, private)
            self._private.pop(container, None)

    async def list(self) -> Sequence[Observed]:
        with sentences():
            await self.claim.require()
            self._events.listen()
            chosen = filters(label=[self._names.label])
            rows = await self._api.call("GET", "containers/json", params={**chosen, "all": "true"})
            at_once = asyncio.Semaphore(_LOOKS_AT_ONCE)
            observed = await asyncio.gather(*(self._look_at(row, at_once) for row in rows))
            return tuple(one for one in observed if one is not None)

    def watch(self) -> AsyncIterator[str]:
        return self._events.watch()

    @asynccontextmanager
    async def exec(
        self, container: str, command: Sequence[str], *, env: Mapping[str, str], terminal: TerminalSize | None
    ) -> AsyncIterator[ExecStream]:
        with sentences():
            await self.claim.require()
        name = self._names.container(container)
        async with run_process(self._api, name, command, env, terminal) as process:
            yield process

    async def send(self, container: str, content: bytes) -> None:
        with sentences():
            await self.claim.require()
        await send_input(self._api, self._names.container(container), content)

    async def logs(
        self, container: str, *, follow: bool, tail: int | None = None, since: bytes | None = None
    ) -> AsyncIterator[Sequence[LogRecord]]:
        with sentences():
            await self.claim.require()
        name = self._names.container(container)
        async for records in read_logs(self._api, name, follow=follow, tail=tail, since=since):
            yield records

    async def usage(self) -> Sequence[ContainerUsage]:
        with sentences():
            await self.claim.require()
            chosen = filters(label=[self._names.label], status=["running"])
            rows = await self._api.call("GET", "containers/json", params=chosen)
            at_once = asyncio.Semaphore(_READINGS_AT_ONCE)
            usages = await asyncio.gather(*(self._measure(row, at_once) for row in rows))
            held = {row["Labels"][LABEL_ID]: of_label(row["Labels"].get(LABEL_DEVICES)) for row in rows}
            known = [one for one in usages if one is not None]
            return await asyncio.to_thread(self._accelerator_use.measured, known, held)

    # Beyond the port: administration of the installation.

    async def purge(self) -> None:
        """Delete everything of this installation in the daemon: containers, networks, firewall rules, and the claim of
        its label. Twice: no-op. Raises: ClaimedElsewhere.
        """
        with sentences():
            await self.claim.require()
            for row in await self._rows():
                await self._delete(row["Id"])
            await self._withdraw()
            await self.claim.release()

    async def release_if_idle(self) -> int:
        """Delete networks and firewall rules unless session containers need them; returns the number of these
        containers.

        The claim of the label is kept: otherwise a copy of the database could take it. Raises: ClaimedElsewhere.
        """
        with sentences():
            await self.claim.require()
            if rows := await self._rows():
                return len(rows)
            await self._withdraw()
            return 0

    async def close(self) -> None:
        """Close connections; containers are unaffected. Twice: no-op."""
        await self._shares.close()
        await self._disk.close()
        await self._events.close()
        await self._api.close()

    async def _rows(self) -> Any:
        chosen = filters(label=[self._names.label])
        return await self._api.call("GET", "containers/json", params={**chosen, "all": "true"})

    async def _withdraw(self) -> None:
        """Delete firewall rules and networks."""
        # Rules first: they match bridges by name and are located while the bridges exist.
        await self._firewall.purge()
        await self._networks.purge()

    # Steps of `ensure`

    async def _create(self, spec: ContainerSpec, progress: ProgressSink) -> Any:
        """Create the container; returns the inspection of an existing one, None for a new one."""
        if spec.command != IDLE and self._has_init is None:
            self._has_init = answers.has_init(await self._api.call("GET", "version"))
        with_profile = await self._knows_profile()
        network = await self._networks.join(spec.id, spec.network)
        attachment, cpus, shared = NOTHING, "", None
        if spec.devices or spec.runtime or spec.root or self._plain_runtime is None:
            info = await self._api.call("GET", "info")
            self._plain_runtime = attached.plain_runtime(info)
            version = await self._api.call("GET", "version")
            has_cdi = answers.has_cdi(info, version)
            attachment = await asyncio.to_thread(attachment_of, self._usable(info), spec, has_cdi=has_cdi)
            attached.require(attachment, info, has_cdi=has_cdi)
            cpus = await self._near_cpus(spec, info)
            if shared := await self._shares.prepare(self._usable(info), spec):
                attachment = attached.with_shares(attachment, shared.attachment)
            if spec.runtime:
                offered = answers.offered_runtimes(info, version)
                attachment = attached.with_runtime(attachment, spec.runtime, offered)
            rights.require(spec, info)
        if not attachment.runtime:
            attachment = replace(attachment, runtime=self._plain_runtime)
        with_init = bool(self._has_init)
        layer = await self._layer(spec)
        name = self._names.container(spec.id)
        if spec.pull_always:
            if there := await self._settled(name):
                return there
            await self._pulls.pull(spec.image, progress, spec.pull)
        pulled = spec.pull_always
        while True:
            try:
                body = configuration(
                    behind_barrier(spec) if shared else spec,
                    self._names,
                    attachment,
                    network=network,
                    with_init=with_init,
                    with_profile=with_profile,
                    storage=await self._disk_limit.options(spec),
                    layer=layer,
                    cpus=cpus,
                    held=self._accelerator_use.held(spec.devices),
                    shares=shared.tier if shared else "",
                )
                await self._api.call(
                    "POST", "containers/create", params={"name": name}, body=body, timeout_s=START_S
                )
                return None
            except aiodocker.DockerError as error:
                if error.status == 404 and not pulled:
                    await self._pulls.pull(spec.image, progress, spec.pull)
                    pulled = True
                elif with_profile and "seccomp" in error.message:
                    # Podman's API expects the path of a file on its machine instead of a profile.
                    log.warning("seccomp.profile_refused", error=error.message)
                    with_profile = self._takes_profile = False
                elif cpus and "CPUs are not available" in error.message:
                    cpus = ""
                elif self._disk_limit.refused(error):
                    pass
                elif not answers.is_taken(error):
                    raise answers.create_error(spec, error) from error
                elif there := await self._settled(name):
                    return there

    async def _near_cpus(self, spec: ContainerSpec, info: Any) -> str:
        """The processors on which it runs: those near its accelerators if there is room; empty: all."""
        if not (spec.devices and info.get("CPUSet") and host.is_here(self._api, info)):
            return ""
        numa = await asyncio.to_thread(numa_of, self._accelerators, spec.devices)
        cpu = spec.slots.get("cpu", 0)
        if not (cpus := near_cpus.near(self._host_root, numa, cpu)):
            return ""
        chosen = filters(label=[LABEL_CPUS])
        rows = await self._api.call("GET", "containers/json", params={**chosen, "all": "true"})
        others = [row["Labels"][LABEL_CPUS] for row in rows if row["State"] not in ("exited", "dead")]
        return cpus if near_cpus.has_room(cpus, cpu, others) else ""

    async def _enforce_shares(self, spec: ContainerSpec, inspected: Any) -> None:
        """Let the command of a container begin that waits for its shares. Raises: EngineError."""
        if inspected["State"]["Running"] and inspected["Config"]["Labels"].get(LABEL_SHARES):
            info = await self._api.call("GET", "info")
            await self._shares.enforce(self._usable(info), spec, inspected)

    def _usable(self, info: Any) -> Sequence[Accelerators]:
        """Those that the daemon's machine has: all but the fakes are of this machine."""
        here = host.is_here(self._api, info)
        return [one for one in self._accelerators if here or isinstance(one, FakeAccelerators)]

    async def _layer(self, spec: ContainerSpec) -> Mapping[str, object] | None:
        """The mount of its app layer. Raises: EngineError."""
        try:
            return self._layers.mount(await self._layers.content(spec.layer)) if spec.layer else None
        except ImageUnusable as error:
            raise EngineError(error.message, retriable=True, code="app_layer_missing") from error

    async def _knows_profile(self, info: Any = None) -> bool:
        """True if the daemon accepts Carrel's seccomp profile, as far as known. info: of the daemon."""
        if self._takes_profile is None:
            self._takes_profile = answers.has_seccomp(info or await self._api.call("GET", "info"))
        return self._takes_profile

    async def _furnish(self, spec: ContainerSpec) -> None:
        """Add home, user, initial files and links to its folders.

        Only before its first start: afterwards it could have planted symbolic links through which the daemon, which has
        its folders mounted while unpacking, would write elsewhere.
        """
        name = self._names.container(spec.id)
        await self._homes.furnish(name, spec)
        if files := files_archive(spec):
            await self._homes.unpack(name, files)
        if not spec.mounts:
            return
        await self._homes.check(name, spec, (await self._inspect(name))["Image"])
        if links := mounts.links_archive(spec.mounts, made_at=time.time()):
            try:
                await self._homes.unpack(name, links)
            except aiodocker.DockerError as error:
                raise answers.link_error(spec, error) from error

    async def _settled(self, name: str) -> Any:
        """The container with this name, after any removal in progress; None if it does not exist."""
        try:
            inspected = await self._inspect(name)
        except aiodocker.DockerError as error:
            if error.status == 404:
                return None
            raise
        if inspected["State"]["Status"] not in ("removing", "dead"):
            return inspected
        await self._delete(name)
        return None

    async def _start(self, spec: ContainerSpec) -> None:
        path = f"containers/{self._names.container(spec.id)}/start"
        try:
            await self._api.call("POST", path, timeout_s=START_S)
        except aiodocker.DockerError as error:
            if error.status != 404 or "network" not in error.message:
                raise answers.start_error(spec, error) from error
            # The network was deleted externally. A container that has run knows it by its id.
            self._networks.forget()
            await self._networks.rejoin(spec.id, spec.network)
            await self._api.call("POST", path, timeout_s=START_S)

    # Steps of `remove`

    async def _private_network_of(self, name: str) -> str | None:
        """The id of the container's private network; None if it has none, or is gone already."""
        try:
            labels = (await self._inspect(name))["Config"]["Labels"]
        except aiodocker.DockerError as error:
            if error.status == 404:
                return None
            raise
        return labels.get(LABEL_NETWORK) or None

    async def _stop(self, name: str, grace_s: float, signal: str) -> None:
        # Daemons before API 1.42 take no signal in a stop request.
        try:
            await self._api.call("POST", f"containers/{name}/kill", params={"signal": signal})
            async with asyncio.timeout(grace_s):
                await self._api.call("POST", f"containers/{name}/wait", timeout_s=grace_s + ANSWER_S)
        except TimeoutError:
            return
        except aiodocker.DockerError as error:
            # 409: it does not run, or is paused and takes no signal.
            if error.status not in (404, 409):
                raise

    async def _delete(self, name: str) -> None:
        """Kill and delete the container; return once it is gone, whoever deleted it."""
        for attempt in range(_DELETE_ATTEMPTS):
            try:
                await self._api.call(
                    "DELETE", f"containers/{name}", params={"force": "true", "v": "true"}, timeout_s=START_S
                )
                return
            except aiodocker.DockerError as error:
                if error.status == 404:
                    return
                if attempt == _DELETE_ATTEMPTS - 1:
                    raise
            # Being deleted by another client, or busy (a mount, or a start that just ended): retry soon.
            await asyncio.sleep(0.1 * 2**attempt)
        raise EngineError(f"The container {name} could not be deleted.", retriable=True)

    # Looking

    async def _inspect(self, name: str) -> Any:
        return await self._api.call("GET", f"containers/{name}/json")

    def _observed(self, inspected: Any) -> Observed:
        return self._with_memory(answers.observed(inspected), inspected["Id"])

    async def _with_image(self, spec: ContainerSpec, inspected: Any) -> Observed:
        image_id = inspected["Image"]
        digest = await self._identities.digest(image_id, spec.image)
        return replace(self._observed(inspected), image_digest=digest, image_id=image_id)

    def _with_memory(self, one: Observed, daemon_id: str) -> Observed:
        return replace(one, out_of_memory=True) if self._events.ran_out_of_memory(daemon_id) else one

    async def _look(self, container: str, name: str) -> Any:
        """Inspect it. The result is kept while the event stream is connected and no event names the container."""
        mark = self._looking[container] = object()
        try:
            inspected = await self._inspect(name)
        finally:
            unchanged = self._looking.get(container) is mark
            if unchanged:
                del self._looking[container]
        if unchanged and self._events.connected:
            says = inspected["State"]["Status"], answers.address(inspected)
            self._seen[container] = says, self._observed(inspected)
        return inspected

    async def _look_at(self, row: Any, at_once: asyncio.Semaphore) -> Observed | None:
        """The full state of a row of the list; None if it was just deleted."""
        if row["State"] == "created":
            # The row says it all, and an inspection would wait for a start in progress.
            return answers.created(row)
        daemon_id, container = row["Id"], row["Labels"][LABEL_ID]
        if one := answers.succeeded(row, self._events.last_run(daemon_id)):
            return self._with_memory(one, daemon_id)
        known = self._seen.get(container)
        if known is not None and known[0] == (row["State"], answers.address(row)):
            return known[1]
        async with at_once:
            try:
                return self._observed(await self._look(container, daemon_id))
            except aiodocker.DockerError as error:
                if error.status == 404:
                    return None
                raise

    def _forget(self, container: str | None) -> None:
        if container is None:
            # After an outage, containers may be stopped and rules may be missing.
            self._seen.clear()
            self._looking.clear()
            self._networks.forget()
            self._firewall.forget()
            self._disk_limit.forget()
            self._layers.forget()
        else:
            self._seen.pop(container, None)
            self._looking.pop(container, None)

    async def _measure(self, row: Any, at_once: asyncio.Semaphore) -> ContainerUsage | None:
        async with at_once:
            try:
                # One-shot: otherwise the daemon waits for a second reading.
                stats = await self._api.call(
                    "GET", f"containers/{row['Id']}/stats", params={"stream": "false", "one-shot": "true"}
                )
            except aiodocker.DockerError as error:
                if error.status in (404, 409):
                    return None
                raise
        container = row["Labels"][LABEL_ID]
        return answers.usage(container, stats, disk_bytes=self._disk.latest().get(row["Id"]))
