"""What a container gets with its accelerators, item by item in a real one."""

from dataclasses import replace
from pathlib import Path

import aiodocker
import pytest
from tiny_image import docker_url, ensure_tiny_image

from carrel.accelerators.port import Attachment, Device, DeviceNode, Limit, MachinePath, whole_and_shares
from carrel.core.cuda import DRIVER_LABEL
from carrel.core.ids import new_id
from carrel.core.slots import SlotKind
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import ContainerSpec, EngineError


def small(image: str) -> ContainerSpec:
    return ContainerSpec(new_id(), image, {"cpu": 500, "mem": 64 << 20})


class Vendor:
    """Accelerators that bring this with them."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment

    def discover(self) -> tuple[Device, ...]:
        return (Device("one", "vendor"),)

    def kinds(self) -> tuple[SlotKind, ...]:
        return whole_and_shares("vendor")

    def attach(self, held):
        return self._attachment if "one" in held else Attachment()


@pytest.fixture
async def image() -> str:
    return await ensure_tiny_image()


async def started(installation: str, image: str, attachment: Attachment) -> tuple[DockerEngine, str]:
    engine = DockerEngine(docker_url(), installation, accelerators=[Vendor(attachment)])
    spec = replace(small(image), devices={"one": 1000})
    try:
        await engine.ensure(spec, ProgressLog())
    except EngineError:
        await engine.purge()
        await engine.close()
        raise
    return engine, spec.id


async def test_the_node_has_the_driver_of_this_machine_as_a_label(
    docker: aiodocker.Docker, installation: str, tmp_path: Path
) -> None:
    version = tmp_path / "proc/driver/nvidia/version"
    version.parent.mkdir(parents=True)
    version.write_text(
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27 21:21:55 UTC 2021\n"
    )
    engine = DockerEngine(docker_url(), installation, host_root=tmp_path)
    try:
        [node] = await engine.nodes()
        assert node.labels[DRIVER_LABEL] == "470.82.01"
    finally:
        await engine.purge()
        await engine.close()


async def test_everything_of_an_attachment_is_in_the_container(
    docker: aiodocker.Docker, installation: str, image: str, tmp_path: Path
) -> None:
    (tmp_path / "library").write_text("of the driver")
    tmp_path.chmod(0o755)
    engine, container = await started(
        installation,
        image,
        Attachment(
            env={"VENDOR_VISIBLE_DEVICES": "one"},
            nodes=(DeviceNode("/dev/fuse", "rw"),),
            paths=(MachinePath(str(tmp_path), "/opt/vendor"),),
            groups=(4711, 4712),
            capabilities=("SYS_NICE",),
            limits=(Limit("memlock", 32768, 65536), Limit("nofile", 2048, 4096)),
            runtime="runc",
        ),
    )

    async def output_of(script: str) -> str:
        ran = await run(engine, container, "sh", "-c", script)
        return ran.stdout.decode().strip()

    assert await output_of("echo $VENDOR_VISIBLE_DEVICES") == "one"
    assert await output_of("test -c /dev/fuse && echo there") == "there"
    assert await output_of("cat /opt/vendor/library") == "of the driver"
    assert "Read-only" in await output_of("touch /opt/vendor/mine 2>&1")
    assert {"4711", "4712"} <= set((await output_of("grep ^Groups: /proc/self/status")).split())
    assert (await output_of("grep ^CapBnd: /proc/1/status")).split()[1] == f"{1 << 23:016x}"
    assert (await output_of("grep 'Max locked memory' /proc/1/limits")).split()[3:5] == ["32768", "65536"]
    assert (await output_of("grep 'Max open files' /proc/1/limits")).split()[3:5] == ["2048", "4096"]
    await engine.purge()
    await engine.close()


@pytest.mark.parametrize(("permissions", "read"), [("rw", b"may\n"), ("w", b"may not\n")])
async def test_a_device_node_may_be_used_only_as_its_permissions_say(
    docker: aiodocker.Docker, installation: str, image: str, permissions: str, read: bytes
) -> None:
    engine, container = await started(
        installation, image, Attachment(nodes=(DeviceNode("/dev/fuse", permissions),))
    )
    (made,) = await docker.containers.list(filters={"name": [container]})
    # As root, who may open every node but for the permissions.
    script = "true > /dev/fuse && { true < /dev/fuse && echo may || echo may not; } 2> /dev/null"
    process = await made.exec(["sh", "-c", script], user="0")
    async with process.start() as stream:
        message = await stream.read_out()
    assert message is not None
    assert message.data == read
    await engine.purge()
    await engine.close()


async def test_a_container_without_devices_gets_nothing(
    docker: aiodocker.Docker, installation: str, image: str
) -> None:
    attachment = Attachment(nodes=(DeviceNode("/dev/fuse"),), capabilities=("SYS_NICE",))
    engine = DockerEngine(docker_url(), installation, accelerators=[Vendor(attachment)])
    plain = small(image)
    await engine.ensure(plain, ProgressLog())
    ran = await run(engine, plain.id, "sh", "-c", "test -e /dev/fuse || grep ^CapBnd: /proc/1/status")
    assert ran.stdout.split() == [b"CapBnd:", b"0" * 16]
    await engine.purge()
    await engine.close()


@pytest.mark.parametrize(
    ("attachment", "named"),
    [
        (Attachment(cdi=("vendor.com/gpu=none",)), "vendor.com/gpu=none"),
        (Attachment(runtime="no-such-runtime"), "no-such-runtime"),
        (Attachment(nodes=(DeviceNode("/dev/no-such-node"),)), "/dev/no-such-node"),
    ],
)
async def test_what_the_engine_cannot_give_is_refused_by_name(
    docker: aiodocker.Docker, installation: str, image: str, attachment: Attachment, named: str
) -> None:
    with pytest.raises(EngineError, match=named) as refused:
        await started(installation, image, attachment)
    assert refused.value.code == "attachment_unsupported"
    assert not refused.value.retriable
