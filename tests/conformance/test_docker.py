"""The Docker engine does what every engine does, against a real daemon."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import aiodocker
import people
import pytest
from tiny_image import docker_url, ensure_tiny_image
from tiny_registry import TinyRegistry

from carrel.accelerators.fake import FakeAccelerators
from carrel.core.ids import new_id
from carrel.engines.conformance import EngineConformance
from carrel.engines.conformance_claim import ClaimConformance
from carrel.engines.conformance_kit import (
    EngineHarness,
    ProgressLog,
    Ran,
    eventually,
    exited,
    refused,
    run,
    running,
    spec,
)
from carrel.engines.conformance_mounts import MountConformance, directory, mounting
from carrel.engines.conformance_networks import BarrierConformance, FileConformance, NetworkConformance
from carrel.engines.conformance_optional import OptionalConformance
from carrel.engines.conformance_start import StartConformance
from carrel.engines.docker import DockerEngine
from carrel.engines.docker.api import filters
from carrel.engines.docker.firewall import rules, run_here
from carrel.engines.optional import LiveLimits
from carrel.engines.port import (
    WORK_UID,
    Claimant,
    ContainerSpec,
    Engine,
    EngineError,
    InitialFile,
    Mount,
    MountUnusable,
    Observed,
    ObservedState,
    PullCredentials,
)


class DockerHarness:
    measures_disk = True
    lacks = frozenset[str]()

    def __init__(self, engine: DockerEngine, installation: str, docker: aiodocker.Docker) -> None:
        self.engine: Engine = engine
        self.installation = installation
        self.docker = docker
        self.image = self.shellless_image = self.pullable_image = self.unknown_image = ""
        self.others: list[DockerEngine] = []

    def another(self) -> Engine:
        self.others.append(DockerEngine(docker_url(), self.installation))
        return self.others[-1]

    def claiming(self, claimant: Claimant) -> DockerEngine:
        self.others.append(DockerEngine(docker_url(), self.installation, claimant=claimant))
        return self.others[-1]

    def neighbour(self) -> DockerEngine:
        self.others.append(DockerEngine(docker_url(), f"{self.installation}-next"))
        return self.others[-1]

    async def pass_time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def vanish(self, container: str) -> None:
        await self.docker.containers.container(f"carrel-{self.installation}-{container}").delete(force=True)

    async def limits(self, container: str) -> Mapping[str, int]:
        inspected = await self.docker.containers.container(f"carrel-{self.installation}-{container}").show()
        host = inspected["HostConfig"]
        return {"cpu": host["NanoCpus"] // 1_000_000, "mem": host["Memory"]}

    async def exhaust_memory(self, container: str) -> None:
        # tail keeps its input in memory until it knows how much of it is wanted. It is alone: where others go on asking
        # before its memory is free, the kernel takes a second process, which can be the main one.
        await run(self.engine, container, "tail", "-c", "99999998", "/dev/zero")

    async def transfer(self, container: str) -> None:
        written = "dd if=/dev/zero of=written bs=1048576 count=4 conv=fsync"
        # Nobody listens there, but the attempt is sent.
        sent = "nc -w 1 $(ip route | head -n 1 | cut -d ' ' -f 3) 9"
        await run(self.engine, container, "sh", "-c", f"{written}; {sent}")


@pytest.fixture
async def harness(
    docker_engine: DockerEngine, installation: str, docker: aiodocker.Docker
) -> AsyncIterator[EngineHarness]:
    harness = DockerHarness(docker_engine, installation, docker)
    harness.image = await ensure_tiny_image()
    harness.shellless_image = await ensure_tiny_image("shellless")
    async with TinyRegistry() as registry:
        harness.pullable_image = registry.add("pullable")
        harness.unknown_image = f"{registry.address}/nowhere:1"
        yield harness
        for engine in harness.others:
            await engine.close()
        await docker_engine.purge()
        await _forget_image(docker, harness.pullable_image)


async def test_a_command_may_say_what_a_runtime_says(harness: DockerHarness) -> None:
    container = await running(harness)
    message = 'OCI runtime exec failed: exec: "x": executable file not found in $PATH: unknown'
    ran = await run(harness.engine, container, "echo", message)
    assert ran == Ran(0, f"{message}\n".encode())


@pytest.mark.parametrize("form", ["{id}", "{digits}", "{short}"])
async def test_an_image_cannot_be_used_by_its_id(
    harness: DockerHarness, docker: aiodocker.Docker, form: str
) -> None:
    id_ = (await docker.images.inspect(harness.image))["Id"]
    digits = id_.removeprefix("sha256:")
    image = form.format(id=id_, digits=digits, short=digits[:12])
    await refused(EngineError, harness.engine.ensure(spec(harness, image=image), ProgressLog()))
    assert not await harness.engine.list()


async def test_a_private_image_is_pulled_with_the_credentials_of_its_container(
    harness: DockerHarness, docker: aiodocker.Docker
) -> None:
    async with TinyRegistry(credentials=("robot$carrel", "correct horse")) as registry:
        image = registry.add("private", noise_bytes=1024)
        wrong = PullCredentials(registry.address, "robot$carrel", "wrong")
        right = PullCredentials(registry.address, "robot$carrel", "correct horse")
        for pull in (None, wrong):
            desired = replace(spec(harness, image=image), pull=pull)
            await refused(EngineError, harness.engine.ensure(desired, ProgressLog()))
        assert registry.pulls == []
        try:
            await harness.engine.ensure(replace(spec(harness, image=image), pull=right), ProgressLog())
            assert registry.pulls
            # Now the daemon has it, and others do not get it without credentials.
            desired = replace(spec(harness, image=image), pull=wrong, pull_always=True)
            await refused(EngineError, harness.engine.ensure(desired, ProgressLog()))
            ours = replace(desired, pull=right)
            await harness.engine.ensure(ours, ProgressLog())
            # Which has no say about a container that has started.
            await harness.engine.ensure(replace(ours, pull=wrong), ProgressLog())
        finally:
            await harness.engine.purge()  # type: ignore[attr-defined]
            await _forget_image(docker, image)


async def _forget_image(docker: aiodocker.Docker, reference: str) -> None:
    try:
        await docker.images.delete(reference, force=True)
    except aiodocker.DockerError as error:
        if error.status != 404:
            raise


class TestDockerNetworks(NetworkConformance, BarrierConformance, FileConformance):
    pass


class TestDockerEngine(EngineConformance):
    async def test_a_process_that_is_left_alone_is_hung_up_on(self, harness: EngineHarness) -> None:
        container = await running(harness)
        script = "sleep 4321 & echo up; while true; do :; done"
        async with harness.engine.exec(container, ("sh", "-c", script), env={}, terminal=None) as process:
            assert await anext(process.output()) == (1, b"up\n")

        async def gone() -> bool:
            return b"4321" not in (await run(harness.engine, container, "ps")).stdout

        await eventually(harness, gone, "both processes ended")

    async def test_what_a_finished_command_leaves_behind_stays(self, harness: EngineHarness) -> None:
        container = await running(harness)
        await run(harness.engine, container, "sh", "-c", "sleep 4321 >/dev/null 2>&1 & true")
        assert b"4321" in (await run(harness.engine, container, "ps")).stdout

    async def test_a_sparse_file_counts_with_what_it_occupies(self, harness: EngineHarness) -> None:
        container = await running(harness)
        await run(harness.engine, container, "truncate", "-s", "300G", "sparse")
        await run(
            harness.engine, container, "dd", "if=/dev/zero", "of=dense", "bs=1M", "count=4", "conv=fsync"
        )
        # Without cached measurements.
        engine = harness.another()

        async def used() -> int | None:
            return next(one.disk_bytes for one in await engine.usage() if one.id == container)

        async def measured() -> bool:
            return await used() is not None

        await eventually(harness, measured, "disk space was measured")
        assert 4 << 20 <= (await used() or 0) < 8 << 20


class TestDockerEngineOptional(OptionalConformance):
    async def test_the_kernel_holds_a_container_to_its_new_limits(self, harness: EngineHarness) -> None:
        assert isinstance(harness.engine, LiveLimits)
        container = await running(harness)
        await harness.engine.set_limits(container, {"mem": 80 << 20})
        where = "/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes"
        ran = await run(harness.engine, container, "sh", "-c", f"cat {where} 2>/dev/null")
        assert ran.stdout == b"%d\n" % (80 << 20)

    async def test_less_memory_than_a_container_uses_is_refused_and_kills_nothing(
        self, harness: EngineHarness
    ) -> None:
        assert isinstance(harness.engine, LiveLimits)
        assert isinstance(harness, DockerHarness)
        container = await running(harness)
        # tail keeps its input in memory until that ends.
        hold = "(head -c 41943040 /dev/zero; sleep 4321) | tail -c 41943040"
        await run(harness.engine, container, "sh", "-c", f"({hold}) >/dev/null 2>&1 & true")

        async def is_held() -> bool:
            [usage] = await harness.engine.usage()
            return usage.mem_bytes > 40 << 20

        await eventually(harness, is_held, "the memory was in use")
        error = await refused(
            EngineError, harness.engine.set_limits(container, {"cpu": 900, "mem": 32 << 20})
        )
        assert error.code == "limits_refused"
        assert await harness.limits(container) == {"cpu": 500, "mem": 64 << 20}
        assert b"4321" in (await run(harness.engine, container, "ps")).stdout


class TestDockerClaim(ClaimConformance):
    pass


class TestDockerEngineStart(StartConformance):
    async def test_initial_files_belong_to_the_user_or_to_root(self, harness: EngineHarness) -> None:
        files = (
            InitialFile("/home/work/.config/tool/key", b"k", private=True),
            InitialFile("/etc/carrel/run", b"r", executable=True),
        )
        desired = replace(spec(harness), files=files, workdir="/home/work/project")
        await harness.engine.ensure(desired, ProgressLog())
        paths = ".config/tool .config/tool/key /etc/carrel/run project"
        ran = await run(harness.engine, desired.id, "sh", "-c", f"cd; stat -c '%u %a' {paths}")
        assert ran.stdout.splitlines() == [b"1000 755", b"1000 600", b"0 755", b"1000 755"]

    async def test_shared_memory_has_its_size(self, harness: EngineHarness) -> None:
        desired = replace(spec(harness), shm_bytes=3 << 20)
        await harness.engine.ensure(desired, ProgressLog())
        ran = await run(harness.engine, desired.id, "df", "-k", "/dev/shm")
        assert ran.stdout.splitlines()[1].split()[1] == b"3072"

    async def test_a_working_directory_in_a_folder_is_not_made_in_its_place(
        self, harness: EngineHarness
    ) -> None:
        with directory() as source:
            (source / "src").mkdir()
            mount = Mount(str(source), "/home/work/data")
            desired = replace(spec(harness), mounts=(mount,), workdir="/home/work/data/src")
            await harness.engine.ensure(desired, ProgressLog())
            assert (await run(harness.engine, desired.id, "pwd")).stdout == b"/home/work/data/src\n"


class TestDockerEngineMounts(MountConformance):
    async def test_what_a_session_makes_belongs_to_its_user_on_the_machine(
        self, harness: EngineHarness
    ) -> None:
        with directory() as source:
            container = await mounting(harness, Mount(str(source), "/home/work/data"))
            await run(harness.engine, container, "sh", "-c", "mkdir data/made; touch data/made/file")
            assert {path.stat().st_uid for path in source.rglob("*")} == {WORK_UID}

    async def test_directories_on_the_way_to_a_mount_belong_to_the_user(self, harness: EngineHarness) -> None:
        with directory() as source:
            container = await mounting(
                harness, Mount(str(source), "/home/work/a/b/c"), Mount(str(source), "/opt/d/e")
            )
            ran = await run(harness.engine, container, "stat", "-c", "%u", "a", "a/b", "/opt/d")
            assert ran.stdout.split() == [b"1000", b"1000", b"0"]

    async def test_an_image_off_the_shelf_can_mount(self, harness: EngineHarness) -> None:
        with directory() as source:
            spec = replace(
                small(await ensure_tiny_image("bare")), mounts=(Mount(str(source), "/home/work/data"),)
            )
            await harness.engine.ensure(spec, ProgressLog())
            ran = await run(
                harness.engine, spec.id, "sh", "-c", "touch here data/there; stat -c %u . here data/there"
            )
            assert ran.stdout.split() == [b"1000"] * 3

    async def test_what_the_image_has_in_the_place_of_a_link_stays(self, harness: EngineHarness) -> None:
        with directory() as source:
            (source / "part").mkdir()
            for mount in (
                Mount(str(source), "/etc", "part"),
                Mount(str(source), "/etc/passwd/x", "part"),
                Mount(str(source), "/etc/passwd"),
            ):
                spec = replace(small(harness.image), mounts=(mount,))
                error = await refused(MountUnusable, harness.engine.ensure(spec, ProgressLog()))
                assert not error.retriable
            assert (source / "part").is_dir()

    async def test_a_container_that_ran_is_not_unpacked_into_again(self, harness: EngineHarness) -> None:
        """It could have put a link in the way, to where another of its folders is."""
        with directory() as source, directory() as other:
            (source / "part").mkdir()
            with_mounts = replace(
                spec(harness),
                mounts=(
                    Mount(str(source), "/home/work/way/part", "part"),
                    Mount(str(other), "/home/work/other"),
                ),
            )
            await harness.engine.ensure(with_mounts, ProgressLog())
            await run(harness.engine, with_mounts.id, "sh", "-c", "rm -r way; ln -s other way")
            await run(
                harness.engine,
                with_mounts.id,
                "sh",
                "-c",
                "mkdir other/part; touch other/part/file; kill -TERM 1",
            )
            await exited(harness, with_mounts.id)
            await harness.engine.ensure(with_mounts, ProgressLog())
            assert [path.name for path in other.rglob("*")] == ["part", "file"]
            assert (await run(harness.engine, with_mounts.id, "readlink", "way")).stdout == b"other\n"


# What only this engine promises.


async def test_an_image_off_the_shelf_gets_user_and_home(docker_engine: DockerEngine) -> None:
    spec = small(await ensure_tiny_image("bare"))
    await docker_engine.ensure(spec, ProgressLog())
    ran = await run(docker_engine, spec.id, "sh", "-c", "id -un; pwd; touch here && ls -l here")
    lines = ran.stdout.decode().splitlines()
    assert lines[:2] == ["work", "/home/work"]
    assert lines[2].split()[2:4] == ["work", "work"]


async def test_a_node_names_its_images_and_the_accelerators_that_a_container_can_be_given(
    docker: aiodocker.Docker, installation: str
) -> None:
    engine = DockerEngine(docker_url(), installation, accelerators=[FakeAccelerators(4)])
    image = await ensure_tiny_image()
    (node,) = await engine.nodes()
    assert image in node.images
    assert "<none>:<none>" not in node.images
    assert [device.id for device in node.devices] == ["fake0", "fake1", "fake2", "fake3"]
    assert {slot: node.slots[slot] for slot in ("fake.device", "fake.shares")} == {
        "fake.device": 4,
        "fake.shares": 4000,
    }
    spec = replace(small(image), devices={"fake1": 500, "fake2": 1000})
    await engine.ensure(spec, ProgressLog())
    ran = await run(engine, spec.id, "sh", "-c", "echo $CARREL_DEVICES")
    assert ran.stdout == b"fake1:500,fake2:1000\n"
    without = small(image)
    await engine.ensure(without, ProgressLog())
    assert (await run(engine, without.id, "sh", "-c", "env | grep -c CARREL_DEVICES")).stdout == b"0\n"
    await engine.purge()
    await engine.close()


async def test_an_image_name_that_moves_is_noticed(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str
) -> None:
    name = f"{installation}:moving"
    await docker.images.tag(await ensure_tiny_image(), installation, tag="moving")
    await docker_engine.ensure(small(name), ProgressLog())
    await docker.images.tag(await ensure_tiny_image("bare"), installation, tag="moving")
    moved = small(name)
    await docker_engine.ensure(moved, ProgressLog())
    assert (await run(docker_engine, moved.id, "sh", "-c", "touch here && id -un")).stdout == b"work\n"
    await docker_engine.purge()
    await docker.images.delete(name)


async def test_installations_do_not_see_each_other(docker_engine: DockerEngine, installation: str) -> None:
    other = DockerEngine(docker_url(), f"{installation}-x")
    mine, theirs = small(await ensure_tiny_image()), small(await ensure_tiny_image())
    await docker_engine.ensure(mine, ProgressLog())
    await other.ensure(theirs, ProgressLog())
    assert [one.id for one in await docker_engine.list()] == [mine.id]
    await docker_engine.remove(theirs.id, grace_s=0)
    assert [one.id for one in await other.list()] == [theirs.id]
    await docker_engine.purge()
    assert [one.id for one in await other.list()] == [theirs.id]
    await other.purge()
    await other.close()


async def test_a_container_in_its_start_is_listed_without_waiting_for_it(
    docker_engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desired = small(await ensure_tiny_image())
    seen: list[Observed] = []

    async def at_its_start() -> None:
        with monkeypatch.context() as patch:
            # The daemon answers it when the start is over.
            patch.setattr(docker_engine, "_inspect", None)
            seen.extend(await docker_engine.list())

    await docker_engine.ensure(desired, ProgressLog(), at_its_start)
    assert [(one.id, one.state, one.epoch) for one in seen] == [
        (desired.id, ObservedState.STARTING, desired.epoch)
    ]


async def test_one_that_succeeded_is_listed_without_an_inspection(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, events = await ensure_tiny_image(), docker_engine._events
    await docker_engine.list()
    await people.eventually(lambda: events.connected, within_s=60, every_s=0.05)
    for code in (0, 3):
        job = replace(small(image), command=("sh", "-c", f"exit {code}"), once=True)
        await docker_engine.ensure(job, ProgressLog())
        shown = await docker.containers.container(f"carrel-{installation}-{job.id}").show()

        async def has_heard_of_it(daemon_id: str = shown["Id"], code: int = code) -> bool:
            """True once the daemon's list shows the end as well, which comes after the event."""
            run = events.last_run(daemon_id)
            [row] = [one for one in await docker.containers.list(all=True) if one.id == daemon_id]
            return run is not None and run.exit_code == code and row["State"] == "exited"

        await people.eventually(has_heard_of_it, within_s=60, every_s=0.05)
        with monkeypatch.context() as patch:
            if code == 0:
                patch.setattr(docker_engine, "_inspect", None)
            [seen] = await docker_engine.list()
        assert (seen.id, seen.state, seen.exit_code) == (job.id, ObservedState.EXITED, code)
        assert (seen.out_of_memory, seen.epoch) == (False, job.epoch)
        assert seen.started_at
        await docker_engine.remove(job.id, grace_s=0)


