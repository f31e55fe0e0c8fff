"""What a session cannot do to others, to its host, and to its own limits; tried from inside real containers.

Each attempt to reach something has its counterpart that does reach it, so that a broken probe fails too.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv4Interface
from typing import Any

import aiodocker
import psutil
import pytest
from people import eventually
from tiny_image import ensure_tiny_image

from carrel.core.ids import new_id
from carrel.engines.conformance_kit import ProgressLog, run
from carrel.engines.docker import DockerEngine
from carrel.engines.port import IDLE, ContainerSpec, Observed, ObservedState

MIB = 1 << 20
PIDS = 48
PORT = 8000
FROM_DISK = {"/etc/resolv.conf", "/etc/hostname", "/etc/hosts"}
"""What an engine mounts into a container from the disk of its host."""


class Desk:
    """A session's container, with a short way to run things in it."""

    def __init__(self, engine: DockerEngine, made: Observed) -> None:
        self.engine = engine
        self.id = made.id
        self.address = made.address or ""

    async def sh(self, script: str) -> str:
        """What it prints, both streams."""
        ran = await run(self.engine, self.id, "sh", "-c", f"exec 2>&1; {script}")
        return ran.stdout.decode()


@pytest.fixture
async def desk(docker_engine: DockerEngine) -> Callable[..., Awaitable[Desk]]:
    """Makes sessions' containers."""
    image = await ensure_tiny_image()

    async def make(*command: str, cpu: int = 500, mem_bytes: int = 64 * MIB) -> Desk:
        spec = ContainerSpec(
            new_id(), image, {"cpu": cpu, "mem": mem_bytes}, command=command or IDLE, pids_limit=PIDS
        )
        return Desk(docker_engine, await docker_engine.ensure(spec, ProgressLog()))

    return make


@pytest.fixture
async def bystander(docker: aiodocker.Docker) -> AsyncIterator[Callable[[str], Awaitable[str]]]:
    """Runs a script in a container of the daemon's default network: the probe's counterpart."""
    config: dict[str, Any] = {"Image": await ensure_tiny_image(), "Entrypoint": list(IDLE)}
    container = await docker.containers.run(config, name=f"test-bystander-{new_id()}")

    async def sh(script: str) -> str:
        process = await container.exec(["sh", "-c", f"exec 2>&1; {script}"])
        async with process.start() as stream:
            out = b""
            while (message := await stream.read_out()) is not None:
                out += message.data
        return out.decode()

    yield sh
    await container.delete(force=True)


def probe(host: str, port: int) -> str:
    """A script that says REACHED or kept out, in two seconds at most."""
    received = f"$(timeout 2 nc {host} {port} </dev/null)"
    return f'exec 2>/dev/null; [ "{received}" = hello ] && echo REACHED || echo kept out'


@asynccontextmanager
async def service_on_every_address() -> AsyncIterator[int]:
    """A TCP service of the host that says hello, bound to 0.0.0.0 as careless ones are."""

    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")
        writer.close()

    async with await asyncio.start_server(hello, "0.0.0.0", 0) as server:
        yield server.sockets[0].getsockname()[1]


def addresses_of_host() -> list[str]:
    """Every IPv4 address of this machine but loopback."""
    interfaces = psutil.net_if_addrs().values()
    addresses = [one.address for group in interfaces for one in group if one.family is socket.AF_INET]
    return [address for address in addresses if not address.startswith("127.")]


def gateway_of(desk: Desk) -> str:
    """The host's own address on the network of a session."""
    for group in psutil.net_if_addrs().values():
        for one in group:
            if one.family is socket.AF_INET and one.netmask:
                network = IPv4Interface(f"{one.address}/{one.netmask}").network
                if IPv4Interface(desk.address).ip in network and network.prefixlen >= 16:
                    return one.address
    raise AssertionError(f"{desk.address} is in no network of this machine")


async def dial(host: str, port: int) -> bool:
    """Whether this machine, where the gateway is, reaches it within two seconds."""

    async def reached() -> bool:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), 2)
        except OSError:
            return False
        writer.close()
        return True

    try:
        return await eventually(reached, within_s=2, every_s=0.05)
    except AssertionError:
        return False


LISTEN = ("sh", "-c", f"while true; do echo hello | nc -l -p {PORT}; done")


@pytest.mark.parametrize("networks", ["shared", "one each"])
async def test_a_session_cannot_reach_the_ports_of_another(
    docker_engine: DockerEngine, desk: Callable[..., Awaitable[Desk]], networks: str
) -> None:
    docker_engine._networks._shared = networks == "shared"
    docker_engine._networks.forget()
    server, other = await desk(*LISTEN), await desk()
    assert await dial(server.address, PORT), "the gateway must reach what another session must not"
    assert await other.sh(probe(server.address, PORT)) == "kept out\n"
    assert await server.sh(probe("127.0.0.1", PORT)) == "REACHED\n"


