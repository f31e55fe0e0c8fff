"""Architectures of the nodes."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.host_names import architecture
from carrel.tables.nodes import Node

_USUAL = ("x86_64", "aarch64")


async def machine_architectures(tx: AsyncSession) -> Sequence[str]:
    """Those of the nodes, then the usual ones: which image of several to read."""
    reported = (await tx.execute(select(Node.architecture).distinct())).scalars()
    return (*sorted({architecture(one) for one in reported}), *_USUAL)