async def test_nothing_is_left_after_a_purge(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str
) -> None:
    await docker_engine.ensure(small(await ensure_tiny_image()), ProgressLog())
    await docker_engine.purge()
    mine = {"label": [f"carrel.installation={installation}"]}
    assert await docker.networks.list(filters=mine) == []
    assert await docker_engine.list() == ()
    assert not await rules_hold(docker_engine)


async def test_the_firewall_can_be_set_by_a_container(docker_engine: DockerEngine) -> None:
    """As for somebody who is not root but may use Docker."""
    await docker_engine.purge()
    assert not await rules_hold(docker_engine)
    firewall = docker_engine._firewall
    firewall._reaches_host = lambda: False  # type: ignore[method-assign]
    await firewall.apply()
    assert firewall.holds
    assert await rules_hold(docker_engine)
    await firewall.purge()
    assert not await rules_hold(docker_engine)


async def test_a_firewall_that_cannot_be_set_is_told_and_stops_nothing(docker_engine: DockerEngine) -> None:
    docker_engine._firewall._reaches_host = lambda: False  # type: ignore[method-assign]
    docker_engine._firewall.run_in_container = refuse  # type: ignore[method-assign]
    docker_engine._firewall.forget()
    spec = small(await ensure_tiny_image())
    assert (await docker_engine.ensure(spec, ProgressLog())).address
    [node] = await docker_engine.nodes()
    assert "host-firewall" not in node.capabilities
    assert "shared-network" in node.capabilities


