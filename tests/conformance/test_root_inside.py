"""Sessions with root, on a daemon that remaps users: root works inside, and reaches no further than a plain session.

The tests of isolation run again, from that root.
"""

import io
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiodocker
import pytest
from conformance import test_isolation as isolation
from conformance import test_neighbours as neighbours
from conformance.python_inside import Insider, first_line, insider
from conformance.test_isolation import Desk, bystander, desk
from conformance.test_neighbours import ENOUGH, TAKE_SIGNALS, advised_limits
from own_dockerd import OwnDockerd
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, Ran, run
from carrel.engines.docker import DockerEngine
from carrel.engines.docker.rights import CAPABILITIES
from carrel.engines.port import (
    ROOT_INSIDE,
    WORK_UID,
    ContainerSpec,
    EngineError,
    Mount,
    Observed,
    Permit,
    ProgressSink,
)
from carrel.server.bootstrap import debian
from carrel.server.bootstrap.progress import ProgressLines

__all__ = ["advised_limits", "bystander", "desk", "insider"]

_ABOUT_PLAIN = {
    "test_no_capability_no_new_privileges_and_seccomp",
    "test_what_only_root_may_do_is_refused",
}
"""What a plain session may not do to itself."""
globals().update(
    {
        name: test
        for module in (isolation, neighbours)
        for name, test in vars(module).items()
        if name.startswith("test_") and name not in _ABOUT_PLAIN
    }
)


@pytest.fixture(scope="module", autouse=True)
def remapped() -> Iterator[OwnDockerd]:
    with OwnDockerd(remapped=True) as daemon, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", daemon.url)
        yield daemon


class RootedEngine(DockerEngine):
    """All its sessions have root, and commands run as root, as after sudo."""

    async def ensure(
        self, spec: ContainerSpec, progress: ProgressSink, permit: Permit | None = None
    ) -> Observed:
        return await super().ensure(replace(spec, root=True), progress, permit)

    def run_as_root(self) -> None:
        call = self._api.call

        async def as_root(method: str, path: str, **options: Any) -> Any:
            if path.endswith("/exec"):
                options["body"]["User"] = "0:0"
            return await call(method, path, **options)

        self._api.call = as_root  # type: ignore[method-assign]


@pytest.fixture
async def docker_engine(installation: str) -> AsyncIterator[DockerEngine]:
    engine = RootedEngine(docker_url(), installation)
    engine.run_as_root()
    await engine.nodes()
    yield engine
    await engine.purge()
    await engine.close()


@pytest.fixture
async def plain_engine(installation: str) -> AsyncIterator[DockerEngine]:
    """Of the same daemon, whose commands run as in the product."""
    engine = DockerEngine(docker_url(), installation)
    await engine.nodes()
    yield engine
    await engine.purge()
    await engine.close()


async def test_the_node_has_the_capability(docker_engine: DockerEngine) -> None:
    (node,) = await docker_engine.nodes()
    assert ROOT_INSIDE in node.capabilities


async def test_root_has_a_bounded_set_of_capabilities_and_the_profile(
    desk: Callable[..., Awaitable[Desk]],
) -> None:
    session = await desk()
    lines = (await session.sh("cat /proc/self/status")).splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    assert status["Uid"].split() == ["0"] * 4
    assert {name for name, bit in BITS.items() if int(status["CapBnd"], 16) >> bit & 1} == set(CAPABILITIES)
    assert int(status["CapBnd"], 16).bit_count() == len(CAPABILITIES)
    assert status["Seccomp"] == "2"
    assert (await session.sh("cat /proc/self/uid_map")).split()[1] != "0", "nobody's number on the machine"
    # The main process is nobody's root.
    main = dict(
        line.split(":\t", 1)
        for line in (await session.sh("cat /proc/1/status")).splitlines()
        if ":\t" in line
    )
    assert main["Uid"].split() == [str(WORK_UID)] * 4
    assert int(main["CapEff"], 16) == 0


BITS = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "FSETID": 4,
    "KILL": 5,
    "SETGID": 6,
    "SETUID": 7,
    "NET_BIND_SERVICE": 10,
    "SETFCAP": 31,
}

ATTEMPTS = (
    "mount -t tmpfs none /tmp",
    "mount -o remount,rw /proc/sys",
    "unshare -U true",
    "hostname other",
    "echo 1 > /proc/sys/kernel/sysrq",
    "echo b > /proc/sysrq-trigger",
    "mknod /tmp/disk b 254 0",
    "cat /dev/mem",
    "dmesg",
    "ip link set eth0 down",
    "ip addr add 10.9.9.9/24 dev eth0",
    "ping -c 1 -W 1 127.0.0.1",
    "nice -n -5 true",
    "chroot / true",
)


async def test_root_cannot_change_what_is_not_its_own(desk: Callable[..., Awaitable[Desk]]) -> None:
    session = await desk()
    allowed = [one for one in ATTEMPTS if "REFUSED" not in await session.sh(f"({one}) || echo REFUSED")]
    assert allowed == []
    mine = "touch /etc/mine && chown 1000 /etc/mine && chown 0 /home/work && chmod 600 /etc/mine"
    assert "REFUSED" not in await session.sh(f"({mine}) || echo REFUSED")