async def test_networks_of_single_sessions_go_with_them(
    docker_engine: DockerEngine,
    desk: Callable[..., Awaitable[Desk]],
    docker: aiodocker.Docker,
    installation: str,
) -> None:
    docker_engine._networks._shared = False
    docker_engine._networks.forget()
    made = await desk()
    mine = {"label": [f"carrel.id={made.id}"]}
    assert len(await docker.networks.list(filters=mine)) == 1
    await docker_engine.remove(made.id, grace_s=0)
    assert await docker.networks.list(filters=mine) == []


async def test_a_session_cannot_reach_services_of_its_host(
    desk: Callable[..., Awaitable[Desk]], bystander: Callable[[str], Awaitable[str]]
) -> None:
    session = await desk()
    async with service_on_every_address() as port:
        assert await bystander(probe("172.17.0.1", port)) == "REACHED\n"
        gateway = gateway_of(session)
        hosts = [gateway, *(address for address in addresses_of_host() if address != gateway)][:4]
        answers = await asyncio.gather(*(session.sh(probe(host, port)) for host in hosts))
        assert answers == ["kept out\n"] * len(hosts)


async def test_a_session_cannot_send_datagrams_to_its_host(
    desk: Callable[..., Awaitable[Desk]], bystander: Callable[[str], Awaitable[str]]
) -> None:
    session = await desk()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("0.0.0.0", 0))
        port = server.getsockname()[1]
        # The session asks first: had its datagram come through, it would be read first.
        await session.sh(f"timeout 1 tftp -g -r session {gateway_of(session)} {port}")
        await bystander(f"timeout 1 tftp -g -r bystander 172.17.0.1 {port}")
        server.settimeout(5)
        assert b"bystander" in server.recv(100)


async def test_a_session_has_no_ipv6_way_around(desk: Callable[..., Awaitable[Desk]]) -> None:
    session = await desk()
    assert {line.split()[-1] for line in (await session.sh("cat /proc/net/if_inet6")).splitlines()} <= {"lo"}


async def test_sockets_and_folders_of_the_host_are_not_there(desk: Callable[..., Awaitable[Desk]]) -> None:
    session = await desk()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0carrel-isolation-test")
        server.listen()
        assert "carrel-isolation-test" not in await session.sh("cat /proc/net/unix")
    missing = await session.sh("ls /var/run/docker.sock /run/docker.sock /run/containerd /var/run/postgresql")
    assert missing.count("No such file") == 4
    assert (await session.sh("find / -xdev -type s 2>/dev/null")) == ""
    rows = [line.split() for line in (await session.sh("cat /proc/self/mountinfo")).splitlines()]
    from_disk = {row[4] for row in rows if row[row.index("-") + 2].startswith("/dev/")}
    assert from_disk <= FROM_DISK


async def test_processes_and_files_of_others_are_not_seen(desk: Callable[..., Awaitable[Desk]]) -> None:
    first, second = await desk("sh", "-c", "sleep 98765"), await desk()
    paths = ("/tmp/secret", "/home/work/secret", "/dev/shm/secret")
    for path in paths:
        await first.sh(f"echo mine > {path}")
        assert await first.sh(f"cat {path}") == "mine\n"
    assert "98765" in await first.sh("ps")
    assert "98765" not in await second.sh("ps")
    assert len((await second.sh("ps -o pid")).split()) < 8
    assert (await second.sh(f"ls {' '.join(paths)}")).count("No such file") == 3


async def test_the_memory_limit_kills_inside_and_is_told(
    docker_engine: DockerEngine, desk: Callable[..., Awaitable[Desk]]
) -> None:
    neighbour = await desk()
    # A shell variable that doubles: one process, which is the main one.
    glutton = await desk("sh", "-c", "x=0123456789; while true; do x=$x$x; done", mem_bytes=32 * MIB)

    async def killed() -> dict[str, Observed] | None:
        listed = {one.id: one for one in await docker_engine.list()}
        return listed if listed[glutton.id].state is ObservedState.EXITED else None

    seen = await eventually(killed, within_s=60, every_s=0.05)
    assert seen
    assert seen[glutton.id].out_of_memory
    assert seen[glutton.id].exit_code == 137
    assert seen[neighbour.id].state is ObservedState.RUNNING
    assert not seen[neighbour.id].out_of_memory
    assert await neighbour.sh("echo alive") == "alive\n"