async def test_a_network_deleted_behind_our_back_is_made_again(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str
) -> None:
    network = await docker.networks.get(f"carrel-{installation}")
    await network.delete()
    made = await docker_engine.ensure(small(await ensure_tiny_image()), ProgressLog())
    assert made.address


async def test_a_restart_behind_our_back_is_seen(
    docker_engine: DockerEngine, docker: aiodocker.Docker, installation: str
) -> None:
    spec = small(await ensure_tiny_image())
    first = await docker_engine.ensure(spec, ProgressLog())
    assert await docker_engine.list() == (first,)
    assert await docker_engine.list() == (first,)
    await docker.containers.container(f"carrel-{installation}-{spec.id}").restart(t=0)

    async def again() -> bool:
        [seen] = await docker_engine.list()
        return seen.started_at != first.started_at and seen.state is ObservedState.RUNNING

    await people.eventually(again, within_s=60, every_s=0.05)


async def test_a_command_that_reads_nothing_ends_at_once_under_much_input(
    docker_engine: DockerEngine,
) -> None:
    spec = small(await ensure_tiny_image())
    await docker_engine.ensure(spec, ProgressLog())
    ran = await asyncio.wait_for(run(docker_engine, spec.id, "true", stdin=bytes(8 << 20)), 30)
    assert ran.exit_code == 0


def small(image: str) -> ContainerSpec:
    return ContainerSpec(new_id(), image, {"cpu": 500, "mem": 64 << 20})


async def rules_hold(engine: DockerEngine) -> bool:
    """Whether this machine's packet filter has all rules of the installation."""
    checks = [f"iptables -w 10 -t mangle -C {rule}" for rule in rules(engine._names.bridge)]
    return await run_here(" && ".join(checks))


async def refuse(script: str) -> bool:
    return False


async def test_a_machine_elsewhere_is_measured_by_a_helper_like_this_one(docker_engine: DockerEngine) -> None:
    [here] = await docker_engine.host_usage()
    api = docker_engine._api
    api_url, api.url = api.url, "tcp://elsewhere"
    try:
        [elsewhere] = await docker_engine.host_usage()
    finally:
        api.url = api_url
    assert elsewhere.node == here.node
    assert elsewhere.disk_size_bytes == here.disk_size_bytes
    assert here.cpu_ns <= elsewhere.cpu_ns <= here.cpu_ns + 600 * 10**9
    assert here.received_bytes <= elsewhere.received_bytes
    label = f"carrel.installation.host={docker_engine._names.installation}"
    assert not await api.call("GET", "containers/json", params={**filters(label=[label]), "all": "true"})
