"""Nodes on record, without controllers that look for them; and the groups that they are in."""

from databases import sql

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.engines.port import NodeInfo
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
