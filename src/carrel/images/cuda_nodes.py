"""On how many nodes the driver runs an image."""

from collections.abc import Mapping, Sequence

from sqlalchemy import cast, func, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core import cuda
from carrel.core.host_names import architecture
from carrel.core.ids import ImageId
from carrel.images.schemas import CudaNodes
from carrel.nodes.groups.service import seen_by
from carrel.permissions.decide import Actor
from carrel.tables.groups import ResourceGroup
from carrel.tables.images import Image
from carrel.tables.nodes import IS_MACHINE, Node

_HAS_DEVICES = cast(f'$.keyvalue() ? (@.key starts with "{cuda.FAMILY}" && @.value > 0)', JSONPATH)


async def counted(tx: AsyncSession, actor: Actor, images: Sequence[Image]) -> Mapping[ImageId, CudaNodes]:
    """Of the images that require something of drivers. Nodes: those with devices of NVIDIA that the actor may see."""
    needing = [one for one in images if one.requires_cuda]
    if not needing:
        return {}
    labels = Node.labels.concat(Node.own_labels)
    columns = [labels[name].astext.label(f"label{n}") for n, name in enumerate(cuda.LABELS)]
    rows = await tx.execute(
        select(func.count().label("nodes"), Node.architecture, *columns)
        .join(ResourceGroup, ResourceGroup.id == Node.group_id)
        .where(IS_MACHINE, seen_by(actor), func.jsonb_path_exists(Node.slots, _HAS_DEVICES))
        .group_by(Node.architecture, *columns)
    )
    kinds = []
    for count, machine, *values in rows:
        known = {name: value for name, value in zip(cuda.LABELS, values, strict=True) if value}
        kinds.append((count, architecture(machine), cuda.driver_of(known)))
    total = sum(count for count, *_ in kinds)
    return {
        one.id: CudaNodes(
            able=sum(count for count, machine, driver in kinds if _runs(one, machine, driver)), total=total
        )
        for one in needing
    }


def _runs(image: Image, machine: str, driver: cuda.Driver | None) -> bool:
    built_for = {architecture(one) for one in image.architectures} - {""}
    fits = not built_for or not machine or machine in built_for
    return fits and not (driver and cuda.mismatch(image.requires_cuda or "", driver))
