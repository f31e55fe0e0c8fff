"""Energy of the accelerators of a session."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from carrel.core.ids import SessionId
from carrel.tables.usage import DeviceEnergy

_HOUR_S, _KWH_J = 3600, 3_600_000


@dataclass(frozen=True)
class DrawnEnergy:
    """power_hours: device-hours during which its power was measured."""

    device: str
    model: str
    energy_kwh: float
    power_hours: float


async def of_session(tx: AsyncSession, session: SessionId) -> Sequence[DrawnEnergy]:
    """By device; empty: not measured."""
    rows = await tx.execute(
        select(
            DeviceEnergy.device,
            func.max(DeviceEnergy.model),
            func.sum(DeviceEnergy.joules),
            func.sum(DeviceEnergy.seconds),
        )
        .where(DeviceEnergy.session_id == session)
        .group_by(DeviceEnergy.node_id, DeviceEnergy.device)
        .order_by(DeviceEnergy.node_id, DeviceEnergy.device)
    )
    return [
        DrawnEnergy(device, model, joules / _KWH_J, seconds / _HOUR_S)
        for device, model, joules, seconds in rows
    ]