async def test_the_cpu_limit_holds_within_ten_percent(
    docker_engine: DockerEngine, desk: Callable[..., Awaitable[Desk]]
) -> None:
    busy = ("sh", "-c", "while true; do :; done")
    desks = [await desk(*busy, cpu=500), await desk(*busy, cpu=500)]
    quota = "cat /sys/fs/cgroup/cpu.max || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us"
    assert [(await one.sh(f"exec 2>/dev/null; {quota}")).split()[0] for one in desks] == ["50000"] * 2
    # The upper bound must hold every time. The lower one can be seen only where the machine has time to
    # spare, so it gets a few windows, and a machine that is busy in all of them is no failure of the limit.
    reached, idle = dict.fromkeys((one.id for one in desks), 0.0), 0.0
    for _ in range(2):
        psutil.cpu_percent()
        # A reading is up to a second old when it comes: over a short window that alone would be ten percent.
        shares = await cpu_shares(docker_engine, window_s=20.0)
        idle = max(idle, 100 - psutil.cpu_percent())
        assert max(shares.values()) <= 0.55, shares
        reached = {one: max(best, shares[one]) for one, best in reached.items()}
        if min(reached.values()) >= 0.45:
            break
    assert min(reached.values()) >= 0.45 or idle < 10, (reached, idle)


async def cpu_shares(engine: DockerEngine, *, window_s: float) -> dict[str, float]:
    """CPUs that each container used over the window."""

    async def reading() -> tuple[float, dict[str, int]]:
        used = await engine.usage()
        return time.monotonic(), {one.id: one.cpu_ns for one in used}

    began, first = await reading()
    await asyncio.sleep(window_s)
    ended, last = await reading()
    return {one: (last[one] - first[one]) / 1e9 / (ended - began) for one in first}


async def test_a_fork_bomb_stops_at_the_pids_limit(
    docker_engine: DockerEngine,
    desk: Callable[..., Awaitable[Desk]],
    docker: aiodocker.Docker,
    installation: str,
) -> None:
    neighbour = await desk()
    # The first keeps its children, so that they can be counted; the second is the classic.
    keeping = await desk("sh", "-c", "sh -c 'while true; do sleep 600 & done'; sleep 600", cpu=200)
    classic = await desk("sh", "-c", "bomb() { bomb | bomb & }; bomb; sleep 600", cpu=200)
    container = docker.containers.container(f"carrel-{installation}-{keeping.id}")

    async def at_its_limit() -> int | None:
        count = len((await container.top())["Processes"])
        return count if count >= PIDS - 1 else None

    assert await eventually(at_its_limit, within_s=120, every_s=0.05) in (PIDS - 1, PIDS)
    assert await asyncio.wait_for(neighbour.sh("echo alive"), 20) == "alive\n"
    for bomb in (keeping, classic):
        await asyncio.wait_for(docker_engine.remove(bomb.id, grace_s=0), 30)
    assert [one.id for one in await docker_engine.list()] == [neighbour.id]


async def test_no_capability_no_new_privileges_and_seccomp(desk: Callable[..., Awaitable[Desk]]) -> None:
    session = await desk()
    for process in ("1", "self"):
        lines = (await session.sh(f"cat /proc/{process}/status")).splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[kind], 16) == 0, kind
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == "2"
        assert status["Uid"].split() == ["1000"] * 4
        assert status["Gid"].split() == ["1000"] * 4


ATTEMPTS = (
    "mount -t tmpfs none /tmp",
    "unshare -U true",
    "hostname other",
    "echo 1 > /proc/sys/kernel/sysrq",
    "mknod /tmp/disk b 8 0",
    "cat /dev/mem",
    "dmesg",
    "ip link set eth0 down",
    "chown 0 /home/work",
    "touch /etc/passwd",
)


async def test_what_only_root_may_do_is_refused(desk: Callable[..., Awaitable[Desk]]) -> None:
    session = await desk()
    allowed = [one for one in ATTEMPTS if "REFUSED" not in await session.sh(f"({one}) || echo REFUSED")]
    assert allowed == []
    assert "REFUSED" not in await session.sh("touch /home/work/mine || echo REFUSED")


async def test_the_kernel_ends_sessions_before_the_processes_of_the_host(
    desk: Callable[..., Awaitable[Desk]],
) -> None:
    """A process can lower its score to the smallest one that the engine could set, but not below the host's."""
    session = await desk()
    assert (await session.sh("cat /proc/self/oom_score_adj")).strip() == "500"
    for score in (-1, -500, -1000):
        assert "REFUSED" in await session.sh(f"(echo {score} > /proc/self/oom_score_adj) || echo REFUSED")
    assert "REFUSED" not in await session.sh("(echo 600 > /proc/self/oom_score_adj) || echo REFUSED")


async def test_the_main_process_reaps_orphans_and_cannot_be_killed_from_inside(
    desk: Callable[..., Awaitable[Desk]],
) -> None:
    session = await desk()
    await session.sh("(sleep 0.1 & ) ; (sleep 0.1 & ) ; kill -9 1; true")

    async def reaped() -> bool:
        processes = (await session.sh("ps -o stat,args")).splitlines()
        assert len(processes) >= 3, "the main process is there, and can be asked"
        return not any(each.lstrip().startswith("Z") or "sleep 0.1" in each for each in processes)

    await eventually(reaped, within_s=60, every_s=0.05)
