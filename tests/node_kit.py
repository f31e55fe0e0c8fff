"""Nodes on record, without controllers that look for them; and the groups that they are in."""

from databases import sql

from carrel.accelerators.port import Device, whole_and_shares
from carrel.core.clock import SystemClock
from carrel.core.cuda import DRIVER_LABEL
from carrel.core.slots import WHOLE
from carrel.db.database import Database
from carrel.engines.port import NodeInfo
from carrel.images import service as images
from carrel.nodes import service as nodes

GIB = 1 << 30


def machine(name: str = "n1", *, cpu: int = 8000, mem: int = 4 * GIB, **slots: int) -> NodeInfo:
    """A plain node. slots: what it has beside CPU and memory."""
    return NodeInfo(name, "x86_64", {"cpu": cpu, "mem": mem, **slots}, "Fake 1")


async def join(database: Database, *machines: NodeInfo) -> None:
    """The engine has these nodes, and no other."""
    async with database.transaction() as tx:
        await nodes.record(tx, machines, SystemClock().now())


async def group(database: Database, name: str, *, public: bool = True) -> None:
    """A resource group without nodes; its id is its name."""
    await sql(
        database,
        "INSERT INTO resource_groups (id, name, public) VALUES (:name, :name, :public)",
        name=name,
        public=public,
    )


def gpu_machine(name: str, driver: str | None, *, gpus: int = 1, cpu: int = 8000) -> NodeInfo:
    """A node with devices of NVIDIA. driver: its version; None: the engine does not say it."""
    return NodeInfo(
        name,
        "x86_64",
        {"cpu": cpu, "mem": 4 * GIB, "cuda.device": gpus, "cuda.shares": gpus * WHOLE},
        "Fake 1",
        devices=tuple(Device(f"{name}-gpu{number}", "cuda", "NVIDIA H100") for number in range(gpus)),
        slot_kinds=tuple(whole_and_shares("cuda", "GPU")),
        labels={DRIVER_LABEL: driver} if driver else {},
    )


async def cuda_image(database: Database, reference: str, requires: str | None) -> None:
    """An image of the catalogue that a scan found. requires: of drivers."""
    async with database.transaction() as tx:
        await images.register(
            tx,
            name=reference.partition(":")[0],
            reference=reference,
            title=reference,
            description="",
            size_bytes=None,
            architecture=None,
            apps=[],
            min_slots={"cpu": 100, "mem": 1 << 26},
        )
    changed = "UPDATE images SET requires_cuda = :requires WHERE reference = :reference"
    await sql(database, changed, reference=reference, requires=requires)