async def test_folders_keep_their_owner_and_files_of_the_machine_their_secrets(
    docker_engine: DockerEngine, plain_engine: DockerEngine, tmp_path: Path
) -> None:
    """A file of the machine's root belongs to nobody inside, also for root there."""
    folder = tmp_path / "folder"
    folder.mkdir()
    os.chown(folder, WORK_UID, WORK_UID)
    secret = folder / "secret"
    secret.write_text("of the machine")
    secret.chmod(0o600)
    mount = Mount(str(folder), "/home/work/folder")
    spec = ContainerSpec(new_id(), await ensure_tiny_image(), {"mem": 64 << 20}, mounts=(mount,), root=True)
    made = await plain_engine.ensure(spec, ProgressLog())
    ran = await run(
        plain_engine, made.id, "sh", "-c", "echo mine > folder/mine; stat -c %u folder folder/mine"
    )
    assert ran.stdout.split() == [b"1000", b"1000"]
    assert (folder / "mine").stat().st_uid == WORK_UID
    session = Desk(docker_engine, made)
    denied = await session.sh("cd /home/work/folder; cat secret; chown 0 secret; chmod 666 secret; id -u")
    assert "of the machine" not in denied
    assert denied.splitlines()[-1] == "0"
    assert (secret.stat().st_uid, secret.stat().st_mode & 0o777) == (os.geteuid(), 0o600)
    await session.sh("cd /home/work/folder; touch roots; cp /bin/sh s; chmod 4755 s; mknod disk b 254 0")
    assert (folder / "roots").stat().st_uid not in (0, WORK_UID)
    assert (folder / "s").stat().st_uid not in (0, WORK_UID)
    assert not (folder / "disk").exists()


async def test_one_session_can_exhaust_the_pending_signals_of_all(
    insider: Callable[..., Awaitable[Insider]],
) -> None:
    """The kernel counts them in each user namespace, and again for the owner of all these, who is one user."""
    greedy, neighbour = await insider(), await insider()
    async with greedy.begun(TAKE_SIGNALS) as process:
        assert int(await first_line(process)) > ENOUGH
        script = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
print(libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), 0), ctypes.get_errno() == errno.EAGAIN)
"""
        assert await neighbour.python(script) == "-1 True"


@pytest.fixture
async def debian_image(docker: aiodocker.Docker, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bare Debian without sudo, in the remapped daemon."""
    name = "localhost/carrel/debian:bookworm"
    async with aiodocker.Docker(url="unix:///var/run/docker.sock") as machine:
        try:
            await machine.images.inspect(name)
        except aiodocker.DockerError:
            with io.BytesIO() as context:
                shown = ProgressLines(lambda line: None)
                await debian.write_build_context(context, mirror="http://deb.debian.org/debian", shown=shown)
                await docker.images.build(fileobj=context, encoding="identity", tag=name)
            return name
        with io.BytesIO() as archive:
            async with machine.images.export_image(name) as content:
                while chunk := await content.read(1 << 20):
                    archive.write(chunk)
            archive.seek(0)
            await docker.images.import_image(archive)
    return name


@pytest.fixture
def outbound(plain_engine: DockerEngine) -> Iterator[None]:
    """Ways out of the networks of a daemon that manages no packet filter."""
    bridge = f"{plain_engine._names.bridge}+"
    rules = (
        ("nat", "POSTROUTING", "-s", "10.213.0.0/16", "!", "-o", bridge, "-j", "MASQUERADE"),
        ("filter", "FORWARD", "-i", bridge, "-j", "ACCEPT"),
        ("filter", "FORWARD", "-o", bridge, "-j", "ACCEPT"),
    )
    for table, chain, *rule in rules:
        subprocess.run(["iptables", "-w", "10", "-t", table, "-I", chain, *rule], check=True)
    yield
    for table, chain, *rule in rules:
        subprocess.run(["iptables", "-w", "10", "-t", table, "-D", chain, *rule], check=True)


@pytest.mark.usefixtures("outbound")
async def test_a_session_has_a_bounded_share_of_the_connections_through_the_machine(
    insider: Callable[..., Awaitable[Insider]],
) -> None:
    await neighbours.test_a_session_has_a_bounded_share_of_the_connections_through_the_machine(insider)


async def test_packages_can_be_installed_also_where_the_image_lacks_sudo(
    plain_engine: DockerEngine, debian_image: str, outbound: None
) -> None:
    async def session(*, root: bool) -> Callable[..., Awaitable[Ran]]:
        spec = ContainerSpec(new_id(), debian_image, {"mem": 1 << 30}, root=root)
        made = await plain_engine.ensure(spec, ProgressLog())
        return lambda *command: run(plain_engine, made.id, *command)

    install = "apt-get install -qy --no-install-recommends"
    inside = await session(root=True)
    assert (await inside("id", "-u")).stdout == b"1000\n"
    first = await inside("su", "root", "-c", f"apt-get update -q && {install} sudo")
    assert first.exit_code == 0, (first.stdout + first.stderr).decode()[-2000:]
    root = await inside("sudo", "-n", "id", "-u")
    assert (root.stdout, root.stderr) == (b"0\n", b"")
    second = await inside("sh", "-c", f"sudo -n {install} hello && hello")
    assert second.stdout.endswith(b"Hello, world!\n"), (second.stdout + second.stderr).decode()[-2000:]
    plain = await session(root=False)
    assert (await plain("su", "root", "-c", "id -u")).exit_code != 0


async def test_an_engine_that_does_not_remap_users_refuses(
    installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOCKER_HOST")
    engine = DockerEngine("unix:///var/run/docker.sock", installation)
    try:
        (node,) = await engine.nodes()
        assert ROOT_INSIDE not in node.capabilities
        image = await ensure_tiny_image()
        with pytest.raises(EngineError) as refused:
            await engine.ensure(ContainerSpec(new_id(), image, {}, root=True), ProgressLog())
        assert (refused.value.code, refused.value.retriable) == ("root_unsupported", False)
        assert await engine.list() == ()
    finally:
        await engine.purge()
        await engine.close()
